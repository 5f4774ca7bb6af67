"""Findings on words that the link changed, from both taps or from the receiver's rx_enq alone."""

from __future__ import annotations

from freezeframe.analyzers.contract import Evidence, Finding, Row
from freezeframe.analyzers.diagnosis.link_damage import LinkDamage
from freezeframe.analyzers.diagnosis.lone_receiver import LoneDamage
from freezeframe.analyzers.diagnosis.place import (
    Place,
    cause_evidence,
    good_elsewhere,
    neighbourhood,
    place_of_pair,
)
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.taps.align import Edit, Op

__all__ = ["altered_word", "flipped_bits", "lone_word", "seen"]


def flipped_bits(mask: int) -> str:
    """Return the numbers of the bits that are set in a mask."""
    bits = [str(bit) for bit in range(64) if mask >> bit & 1]
    return f"bit {bits[0]}" if len(bits) == 1 else f"bits {', '.join(bits)}"


def altered_word(
    facts: Facts, name: str, damage: LinkDamage, index: int, rest: str, confidence: float
) -> Finding:
    """Return the finding on the one compared word that differs; ``rest`` says what is equal."""
    hit, up, down = damage.at(index), damage.diff.up, damage.diff.down
    place = place_of_pair(hit.pair)
    before, after = int(damage.words.up[index]), int(damage.words.down[index])
    first = int(damage.words.up_at[index]) - hit.pair.up.start
    edit = Edit(Op.ALTERED, first, hit.position - hit.pair.down.start, first)
    what = hit.label if hit.label.startswith("payload") else f"the {hit.label} word"
    t_ps, unc_ps = down.when(hit.position)
    return Finding(
        diagnosis=name,
        text=(
            f"{flipped_bits(before ^ after).capitalize()} of {what} of packet {place.packet} "
            f"({damage.direction}, flow {place.flow}) changed on the link; {rest}."
        ),
        device=damage.receiver,
        tap="rx_enq",
        direction=damage.direction,
        flow=place.flow,
        packet=place.packet,
        word=hit.word,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        confidence=confidence,
        evidence=(
            Evidence(
                f"{up.source} has {before:#018x}, {down.source} {after:#018x}: they differ by "
                f"{before ^ after:#018x}.",
                damage.receiver,
                "rx_enq",
                neighbourhood(damage.diff, hit.pair, edit),
            ),
            good_elsewhere(damage.diff, hit.pair),
            *cause_evidence(facts, damage.receiver),
        ),
    )


def lone_word(
    facts: Facts,
    name: str,
    case: LoneDamage,
    text: str,
    place: Place,
    *,
    at: int,
    word: int | None,
    confidence: float,
    evidence: tuple[Evidence, ...],
) -> Finding:
    """Return a finding at a receiver's rx_enq alone; ``at``: stream position of the first symptom."""
    t_ps, unc_ps = case.stream.when(at)
    return Finding(
        diagnosis=name,
        text=text,
        device=case.receiver,
        tap="rx_enq",
        direction=case.direction,
        flow=place.flow,
        packet=place.packet,
        word=word,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        confidence=confidence,
        evidence=(*evidence, *cause_evidence(facts, case.receiver)),
    )


def seen(case: LoneDamage, text: str, rows: tuple[Row, ...]) -> Evidence:
    """Return what a receiver's rx_enq shows as evidence."""
    return Evidence(text, case.receiver, "rx_enq", rows)
