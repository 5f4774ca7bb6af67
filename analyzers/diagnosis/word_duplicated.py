"""word-duplicated: the read pointer of a FIFO was held for one cycle, and one 64-bit word came out twice.

From one tap alone the repeat can be placed, too: without its second copy the payload CRC is right.
"""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.analyzers.align import Op
from freezeframe.analyzers.contract import Evidence, Finding
from freezeframe.analyzers.crc_hypotheses import find_repeats
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

NAME = "word-duplicated"


def diagnose(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for every packet in which a FIFO repeated exactly one word."""
    for sender, receiver, stretch, diff in facts.differences():
        if stretch == LINK:
            continue
        for pair in diff.differing:
            if len(pair.edits) == 1 and pair.edits[0].op is Op.DUPLICATED:
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
    t_ps, unc_ps = diff.down.when(pair.down.start + edit.down)
    where = word_text(word, span)
    return Finding(
        diagnosis=NAME,
        text=(
            f"A word of packet {place.packet} ({diff.direction}, flow {place.flow}) came twice out "
            "of the "
            f"{'outgoing' if stretch == 0 else 'incoming'} FIFO of {device}: {diff.down.source} "
            f"has its second copy as {where}, "
            f"{diff.up.source} has it once. Everything else of the packet is equal at both taps."
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
                f"{diff.down.source} has one word more than {diff.up.source}: the second copy is "
                f"{where}.",
                device,
                tap,
                neighbourhood(diff, pair, edit),
            ),
            good_elsewhere(diff, pair),
            *cause_evidence(facts, receiver),
        ),
    )


def _one_tap(facts: Facts, case: Unplaced) -> Finding | None:
    packet, stream = case.packet, case.stream
    if packet.header_ok is not True or packet.payload_ok is not False or not packet.whole:
        return None
    if packet.length is None or packet.body_words != packet.length + 1:
        return None
    stretches = [s for s in case.stretches if s != LINK]
    tail = stream.tail(packet)
    if len(stretches) != 1 or stretches[0] < 0 or tail is None:
        return None
    found = find_repeats(stream.payload(packet), tail)
    if len(found) != 1:
        return None
    first, end = found[0]
    word = first if end - first == 1 else None
    device, tap = tap_after(case.sender, case.receiver, stretches[0])
    direction = f"{case.sender}->{case.receiver}"
    at = packet.start + packet.heads + end - 1
    t_ps, unc_ps = stream.when(at)
    where = word_text(word, (first, end))
    return Finding(
        diagnosis=NAME,
        text=(
            f"A word of packet {packet.seq} ({direction}, flow {packet.flow}) came twice out of "
            "the "
            f"{'outgoing' if stretches[0] == 0 else 'incoming'} FIFO of {device}: at "
            f"{stream.source} the packet has one payload "
            f"word more than its good header says, {where} repeats the word before it, and without "
            "it the payload CRC is right."
        ),
        device=device,
        tap=tap,
        direction=direction,
        flow=packet.flow,
        packet=packet.seq,
        word=word,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        confidence=0.95,
        evidence=(
            Evidence(
                f"{stream.source}: {verdict_text(packet)}; {packet.body_words} payload words of "
                f"{packet.length}. Without the repeated word the CRC is that of the tail.",
                stream.device,
                stream.tap,
                (
                    stream.row(packet.start, "header"),
                    stream.row(at - 1, f"payload word {end - 2}"),
                    stream.row(at, f"payload word {end - 1} (repeats it)"),
                    stream.row(packet.end - 1, "tail, one word late"),
                ),
            ),
            *cause_evidence(facts, case.receiver),
        ),
    )
