"""What a card's event log says of each message that its host sent: cycles of posting, reads, and the end.

Source: docs/formats.md section 4, DESC and STATE.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from freezeframe.analyzers.streams import EventLog
from freezeframe.capture.registers.layouts import (
    DESC_VALUE_FLAGS_LSB,
    DESC_VALUE_FLAGS_MASK,
    DESC_VALUE_LENGTH_MASK,
    DESC_VALUE_SEQ_LSB,
    DESC_VALUE_SEQ_MASK,
    STATE_VALUE_NEW_MASK,
    Kind,
    MachineState,
    PacketFlag,
)

_NUMBERS = 1 << 16
_HALF = _NUMBERS >> 1
_MADE = int(PacketFlag.PATTERN) | int(PacketFlag.INJECTED)


@dataclass(slots=True)
class Read:
    """One request over the bus; bus cycles, None where the log does not hold it.

    Attributes:
        asked: the bus was granted for the request; accepted: the split wait began; answered: the bus was granted for
            the completion. refused: it was retried.
    """

    asked: int
    accepted: int | None = None
    answered: int | None = None
    refused: bool = False


@dataclass(slots=True)
class Sent:
    """One message of a host; bus cycles of its card, None where the log does not hold it.

    ``number`` is unwrapped. ``t_ps`` is the time of its first event that is known of posting, ``done_ps`` of its end.
    """

    number: int
    flow: int = -1
    length_words: int = -1
    flags: int = 0
    posting: int | None = None
    posted: int | None = None
    t_ps: int | None = None
    started: int | None = None
    done: int | None = None
    done_ps: int | None = None
    reads: list[Read] = field(default_factory=list)

    @property
    def by_host(self) -> bool:
        """Its host posted it; patterns and injected packets are made in the card."""
        return not self.flags & _MADE

    @property
    def is_smooth(self) -> bool:
        """One read brought it, at the first try."""
        return len(self.reads) == 1 and self.reads[0].answered is not None


def sent_by(log: EventLog) -> list[Sent]:
    """Return the messages of a log in the order of their numbers."""
    found: dict[int, Sent] = {}
    waiting: deque[Read] = deque()
    last: Read | None = None
    newest: int | None = None
    for at in range(len(log)):
        kind, code, cycle, value = (
            log.kind[at],
            log.code[at],
            int(log.cycle[at]),
            int(log.value[at]),
        )
        if kind == Kind.STATE.name and code == "tx_dma":
            state = value & STATE_VALUE_NEW_MASK
            if state == MachineState.SPLIT_WAIT and last is not None and last.accepted is None:
                last.accepted = cycle
                waiting.append(last)
            elif state == MachineState.DATA and waiting:
                waiting.popleft().answered = cycle
        if kind != Kind.DESC.name:
            continue
        seq = value >> DESC_VALUE_SEQ_LSB & DESC_VALUE_SEQ_MASK
        newest = seq if newest is None else newest + (seq - newest + _HALF) % _NUMBERS - _HALF
        message = found.setdefault(newest, Sent(newest))
        message.flow = int(log.flow[at])
        message.flags |= value >> DESC_VALUE_FLAGS_LSB & DESC_VALUE_FLAGS_MASK
        if code not in ("requested", "retried", "disconnected"):
            message.length_words = value & DESC_VALUE_LENGTH_MASK
        if code in ("posting", "posted"):
            setattr(message, code, cycle)
            message.t_ps = int(log.t_ps[at]) if message.t_ps is None else message.t_ps
        elif code == "requested":
            last = Read(cycle)
            message.reads.append(last)
        elif code == "retried" and message.reads:
            message.reads[-1].refused = True
        elif code == "started":
            message.started = cycle
        elif code == "done":
            message.done, message.done_ps = cycle, int(log.t_ps[at])
    return [found[number] for number in sorted(found)]
