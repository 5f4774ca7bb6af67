"""What went wrong on a card that is described by a file: findings, and what could not be asked.

From formats and paths alone. Where the description does not fit the traffic, that is the answer and nothing else is
said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from freezeframe.analyzers.card.arrivals import (
    bad_arrivals,
    bad_on_the_way,
    gaps_inside,
    holes_inside,
)
from freezeframe.analyzers.card.claims import Claim, findings_of
from freezeframe.analyzers.card.fired import FiredPart, fired_parts
from freezeframe.analyzers.card.fit import judged, later_tap_does_not_fit
from freezeframe.analyzers.card.laws import LawVerdict
from freezeframe.analyzers.card.load import livelocked, load_not_asked, load_seen
from freezeframe.analyzers.card.logged import histogram_lines, logged_lines
from freezeframe.analyzers.card.names import BAD_ON_ARRIVAL, LAW_BROKEN
from freezeframe.analyzers.card.seen import (
    confronted,
    unexplained_causes,
    what_was_not_seen,
    what_was_seen,
)
from freezeframe.analyzers.card.stall import stalled
from freezeframe.analyzers.card.transactions import with_transactions
from freezeframe.analyzers.card.view import CardView
from freezeframe.analyzers.contract import Finding, Says, Witness
from freezeframe.capture.card.recording import CardRecording
from freezeframe.capture.card.sequences import goes_on
from freezeframe.capture.notebook import ShownInNotebooks
from freezeframe.capture.timebase import TimeBase
from freezeframe.decoders.tap.checked import CheckedStream


@dataclass(frozen=True, slots=True)
class CardExplanation(ShownInNotebooks):
    """The findings of one card's recording, first in time first.

    Attributes:
        not_asked: a line for each question whose needs are not met.
        looked_at: what the answer rests on, a line each.
        not_seen: why "no fault found" would not be true, where nothing was found; a line each.
        notes: what limits the answer.
        laws: the verdict on each law of the card.
        streams: the packets of each tap, by its name.
        logged: what the card logged up to its cause, in lines.
        histograms: a line for each.
        fired: what fired the trigger, step by step, with the words.
    """

    findings: list[Finding]
    not_asked: list[str]
    looked_at: list[str]
    not_seen: list[str]
    notes: list[str]
    laws: list[LawVerdict]
    streams: dict[str, CheckedStream]
    times: TimeBase
    logged: list[str]
    histograms: list[str]
    fired: list[FiredPart]

    @property
    def answer(self) -> str:
        """The answer in a few words; that there is no fault is said of what was looked at whole alone."""
        if self.findings:
            return f"{len(self.findings)} finding{'s' * (len(self.findings) > 1)}"
        return (
            "nothing found, and not all could be looked at" if self.not_seen else "no fault found"
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "answer": self.answer,
            "findings": [finding.to_json() for finding in self.findings],
            "not_asked": self.not_asked,
            "looked_at": self.looked_at,
            "not_seen": self.not_seen,
            "notes": self.notes,
            "laws": [
                {"name": v.law.name, "value": v.value, "holds": v.holds, "text": v.text}
                for v in self.laws
            ],
            "logged": self.logged,
            "histograms": self.histograms,
            "fired": [part.to_json() for part in self.fired],
        }


def explain_card(recording: CardRecording | CardView) -> CardExplanation:
    """Return what went wrong on a card, whatever its recording holds; no finding for a clean one."""
    card = recording if isinstance(recording, CardView) else CardView.of(recording)
    streams, laws = card.streams, card.laws
    not_asked = list(_not_asked(card))
    notes = [*card.recording.not_read, *card.times.notes]
    notes += [card.beside.note] if card.beside else []
    notes += [
        f"{name}: {problem.text}"
        for name, end in streams.items()
        for problem in end.stream.problems
    ]
    log = card.log
    notes += [f"{problem.source}: {problem.text}" for problem in log.problems]
    claims = card.unfit or list(_claims(card))
    if not card.unfit:
        claims = with_transactions(card, [*_not_of_the_link(card, claims), *_on_the_link(card)])
        claims += livelocked(card)
    if not claims:  # else something else may have made the counters differ
        claims = broken_laws(laws) or unexplained_causes(card)
    findings = findings_of(claims, card.device)
    logged = logged_lines(card.recording, card.times, log)
    histograms = histogram_lines(card.recording)
    looked_at, not_seen = [*what_was_seen(card), *load_seen(card)], list(what_was_not_seen(card))
    return CardExplanation(
        findings,
        not_asked,
        looked_at,
        not_seen,
        notes,
        laws,
        streams,
        card.times,
        logged,
        histograms,
        fired_parts(card, streams),
    )


def _claims(card: CardView) -> Iterator[Claim]:
    for end in card.firsts:
        yield from bad_arrivals(card, end, card.stretches)
        yield from holes_inside(card, end)
    for view in card.stretches:
        claim = later_tap_does_not_fit(view)
        if claim is not None:
            yield claim
        found: list[Claim] = []
        if not view.needs:
            found = [confronted(card, view, each) for each in view.claims()]
            stall = stalled(view)
            found += [] if stall is None else [stall]
        yield from found
        if claim is None:
            yield from bad_on_the_way(view, found)
    yield from _gaps(card)


def _on_the_link(card: CardView) -> Iterator[Claim]:
    """Yield what befell the card's packets on their way to the card at the other end."""
    for link in card.beside.departures if card.beside else ():
        if not link.needs:
            yield from link.claims()


