"""Witnesses that are books and logs: how the sender's DMA read a packet, and flow control.

What ended a read and where the next one went on; the counts of both ends, their credits and waits, and what a full FIFO
lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from freezeframe.analyzers.credits.ledger import FlowAccount
from freezeframe.analyzers.diagnosis.fifo_words import imbalance_of
from freezeframe.analyzers.diagnosis.miscounts import miscounts
from freezeframe.analyzers.diagnosis.overflow import constant_below
from freezeframe.analyzers.diagnosis.whole_packets import overdue
from freezeframe.analyzers.evidence import amount
from freezeframe.analyzers.facts import (
    LINK,
    RECEIVER_FIFO,
    SENDER_FIFO,
    Facts,
    covers,
    credit_delays,
    doubt_ps,
    flight_ps,
)
from freezeframe.analyzers.streams import EventLog
from freezeframe.analyzers.witness.case import Bound
from freezeframe.analyzers.witness.vocabulary import Reading, silent
from freezeframe.capture.registers.layouts import (
    DESC_VALUE_LENGTH_LSB,
    DESC_VALUE_LENGTH_MASK,
    DESC_VALUE_SEQ_LSB,
    DESC_VALUE_SEQ_MASK,
    Kind,
)

_ENDED = ("retried", "disconnected")
_ASKED = "requested"


def _read_events(bound: Bound) -> Reading:
    view, sender = bound.facts.view, bound.sender
    log = view.logs.get(sender)
    if log is None or not log.recorded(Kind.DESC):
        return silent(f"{sender}'s log does not hold its reads")
    mine = [code for code, _ in _reads(log, bound) if code != _ASKED]
    if mine:
        return Reading("seen", f"{sender}'s log has {len(mine)} such events of this packet")
    if covers(bound.facts, sender, None) and sender not in view.since_ps:
        return Reading(
            "none",
            f"{sender}'s log is whole, and no read of this packet was retried or disconnected",
        )
    return silent(f"{sender}'s log does not reach back to that read")


def _resumed(bound: Bound) -> Reading:
    sender = bound.sender
    log = bound.facts.view.logs.get(sender)
    if log is None or log.gaps or not log.recorded(Kind.DESC) or len(log.select(Kind.LOSS.name)):
        return silent(f"{sender}'s log does not hold all of its reads")
    left: int | None = None
    after = 0
    for code, words in _reads(log, bound):
        if code != _ASKED:
            left = words
        elif left is not None:
            if words != left:
                text = f"with {amount(left, 'word')} left {sender} asked for {words}"
                return Reading("elsewhere", text)
            left, after = None, after + 1
    if left is not None or not after:
        return silent(f"{sender}'s log has no request of this packet after a read that was ended")
    many = f"all {after} times" if after > 1 else "the one time"
    return Reading("rightly", f"{sender} asked for exactly the words left, {many} a read was ended")


def _reads(log: EventLog, bound: Bound) -> Iterator[tuple[str, int]]:
    """Yield what the log has of the reads of the packet, in order: what happened, and its count of words."""
    finding = bound.finding
    for at in log.select(Kind.DESC.name, *_ENDED, _ASKED, flow=finding.flow).tolist():
        value = int(log.value[at])
        if value >> DESC_VALUE_SEQ_LSB & DESC_VALUE_SEQ_MASK == finding.packet:
            words = value >> DESC_VALUE_LENGTH_LSB & DESC_VALUE_LENGTH_MASK
            yield str(log.code[at]), words


def _account(bound: Bound) -> FlowAccount | None:
    finding = bound.finding
    return next((a for a in _accounts(bound) if a.flow == finding.flow), None)


def _accounts(bound: Bound) -> list[FlowAccount]:
    """Return the accounts of all flows of the finding's direction."""
    return [a for a in bound.facts.accounts if a.direction == bound.finding.direction]


def _refusals(bound: Bound) -> Reading:
    view, device = bound.facts.view, bound.sender
    count = view.count(device, "bad-credit")
    if count is None:
        return silent(f"{device}'s count of credits with bad parity was not read")
    text = f"{device} counted {amount(count, 'credit')} with bad parity"
    return Reading("counted" if count else "zero", text, (view.count_row(device, "bad-credit"),))


