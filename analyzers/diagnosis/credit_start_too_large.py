"""credit-start-too-large: the start-up credit of a flow is larger than the receiver's FIFO.

The sender stays within its limit, and the receiver overflows all the same, because the limit is above
the depth. What tells it from the others that end in rx-ovf: the limit itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from freezeframe.analyzers.contract import Evidence, Finding
from freezeframe.analyzers.credits.ledger import FlowAccount
from freezeframe.analyzers.diagnosis.overflow import (
    Sending,
    overflow_evidence,
    sender_rows,
    share,
)
from freezeframe.analyzers.diagnosis.place import cause_evidence
from freezeframe.analyzers.facts import Facts

__all__ = ["NAME", "diagnose"]

NAME = "credit-start-too-large"


def diagnose(facts: Facts, sendings: Sequence[Sending]) -> Iterator[Finding]:
    """Yield a finding for every flow that may have more outstanding than the receiver can hold."""
    for sending in sendings:
        account = sending.account
        most, limit = share(facts, account), account.limit
        if most is not None and limit is not None and limit > most:
            yield _finding(
                facts, account, most, f"its limit alone, {limit} words, is above it", 0.97
            )
    yield from _together(facts, sendings)


def _together(facts: Facts, sendings: Sequence[Sending]) -> Iterator[Finding]:
    """Yield the flow with the largest limit where only all limits together are above the depth."""
    for sender, receiver in facts.view.directions:
        mine = [s for s in sendings if s.account.direction == f"{sender}->{receiver}"]
        used = [s for s in mine if s.account.limit]
        if len(used) < 2 or not facts.overflowed(receiver):
            continue
        if any(s.beyond_wrap or s.beyond_flat for s in used):
            continue
        limits = sorted((s.account.limit or 0 for s in used), reverse=True)
        depth = used[0].account.depth
        if depth is None or sum(limits) <= depth or limits[0] > depth or limits[0] == limits[1]:
            continue
        largest = next(s for s in used if s.account.limit == limits[0])
        reason = (
            f"the limits of all {len(used)} flows together, {sum(limits)} words, are above it, and "
            f"this flow's, {limits[0]}, is the largest"
        )
        yield _finding(facts, largest.account, depth, reason, 0.85)


def _finding(
    facts: Facts, account: FlowAccount, depth: int, reason: str, confidence: float
) -> Finding:
    capture = facts.view.device(account.receiver)
    cycle = capture.registers.value64("ctl.cause_cycle_") if capture is not None else None
    t_ps = unc_ps = None
    if cycle is not None and facts.overflowed(account.receiver):
        t_ps, unc_ps = facts.when(account.receiver, cycle)
    whose = "the incoming FIFO" if capture is not None else "the FIFO its counters are made for"
    return Finding(
        diagnosis=NAME,
        text=(
            f"{account.sender} may have more words of flow {account.flow} outstanding than {whose} "
            f"of {account.receiver} holds "
            f"({depth} words): {reason}. It kept to its limit; the limit is wrong."
        ),
        device=account.sender,
        direction=account.direction,
        flow=account.flow,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        confidence=confidence if facts.overflowed(account.receiver) else 0.8,
        evidence=(
            Evidence(
                f"{account.sender}'s books of flow {account.flow}: limit {account.limit} words, "
                f"FIFO {depth} words.",
                account.sender,
                rows=sender_rows(facts, account),
            ),
            *overflow_evidence(facts, account.receiver),
            *cause_evidence(facts, account.receiver),
        ),
    )