def _not_of_the_link(card: CardView, claims: Sequence[Claim]) -> Iterator[Claim]:
    """Yield claims but those that a packet came in bad which left the other card otherwise: that card tells of it."""
    changed = {
        (link.second.tap.name, claim.after[-1])
        for link in (card.beside.arrivals if card.beside else ())
        if not link.needs
        for claim in link.claims()
        if claim.after
    }
    for claim in claims:
        if claim.name != BAD_ON_ARRIVAL or (claim.where[-1], claim.packet) not in changed:
            yield claim


def _gaps(card: CardView) -> Iterator[Claim]:
    forbidden = {
        c.said.tap
        for c in card.recording.card.causes
        if c.said is not None and c.said.check == "gap"
    }
    for end in card.streams.values():
        if end.tap.name in forbidden and end.tap.said.time == "exact":
            yield from gaps_inside(card, end)


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
    if card.of_hooks:
        yield "verdicts on packets: need a [tap]; C hooks record events alone"
        yield from load_not_asked(view_of_card)
        return
    if not card.said.path:
        yield "differences between taps: needs a [path] of two taps"
    for stretch in card.stretches:
        absent = [tap.name for tap in (stretch.first, stretch.second) if tap.name not in streams]
        if absent:
            yield f"{stretch.first.name} -> {stretch.second.name}: {', '.join(absent)} was not read"
    if goes_on(card.said) and view_of_card.beside is None:
        yield "what became of packets behind its far end: needs the card there in the capture, and one alone"
    for view in [*views, *(view_of_card.beside.departures if view_of_card.beside else ())]:
        if view.needs:
            yield view.needs
        elif not view.pairing.anchors:
            yield (
                f"{view.where[0]} -> {view.where[1]}: no packet that is unlike all others stands at both taps; what is "
                "missing or altered cannot be placed"
            )
        if view.unproven:
            yield view.unproven
    for name, end in streams.items():
        yield from end.unasked
        if end.said is None or end.said.is_ == "raw":
            yield f"{name}: verdicts on packets: needs a format with checks"
        elif not len(end):
            yield f"{name}: verdicts on packets: no packet is in its memory"
        elif not judged(end).any():
            yield f"{name}: verdicts on packets: its format has no check that any packet here could fail"
    gap_taps = {c.said.tap for c in card.causes if c.said is not None and c.said.check == "gap"}
    if not gap_taps:
        yield 'gap-in-packet: needs a cause with check = "gap" at a tap, which forbids it'
    for name in sorted(gap_taps & set(streams)):
        if streams[name].tap.said.time != "exact":
            yield f'gap-in-packet at {name}: needs time = "exact"'
    yield from load_not_asked(view_of_card)
    yield from (verdict.text for verdict in laws if verdict.holds is None)
