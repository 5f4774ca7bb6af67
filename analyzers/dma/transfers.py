"""Transfers of a card from descriptor to notification: what was posted, done, told, and what never was.

Both sides: what its host sends (posted, started, done, local notification) and what it receives (in host
memory, remote notification). All times are of the card's bus clock, so they are exact.

Source: docs/formats.md section 4; FORTH paper, sections 2.2 and 4.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from freezeframe.analyzers.analysis import Figure, Intervals
from freezeframe.analyzers.latency.messages import (
    Messages,
    Sightings,
    after_restart,
    from_log,
    from_tap,
    restart_ps_of,
)
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.card.roles import EVENT_LOG
from freezeframe.capture.registers.layouts import (
    DESC_VALUE_FLAGS_LSB,
    Kind,
    PacketFlag,
    PacketType,
)

Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

_PS_PER_NS = 1000
_SENT = ("posting", "posted", "started", "done")
_SILENT = "the event log does not hold these events, or lost some"
_MARGIN_PS = 20_000_000
"""A notification may stand in the bus's queue for so long before its absence means something."""


@dataclass(frozen=True, eq=False, slots=True)
class Side:
    """Transfers of one side of a card, by number, and what of them is missing.

    ``never_done`` and ``never_told`` are places in ``messages``: over, by the order of the card, without
    the event that ends them; None where the log cannot say.
    """

    name: str
    messages: Messages
    begun: str  # the event from which the host may be notified
    told: str  # the event that notifies the host
    wants: Bool  # the host asked to be notified
    never_done: Int64 | None
    never_told: Int64 | None


@dataclass(frozen=True, eq=False, slots=True)
class Transfers:
    """Both sides of one card."""

    device: str
    sent: Side
    received: Side
    notes: tuple[str, ...] = field(default=())

    def figures(self) -> list[Figure]:
        """Return lags and what was never given back."""
        sent, received = self.sent, self.received
        figures = [
            *_lag(self.device, "ring_wait", "posted to started", sent, "posted", "started"),
            *_lag(self.device, "transfer", "started to done", sent, "started", "done"),
            *_lag(self.device, "notification.local", "done to local notification", sent, "done",
                  "local"),
            *_lag(self.device, "notification.remote", "in memory to remote notification", received,
                  received.begun, "remote"),
        ]  # fmt: skip
        for key, label, places in (
            ("handles.never_done", "descriptors posted and never done", sent.never_done),
            ("handles.never_told", "transfers done and never told", sent.never_told),
            ("received.never_told", "received messages never told", received.never_told),
        ):
            if places is None:
                figures.append(
                    Figure(f"{self.device}.{key}", f"{self.device} {label}", None, note=_SILENT)
                )
                continue
            side = received if key.startswith("received") else sent
            numbers = (side.messages.number[places] & 0xFFFF).tolist()
            note = f"packets {', '.join(map(str, numbers[:8]))}" if numbers else ""
            figures.append(
                Figure(f"{self.device}.{key}", f"{self.device} {label}", len(numbers), note=note)
            )
        waiting = _still_waiting(sent)
        figures.append(
            Figure(
                f"{self.device}.handles.waiting", f"{self.device} descriptors waiting at the end",
                waiting, note=_SILENT if waiting is None else "",
            )
        )  # fmt: skip
        return figures

    def intervals(self) -> Intervals:
        """Return each sent transfer from its posting to its end, as a track."""
        m = self.sent.messages
        rows = []
        for i in range(len(m.number)):
            times = {e: int(m.t_ps[i, s]) for s, e in enumerate(m.events) if m.seen[i, s]}
            begin, end = times.get("posted"), times.get("local", times.get("done"))
            if begin is None or end is None or end < begin:
                continue
            length = int(m.length[i])
            words = "1 word" if length == 1 else f"{length} words"
            text = f"packet {int(m.number[i]) & 0xFFFF}: {words}"
            rows.append((begin, end, text, int(m.flow[i])))
        closed = np.zeros(len(rows), np.bool_)
        return Intervals(
            f"{self.device}.transfers",
            f"{self.device} transfers sent",
            np.array([r[0] for r in rows], np.int64),
            np.array([r[1] for r in rows], np.int64),
            ("transfer",) * len(rows),
            tuple(r[2] for r in rows),
            np.array([r[3] for r in rows], np.int64),
            closed,
            closed,
            (f"{self.device}.{EVENT_LOG}",),
        )

    def table(self) -> pd.DataFrame:
        """Return both sides: a row a transfer, times in ps (null where not recorded) and rows of records."""
        parts = [_side_table(self.device, side) for side in (self.sent, self.received)]
        return pd.concat(parts, ignore_index=True)


