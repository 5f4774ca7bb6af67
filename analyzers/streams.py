"""What one tap and one event log recorded, as columns, and packets as they crossed a tap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.contract import Row
from freezeframe.capture.registers.layouts import HEADER, Kind

__all__ = ["HEADS", "EventLog", "Packet", "Stream", "header_fields"]

HEADS = 2
"""HEAD words of a packet: header and address."""

Int64 = npt.NDArray[np.int64]
Uint64 = npt.NDArray[np.uint64]


def header_fields(word: int) -> dict[str, int]:
    """Return the fields of a header word."""
    return HEADER.unpack(word)


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

    @property
    def seq(self) -> int | None:
        return None if self.header is None else header_fields(self.header)["seq"]

    @property
    def flow(self) -> int | None:
        return None if self.header is None else header_fields(self.header)["flow"]

    @property
    def length(self) -> int | None:
        return None if self.header is None else header_fields(self.header)["length"]

    @property
    def bad(self) -> bool:
        """A check of the hardware, made here again, fails."""
        return False in (self.header_ok, self.payload_ok, self.length_ok)


class Stream:
    """The words of one tap, oldest first.

    Attributes:
        rows: ``(n,)`` int64, rows of the trace's ``words`` table.
        kind: ``(n,)`` uint8; data: ``(n,)`` uint64; slot, cycle, t_ps, t_unc_ps: ``(n,)`` int64.
        packets: in order; their positions count in this stream.
        breaks: positions before which words were not read; always in the middle of the stream.
        end_ps: when the memory closed; None when the capture does not say.
    """

    def __init__(
        self,
        device: str,
        tap: str,
        columns: dict[str, npt.NDArray[Any]],
        packets: list[Packet],
        breaks: tuple[int, ...] = (),
        end_ps: int | None = None,
    ) -> None:
        self.device = device
        self.tap = tap
        self.rows: Int64 = columns["row"]
        self.kind: npt.NDArray[np.uint8] = columns["kind"]
        self.data: Uint64 = columns["data"]
        self.slot: Int64 = columns["slot"]
        self.cycle: Int64 = columns["cycle"]
        self.t_ps: Int64 = columns["t_ps"]
        self.t_unc_ps: Int64 = columns["t_unc_ps"]
        self.packets = packets
        self.breaks = breaks
        self.end_ps = end_ps

    def __len__(self) -> int:
        return len(self.data)

    @property
    def source(self) -> str:
        return f"{self.device}.{self.tap}"

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

    def row(self, position: int, label: str, expected: int | None = None) -> Row:
        """Return the word at a position as a row of evidence."""
        return Row(
            table="words",
            source=self.source,
            label=label,
            value=int(self.data[position]),
            expected=expected,
            row=int(self.rows[position]),
            slot=int(self.slot[position]),
            cycle=int(self.cycle[position]),
            t_ps=int(self.t_ps[position]),
        )

    def when(self, position: int) -> tuple[int, int | None]:
        """Return ``(t_ps, t_uncertainty_ps)`` of a word; None where the uncertainty is not known."""
        unc = int(self.t_unc_ps[position])
        return int(self.t_ps[position]), None if unc < 0 else unc


@dataclass(frozen=True, slots=True, eq=False)
class EventLog:
    """The event log of one device, oldest first; columns as in docs/formats.md section 8."""

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

    def row(self, position: int, label: str, expected: int | None = None) -> Row:
        """Return an event as a row of evidence."""
        return Row(
            table="events",
            source=f"{self.device}.event_log",
            label=label,
            value=int(self.value[position]),
            expected=expected,
            row=int(self.rows[position]),
            slot=int(self.slot[position]),
            cycle=int(self.cycle[position]),
            t_ps=int(self.t_ps[position]),
        )

    def when(self, position: int) -> tuple[int, int | None]:
        """Return ``(t_ps, t_uncertainty_ps)`` of an event."""
        unc = int(self.t_unc_ps[position])
        return int(self.t_ps[position]), None if unc < 0 else unc
