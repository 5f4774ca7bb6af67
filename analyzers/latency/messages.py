"""Messages of one direction of a capture: when each met which event, from both cards' memories.

A message is identified by its sequence number. A capture spans less than half of the 65,536 numbers, so one
number is one message; where the link came up again within the recording, only what came after is used.

Source: docs/formats.md sections 3, 4 and 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from freezeframe.analyzers.time_alignment import Moments
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.registers.layouts import (
    DESC_VALUE_FLAGS_LSB,
    DESC_VALUE_LENGTH_MASK,
    DESC_VALUE_SEQ_LSB,
    DESC_VALUE_SEQ_MASK,
    Kind,
    PacketFlag,
)

Int64 = npt.NDArray[np.int64]

_NUMBERS = 1 << 16
_HALF = _NUMBERS >> 1
_DESC_EVENTS = ("posting", "posted")
_INJECTED = int(PacketFlag.INJECTED)
STAGE_NAMES = {"posting": "begun"}
"""Events of the log that the phase table calls otherwise."""


@dataclass(frozen=True, eq=False, slots=True)
class Sightings:
    """Where one event of the way was seen, message by message, in the order of the recording.

    ``number`` are unwrapped sequence numbers, ``row`` rows of ``table`` (events or words).
    """

    event: str
    device: str
    domain: str
    table: str
    number: Int64
    t_ps: Int64
    t_unc_ps: Int64
    row: Int64
    flow: Int64
    length: Int64


@dataclass(frozen=True, eq=False, slots=True)
class Messages:
    """All messages of a direction: ``(m,)`` columns, and ``(m, events)`` times and rows; -1 in ``row`` and
    False in ``seen`` where an event was not recorded.
    """

    events: tuple[str, ...]
    sources: tuple[Sightings, ...]
    number: Int64
    flow: Int64
    length: Int64
    seen: npt.NDArray[np.bool_]
    t_ps: Int64
    t_unc_ps: Int64
    row: Int64

    @classmethod
    def of(cls, sources: tuple[Sightings, ...]) -> Messages:
        """Join the sightings by number; ``sources`` are in the order of the way."""
        aligned = _aligned(sources)
        number = np.unique(np.concatenate([s.number for s in aligned] or [np.empty(0, np.int64)]))
        m, n = len(number), len(aligned)
        flow, length = np.full(m, -1, np.int64), np.full(m, -1, np.int64)
        seen = np.zeros((m, n), np.bool_)
        t_ps, t_unc_ps, row = (np.full((m, n), -1, np.int64) for _ in range(3))
        for stage, source in enumerate(aligned):
            at = np.searchsorted(number, source.number)
            seen[at, stage] = True
            t_ps[at, stage], t_unc_ps[at, stage] = source.t_ps, source.t_unc_ps
            row[at, stage] = source.row
            flow[at] = source.flow
            length[at] = np.where(source.length < 0, length[at], source.length)
        events = tuple(source.event for source in aligned)
        return cls(events, aligned, number, flow, length, seen, t_ps, t_unc_ps, row)

    def moments(self, event: str, chosen: npt.NDArray[np.bool_]) -> Moments:
        """Return when the chosen messages met an event; ``chosen`` must have seen it."""
        stage = self.events.index(event)
        source = self.sources[stage]
        return Moments(
            source.device, source.domain, self.t_ps[chosen, stage], self.t_unc_ps[chosen, stage]
        )


def sightings_of(
    view: CaptureView, sender: str, receiver: str
) -> tuple[tuple[Sightings, ...], list[str]]:
    """Return the sightings of a direction in the order of the way, without those nobody recorded.

    Returns:
        them, and a sentence for each thing that was left out.
    """
    trace = view.trace
    notes: list[str] = []
    restart_ps = restart_ps_of(trace.events, (sender, receiver))
    sightings = []
    for code in _DESC_EVENTS:
        sightings.append(from_log(trace.events, sender, code))
    for device, tap in view.path(sender, receiver):
        sightings.append(from_tap(view, device, tap, f"{sender}->{receiver}"))
    kept = []
    for source in sightings:
        cut = after_restart(source, restart_ps)
        if len(cut.number) < len(source.number):
            notes.append(
                f"{sender}->{receiver}: {len(source.number) - len(cut.number)} messages at "
                f"{cut.device}.{cut.event} are from before the link came up anew; not measured"
            )
        if len(cut.number):
            kept.append(cut)
    return tuple(kept), notes


def unwrapped(seq: Int64) -> Int64:
    """Return 16-bit sequence numbers without their wraps; a step is at most half of them either way."""
    if not len(seq):
        return seq.astype(np.int64)
    steps = (np.diff(seq) + _HALF) % _NUMBERS - _HALF
    return np.concatenate([seq[:1], seq[0] + np.cumsum(steps)]).astype(np.int64)


def from_log(events: pd.DataFrame, device: str, code: str, kind: Kind = Kind.DESC) -> Sightings:
    """Return the DESC or NOTE events of a code, of messages whose number is the card's own."""
    rows = np.flatnonzero(
        (events["kind"] == kind.name).to_numpy()
        & (events["device"] == device).to_numpy()
        & (events["code"] == code).to_numpy()
    )
    value = events["value"].to_numpy()[rows].astype(np.int64)
    number, length = value, np.full(len(rows), -1, np.int64)
    if kind is Kind.DESC:
        own = value >> DESC_VALUE_FLAGS_LSB & _INJECTED == 0
        rows, value = rows[own], value[own]
        number = value >> DESC_VALUE_SEQ_LSB & DESC_VALUE_SEQ_MASK
        length = value & DESC_VALUE_LENGTH_MASK
    return Sightings(
        event=STAGE_NAMES.get(code, code),
        device=device,
        domain="bus",
        table="events",
        number=number,
        t_ps=_column(events, "t_ps", rows),
        t_unc_ps=_column(events, "t_unc_ps", rows),
        row=rows,
        flow=_column(events, "flow", rows),
        length=length,
    )


