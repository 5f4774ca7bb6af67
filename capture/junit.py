"""Verdicts as JUnit XML, as test servers read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree


@dataclass(frozen=True, slots=True)
class Case:
    """One verdict: ``outcome`` is "passed", "failure" or "skipped"; ``message`` says why it is not passed."""

    group: str
    name: str
    outcome: str = "passed"
    message: str = ""
    text: str = ""
    output: str = ""
    duration_s: float = 0.0


def junit_xml(suite: str, cases: Sequence[Case]) -> bytes:
    """Return a document of one suite."""
    outcomes = [case.outcome for case in cases]
    root = ElementTree.Element(
        "testsuite",
        name=_plain(suite),
        tests=str(len(cases)),
        failures=str(outcomes.count("failure")),
        skipped=str(outcomes.count("skipped")),
        errors="0",
        time=f"{sum(case.duration_s for case in cases):.3f}",
    )
    for case in cases:
        entry = ElementTree.SubElement(
            root,
            "testcase",
            classname=_plain(case.group),
            name=_plain(case.name),
            time=f"{case.duration_s:.3f}",
        )
        if case.outcome != "passed":
            why = ElementTree.SubElement(entry, case.outcome, message=_plain(case.message))
            why.text = _plain(case.text)
        if case.output:
            ElementTree.SubElement(entry, "system-out").text = _plain(case.output)
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _plain(text: str) -> str:
    """Return text without what XML 1.0 cannot hold."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)
