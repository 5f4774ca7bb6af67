"""Full incoming FIFOs, and two reasons for them: credit-start-too-large and wrap-unhandled.

Which of the reasons for a full incoming FIFO fits: shared by the faults that end in rx-ovf.

A sender beyond its limit only while its sent count has wrapped and the credited one has not; beyond
it at any count; within a limit that is larger than the FIFO; or within everything while the counts of
both ends drift apart.

credit-start-too-large: the start-up credit of a flow is larger than the receiver's FIFO.

The sender stays within its limit, and the receiver overflows all the same, because the limit is above
the depth. What distinguishes it from the others that end in rx-ovf: the limit itself.

wrap-unhandled: the sender compares its counters raw, not modulo their width.

It sends beyond its limit only while its sent count has passed zero and the credited count has not.
What distinguishes it: a constant added to the free space (credit-too-optimistic) shows at any count; a limit
above the FIFO (credit-start-too-large) needs no excess.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from freezeframe.analyzers.contract import Evidence, Finding, Ground, Row
from freezeframe.analyzers.credits.flow_history import (
    FlowHistory,
    Start,
    counted_history,
    flow_history,
)
from freezeframe.analyzers.credits.ledger import FlowAccount, described_packets
from freezeframe.analyzers.diagnosis.fill import outstanding_in_whole
from freezeframe.analyzers.evidence import amount, cause_evidence
from freezeframe.analyzers.facts import Facts, covers
from freezeframe.capture.registers.layouts import Kind

_MOST_PACKET_WORDS = 515  # 512 payload words, two HEAD words, TAIL


@dataclass(frozen=True, slots=True, eq=False)
class Sending:
    """How one flow was sent against its limit.

    ``beyond_wrap``, ``beyond_flat``: starts beyond the limit while the counts straddle a wrap, and
    while they do not. ``constant_below``: outside a wrap the sender was seen waiting for credit, so a
    constant error of its free space would be smaller than this; None when it was not seen waiting.
    """

    account: FlowAccount
    history: FlowHistory | None
    beyond_wrap: tuple[Start, ...]
    beyond_flat: tuple[Start, ...]
    constant_below: int | None


def sendings(facts: Facts) -> tuple[Sending, ...]:
    """Return the sending of every flow whose sender may be looked at."""
    return tuple(
        _sending(facts, account) for account in facts.accounts if account.limit is not None
    )


def _sending(facts: Facts, account: FlowAccount) -> Sending:
    history = counted_history(facts.view, account) or flow_history(facts.view, account)
    beyond = history.beyond(account.limit or 0) if history is not None else ()
    starts = history.starts if history is not None else ()
    across = {start.departure for start in beyond if start.across_wrap}
    # What starts right after one across a wrap was decided on before the credit that came meanwhile.
    after = {b.departure for a, b in itertools.pairwise(starts) if a.departure in across}
    flat = tuple(s for s in beyond if not s.across_wrap and s.departure not in after)
    kept = history.starts[0].departure.t_ps if history and history.starts and not flat else None
    return Sending(
        account=account,
        history=history,
        beyond_wrap=tuple(start for start in beyond if start.across_wrap),
        beyond_flat=flat,
        constant_below=constant_below(facts, account, kept_since_ps=kept),
    )


def constant_below(
    facts: Facts,
    account: FlowAccount,
    since_ps: int = -(1 << 62),
    kept_since_ps: int | None = None,
) -> int | None:
    """Return what a constant error of the free space must be below, by the waits outside a wrap since a time.

    A sender that waits with ``free`` words of credit for a packet would not have waited, had it believed to have as
    many more as the longest one needs. No free space may be less than none, but where it was seen to keep to its
    limit (``kept_since_ps``: since then, outside a wrap).
    """
    log = facts.view.logs.get(account.sender)
    taken = account.taken_credits
    if log is None or account.limit is None or account.modulus is None:
        return None
    longest = _longest_words(facts, account)
    bounds = []
    for at in log.select("PRESSURE", "begin", flow=account.flow).tolist():
        last = int(np.searchsorted(taken.positions, at)) - 1
        free = int(log.value[at])
        t_ps = int(log.t_ps[at])
        none = not free and (kept_since_ps is None or t_ps < kept_since_ps)
        if last < 0 or none or t_ps < since_ps:
            continue
        credited = int(taken.freed[last])
        if credited + account.limit - free < account.modulus:
            bounds.append(longest - free)
    return min(bounds, default=None)


def _longest_words(facts: Facts, account: FlowAccount) -> int:
    """Return how many words the longest packet has that was posted to a flow; that of any, where not all are known."""
    log = facts.view.logs.get(account.sender)
    if log is None or not log.recorded(Kind.DESC) or not covers(facts, account.sender, None):
        return _MOST_PACKET_WORDS
    posted = described_packets(facts.view, account.sender).values()
    return max(
        (words for flow, words in posted if flow == account.flow), default=_MOST_PACKET_WORDS
    )


def before_wrap(account: FlowAccount) -> int | None:
    """Return how many words a sender had outstanding, at least, when its count of them wrapped; None where it has not.

    It may have been credited more since, and less than half of the counters' range is outstanding.
    """
    if not account.sent_has_wrapped or not account.modulus or account.credited is None:
        return None
    if account.outstanding is None or account.outstanding > account.modulus // 2:
        return None
    return account.modulus - account.credited


def overpaid(facts: Facts, account: FlowAccount) -> bool:
    """Tell whether the receiver's credits free more than its FIFO holds at once, or than was ever sent.

    Then its books are wrong, and what the sender has outstanding by them says nothing of the sender.
    """
    if account.modulus is None or account.limit is None:
        return False
    steps = np.diff(account.taken_credits.freed) % account.modulus
    sent = facts.view.value(account.sender, "frozen_flow.words_sent", account.flow)
    many = bool((steps > max(account.depth or 0, account.limit)).any())
    return many or (sent is not None and int(steps.sum()) > sent)


def suffered(facts: Facts, account: FlowAccount) -> bool:
    """Return whether an excess on this flow can have had its symptom: the receiver overflowed.

    Where the receiver may not be looked at, it must at least have been the one that froze first.
    """
    if facts.view.device(account.receiver) is not None:
        return facts.overflowed(account.receiver)
    return facts.view.roles.card.peer_cause in facts.view.causes(account.sender)


def share(facts: Facts, account: FlowAccount) -> int | None:
    """Return the words that a flow's limit may be at most: the FIFO of the receiver.

    From the sender alone the FIFO is known by the counters' width, which has two bits more than it
    needs.
    """
    if account.depth is not None:
        return account.depth
    return None if account.modulus is None else account.modulus >> 2


def sender_rows(facts: Facts, account: FlowAccount) -> tuple[Row, ...]:
    """Return the sender's books of a flow at freeze."""
    return facts.view.register_rows(account.sender, _BOOKS, account.flow)


