"""Symptoms that no diagnosis accounts for, each with the names of docs/diagnosis.md that would fit.

A capture with such a symptom gets the finding ``undetermined``: what is seen, what fits it, and what
would have to be recorded to tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from freezeframe.analyzers.card.names import NONE_KNOWN
from freezeframe.analyzers.contract import UNDETERMINED, Evidence, Finding, Ground
from freezeframe.analyzers.credits.ledger import described_flows
from freezeframe.analyzers.diagnosis.clock_drift import drifts
from freezeframe.analyzers.diagnosis.fill import overflowed_at
from freezeframe.analyzers.diagnosis.lanes import steady_damage
from freezeframe.analyzers.diagnosis.link_damage import LinkDamage
from freezeframe.analyzers.diagnosis.overflow import (
    Sending,
    overflow_evidence,
    sender_rows,
    suffered,
)
from freezeframe.analyzers.diagnosis.stall import SAID_FLOWS, Stall
from freezeframe.analyzers.diagnosis.whole_packets import numbers_broken, packets_moved
from freezeframe.analyzers.evidence import (
    amount,
    cause_evidence,
    neighbourhood,
    place_of_pair,
    verdict_text,
)
from freezeframe.analyzers.facts import LINK, SENDER_FIFO, Facts
from freezeframe.analyzers.streams import Packet
from freezeframe.analyzers.taps.align import Op
from freezeframe.analyzers.taps.tap_diff import PacketPair, SegmentDiff
from freezeframe.analyzers.view import CaptureView, end_name

_OVERFLOW = (
    "wrap-unhandled",
    "credit-start-too-large",
    "credit-too-optimistic",
    "header-miscounted",
)
_ON_LINK = (
    "payload-bit-flip",
    "header-corrupted",
    "sync-fifo-empty",
    "lane-misaligned",
    "clock-drift",
)
# What a cause means, and the diagnoses that bring it about.
_BY_MEANING: dict[str, tuple[str, ...]] = {
    "bad-header": ("header-corrupted", "lane-misaligned", "sync-fifo-empty", "clock-drift"),
    "bad-payload": (
        "payload-bit-flip",
        "word-omitted",
        "word-duplicated",
        "sync-fifo-empty",
        "lane-misaligned",
        "clock-drift",
    ),
    "bad-length": ("word-omitted", "word-duplicated", "split-retry-mishandled"),
    "out-of-sequence": (),
    "lane-underflow": ("sync-fifo-empty", "clock-drift"),
}


def undetermined(view: CaptureView, symptom: Finding) -> Finding:
    """Return a symptom that also says what would have to be recorded to know its cause."""
    return replace(symptom, text=" ".join([symptom.text, *_missing(view)]))


def _missing(view: CaptureView) -> Iterator[str]:
    """Yield what would have to be pulled to know more."""
    if view.incomplete:
        yield (
            f"The capture is incomplete: {', '.join(view.incomplete)} could not be read throughout. "
            "While the devices are still frozen, pull again."
        )
    for device in view.names:
        peer = view.peer(device)
        if view.roles.card.peer_cause in view.causes(device) and (
            peer is None or view.device(peer) is None
        ):
            yield (
                f"Why {end_name(peer)} froze stands in its own registers and memories: pull both ends into one "
                "capture."
            )


def symptoms(
    facts: Facts,
    damages: Sequence[LinkDamage],
    stalls: Sequence[Stall],
    sendings: Sequence[Sending],
) -> Iterator[Finding]:
    """Yield what is wrong, the most telling first; asked only when nothing could be named."""
    yield from _overflows(facts, sendings)
    yield from _differences(facts, damages)
    yield from _bad_packets(facts)
    yield from numbers_broken(facts)
    yield from _otherwise_described(facts)
    yield from _counted_bad(facts)
    for stall in stalls:
        if stall.verdict in ("unknown", "contradicted"):
            yield _stall(facts, stall)
    for device in facts.view.names:
        known = {stall.account.sender for stall in stalls}
        stall_cause = facts.view.roles.cause("no-credit")
        froze = stall_cause in facts.view.causes(device)
        if froze and device not in known and not _wait_was_over(facts, device):
            yield _unseen(facts, device, stall_cause, ("credit-lost", "header-miscounted", "none"))
    yield from _causes(facts)


def _wait_was_over(facts: Facts, device: str) -> bool:
    """Tell whether a sender that froze for want of credit went on since, and the books of both ends agree.

    Words that are counted wrong are still missing when it stands still; so are credits that are lost for good, and the
    flow still waits for them. The card says so of its first flows; of the others the books have to.
    """
    if facts.view.value(device, "frozen.stalled_flows") != 0:
        return False
    ways, peer = facts.view.roles, facts.view.peer(device) or ""
    left = facts.view.count(device, "words", ways.tx.exit)
    came = facts.view.count(peer, "words", ways.rx.entry)
    on_the_way = 0
    for account in facts.accounts:
        told, way, limit = account.untold, account.on_the_way, account.limit
        if account.sender != device:
            continue
        if told is None or way is None or limit is None:
            return False
        if account.flow >= SAID_FLOWS and told > limit // 2:
            return False
        if None in (left, came) and way > limit // 2:
            return False  # a long line holds more, and only what left and came says so
        on_the_way += way
    return left is None or came is None or left - came == on_the_way


def _overflows(facts: Facts, sendings: Sequence[Sending]) -> Iterator[Finding]:
    for sender, receiver in facts.view.directions:
        mine = [s for s in sendings if s.account.direction == f"{sender}->{receiver}"]
        flat = [s for s in mine if s.beyond_flat and suffered(facts, s.account)]
        if not facts.overflowed(receiver) and not flat:
            continue
        evidence = overflow_evidence(facts, receiver) + cause_evidence(facts, receiver)
        candidates: tuple[str, ...] = _OVERFLOW
        flow = None
        if flat:
            account, worst = flat[0].account, max(s.outstanding for s in flat[0].beyond_flat)
            flow = account.flow
            candidates = ("credit-too-optimistic",)
            text = (
                f"{sender} had up to {worst} words of flow {flow} outstanding where "
                f"{account.limit} are "
                f"allowed, and not only across a wrap of its counters."
            )
            evidence = (
                Evidence(text, sender, facts.view.roles.tx.exit, sender_rows(facts, account)),
                *evidence,
            )
        elif (held := overflowed_at(facts, sender, receiver)) is not None:
            yield _too_shallow(facts, sender, receiver, held, evidence)
            continue
        elif facts.view.device(sender) is None:
            text = (
                f"{receiver}'s incoming FIFO overflowed; which of the reasons it was, only the "
                "books "
                f"of {sender} can say."
            )
        else:
            # What is counted back from the freeze may begin after the wrap.
            if mine and all(s.history and s.history.anchors and not s.beyond_wrap for s in mine):
                candidates = ("header-miscounted", "credit-too-optimistic")
            text = (
                f"{receiver}'s incoming FIFO overflowed, and as far as the recording reaches back "
                f"{sender} did nothing that explains it."
            )
        if not evidence:
            continue
        yield Finding(
            UNDETERMINED,
            text,
            sender,
            direction=f"{sender}->{receiver}",
            flow=flow,
            candidates=candidates,
            evidence=evidence,
        )


def _too_shallow(
    facts: Facts, sender: str, receiver: str, held: int, evidence: tuple[Evidence, ...]
) -> Finding:
    capture = facts.view.device(receiver)
    depth = capture.identity.rx_fifo if capture is not None else None
    t_ps, unc_ps = facts.caused(receiver)
    return Finding(
        NONE_KNOWN,
        f"{receiver}'s incoming FIFO overflowed with {amount(held, 'word')} in it at most, by its two taps, where it "
        f"holds {depth}: it is shallower than its register says, or takes itself for full too early. {sender} did not "
        "send too much.",
        receiver,
        direction=f"{sender}->{receiver}",
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        evidence=evidence,
        ground=Ground.COMPARED,
        falsifier=f"It would be wrong if words had left the FIFO that {receiver}'s taps did not record.",
    )


def _differences(facts: Facts, damages: Sequence[LinkDamage]) -> Iterator[Finding]:
    for sender, receiver, stretch, diff in facts.differences():
        if stretch >= LINK and facts.overflowed(receiver):
            continue  # words that found the FIFO full are missing
        damage = next((d for d in damages if d.diff is diff), None)
        if diff.differing:
            yield _differs(facts, receiver, stretch, diff, damage)
        yield from packets_moved(facts, sender, receiver, stretch)


def _differs(
    facts: Facts, receiver: str, stretch: int, diff: SegmentDiff, damage: LinkDamage | None
) -> Finding:
    pair = diff.differing[0]
    edit = pair.edits[0]
    place = place_of_pair(pair)
    words = sum(len(p.edits) for p in diff.differing)
    steady = _steady(damage)
    fitting = () if steady else _fitting(stretch, pair, damage)
    how = "which does not decide what it was" if fitting else "in a way that no known fault makes"
    how += f": {steady}" if steady else ""
    at = min(pair.down.start + edit.down, pair.down.end - 1)
    t_ps, unc_ps = diff.down.when(at)
    return Finding(
        diagnosis=NONE_KNOWN if steady else UNDETERMINED,
        text=(
            f"{diff.up.source} and {diff.down.source} differ in {amount(words, 'word')} of "
            f"{amount(len(diff.differing), 'packet')}, first in packet "
            f"{place.packet}, {how}."
        ),
        candidates=fitting,
        evidence=(
            Evidence(
                "The first difference, upstream and downstream.",
                diff.down.device,
                diff.down.tap,
                neighbourhood(diff, pair, edit),
            ),
            *cause_evidence(facts, receiver),
        ),
        device=diff.down.device,
        tap=diff.down.tap,
        direction=diff.direction,
        flow=place.flow,
        packet=place.packet,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
    )


def _steady(damage: LinkDamage | None) -> str:
    if damage is None or not damage.differ.size:
        return ""
    return steady_damage(damage.words.up, damage.words.down, int(damage.differ[0]), damage.bonded)


def _fitting(stretch: int, pair: PacketPair, damage: LinkDamage | None) -> tuple[str, ...]:
    """Return the names that fit a difference; of a packet of which a part is missing, all it may have been."""
    ops = {edit.op for edit in pair.edits}
    partly = any((pair.up.cut_start, pair.up.cut_end, pair.down.cut_start, pair.down.cut_end))
    if stretch != LINK:
        names = {Op.OMITTED: "word-omitted", Op.DUPLICATED: "word-duplicated"}
        return tuple(name for op, name in names.items() if ops == {op} or (partly and op in ops))
    if damage is None:
        # A word that came twice, or not at all, and no end of the packet to tell whether it was moved.
        return ("clock-drift",) if partly and ops in ({Op.DUPLICATED}, {Op.OMITTED}) else ()
    if len(damage.lanes) > 1 and (damage.lags or partly):
        return ("clock-drift",)
    fitting = []
    if damage.lags or partly:
        fitting.append("sync-fifo-empty")
    if damage.phases or damage.late_phases or partly:
        fitting.append("lane-misaligned")
    if damage.differ.size == 1:
        fitting.append("header-corrupted" if damage.header_words else "payload-bit-flip")
    return tuple(fitting)


def _which(packet: Packet) -> str:
    """Return what a packet is called; the number in a bad header is no fact."""
    if packet.seq is None:
        return "A packet"
    bad = packet.header_ok is False
    return f"A packet whose bad header says {packet.seq}" if bad else f"Packet {packet.seq}"


def _bad_packets(facts: Facts) -> Iterator[Finding]:
    for case in facts.unplaced:
        if case.tap >= 2 and facts.overflowed(case.receiver):
            continue
        packet, stream = case.packet, case.stream
        t_ps: int | None
        t_ps, unc_ps = stream.when(packet.end - 1)
        which = _which(packet)
        text = (
            f"{which} ({case.sender}->{case.receiver}) fails its checks at "
            f"{stream.source} ({verdict_text(packet)}), and "
            f"the tap before has no whole copy of it to compare with."
        )
        if case.entering:
            text = (
                f"{which} ({case.sender}->{case.receiver}) fails its checks at {stream.source} "
                f"({verdict_text(packet)}), and {case.receiver} counted it as bad and froze for it before it left the "
                f"incoming FIFO: it came in bad."
            )
            t_ps, unc_ps = facts.caused(case.receiver)
        elif case.stretches == (-1,):
            text = (
                f"{which} fails its checks at {stream.source} already "
                f"({verdict_text(packet)}): "
                f"it was wrong before it entered the outgoing FIFO."
            )
        rows = [stream.row(packet.start, "first word recorded")]
        if packet.has_tail:
            rows.append(stream.row(packet.end - 1, "tail"))
        yield Finding(
            diagnosis=UNDETERMINED,
            text=text,
            candidates=_fitting_alone(facts, case.receiver, packet, case.stretches),
            evidence=(
                Evidence(text, stream.device, stream.tap, tuple(rows)),
                *cause_evidence(facts, case.receiver),
            ),
            device=stream.device,
            tap=facts.view.roles.rx.entry if case.entering else stream.tap,
            direction=f"{case.sender}->{case.receiver}",
            flow=packet.flow if packet.header_ok else None,
            packet=packet.seq if packet.header_ok else None,
            t_ps=t_ps,
            t_uncertainty_ps=unc_ps,
        )


def _otherwise_described(facts: Facts) -> Iterator[Finding]:
    """Yield the first packet of each sender whose header names another flow than its descriptor."""
    entry = facts.view.roles.tx.entry
    for sender, receiver in facts.view.directions:
        stream = facts.view.stream(sender, entry)
        described = described_flows(facts.view, sender)
        for packet in stream.packets if stream is not None else ():
            flows = described.get(packet.seq if packet.header_ok else None)
            if stream is None or not flows or packet.flow in flows:
                continue
            flow = " or ".join(map(str, sorted(flows)))
            text = (
                f"Packet {packet.seq} ({sender}->{receiver}) entered {sender}'s outgoing FIFO with flow {packet.flow} "
                f"in its header, where its descriptor says {flow}."
            )
            t_ps, unc_ps = stream.when(packet.start)
            row = stream.row(packet.start, f"header, flow {packet.flow}")
            yield Finding(
                UNDETERMINED, text, sender, entry, f"{sender}->{receiver}", packet=packet.seq, t_ps=t_ps,
                t_uncertainty_ps=unc_ps, evidence=(Evidence(text, sender, entry, (row,)),),
            )  # fmt: skip
            break


def _counted_bad(facts: Facts) -> Iterator[Finding]:
    """Yield what a receiver counted as bad and nothing recorded shows, where it did not freeze for it."""
    view, entry = facts.view, facts.view.roles.rx.entry
    for sender, receiver in view.directions:
        if view.value(receiver, "ctl.generation") != 1 or facts.overflowed(receiver):
            continue
        for means in ("bad-header", "bad-payload", "bad-length"):
            count = view.count(receiver, means)
            # A sender that stood still first left the packet open that it was sending: that one is no fault.
            if (
                not count
                or (count == 1 and _may_stand_first(facts, sender, receiver))
                or {*view.roles.causes(means)} & {*view.causes(receiver)}
            ):
                continue
            row = view.count_row(receiver, means)
            bit = f" in bit {count.bit_length() - 1}" if count.bit_count() == 1 else ""
            text = (
                f"{receiver} counted {count} in {row.label}, it did not freeze for that, and no packet in its memories "
                f"fails that check: the packet is not recorded any more, or the count is wrong{bit}."
            )
            yield Finding(
                UNDETERMINED, text, receiver, entry, f"{sender}->{receiver}",
                candidates=(*_BY_MEANING[means], "recorder-suspect"),
                evidence=(Evidence(text, receiver, rows=(row,)),),
            )  # fmt: skip


def _may_stand_first(facts: Facts, sender: str, receiver: str) -> bool:
    """Tell whether a sender may have been frozen before the receiver's counters were."""
    (sent_ps, sent_unc_ps), (received_ps, received_unc_ps) = map(facts.frozen, (sender, receiver))
    if sent_ps is None or sent_unc_ps is None or received_ps is None or received_unc_ps is None:
        return True
    return sent_ps - sent_unc_ps < received_ps + received_unc_ps