def transfers_of(view: CaptureView, device: str) -> Transfers:
    """Return the transfers that a device's memories hold."""
    trace = view.trace
    events, notes = trace.events, []
    peer = view.peer(device)
    restart_ps = restart_ps_of(events, [device])
    sent = [from_log(events, device, code) for code in _SENT]
    sent.append(from_log(events, device, "local", Kind.NOTE))
    arrived = from_tap(view, device, view.roles.rx.exit, f"{peer or '?'}->{device}")
    received = [arrived, from_log(events, device, "remote", Kind.NOTE)]
    sides = []
    for name, sources in (("sent", sent), ("received", received)):
        cut = [after_restart(source, restart_ps) for source in sources]
        lost = sum(len(a.number) - len(b.number) for a, b in zip(sources, cut, strict=True))
        if lost:
            notes.append(
                f"{device}: {lost} events of transfers {name} are from before the link came up anew"
            )
        sides.append(tuple(source for source in cut if len(source.number)))
    whole = _log_is_whole(view, device)
    return Transfers(
        device,
        _sent_side(sides[0], events, whole),
        _received_side(sides[1], view, whole),
        tuple(notes),
    )


def _log_is_whole(view: CaptureView, device: str) -> bool:
    """Return whether an event that is not in the log did not happen (within what the log reaches)."""
    log = view.logs[device]
    return log.recorded(Kind.DESC, Kind.NOTE) and not log.gaps and "LOSS" not in set(log.kind)


def _sent_side(sources: tuple[Sightings, ...], events: pd.DataFrame, whole: bool) -> Side:
    m = Messages.of(sources)
    wants = np.zeros(len(m.number), np.bool_)
    for stage, source in enumerate(m.sources):
        if source.event in _SENT or source.event == "begun":
            there = m.seen[:, stage]
            value = events["value"].to_numpy()[m.row[there, stage]].astype(np.int64)
            wants[there] |= (value >> DESC_VALUE_FLAGS_LSB & int(PacketFlag.NOTIFY_LOCAL)) != 0
    never_done = _overtaken(m, "posted", "done", np.ones(len(m.number), np.bool_), whole)
    never_told = _overtaken(m, "done", "local", wants, whole)
    return Side("sent", m, "done", "local", wants, never_done, never_told)


def _received_side(sources: tuple[Sightings, ...], view: CaptureView, whole: bool) -> Side:
    packets, arrived = view.trace.packets, view.roles.rx.exit
    m = Messages.of(sources)
    wants = np.zeros(len(m.number), np.bool_)
    if arrived in m.events:
        stage = m.events.index(arrived)
        there = m.seen[:, stage]
        at = packets["end_row"].to_numpy()
        order = np.argsort(at, kind="stable")
        chosen = packets.iloc[order[np.searchsorted(at[order], m.row[there, stage] + 1)]]
        flags = chosen["flags"].to_numpy().astype(np.int64)
        other = (chosen["kind"] != PacketType.RDMA_WRITE.name).to_numpy()
        good = chosen["payload_ok"].fillna(False).to_numpy(np.bool_)
        good &= chosen["length_ok"].fillna(False).to_numpy(np.bool_)
        wants[there] = ((flags & int(PacketFlag.NOTIFY_REMOTE) != 0) | other) & good
    never_told = _overtaken(m, arrived, "remote", wants, whole)
    return Side("received", m, arrived, "remote", wants, None, never_told)


