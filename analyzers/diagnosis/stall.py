"""Senders that wait for credit, and credit-lost.

A sender that waits for credit: were credits lost on their way, or is the receiver merely slow?

A credit is lost when the receiver sent it, the sender had time to take it (as long as other credits
needed in this capture), and it took neither this credit nor any later one of the flow. One lost credit
among others heals itself: the next states the same count and more.

credit-lost: from some cycle on every credit of a flow is lost at the receiver's output.

The sender stalls although the receiver's FIFO is empty and the receiver freed more than the sender was
credited. What distinguishes it from a host that stopped receiving (healthy): there freed and credited agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from freezeframe.analyzers.contract import Evidence, Finding, Ground, Row
from freezeframe.analyzers.credits.ledger import FlowAccount
from freezeframe.analyzers.diagnosis.overflow import sender_rows
from freezeframe.analyzers.diagnosis.standstill import words_since
from freezeframe.analyzers.diagnosis.withheld import left_ps
from freezeframe.analyzers.evidence import amount, cause_evidence
from freezeframe.analyzers.facts import Facts, covers, doubt_ps, flight_ps
from freezeframe.analyzers.streams import EventLog
from freezeframe.capture.registers.layouts import MachineState
from freezeframe.capture.time_text import format_ps

SAID_FLOWS = 32
"""Flows of which ``frozen.stalled_flows`` says whether they wait."""

Verdict = Literal["lost", "healthy", "contradicted", "unknown"]


@dataclass(frozen=True, slots=True)
class Stall:
    """What is known of one flow that waits for credit, or lost some.

    ``waits``: the sender was waiting at the freeze. ``t_ps``: first lost credit, or since when the
    sender waits. ``text``, ``rows`` say why the verdict is what it is;
    ``candidates`` what fits where it is unknown.
    """

    account: FlowAccount
    verdict: Verdict
    waits: bool
    t_ps: int | None
    t_unc_ps: int | None
    text: str
    rows: tuple[Row, ...]
    candidates: tuple[str, ...] = ()


def stalls(facts: Facts) -> Iterator[Stall]:
    """Yield the stalls of all flows: those the sender waits on, and those that lost credits."""
    for account in facts.accounts:
        waits = _waits(facts, account)
        lost = _lost_in_logs(facts, account) or (waits and _lost_in_banks(facts, account)) or None
        if lost is not None:
            yield lost
        elif waits:
            yield _not_lost(facts, account)


def _waits(facts: Facts, account: FlowAccount) -> bool:
    """Return whether the sender waited on this flow beyond the limit when it froze."""
    view, sender = facts.view, account.sender
    if view.roles.cause("no-credit") not in view.causes(sender):
        return False
    stalled = view.value(sender, "frozen.stalled_flows")
    if stalled is not None and account.flow < SAID_FLOWS and stalled >> account.flow & 1:
        return True
    log = view.flow_log(sender)
    if log is None:
        return False
    # The sender may have gone on between the cause and the end of the recording.
    begins = log.select("PRESSURE", "begin", flow=account.flow)
    ends = log.select("PRESSURE", "end", flow=account.flow)
    cause_ps = facts.caused(sender)[0]
    if cause_ps is None:
        return False
    begun = int((log.t_ps[begins] <= cause_ps).sum())
    ended = int((log.t_ps[ends] <= cause_ps).sum())
    last_begin = int(log.t_ps[begins[begun - 1]]) if begun else None
    last_end = int(log.t_ps[ends[ended - 1]]) if ended else None
    if last_begin is not None or last_end is not None:
        return last_begin is not None and (last_end is None or last_begin > last_end)
    # The log may begin within the wait: then what comes first of the flow is its end.
    return len(ends) > 0 and (not len(begins) or int(ends[0]) < int(begins[0]))


def _lost_in_logs(facts: Facts, account: FlowAccount) -> Stall | None:
    """Return the stall when the logs show credits that were sent and, from one on, never taken."""
    sent, taken = account.sent_credits, account.taken_credits
    sender_log = facts.view.flow_log(account.sender)
    receiver_log = facts.view.flow_log(account.receiver)
    if sender_log is None or receiver_log is None or not len(sent) or not len(sender_log):
        return None
    if account.modulus is None or sender_log.gaps:
        return None
    flight, doubt = flight_ps(facts, account), doubt_ps(facts, account)
    if flight is None or doubt is None:
        return None
    end_ps = int(sender_log.t_ps[-1]) - flight
    due = sent.t_ps <= end_ps
    if not due.any():
        return None
    last = int(taken.freed[-1]) if len(taken) else account.credited
    if last is None or account.credited not in (None, last):
        return None  # it took more after its log had closed
    missing = np.flatnonzero(due & (sent.t_ps > _quiet_ps(account, sender_log) + doubt))
    if not len(missing):
        return None
    since_ps = int(sent.t_ps[missing[0]])
    if _lost_events(facts, account.sender, since_ps) or _refused(facts, account.sender, since_ps):
        return None
    first = int(sent.positions[missing[0]])
    last_freed = int(sent.freed[missing[-1]])
    rows = [
        receiver_log.row(int(sent.positions[i]), "credit sent, never taken") for i in missing[:4]
    ]
    if len(taken):
        rows.insert(0, sender_log.row(int(taken.positions[-1]), "last credit taken"))
    text = (
        f"{account.receiver} sent {amount(len(missing), 'credit')} of flow {account.flow} (up to freed "
        f"{last_freed}) that {account.sender} had time to "
        f"take and did not; the last it took tells {last}, {amount((last_freed - last) % account.modulus, 'word')} "
        "less."
    )
    t_ps, unc_ps = receiver_log.when(first)
    return Stall(
        account,
        "lost",
        _waits(facts, account),
        t_ps,
        unc_ps,
        text,
        (*rows, *_bank_rows(facts, account)),
    )


def _quiet_ps(account: FlowAccount, log: EventLog) -> int:
    """Return since when the sender took no credit of a flow: its last, or where its log begins."""
    taken = account.taken_credits
    return int(taken.t_ps[-1]) if len(taken) else int(log.t_ps[0])


def _lost_events(facts: Facts, device: str, since_ps: int) -> bool:
    """Return whether an event log lost events since a time; then an absence proves nothing."""
    log = facts.view.logs[device]
    losses = log.select("LOSS")
    return bool((log.t_ps[losses] >= since_ps).any())


def _refused(facts: Facts, device: str, since_ps: int) -> bool:
    """Return whether credits arrived since a time, and were refused: then they were not lost."""
    log = facts.view.logs[device]
    refused = log.select("CREDIT", "refused_parity", "refused_crc")
    return bool((log.t_ps[refused] >= since_ps).any())


def _lost_in_banks(facts: Facts, account: FlowAccount) -> Stall | None:
    """Return the stall when only the freeze banks remember that credits were lost.

    The logs may have been overwritten while the sender waited. The receiver had freed everything
    and said so, long before the freeze, and the sender never heard it.
    """
    if account.reported is None or account.credited is None or account.modulus is None:
        return None
    withheld = (account.reported - account.credited) % account.modulus
    if not withheld or account.waiting != 0 or withheld > account.modulus // 2:
        return None
    if account.credit_unit is not None and withheld < account.credit_unit:
        return None
    cause_ps, flight = facts.caused(account.sender)[0], flight_ps(facts, account)
    if cause_ps is None or flight is None or not _none_refused(facts, account):
        return None
    if not _long_enough(facts, account, cause_ps, flight):
        return None  # the receiver's bank is of a later time than the wait
    due_ps = cause_ps - flight
    if not covers(facts, account.receiver, due_ps) or not _none_moved(facts, account, due_ps):
        return None
    if not _freed_before_closed(facts, account):
        return None  # what the receiver's bank tells may have come since
    if (account.sent_credits.t_ps > due_ps).any():
        return None  # it went on after the freeze of the sender, whose bank is older
    stalled = facts.view.value(account.sender, "frozen.stalled_flows") or 0
    if not stalled >> account.flow & 1:
        return None
    text = (
        f"{account.receiver} has freed all {account.freed} words of flow {account.flow} and told "
        f"so, {account.sender} was credited "
        f"{account.credited}: {amount(withheld, 'word')} less; nothing of the flow moved at "
        f"{account.receiver} any more."
    )
    return Stall(account, "lost", True, cause_ps, None, text, _bank_rows(facts, account))


def _none_moved(
    facts: Facts, account: FlowAccount, since_ps: int, until_ps: int | None = None
) -> bool:
    """Return whether the receiver's last tap shows that nothing of a flow left its FIFO since a time, or until one."""
    tap = facts.view.roles.rx.exit
    stream = facts.view.stream(account.receiver, tap)
    if stream is None or stream.breaks or bool((stream.t_unc_ps < 0).any()):
        return False
    if stream.end_ps is None or stream.end_ps < since_ps:
        return False
    capture = facts.view.device(account.receiver)
    memory = capture.memories.get(tap) if capture is not None else None
    if memory is None or memory.gaps:
        return False
    if memory.wrapped and (not len(stream) or int(stream.t_ps[0]) > since_ps):
        return False
    if until_ps is not None and stream.end_ps < until_ps:
        return False
    return all(
        int(stream.t_ps[packet.end - 1]) <= since_ps
        or (until_ps is not None and int(stream.t_ps[packet.start]) > until_ps)
        for packet in stream.packets
        if packet.flow == account.flow or packet.header_ok is not True
    )


