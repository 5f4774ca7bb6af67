"""Capture folders, opened before anything large is loaded: a mistyped path is reported at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from freezeframe.capture.errors import InputError
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.capture.folder.of_cards import is_card_folder


def card_folder(path: Path) -> CardFolder | None:
    """Open a capture of cards that are described by a file; None where the path is anything else.

    Raises:
        CaptureFormatError, InputError: it says that it is one, and is not as it was written.
    """
    return CardFolder.open(path) if is_card_folder(path) else None


def opened_any(path: Path, devices: Sequence[str] | None = None) -> CaptureFolder | CardFolder:
    """Open a capture folder, of the built-in card or of cards described by files, that holds these devices.

    Raises:
        CaptureFormatError, InputError: it is no capture folder, or holds no such device.
    """
    card = card_folder(path)
    if card is None:
        return opened(path, devices)
    for name in devices or ():
        card.device(name)
    return card


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
