"""What went wrong on a card that is described by a file: findings, and what could not be asked.

From formats and paths alone. Where the description does not fit the traffic, that is the answer and nothing else is
said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from freezeframe.analyzers.card.arrivals import bad_arrivals, gaps_inside
from freezeframe.analyzers.card.claims import LAW_BROKEN, Claim, Says, Witness, findings_of
from freezeframe.analyzers.card.laws import LawVerdict
from freezeframe.analyzers.card.logged import histogram_lines, logged_lines
from freezeframe.analyzers.card.stall import stalled
from freezeframe.analyzers.card.view import CardView
from freezeframe.analyzers.contract import Finding
from freezeframe.capture.card.recording import CardRecording
from freezeframe.capture.notebook import ShownInNotebooks
from freezeframe.capture.timebase import TimeBase
from freezeframe.decoders.tap.checked import CheckedStream
from freezeframe.decoders.tap.event_log import decode_log


@dataclass(frozen=True, slots=True)
class CardExplanation(ShownInNotebooks):
    """The findings of one card's recording, first in time first.

    Attributes:
        not_asked: a line for each question whose needs are not met.
        notes: what limits the answer.
        laws: the verdict on each law of the card.
        streams: the packets of each tap, by its name.
        logged: what the card logged up to its cause, in lines.
        histograms: a line for each.
    """

    findings: list[Finding]
    not_asked: list[str]
    notes: list[str]
    laws: list[LawVerdict]
    streams: dict[str, CheckedStream]
    times: TimeBase
    logged: list[str]
    histograms: list[str]

    def to_json(self) -> dict[str, Any]:
        return {
            "findings": [finding.to_json() for finding in self.findings],
            "not_asked": self.not_asked,
            "notes": self.notes,
            "laws": [
                {"name": v.law.name, "value": v.value, "holds": v.holds, "text": v.text}
                for v in self.laws
            ],
            "logged": self.logged,
            "histograms": self.histograms,
        }


def explain_card(recording: CardRecording | CardView) -> CardExplanation:
    """Return what went wrong on a card, whatever its recording holds; no finding for a clean one."""
    card = recording if isinstance(recording, CardView) else CardView.of(recording)
    streams, laws = card.streams, card.laws
    not_asked = list(_not_asked(card))
    notes = [*card.recording.not_read, *card.times.notes]
    notes += [
        f"{name}: {problem.text}"
        for name, end in streams.items()
        for problem in end.stream.problems
    ]
    log = decode_log(card.recording, card.times)
    notes += [f"{problem.source}: {problem.text}" for problem in log.problems]
    claims = card.unfit or list(_claims(card))
    if not claims:  # else something else may have made the counters differ
        claims = broken_laws(laws)
    findings = findings_of(claims, card.device)
    logged = logged_lines(card.recording, card.times, log)
    histograms = histogram_lines(card.recording)
    return CardExplanation(
        findings, not_asked, notes, laws, streams, card.times, logged, histograms
    )


def _claims(card: CardView) -> Iterator[Claim]:
    for view, end in card.firsts:
        yield from bad_arrivals(view, end)
    for view in card.stretches:
        if view.needs:
            continue
        yield from view.claims()
        stall = stalled(view)
        if stall is not None:
            yield stall
    forbidden = {
        c.said.tap
        for c in card.recording.card.causes
        if c.said is not None and c.said.check == "gap"
    }
    for view in card.stretches:
        for end in (view.first, view.second):
            if end.tap.name in forbidden and end.tap.said.time == "exact":
                forbidden.discard(end.tap.name)
                yield from gaps_inside(view, end)


def broken_laws(laws: list[LawVerdict]) -> list[Claim]:
    """Return a claim for each law that is broken."""
    broken = [verdict for verdict in laws if verdict.holds is False]
    falsifier = "a sum within its bounds"
    return [
        Claim(
            LAW_BROKEN,
            f"The counters break {v.text}.",
            (),
            witnesses=(Witness(Says.FOR, v.text),),
            falsifier=falsifier,
        )
        for v in broken
    ]


def _not_asked(view_of_card: CardView) -> Iterator[str]:
    """Say which question has needs that this card or this recording does not meet."""
    streams, views, laws = view_of_card.streams, view_of_card.stretches, view_of_card.laws
    card = view_of_card.recording.card
    if not card.said.path:
        yield "differences between taps: needs a [path] of two taps"
    for stretch in card.stretches:
        absent = [tap.name for tap in (stretch.first, stretch.second) if tap.name not in streams]
        if absent:
            yield f"{stretch.first.name} -> {stretch.second.name}: {', '.join(absent)} was not read"
    for view in views:
        if view.needs:
            yield view.needs
        elif not view.pairing.anchors:
            yield (
                f"{view.where[0]} -> {view.where[1]}: no packet that is unlike all others stands at both taps; what is "
                "missing or altered cannot be placed"
            )
        if view.hidden:
            yield f"{view.where[0]} -> {view.where[1]}: packets that are missing: a part of a memory was not read"
    for name, end in streams.items():
        yield from end.unasked
        if end.said is None or end.said.is_ == "raw":
            yield f"{name}: verdicts on packets: needs a format with checks"
        elif not end.is_checked:
            yield f"{name}: verdicts on packets: its format has no check that any packet here could fail"
    gap_taps = {c.said.tap for c in card.causes if c.said is not None and c.said.check == "gap"}
    if not gap_taps:
        yield 'gap-in-packet: needs a cause with check = "gap" at a tap, which forbids it'
    for name in sorted(gap_taps & set(streams)):
        if streams[name].tap.said.time != "exact":
            yield f'gap-in-packet at {name}: needs time = "exact"'
    yield from (verdict.text for verdict in laws if verdict.holds is None)
