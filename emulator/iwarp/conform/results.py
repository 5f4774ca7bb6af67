"""Verdicts for programs: JSON, and JUnit XML as test servers read it."""

from __future__ import annotations

from typing import Any

from freezeframe.capture.junit import Case, junit_xml
from freezeframe.emulator.iwarp.conform.outcome import FAIL, INCONCLUSIVE, PASS
from freezeframe.emulator.iwarp.conform.requirement import Verdict
from freezeframe.emulator.iwarp.conform.suite import Results

LAYERS = {1: "startup", 2: "MPA", 3: "DDP", 4: "RDMAP", 5: "RDMAP extensions"}
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
    kinds = {PASS: "passed", FAIL: "failure", INCONCLUSIVE: "skipped"}
    cases = [
        Case(
            f"iwarp.{layer(verdict)}",
            verdict.requirement.name,
            kinds[verdict.outcome],
            verdict.seen,
            f"{verdict.requirement.clause}: {verdict.requirement.done}",
            verdict.seen,
            verdict.duration_s,
        )
        for verdict in results.verdicts
    ]
    return junit_xml(f"iwarp conform {peer}", cases)
