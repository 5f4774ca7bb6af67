"""The page of a conformance run: every requirement with its verdict, and what was said on the wire where one failed."""

from __future__ import annotations

from freezeframe.emulator.iwarp.conform.link import CAME, SENT, Record
from freezeframe.emulator.iwarp.conform.outcome import FAIL, INCONCLUSIVE, PASS
from freezeframe.emulator.iwarp.conform.requirement import Verdict
from freezeframe.emulator.iwarp.conform.results import LAYERS, layer
from freezeframe.emulator.iwarp.conform.suite import Results
from freezeframe.gui.report.html import Html, element, join, page, table
from freezeframe.gui.report.style import style_text

_SHOWN_B = 256  # of each call's octets


def conform_page(results: Results, peer: str, role: str) -> str:
    """Return the page: it holds all it shows, loads nothing and runs nothing."""
    counts = f"{results.count(PASS)} pass, {results.count(FAIL)} fail, {results.count(INCONCLUSIVE)} inconclusive"
    title = f"iWARP conformance of {peer}"
    parts = [
        element("h1", title),
        element(
            "p",
            f"{counts}. The peer was the {role} of MPA; each requirement had connections of its own.",
        ),
    ]
    for name in LAYERS.values():
        found = [verdict for verdict in results.verdicts if layer(verdict) == name]
        if found:
            parts += [element("h2", name), _verdicts(found)]
    open_ones = [verdict for verdict in results.verdicts if verdict.outcome != PASS]
    if open_ones:
        parts.append(element("h2", "What was said"))
        parts += [_said(verdict, results) for verdict in open_ones]
    return page(title, style_text(), *parts)


def _verdicts(verdicts: list[Verdict]) -> Html:
    rows = [
        (
            str(v.requirement.number),
            v.outcome,
            join(v.requirement.text, element("div", v.requirement.done, css="done")),
            v.requirement.clause,
            v.seen,
        )
        for v in verdicts
    ]
    bad = [place for place, verdict in enumerate(verdicts) if verdict.outcome == FAIL]
    heads = ("", "verdict", "requirement, and what was done", "where it stands", "seen")
    return table("", heads, rows, numbers=(0,), bad_rows=bad)


def _said(verdict: Verdict, results: Results) -> Html:
    records = [results.records[number] for number in verdict.links]
    lines = [line for record in records for line in _lines(record)]
    return join(
        element("h3", f"{verdict.requirement.number}: {verdict.requirement.text}"),
        element("p", f"{verdict.outcome}: {verdict.seen}"),
        element("pre", "\n".join(lines) or "no connection came about"),
    )


def _lines(record: Record) -> list[str]:
    begin_ns = record.said[0].t_ns
    lines = []
    for said in record.said:
        who = {SENT: "sent    ", CAME: "received"}.get(said.kind, said.kind)
        shown = said.octets[:_SHOWN_B].hex(" ")
        more = f" and {len(said.octets) - _SHOWN_B:,} octets" if len(said.octets) > _SHOWN_B else ""
        lines.append(f"{(said.t_ns - begin_ns) / 1e6:10.3f} ms  {who}  {shown}{more}".rstrip())
    return lines