def _credits(bound: Bound) -> Reading:
    """Compare what was taken with what was sent, as far back as the receiver's log goes; of other flows as well."""
    facts, mine = bound.facts, _account(bound)
    if mine is None:
        return silent("the credits of that flow are not in the logs of both ends")
    log = facts.view.flow_log(mine.receiver)
    since_ps = _known_since(facts, mine)
    if log is None or since_ps is None or not len(mine.sent_credits):
        return silent(f"{mine.receiver}'s log does not hold every credit it sent")
    for account in (mine, *_accounts(bound)):
        others = never_sent(facts, account, log, since_ps)
        if others:
            return Reading(
                "others",
                f"{account.sender} took a credit of flow {account.flow} that tells {others[0]} freed, and none was "
                "sent so",
            )
    recent = mine.taken_credits.freed[mine.taken_credits.t_ps >= since_ps]
    taken = int(np.isin(recent, mine.sent_credits.freed).sum())
    if not taken:
        return silent(
            f"{mine.sender} took no credit of that flow that {mine.receiver}'s log may hold"
        )
    return Reading("as-sent", f"all {taken} credits that {mine.sender} took had been sent so")


def _known_since(facts: Facts, account: FlowAccount) -> int | None:
    """Return from when on a credit that was taken must stand in the receiver's log; None where it may not."""
    if covers(facts, account.receiver, None):
        return -(1 << 62)
    log = facts.view.flow_log(account.receiver)
    flight, doubt = flight_ps(facts, account), doubt_ps(facts, account)
    if log is None or not len(log) or flight is None or doubt is None:
        return None
    begin_ps = int(log.t_ps[0])
    return begin_ps + flight + doubt if covers(facts, account.receiver, begin_ps) else None


def never_sent(facts: Facts, account: FlowAccount, log: EventLog, since_ps: int) -> list[int]:
    """Return what credits tell that were taken and do not stand in the receiver's log, though it went on after them.

    It did where a later one of the flow stands in it, or an event of a later time.
    """
    taken, sent = account.taken_credits, {*account.sent_credits.freed.tolist()}
    doubt = doubt_ps(facts, account)
    until_ps = -(1 << 62) if doubt is None or not len(log) else int(log.t_ps[-1]) - doubt
    stand = [freed in sent for freed in taken.freed.tolist()]
    last = max((at for at, stands in enumerate(stand) if stands), default=-1)
    return sorted(
        int(taken.freed[at])
        for at, stands in enumerate(stand)
        if not stands and taken.t_ps[at] >= since_ps and (at < last or taken.t_ps[at] <= until_ps)
    )


def _waiting(bound: Bound) -> Reading:
    view, sender, flow = bound.facts.view, bound.sender, bound.finding.flow
    stalled = view.value(sender, "frozen.stalled_flows")
    if stalled is None or flow is None or flow >= 32:
        return silent(f"whether {sender} waited on that flow was not read")
    row = view.register_row(sender, "frozen.stalled_flows")
    if stalled >> flow & 1:
        return Reading("waits", f"{sender} waited for credit of flow {flow} at the freeze", (row,))
    return silent(f"{sender} did not wait for credit of flow {flow} yet")


def _line(bound: Bound) -> Reading:
    """Look at what else went from the receiver to the sender between the first and the last credit that was lost."""
    facts, account, t_ps = bound.facts, _account(bound), bound.finding.t_ps
    if account is None or t_ps is None or not len(account.sent_credits):
        return silent("when the credits were lost is not known")
    flight, doubt = flight_ps(facts, account), doubt_ps(facts, account)
    if flight is None or doubt is None:
        return silent("how long a credit takes is not known")
    first_ps, last_ps = t_ps, max(t_ps, int(account.sent_credits.t_ps[-1]))
    log = facts.view.logs.get(account.sender)
    unlocked = log.t_ps[log.select(Kind.LINK.name, "sync_lost")] if log is not None else np.empty(0)
    if ((unlocked >= first_ps - doubt) & (unlocked <= last_ps + flight + doubt)).any():
        return Reading("lost", f"a lane of {account.sender} lost its lock meanwhile")
    others = [came for _, came in _arrivals(bound, account, first_ps + doubt, last_ps - doubt)]
    if any(others):
        many = f"{sum(others)} other credits and packets"
        return Reading("arrived", f"{many} of {account.receiver} arrived meanwhile")
    if others:
        return Reading("lost", f"{len(others)} other credits and packets were lost meanwhile")
    taken = [int(account.sent_credits.t_ps[at]) for at, _ in credit_delays(account, doubt)[:1]]
    before = sorted(_arrivals(bound, account, taken[0], first_ps)) if taken else []
    if before and not before[-1][1]:
        return Reading("lost", "the last that was sent before them did not arrive either")
    return silent(f"{account.receiver} is not known to have sent anything else meanwhile")


