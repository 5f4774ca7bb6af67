"""One tap's memory as packets with their bytes and times, and what is wrong with the recording itself.

Whatever stands in the records, nothing raises: oddities become flags of packets, and problems.

Source: docs/card-map.md section 5; docs/formats.md section 2, rules 1, 2, 4, 5, 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from freezeframe.capture.card.elaborated import ElaboratedTap
from freezeframe.capture.card.recording import RecordedTap
from freezeframe.decoders.tap.kernels import MOST_SUM_B, Columns, pack_packets
from freezeframe.decoders.tap.kinds import BITS, PARTIAL, Bit, Packet, TapKind
from freezeframe.decoders.trace.kernels import (
    BAD_TIME,
    BROKEN_WALK,
    DATED,
    TIME_DISAGREES,
    Dated,
    Unpacked,
    date_records,
    unpack_records,
)
from freezeframe.decoders.trace.memory import Problem, ProblemCode

Bytes = npt.NDArray[np.uint8]
Int64 = npt.NDArray[np.int64]

_WORDS = sum(1 << kind for kind in TapKind if BITS[kind] & Bit.WORD)
_SUM = 1 << TapKind.SUM
_DIGEST = 0xEDB88320
_MASK_TOP = np.array([mask.bit_length() for mask in range(256)], np.int64)


class Mark(NamedTuple):
    """What MARK says: the causes of the tap's domain, cycles since them, beats that made no record any more."""

    causes: int
    since: int
    pending: int
    row: int


@dataclass(frozen=True, slots=True, eq=False)
class TapRecords:
    """Lane 0's records that were read, oldest first; ``missing``: how many were not, just before each."""

    missing: Int64
    columns: Unpacked
    dated: Dated


class Workspace:
    """Memory for the columns of records, for many memories one after another: new memory costs more than decoding."""

    def __init__(self) -> None:
        """Begin with none; it grows as needed."""
        self._slots = 0
        self._grow(1)

    def _grow(self, slots: int) -> None:
        if slots > self._slots:
            self._slots = slots
            self._wide = np.zeros((4, slots), np.int64)  # data, cycle, slack, missing: none
            self._narrow = np.zeros((3, slots), np.uint8)  # kind, dt, flags
            self._words = np.empty(0, np.uint64)

    def columns(self, slots: int) -> tuple[Unpacked, Dated, Int64]:
        """Return columns of so many rows; the last one is of zeros."""
        self._grow(slots)
        data, cycle, slack, none = self._wide[:, :slots]
        kind, dt, flags = self._narrow[:, :slots]
        return Unpacked(data, kind, dt), Dated(cycle, slack, flags), none

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        """Return memory for the bytes of packets."""
        if count > len(self._words):
            self._words = np.empty(count, np.uint64)
        return self._words[:count]


