"""Every credit that was sent, and what became of it: taken, refused, lost, still on its way; and how long it took.

Counts wrap and repeat, so the two logs are walked together from their ends. A credit counts as lost only where the
sender's log covers the time in which it must have arrived, and does not hold it.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from freezeframe.analyzers.credits.ledger import FlowAccount
from freezeframe.analyzers.streams import EventLog
from freezeframe.analyzers.view import CaptureView

_SLACK_BUS, _SLACK_LINK = 16, 520
"""A credit may wait after the longest packet, 515 words, where those that were measured did not."""


@dataclass(frozen=True, slots=True)
class Flights:
    """The credits of one flow, by number among those sent and those taken.

    Attributes:
        pairs: (sent, taken); pairs_ps: their times; doubt_ps: how far both clocks may be off each other, None
            where that is not known.
        lost: sent, and never taken although the sender's log covers the time. refused: those of them that came
            damaged and were refused.
        open: sent, of which the sender's log does not tell.
        repeated: taken a second time. foreign: taken, and never sent so although the receiver's log covers it.
    """

    pairs: tuple[tuple[int, int], ...] = ()
    pairs_ps: tuple[tuple[int, int], ...] = ()
    doubt_ps: int | None = None
    lost: tuple[int, ...] = ()
    refused: tuple[int, ...] = ()
    open: tuple[int, ...] = ()
    repeated: tuple[int, ...] = ()
    foreign: tuple[int, ...] = ()


def taken_log(view: CaptureView, account: FlowAccount) -> tuple[EventLog | None, EventLog | None]:
    """Return the receiver's log, that has the credits sent, and the sender's, that has them taken."""
    return view.flow_log(account.receiver), view.flow_log(account.sender)


def flights(view: CaptureView, account: FlowAccount) -> Flights:
    """Match the credits of a flow; without both logs there is nothing to match."""
    sending, taking = taken_log(view, account)
    if sending is None or taking is None or not len(sending) or not len(taking):
        return Flights()
    sent, taken = account.sent_credits, account.taken_credits
    doubt = _doubt_ps(sending, taking)
    pairs = _pairs(account, doubt or 0)
    pairs_ps = tuple((int(sent.t_ps[i]), int(taken.t_ps[j])) for i, j in pairs)
    delays = [t - s for s, t in pairs_ps]
    margin = view.cycles_ps(account.sender, bus=_SLACK_BUS, link=_SLACK_LINK) + (doubt or 0)
    matched_sent, matched_taken = {i for i, _ in pairs}, {j for _, j in pairs}
    lost: list[int] = []
    still_open: list[int] = []
    for i in range(len(sent)):
        if i in matched_sent:
            continue
        t_ps = int(sent.t_ps[i])
        latest = t_ps + max(delays, default=0) + margin
        earliest = t_ps + min(delays, default=0) - (doubt or 0)
        covered = bool(delays) and doubt is not None and _covered(taking, earliest, latest)
        (lost if covered else still_open).append(i)
    repeated: list[int] = []
    foreign: list[int] = []
    for j in range(len(taken)):
        if j in matched_taken:
            continue
        if j and taken.freed[j] == taken.freed[j - 1]:
            repeated.append(j)
            continue
        t_ps = int(taken.t_ps[j])
        earliest = t_ps - max(delays, default=0) - margin
        if delays and doubt is not None and _covered(sending, earliest, t_ps):
            foreign.append(j)
    refused = _refused(account, taking, lost, delays, doubt or 0)
    return Flights(
        tuple(pairs), pairs_ps, doubt, tuple(lost), refused, tuple(still_open), tuple(repeated), tuple(foreign)
    )  # fmt: skip


def _pairs(account: FlowAccount, doubt: int) -> list[tuple[int, int]]:
    """Return which sent credit each taken one was, oldest first: the latest of its value before it was taken."""
    sent, taken = account.sent_credits, account.taken_credits
    places: dict[int, list[int]] = {}
    for i, freed in enumerate(sent.freed.tolist()):
        places.setdefault(freed, []).append(i)
    times = sent.t_ps.tolist()
    pairs = []
    before = len(sent)
    for j in range(len(taken) - 1, -1, -1):
        at = places.get(int(taken.freed[j]), [])
        n = min(
            bisect_right(at, before - 1),
            bisect_right(at, int(taken.t_ps[j]) + doubt, key=times.__getitem__),
        )
        # The counts come round after `modulus` words: a credit that old is another one.
        if n and _near(account, at[n - 1], before):
            before = at[n - 1]
            pairs.append((before, j))
    return pairs[::-1]


def _near(account: FlowAccount, place: int, before: int) -> bool:
    """Return whether fewer words than the counts can tell apart were freed between two credits."""
    sent, modulus = account.sent_credits, account.modulus or 1
    if before >= len(sent):
        return True
    steps = np.diff(sent.freed[place : before + 1]) % modulus
    return int(steps.sum()) < modulus


def _covered(log: EventLog, begin_ps: int, end_ps: int) -> bool:
    """Return whether a log holds every event of a time."""
    if log.gaps or int(log.t_ps[0]) > begin_ps or int(log.t_ps[-1]) < end_ps:
        return False
    losses = log.t_ps[log.select("LOSS")]
    return not bool(((losses >= begin_ps) & (losses <= end_ps)).any())


def _doubt_ps(sending: EventLog, taking: EventLog) -> int | None:
    """Return by how much times of the two logs may be off each other; None when that is not known."""
    if bool((sending.t_unc_ps < 0).any()) or bool((taking.t_unc_ps < 0).any()):
        return None
    return int(sending.t_unc_ps.max()) + int(taking.t_unc_ps.max())


def _refused(
    account: FlowAccount, log: EventLog, lost: list[int], delays: list[int], doubt: int
) -> tuple[int, ...]:
    """Return which lost credits arrived damaged: a refusal in the log at the time they were due."""
    times = log.t_ps[log.select("CREDIT", "refused_parity", "refused_crc")].tolist()
    if not delays:
        return ()
    refused = []
    for i in lost:
        t_ps = int(account.sent_credits.t_ps[i])
        due = [t for t in times if t_ps + min(delays) - doubt <= t <= t_ps + max(delays) + doubt]
        if due:
            times.remove(due[0])
            refused.append(i)
    return tuple(refused)
