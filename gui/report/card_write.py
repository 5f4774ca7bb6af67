"""The report of a capture of described cards as a page; the parts are those of any report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from freezeframe.analyzers.card.explain import CardExplanation, explain_card
from freezeframe.analyzers.card.view import CardsView, CardView
from freezeframe.gui.moments import Freeze, card_freeze
from freezeframe.gui.plots.card_lanes import card_drawings, unplaced
from freezeframe.gui.plots.proof import card_finding_drawings
from freezeframe.gui.report.advice import next_steps
from freezeframe.gui.report.analysis_sections import Ran, analyses_section, drawing_figure
from freezeframe.gui.report.capture_sections import commands_section, integrity_section
from freezeframe.gui.report.card_sections import card_state, cards_table, packets_around
from freezeframe.gui.report.finding_section import (
    PROVED,
    clean_headline,
    finding_headline,
    findings_parts,
)
from freezeframe.gui.report.html import Html, element, join, page
from freezeframe.gui.report.page_parts import contents, footer, notes_list
from freezeframe.gui.report.style import script_text, style_text
from freezeframe.gui.text import folder_title, printable

_CLEAN = "Nothing is wrong in what could be looked at."


def render_card_report(
    view: CardsView, explained: Sequence[CardExplanation], analyses: Sequence[Ran] = ()
) -> str:
    """Return the report as one HTML document that loads nothing and runs only its own script.

    Args:
        explained: the explanation of each card of the view.
        analyses: what `analysis_sections.run_all` gives; without, the report has no such part.
    """
    name = printable(folder_title(view.folder.path))
    several = len(view.cards) > 1
    found = [finding for explanation in explained for finding in explanation.findings]
    parts = [element("p", f"Freezeframe report of {name}", css="eyebrow")]
    for number, (card, explanation) in enumerate(zip(view.cards, explained, strict=True)):
        heading = f"Device {card.device}, {card.recording.card.name}" if several else ""
        more = contents(bool(found), bool(analyses)) if not number else Html("")
        parts += _one(card, explanation, heading, more, view.folder.path)
    parts += [
        analyses_section(analyses),
        element("h2", "At the freeze", id="freeze"),
        *(
            join(element("h3", f"Device {card.device}") if several else Html(""), card_state(card))
            for card in view.cards
        ),
        cards_table(view.folder, view.cards),
        integrity_section(view.folder),
        commands_section(view.folder),
        footer(
            "Times of a card count from the zero of its bus clock's counter; ± is the uncertainty of its clocks."
        ),
    ]
    answers = dict.fromkeys(explanation.answer for explanation in explained)
    title = f"{found[0].diagnosis if found else '; '.join(answers)} - {name}"
    return page(title, style_text(), *parts, script=script_text())


def explain_cards(view: CardsView) -> list[CardExplanation]:
    """Return the explanation of each card of a capture."""
    return [explain_card(card) for card in view.cards]


def _one(
    card: CardView, explanation: CardExplanation, heading: str, more: Html, capture: Path
) -> list[Html]:
    """Return the parts on one card: what happened, on what evidence, when, and what could not be asked."""
    freeze = card_freeze(card)
    findings = explanation.findings
    best = findings[0] if findings else None
    parts = [element("h2", heading)] if heading else []
    parts += [finding_headline(best, freeze, capture) if best else _clean(explanation, freeze)]
    parts += [notes_list(explanation.notes), more]
    frozen = [freeze] if freeze else []
    pictures = [
        card_finding_drawings(card, finding, frozen, prefix=f"{card.device}-proof{number}-")
        for number, finding in enumerate(findings[:PROVED])
    ]
    parts += findings_parts(findings, next_steps(best) if best else (), pictures, freeze, capture)
    drawn = card_drawings(card, findings, frozen, prefix=f"{card.device}-", moves=True)
    parts += [
        element("h2", "Time line", id="time-line"),
        *map(drawing_figure, drawn),
        *([] if drawn else [element("p", "No packet has a time, so there is nothing to draw.")]),
        notes_list(unplaced(card)),
        packets_around(card, best),
    ]
    for title, lines in (
        ("What fired", [part.text for part in explanation.fired]),
        ("Looked at", explanation.looked_at),
        ("What the card logged", explanation.logged),
        ("Histograms", explanation.histograms),
        ("What could not be asked", explanation.not_asked),
    ):
        if lines:
            told = [element("li", line) for line in lines]
            parts += [element("h2", title), element("ul", *told)]
    return parts


def _clean(explanation: CardExplanation, freeze: Freeze | None) -> Html:
    """Return the top of the part on a card without a finding, with what it does not rest on."""
    top = clean_headline(freeze, _CLEAN, explanation.answer, sure=not explanation.not_seen)
    unseen = [element("li", line) for line in explanation.not_seen]
    return join(top, element("ul", *unseen) if unseen else Html(""))
