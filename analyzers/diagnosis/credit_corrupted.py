"""credit-corrupted: one bit of a credit changed at the receiver, between parity generator and CRC.

The credit arrives with a good CRC and a bad parity, and the sender refuses it. What tells it from a
lost credit (credit-lost): it arrived, and the parity counter says so.
"""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.analyzers.contract import Evidence, Finding, Row
from freezeframe.analyzers.credits.ledger import freed_of
from freezeframe.analyzers.diagnosis.place import cause_evidence
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.streams import EventLog

__all__ = ["NAME", "diagnose"]

NAME = "credit-corrupted"


def diagnose(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for every sender that refused a credit for its parity."""
    for sender, receiver in facts.view.directions:
        log = facts.view.logs.get(sender)
        if log is None:
            continue
        refused = log.select("CREDIT", "refused_parity")
        for position in refused.tolist():
            yield _refused(facts, sender, receiver, log, position)
        if not len(refused) and "credit-parity" in facts.view.causes(sender):
            yield _not_logged(facts, sender, receiver)


def _refused(facts: Facts, sender: str, receiver: str, log: EventLog, position: int) -> Finding:
    value = int(log.value[position])
    t_ps, unc_ps = log.when(position)
    rows: list[Row] = []
    match = _as_sent(facts, receiver, value, t_ps, unc_ps)
    flow, confidence = None, 0.95
    if match is not None:
        sent_log, sent_at = match
        right = int(sent_log.value[sent_at])
        flow, confidence = int(sent_log.flow[sent_at]), 0.99
        bit = (right ^ value).bit_length() - 1
        rows.append(sent_log.row(sent_at, "credit as sent"))
        rows.append(log.row(position, "credit refused for its parity", right))
        how = f"it differs in bit {bit} from the credit that {receiver} sent for flow {flow}"
    else:
        flow = _sure_flow(facts, sender, receiver, int(log.flow[position]))
        rows.append(log.row(position, "credit refused for its parity"))
        how = f"its CRC was good, so it was damaged in {receiver} before the CRC was made"
    return Finding(
        diagnosis=NAME,
        text=(
            f"{sender} refused a credit from {receiver} (freed {freed_of(value)}) for its parity: "
            f"{how}. The next credit of the flow makes up for it."
        ),
        device=receiver,
        direction=f"{sender}->{receiver}",
        flow=flow,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        confidence=confidence,
        evidence=(
            Evidence(f"{sender} logged the refusal; {how}.", sender, rows=tuple(rows)),
            *_counters(facts, sender),
            *cause_evidence(facts, sender),
        ),
    )


def _as_sent(
    facts: Facts, receiver: str, value: int, t_ps: int, unc_ps: int | None
) -> tuple[EventLog, int] | None:
    """Return the credit that differs in one bit and was sent last before the refusal."""
    log = facts.view.logs.get(receiver)
    if log is None:
        return None
    near = [
        at
        for at in log.select("CREDIT", "sent").tolist()
        if (int(log.value[at]) ^ value).bit_count() == 1
    ]
    # A refusal is stamped by another clock: with the doubt of both it may seem early.
    doubt_ps = [int(log.t_unc_ps[at]) for at in near]
    known = unc_ps is not None and all(doubt >= 0 for doubt in doubt_ps)
    before = [
        at
        for at, doubt in zip(near, doubt_ps, strict=True)
        if not known or int(log.t_ps[at]) - doubt <= t_ps + (unc_ps or 0)
    ]
    return (log, before[-1]) if before else None


def _sure_flow(facts: Facts, sender: str, receiver: str, flow: int) -> int | None:
    """Return the flow of a credit of which one bit is wrong; None when two flows in use fit."""
    used = {
        account.flow
        for account in facts.accounts
        if (account.sender, account.receiver) == (sender, receiver) and account.used
    }
    fitting = {other for other in used if (other ^ flow).bit_count() <= 1}
    return fitting.pop() if len(fitting) == 1 else None


def _not_logged(facts: Facts, sender: str, receiver: str) -> Finding:
    capture = facts.view.device(sender)
    cycle = capture.registers.value64("ctl.cause_cycle_") if capture is not None else None
    return Finding(
        diagnosis=NAME,
        text=(
            f"{sender} froze because a credit from {receiver} had bad parity; the credit itself is "
            f"not in its event log, so which flow it was for is not known."
        ),
        device=receiver,
        direction=f"{sender}->{receiver}",
        confidence=0.85,
        evidence=(
            Evidence(
                f"{sender}: first cause credit-parity in bus cycle {cycle}.",
                sender,
                rows=(facts.view.register_row(sender, "ctl.causes"),),
            ),
            *_counters(facts, sender),
        ),
    )


def _counters(facts: Facts, sender: str) -> tuple[Evidence, ...]:
    count = facts.view.counter(sender, "parity_errors")
    if count is None:
        return ()
    return (
        Evidence(
            f"{sender} counted {count} credits with bad parity.",
            sender,
            rows=(
                facts.view.counter_row(sender, "parity_errors"),
                facts.view.counter_row(sender, "credits_refused"),
            ),
        ),
    )
