"""What is wrong with the recording of one memory: gaps, kinds and dates that break the recorder's rules.

Source: docs/formats.md section 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from freezeframe.capture.registers.layouts import LOSS_LOST_MASK, Kind
from freezeframe.decoders.trace import kernels
from freezeframe.decoders.trace.memory import Reading

__all__ = ["Mark", "Problem", "ProblemCode", "check"]

Int64 = npt.NDArray[np.int64]

_WORDS = (Kind.HEAD, Kind.BODY, Kind.TAIL)
_TAP_KINDS = (*_WORDS, Kind.MARK, Kind.TIME)
_RESERVED = (0, 11)
_KIND_NAMES = {int(kind): kind.name for kind in Kind}


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


@dataclass(frozen=True, slots=True)
class Mark:
    """The place of an error row: before row ``record`` of the reading, with a slot and a value."""

    code: ProblemCode
    record: int
    slot: int
    value: int


def check(reading: Reading) -> tuple[list[Problem], list[Mark]]:
    """Return what is wrong with a reading: a line for each sort of thing, a mark for each record."""
    notes = _Notes(reading)
    _check_gaps(reading, notes)
    _check_kinds(reading, notes)
    _check_closing(reading, notes)
    _check_losses(reading, notes)
    _check_times(reading, notes)
    _check_undated(reading, notes)
    notes.marks.sort(key=lambda mark: mark.record)
    return notes.problems, notes.marks


class _Notes:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.problems: list[Problem] = []
        self.marks: list[Mark] = []

    def problem(self, code: ProblemCode, slot: int, count: int, text: str) -> None:
        self.problems.append(Problem(code, self.reading.source, slot, count, text))

    def records(self, code: ProblemCode, rows: Int64, values: Int64 | int, text: str) -> None:
        """Note one problem and a mark for each of ``rows``; nothing when there are none."""
        if not len(rows):
            return
        slots = self.reading.slot[rows]
        self.problem(code, int(slots[0]), len(rows), text)
        each = np.broadcast_to(np.asarray(values), rows.shape).tolist()
        self.marks += [
            Mark(code, row, slot, value)
            for row, slot, value in zip(rows.tolist(), slots.tolist(), each, strict=True)
        ]


def _check_gaps(reading: Reading, notes: _Notes) -> None:
    for gap in reading.skipped:
        text = f"{_records(gap.count)} from this slot on could not be read: {gap.reason}"
        notes.problem(ProblemCode.NOT_READ, gap.first_slot, gap.count, text)
        # Where nothing newer was read the row stands at the newest record that was.
        record = min(gap.record, len(reading) - 1)
        if record >= 0:
            notes.marks.append(Mark(ProblemCode.NOT_READ, record, gap.first_slot, gap.count))


def _check_kinds(reading: Reading, notes: _Notes) -> None:
    kind = reading.columns.kind
    allowed = np.zeros(16, dtype=np.bool_)
    allowed[[k for k in Kind if k not in _WORDS] if reading.is_log else list(_TAP_KINDS)] = True
    for number in np.unique(kind[~allowed[kind]]).tolist():
        rows = np.flatnonzero(kind == number)
        if number in _RESERVED:
            text = f"{_records(len(rows))} of the reserved kind {number}, from this slot on"
            notes.records(ProblemCode.RESERVED_KIND, rows, number, text)
        else:
            text = (
                f"{_records(len(rows))} of kind {_KIND_NAMES[number]}, which this memory never "
                "holds, from this slot on"
            )
            notes.records(ProblemCode.MISPLACED_KIND, rows, number, text)
    if not reading.is_log:
        rows = np.flatnonzero(reading.columns.dt == 0)
        text = f"{_records(len(rows))} with dt 0, from this slot on; a tap stores one word a cycle"
        notes.records(ProblemCode.ZERO_DT, rows, 0, text)


def _check_closing(reading: Reading, notes: _Notes) -> None:
    newest = np.array([len(reading) - 1], dtype=np.int64)
    if not len(reading) or (reading.skipped and reading.skipped[-1].record == len(reading)):
        return
    kind = int(reading.columns.kind[-1])
    if kind != Kind.TIME:
        text = "the newest record is not the TIME that closes a memory; was it still recording?"
        notes.records(ProblemCode.NOT_CLOSED, newest, kind, text)


def _check_losses(reading: Reading, notes: _Notes) -> None:
    rows = np.flatnonzero(reading.columns.kind == Kind.LOSS)
    if not reading.is_log or not len(rows):
        return
    lost = reading.columns.data[rows] & LOSS_LOST_MASK
    total, slots = int(lost.sum()), reading.slot[rows]
    text = f"{total} events were lost, the first of them before this slot: the log's FIFO was full"
    notes.problem(ProblemCode.EVENTS_LOST, int(slots[0]), total, text)
    for row, slot, value in zip(rows.tolist(), slots.tolist(), lost.tolist(), strict=True):
        notes.marks.append(Mark(ProblemCode.EVENTS_LOST, row, slot, value))


def _check_times(reading: Reading, notes: _Notes) -> None:
    flags, cycle, data = reading.dated.flags, reading.dated.cycle, reading.columns.data

    rows = np.flatnonzero(flags & kernels.TIME_DISAGREES)
    if len(rows):
        walked = cycle[rows + 1] - reading.columns.dt[rows + 1]
        text = (
            f"TIME says cycle {int(cycle[rows[0]])}, the newer records say {int(walked[0])} "
            f"({len(rows)} such)"
        )
        notes.records(ProblemCode.TIME_DISAGREES, rows, walked, text)

    rows = np.flatnonzero(flags & kernels.BAD_TIME)
    if len(rows):
        claimed = int(data[rows[0]]) & (1 << 64) - 1
        text = f"TIME says cycle {claimed:#018x}, which no counter reaches ({len(rows)} such)"
        notes.records(ProblemCode.BAD_TIME, rows, 0, text)

    rows = np.flatnonzero(flags & kernels.BROKEN_WALK)
    text = f"dt is 15 and the record before is not TIME ({len(rows)} such)"
    notes.records(ProblemCode.BROKEN_WALK, rows, 0, text)


def _check_undated(reading: Reading, notes: _Notes) -> None:
    undated = (reading.dated.flags & kernels.DATED) == 0
    edges = np.flatnonzero(np.diff(np.concatenate([[False], undated, [False]]).astype(np.int8)))
    for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        count, slack = end - start, int(reading.dated.slack[start])
        known = f"known to {slack} cycles" if slack >= 0 else "not known"
        slot = int(reading.slot[start])
        text = f"{_records(count)} from this slot on without a TIME to date them: {known}"
        notes.problem(ProblemCode.UNDATED, slot, count, text)
        notes.marks.append(Mark(ProblemCode.UNDATED, start, slot, count))


def _records(count: int) -> str:
    return f"{count} record" + ("" if count == 1 else "s")
