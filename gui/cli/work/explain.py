"""``freezeframe explain``: the explanation of a capture, printed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from freezeframe.analyzers.explain import Explanation, explain
from freezeframe.analyzers.witness.own_faults import own_faults
from freezeframe.capture.folder import CaptureFolder
from freezeframe.gui.cli.explanation_text import explanation_document, explanation_text
from freezeframe.gui.cli.output import emit_json


def show_explanation(
    folder: CaptureFolder, devices: Sequence[str] | None, faults: Path | None = None, *, json: bool
) -> Explanation:
    """Explain a capture, or these devices of it, and print the explanation.

    Args:
        faults: folder of fault files that are looked for, too.
    """
    own = own_faults(faults) if faults is not None else ()
    explanation = explain(folder, devices or None, own)
    if json:
        emit_json(explanation_document(folder, explanation))
    else:
        print(explanation_text(folder, explanation))
    return explanation
