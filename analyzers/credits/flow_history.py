"""How many words of a flow were outstanding when each packet started, from the sender's own recording.

The freeze bank holds the counts as they stood when all memories had closed, which may be long after
the last recorded word. What ties recorded words to counts are the PRESSURE events: a sender that waits
for credit, and goes on, writes down the free space it saw; with the last credit taken that gives what
it had sent before the packet that starts next.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass

import numpy as np
from freezeframe.analyzers.credits.departures import Departure, departures
from freezeframe.analyzers.credits.ledger import CreditTimes, FlowAccount
from freezeframe.analyzers.streams import EventLog, Stream
from freezeframe.analyzers.view import CaptureView

__all__ = ["FlowHistory", "Start", "flow_history"]

_CROSSING_BUS, _CROSSING_LINK = 6, 4
"""An event and the word that follows from it are stamped in two domains; they may seem as many cycles of
the bus and of the link together apart."""


@dataclass(frozen=True, slots=True)
class Start:
    """One packet of the flow as it started. Counts are wrapped, in words, before the packet.

    ``outstanding`` includes the packet. ``credit``: position in the event log of the last credit that
    the sender had then.
    """

    departure: Departure
    sent: int
    credited: int
    outstanding: int
    credit: int

    @property
    def across_wrap(self) -> bool:
        """The count of sent words had wrapped and that of credited words had not."""
        return self.sent < self.credited


@dataclass(frozen=True, slots=True, eq=False)
class FlowHistory:
    """The known starts of one flow, oldest first; ``anchors`` PRESSURE events agree with them."""

    account: FlowAccount
    starts: tuple[Start, ...]
    anchors: int

    def beyond(self, limit: int) -> tuple[Start, ...]:
        """Return the starts with more than ``limit`` words outstanding."""
        return tuple(start for start in self.starts if start.outstanding > limit)


def flow_history(view: CaptureView, account: FlowAccount) -> FlowHistory | None:
    """Return the history of a flow; None when nothing ties its recorded words to its counts."""
    log = view.flow_log(account.sender)
    modulus = account.modulus
    if log is None or account.limit is None or modulus is None or log.gaps:
        return None
    stream = view.stream(account.sender, "tx_deq")
    crossing_ps = view.cycles_ps(account.sender, bus=_CROSSING_BUS, link=_CROSSING_LINK)
    if stream is None or stream.end_ps is None or not _comparable(stream, log, crossing_ps):
        return None
    end_ps = stream.end_ps
    every = departures(view, account.sender)
    base, votes = _base(log, account, every, end_ps, crossing_ps)
    if base is None:
        every = departures(view, account.sender, extend=True)
        base, votes = _base(log, account, every, end_ps, crossing_ps)
    if base is None:
        return None
    taken = account.taken_credits
    found = []
    gone = 0
    for departure in every:
        if departure.flow != account.flow:
            continue
        sent, gone = (base + gone) % modulus, gone + departure.words
        n = int(np.searchsorted(taken.t_ps, departure.t_ps + crossing_ps, side="right"))
        # Before its first credit and after its end the log does not say what had been credited.
        # Nor while it closes: a credit of that moment may stand behind its last event.
        known = departure.t_ps + crossing_ps <= int(log.t_ps[-1])
        if n and known and not _uncertain(log, taken, n - 1):
            credited = int(taken.freed[n - 1])
            outstanding = (base + gone - credited) % modulus
            found.append(Start(departure, sent, credited, outstanding, int(taken.positions[n - 1])))
    history = FlowHistory(account, tuple(found), votes)
    flat = [start for start in history.beyond(account.limit) if not start.across_wrap]
    if flat and any(departure.position is None for departure in every):
        return None  # more likely the packets before the recording are not what they seemed
    return history


def _comparable(stream: Stream, log: EventLog, crossing_ps: int) -> bool:
    """Return whether times of the link and of the log are known well enough to order them."""
    if not len(stream) or not len(log):
        return False
    uncertain = np.concatenate([stream.t_unc_ps, log.t_unc_ps])
    return bool((uncertain >= 0).all() and uncertain.max() <= crossing_ps // 2)


def _base(
    log: EventLog,
    account: FlowAccount,
    every: tuple[Departure, ...],
    end_ps: int,
    crossing_ps: int,
) -> tuple[int | None, int]:
    """Return what had been sent before the first known packet, and how many events agree.

    ``end_ps``: when the memory of tx_deq closed; packets that left later are not known.
    """
    taken = account.taken_credits
    starts = [departure.t_ps for departure in every]
    gone = [0]
    for departure in every:
        gone.append(gone[-1] + (departure.words if departure.flow == account.flow else 0))
    votes: Counter[int] = Counter()
    events = 0
    for at in log.select("PRESSURE", "begin", "end", flow=account.flow).tolist():
        free, t_ps, ends = int(log.value[at]), int(log.t_ps[at]), str(log.code[at]) == "end"
        following = _following(starts, t_ps, ends, crossing_ps)
        if not free or following is None or t_ps > end_ps:
            continue  # 0 may stand for less than nothing
        events += 1
        for c in _credits_at(taken, at, t_ps, ends, crossing_ps):
            if _uncertain(log, taken, c):
                continue
            if account.limit is not None and account.modulus is not None:
                sent = int(taken.freed[c]) + account.limit - free
                votes[(sent - gone[following]) % account.modulus] += 1
    ranked = votes.most_common(2)
    if not ranked or 2 * ranked[0][1] <= events:
        return None, 0
    if len(ranked) == 2 and ranked[0][1] == ranked[1][1]:
        return None, 0
    return ranked[0]


def _uncertain(log: EventLog, taken: CreditTimes, credit: int) -> bool:
    """Return whether the log lost events after a credit and before the next it holds."""
    following = taken.positions[credit + 1] if credit + 1 < len(taken) else len(log)
    losses = log.select("LOSS")
    return bool(((losses > taken.positions[credit]) & (losses <= following)).any())


def _following(starts: list[int], t_ps: int, ends: bool, crossing_ps: int) -> int | None:
    """Return which known packet starts next after a PRESSURE event; None when it is not known.

    The end of pressure is the start of the packet; its beginning lies before that.
    """
    following = bisect_left(starts, t_ps - crossing_ps)
    if ends:
        known = following < len(starts) and starts[following] <= t_ps + crossing_ps
        return following if known else None
    # Before the first known packet others may have started since.
    return following if following or not starts else None


def _credits_at(taken: CreditTimes, at: int, t_ps: int, ends: bool, crossing_ps: int) -> list[int]:
    """Return the credits that may have been the last at a PRESSURE event, by number."""
    if ends:
        # A credit ends the pressure; it is logged in the same cycle, or just before or after.
        last = int(np.searchsorted(taken.t_ps, t_ps + crossing_ps, side="right")) - 1
        return [last] if last >= 0 else []
    last = int(np.searchsorted(taken.positions, at)) - 1
    found = [last] if last >= 0 else []
    if last + 1 < len(taken) and int(taken.t_ps[last + 1]) - t_ps <= crossing_ps:
        found.append(last + 1)
    return found
