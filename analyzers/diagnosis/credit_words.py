"""Credits that are wrong as the receiver sends them: credit-corrupted and credit-too-coarse.

credit-corrupted: one bit of a credit changed at the receiver, between parity generator and CRC.

The credit arrives with a good CRC and a bad parity, and the sender refuses it. What distinguishes it from a
lost credit (credit-lost): it arrived, and the parity counter says so.

credit-too-coarse: the receiver states what it has freed only in lumps of half a flow's credit or more.

Nothing is lost; the sender waits for credit although the receiver's FIFO is nearly empty. What distinguishes it from
congestion: the lumps themselves, and the level of the FIFO while the sender waits. A few large lumps among small
ones are credits that waited for the line, and healthy; a credit that leaves a line which has been free for long
waited for nothing but its lump, so that one of these says as much as a habit of the others.

Source: FORTH paper, section 4.3 (estimate of the free space); docs/formats.md section 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.contract import Evidence, Finding, Ground, Row
from freezeframe.analyzers.credits.ledger import FlowAccount, freed_of
from freezeframe.analyzers.diagnosis.fill import fifo_levels
from freezeframe.analyzers.diagnosis.withheld import free_since, withheld_credits
from freezeframe.analyzers.evidence import amount, cause_evidence
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.streams import EventLog
from freezeframe.capture.card.roles import EVENT_LOG

CREDIT_CORRUPTED = "credit-corrupted"


def corrupted_credits(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for every sender that refused a credit for its parity."""
    for sender, receiver in facts.view.directions:
        log = facts.view.logs.get(sender)
        if log is None:
            continue
        refused = log.select("CREDIT", "refused_parity")
        for position in refused.tolist():
            yield _refused(facts, sender, receiver, log, position)
        if not len(refused) and facts.view.roles.cause("bad-credit") in facts.view.causes(sender):
            yield _not_logged(facts, sender, receiver)


def _refused(facts: Facts, sender: str, receiver: str, log: EventLog, position: int) -> Finding:
    value = int(log.value[position])
    t_ps, unc_ps = log.when(position)
    rows: list[Row] = []
    match = _as_sent(facts, sender, receiver, value, t_ps, unc_ps)
    flow, ground = None, Ground.CONFIRMED
    if match is not None:
        sent_log, sent_at = match
        right = int(sent_log.value[sent_at])
        flow, ground = int(sent_log.flow[sent_at]), Ground.COMPARED
        bit = (right ^ value).bit_length() - 1
        rows.append(sent_log.row(sent_at, "credit as sent"))
        rows.append(log.row(position, "credit refused for its parity", right))
        how = f"it differs in bit {bit} from the credit that {receiver} sent for flow {flow}"
    else:
        flow = _sure_flow(facts, sender, receiver, int(log.flow[position]))
        rows.append(log.row(position, "credit refused for its parity"))
        how = f"its CRC was good, so it was damaged in {receiver} before the CRC was made"
    return Finding(
        diagnosis=CREDIT_CORRUPTED,
        text=(
            f"{sender} refused a credit from {receiver} (freed {freed_of(value)}) for its parity: "
            f"{how}. The next good credit of the flow makes up for it."
        ),
        device=receiver,
        direction=f"{sender}->{receiver}",
        flow=flow,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        ground=ground,
        evidence=(
            Evidence(f"{sender} logged the refusal; {how}.", sender, rows=tuple(rows)),
            *_counters(facts, sender),
            *cause_evidence(facts, sender),
        ),
    )


