"""Capture folders, opened before anything large is loaded: a mistyped path is reported at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from freezeframe.capture.errors import InputError
from freezeframe.capture.folder import CaptureFolder


def opened(path: Path, devices: Sequence[str] | None = None) -> CaptureFolder:
    """Open a capture folder that holds these devices.

    Raises:
        CaptureFormatError, InputError: it is no capture folder, or holds no such device.
    """
    folder = CaptureFolder.open(path)
    known = [device.name for device in folder.devices]
    for name in devices or ():
        if name not in known:
            raise InputError(f"{path}: no device {name!r}; the capture holds {', '.join(known)}")
    return folder