def _fitting_alone(
    facts: Facts, receiver: str, packet: Packet, stretches: tuple[int, ...]
) -> tuple[str, ...]:
    """Return what damages a packet like this, in the stretches it can have happened."""
    length = packet.length if packet.header_ok else None
    fifo = [s for s in stretches if s >= SENDER_FIFO and s != LINK]
    if packet.header_ok is False:
        return _BY_MEANING["bad-header"] if LINK in stretches else ()
    if length is not None and packet.length_ok is False:
        if packet.payload_ok:
            return ("split-retry-mishandled",)
        more = packet.body_words - length
        names = {-1: "word-omitted", 1: "word-duplicated"}
        fitting = (names[more],) if fifo and more in names else ()
        moved = LINK in stretches and more in names and drifts(facts, receiver)
        return (*fitting, "clock-drift") if moved else fitting
    if LINK in stretches:
        return ("payload-bit-flip", "sync-fifo-empty", "lane-misaligned", "clock-drift")
    return ()


def _stall(facts: Facts, stall: Stall) -> Finding:
    account = stall.account
    return Finding(
        diagnosis=UNDETERMINED,
        text=stall.text,
        candidates=stall.candidates,
        evidence=(
            Evidence(stall.text, account.sender, rows=stall.rows),
            *cause_evidence(facts, account.sender),
        ),
        # Whose books contradict each other is where it is wrong; else all that is known is who waits.
        device=account.receiver if stall.verdict == "contradicted" else account.sender,
        direction=account.direction,
        flow=account.flow,
        t_ps=stall.t_ps,
        t_uncertainty_ps=stall.t_unc_ps,
    )


