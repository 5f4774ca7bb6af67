"""Decoding for programs: what ``freezeframe.capture.decode`` calls through its entry point."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freezeframe.capture.errors import InputError
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.folder.samples import SampleFolder, is_sample_folder

if TYPE_CHECKING:
    import pandas as pd

    from freezeframe.decoders.trace.trace import Trace

__all__ = ["decode"]


def decode(
    capture: CaptureFolder | SampleFolder | Path | str, specs: Sequence[str], **options: Any
) -> Trace | dict[str, pd.DataFrame]:
    """Decode a card's recording without specs, anything with them.

    Raises:
        InputError: the capture or a spec cannot be used; samples without a spec.
    """
    if not specs:
        return _trace(capture, **options)
    from freezeframe.decoders.run import decode_file

    path = capture.path if isinstance(capture, CaptureFolder | SampleFolder) else capture
    return {
        found.name: found.table.to_pandas() for found in decode_file(path, list(specs), **options)
    }


def _trace(capture: CaptureFolder | SampleFolder | Path | str, **options: Any) -> Trace:
    from freezeframe.decoders.trace.decode import decode_capture

    if not isinstance(capture, CaptureFolder | SampleFolder):
        path = Path(capture)
        if path.is_dir() and not is_sample_folder(path):
            capture = CaptureFolder.open(path)
    if not isinstance(capture, CaptureFolder):
        path = capture.path if isinstance(capture, SampleFolder) else Path(capture)
        raise InputError(
            f"{path}: holds samples, so name a decoder, for instance decode(capture, 'uart'); "
            f"freezeframe decode {path} proposes some"
        )
    return decode_capture(capture, **options)
