"""The books of one flow over time, as counts that do not wrap: sent, may be sent, told, credited, freed; and the level.

All counts of a flow wrap at 2^credit_w, two bits more than the receiver's FIFO needs: neighbouring ones are less than
half of that apart, so each is laid beside the others without doubt. What is sent is known where a packet leaves and
where the sender waits; between is nothing said but that it does not fall.

Source: docs/formats.md sections 3 and 4.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.analysis import Series
from freezeframe.analyzers.credits.flow_history import counted_history, flow_history
from freezeframe.analyzers.credits.ledger import CreditTimes, FlowAccount, account_of
from freezeframe.analyzers.credits.sent_counts import CROSSING_BUS, CROSSING_LINK
from freezeframe.analyzers.streams import Stream
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.card.roles import EVENT_LOG

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Staircases:
    """One flow; a series is None where nothing of it is known. Words, times in picoseconds.

    ``sent`` is joined by lines, all others hold until their next value. ``limit`` is what the sender may have sent by
    its credits, ``room`` what the receiver's FIFO can take (freed and its depth). ``wraps``: the counts at which the
    registers begin from 0 again.
    """

    account: FlowAccount
    sent: Series | None = None
    limit: Series | None = None
    told: Series | None = None
    credited: Series | None = None
    freed: Series | None = None
    room: Series | None = None
    wraps: tuple[int, ...] = ()

    @property
    def series(self) -> tuple[Series, ...]:
        """All that are known; room, which matters only where more is sent than it, comes last."""
        every = (self.limit, self.sent, self.freed, self.told, self.credited, self.room)
        return tuple(one for one in every if one is not None)


def staircases(view: CaptureView, sender: str, receiver: str, flow: int) -> Staircases:
    """Return the books of a flow as they went."""
    account = account_of(view, sender, receiver, flow)
    if account.modulus is None:
        return Staircases(account)
    laid = _Laid(account.modulus)
    told = laid.steps(account.sent_credits)
    credited = laid.steps(account.taken_credits)
    sent = laid.points(_sent_points(view, account))
    freed = _freed(view, account, laid, told)
    depth, limit = account.depth, account.limit
    log, peer_log = f"{sender}.{EVENT_LOG}", f"{receiver}.{EVENT_LOG}"
    known = [values for _, values in (told, credited, sent, freed) if len(values)]
    if not known:
        return Staircases(account)
    most = max(int(values.max()) for values in known) + (limit or 0)
    least = min(int(values.min()) for values in known)
    # Counts are as wrapped at the earliest of them.
    shift = least - least % account.modulus
    name = f"{account.direction}.flow{flow}"

    def made(
        key: str,
        label: str,
        at: tuple[Int64, Int64],
        memory: str,
        *,
        more: int | None = 0,
        step: bool = True,
    ) -> Series | None:
        if not len(at[0]) or more is None:
            return None
        t_ps, values = at[0], at[1] - shift + more
        closed = view.last_times.get(memory)
        if step and closed is not None and closed[1] > t_ps[-1]:  # no credit since: it still holds
            t_ps, values = np.append(t_ps, closed[1]), np.append(values, values[-1])
        return Series(f"{name}.{key}", label, "words", t_ps, values, step, rests_on=(memory,))

    return Staircases(
        account,
        made("sent", f"sent by {sender}", sent, f"{sender}.{EVENT_LOG}", step=False),
        made("limit", f"{sender} may send up to", credited, log, more=limit),
        made("told", f"freed, as {receiver} told", told, peer_log),
        made("credited", f"credited to {sender}", credited, log),
        made("freed", f"freed by {receiver}", freed, f"{receiver}.{view.roles.rx.exit}", step=False),
        made("room", f"room in {receiver}'s FIFO up to", told, peer_log, more=depth),
        tuple(range(account.modulus, most - shift + 1, account.modulus)),
    )  # fmt: skip


def fifo_level(view: CaptureView, device: str) -> Series | None:
    """Return the words in a card's incoming FIFO, counted back from its level at freeze; None where that is not known.

    The counter of each tap goes on to the freeze, its memory counts what it was offered until it closed: their
    difference passed in between. Words that the full FIFO lost make the level before them too low, so there is none.
    """
    capture = view.device(device)
    way = view.roles.rx
    level = view.value(device, f"frozen.{way.level}") if way.level else None
    lost = view.count(device, "overflow", view.roles.rx.entry)
    if capture is None or level is None or lost or view.value(device, "ctl.generation") != 1:
        return None
    ends = []
    for tap, sign in ((way.entry, 1), (way.exit, -1)):
        stream, since = view.stream(device, tap), view.since_closed(device, tap)
        if stream is None or since is None or stream.breaks or not len(stream):
            return None
        level -= sign * since
        ends.append((stream, sign))
    t_ps = np.concatenate([stream.t_ps for stream, _ in ends])
    steps = np.concatenate([np.full(len(stream), sign, np.int64) for stream, sign in ends])
    order = np.argsort(t_ps, kind="stable")
    t_ps, steps = t_ps[order], steps[order]
    values = level - int(steps.sum()) + np.cumsum(steps)
    both = t_ps >= max(int(stream.t_ps[0]) for stream, _ in ends)
    last = min(
        int(stream.t_ps[-1] if stream.end_ps is None else stream.end_ps) for stream, _ in ends
    )
    both &= t_ps <= last
    if not both.any():
        return None
    return Series(
        f"{device}.level", f"words in {device}'s incoming FIFO", "words", t_ps[both], values[both],
        limit=float(capture.identity.rx_fifo), limit_label="its depth",
        rests_on=tuple(f"{device}.{tap}" for tap in way.taps),
    )  # fmt: skip


class _Laid:
    """Lays wrapped counts beside each other."""

    def __init__(self, modulus: int) -> None:
        self._modulus = modulus
        self._last: int | None = None  # of the series before

    def steps(self, credits: CreditTimes) -> tuple[Int64, Int64]:
        """Return times and counts of credits."""
        return self.points(zip(credits.t_ps.tolist(), credits.freed.tolist(), strict=True))

    def points(self, points: Iterable[tuple[int, int]]) -> tuple[Int64, Int64]:
        """Return times and counts that go on from each other, the last nearest to that of the series before."""
        half = self._modulus // 2
        times: list[int] = []
        values: list[int] = []
        for t_ps, wrapped in sorted(points):
            before = values[-1] if values else wrapped
            times.append(t_ps)
            values.append(before + (wrapped - before + half) % self._modulus - half)
        laid = np.array(values, np.int64)
        if not values:
            return np.array(times, np.int64), laid
        if self._last is not None:
            laid += self._modulus * round((self._last - values[-1]) / self._modulus)
        self._last = int(laid[-1])
        return np.array(times, np.int64), laid


def _sent_points(view: CaptureView, account: FlowAccount) -> list[tuple[int, int]]:
    """Return what had been sent, wrapped, wherever that is known: at packets, at waits, and at the freeze."""
    sender, modulus = account.sender, account.modulus or 1
    points: dict[int, int] = {}
    log = view.flow_log(sender)
    taken = account.taken_credits
    crossing_ps = view.cycles_ps(sender, bus=CROSSING_BUS, link=CROSSING_LINK)
    if log is not None and account.limit is not None and not log.gaps and len(taken):
        losses = log.t_ps[log.select("LOSS")]
        for at in log.select("PRESSURE", "begin", "end", flow=account.flow).tolist():
            t_ps, free = int(log.t_ps[at]), int(log.value[at])
            ends = str(log.code[at]) == "end"
            last = int(np.searchsorted(taken.t_ps, t_ps + crossing_ps * ends, side="right")) - 1
            # A free of 0 may stand for less; events that the log lost may have been credits.
            if last < 0 or not 0 < free <= account.limit or bool((losses <= t_ps).any()):
                continue
            points[t_ps] = (int(taken.freed[last]) + account.limit - free) % modulus
    history = flow_history(view, account) or counted_history(view, account)
    stream = view.stream(sender, view.roles.tx.exit)
    for start in history.starts if history is not None else ():
        left = start.departure
        end_ps = left.t_ps + (left.words - 1) * _word_ps(stream)
        points[left.t_ps] = start.sent
        points[end_ps] = (start.sent + left.words) % modulus
    if account.sent is not None:
        closed = view.last_times.get(f"{sender}.{EVENT_LOG}")
        if closed is not None and not any(t_ps > closed[1] for t_ps in points):
            points[closed[1]] = account.sent
    return list(points.items())


def _word_ps(stream: Stream | None) -> int:
    """Return the link's period on the capture's time base; 0 without two words."""
    if stream is None or len(stream) < 2:
        return 0
    cycles = int(stream.cycle[-1] - stream.cycle[0])
    return round(int(stream.t_ps[-1] - stream.t_ps[0]) / cycles) if cycles else 0


def _freed(
    view: CaptureView, account: FlowAccount, laid: _Laid, told: tuple[Int64, Int64]
) -> tuple[Int64, Int64]:
    """Return what left the receiver's FIFO, tied to what it told: it never tells more than it has freed."""
    none = np.empty(0, np.int64), np.empty(0, np.int64)
    stream = view.stream(account.receiver, view.roles.rx.exit)
    if stream is None or stream.breaks or not len(told[0]) or not len(stream):
        return none
    mine = np.zeros(len(stream), np.int64)
    for packet in stream.packets:
        if packet.flow is None or packet.header_ok is False:
            return none  # whose words these are is not known
        mine[packet.start : packet.end] = packet.flow == account.flow
    passed = np.cumsum(mine)
    inside = (told[0] >= stream.t_ps[0]) & (told[0] <= stream.t_ps[-1])
    if not inside.any():
        return none
    at = np.searchsorted(stream.t_ps, told[0][inside], side="right") - 1
    base = int((told[1][inside] - passed[at]).max())
    own = np.flatnonzero(mine)
    if not len(own):
        return none
    return stream.t_ps[own], base + passed[own]
