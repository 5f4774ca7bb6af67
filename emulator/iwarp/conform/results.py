"""Verdicts for programs: JSON, and JUnit XML as test servers read it."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from freezeframe.emulator.iwarp.conform.outcome import FAIL, INCONCLUSIVE, PASS
from freezeframe.emulator.iwarp.conform.requirement import Verdict
from freezeframe.emulator.iwarp.conform.suite import Results

LAYERS = {1: "startup", 2: "MPA", 3: "DDP", 4: "RDMAP"}
"""The layer by the hundreds of a requirement's number."""


def layer(verdict: Verdict) -> str:
    """Return the layer of a verdict's requirement."""
    return LAYERS[verdict.requirement.number // 100]


def document(results: Results, peer: str, role: str) -> dict[str, Any]:
    """Return all of a run for JSON."""
    return {
        "peer": peer,
        "role": role,
        PASS: results.count(PASS),
        FAIL: results.count(FAIL),
        INCONCLUSIVE: results.count(INCONCLUSIVE),
        "requirements": [
            {
                "number": v.requirement.number,
                "layer": layer(v),
                "clause": v.requirement.clause,
                "text": v.requirement.text,
                "done": v.requirement.done,
                "verdict": v.outcome,
                "seen": v.seen,
                "connections": ["{}:{}".format(*results.records[n].ours) for n in v.links],
                "duration_s": round(v.duration_s, 3),
            }
            for v in results.verdicts
        ],
    }


def junit(results: Results, peer: str) -> bytes:
    """Return the verdicts as JUnit XML; what is inconclusive is skipped there."""
    total_s = sum(verdict.duration_s for verdict in results.verdicts)
    suite = ElementTree.Element(
        "testsuite",
        name=f"iwarp conform {peer}",
        tests=str(len(results.verdicts)),
        failures=str(results.count(FAIL)),
        skipped=str(results.count(INCONCLUSIVE)),
        errors="0",
        time=f"{total_s:.3f}",
    )
    for verdict in results.verdicts:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=f"iwarp.{layer(verdict)}",
            name=verdict.requirement.name,
            time=f"{verdict.duration_s:.3f}",
        )
        if verdict.outcome != PASS:
            kind = "failure" if verdict.outcome == FAIL else "skipped"
            told = ElementTree.SubElement(case, kind, message=_plain(verdict.seen))
            told.text = f"{verdict.requirement.clause}: {verdict.requirement.done}"
        ElementTree.SubElement(case, "system-out").text = _plain(verdict.seen)
    ElementTree.indent(suite)
    return bytes(ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)) + b"\n"


def _plain(text: str) -> str:
    """Return text without what XML 1.0 cannot hold."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
