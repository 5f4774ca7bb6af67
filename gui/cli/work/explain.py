"""``freezeframe explain``: the explanation of a capture, printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from freezeframe.analyzers.explain import Explanation, explain
from freezeframe.analyzers.witness.own_faults import own_faults
from freezeframe.analyzers.witness.qualified import not_usable
from freezeframe.capture.errors import InputError
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.qualification import Qualification, read_qualification, remembered
from freezeframe.gui.cli.explanation_text import explanation_document, explanation_text
from freezeframe.gui.cli.output import emit_json


def show_explanation(
    folder: CaptureFolder,
    devices: Sequence[str] | None,
    faults: Path | None = None,
    qualified: Path | None = None,
    *,
    json: bool,
) -> Explanation:
    """Explain a capture, or these devices of it, and print the explanation.

    Args:
        faults: folder of fault files that are looked for, too.
        qualified: file of a qualification; None: that which this host remembers, if any.
    """
    own = own_faults(faults) if faults is not None else ()
    if qualified is not None:
        explanation = explain(folder, devices or None, own, read_qualification(qualified))
    else:
        known, why_not = _remembered(folder)
        explanation = explain(folder, devices or None, own, known)
        if why_not:
            explanation = replace(explanation, qualified=(why_not,))
    if json:
        emit_json(explanation_document(folder, explanation))
    else:
        print(explanation_text(folder, explanation))
    return explanation


def _remembered(folder: CaptureFolder) -> tuple[Qualification | None, str]:
    """Return what this host remembers of the card; or None, and why it is not used (empty where there is nothing)."""
    try:
        known = remembered(folder)
    except InputError as error:
        return None, f"Not used: {error}"
    why = "" if known is None else not_usable(folder, known)
    return (None, f"Not used: {known.said}: {why}") if known is not None and why else (known, "")