def _arrivals(
    bound: Bound, lost: FlowAccount, first_ps: int, last_ps: int
) -> Iterator[tuple[int, bool]]:
    """Yield for each credit of another flow, and each packet, sent in between, when, and whether it arrived."""
    facts = bound.facts
    for account in _accounts(bound):
        sent, taken = account.sent_credits, {*account.taken_credits.freed.tolist()}
        if account.flow != lost.flow:
            between = (sent.t_ps > first_ps) & (sent.t_ps < last_ps)
            for t_ps, freed in zip(
                sent.t_ps[between].tolist(), sent.freed[between].tolist(), strict=True
            ):
                yield t_ps, freed in taken
    diff = facts.diff(lost.receiver, lost.sender, LINK)
    if diff is not None:
        late = overdue(facts, lost.receiver, lost.sender, diff)
        packets = [(pair.up, True) for pair in diff.pairs]
        packets += [(packet, False) for packet in (*diff.missing, *late)]
        for packet, arrived in packets:
            t_ps = int(diff.up.t_ps[packet.start])
            if first_ps < t_ps < last_ps:
                yield t_ps, arrived


def _tap_count(bound: Bound) -> Reading:
    """Ask the FIFO beside the tap whose count and the flows' differ: it has another count of the same words."""
    facts, device = bound.facts, bound.finding.device
    for miscount in miscounts(facts):
        sending = bound.sender == miscount.device
        if miscount.device != device or miscount.sending != sending:
            continue
        stretch = SENDER_FIFO if sending else RECEIVER_FIFO
        balance = imbalance_of(facts, bound.sender, bound.receiver, stretch)
        if balance is None:
            return silent("the FIFO's level and its taps' counters are not of one moment")
        text = f"{device}'s {balance.fifo} FIFO: in {balance.entered}, out {balance.left}, level {balance.level}"
        too_many = -balance.missing if sending else balance.missing
        return Reading("differs" if too_many == miscount.words else "agrees", text)
    return silent("no tap's count of words differs from the flows'")


def _overflow(bound: Bound) -> Reading:
    view, device = bound.facts.view, bound.receiver
    entry = view.roles.rx.entry
    count = view.count(device, "overflow", entry)
    if count is None:
        return silent(f"what {device}'s full FIFO lost was not read")
    text, row = (
        f"{device} counted {amount(count, 'word')} lost at its full FIFO",
        view.count_row(device, "overflow", entry),
    )
    if bound.facts.overflowed(device):
        return Reading("lost", text, (row,))
    return (
        silent(f"{text}, with those from before the last arm")
        if count
        else Reading("kept", text, (row,))
    )


def _constant(bound: Bound) -> Reading:
    for sending in bound.case.sendings:
        account = sending.account
        if account.direction != bound.finding.direction or account.flow != bound.finding.flow:
            continue
        flat = sending.beyond_flat
        since_ps = min((start.departure.t_ps for start in flat), default=0)
        below = constant_below(bound.facts, account, since_ps)
        if below is None or not flat:
            return silent(f"{account.sender} was not seen waiting with credit left since then")
        worst = max(start.outstanding for start in flat) - (account.limit or 0)
        bound_ = f"where {account.sender} waited, a constant is below {below}"
        text = f"{amount(worst, 'word')} beyond the limit; {bound_}"
        return Reading("fits" if worst < below else "too-large", text)
    return silent("the sender's books of that flow were not read")


def _within(bound: Bound) -> Reading:
    account, finding = _account(bound), bound.finding
    sending = next((s for s in bound.case.sendings if s.account is account), None)
    if account is None or sending is None or sending.history is None or not sending.history.starts:
        return silent(f"what {bound.sender} had outstanding of flow {finding.flow} is not recorded")
    worst = max(start.outstanding for start in sending.history.starts)
    text = f"{account.sender} had up to {worst} words of flow {account.flow} outstanding, limit {account.limit}"
    return Reading("kept" if worst <= (account.limit or 0) else "beyond", text)


BOOKS: dict[str, Callable[[Bound], Reading]] = {
    "read_events": _read_events,
    "resumed": _resumed,
    "refusals": _refusals,
    "credits": _credits,
    "waiting": _waiting,
    "line": _line,
    "tap_count": _tap_count,
    "overflow": _overflow,
    "constant": _constant,
    "within": _within,
}
