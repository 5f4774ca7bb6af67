"""One trace memory as columns: its records in the order they were stored, dated in cycles, with what is wrong with them.

Source: docs/formats.md section 2.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from freezeframe.capture.folder import DeviceCapture, MemoryImage
from freezeframe.capture.registers.layouts import MEMORY_NAMES, Kind, Memory
from freezeframe.capture.timebase import DOMAIN_OF_MEMORY
from freezeframe.decoders.trace import kernels
from freezeframe.decoders.trace.kernels import Bytes, Dated, Unpacked
from freezeframe.decoders.trace.problems import Problem, ProblemCode

__all__ = ["Mark", "Reading", "read_memory"]

Int64 = npt.NDArray[np.int64]

_SELECT = 0  # id.trace.mode: one memory serves one selected tap
_TAP_KINDS = (Kind.HEAD, Kind.BODY, Kind.TAIL, Kind.MARK, Kind.TIME)
_RESERVED = (0, 11)
_KIND_NAMES = {int(kind): kind.name for kind in Kind}


@dataclass(frozen=True, slots=True)
class Mark:
    """A problem's place: the row ``record`` (into a reading) that gets an error row, with its value."""

    code: ProblemCode
    record: int
    slot: int
    value: int


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The records of one memory, oldest first; those of gaps are left out.

    Attributes:
        device: "A".
        source: "A.tx_enq".
        tap: what was recorded; in SELECT mode the selected tap.
        records: ``(n, 9)`` uint8.
        slot: ``(n,)`` int64, where each record stood.
        missing: ``(n,)`` int64, records that were not read just before each one.
        problems, marks: what is wrong, for people and for the table of events.
    """

    device: str
    source: str
    tap: Memory
    records: Bytes
    slot: Int64
    missing: Int64
    columns: Unpacked
    dated: Dated
    problems: list[Problem] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.slot)

    @property
    def is_log(self) -> bool:
        return self.tap == Memory.EVENT_LOG

    @property
    def domain(self) -> str:
        return DOMAIN_OF_MEMORY[MEMORY_NAMES[self.tap]]


def read_memory(device: DeviceCapture, image: MemoryImage) -> Reading:
    """Put the records of a memory in order, unpack and date them, and note what is wrong.

    Nothing on the wire makes this raise; every oddity becomes a problem.
    """
    tap = _tap(device, image.name)
    slots = image.slots_in_order()
    read = image.read_mask()[slots]
    order = np.flatnonzero(read)
    missing = np.diff(order, prepend=-1) - 1
    slot = slots[order]
    records = image.records[slot]
    columns = kernels.unpack_records(records)
    dated = kernels.date_records(columns, missing, 0 if tap == Memory.EVENT_LOG else 1)
    reading = Reading(
        device.name,
        f"{device.name}.{tap.name.lower()}",
        tap,
        records,
        slot,
        missing,
        columns,
        dated,
    )
    _note_gaps(reading, slots, read)
    _note_kinds(reading)
    _note_dates(reading)
    reading.marks.sort(key=lambda mark: mark.record)
    return reading


def _tap(device: DeviceCapture, memory: str) -> Memory:
    tap = Memory(MEMORY_NAMES.index(memory))
    if device.identity.trace_mode == _SELECT and tap != Memory.EVENT_LOG:
        selected = device.registers.field("ctl.options", "select_tap")
        if selected is not None and selected < Memory.EVENT_LOG:
            return Memory(selected)
    return tap


def _note(
    reading: Reading,
    code: ProblemCode,
    rows: Int64,
    values: Int64,
    text: str,
    count: int | None = None,
) -> None:
    """Add a problem for all ``rows`` together and a mark for each. No rows, no problem."""
    if not len(rows):
        return
    slots = reading.slot[rows]
    number = len(rows) if count is None else count
    reading.problems.append(Problem(code, reading.source, int(slots[0]), number, text))
    reading.marks.extend(
        Mark(code, row, slot, value)
        for row, slot, value in zip(rows.tolist(), slots.tolist(), values.tolist(), strict=True)
    )


def _note_gaps(reading: Reading, slots: Int64, read: npt.NDArray[np.bool_]) -> None:
    starts = np.flatnonzero(~read & np.concatenate([[True], read[:-1]])) if len(read) else []
    before = np.cumsum(read) - read  # records read before each place of the order
    for start in starts:
        rest = np.flatnonzero(read[start:])
        count = int(rest[0]) if len(rest) else len(read) - int(start)
        slot = int(slots[start])
        text = f"{count} records from this slot on could not be read"
        reading.problems.append(Problem(ProblemCode.NOT_READ, reading.source, slot, count, text))
        # The row stands at the record after the gap, or at the last one where there is none.
        record = min(int(before[start]), len(reading) - 1)
        if record >= 0:
            reading.marks.append(Mark(ProblemCode.NOT_READ, record, slot, count))


def _note_kinds(reading: Reading) -> None:
    kind = reading.columns.kind
    allowed = np.zeros(16, dtype=np.bool_)
    if reading.is_log:
        allowed[[k for k in Kind if k not in (Kind.HEAD, Kind.BODY, Kind.TAIL)]] = True
    else:
        allowed[list(_TAP_KINDS)] = True
    wrong = np.flatnonzero(~allowed[kind])
    for number in np.unique(kind[wrong]).tolist():
        rows = wrong[kind[wrong] == number]
        values = np.full(len(rows), number, dtype=np.int64)
        if number in _RESERVED:
            text = f"{len(rows)} records of the reserved kind {number}, the first in this slot"
            _note(reading, ProblemCode.RESERVED_KIND, rows, values, text)
        else:
            text = (
                f"{len(rows)} records of kind {_KIND_NAMES[number]}, which this memory never holds, "
                "the first in this slot"
            )
            _note(reading, ProblemCode.MISPLACED_KIND, rows, values, text)
    if not reading.is_log:
        rows = np.flatnonzero(reading.columns.dt == 0)
        text = (
            f"{len(rows)} records with dt 0, the first in this slot; a tap stores one word a cycle"
        )
        _note(reading, ProblemCode.ZERO_DT, rows, np.zeros(len(rows), dtype=np.int64), text)
    if len(reading) and kind[-1] != Kind.TIME:
        last = np.array([len(reading) - 1], dtype=np.int64)
        text = (
            "the newest record is not the TIME that closes a memory; was it read while recording?"
        )
        _note(reading, ProblemCode.NOT_CLOSED, last, kind[last].astype(np.int64), text)
    rows = np.flatnonzero(kind == Kind.LOSS) if reading.is_log else np.empty(0, dtype=np.int64)
    lost = reading.columns.data[rows] & 0xFFFFFFFF
    total = int(lost.sum())
    text = f"{total} events were lost because the event log's FIFO was full, first before this slot"
    _note(reading, ProblemCode.EVENTS_LOST, rows, lost, text, total)


def _note_dates(reading: Reading) -> None:
    flags, cycle, data = reading.dated.flags, reading.dated.cycle, reading.columns.data
    none = np.zeros(len(reading), dtype=np.int64)

    rows = np.flatnonzero(flags & kernels.TIME_DISAGREES)
    walked = np.array([cycle[r + 1] - int(reading.columns.dt[r + 1]) for r in rows], dtype=np.int64)
    if len(rows):
        text = (
            f"TIME says cycle {int(cycle[rows[0]])}, the newer records say {int(walked[0])}"
            f" ({len(rows)} such)"
        )
        _note(reading, ProblemCode.TIME_DISAGREES, rows, walked, text)

    rows = np.flatnonzero(flags & kernels.BAD_TIME)
    if len(rows):
        text = f"TIME says {int(data[rows[0]]) & (1 << 64) - 1:#018x}, which no counter reaches"
        _note(reading, ProblemCode.BAD_TIME, rows, none[rows], text)

    rows = np.flatnonzero(flags & kernels.BROKEN_WALK)
    text = "dt is 15 and the record before is not TIME; older records are dated from older TIMEs"
    _note(reading, ProblemCode.BROKEN_WALK, rows, none[rows], text)

    undated = (flags & kernels.DATED) == 0
    starts = np.flatnonzero(undated & ~np.concatenate([[False], undated[:-1]]))
    ends = np.flatnonzero(undated & ~np.concatenate([undated[1:], [False]])) + 1
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        count = end - start
        slack = reading.dated.slack[start]
        known = f"known to {int(slack)} cycles" if slack >= 0 else "not known"
        text = f"{count} records from this slot on have no TIME to date them; their time is {known}"
        rows = np.array([start], dtype=np.int64)
        _note(reading, ProblemCode.UNDATED, rows, np.array([count]), text, count)