def overflow_evidence(facts: Facts, receiver: str) -> tuple[Evidence, ...]:
    """Return what the receiver says of words that found its FIFO full."""
    capture = facts.view.device(receiver)
    into = facts.view.roles.rx
    lost = facts.view.count(receiver, "overflow", into.entry)
    if capture is None or lost is None:
        return ()
    return (
        Evidence(
            f"{receiver} counted {amount(lost, 'word')} lost since power-up because its incoming FIFO of "
            f"{capture.identity.rx_fifo} "
            "words was full.",
            receiver,
            rows=(
                facts.view.count_row(receiver, "overflow", into.entry),
                facts.view.register_row(receiver, f"frozen.{into.level}"),
            ),
        ),
    )


_BOOKS = ("frozen_flow.sent", "frozen_flow.credited", "frozen_flow.limit")
CREDIT_START_TOO_LARGE = "credit-start-too-large"


def too_large_starts(facts: Facts, sendings: Sequence[Sending]) -> Iterator[Finding]:
    """Yield a finding for every flow that may have more outstanding than the receiver can hold."""
    for sending in sendings:
        account = sending.account
        most, limit = share(facts, account), account.limit
        if most is not None and limit is not None and limit > most:
            yield _start_finding(
                facts,
                account,
                most,
                f"its limit alone, {limit} words, is above it",
                Ground.COMPARED,
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
        yield _start_finding(facts, largest.account, depth, reason, Ground.INFERRED)


def _start_finding(
    facts: Facts, account: FlowAccount, depth: int, reason: str, ground: Ground
) -> Finding:
    known = facts.view.device(account.receiver) is not None
    overflowed = facts.overflowed(account.receiver)
    t_ps, unc_ps = facts.caused(account.receiver) if overflowed else (None, None)
    whose = "the incoming FIFO" if known else "the FIFO its counters are made for"
    return Finding(
        diagnosis=CREDIT_START_TOO_LARGE,
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
        ground=ground if overflowed else Ground.ELIMINATED,
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


WRAP_UNHANDLED = "wrap-unhandled"
_SHOWN = 4
_SEVERAL = 3  # packets beyond the limit one after another: more than a constant's one packet


def unhandled_wraps(facts: Facts, sendings: Sequence[Sending]) -> Iterator[Finding]:
    """Yield a finding for every flow that was sent beyond its limit across a wrap, and only there."""
    for sending in sendings:
        account, limit = sending.account, sending.account.limit or 0
        most = share(facts, account)
        if sending.beyond_flat or overpaid(facts, account) or (most is not None and limit > most):
            continue
        exact = sending.history is not None and sending.history.exact
        if not exact and not suffered(facts, account):
            continue
        if sending.beyond_wrap and _not_constant(sending):
            yield _from_history(facts, sending)
        elif sending.beyond_wrap or sending.history is None:
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
    stream = facts.view.stream(account.sender, facts.view.roles.tx.exit)
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
        diagnosis=WRAP_UNHANDLED,
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
        ground=Ground.COMPARED,
        evidence=(
            Evidence(
                f"{amount(len(sending.beyond_wrap), 'packet')} of flow {account.flow} started beyond "
                f"the limit of {account.limit} words, all "
                f"across the wrap at {account.modulus}; none outside it.",
                account.sender,
                facts.view.roles.tx.exit,
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
    far = outstanding > (account.modulus or 0) // 2
    if far and outstanding_in_whole(facts, account) != outstanding:
        return None  # less than nothing: it was credited more than it sent
    words_sent = facts.view.value(account.sender, "frozen_flow.words_sent", account.flow)
    modulus, credited = account.modulus or 0, account.credited or 0
    if words_sent is None or words_sent < modulus:
        return None
    across, bound = account.sent_has_wrapped, sending.constant_below
    if (before := before_wrap(account)) is not None and before > limit:
        return None
    ground = Ground.ELIMINATED
    if not across or bound is None or outstanding - limit < bound:
        # A constant excess could be as large, but would hardly show for the first time just where the counts wrap.
        if far or words_sent >= 2 * modulus or not (across or credited < limit):
            return None
        ground = Ground.LITTLE
    return Finding(
        diagnosis=WRAP_UNHANDLED,
        text=(
            f"{account.sender} froze with {outstanding} words of flow {account.flow} outstanding "
            f"where {limit} are allowed; its count "
            f"of sent words has wrapped to {account.sent}, the credited count "
            f"{'is still' if across else 'just after it to'} {credited}."
        ),
        device=account.sender,
        direction=account.direction,
        flow=account.flow,
        ground=ground,
        evidence=(
            Evidence(
                f"{account.sender}'s books of flow {account.flow} at freeze.",
                account.sender,
                rows=sender_rows(facts, account),
            ),
            *overflow_evidence(facts, account.receiver),
        ),
    )