def _overtaken(m: Messages, begin: str, end: str, wants: Bool, whole: bool) -> Int64 | None:
    """Return the transfers that met ``begin`` but not ``end``, while a later one that wanted it did.

    A card works in order, so a later one that is over says that the earlier one will not be. Nothing (None)
    is concluded from a log with losses or without such events, and nothing of what lies before the first of them.
    """
    if not whole or begin not in m.events:
        return None
    if end not in m.events:
        # No notification was ever written: a fault only where somebody asked for it, and then none was overtaken.
        return None if wants.any() else np.empty(0, np.int64)
    met, over = m.seen[:, m.events.index(begin)], m.seen[:, m.events.index(end)]
    ends_ps = m.t_ps[over, m.events.index(end)]
    last = int(np.flatnonzero(over)[-1])
    begins_ps = m.t_ps[:, m.events.index(begin)]
    inside = begins_ps >= int(ends_ps.min())
    open_ = np.flatnonzero(met & wants & ~over & inside)
    # The writer of notifications may be behind by as much as the bus was busy.
    settled = begins_ps[open_] < int(ends_ps.max()) - _MARGIN_PS
    overtaken: Int64 = open_[(open_ < last) & settled]
    return overtaken


def _still_waiting(side: Side) -> int | None:
    m = side.messages
    if "posted" not in m.events or "done" not in m.events:
        return None
    over = np.flatnonzero(m.seen[:, m.events.index("done")])
    last = int(over[-1]) if len(over) else -1
    posted = np.flatnonzero(m.seen[:, m.events.index("posted")])
    return int((posted > last).sum())


def _lag(device: str, key: str, label: str, side: Side, begin: str, end: str) -> list[Figure]:
    m = side.messages
    name = f"{device}.{key}"
    both = np.zeros(0, np.bool_)
    if begin in m.events and end in m.events:
        both = m.seen[:, m.events.index(begin)] & m.seen[:, m.events.index(end)]
    if not both.any():
        note = f"no transfer was recorded with {begin} and {end}"
        return [Figure(f"{name}.mean", f"{device} {label}, mean", None, "ns", note=note)]
    lag_ps = m.t_ps[both, m.events.index(end)] - m.t_ps[both, m.events.index(begin)]
    return [
        Figure(f"{name}.{which}", f"{device} {label}, {which}", float(value) / _PS_PER_NS, "ns")
        for which, value in (
            ("mean", lag_ps.mean()),
            ("p50", np.sort(lag_ps)[(len(lag_ps) - 1) // 2]),
            ("max", lag_ps.max()),
        )
    ]


def _side_table(device: str, side: Side) -> pd.DataFrame:
    m = side.messages
    count = len(m.number)
    first_ps = np.where(m.seen, m.t_ps, np.iinfo(np.int64).max).min(axis=1) if count else m.number
    columns: dict[str, Any] = {
        "t_ps": first_ps,
        "device": np.full(count, device, dtype=object),
        "side": np.full(count, side.name, dtype=object),
        "seq": m.number & 0xFFFF,
        "flow": m.flow,
        "length_words": m.length,
        "wants_telling": side.wants,
    }
    for stage, source in enumerate(m.sources):
        seen = m.seen[:, stage]
        columns[f"{source.event}_ps"] = pd.arrays.IntegerArray(m.t_ps[:, stage].copy(), ~seen)
        columns[f"{source.event}_{source.table}_row"] = pd.arrays.IntegerArray(
            m.row[:, stage].copy(), ~seen
        )
    return pd.DataFrame(columns)