def _freed_before_closed(facts: Facts, account: FlowAccount) -> bool:
    """Return whether all that a receiver freed of a flow is known to have left its FIFO before its last tap closed."""
    tap = facts.view.roles.rx.exit
    if facts.view.since_closed(account.receiver, tap) in (0, None):
        return True
    stream, device = facts.view.stream(account.receiver, tap), facts.view.device(account.receiver)
    if (
        stream is None
        or device is None
        or facts.view.value(account.receiver, "ctl.generation") != 1
    ):
        return True
    # Where the memory holds all since power-up, the words that it holds of the flow are those that left before.
    held = sum(
        p.end - p.start for p in stream.packets if p.flow == account.flow or p.header_ok is not True
    )
    return device.memories[tap].wrapped or held % (account.modulus or 1) >= (account.freed or 0)


def _none_refused(facts: Facts, account: FlowAccount) -> bool:
    """Return whether it is known that no credit was refused since the last one of a flow was taken.

    The counter goes on over re-arms: what it counted before may be of an earlier recording.
    """
    if facts.view.count(account.sender, "credits-refused") == 0:
        return True
    taken = account.taken_credits
    since_ps = int(taken.t_ps[-1]) if len(taken) else None
    if not covers(facts, account.sender, since_ps):
        return False
    log = facts.view.logs[account.sender]
    return not _refused(facts, account.sender, int(log.t_ps[0]) if since_ps is None else since_ps)


