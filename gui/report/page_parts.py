"""What every report has: links to its parts, notes, and what kind of file it is."""

from __future__ import annotations

from collections.abc import Sequence

from freezeframe.gui.report.html import Html, element, join


def contents(found: bool, analysed: bool) -> Html:
    """Return links to the parts of this page."""
    parts = {
        "evidence": "Evidence" if found else "",
        "time-line": "Time line",
        "analyses": "Analyses" if analysed else "",
        "freeze": "At the freeze",
        "devices": "Devices",
        "integrity": "Integrity of the capture",
        "again": "To see it again",
    }
    links = [
        element("li", element("a", text, href=f"#{name}")) for name, text in parts.items() if text
    ]
    return element("nav", element("ul", *links, css="toc"), aria_label="Parts of this report")


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
