"""wrap-unhandled: the sender compares its counters raw, not modulo their width.

It sends beyond its limit only while its sent count has passed zero and the credited count has not.
What tells it: a constant added to the free space (credit-too-optimistic) shows at any count; a limit
above the FIFO (credit-start-too-large) needs no excess.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from freezeframe.analyzers.contract import Evidence, Finding, Row
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

NAME = "wrap-unhandled"
_SHOWN = 4
_SEVERAL = 3  # packets beyond the limit one after another: more than a constant's one packet


def diagnose(facts: Facts, sendings: Sequence[Sending]) -> Iterator[Finding]:
    """Yield a finding for every flow that was sent beyond its limit across a wrap, and only there."""
    for sending in sendings:
        account, limit = sending.account, sending.account.limit or 0
        most = share(facts, account)
        if sending.beyond_flat or (most is not None and limit > most):
            continue
        exact = sending.history is not None and sending.history.exact
        if not exact and not suffered(facts, account):
            continue
        if sending.beyond_wrap and _not_constant(sending):
            yield _from_history(facts, sending)
        elif not sending.beyond_wrap and sending.history is None:
            finding = _from_bank(facts, sending)
            if finding is not None:
                yield finding


def _not_constant(sending: Sending) -> bool:
    """Return whether no constant error of the free space explains the excess.

    A sender that was never seen waiting with some credit left may have believed in more of it all the time.
    """
    worst = max(start.outstanding for start in sending.beyond_wrap)
    bound = sending.constant_below
    if bound is None:
        return False
    return worst - (sending.account.limit or 0) >= bound or len(sending.beyond_wrap) >= _SEVERAL


def _from_history(facts: Facts, sending: Sending) -> Finding:
    account, first = sending.account, sending.beyond_wrap[0]
    worst = max(sending.beyond_wrap, key=lambda start: start.outstanding)
    stream = facts.view.stream(account.sender, "tx_deq")
    log = facts.view.logs[account.sender]
    at = first.departure.position
    t_ps: int | None = first.departure.t_ps
    unc_ps: int | None = None
    if stream is not None and at is not None:
        t_ps, unc_ps = stream.when(at)
    rows: list[Row] = (
        [] if first.credit is None else [log.row(first.credit, "last credit taken before")]
    )
    for start in sending.beyond_wrap[:_SHOWN]:
        label = f"first word; {start.outstanding} words outstanding with it"
        if stream is not None and start.departure.position is not None:
            rows.append(stream.row(start.departure.position, label))
    return Finding(
        diagnosis=NAME,
        text=(
            f"{account.sender} sent packet {first.departure.seq} of flow {account.flow} with "
            f"{first.outstanding} words outstanding, and "
            f"later packets with up to {worst.outstanding}, where {account.limit} are allowed: its "
            "count of sent words had wrapped to "
            f"{first.sent} and the credited count, {first.credited}, had not. Outside the wrap it "
            "kept to its limit. It compares the "
            f"counters without regard to their wrapping."
        ),
        device=account.sender,
        direction=account.direction,
        flow=account.flow,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        confidence=0.97,
        evidence=(
            Evidence(
                f"{len(sending.beyond_wrap)} packets of flow {account.flow} were started beyond "
                f"the limit of {account.limit} words, all "
                f"across the wrap at {account.modulus}; none outside it.",
                account.sender,
                "tx_deq",
                tuple(rows),
            ),
            Evidence(
                f"{account.sender}'s books of flow {account.flow} at freeze.",
                account.sender,
                rows=sender_rows(facts, account),
            ),
            *overflow_evidence(facts, account.receiver),
            *cause_evidence(facts, account.receiver),
        ),
    )


def _from_bank(facts: Facts, sending: Sending) -> Finding | None:
    """Return the finding when only the freeze bank shows an excess, and it is across the wrap."""
    account = sending.account
    outstanding, limit = account.outstanding, account.limit
    if outstanding is None or limit is None or outstanding <= limit:
        return None
    if outstanding > (account.modulus or 0) // 2:
        return None  # less than nothing: it was credited more than it sent
    words_sent = facts.view.value(account.sender, "frozen_flow.words_sent", account.flow)
    if not account.sent_has_wrapped or words_sent is None or words_sent < (account.modulus or 0):
        return None
    bound = sending.constant_below
    if bound is None or outstanding - limit < bound:
        return None  # a constant excess could be as large
    return Finding(
        diagnosis=NAME,
        text=(
            f"{account.sender} froze with {outstanding} words of flow {account.flow} outstanding "
            f"where {limit} are allowed; its count "
            f"of sent words has wrapped to {account.sent}, the credited count is still "
            f"{account.credited}."
        ),
        device=account.sender,
        direction=account.direction,
        flow=account.flow,
        confidence=0.75,
        evidence=(
            Evidence(
                f"{account.sender}'s books of flow {account.flow} at freeze.",
                account.sender,
                rows=sender_rows(facts, account),
            ),
            *overflow_evidence(facts, account.receiver),
        ),
    )
