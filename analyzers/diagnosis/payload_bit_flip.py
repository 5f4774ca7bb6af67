"""payload-bit-flip: one or two bits of one payload word changed on the link.

tx_deq and rx_enq differ in one or two bits, the length is the same, and it happens once. From the
receiver alone the bits are found by the CRC's syndrome.
"""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.analyzers.align import Edit, Op
from freezeframe.analyzers.contract import Evidence, Finding
from freezeframe.analyzers.diagnosis.facts import Facts
from freezeframe.analyzers.diagnosis.link_damage import LinkDamage
from freezeframe.analyzers.diagnosis.lone_receiver import LoneDamage
from freezeframe.analyzers.diagnosis.place import (
    cause_evidence,
    good_elsewhere,
    neighbourhood,
    place_of_pair,
    verdict_text,
)
from freezeframe.analyzers.diagnosis.sync_fifo_empty import underflows

__all__ = ["NAME", "diagnose", "flipped_bits"]

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
            yield _between_taps(facts, damage, index)
    for case in lone:
        finding = _one_tap(facts, case)
        if finding is not None:
            yield finding


def flipped_bits(mask: int) -> str:
    """Return the numbers of the bits that are set in a mask."""
    bits = [str(bit) for bit in range(64) if mask >> bit & 1]
    return f"bit {bits[0]}" if len(bits) == 1 else f"bits {', '.join(bits)}"


def _between_taps(facts: Facts, damage: LinkDamage, index: int) -> Finding:
    hit = damage.at(index)
    pair = hit.pair
    place = place_of_pair(pair)
    mask = int(damage.words.up[index] ^ damage.words.down[index])
    t_ps, unc_ps = damage.diff.down.when(hit.position)
    edit = Edit(
        Op.ALTERED,
        int(damage.words.up_at[index]) - pair.up.start,
        hit.position - pair.down.start,
        int(damage.words.up_at[index]) - pair.up.start,
    )
    return Finding(
        diagnosis=NAME,
        text=(
            f"{flipped_bits(mask).capitalize()} of {hit.label} of packet {place.packet} "
            f"({damage.direction}, flow {place.flow}) "
            f"changed on the link: {damage.diff.up.source} and {damage.diff.down.source} agree in "
            "all other "
            f"{damage.diff.words_compared - 1} words that both recorded."
        ),
        device=damage.receiver,
        tap="rx_enq",
        direction=damage.direction,
        flow=place.flow,
        packet=place.packet,
        word=hit.word,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        confidence=0.99,
        evidence=(
            Evidence(
                f"{damage.diff.up.source} has {int(damage.words.up[index]):#018x}, "
                f"{damage.diff.down.source} "
                f"{int(damage.words.down[index]):#018x}: they differ by {mask:#018x}.",
                damage.receiver,
                "rx_enq",
                neighbourhood(damage.diff, pair, edit),
            ),
            good_elsewhere(damage.diff, pair),
            *cause_evidence(facts, damage.receiver),
        ),
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
    t_ps, unc_ps = stream.when(position)
    one = flip.mask.bit_count() == 1
    return Finding(
        diagnosis=NAME,
        text=(
            f"Packet {packet.seq} ({case.direction}, flow {packet.flow}) has the right length and "
            "a bad payload CRC at "
            f"{stream.source}; with {flipped_bits(flip.mask)} of payload word {flip.word} flipped "
            "back the CRC is right, and no other "
            f"such flip does that."
        ),
        device=case.receiver,
        tap="rx_enq",
        direction=case.direction,
        flow=packet.flow,
        packet=packet.seq,
        word=flip.word,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        confidence=0.95 if one else 0.85,
        evidence=(
            Evidence(
                f"{stream.source}: {verdict_text(packet)}; the CRC's syndrome is that of "
                f"{flip.mask:#018x} in payload word "
                f"{flip.word}.",
                case.receiver,
                "rx_enq",
                (
                    stream.row(packet.start, "header"),
                    stream.row(position, f"payload word {flip.word}", value ^ flip.mask),
                    stream.row(packet.end - 1, "tail"),
                ),
            ),
            *cause_evidence(facts, case.receiver),
        ),
    )
