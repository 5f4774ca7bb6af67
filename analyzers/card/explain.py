"""What went wrong on a card that is described by a file: findings, what could not be asked, and figures.

From formats and paths alone. Where the description does not fit the traffic, that is the answer and nothing else is
said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from freezeframe.analyzers.analysis import Figure
from freezeframe.analyzers.card.arrivals import bad_arrivals, does_not_fit, gaps_inside
from freezeframe.analyzers.card.claims import LAW_BROKEN, Claim, Says, Witness, findings_of
from freezeframe.analyzers.card.figures import stretch_figures, tap_figures
from freezeframe.analyzers.card.laws import LawVerdict, check_laws
from freezeframe.analyzers.card.stall import stalled
from freezeframe.analyzers.card.stretch import StretchView
from freezeframe.analyzers.contract import Finding
from freezeframe.capture.card.recording import CardRecording
from freezeframe.capture.card.time_base import card_time_base
from freezeframe.capture.notebook import ShownInNotebooks
from freezeframe.capture.timebase import TimeBase
from freezeframe.decoders.tap.checked import CheckedStream, check_packets
from freezeframe.decoders.tap.stream import decode_tap


@dataclass(frozen=True, slots=True)
class CardExplanation(ShownInNotebooks):
    """The findings of one card's recording, first in time first.

    Attributes:
        not_asked: a line for each question whose needs are not met.
        notes: what limits the answer.
        laws: the verdict on each law of the card.
        streams: the packets of each tap, by its name.
    """

    findings: list[Finding]
    not_asked: list[str]
    notes: list[str]
    laws: list[LawVerdict]
    figures: list[Figure]
    streams: dict[str, CheckedStream]
    times: TimeBase

    def to_json(self) -> dict[str, Any]:
        return {
            "findings": [finding.to_json() for finding in self.findings],
            "not_asked": self.not_asked,
            "notes": self.notes,
            "laws": [
                {"name": v.law.name, "value": v.value, "holds": v.holds, "text": v.text}
                for v in self.laws
            ],
            "figures": [figure.to_json() for figure in self.figures],
        }


def explain_card(recording: CardRecording) -> CardExplanation:
    """Return what went wrong on a card, whatever its recording holds; no finding for a clean one."""
    streams = {
        name: check_packets(recording.card.said, decode_tap(tap))
        for name, tap in recording.taps.items()
    }
    times = card_time_base(recording)
    views = [
        StretchView(
            recording, stretch, streams[stretch.first.name], streams[stretch.second.name], times
        )
        for stretch in recording.card.stretches
        if stretch.first.name in streams and stretch.second.name in streams
    ]
    laws = check_laws(recording)
    not_asked = list(_not_asked(recording, streams, views, laws))
    notes = [*recording.not_read, *times.notes]
    notes += [
        f"{name}: {problem.text}"
        for name, end in streams.items()
        for problem in end.stream.problems
    ]
    figures = [figure for end in streams.values() for figure in tap_figures(recording, end)]
    firsts = _first_ends(views)
    unfit = [claim for view, end in firsts if (claim := does_not_fit(view, end)) is not None]
    if unfit:
        findings = findings_of(unfit, recording.device)
    else:
        claims = list(_claims(recording, views, firsts, streams))
        figures += [figure for view in views if not view.needs for figure in stretch_figures(view)]
        claims += _broken(laws, claims)
        findings = findings_of(claims, recording.device)
    return CardExplanation(findings, not_asked, notes, laws, figures, streams, times)


def _first_ends(views: list[StretchView]) -> list[tuple[StretchView, CheckedStream]]:
    """Return the first tap of each path."""
    seen: dict[str, tuple[StretchView, CheckedStream]] = {}
    for view in views:
        seen.setdefault(view.stretch.path, (view, view.first))
    return list(seen.values())


def _claims(
    recording: CardRecording,
    views: list[StretchView],
    firsts: list[tuple[StretchView, CheckedStream]],
    streams: dict[str, CheckedStream],
) -> Iterator[Claim]:
    for view, end in firsts:
        yield from bad_arrivals(view, end)
    for view in views:
        if view.needs:
            continue
        yield from view.claims()
        stall = stalled(view)
        if stall is not None:
            yield stall
    forbidden = {
        c.said.tap for c in recording.card.causes if c.said is not None and c.said.check == "gap"
    }
    for view in views:
        for end in (view.first, view.second):
            if end.tap.name in forbidden and end.tap.said.time == "exact":
                forbidden.discard(end.tap.name)
                yield from gaps_inside(view, end)


def _broken(laws: list[LawVerdict], claims: list[Claim]) -> list[Claim]:
    """Return a claim for each law that is broken and that no other claim can explain."""
    broken = [verdict for verdict in laws if verdict.holds is False]
    if claims:
        return []
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


def _not_asked(
    recording: CardRecording,
    streams: dict[str, CheckedStream],
    views: list[StretchView],
    laws: list[LawVerdict],
) -> Iterator[str]:
    """Say which question has needs that this card or this recording does not meet."""
    card = recording.card
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
