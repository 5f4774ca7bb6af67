"""How notebooks show captures, tables, findings and analyses: the drawings and tables of the report.

Called by ``_repr_html_`` of those classes (`freezeframe.capture.notebook`).
Static: no script runs, so a saved notebook shows the same wherever it is opened.
"""

from __future__ import annotations

from itertools import count
from pathlib import Path

from freezeframe.analyzers.analysis import AnalysisResult
from freezeframe.analyzers.card.explain import CardExplanation
from freezeframe.analyzers.card.view import CardsView
from freezeframe.analyzers.contract import Finding
from freezeframe.analyzers.explain import Explanation
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.decoders.trace.decode import Trace
from freezeframe.gui.palette import LIGHT
from freezeframe.gui.plots.figures import Drawing, drawings, legend_html
from freezeframe.gui.plots.style import drawing_style, variables
from freezeframe.gui.plots.time_lines import timeline_drawings
from freezeframe.gui.report.advice import headline
from freezeframe.gui.report.analysis_sections import FIGURES
from freezeframe.gui.report.capture_sections import devices_section, losses_text
from freezeframe.gui.report.card_sections import cards_table
from freezeframe.gui.report.finding_section import finding_section
from freezeframe.gui.report.frames import frame_table
from freezeframe.gui.report.html import Html, element, join, listing
from freezeframe.gui.text import confidence_digits, folder_title, printable

_ROWS = 5
_TABLES = ("packets", "words", "events", "intervals")

_numbers = count(1)  # drawings of one notebook need ids of their own


def html(
    thing: CaptureFolder
    | CardFolder
    | Trace
    | Explanation
    | CardExplanation
    | Finding
    | AnalysisResult,
) -> str:
    """Return a thing of ours as HTML."""
    made: Html
    if isinstance(thing, (CaptureFolder, CardFolder)):
        made = _capture(thing)
    elif isinstance(thing, CardExplanation):
        made = _card_explanation(thing)
    elif isinstance(thing, Trace):
        made = _trace(thing)
    elif isinstance(thing, Explanation):
        made = _explanation(thing)
    elif isinstance(thing, Finding):
        made = finding_section(1, thing, None)
    else:
        made = _result(thing)
    return element("div", element("style", Html(_style())), made, css="freezeframe")


def _capture(capture: CaptureFolder | CardFolder) -> Html:
    return join(
        element("p", element("strong", printable(folder_title(capture.path)))),
        devices_section(capture)
        if isinstance(capture, CaptureFolder)
        else cards_table(capture, CardsView(capture).cards),
        losses_text(capture.lost),
    )


def _card_explanation(explanation: CardExplanation) -> Html:
    found = [finding_section(n, f, None) for n, f in enumerate(explanation.findings, 1)]
    answer = explanation.answer
    parts = found or [element("p", element("strong", answer[:1].upper() + answer[1:]))]
    for title, lines in (
        ("Not seen", explanation.not_seen),
        ("Could not be asked", explanation.not_asked),
    ):
        if lines:
            parts += [element("p", title), element("ul", *(element("li", line) for line in lines))]
    return join(*parts, _notes(explanation.notes))


def _trace(trace: Trace) -> Html:
    made = timeline_drawings(trace, (), (), prefix=_prefix())
    tables = []
    for name in _TABLES:
        frame = getattr(trace, name)
        tables.append(
            element(
                "details",
                element("summary", f"{name}: {len(frame):,} rows"),
                frame_table(frame, f"The first {min(_ROWS, len(frame))}", _ROWS),
            )
        )
    return join(*map(_figure, made), _notes(trace.notes), *tables)


def _explanation(explanation: Explanation) -> Html:
    if not explanation.findings:
        answer = explanation.answer
        top = element("p", element("strong", answer[:1].upper() + answer[1:]))
        return join(top, _notes(explanation.notes))
    first = explanation.findings[0]
    made = timeline_drawings(explanation.trace, explanation.findings, (), prefix=_prefix())
    others = [
        element("li", f"{headline(f)} ({confidence_digits(f.confidence)})")
        for f in explanation.findings[1:]
    ]
    return join(
        finding_section(1, first, None),
        _figure(made[0]),
        join(element("p", "Other findings"), element("ul", *others)) if others else Html(""),
        _notes(explanation.notes),
    )


def _result(result: AnalysisResult) -> Html:
    figures = Html("")
    if result.figures:
        figures = element(
            "details",
            element("summary", f"{len(result.figures):,} figures"),
            listing("", result.figures, FIGURES),
        )
    found = [element("li", f"{finding.diagnosis}: {finding.text}") for finding in result.findings]
    tables = [
        element(
            "details",
            element("summary", f"table {name}: {len(frame):,} rows"),
            frame_table(frame, f"The first {min(_ROWS, len(frame))}", _ROWS),
        )
        for name, frame in result.tables.items()
    ]
    return join(
        element("p", element("strong", result.name)),
        *map(_figure, drawings(result, prefix=_prefix())),
        element("ul", *found) if found else Html(""),
        figures,
        *tables,
        _notes(result.notes),
    )


def _figure(drawing: Drawing) -> Html:
    return element(
        "figure",
        element("figcaption", drawing.caption),
        element("div", Html(drawing.svg), css="scroll"),
        Html(legend_html(drawing.legend)),
    )


def _notes(notes: list[str] | tuple[str, ...]) -> Html:
    return join(*(element("p", note, css="note") for note in notes))


def _prefix() -> str:
    return f"cell{next(_numbers)}-"


def _style() -> str:
    own = Path(__file__).with_name("notebook.css").read_text("utf-8")
    return f".freezeframe {{ {variables(LIGHT)} }}\n{own}{drawing_style()}"