def _not_lost(facts: Facts, account: FlowAccount) -> Stall:
    cause_ps = facts.caused(account.sender)[0]
    rows = _bank_rows(facts, account)
    if account.freed is None or account.credited is None:
        text = (
            f"{account.sender} waited for credit of flow {account.flow} beyond its limit; whether "
            f"{account.receiver} was slow or "
            f"credits were lost only {account.receiver}'s recording can say."
        )
        fitting = ("credit-lost", "header-miscounted", "none")
        return Stall(account, "unknown", True, cause_ps, None, text, rows, fitting)
    reason = _receiver_was_slow(facts, account, cause_ps)
    if reason is not None:
        return Stall(account, "healthy", True, cause_ps, None, reason, rows)
    level = facts.view.value(account.receiver, f"frozen.{facts.view.roles.rx.level}")
    if account.waiting and _not_in_fifo(facts, account, level):
        text = f"{account.sender} waited for credit of flow {account.flow} beyond its limit. "
        text += _contradiction(facts, account, level)
        return Stall(account, "contradicted", True, cause_ps, None, text, rows)
    ended_ps, flight = _ended_ps(facts, account, cause_ps), flight_ps(facts, account)
    if (
        ended_ps is not None
        and cause_ps is not None
        and covers(facts, account.receiver, cause_ps - (flight or 0))
    ):
        text = (
            f"{account.sender} waited for credit of flow {account.flow} until it came, "
            f"{format_ps(ended_ps - cause_ps)} after the cause; no credit that {account.receiver} logged as sent "
            "is missing: healthy."
        )
        return Stall(account, "healthy", True, cause_ps, None, text, rows)
    text = (
        f"{account.sender} waited for credit of flow {account.flow} beyond its limit although "
        f"{account.receiver}'s incoming FIFO "
        f"holds nothing of it, and no credit is known to be lost."
    )
    candidates: tuple[str, ...] = ("header-miscounted", "credit-lost")
    if flight is None:
        text += " Nothing was seen to arrive, so how long a credit takes is not known."
        candidates = ("credit-lost", "header-miscounted", "none")
    elif not _long_enough(facts, account, cause_ps, flight):
        text += f" It waited no longer than a credit may take, {format_ps(flight)}."
        candidates = ("credit-lost", "header-miscounted", "none")
    return Stall(account, "unknown", True, cause_ps, None, text, rows, candidates)