@dataclass(frozen=True, eq=False)
class TapStream:
    """What one tap recorded.

    Attributes:
        packets: in columns; cycles are the stream's.
        content: the bytes of all packets, each from its ``offset`` on; between two of them anything.
        span: first and last cycle of the stream that the memory covers; None where nothing in it is dated.
        problems: what is wrong with the recording.
        filtered: kinds of words were not let through, so that no packet is whole.
    """

    recorded: RecordedTap
    packets: Columns
    content: Bytes
    span: tuple[int, int] | None
    problems: tuple[Problem, ...]
    filtered: bool

    @property
    def tap(self) -> ElaboratedTap:
        return self.recorded.tap

    @cached_property
    def records(self) -> TapRecords:
        """Lane 0's records, for what points into the memory."""
        return tap_records(self.recorded, Workspace())

    @cached_property
    def slots(self) -> Int64:
        """``(n,)``: where each of the records stood."""
        return slots_read(self.recorded)

    def __len__(self) -> int:
        return len(self.packets.offset)

    def data(self, packet: int) -> bytes:
        """Return the bytes of a packet that are in the memory."""
        offset = int(self.packets.offset[packet])
        return self.content[offset : offset + int(self.packets.stored_B[packet])].tobytes()

    @cached_property
    def whole(self) -> npt.NDArray[np.bool_]:
        """``(n,)``: the memory holds the packet from its first byte to its last."""
        hidden = int(PARTIAL | Packet.SUMMARY)
        return np.asarray((self.packets.flags & hidden) == 0)

    @cached_property
    def told(self) -> npt.NDArray[np.bool_]:
        """``(n,)``: one SUM stands for the packet, from its first beat to its last."""
        seen = (self.packets.flags & int(PARTIAL)) == 0
        return np.asarray(seen & (self.packets.digest >= 0))

    @cached_property
    def broken(self) -> bool:
        """Whether packets may have stood in the memory's middle that are not among these, or not as they were."""
        inner = self.packets.flags & int(PARTIAL)
        # The oldest packet began before the memory, and the newest ends behind it.
        inner[:1] &= ~int(Packet.CUT_BEGIN)
        inner[-1:] &= ~int(Packet.CUT_END)
        damage = (ProblemCode.NOT_READ, ProblemCode.RESERVED_KIND)
        return bool(inner.any()) or any(problem.code in damage for problem in self.problems)

    @cached_property
    def mark(self) -> Mark | None:
        """What MARK says, where the memory was closed."""
        kind, data = self.records.columns.kind, self.records.columns.data
        rows = np.flatnonzero(kind == TapKind.MARK)
        if not len(rows):
            return None
        value = int(data[rows[-1]]) & (1 << 64) - 1
        causes = value & 0xFFFF | value >> 56 << 16
        return Mark(causes, value >> 16 & 0xFFFF_FFFF, value >> 48 & 0xFF, int(rows[-1]))

    @property
    def pending(self) -> bool:
        """Whether beats may have passed that made no record."""
        return self.mark is None or self.mark.pending > 0

    @cached_property
    def beats(self) -> tuple[Int64, Int64]:
        """``(n,)`` each: the stream's cycles of the first and the last beat in each record; of a word's alone."""
        kind, beat_B = self.records.columns.kind, self.tap.stream_bytes
        held = np.full(len(kind), max(1, 8 // beat_B), np.int64)
        late = np.zeros(len(kind), np.int64)
        if beat_B < 8:
            mask = self.records.columns.data >> 56 & 0xFF
            masked = (BITS[kind] & Bit.MASKED) != 0
            held[masked] = np.maximum(1, -(-_MASK_TOP[mask] // beat_B))[masked]
            whole = masked & (mask > 0) & (mask >> (held - 1) * beat_B == (1 << beat_B) - 1)
            late[whole & (kind == TapKind.PART) & (self.tap.said.time == "exact")] = 1
        last = self.records.dated.cycle - late - self.tap.latency_cycles
        return last - (held - 1), last

    @property
    def cause_cycle(self) -> int | None:
        """The cycle of the stream in which its clock domain saw the first cause; None where that is not known."""
        mark = self.mark
        if mark is None or not self.records.dated.flags[mark.row] & DATED:
            return None
        return int(self.records.dated.cycle[mark.row]) - mark.since - self.tap.latency_cycles

    def digest(self, packet: int) -> int | None:
        """Return the CRC-32/ISO-HDLC of a packet that one SUM stands for; None where there is none to be had."""
        value = int(self.digests[packet])
        return None if value < 0 else value

    @cached_property
    def digests(self) -> Int64:
        """``(n,)``: `digest` of each packet; -1 where there is none."""
        columns = self.packets
        crc = columns.digest ^ 0xFFFFFFFF
        zeros = 8 * (-columns.length % self.tap.stream_bytes)
        for bit in range(int(zeros.max(initial=0))):
            back = np.where(crc >> 31 & 1, ((crc ^ _DIGEST) << 1 | 1) & 0xFFFFFFFF, crc << 1)
            crc = np.where(bit < zeros, back, crc)
        hidden = (columns.flags & int(Packet.IRREGULAR | PARTIAL)) != 0
        none = (columns.digest < 0) | hidden | (columns.length >= MOST_SUM_B)
        return np.where(none, -1, crc ^ 0xFFFFFFFF)


def decode_tap(recorded: RecordedTap, workspace: Workspace | None = None) -> TapStream:
    """Return the packets of a tap's memory.

    Args:
        workspace: for many memories one after another; the bytes of a stream then last until the next call.
    """
    tap = recorded.tap
    space = workspace or Workspace()
    records = tap_records(recorded, space)
    data, kind, dt = records.columns
    side, keep, void = _side_lanes(recorded, len(kind))
    odd = _odd(records)
    # A packet has a record at least, and ends with an odd one or behind a gap before it.
    most = min(len(kind), 2 * len(odd)) + 1
    columns = Columns(*np.empty((len(Columns._fields), most), np.int64))
    words = space.words(len(kind) * len(tap.lanes) + 1)
    buffer = words.view(np.uint8)
    packets, used, *met = pack_packets(
        data.view(np.uint64),
        kind,
        dt,
        tuple(records.dated),
        records.missing,
        odd,
        side,
        keep,
        void,
        tap.said.store != "all",
        tap.stream_bytes,
        tap.said.time == "exact",
        tap.said.keep != "any",
        buffer,
        words,
        columns,
    )
    columns = Columns(*(column[:packets].copy() for column in columns))
    _to_stream(columns, tap.latency_cycles)
    store = tap.said.store
    needed = _WORDS if store == "all" else _SUM if store == "summary" else _WORDS | _SUM
    filtered = recorded.kinds & needed != needed
    if filtered:
        columns.flags[:] |= int(Packet.VOID)
    return TapStream(
        recorded,
        columns,
        buffer[: used + (-used % 8)],
        _span(records, tap.latency_cycles),
        tuple(problems_of(recorded, records, _known(tap), *met)),
        filtered,
    )


def _to_stream(columns: Columns, latency: int) -> None:
    """Turn cycles of the tap register into the stream's; those that SUM tells are the stream's already."""
    told = (columns.flags & Packet.SUMMARY) != 0
    alone = told & ((columns.flags & Packet.SHORTENED) == 0)
    columns.begin[~alone] -= latency
    columns.end[~told] -= latency


def _span(records: TapRecords, latency: int) -> tuple[int, int] | None:
    flags, cycle = records.dated.flags, records.dated.cycle
    if not len(flags):
        return None
    ends = (0, len(flags) - 1)
    if not all(flags[end] & DATED for end in ends):
        dated = np.flatnonzero(flags & DATED)
        if not len(dated):
            return None
        ends = (int(dated[0]), int(dated[-1]))
    return int(cycle[ends[0]]) - latency, int(cycle[ends[1]]) - latency


def slots_read(recorded: RecordedTap) -> Int64:
    """Return ``(n,)``: the slots of lane 0 that were read, oldest first."""
    slots = recorded.slots_in_order()
    return slots[~recorded.unread(0)[slots]] if recorded.gaps and recorded.gaps[0] else slots


def tap_records(recorded: RecordedTap, space: Workspace) -> TapRecords:
    """Return lane 0's records, dated; of the event log, its only lane's."""
    lane = recorded.lanes[0]
    pointer = recorded.write_ptr
    gone = None
    if recorded.gaps and recorded.gaps[0]:
        slots = recorded.slots_in_order()
        order = np.flatnonzero(~recorded.unread(0)[slots])
        gone = np.diff(order, prepend=-1) - 1
        records = lane[slots[order]]
    elif recorded.wrapped:
        records = np.concatenate([lane[pointer:], lane[:pointer]]) if pointer else lane
    else:
        records = lane[:pointer]
    columns, dated, missing = space.columns(len(records))
    if gone is not None:
        missing = gone
    unpack_records(records, columns)
    return TapRecords(missing, columns, date_records(columns, missing, out=dated))


def _odd(records: TapRecords) -> Int64:
    """Return the records that are anything but what a tap stores most: `pack_packets` copies the others in one go."""
    _, kind, dt = records.columns
    odd = (kind != int(TapKind.BODY)) | (dt != 1) | (records.dated.flags != DATED)
    odd |= records.missing != 0
    return np.append(np.flatnonzero(odd), len(kind))


def _side_lanes(
    recorded: RecordedTap, count: int
) -> tuple[npt.NDArray[np.uint64], Bytes, npt.NDArray[np.bool_]]:
    """Return data and keep of lanes 1 and on, by record of lane 0, and where one of them was not read."""
    lanes = recorded.lanes[1:]
    data = np.zeros((len(lanes), count), np.uint64)
    keep = np.zeros((len(lanes), count), np.uint8)
    void = np.zeros(count, np.bool_)
    slots = slots_read(recorded) if lanes else np.empty(0, np.int64)
    for number, lane in enumerate(lanes):
        records = lane[slots]
        data[number] = np.ascontiguousarray(records[:, :8]).view("<u8")[:, 0]
        keep[number] = records[:, 8]
        if recorded.gaps and recorded.gaps[number + 1]:
            void |= recorded.unread(number + 1)[slots]
    return data, keep, void


def _known(tap: ElaboratedTap) -> set[int]:
    return {int(k) for k in TapKind if k != TapKind.SUM or tap.said.store != "all"}


def problems_of(
    recorded: RecordedTap, records: TapRecords, known: set[int], kinds: int, any_flag: int, all_flags: int,
    zero_dt: bool,
) -> list[Problem]:  # fmt: skip
    """Say what is wrong with the recording, a line for each sort of thing.

    Args:
        known: kinds of record that this memory may hold.
        kinds: bit k: a record of kind k is there.
        any_flag, all_flags: of the records' dates, joined by or and by and.
        zero_dt: a record has dt 0.
    """
    name = recorded.tap.name
    kind, dt = records.columns.kind, records.columns.dt
    cycle, _, flags = records.dated
    found: list[Problem] = []

    def add(code: ProblemCode, rows: Int64, text: str) -> None:
        slot, count = int(slots_read(recorded)[rows[0]]), len(rows)
        found.append(Problem(code, name, slot, count, f"{text} ({count} such)"))

    for number, lane in enumerate(recorded.gaps):
        for gap in lane:
            text = f"{len(gap)} records of lane {number} from this slot on could not be read"
            found.append(Problem(ProblemCode.NOT_READ, name, gap.start, len(gap), text))
    if not len(kind):
        return found
    closed = np.flatnonzero(kind == int(TapKind.MARK))
    if len(closed) and (BITS[kind[closed[0] :]] & Bit.WORD).any():
        text = "words stand behind the MARK that closes a memory"
        add(ProblemCode.RESERVED_KIND, closed[:1], text)
    for number in range(16):
        if kinds >> number & 1 and number not in known:
            text = f"a record of kind {number}, which this memory never holds"
            add(ProblemCode.RESERVED_KIND, np.flatnonzero(kind == number), text)
    if zero_dt:
        text = "dt is 0; a tap stores one record a cycle"
        add(ProblemCode.ZERO_DT, np.flatnonzero(dt == 0), text)
    if any_flag & TIME_DISAGREES:
        rows = np.flatnonzero(flags & TIME_DISAGREES)
        walked = int(cycle[rows[0] + 1] - dt[rows[0] + 1])
        text = f"TIME says cycle {int(cycle[rows[0]])}, the newer records say {walked}"
        add(ProblemCode.TIME_DISAGREES, rows, text)
    if any_flag & BAD_TIME:
        rows = np.flatnonzero(flags & BAD_TIME)
        add(ProblemCode.BAD_TIME, rows, "TIME says a cycle that no counter reaches")
    if any_flag & BROKEN_WALK:
        rows = np.flatnonzero(flags & BROKEN_WALK)
        add(ProblemCode.BROKEN_WALK, rows, "dt is 15 and the record before is not TIME")
    if not all_flags & DATED:
        rows = np.flatnonzero(flags & DATED == 0)
        add(ProblemCode.UNDATED, rows, "a record without a TIME that dates it exactly")
    newest_slot = (recorded.write_ptr or len(recorded.lanes[0])) - 1
    if kind[-1] != TapKind.TIME and not recorded.unread(0)[newest_slot]:
        text = "the newest record is not the TIME that closes a memory"
        add(ProblemCode.NOT_CLOSED, np.array([len(kind) - 1]), text)
    return found