def _as_sent(
    facts: Facts, sender: str, receiver: str, value: int, t_ps: int, unc_ps: int | None
) -> tuple[EventLog, int] | None:
    """Return the credit that differs in one bit and was sent last before the refusal.

    One that the sender took is not the one it refused. None where credits of several flows are left.
    """
    log, sender_log = facts.view.logs.get(receiver), facts.view.logs.get(sender)
    if log is None or sender_log is None:
        return None
    taken = sender_log.select("CREDIT", "taken")
    told = {*zip(sender_log.flow[taken].tolist(), sender_log.value[taken].tolist(), strict=True)}
    near = [
        at
        for at in log.select("CREDIT", "sent").tolist()
        if (int(log.value[at]) ^ value).bit_count() == 1
        and (int(log.flow[at]), int(log.value[at])) not in told
    ]
    # A refusal is stamped by another clock: with the doubt of both it may seem early.
    doubt_ps = [int(log.t_unc_ps[at]) for at in near]
    known = unc_ps is not None and all(doubt >= 0 for doubt in doubt_ps)
    before = [
        at
        for at, doubt in zip(near, doubt_ps, strict=True)
        if not known or int(log.t_ps[at]) - doubt <= t_ps + (unc_ps or 0)
    ]
    return (log, before[-1]) if len({int(log.flow[at]) for at in before}) == 1 else None


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
    return Finding(
        diagnosis=CREDIT_CORRUPTED,
        text=(
            f"{sender} froze because a credit from {receiver} had bad parity; the credit itself is "
            f"not in its event log, so which flow it was for is not known."
        ),
        device=receiver,
        direction=f"{sender}->{receiver}",
        ground=Ground.INFERRED,
        evidence=(
            Evidence(
                f"{sender}: first cause {facts.view.roles.cause('bad-credit')} in bus cycle "
                f"{facts.view.cause_cycle(sender)}.",
                sender,
                rows=(facts.view.register_row(sender, "ctl.causes"),),
            ),
            *_counters(facts, sender),
        ),
    )


def _counters(facts: Facts, sender: str) -> tuple[Evidence, ...]:
    count = facts.view.count(sender, "bad-credit")
    if count is None:
        return ()
    return (
        Evidence(
            f"{sender} counted {amount(count, 'credit')} with bad parity.",
            sender,
            rows=(
                facts.view.count_row(sender, "bad-credit"),
                facts.view.count_row(sender, "credits-refused"),
            ),
        ),
    )


CREDIT_TOO_COARSE = "credit-too-coarse"
_LUMPS = 3  # fewer say nothing of a habit
_HELD = 2  # credits that were due before by the card's own unit
_EQUAL_LUMPS, _SPREAD_WORDS = 2, 8
_WAITS = 2
_HABIT = 2  # credits from a free line, where no wait is recorded
_FAR = 4  # times the unit that the card states: no delay makes that on a free line
_FREE_CYCLES = 64  # of the link, without a packet: far longer than a due credit needs to leave
_SHOWN = 4


@dataclass(frozen=True, slots=True)
class _Wait:
    """A time at which the sender was blocked, and how full the receiver's FIFO was then (None: not known)."""

    position: int
    t_ps: int
    level: int | None


