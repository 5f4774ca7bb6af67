"""``freezeframe learn``: the fault file, written."""

from __future__ import annotations

import sys
from pathlib import Path

from freezeframe.analyzers.explain import explain
from freezeframe.analyzers.witness.own_faults import learned
from freezeframe.capture.errors import InputError
from freezeframe.capture.folder import CaptureFolder


def write_learned(good: Path, bad: Path, name: str, into: Path) -> None:
    """Write ``NAME.toml`` into a folder, and say so.

    Raises:
        InputError: a capture cannot be read, nothing can be learned, or the file is there already.
    """
    path = into / f"{name}.toml"
    if path.exists():
        raise InputError(f"{path}: is there already; give another --name, or remove it")
    wrong = CaptureFolder.open(bad)
    said = explain(wrong).findings
    fine = CaptureFolder.open(good)
    wrong_too = explain(fine).findings
    text = learned(fine, wrong, name, said[0].diagnosis if said else "nothing")
    try:
        into.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise InputError(f"{path}: could not be written: {error.strerror}") from error
    if wrong_too:
        names = ", ".join(finding.diagnosis for finding in wrong_too)
        print(
            f"warning: {good} has findings of its own ({names}): what they rest on is taken for normal, "
            "and not learned",
            file=sys.stderr,
        )
    print(text, end="")
    print(f"written to {path}")
