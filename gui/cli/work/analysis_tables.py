"""Tables of analyses as files: all of them, or none; nothing is replaced that was not named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from freezeframe.analyzers.analysis import AnalysisResult
from freezeframe.capture.errors import InputError
from freezeframe.capture.parquet import write_table
from freezeframe.gui.export.place import check_output, new_files
from freezeframe.gui.export.safe_csv import safe_frame


def write_tables(
    results: Sequence[AnalysisResult], folder: Path, source: Path, form: str, *, force: bool
) -> list[Path]:
    """Write every table of the results as ``ANALYSIS.TABLE.FORM`` into a folder, made where it is missing.

    Args:
        source: what was analysed; it is never written into.
        form: ``parquet`` or ``csv``.
    Raises:
        InputError: the folder cannot be made, or a file may not be written; then none of them is there.
    """
    if source.exists() and folder.resolve().is_relative_to(source.resolve()):
        raise InputError(
            f"--tables {folder}: lies in the capture, where only evidence is kept; choose another folder"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--tables {folder}: cannot be made: {error.strerror}") from None
    frames = {
        folder / f"{result.name}.{name}.{form}": frame
        for result in results
        for name, frame in result.tables.items()
    }
    for place in frames:
        check_output(place, source, force=force)
    with new_files(list(frames), force=force) as temporary:
        for frame, path in zip(frames.values(), temporary, strict=True):
            _write(frame, path, form)
    return list(frames)


def _write(frame: pd.DataFrame, path: Path, form: str) -> None:
    if form == "csv":
        safe_frame(frame).to_csv(path, index=False)
        return
    write_table(frame, path)
