"""word-omitted and word-duplicated: a FIFO lost one 64-bit word, or gave one twice.

The taps before and after the FIFO differ by one edit of one packet; from one tap alone, a packet with a good
header is one payload word too short (where, cannot be determined: every place fits the CRC) or too long (without the
second copy the payload CRC is right). Before its packet has come out, the level shows it: what went in, less what
came out, is in the FIFO. Words that found it full are no part of this, because the tap before the FIFO counts
what is written.

Source: docs/analyzers-check.md, "incoming FIFO, words" and "outgoing FIFO, words".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from freezeframe.analyzers.contract import Evidence, Finding, Ground, Row
from freezeframe.analyzers.crc.lone_payload import find_repeats
from freezeframe.analyzers.diagnosis.clock_drift import drifts
from freezeframe.analyzers.evidence import (
    Place,
    amount,
    cause_evidence,
    good_elsewhere,
    neighbourhood,
    place_of_pair,
    tap_after,
    verdict_text,
    word_text,
)
from freezeframe.analyzers.facts import LINK, RECEIVER_FIFO, SENDER_FIFO, Facts, Unplaced
from freezeframe.analyzers.taps.align import Edit, Op
from freezeframe.analyzers.taps.tap_diff import PacketPair, SegmentDiff
from freezeframe.analyzers.view import end_name, fits_power_up
from freezeframe.capture.card.roles import Way

_FIFOS = {SENDER_FIFO: "outgoing", RECEIVER_FIFO: "incoming"}


@dataclass(frozen=True, eq=False)
class BetweenTaps:
    """One edit of one packet between the taps around a FIFO of ``device``.

    ``word``: payload index, None where it is not certain; ``where`` says as much as is known.
    """

    receiver: str
    diff: SegmentDiff
    pair: PacketPair
    edit: Edit
    device: str
    tap: str
    fifo: str
    place: Place
    word: int | None
    where: str


@dataclass(frozen=True, eq=False)
class Alone:
    """A packet at one tap whose payload length is off, and the one FIFO that can have done it."""

    case: Unplaced
    device: str
    tap: str
    fifo: str

    @property
    def direction(self) -> str:
        return f"{self.case.sender}->{self.case.receiver}"


def between_taps(facts: Facts, op: Op) -> Iterator[BetweenTaps]:
    """Yield the packets that one edit of a kind in a FIFO explains, upstream first."""
    for sender, receiver, stretch, diff in facts.differences():
        if stretch == LINK:
            continue
        device, tap = tap_after(facts.view, sender, receiver, stretch)
        for pair in diff.differing:
            if len(pair.edits) != 1 or pair.edits[0].op is not op:
                continue
            edit = pair.edits[0]
            span = pair.payload_index(edit)
            word = span[0] if span is not None and edit.certain else None
            yield BetweenTaps(
                receiver,
                diff,
                pair,
                edit,
                device,
                tap,
                _FIFOS[stretch],
                place_of_pair(pair),
                word,
                word_text(word, span),
            )


def pair_finding(facts: Facts, name: str, between: BetweenTaps, text: str, how: str) -> Finding:
    """Return the finding on a packet whose words both taps have; ``how`` introduces the words."""
    at = min(between.pair.down.start + between.edit.down, between.pair.down.end - 1)
    t_ps, unc_ps = between.diff.down.when(at)
    return Finding(
        diagnosis=name,
        text=text,
        device=between.device,
        tap=between.tap,
        direction=between.diff.direction,
        flow=between.place.flow,
        packet=between.place.packet,
        word=between.word,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        ground=Ground.COMPARED
        if between.pair.up.whole and between.pair.down.whole
        else Ground.CONFIRMED,
        evidence=(
            Evidence(
                how,
                between.device,
                between.tap,
                neighbourhood(between.diff, between.pair, between.edit),
            ),
            good_elsewhere(between.diff, between.pair),
            *cause_evidence(facts, between.receiver),
        ),
    )


def alone(facts: Facts, words_more: int) -> Iterator[Alone]:
    """Yield the packets with so many payload words more than their good header says.

    Only where one FIFO alone can have done it.
    """
    for case in facts.unplaced:
        packet = case.packet
        if packet.header_ok is not True or packet.payload_ok is not False or not packet.whole:
            continue
        if packet.length is None or packet.body_words != packet.length + words_more:
            continue
        stretches = [s for s in case.stretches if s != LINK]
        if len(stretches) != 1 or stretches[0] < SENDER_FIFO:
            continue
        if LINK in case.stretches and drifts(facts, case.receiver):
            continue  # the lanes repeated or lost a word, too
        device, tap = tap_after(facts.view, case.sender, case.receiver, stretches[0])
        yield Alone(case, device, tap, _FIFOS[stretches[0]])


def alone_finding(
    facts: Facts,
    name: str,
    lone: Alone,
    text: str,
    *,
    at: int,
    word: int | None,
    ground: Ground,
    how: str,
    rows: tuple[Row, ...],
) -> Finding:
    """Return the finding on a packet of one tap; ``at``: stream position of the first symptom."""
    case = lone.case
    t_ps, unc_ps = case.stream.when(at)
    return Finding(
        diagnosis=name,
        text=text,
        device=lone.device,
        tap=lone.tap,
        direction=lone.direction,
        flow=case.packet.flow,
        packet=case.packet.seq,
        word=word,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        ground=ground,
        evidence=(
            Evidence(
                f"{case.stream.source}: {verdict_text(case.packet)}; {how}",
                case.stream.device,
                case.stream.tap,
                rows,
            ),
            *cause_evidence(facts, case.receiver),
        ),
    )


@dataclass(frozen=True, slots=True)
class Imbalance:
    """A FIFO of ``device`` and the words that are ``missing`` in it by its taps; negative: too many."""

    sender: str
    receiver: str
    stretch: int
    device: str
    way: Way
    fifo: str
    entered: int
    left: int
    level: int

    @property
    def missing(self) -> int:
        return self.entered - self.left - self.level


def imbalances(facts: Facts) -> Iterator[Imbalance]:
    """Yield the FIFOs whose level is not what their taps make it."""
    for sender, receiver in facts.view.directions:
        for stretch in _FIFOS:
            imbalance = imbalance_of(facts, sender, receiver, stretch)
            if imbalance is not None and imbalance.missing:
                yield imbalance


def imbalance_of(facts: Facts, sender: str, receiver: str, stretch: int) -> Imbalance | None:
    """Return what went into a FIFO, came out and is in it; None where that is not of one moment, or not known.

    It is where the card was held; and FIFO and counters begin together only at power-up.
    """
    way, fifo = facts.view.roles.ways[stretch == RECEIVER_FIFO], _FIFOS[stretch]
    device = sender if stretch == SENDER_FIFO else receiver
    if not _comparable(facts, device) or facts.view.unsound("level", device, way.level):
        return None
    entered, left = (facts.view.count(device, "words", tap) for tap in way.taps)
    level = facts.view.value(device, f"frozen.{way.level}")
    if entered is None or left is None or level is None:
        return None
    return Imbalance(sender, receiver, stretch, device, way, fifo, entered, left, level)


def level_finding(facts: Facts, name: str, imbalance: Imbalance) -> Finding:
    """Return the finding on a word that is missing in a FIFO, or one too many, of which no packet shows yet."""
    device, tap = tap_after(facts.view, imbalance.sender, imbalance.receiver, imbalance.stretch)
    size, word = abs(imbalance.missing), "word" if abs(imbalance.missing) == 1 else "words"
    what = (
        f"{size} {word} less than that: written and not kept"
        if imbalance.missing > 0
        else f"{size} {word} more than that: read and not taken out"
    )
    bank = facts.view.register_row(device, f"frozen.{imbalance.way.level}")
    return Finding(
        diagnosis=name,
        text=(
            f"{device} let {imbalance.entered} words into its {imbalance.fifo} FIFO and "
            f"{imbalance.left} out of it, so {imbalance.entered - imbalance.left} should be in it. "
            f"It held {imbalance.level}, {what}. No packet that both "
            "taps recorded shows it, so which packet and which word is not known."
        ),
        device=device,
        tap=tap,
        direction=f"{imbalance.sender}->{imbalance.receiver}",
        ground=Ground.ELIMINATED,
        evidence=(
            Evidence(
                f"In {imbalance.entered}, out {imbalance.left}, level {imbalance.level}: "
                f"{imbalance.missing:+} unaccounted for.",
                device,
                tap,
                (
                    *(facts.view.count_row(device, "words", each) for each in imbalance.way.taps),
                    bank,
                ),
            ),
            *cause_evidence(facts, device),
        ),
    )


def _comparable(facts: Facts, device: str) -> bool:
    capture = facts.view.device(device)
    if capture is None or facts.view.value(device, "ctl.generation") != 1:
        return False
    if not capture.registers.field("ctl.options", "hold"):
        return False  # a level that words move through is a few words late
    return fits_power_up(capture, facts.view.device(facts.view.peer(device) or ""))


WORD_OMITTED = "word-omitted"
_RX_ENQ = 2


def omitted_words(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for every packet that lost exactly one word in a FIFO, and every FIFO that did by its level."""
    return _with_levels(facts, WORD_OMITTED, list(_omitted_in_packets(facts)), missing=1)