def _ended_ps(facts: Facts, account: FlowAccount, cause_ps: int | None) -> int | None:
    """Return when a wait ended after its cause, where every credit logged as sent was taken till then.

    None where it did not end, or a log that lost events may hide a credit.
    """
    sender, receiver = (facts.view.flow_log(end) for end in (account.sender, account.receiver))
    if sender is None or receiver is None or cause_ps is None or sender.gaps or receiver.gaps:
        return None
    ends = sender.select("PRESSURE", "end", flow=account.flow)
    after = sender.t_ps[ends[sender.t_ps[ends] > cause_ps]]
    if not len(after) or len(sender.select("LOSS")) or len(receiver.select("LOSS")):
        return None
    taken = {*account.taken_credits.freed.tolist()}
    told = [freed in taken for freed in account.sent_credits.freed.tolist()]
    last = max((place for place, came in enumerate(told) if came), default=-1)
    first = min((place for place, came in enumerate(told) if came), default=0)
    return int(after[0]) if all(told[first : last + 1]) else None


def _contradiction(facts: Facts, account: FlowAccount, level: int | None) -> str:
    """Return how a receiver's books and its FIFO contradict each other, in a sentence."""
    receiver, waiting, modulus = account.receiver, account.waiting or 0, account.modulus or 0
    last = _last_out(facts, receiver)
    if waiting > max(account.depth or 0, modulus // 2):
        return (
            f"{receiver}'s books say that it freed {modulus - waiting} words of it more than it received: one of the "
            f"two counts is wrong (frozen.{facts.view.roles.rx.level} {level}){last}."
        )
    return (
        f"{receiver}'s books say that {waiting} words of it wait in its incoming FIFO, and its level register says "
        f"{level}: {receiver} received them, they are not there, and it did not count them as freed{last}."
    )


def _long_enough(facts: Facts, account: FlowAccount, cause_ps: int | None, flight: int) -> bool:
    """Return whether the sender waited longer than any credit on its way would have needed."""
    log = facts.view.flow_log(account.sender)
    if log is None or cause_ps is None:
        return False
    limit = facts.view.value(account.sender, "ctl.stall_limit")
    if limit is not None and facts.view.cycles_ps(account.sender, link=limit) <= flight:
        return False
    return cause_ps - _quiet_ps(account, log) > flight


def _receiver_was_slow(facts: Facts, account: FlowAccount, cause_ps: int | None) -> str | None:
    """Return how it is seen that the receiver had not freed what it was sent; None when it is not."""
    view, receiver, flow = facts.view, account.receiver, account.flow
    start = f"{account.sender} waited for credit of flow {flow} because {receiver} "
    level = view.value(receiver, f"frozen.{view.roles.rx.level}")
    register = f"frozen.{view.roles.rx.level} {level}" if level is not None else "its books"
    since = _last_out(facts, receiver)
    if account.waiting:
        if _not_in_fifo(facts, account, level):
            return None
        waiting = amount(account.waiting, "word")
        return (
            f"{start}had not taken {waiting} out of its incoming FIFO ({register}){since}: healthy."
        )
    if level and account.waiting is None:
        return (
            f"{start}had {amount(level, 'word')} in its incoming FIFO ({register}){since}: healthy."
        )
    log = view.flow_log(receiver)
    if log is not None and cause_ps is not None:
        # It may have gone on receiving between the cause and the end of the recording.
        stopped = _stopped_at(log.select("STATE", "rx_dma"), log.value, log.t_ps, cause_ps)
        if stopped:
            return f"{start}had stopped its receive DMA (state stopped in its log){since}: healthy."
        flight = flight_ps(facts, account)
        if flight is None or not _long_enough(facts, account, cause_ps, flight):
            return None  # its credits may be on their way
        resumed = account.sent_credits.t_ps > cause_ps - flight
        if resumed.any():
            return start + "freed nothing for that long; its next credits are in the log: healthy."
        if _all_told(facts, account, cause_ps, cause_ps - flight) or _freed_later(
            facts, account, cause_ps - flight
        ):
            return f"{start}freed nothing for that long, and all of it before the freeze: healthy."
    return None


def _all_told(facts: Facts, account: FlowAccount, cause_ps: int, due_ps: int) -> bool:
    """Return whether the sender had been told by then of all that had left the receiver's FIFO a flight before.

    Whatever became of the wait later: what the receiver had freed by its freeze, less what left its FIFO since. Some
    must have left since, or the sender waits for words that the receiver never had.
    """
    tap = facts.view.roles.rx.exit
    stream, doubt = facts.view.stream(account.receiver, tap), doubt_ps(facts, account)
    taken, modulus = account.taken_credits, account.modulus
    told = taken.freed[taken.t_ps <= cause_ps]
    if stream is None or doubt is None or account.freed is None or not modulus or not len(told):
        return False
    if not len(stream) or stream.breaks or bool((stream.t_unc_ps < 0).any()):
        return False
    if int(stream.t_ps[0]) > due_ps or any(
        packet.header_ok is not True and int(stream.t_ps[packet.end - 1]) > due_ps
        for packet in stream.packets
    ):
        return False  # it does not reach back, or holds words whose flow is not sure
    later = int((left_ps(stream, account.flow) > due_ps + doubt).sum())
    more = (account.freed - later - int(told[-1])) % modulus
    return later > 0 and (more == 0 or more > modulus // 2)


def _freed_later(facts: Facts, account: FlowAccount, due_ps: int) -> bool:
    """Return whether the receiver had freed nothing of what was waited for by then, and all of it by its freeze."""
    stalled = facts.view.value(account.sender, "frozen.stalled_flows")
    if stalled is None or account.flow >= SAID_FLOWS or account.waiting != 0:
        return False
    if stalled >> account.flow & 1:
        return _last_freed_after(facts, account, due_ps)
    if account.credited is None or account.credited != account.freed:
        return False
    log = facts.view.flow_log(account.sender)
    begins = [] if log is None else log.select("PRESSURE", "begin", flow=account.flow).tolist()
    if log is None or not begins:
        return False
    # The words that it waited for were on their way to the receiver when the wait began.
    since_ps = int(log.t_ps[begins[-1]])
    return since_ps < due_ps and _none_moved(facts, account, since_ps, due_ps)


def _last_freed_after(facts: Facts, account: FlowAccount, due_ps: int) -> bool:
    """Return whether all words that the sender was not credited left the receiver's FIFO after a time."""
    tap = facts.view.roles.rx.exit
    stream, doubt = facts.view.stream(account.receiver, tap), doubt_ps(facts, account)
    if stream is None or doubt is None or not account.withheld:
        return False
    times = left_ps(stream, account.flow)
    before = int((times <= due_ps + doubt).sum())
    if len(times) - before >= account.withheld:
        return True
    # The last may have left when the memory had closed: then by all that left before, where it holds that.
    capture = facts.view.device(account.receiver)
    memory = capture.memories.get(tap) if capture is not None else None
    after = words_since(facts, account.receiver, tap)
    if memory is None or memory.wrapped or stream.breaks or after is None or account.freed is None:
        return False
    whole = account.freed - len(times) <= after and all(p.header_ok is True for p in stream.packets)
    return whole and before <= (account.credited or 0)


_LEVEL_LATE_WORDS = 8  # of a level that words move through


def _not_in_fifo(facts: Facts, account: FlowAccount, level: int | None) -> bool:
    """Return whether the receiver's books say that more words wait in its FIFO than its level has."""
    return level is not None and (account.waiting or 0) > level + _LEVEL_LATE_WORDS


def _last_out(facts: Facts, receiver: str) -> str:
    """Return since when nothing left the receiver's FIFO, in words; empty where that is not recorded."""
    stream = facts.view.stream(receiver, facts.view.roles.rx.exit)
    if stream is None or not len(stream):
        return ""
    t_ps, _ = stream.when(len(stream) - 1)
    return f", where the last word left it at {format_ps(t_ps)}"


def _stopped_at(
    positions: np.ndarray[tuple[int], np.dtype[np.int64]],
    value: np.ndarray[tuple[int], np.dtype[np.int64]],
    t_ps: np.ndarray[tuple[int], np.dtype[np.int64]],
    at_ps: int,
) -> bool:
    before = positions[t_ps[positions] <= at_ps]
    if len(before):
        return int(value[before[-1]]) & 0xFF == MachineState.STOPPED
    return bool(len(positions)) and int(value[positions[0]]) >> 8 & 0xFF == MachineState.STOPPED


def _bank_rows(facts: Facts, account: FlowAccount) -> tuple[Row, ...]:
    view, receiver = facts.view, account.receiver
    freed = (f"frozen_flow.{name}" for name in ("received", "freed", "reported"))
    return (
        *sender_rows(facts, account),
        *view.register_rows(receiver, freed, account.flow),
        *view.register_rows(receiver, [f"frozen.{view.roles.rx.level}"]),
    )


CREDIT_LOST = "credit-lost"


def lost_credits(facts: Facts, stalls: list[Stall]) -> Iterator[Finding]:
    """Yield a finding for every flow whose credits stopped arriving."""
    for stall in stalls:
        if stall.verdict != "lost":
            continue
        account = stall.account
        waits = f" {account.sender} waits for them since." if stall.waits else ""
        yield Finding(
            diagnosis=CREDIT_LOST,
            text=f"{stall.text}{waits} Credits of flow {account.flow} are lost at {account.receiver}'s output.",
            device=account.receiver,
            direction=account.direction,
            flow=account.flow,
            t_ps=stall.t_ps,
            t_uncertainty_ps=stall.t_unc_ps,
            ground=Ground.COMPARED if stall.waits else Ground.INFERRED,
            evidence=(
                Evidence(stall.text, account.receiver, rows=stall.rows),
                *cause_evidence(facts, account.sender),
            ),
        )