def _causes(facts: Facts) -> Iterator[Finding]:
    """Yield the freeze causes that nothing in the recording accounts for."""
    view = facts.view
    for device in view.names:
        causes = view.causes(device)
        for cause in causes:
            means = view.roles.means.get(cause, "")
            if means in _BY_MEANING:
                yield _unseen(facts, device, cause, _BY_MEANING[means])
            elif cause == view.roles.cause("overflow", view.roles.tx.entry):
                yield _unseen(facts, device, cause, ())
        if causes == (view.roles.card.peer_cause,):
            peer = view.peer(device)
            if peer is None or view.device(peer) is None:
                yield _elsewhere(facts, device, peer)


def _unseen(facts: Facts, device: str, cause: str, candidates: tuple[str, ...]) -> Finding:
    t_ps, unc_ps = facts.caused(device)
    why = "the memories do not reach back to it, or have gaps there."
    if any(line.startswith(f"{device}.") for line in facts.view.switched_off):
        why = "kinds of record were switched off, or the memories do not reach back to it."
    seen, sender = "", facts.view.peer(device)
    if facts.caught_entering(device):
        seen = f" It came in bad: nothing that left {device}'s incoming FIFO in that cycle is."
        if sender is not None and facts.left_well(sender):
            seen += f" No packet that {sender} sent was bad at {sender}.{facts.view.roles.tx.exit}."
            candidates = tuple(name for name in candidates if name in _ON_LINK) or _ON_LINK[-1:]
    return Finding(
        diagnosis=UNDETERMINED,
        text=f"{device} froze for {cause}, and what it saw is not in the recording: {why}{seen}",
        candidates=candidates,
        evidence=cause_evidence(facts, device),
        device=device,
        tap=facts.view.roles.rx.entry if seen else None,
        direction=f"{sender}->{device}" if seen and sender is not None else None,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
    )


def _elsewhere(facts: Facts, device: str, peer: str | None) -> Finding:
    """Return the symptom of a device that froze only because the other end did."""
    other = end_name(peer)
    candidates = (
        "payload-bit-flip",
        "header-corrupted",
        "sync-fifo-empty",
        "lane-misaligned",
        "word-omitted",
        "word-duplicated",
        "clock-drift",
        "split-retry-mishandled",
        *_OVERFLOW,
        "credit-corrupted",
        "credit-lost",
        "none",
    )
    return Finding(
        diagnosis=UNDETERMINED,
        text=f"{device} froze because {other} did; nothing in {device}'s own recording is wrong.",
        candidates=candidates,
        evidence=cause_evidence(facts, device),
        device=device,
    )
