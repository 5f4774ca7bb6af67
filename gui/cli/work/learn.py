"""``freezeframe learn``: the fault file, written."""

from __future__ import annotations

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
    text = learned(CaptureFolder.open(good), wrong, name, said[0].diagnosis if said else "nothing")
    try:
        into.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise InputError(f"{path}: could not be written: {error.strerror}") from error
    print(text, end="")
    print(f"written to {path}")
