"""What one tap and one event log recorded, as columns, and packets as they crossed a tap."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from freezeframe.analyzers.contract import Row
from freezeframe.capture.card.roles import EVENT_LOG
from freezeframe.capture.folder import DeviceCapture
from freezeframe.capture.registers import layouts
from freezeframe.capture.registers.layouts import Kind, PacketFlag
from freezeframe.decoders.trace.decode import Trace

HEADS = 2
"""HEAD words of a packet: header and address."""

WHOLE_PACKETS = (Kind.HEAD, Kind.BODY, Kind.TAIL)
"""The kinds without which packets of a tap cannot be distinguished from damaged ones."""

_KINDS = {kind.name: int(kind) for kind in Kind}
_INJECTED = int(PacketFlag.INJECTED)

Int64 = npt.NDArray[np.int64]
Uint64 = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Packet:
    """One packet as it crossed one tap. ``start``, ``end`` are positions in the tap's stream.

    ``header`` is None where no header word was recorded; ``seq`` and ``flow`` are its fields as
    read, right or damaged. Verdicts are None where they cannot be known. ``has_head``: both HEAD
    words are recorded; ``has_tail``: it ends in a TAIL; ``cut_start``, ``cut_end``: what is missing
    there lies outside the recording (memory's edge or a gap), so nothing follows from its absence.
    """

    index: int
    start: int
    end: int
    heads: int
    body_words: int
    header: int | None
    address: int | None
    has_tail: bool
    cut_start: bool
    cut_end: bool
    header_ok: bool | None
    payload_ok: bool | None
    length_ok: bool | None

    @property
    def has_head(self) -> bool:
        return self.heads == HEADS

    @property
    def whole(self) -> bool:
        return self.has_head and self.has_tail

    # Asked for some thousand times in an explanation, one field at a time.

    @property
    def seq(self) -> int | None:
        return self._field(layouts.HEADER_SEQ_LSB, layouts.HEADER_SEQ_MASK)

    @property
    def flow(self) -> int | None:
        return self._field(layouts.HEADER_FLOW_LSB, layouts.HEADER_FLOW_MASK)

    @property
    def length(self) -> int | None:
        return self._field(layouts.HEADER_LENGTH_LSB, layouts.HEADER_LENGTH_MASK)

    @property
    def type(self) -> int | None:
        return self._field(layouts.HEADER_TYPE_LSB, layouts.HEADER_TYPE_MASK)

    @property
    def injected(self) -> bool:
        flags = self._field(layouts.HEADER_FLAGS_LSB, layouts.HEADER_FLAGS_MASK)
        return bool((flags or 0) & _INJECTED)

    def _field(self, lsb: int, mask: int) -> int | None:
        return None if self.header is None else self.header >> lsb & mask

    @property
    def bad(self) -> bool:
        """A check of the hardware, made here again, fails."""
        return False in self._verdicts

    @property
    def good(self) -> bool:
        """Every check can be made, and passes."""
        return all(self._verdicts)

    @property
    def checked(self) -> bool:
        """Every check can be made."""
        return None not in self._verdicts

    @property
    def _verdicts(self) -> tuple[bool | None, ...]:
        return self.header_ok, self.payload_ok, self.length_ok


class Recorded:
    """What words and events of one memory have in common: value, row of the trace, place and time of each."""

    device: str
    rows: Int64
    slot: Int64
    cycle: Int64
    t_ps: Int64
    t_unc_ps: Int64
    _table: ClassVar[str]

    @property
    def source(self) -> str:
        raise NotImplementedError

    @property
    def _values(self) -> Int64 | Uint64:
        raise NotImplementedError

    def row(self, position: int, label: str, expected: int | None = None) -> Row:
        """Return the word or event at a position as a row of evidence."""
        return Row(
            table=self._table,
            source=self.source,
            label=label,
            value=int(self._values[position]),
            expected=expected,
            row=int(self.rows[position]),
            slot=int(self.slot[position]),
            cycle=int(self.cycle[position]),
            t_ps=int(self.t_ps[position]),
        )

    def when(self, position: int) -> tuple[int, int | None]:
        """Return ``(t_ps, t_uncertainty_ps)`` of a word or event; None where the uncertainty is not known."""
        unc = int(self.t_unc_ps[position])
        return int(self.t_ps[position]), None if unc < 0 else unc


@dataclass(slots=True, eq=False)
class Stream(Recorded):
    """The words of one tap, oldest first.

    Attributes:
        rows: ``(n,)`` int64, rows of the trace's ``words`` table.
        kind: ``(n,)`` uint8; data: ``(n,)`` uint64; slot, cycle, t_ps, t_unc_ps: ``(n,)`` int64.
        packets: in order; their positions count in this stream.
        breaks: positions before which words were not read; always in the middle of the stream.
        end_ps: when the memory closed; None when the capture does not say.
    """

    _table = "words"

    device: str
    tap: str
    rows: Int64
    kind: npt.NDArray[np.uint8]
    data: Uint64
    slot: Int64
    cycle: Int64
    t_ps: Int64
    t_unc_ps: Int64
    packets: list[Packet]
    breaks: tuple[int, ...] = ()
    end_ps: int | None = None

    def __len__(self) -> int:
        return len(self.data)

    @property
    def source(self) -> str:
        return f"{self.device}.{self.tap}"

    @property
    def _values(self) -> Uint64:
        return self.data

    def words(self, packet: Packet) -> Uint64:
        """Return the words of a packet, HEAD and TAIL with them; a view."""
        return self.data[packet.start : packet.end]

    def payload(self, packet: Packet) -> Uint64:
        """Return the payload words of a packet; a view."""
        first = packet.start + packet.heads
        return self.data[first : first + packet.body_words]

    def tail(self, packet: Packet) -> int | None:
        """Return the TAIL word of a packet."""
        return int(self.data[packet.end - 1]) if packet.has_tail else None


@dataclass(frozen=True, slots=True, eq=False)
class EventLog(Recorded):
    """The event log of one device, oldest first; columns as in docs/formats.md section 8."""

    _table = "events"

    device: str
    rows: Int64
    kind: npt.NDArray[np.str_]
    code: npt.NDArray[np.str_]
    flow: Int64
    value: Int64
    slot: Int64
    cycle: Int64
    t_ps: Int64
    t_unc_ps: Int64
    gaps: bool = False
    """Records of the log were not read: the absence of an event proves nothing."""
    kinds: int = 0
    """The kinds that were switched on, one bit each; 0 where that is not known."""

    @property
    def source(self) -> str:
        return f"{self.device}.{EVENT_LOG}"

    @property
    def _values(self) -> Int64:
        return self.value

    def __len__(self) -> int:
        return len(self.rows)

    def recorded(self, *kinds: Kind) -> bool:
        """Return whether events of all these kinds were recorded, so that their absence means something."""
        return all(self.kinds >> kind & 1 for kind in kinds)

    def select(self, kind: str, *codes: str, flow: int | None = None) -> Int64:
        """Return the positions of the events of a kind, of these codes (any without), of a flow."""
        mask = self.kind == kind
        if codes:
            mask &= np.isin(self.code, codes)
        if flow is not None:
            mask &= self.flow == flow
        return np.flatnonzero(mask)


class Numbered(NamedTuple):
    """A packet with its sequence number, that of the packet before it (None: not known), and damaged ones between."""

    packet: Packet
    seq: int
    before: int | None
    damaged: int


def numbered(stream: Stream, before: int | None = None) -> Iterator[Numbered]:
    """Yield the packets of a tap whose sequence number can be read.

    A packet whose header is damaged has some number; injected ones have any. Nothing is said across words not read.

    Args:
        before: the number before the first packet, where it is known.
    """
    damaged = 0
    breaks = list(stream.breaks)
    for packet in stream.packets:
        if breaks and packet.start >= breaks[0]:
            breaks.pop(0)
            before, damaged = None, 0
        seq = packet.seq
        if not packet.header_ok or seq is None:
            damaged += packet.heads > 0
            continue
        if packet.injected:
            continue
        yield Numbered(packet, seq, before, damaged)
        before, damaged = seq, 0


def streams_of(
    trace: Trace,
    devices: tuple[DeviceCapture, ...],
    recorded: dict[tuple[str, str], int],
    since_ps: dict[str, int],
) -> dict[tuple[str, str], Stream]:
    words, packets = trace.words, trace.packets
    word_source, packet_source = _texts(words["source"]), _texts(packets["source"])
    closed = trace.events[trace.events["kind"] == Kind.MARK.name]
    closed_ps = dict(zip(_texts(closed["source"]), closed["t_ps"].tolist(), strict=True))
    streams = {}
    for device in devices:
        for tap in device.roles.taps:
            source = f"{device.name}.{tap}"
            rows = np.flatnonzero(word_source == source)
            if tap not in device.memories and not len(rows):
                continue
            if missing_kinds(recorded[device.name, tap], WHOLE_PACKETS):
                continue
            own = packets.iloc[np.flatnonzero(packet_source == source)]
            if device.name in since_ps:
                rows, own = _since(words, rows, own, since_ps[device.name])
            columns = _word_columns(words, rows)
            breaks = _breaks(device, tap, columns["slot"])
            streams[device.name, tap] = Stream(
                device=device.name,
                tap=tap,
                packets=_packets(own, columns, breaks),
                breaks=breaks,
                end_ps=closed_ps.get(source),
                **columns,
            )
    return streams


def _since(
    words: pd.DataFrame, rows: Int64, packets: pd.DataFrame, since_ps: int
) -> tuple[Int64, pd.DataFrame]:
    """Return the words of a tap from a time on, and the packets that begin among them."""
    doubt_ps = np.maximum(words["t_unc_ps"].to_numpy()[rows], 0)
    later = np.flatnonzero(words["t_ps"].to_numpy()[rows] - doubt_ps >= since_ps)
    rows = rows[later[0] :] if len(later) else rows[:0]
    kept = packets["first_row"].to_numpy() >= (rows[0] if len(rows) else np.iinfo(np.int64).max)
    packets = packets.iloc[np.flatnonzero(kept)]
    first = int(packets["first_row"].min()) if len(packets) else int(np.iinfo(np.int64).max)
    return rows[rows >= first], packets


def _word_columns(words: pd.DataFrame, rows: Int64) -> dict[str, npt.NDArray[Any]]:
    kinds, names = words["kind"].cat.codes.to_numpy(), words["kind"].cat.categories
    number = np.array([_KINDS.get(str(name), 0) for name in names], np.uint8)
    columns: dict[str, npt.NDArray[Any]] = {
        "rows": rows,
        "kind": number[kinds[rows]],
        "data": words["data"].to_numpy()[rows].astype(np.int64).view(np.uint64),
    }
    for name in ("slot", "cycle", "t_ps", "t_unc_ps"):
        columns[name] = words[name].to_numpy()[rows].astype(np.int64)
    return columns


def _packets(
    table: pd.DataFrame, words: dict[str, npt.NDArray[Any]], breaks: tuple[int, ...]
) -> list[Packet]:
    """Make the packets of a stream; what is missing at an edge of the recording is distinguished from damage."""
    kinds, data, rows = words["kind"], words["data"], words["rows"]
    edges = {0, len(rows), *breaks}
    packets: list[Packet] = []
    verdicts = {name: _verdicts(table[name]) for name in ("header_ok", "payload_ok", "length_ok")}
    starts = np.searchsorted(rows, table["first_row"].to_numpy())
    ends = np.searchsorted(rows, table["end_row"].to_numpy() - 1) + 1
    heads_before, body_before = (
        np.concatenate(([0], np.cumsum(kinds == kind))) for kind in (Kind.HEAD, Kind.BODY)
    )
    heads_of = heads_before[ends] - heads_before[starts]
    columns = (
        starts,
        ends,
        heads_of,
        body_before[ends] - body_before[starts],
        kinds[ends - 1] == Kind.TAIL,
        data[starts],
        data[starts + np.maximum(heads_of, 1) - 1],
    )
    for i, (start, end, heads, body_words, has_tail, first, last_head) in enumerate(
        zip(*(column.tolist() for column in columns), strict=True)
    ):
        cut_start = start in edges and heads < HEADS
        packets.append(
            Packet(
                index=i,
                start=start,
                end=end,
                heads=heads,
                body_words=body_words,
                header=first if heads >= HEADS or (heads and not cut_start) else None,
                address=last_head if heads >= HEADS or (cut_start and heads) else None,
                has_tail=has_tail,
                cut_start=cut_start,
                cut_end=end in edges and not has_tail,
                header_ok=verdicts["header_ok"][i],
                payload_ok=verdicts["payload_ok"][i],
                length_ok=verdicts["length_ok"][i],
            )
        )
    return packets


def _texts(column: pd.Series[Any]) -> npt.NDArray[np.str_]:
    if isinstance(column.dtype, pd.CategoricalDtype) and not column.hasnans:
        # Each category once, not each row.
        return np.asarray(column.cat.categories, np.str_)[column.cat.codes.to_numpy()]
    return column.astype(str).to_numpy().astype(np.str_)


def _breaks(device: DeviceCapture, tap: str, slots: Int64) -> tuple[int, ...]:
    """Return the positions in a stream before which the pull left a gap."""
    # With one memory for a selected tap, the memory's name may be another than the tap's.
    memory = device.memories.get(tap) or next(iter(device.memories.values()))
    oldest = memory.write_ptr if memory.wrapped else 0
    age = (slots - oldest) % max(len(memory.records), 1)
    breaks = set()
    for gap in memory.gaps:
        breaks.add(int(np.searchsorted(age, (gap.first_slot - oldest) % len(memory.records))))
    return tuple(sorted(at for at in breaks if 0 < at < len(slots)))


def _verdicts(column: pd.Series[Any]) -> list[bool | None]:
    known = column.notna().to_numpy()
    return [bool(v) if k else None for v, k in zip(column.to_list(), known, strict=True)]


def event_log_of(
    events: pd.DataFrame, device: DeviceCapture, kinds: int, since_ps: int | None
) -> EventLog:
    source = _texts(events["source"])
    rows = np.flatnonzero(source == f"{device.name}.{EVENT_LOG}")
    if since_ps is not None:
        rows = rows[events["t_ps"].to_numpy()[rows] >= since_ps]
    memory = device.memories.get(EVENT_LOG)

    def column(name: str) -> Int64:
        values: Int64 = events[name].to_numpy()[rows].astype(np.int64)
        return values

    return EventLog(
        device=device.name,
        rows=rows,
        kind=_texts(events["kind"].iloc[rows]),
        code=_texts(events["code"].iloc[rows]),
        flow=column("flow"),
        value=column("value"),
        slot=column("slot"),
        cycle=column("cycle"),
        t_ps=column("t_ps"),
        t_unc_ps=column("t_unc_ps"),
        gaps=memory is None or bool(memory.gaps),
        kinds=kinds,
    )


def missing_kinds(mask: int, wanted: tuple[Kind, ...]) -> list[str]:
    """Return the names of the kinds that a memory did not record."""
    return [kind.name for kind in wanted if not mask >> kind & 1]
