"""Senders whose books are wrong: header-miscounted and credit-too-optimistic.

header-miscounted: a counter of flow control leaves out a header or CRC word of some packets.

The words are right at every tap, and the books drift: too low at the sender, which then sends beyond what the
receiver can hold; too low at the receiver, which gives back less credit than was used, until nothing fits any
more. What distinguishes it: the card's own taps counted more words than its flows together.

Source: FORTH paper, section 3.5 (header or its CRC miscounted); register files ``frozen_flow``, ``frozen_counters``.

credit-too-optimistic: the sender adds a constant to the free space that its credits leave it.

It has more outstanding than its limit allows, at any value of its counters, until the receiver overflows. What
distinguishes it: the limit itself fits the FIFO (credit-start-too-large), the excess is there outside a wrap of the
counters (wrap-unhandled), and the books of both ends agree with the taps (header-miscounted).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from freezeframe.analyzers.contract import Evidence, Finding, Ground, Row
from freezeframe.analyzers.credits.ledger import FlowAccount
from freezeframe.analyzers.diagnosis.overflow import (
    Sending,
    before_wrap,
    overflow_evidence,
    overpaid,
    sender_rows,
    share,
    suffered,
)
from freezeframe.analyzers.evidence import amount, cause_evidence
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.streams import HEADS
from freezeframe.analyzers.view import fits_power_up

HEADER_MISCOUNTED = "header-miscounted"
_COUNTER = 1 << 32  # words_sent and words_received have 32 bits
_LARGEST = 515  # words of a packet: 512 of payload, two HEAD words, TAIL
_MOST_BAD = 8  # packets with a bad header of which each sum is tried


@dataclass(frozen=True, slots=True)
class Miscount:
    """A card whose flows together counted ``words`` fewer than its tap let through.

    ``beside_bad``: packets with a bad header came in, too, and they do not explain it.
    """

    device: str
    sending: bool
    counted: int
    crossed: int
    beside_bad: bool = False

    @property
    def words(self) -> int:
        return self.crossed - self.counted


def miscounts(facts: Facts) -> Iterator[Miscount]:
    """Yield the cards whose flows and taps disagree about the words that crossed.

    Flows begin at zero when the link starts, taps count since power-up, so that the two can be compared only
    while the link has been up since then: in the first recording, and with sequence numbers that fit.
    """
    for device in facts.view.names:
        if facts.view.value(device, "ctl.generation") != 1:
            continue
        roles = facts.view.roles
        for sending, name, tap in (
            (True, "words_sent", roles.tx.exit),
            (False, "words_received", roles.rx.entry),
        ):
            capture = facts.view.device(device)
            crossed = facts.view.count(device, "words", tap)
            if capture is None or crossed is None or crossed >= _COUNTER:
                continue
            counts = [
                facts.view.value(device, f"frozen_flow.{name}", flow)
                for flow in range(capture.identity.flows_count)
            ]
            known = [count for count in counts if count is not None]
            if len(known) < len(counts) or crossed <= sum(known):
                continue
            bad = 0 if sending else facts.view.count(device, "bad-header")
            if bad is None or (bad and _fits_bad_headers(facts, device, bad, crossed - sum(known))):
                continue
            if not fits_power_up(capture, facts.view.device(facts.view.peer(device) or "")):
                continue  # the link came up again, or it is not known that it did not
            yield Miscount(device, sending, sum(known), crossed, beside_bad=bad > 0)


def _fits_bad_headers(facts: Facts, device: str, bad: int, missing: int) -> bool:
    """Return whether words after bad headers, which may belong to no flow, can be all that is missing.

    Such a packet is counted whole, but for its header at most, or not at all; so that where each of them was recorded,
    only some sums are left.
    """
    stream = facts.view.stream(device, facts.view.roles.rx.entry)
    packets = [packet for packet in stream.packets if packet.header_ok is False] if stream else []
    if stream is None or stream.breaks or len(packets) != bad or any(p.cut_start for p in packets):
        return True
    sizes = [
        (packet.end - packet.start, _LARGEST if packet.cut_end else packet.end - packet.start)
        for packet in packets
    ]
    if len(sizes) > _MOST_BAD:
        return missing <= sum(most for _, most in sizes)
    for none in product((False, True), repeat=len(sizes)):
        chosen = list(zip(none, sizes, strict=True))
        least = sum(max(0, size - HEADS) for counted, (size, _) in chosen if not counted)
        most = sum(HEADS if counted else size for counted, (_, size) in chosen)
        if least <= missing <= most:
            return True
    return False


def miscounted_headers(facts: Facts, miscounted: list[Miscount]) -> Iterator[Finding]:
    """Yield a finding for every card that miscounts."""
    for miscount in miscounted:
        yield _miscount_finding(facts, miscount)


def _miscount_finding(facts: Facts, miscount: Miscount) -> Finding:
    device = miscount.device
    peer = facts.view.peer(device) or "?"
    sender, receiver = (device, peer) if miscount.sending else (peer, device)
    accounts = [a for a in facts.accounts if a.direction == f"{sender}->{receiver}"]
    flow = _flow(facts, miscount, accounts)
    tx, rx = facts.view.roles.ways
    what, tap = ("sent", tx.exit) if miscount.sending else ("received", rx.entry)
    of_flow = "" if flow is None else f" The words of flow {flow} are short at {device}."
    end = (
        f"{sender} believes that {receiver} has more room than it has"
        if miscount.sending
        else f"{sender} gets back less credit than it used"
    )
    t_ps, unc_ps = facts.first_caused()
    return Finding(
        diagnosis=HEADER_MISCOUNTED,
        text=(
            f"{device} let {miscount.crossed} words through {tap} and its flows counted "
            f"{miscount.counted} of them as {what}: {amount(miscount.words, 'word')} too few stand in its "
            f"books, while the words themselves are right.{of_flow} With every such packet {end}."
        ),
        device=device,
        direction=f"{sender}->{receiver}",
        flow=flow,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        ground=Ground.ELIMINATED if miscount.beside_bad else Ground.CONFIRMED,
        evidence=(
            Evidence(
                f"{device}: {miscount.crossed} words crossed {tap}; its flows counted {miscount.counted}.",
                device,
                tap,
                _rows(facts, miscount, accounts),
            ),
            *overflow_evidence(facts, receiver),
            *cause_evidence(facts, device),
        ),
    )


def _flow(facts: Facts, miscount: Miscount, accounts: list[FlowAccount]) -> int | None:
    """Return the one flow whose words are short, where both ends or the use of one flow alone say it."""
    name = "words_sent" if miscount.sending else "words_received"
    if miscount.sending:
        return None  # counted for all flows in one place; which packets, the books do not say
    here = {a.flow: facts.view.value(a.receiver, f"frozen_flow.{name}", a.flow) for a in accounts}
    there = {a.flow: facts.view.value(a.sender, "frozen_flow.words_sent", a.flow) for a in accounts}
    short = {
        flow: (there[flow] or 0) - (here[flow] or 0)
        for flow in here
        if here[flow] is not None and there.get(flow) is not None
    }
    if not short:
        used = [flow for flow, count in here.items() if count]
        return used[0] if len(used) == 1 else None
    # What is still on its way is short as well, but far less than what was lost over the whole run.
    likely = [flow for flow, words in short.items() if 2 * words > miscount.words]
    return likely[0] if len(likely) == 1 else None


def _rows(facts: Facts, miscount: Miscount, accounts: list[FlowAccount]) -> tuple[Row, ...]:
    device = miscount.device
    tx, rx = facts.view.roles.ways
    tap, name = (tx.exit, "words_sent") if miscount.sending else (rx.entry, "words_received")
    rows = [facts.view.count_row(device, "words", tap)]
    rows += [
        facts.view.register_row(end, f"frozen_flow.{which}", account.flow)
        for account in accounts
        for end, which in ((account.sender, "words_sent"), (account.receiver, "words_received"))
        if end == device or which != name
    ]
    return tuple(row for row in rows if row.value is not None)


CREDIT_TOO_OPTIMISTIC = "credit-too-optimistic"
_SHOWN = 4


def optimistic_credits(
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
            yield _optimistic_finding(facts, sending, excess)


def _excess(facts: Facts, sending: Sending, *, trusted: bool) -> int | None:
    """Return by how many words the flow was beyond its limit outside a wrap; None where it was not.

    A sender that ignored the wrap is beyond its limit for a while after it as well. Starts that were worked out
    from events are trusted only where the receiver overflowed; the freeze bank, and what was counted back from it,
    say it by themselves.
    """
    account = sending.account
    limit = account.limit or 0
    if overpaid(facts, account):
        return None
    excesses = [start.outstanding - limit for start in sending.beyond_flat] if trusted else []
    if (before := before_wrap(account)) is not None and before > limit:
        excesses.append(before - limit)
    elif sending.beyond_wrap:
        # A sender that compares raw counts is right outside the wrap, so that a start there is not its own.
        exact = sending.history is not None and sending.history.exact
        return max(excesses) if excesses and exact else None
    words_sent = facts.view.value(account.sender, "frozen_flow.words_sent", account.flow)
    if account.outstanding is not None and account.modulus is not None and words_sent is not None:
        never_wrapped = words_sent < account.modulus
        far = account.sent is not None and account.sent > 2 * (account.outstanding + limit)
        # More than half of the counters' range is else a sender that was credited more than it sent.
        half = account.modulus if never_wrapped else account.modulus // 2
        if (never_wrapped or far) and not account.sent_has_wrapped and account.outstanding <= half:
            excesses.append(account.outstanding - limit)
    worst = max(excesses, default=0)
    return worst if worst > 0 else None


def _optimistic_finding(facts: Facts, sending: Sending, excess: int) -> Finding:
    account = sending.account
    rows: list[Row] = []
    stream = facts.view.stream(account.sender, facts.view.roles.tx.exit)
    t_ps = unc_ps = None
    for start in sending.beyond_flat[:_SHOWN]:
        if stream is not None and start.departure.position is not None:
            label = f"first word; {start.outstanding} words outstanding with it"
            rows.append(stream.row(start.departure.position, label))
            if t_ps is None:
                t_ps, unc_ps = stream.when(start.departure.position)
    if t_ps is None:
        t_ps, unc_ps = facts.first_caused()
    limit = f"The limit fits {account.receiver}'s FIFO and the" if account.limit else "The"
    return Finding(
        diagnosis=CREDIT_TOO_OPTIMISTIC,
        text=(
            f"{account.sender} had {(account.limit or 0) + excess} words of flow {account.flow} outstanding "
            f"where {account.limit or 'none'} are allowed, {excess} more, and its counters had not wrapped. {limit} "
            "books agree with the taps: it takes the free space for larger than its credits say, or does not look "
            "at it."
        ),
        device=account.sender,
        direction=account.direction,
        flow=account.flow,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        ground=Ground.CONFIRMED,
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
