"""word-omitted: the write enable of one 64-bit word was lost at a FIFO.

The taps before and after the FIFO differ by one deletion and the tail comes one word early. From one
tap alone the omission shows as a payload one word short, but not where: every place fits the CRC.
"""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.analyzers.align import Op
from freezeframe.analyzers.contract import Evidence, Finding
from freezeframe.analyzers.diagnosis.facts import LINK, Facts, Unplaced
from freezeframe.analyzers.diagnosis.place import (
    cause_evidence,
    good_elsewhere,
    neighbourhood,
    place_of_pair,
    tap_after,
    verdict_text,
    word_text,
)
from freezeframe.analyzers.tap_diff import PacketPair, SegmentDiff

__all__ = ["NAME", "diagnose"]

NAME = "word-omitted"


def diagnose(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for every packet that lost exactly one word in a FIFO."""
    for sender, receiver, stretch, diff in facts.differences():
        if stretch == LINK:
            continue
        for pair in diff.differing:
            if len(pair.edits) == 1 and pair.edits[0].op is Op.OMITTED:
                yield _between_taps(facts, sender, receiver, stretch, diff, pair)
    for case in facts.unplaced:
        finding = _one_tap(facts, case)
        if finding is not None:
            yield finding


def _between_taps(
    facts: Facts, sender: str, receiver: str, stretch: int, diff: SegmentDiff, pair: PacketPair
) -> Finding:
    edit = pair.edits[0]
    span = pair.payload_index(edit)
    word = span[0] if span is not None and edit.certain else None
    device, tap = tap_after(sender, receiver, stretch)
    place = place_of_pair(pair)
    at = min(pair.down.start + edit.down, pair.down.end - 1)
    t_ps, unc_ps = diff.down.when(at)
    where = word_text(word, span)
    return Finding(
        diagnosis=NAME,
        text=(
            f"{where[0].upper()}{where[1:]} of packet {place.packet} ({diff.direction}, flow "
            f"{place.flow}) went into the "
            f"{'outgoing' if stretch == 0 else 'incoming'} FIFO of {device} and did not come out: "
            f"{diff.up.source} has it, "
            f"{diff.down.source} goes on with the word after it. Everything else of the packet is "
            "equal at both taps."
        ),
        device=device,
        tap=tap,
        direction=diff.direction,
        flow=place.flow,
        packet=place.packet,
        word=word,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        confidence=0.99 if pair.up.whole and pair.down.whole else 0.95,
        evidence=(
            Evidence(
                f"{diff.up.source} and {diff.down.source} differ by one word: {where}.",
                device,
                tap,
                neighbourhood(diff, pair, edit),
            ),
            good_elsewhere(diff, pair),
            *cause_evidence(facts, receiver),
        ),
    )


def _one_tap(facts: Facts, case: Unplaced) -> Finding | None:
    packet = case.packet
    if facts.overflowed(case.receiver) and case.tap >= 2:
        return None  # words that found the FIFO full are missing, too
    if packet.header_ok is not True or packet.payload_ok is not False or not packet.whole:
        return None
    if packet.length is None or packet.body_words != packet.length - 1:
        return None
    stretches = [s for s in case.stretches if s != LINK]
    if len(stretches) != 1 or stretches[0] < 0:
        return None
    device, tap = tap_after(case.sender, case.receiver, stretches[0])
    direction = f"{case.sender}->{case.receiver}"
    t_ps, unc_ps = case.stream.when(packet.end - 1)
    return Finding(
        diagnosis=NAME,
        text=(
            f"Packet {packet.seq} ({direction}, flow {packet.flow}) has {packet.body_words} "
            "payload words at "
            f"{case.stream.source} where its good header says {packet.length}, and its payload CRC "
            "is bad: one word was lost in "
            f"the {'outgoing' if stretches[0] == 0 else 'incoming'} FIFO of {device}. Which word, "
            "only the tap before could say."
        ),
        device=device,
        tap=tap,
        direction=direction,
        flow=packet.flow,
        packet=packet.seq,
        word=None,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        confidence=0.8,
        evidence=(
            Evidence(
                f"{case.stream.source}: {verdict_text(packet)}; {packet.body_words} of "
                f"{packet.length} payload words.",
                case.stream.device,
                case.stream.tap,
                (
                    case.stream.row(packet.start, "header"),
                    case.stream.row(packet.end - 1, "tail, one word early"),
                ),
            ),
            *cause_evidence(facts, case.receiver),
        ),
    )
