"""``freezeframe explain``: the explanation of a capture, printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from freezeframe.analyzers.explain import explain
from freezeframe.analyzers.witness.own_faults import own_faults
from freezeframe.analyzers.witness.qualified import not_usable
from freezeframe.capture.code import code
from freezeframe.capture.errors import InputError
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.qualification import Qualification, read_qualification, remembered
from freezeframe.gui.cli.explanation_text import explanation_document, explanation_text
from freezeframe.gui.cli.output import emit_json
from freezeframe.gui.cli.work.captures import card_folder, opened

# Cards described by a file: not loaded for a capture of the built-in one.
_show_card_explanation = code("freezeframe.gui.cli.work.card_capture:show_card_explanation")
_NONE = "none"  # among the candidates: what was seen fits a card without a fault as well


def show_explanation(
    capture: Path,
    devices: Sequence[str] | None,
    faults: Path | None = None,
    qualified: Path | None = None,
    *,
    json: bool,
) -> bool:
    """Explain a capture, or these devices of it, and print it; return whether a finding fits no card without a fault.

    Args:
        faults: folder of fault files that are looked for, too.
        qualified: file of a qualification; None: that which this host remembers, if any.

    Raises:
        CaptureFormatError, InputError: it is no capture, holds no such device, or an option is not for its card.
    """
    card = card_folder(capture)
    if card is not None:
        if faults is not None or qualified is not None:
            raise InputError(
                f"--faults and --qualified: are for captures of the built-in card, and {capture} is of a described one"
            )
        return bool(_show_card_explanation(card, devices, json=json))
    folder = opened(capture, devices)
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
    return any(_NONE not in finding.candidates for finding in explanation.findings)


def _remembered(folder: CaptureFolder) -> tuple[Qualification | None, str]:
    """Return what this host remembers of the card; or None, and why it is not used (empty where there is nothing)."""
    try:
        known = remembered(folder)
    except InputError as error:
        return None, f"Not used: {error}"
    why = "" if known is None else not_usable(folder, known)
    return (None, f"Not used: {known.said}: {why}") if known is not None and why else (known, "")
