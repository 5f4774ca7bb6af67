"""credit-too-optimistic: the sender adds a constant to the free space that its credits leave it.

It has more outstanding than its limit allows, at any value of its counters, until the receiver overflows. What
tells it: the limit itself fits the FIFO (credit-start-too-large), the excess is there outside a wrap of the counters
(wrap-unhandled), and the books of both ends agree with the taps (header-miscounted).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from freezeframe.analyzers.contract import Evidence, Finding, Row
from freezeframe.analyzers.diagnosis.header_miscounted import Miscount
from freezeframe.analyzers.diagnosis.overflow import (
    Sending,
    overflow_evidence,
    sender_rows,
    share,
    suffered,
)
from freezeframe.analyzers.diagnosis.place import cause_evidence
from freezeframe.analyzers.facts import Facts

__all__ = ["NAME", "diagnose"]

NAME = "credit-too-optimistic"
_SHOWN = 4


def diagnose(
    facts: Facts, sendings: Sequence[Sending], miscounted: Sequence[Miscount]
) -> Iterator[Finding]:
    """Yield a finding for every flow that was sent beyond a right limit, and not only across a wrap."""
    senders = {miscount.device for miscount in miscounted if miscount.sending}
    for sending in sendings:
        account = sending.account
        most = share(facts, account)
        if account.limit is None or (most is not None and account.limit > most):
            continue
        # A sender that counts too few words keeps to the limit by its books, which are then what must exceed it.
        exact = sending.history is not None and sending.history.exact
        trusted = account.sender not in senders and (exact or suffered(facts, account))
        excess = _excess(facts, sending, trusted=trusted)
        if excess is not None:
            yield _finding(facts, sending, excess)


def _excess(facts: Facts, sending: Sending, *, trusted: bool) -> int | None:
    """Return by how many words the flow was beyond its limit outside a wrap; None where it was not.

    A sender that ignored the wrap is beyond its limit for a while after it as well. Starts that were worked out
    from events are trusted only where the receiver overflowed; the freeze bank, and what was counted back from it,
    say it by themselves.
    """
    account = sending.account
    limit = account.limit or 0
    found = [start.outstanding - limit for start in sending.beyond_flat] if trusted else []
    if sending.beyond_wrap:
        # A sender that compares raw counts is right outside the wrap, so that a start there is none of its own.
        exact = sending.history is not None and sending.history.exact
        return max(found) if found and exact else None
    words_sent = facts.view.value(account.sender, "frozen_flow.words_sent", account.flow)
    if account.outstanding is not None and account.modulus is not None and words_sent is not None:
        never_wrapped = words_sent < account.modulus
        far = account.sent is not None and account.sent > 2 * (account.outstanding + limit)
        # More than half of the counters' range is else a sender that was credited more than it sent.
        half = account.modulus if never_wrapped else account.modulus // 2
        if (never_wrapped or far) and not account.sent_has_wrapped and account.outstanding <= half:
            found.append(account.outstanding - limit)
    worst = max(found, default=0)
    return worst if worst > 0 else None


def _finding(facts: Facts, sending: Sending, excess: int) -> Finding:
    account = sending.account
    rows: list[Row] = []
    stream = facts.view.stream(account.sender, "tx_deq")
    t_ps = unc_ps = None
    for start in sending.beyond_flat[:_SHOWN]:
        if stream is not None and start.departure.position is not None:
            label = f"first word; {start.outstanding} words outstanding with it"
            rows.append(stream.row(start.departure.position, label))
            if t_ps is None:
                t_ps, unc_ps = stream.when(start.departure.position)
    if t_ps is None:
        capture = facts.view.device(account.receiver)
        cycle = capture.registers.value64("ctl.cause_cycle_") if capture is not None else None
        if cycle is not None:
            t_ps, unc_ps = facts.when(account.receiver, cycle)
    return Finding(
        diagnosis=NAME,
        text=(
            f"{account.sender} had {(account.limit or 0) + excess} words of flow {account.flow} outstanding "
            f"where {account.limit} are allowed, {excess} more, and its counters had not wrapped. The limit "
            f"fits {account.receiver}'s FIFO and the books agree with the taps: it takes the free space "
            "for larger than its credits say."
        ),
        device=account.sender,
        direction=account.direction,
        flow=account.flow,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        confidence=0.95,
        evidence=(
            Evidence(
                f"{account.sender}'s books of flow {account.flow} at freeze: {account.outstanding} words "
                f"outstanding, limit {account.limit}.",
                account.sender,
                rows=(*sender_rows(facts, account), *rows),
            ),
            *overflow_evidence(facts, account.receiver),
            *cause_evidence(facts, account.receiver),
        ),
    )