def from_tap(view: CaptureView, device: str, tap: str, direction: str) -> Sightings:
    """Return when the last word of each good packet had passed a tap.

    A packet without a good header has no number that can be believed; an injected one has any.
    """
    packets = view.trace.packets
    good = packets["header_ok"].fillna(False).to_numpy(np.bool_) & packets["whole"].to_numpy()
    rows = np.flatnonzero(
        good
        & (packets["source"] == f"{device}.{tap}").to_numpy()
        & (packets["direction"] == direction).to_numpy()
        & (packets["flags"].to_numpy() & _INJECTED == 0)
    )
    return Sightings(
        event=tap,
        device=device,
        domain=view.roles.domain_of[tap],
        table="words",
        number=_column(packets, "seq", rows),
        t_ps=_column(packets, "t_end_ps", rows),
        t_unc_ps=_column(packets, "t_unc_ps", rows),
        row=_column(packets, "end_row", rows) - 1,
        flow=_column(packets, "flow", rows),
        length=_column(packets, "length", rows),
    )


def _column(table: pd.DataFrame, name: str, rows: Int64) -> Int64:
    values: Int64 = table[name].to_numpy()[rows].astype(np.int64)
    return values


def restart_ps_of(events: pd.DataFrame, devices: Sequence[str]) -> int | None:
    """Return when the link of one of the devices last came up within the recording; None if it did not."""
    trained = (events["kind"] == Kind.LINK.name) & (events["code"] == "trained")
    times = events["t_ps"][trained & events["device"].isin(devices)]
    return int(times.max()) if len(times) else None


def after_restart(source: Sightings, restart_ps: int | None) -> Sightings:
    """Return what came after the numbers began again, unwrapped: by the link's event or a step back."""
    begin = 0
    if restart_ps is not None:
        begin = int(np.searchsorted(source.t_ps, restart_ps))
    number = unwrapped(source.number[begin:])
    back = np.flatnonzero(np.diff(number) <= 0)
    if len(back):
        begin += int(back[-1]) + 1
        number = number[int(back[-1]) + 1 :]
    return Sightings(
        source.event, source.device, source.domain, source.table, number,
        source.t_ps[begin:], source.t_unc_ps[begin:], source.row[begin:], source.flow[begin:],
        source.length[begin:],
    )  # fmt: skip


def _aligned(sources: tuple[Sightings, ...]) -> tuple[Sightings, ...]:
    """Return the sources with the wraps of all of them counted from the same one.

    The recordings end together, so their last numbers are near each other.
    """
    aligned: list[Sightings] = []
    for source in sources:
        shift = 0
        if aligned:
            apart = int(source.number[-1] - aligned[0].number[-1])
            shift = -((apart + _HALF) // _NUMBERS) * _NUMBERS
        aligned.append(
            Sightings(
                source.event, source.device, source.domain, source.table, source.number + shift,
                source.t_ps, source.t_unc_ps, source.row, source.flow, source.length,
            )
        )  # fmt: skip
    return tuple(aligned)
