"""One trace memory as columns: its records in the order they were stored, dated, and what is wrong with them.

Source: docs/formats.md section 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from freezeframe.capture.card.roles import EVENT_LOG, Roles
from freezeframe.capture.count_text import plural
from freezeframe.capture.folder import DeviceCapture, Gap, MemoryImage
from freezeframe.capture.registers.layouts import LOSS_LOST_MASK, Kind
from freezeframe.capture.timebase import UNKNOWN_PS, TimeBase
from freezeframe.decoders.trace import kernels
from freezeframe.decoders.trace.kernels import Bytes, Dated, Unpacked

Int64 = npt.NDArray[np.int64]
Times = tuple[Int64, Int64]

_SELECT = 0  # id.trace.mode: one memory serves one selected tap
_MOST_SLACK = 1 << 48  # cycles; a month at 100 MHz, and its picoseconds still fit
_WORDS = (Kind.HEAD, Kind.BODY, Kind.TAIL)
_TAP_KINDS = (*_WORDS, Kind.MARK, Kind.TIME)
_RESERVED = (0, 11)
_KIND_NAMES = {int(kind): kind.name for kind in Kind}


@dataclass(frozen=True, slots=True)
class Skipped:
    """``count`` records from ``first_slot`` on that were not read, just before row ``record``."""

    record: int  # the number of rows where nothing newer was read
    first_slot: int
    count: int
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The records of one memory, oldest first; those of gaps are left out.

    Attributes:
        device: "A".
        source: "A.tx_enq".
        roles: the parts of its card.
        memory: what was recorded; in SELECT mode the selected tap.
        records: ``(n, 9)`` uint8.
        slot: ``(n,)`` int64, where each record stood.
        missing: ``(n,)`` int64, records that were not read just before each one.
        skipped: the gaps, oldest first.
    """

    device: str
    source: str
    roles: Roles
    memory: str
    records: Bytes
    slot: Int64
    missing: Int64
    columns: Unpacked
    dated: Dated
    skipped: tuple[Skipped, ...]

    def __len__(self) -> int:
        return len(self.slot)

    @property
    def is_log(self) -> bool:
        return self.memory == EVENT_LOG

    @property
    def domain(self) -> str:
        return self.roles.domain_of[self.memory]

    @property
    def sends(self) -> bool:
        """Whether it is of the outgoing path."""
        return self.memory in self.roles.tx.taps


def read_memory(device: DeviceCapture, image: MemoryImage) -> Reading:
    """Put the records of a memory in order, unpack and date them. Nothing on the wire raises."""
    memory = _recorded(device, image.name)
    slots = image.slots_in_order()
    read = image.read_mask()[slots]
    order = np.flatnonzero(read)
    missing = np.diff(order, prepend=-1) - 1
    records = image.records[slots[order]]
    columns = kernels.unpack_records(records)
    return Reading(
        device=device.name,
        source=f"{device.name}.{memory}",
        roles=device.roles,
        memory=memory,
        records=records,
        slot=slots[order],
        missing=missing,
        columns=columns,
        dated=kernels.date_records(columns, missing, 0 if memory == EVENT_LOG else 1),
        skipped=_skipped(image.gaps, slots, read),
    )


def _recorded(device: DeviceCapture, memory: str) -> str:
    """Return what a memory holds: where one serves a selected tap, that tap."""
    if device.identity.trace_mode == _SELECT and memory != EVENT_LOG:
        selected = device.registers.field("ctl.options", "select_tap")
        taps = device.roles.taps
        if selected is not None and selected < len(taps):
            return taps[selected]
    return memory


def _skipped(gaps: list[Gap], slots: Int64, read: npt.NDArray[np.bool_]) -> tuple[Skipped, ...]:
    rows_before = np.cumsum(read)
    gaps_met = []
    for start, end in _runs(~read):
        slot = int(slots[start])
        reason = next(g.reason for g in gaps if g.first_slot <= slot < g.first_slot + g.slots)
        gaps_met.append(Skipped(int(rows_before[start]), slot, end - start, reason))
    return tuple(gaps_met)


def _runs(there: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Yield where each stretch that is true begins and ends."""
    edges = np.flatnonzero(np.diff(there, prepend=False, append=False)).tolist()
    return zip(edges[::2], edges[1::2], strict=True)


def at_earliest(timebase: TimeBase, readings: Sequence[Reading]) -> TimeBase:
    """Return the time base with the earliest record of all readings as its origin.

    A record whose time is not known at all counts only where a capture has no other.
    """
    placed: list[tuple[str, str, int]] = []
    vague: list[tuple[str, str, int]] = []
    for reading in readings:
        known = reading.dated.slack >= 0
        for wanted, into in ((known, placed), (~known, vague)):
            cycles = reading.dated.cycle[wanted]
            if len(cycles):
                into.append((reading.device, reading.domain, int(cycles.min())))
    return timebase.starting_at(placed or vague)


def times_of(
    timebase: TimeBase, reading: Reading, rows: Int64 | None = None, after_cycles: int = 0
) -> Times:
    """Return ``t_ps`` and ``t_unc_ps`` of records, or of so many cycles after them.

    Args:
        rows: records of the reading; all of them when not given.
    Returns:
        Two ``(n,)`` int64. The uncertainty covers the clock's and that of a record without a date;
        UNKNOWN_PS where either is not known. The records of a memory that has no TIME at all are
        laid out from the origin on, with UNKNOWN_PS.
    """
    cycle, slack = reading.dated.cycle, reading.dated.slack
    afloat = len(cycle) > 0 and not (slack >= 0).any()
    first = cycle[:1]
    if rows is not None:
        cycle, slack = cycle[rows], slack[rows]
    t_ps, unc_ps = timebase.times_ps(reading.device, reading.domain, cycle + after_cycles)
    if afloat:
        t_ps = t_ps - timebase.times_ps(reading.device, reading.domain, first)[0]
    if slack.any():
        period_ps = -(-timebase.clocks[reading.device, reading.domain].ps_per_cycle // 1)
        known = (unc_ps != UNKNOWN_PS) & (slack >= 0) & (slack < _MOST_SLACK)
        unc_ps = np.where(known, unc_ps + np.where(known, slack, 0) * int(period_ps), UNKNOWN_PS)
    return t_ps, unc_ps


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


def _records(count: int) -> str:
    return plural(count, "record", thousands="")


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
    verb = "was" if total == 1 else "were"
    text = f"{plural(total, 'event')} {verb} lost, the first of them before this slot: the log's FIFO was full"
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
    for start, end in _runs((reading.dated.flags & kernels.DATED) == 0):
        count, slack = end - start, int(reading.dated.slack[start])
        known = f"known to {slack} cycles" if slack >= 0 else "not known"
        slot = int(reading.slot[start])
        text = f"{_records(count)} from this slot on without a TIME to date them: {known}"
        notes.problem(ProblemCode.UNDATED, slot, count, text)
        notes.marks.append(Mark(ProblemCode.UNDATED, start, slot, count))
