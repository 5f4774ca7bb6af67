"""What was wrong with a recording, as one line for people and as rows of kind ``error`` for programs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Problem", "ProblemCode"]


class ProblemCode(StrEnum):
    """Names of problems: the ``code`` of an error row in the table of events."""

    NOT_READ = "not-read"  # value: slots that the pull could not read
    UNDATED = "undated"  # value: records between two gaps without a TIME that would date them
    TIME_DISAGREES = "time-disagrees"  # value: the cycle that the walk from newer records gives
    BAD_TIME = "bad-time"  # a TIME beyond what a counter can reach; data: what it says
    BROKEN_WALK = "broken-walk"  # dt 15 after a record that is not TIME
    ZERO_DT = "zero-dt"  # dt 0 in a tap, which stores one word a cycle
    RESERVED_KIND = "reserved-kind"  # value: the kind
    MISPLACED_KIND = "misplaced-kind"  # value: the kind, which this memory never holds
    NOT_CLOSED = "not-closed"  # the newest record is not the TIME that closes a memory
    EVENTS_LOST = "events-lost"  # value: events that the event log could not take


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong in one memory. ``count`` is in records, or in events for EVENTS_LOST."""

    code: ProblemCode
    source: str  # "A.tx_enq"
    first_slot: int
    count: int
    text: str

    def __str__(self) -> str:
        return f"{self.source}: slot {self.first_slot}: {self.text}"
