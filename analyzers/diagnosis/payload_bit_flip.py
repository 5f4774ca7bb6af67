"""payload-bit-flip: one or two bits of one payload word changed on the link.

tx_deq and rx_enq differ in one or two bits, the length is the same, and it happens once. From the
receiver alone the bits are found by the CRC's syndrome.
"""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.analyzers.contract import Finding
from freezeframe.analyzers.diagnosis.link_damage import LinkDamage
from freezeframe.analyzers.diagnosis.link_word import (
    altered_word,
    flipped_bits,
    lone_word,
    seen,
)
from freezeframe.analyzers.diagnosis.lone_receiver import LoneDamage
from freezeframe.analyzers.diagnosis.place import Place, verdict_text
from freezeframe.analyzers.diagnosis.sync_fifo_empty import underflows
from freezeframe.analyzers.facts import Facts

__all__ = ["NAME", "diagnose"]

NAME = "payload-bit-flip"
_MOST_BITS = 2


def diagnose(facts: Facts, damages: list[LinkDamage], lone: list[LoneDamage]) -> Iterator[Finding]:
    """Yield a finding for every link on which exactly one payload word lost one or two bits."""
    for damage in damages:
        if damage.differ.size != 1 or damage.hidden:
            continue
        index = int(damage.differ[0])
        hit = damage.at(index)
        if hit.label.startswith("payload") and damage.bits(index) <= _MOST_BITS:
            lane = damage.lanes[0]
            if lane in damage.lags and underflows(facts, damage.receiver, lane) != 0:
                continue  # the half is also that of the word before: the lane may have lagged
            yield altered_word(facts, NAME, damage, index, _rest(damage), 0.99)
    for case in lone:
        finding = _one_tap(facts, case)
        if finding is not None:
            yield finding


def _rest(damage: LinkDamage) -> str:
    return (
        f"{damage.diff.up.source} and {damage.diff.down.source} agree in all other "
        f"{damage.diff.words_compared - 1} words that both recorded"
    )


def _one_tap(facts: Facts, case: LoneDamage) -> Finding | None:
    packet, stream = case.first, case.stream
    if not case.alone or packet.header_ok is not True or len(case.flips) != 1:
        return None
    if case.repeats or case.phase is not None:
        return None
    flip = case.flips[0]
    if flip.word is None:
        return None
    position = packet.start + packet.heads + flip.word
    value = int(stream.data[position])
    bits = flipped_bits(flip.mask)
    text = (
        f"Packet {packet.seq} ({case.direction}, flow {packet.flow}) has the right length and a bad "
        f"payload CRC at {stream.source}; with {bits} of payload word {flip.word} flipped back the "
        "CRC is right, and no other such flip does that."
    )
    shown = seen(
        case,
        f"{stream.source}: {verdict_text(packet)}; the CRC's syndrome is that of "
        f"{flip.mask:#018x} in payload word {flip.word}.",
        (
            stream.row(packet.start, "header"),
            stream.row(position, f"payload word {flip.word}", value ^ flip.mask),
            stream.row(packet.end - 1, "tail"),
        ),
    )
    return lone_word(
        facts,
        NAME,
        case,
        text,
        Place(packet.flow, packet.seq),
        at=position,
        word=flip.word,
        confidence=0.95 if flip.mask.bit_count() == 1 else 0.85,
        evidence=(shown,),
    )