def coarse_credits(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for every flow whose credits come in lumps while its sender waits for nothing."""
    for account in facts.accounts:
        lumps = _lumps(facts, account)
        if account.limit is None or not len(lumps):
            continue
        # What is freed between two credits was outstanding at once: a lump beyond the limit is a wrong count of freed.
        if int(lumps.max()) > account.limit:
            continue
        waits = _waits(facts, account)
        # By its own unit each of these was due earlier, on a free line, however full the FIFO was with other flows.
        held = [x for x in withheld_credits(facts, account) if 3 * x >= account.limit]
        by_unit = bool(waits) and len(held) >= _HELD
        depth = account.depth or 0
        seen = [wait for wait in waits if wait.level is not None]
        empty = [wait for wait in seen if 2 * (wait.level or 0) < depth]
        if seen and 2 * len(empty) <= len(seen) and not by_unit:
            continue
        unhurried = _unhurried(facts, account, lumps)
        needed = _waits_needed(lumps, account.limit, _longest(facts, account))
        by_size = needed is not None and len(empty) >= needed
        # What a wait was for is not known where the FIFO's level then is not: the credits themselves must tell.
        if by_size or by_unit or _by_habit(facts, account, lumps, unhurried, empty or waits):
            yield _finding(facts, account, lumps, empty or waits, unhurried, len(held))


def _by_habit(
    facts: Facts,
    account: FlowAccount,
    lumps: npt.NDArray[np.int64],
    unhurried: tuple[int, ...],
    empty: list[_Wait],
) -> bool:
    """Return whether credits that left a free line make a fault.

    One is enough beside a wait and other lumps, or far above the unit that the card states; two where the waits came
    before the log.
    """
    if not unhurried:
        return False
    if not empty:
        return len(unhurried) >= _HABIT and _waited_before(facts, account)
    unit = account.credit_unit
    return len(lumps) >= _EQUAL_LUMPS or (unit is not None and min(unhurried) >= _FAR * unit)


def _longest(facts: Facts, account: FlowAccount) -> int:
    """Return the words of the longest packet that the receiver's FIFO was seen to give out; 0 where none was."""
    stream = facts.view.stream(account.receiver, facts.view.roles.rx.exit)
    packets = stream.packets if stream is not None else ()
    return max((packet.end - packet.start for packet in packets), default=0)


def _waits_needed(lumps: npt.NDArray[np.int64], limit: int, longest: int) -> int | None:
    """Return how many waits of the sender make these lumps a fault, by their size alone; None: none do.

    A packet is freed as fast as it goes, and its credit leaves behind a packet of the other way: lumps of one packet,
    and of a short one beside it, are none.
    """
    if len(lumps) < _EQUAL_LUMPS:
        return None
    usual, small = int(np.median(lumps)), int(np.quantile(lumps, 0.25))
    if 2 * usual < limit or 3 * small < limit or usual <= longest + _SPREAD_WORDS:
        return None
    # A unit gives equal lumps; credits that waited for the line are of any size. Two may be equal for the packets that
    # kept it busy meanwhile.
    equal = int(lumps.max() - lumps.min()) <= _SPREAD_WORDS
    if len(lumps) < _LUMPS:
        return _WAITS if equal else None
    return 1 if equal else _WAITS


def _unhurried(facts: Facts, account: FlowAccount, lumps: npt.NDArray[np.int64]) -> tuple[int, ...]:
    """Return the lumps of half the limit and more, and of more than a packet, whose credit left a line long free.

    Nothing where a credit that followed another such one stated less: then the receiver's unit is finer.
    """
    log = facts.view.flow_log(account.receiver)
    if log is None or log.gaps or account.limit is None:
        return ()
    losses, positions = log.select("LOSS"), account.sent_credits.positions
    free, longest = _line_was_free(facts, log, positions, losses), _longest(facts, account)
    skipped = len(positions) - len(
        lumps
    )  # the first says nothing where what came before is not known
    unhurried = []
    for i, lump in enumerate(lumps.tolist(), skipped):
        before = int(positions[i - 1]) if i else -1
        if not free[i] or bool(((losses > before) & (losses < positions[i])).any()):
            continue
        if 2 * lump >= account.limit and lump > longest:
            unhurried.append(lump)
        elif i and free[i - 1]:
            return ()
    return tuple(unhurried)


def _line_was_free(
    facts: Facts,
    log: EventLog,
    positions: npt.NDArray[np.int64],
    losses: npt.NDArray[np.int64],
) -> list[bool]:
    """Return whether the transmitter had sent no packet for a while before each event, and nothing hides one."""
    states = log.select("STATE", "tx_link")
    least_ps = facts.view.cycles_ps(log.device, link=_FREE_CYCLES)
    free = []
    for at in positions.tolist():
        since = free_since(log, states, at)
        if since is None or bool(((losses > since) & (losses < at)).any()):
            free.append(False)
        else:
            free.append(int(log.t_ps[at]) - int(log.t_ps[since]) >= least_ps)
    return free


def _waited_before(facts: Facts, account: FlowAccount) -> bool:
    """Return whether the sender waited for credit before its event log begins."""
    capture = facts.view.device(account.sender)
    memory = capture.memories.get(EVENT_LOG) if capture is not None else None
    log = facts.view.flow_log(account.sender)
    if memory is None or not memory.wrapped or log is None or log.gaps:
        return False
    recorded = log.select("PRESSURE", "begin")
    return not len(recorded) and bool(facts.view.count(account.sender, "blocked-cycles"))


def _lumps(facts: Facts, account: FlowAccount) -> npt.NDArray[np.int64]:
    """Return how many words each credit stated more than the one before; the first, more than none.

    Flows begin at zero when the link starts, so that counts as the first only while the log reaches back to it.
    """
    freed = account.sent_credits.freed
    log = facts.view.flow_log(account.receiver)
    if account.modulus is None or log is None or not len(freed):
        return np.empty(0, np.int64)
    received = facts.view.value(account.receiver, "frozen_flow.words_received", account.flow)
    from_start = facts.view.value(account.receiver, "ctl.generation") == 1 and not log.gaps
    if (
        from_start
        and received is not None
        and received < account.modulus
        and _whole(facts, account)
    ):
        freed = np.concatenate([np.zeros(1, np.int64), freed])
    lumps: npt.NDArray[np.int64] = np.diff(freed) % account.modulus
    return lumps


def _whole(facts: Facts, account: FlowAccount) -> bool:
    """Return whether the receiver's event log holds everything since it was armed."""
    capture = facts.view.device(account.receiver)
    memory = capture.memories.get(EVENT_LOG) if capture is not None else None
    return memory is not None and not memory.wrapped


def _waits(facts: Facts, account: FlowAccount) -> list[_Wait]:
    log = facts.view.flow_log(account.sender)
    if log is None:
        return []
    begins = log.select("PRESSURE", "begin", flow=account.flow)
    levels = fifo_levels(facts, account.sender, account.receiver, log.t_ps[begins])
    return [
        _Wait(int(at), int(log.t_ps[at]), level)
        for at, level in zip(begins.tolist(), levels, strict=True)
    ]


def _finding(
    facts: Facts,
    account: FlowAccount,
    lumps: npt.NDArray[np.int64],
    waits: list[_Wait],
    unhurried: tuple[int, ...],
    held: int,
) -> Finding:
    log = facts.view.logs[account.receiver]
    sender_log = facts.view.logs[account.sender]
    usual = int(np.median(lumps))
    levels = [wait.level for wait in waits if wait.level is not None]
    fill = ""
    if levels:
        span = " to ".join(str(level) for level in dict.fromkeys((min(levels), max(levels))))
        fill = f" while {account.receiver}'s FIFO of {account.depth} words held {span}"
    credit_rows = [
        log.row(int(at), "credit sent") for at in account.sent_credits.positions[: _SHOWN + 1]
    ]
    wait_rows: list[Row] = [
        sender_log.row(wait.position, "waits for credit"
                       + ("" if wait.level is None else f", {wait.level} words in the FIFO"))
        for wait in waits[:_SHOWN]
    ]  # fmt: skip
    t_ps, unc_ps = sender_log.when(waits[0].position) if waits else (None, None)
    waited = (
        f"waited for credit {'once' if len(waits) == 1 else f'{len(waits)} times'}{fill}"
        if waits
        else "waited for credit before its log begins"
    )
    blocked = f"{account.sender} was blocked{fill}." if waits else f"{account.sender} {waited}."
    from_free = (
        f" {len(unhurried)} of them left a line that had been free for {_FREE_CYCLES} cycles and more, "
        f"{min(unhurried)} to {max(unhurried)} words after the one before."
        if unhurried
        else ""
    )
    if held:
        from_free += f" {held} of them were due before by its unit, and left a free line only with a later word."
    unit = "" if account.credit_unit is None else f"; its register says {account.credit_unit}"
    return Finding(
        diagnosis=CREDIT_TOO_COARSE,
        text=(
            f"{account.receiver} returns the credit of flow {account.flow} in lumps of {usual} words{unit}, "
            f"where {account.sender} may have {account.limit} outstanding; {account.sender} {waited}."
        ),
        device=account.receiver,
        direction=account.direction,
        flow=account.flow,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        ground=Ground.CONFIRMED if levels else Ground.ELIMINATED if waits else Ground.LITTLE,
        evidence=(
            Evidence(
                f"{amount(len(account.sent_credits), 'credit')} of flow {account.flow}, {int(lumps.min())} to "
                f"{int(lumps.max())} words apart.{from_free}",
                account.receiver,
                EVENT_LOG,
                tuple(credit_rows),
            ),
            Evidence(
                blocked,
                account.sender,
                EVENT_LOG,
                tuple(wait_rows) or (facts.view.count_row(account.sender, "blocked-cycles"),),
            ),
        ),
    )
