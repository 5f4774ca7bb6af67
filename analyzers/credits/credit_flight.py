"""How long a credit takes from the receiver's log to the sender's, measured in the capture itself.

A cable's length is nobody's constant: until a credit between the two devices was seen to arrive, nothing
can be said of one that was not. Where all credits of one direction are lost, those of the other tell, and
the packets: the cable is as long both ways and for both.
"""

from __future__ import annotations

from bisect import bisect_right

from freezeframe.analyzers.credits.ledger import FlowAccount
from freezeframe.analyzers.facts import LINK, Facts
from freezeframe.capture.registers.layouts import Kind

__all__ = ["covers", "doubt_ps", "flight_ps"]

_BEHIND_LINK = 520
"""Link cycles a credit may wait behind the longest packet, 515 words, where the measured ones did not."""
_BEHIND_BUS = 16
"""Bus cycles more to reach either event log through its FIFO."""


def flight_ps(facts: Facts, account: FlowAccount) -> int | None:
    """Return how long a credit of a flow takes at the most; None when nothing was seen to arrive.

    The largest delay of the credits of all flows between the two devices, ``sent`` to ``taken``, and of
    the packets, tx_deq to rx_enq, with the doubt of both clocks and the time to send one packet that may
    have been in the way.
    """
    doubt = doubt_ps(facts, account)
    if doubt is None:
        return None
    delays = [
        delay
        for other in facts.accounts
        if {other.sender, other.receiver} == {account.sender, account.receiver}
        for delay in _delays_ps(other, doubt)
    ]
    delays += _packets_ps(facts, account.sender, account.receiver)
    delays += _packets_ps(facts, account.receiver, account.sender)
    if not delays:
        return None
    margin = max(
        facts.view.cycles_ps(device, bus=_BEHIND_BUS, link=_BEHIND_LINK)
        for device in (account.sender, account.receiver)
    )
    return max(0, *delays) + doubt + margin


def _delays_ps(account: FlowAccount, doubt: int) -> list[int]:
    """Return the delays of the credits of one flow that are in both logs.

    Counts wrap, so the logs are walked together from their ends: a sender has less than a quarter of
    the counters' range outstanding, and the last credit of that count is the one.
    """
    sent, taken = account.sent_credits, account.taken_credits
    places: dict[int, list[int]] = {}
    for i, freed in enumerate(sent.freed.tolist()):
        places.setdefault(freed, []).append(i)
    sent_ps, delays = sent.t_ps.tolist(), []
    before = len(sent)
    for freed, t_ps in zip(taken.freed[::-1].tolist(), taken.t_ps[::-1].tolist(), strict=True):
        at = places.get(freed, [])
        n = min(
            bisect_right(at, before - 1),
            bisect_right(at, t_ps + doubt, key=sent_ps.__getitem__),
        )
        if n:
            before = at[n - 1]
            delays.append(t_ps - sent_ps[before])
    return delays


def _packets_ps(facts: Facts, sender: str, receiver: str) -> list[int]:
    """Return how long the packets of a direction were on the link, as far as both taps show them."""
    diff = facts.diff(sender, receiver, LINK)
    if diff is None:
        return []
    return [
        int(diff.down.t_ps[pair.down.start]) - int(diff.up.t_ps[pair.up.start])
        for pair in diff.pairs
        if pair.up.header_ok and pair.down.header_ok and pair.up.seq == pair.down.seq
    ]


def doubt_ps(facts: Facts, account: FlowAccount) -> int | None:
    """Return by how much times of the two logs may be off each other; None when that is not known."""
    found = 0
    for device in (account.sender, account.receiver):
        log = facts.view.flow_log(device)
        if log is None or not len(log) or bool((log.t_unc_ps < 0).any()):
            return None
        found += int(log.t_unc_ps.max())
    return found


def covers(facts: Facts, device: str, since_ps: int | None) -> bool:
    """Return whether a log holds every credit, wait and state since a time (None: since it was armed)."""
    log, capture = facts.view.flow_log(device), facts.view.device(device)
    if log is None or capture is None or log.gaps:
        return False
    losses = log.t_ps[log.select(Kind.LOSS.name)]
    reaches_back = since_ps is not None and len(log) > 0 and int(log.t_ps[0]) <= since_ps
    if capture.memories["event_log"].wrapped and not reaches_back:
        return False
    return not bool(len(losses)) if since_ps is None else not bool((losses >= since_ps).any())
