"""The capture folder ``NAME.ff/``: the evidence as it was read, never changed afterwards."""

from __future__ import annotations

from freezeframe.capture.folder.content import (
    DeviceCapture,
    Gap,
    HostTrace,
    MemoryImage,
    RegisterImage,
    looped_back,
    pack_register,
    peers_of,
)
from freezeframe.capture.folder.reader import CaptureFolder
from freezeframe.capture.folder.writer import CaptureWriter

__all__ = [
    "CaptureFolder",
    "CaptureWriter",
    "DeviceCapture",
    "Gap",
    "HostTrace",
    "MemoryImage",
    "RegisterImage",
    "looped_back",
    "pack_register",
    "peers_of",
]