def duplicated_words(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for every packet in which a FIFO repeated exactly one word, and for every FIFO by its level."""
    return _with_levels(facts, WORD_DUPLICATED, list(_duplicated_in_packets(facts)), missing=-1)


def _with_levels(
    facts: Facts, name: str, in_packets: list[Finding], missing: int
) -> Iterator[Finding]:
    """Yield the findings of packets, and of each FIFO without one whose level is off by ``missing`` words."""
    yield from in_packets
    known = {(finding.device, finding.direction) for finding in in_packets}
    for imbalance in imbalances(facts):
        place = (imbalance.device, f"{imbalance.sender}->{imbalance.receiver}")
        if imbalance.missing == missing and place not in known:
            yield level_finding(facts, name, imbalance)


def _omitted_in_packets(facts: Facts) -> Iterator[Finding]:
    for between in between_taps(facts, Op.OMITTED):
        yield _omitted_at_both_taps(facts, between)
    for short in alone(facts, -1):
        # Words that found the receiver's FIFO full are missing, too.
        if short.case.tap < _RX_ENQ or not facts.overflowed(short.case.receiver):
            yield _omitted_at_one_tap(facts, short)


def _omitted_at_both_taps(facts: Facts, between: BetweenTaps) -> Finding:
    up, down, where = between.diff.up.source, between.diff.down.source, between.where
    text = (
        f"{where[0].upper()}{where[1:]} of packet {between.place.packet} ({between.diff.direction}, "
        f"flow {between.place.flow}) went into the {between.fifo} FIFO of {between.device} and did not "
        f"come out: {up} has it, {down} goes on with the word after it. "
        f"{_rest(between.pair)}"
    )
    return pair_finding(
        facts, WORD_OMITTED, between, text, f"{up} and {down} differ by one word: {where}."
    )


def _rest(pair: PacketPair) -> str:
    """Return how much of a packet is known to be equal at both taps."""
    if pair.up.whole and pair.down.whole:
        return "Everything else of the packet is equal at both taps."
    return f"All else of it that both taps recorded, {amount(pair.compared, 'word')}, is equal."


def _omitted_at_one_tap(facts: Facts, lone: Alone) -> Finding:
    packet, stream = lone.case.packet, lone.case.stream
    text = (
        f"Packet {packet.seq} ({lone.direction}, flow {packet.flow}) has {packet.body_words} "
        f"payload words at {stream.source} where its good header says {packet.length}, and its "
        f"payload CRC is bad: one word was lost in the {lone.fifo} FIFO of {end_name(lone.device)}. Which "
        "word, only the tap before could say."
    )
    return alone_finding(
        facts,
        WORD_OMITTED,
        lone,
        text,
        at=packet.end - 1,
        word=None,
        ground=Ground.ELIMINATED,
        how=f"{packet.body_words} of {amount(packet.length or 0, 'payload word')}.",
        rows=(
            stream.row(packet.start, "header"),
            stream.row(packet.end - 1, "tail, one word early"),
        ),
    )


WORD_DUPLICATED = "word-duplicated"


def _duplicated_in_packets(facts: Facts) -> Iterator[Finding]:
    for between in between_taps(facts, Op.DUPLICATED):
        yield _duplicated_at_both_taps(facts, between)
    for long in alone(facts, 1):
        yield from _duplicated_at_one_tap(facts, long)


def _duplicated_at_both_taps(facts: Facts, between: BetweenTaps) -> Finding:
    up, down, where = between.diff.up.source, between.diff.down.source, between.where
    text = (
        f"A word of packet {between.place.packet} ({between.diff.direction}, flow {between.place.flow}) "
        f"came twice out of the {between.fifo} FIFO of {between.device}: {down} has its second copy as "
        f"{where}, {up} has it once. {_rest(between.pair)}"
    )
    how = f"{down} has one word more than {up}: the second copy is {where}."
    return pair_finding(facts, WORD_DUPLICATED, between, text, how)


def _duplicated_at_one_tap(facts: Facts, lone: Alone) -> Iterator[Finding]:
    packet, stream = lone.case.packet, lone.case.stream
    tail = stream.tail(packet)
    repeats = [] if tail is None else find_repeats(stream.payload(packet), tail)
    if len(repeats) != 1:
        return
    first, end = repeats[0]
    word = first if end - first == 1 else None
    at = packet.start + packet.heads + end - 1
    text = (
        f"A word of packet {packet.seq} ({lone.direction}, flow {packet.flow}) came twice out of "
        f"the {lone.fifo} FIFO of {end_name(lone.device)}: at {stream.source} the packet has one payload "
        f"word more than its good header says, {word_text(word, (first, end))} repeats the word "
        "before it, and without it the payload CRC is right."
    )
    yield alone_finding(
        facts,
        WORD_DUPLICATED,
        lone,
        text,
        at=at,
        word=word,
        ground=Ground.CONFIRMED,
        how=(
            f"{amount(packet.body_words, 'payload word')} of {packet.length}. Without the repeated word the "
            "CRC is that of the tail."
        ),
        rows=(
            stream.row(packet.start, "header"),
            stream.row(at - 1, f"payload word {end - 2}"),
            stream.row(at, f"payload word {end - 1} (repeats it)"),
            stream.row(packet.end - 1, "tail, one word late"),
        ),
    )
