"""A FIFO that lost or repeated one word: what word-omitted and word-duplicated have in common.

The taps before and after the FIFO differ by one edit of one packet; or, from one tap alone, a packet
with a good header is one payload word too short or too long.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from freezeframe.analyzers.contract import Evidence, Finding, Row
from freezeframe.analyzers.diagnosis.lane_slips import drifts
from freezeframe.analyzers.diagnosis.place import (
    Place,
    cause_evidence,
    good_elsewhere,
    neighbourhood,
    place_of_pair,
    tap_after,
    verdict_text,
    word_text,
)
from freezeframe.analyzers.facts import LINK, SENDER_FIFO, Facts, Unplaced
from freezeframe.analyzers.taps.align import Edit, Op
from freezeframe.analyzers.taps.tap_diff import PacketPair, SegmentDiff

__all__ = ["Alone", "BetweenTaps", "alone", "alone_finding", "between_taps", "pair_finding"]


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
        device, tap = tap_after(sender, receiver, stretch)
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
                _fifo(stretch),
                place_of_pair(pair),
                word,
                word_text(word, span),
            )


def pair_finding(facts: Facts, name: str, found: BetweenTaps, text: str, how: str) -> Finding:
    """Return the finding on a packet whose words both taps have; ``how`` introduces the words."""
    at = min(found.pair.down.start + found.edit.down, found.pair.down.end - 1)
    t_ps, unc_ps = found.diff.down.when(at)
    return Finding(
        diagnosis=name,
        text=text,
        device=found.device,
        tap=found.tap,
        direction=found.diff.direction,
        flow=found.place.flow,
        packet=found.place.packet,
        word=found.word,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        confidence=0.99 if found.pair.up.whole and found.pair.down.whole else 0.95,
        evidence=(
            Evidence(
                how,
                found.device,
                found.tap,
                neighbourhood(found.diff, found.pair, found.edit),
            ),
            good_elsewhere(found.diff, found.pair),
            *cause_evidence(facts, found.receiver),
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
        device, tap = tap_after(case.sender, case.receiver, stretches[0])
        yield Alone(case, device, tap, _fifo(stretches[0]))


def alone_finding(
    facts: Facts,
    name: str,
    found: Alone,
    text: str,
    *,
    at: int,
    word: int | None,
    confidence: float,
    how: str,
    rows: tuple[Row, ...],
) -> Finding:
    """Return the finding on a packet of one tap; ``at``: stream position of the first symptom."""
    case = found.case
    t_ps, unc_ps = case.stream.when(at)
    return Finding(
        diagnosis=name,
        text=text,
        device=found.device,
        tap=found.tap,
        direction=found.direction,
        flow=case.packet.flow,
        packet=case.packet.seq,
        word=word,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        confidence=confidence,
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


def _fifo(stretch: int) -> str:
    return "outgoing" if stretch == SENDER_FIFO else "incoming"
