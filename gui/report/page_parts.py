"""What every report has: links to its parts, notes, and what kind of file it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from freezeframe.gui.report.html import Html, element, join


def contents(found: bool, analysed: bool) -> Html:
    """Return links to the parts of a page on a capture folder."""
    return links_to(
        {
            "evidence": "Evidence" if found else "",
            "time-line": "Time line",
            "analyses": "Analyses" if analysed else "",
            "freeze": "At the freeze",
            "devices": "Devices",
            "integrity": "Integrity of the capture",
            "again": "To see it again",
        }
    )


def links_to(parts: Mapping[str, str]) -> Html:
    """Return links to parts of this page, by their id; those without a text are not there."""
    links = [
        element("li", element("a", text, href=f"#{name}")) for name, text in parts.items() if text
    ]
    return element("nav", element("ul", *links, css="toc"), aria_label="Parts of this report")


def fact_list(facts: Sequence[tuple[str, str, str]]) -> Html:
    """Return facts as a grid: what it is, its value, a word on it."""
    return element(
        "dl",
        *(
            element(
                "div",
                element("dt", label),
                element("dd", value, element("small", note) if note else Html("")),
            )
            for label, value, note in facts
        ),
        css="facts",
    )


def again_section(lines: Sequence[str]) -> Html:
    """Return commands that give the same answer again."""
    return join(
        element("h2", "To see it again", id="again"),
        element("pre", element("code", "\n".join(lines))),
    )


def notes_list(notes: Sequence[str]) -> Html:
    """Return notes, a paragraph each."""
    return join(*(element("p", note, css="note") for note in notes))


def footer(times: str) -> Html:
    """Return the last lines of a report; ``times`` says what its times count from."""
    return element(
        "footer",
        "This file holds everything it shows and loads nothing. Its own script, where a browser runs "
        "it, zooms the drawings (drag, Ctrl and wheel, keys + - and arrows) and sorts and filters "
        "the tables; nothing is missing without. Parts that are closed on the screen are left out "
        f"on paper. {times}",
    )
