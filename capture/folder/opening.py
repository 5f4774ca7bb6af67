"""Opening what a path names: the recording of a card, or imported samples."""

from __future__ import annotations

from pathlib import Path

from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.capture.folder.of_cards import is_card_folder
from freezeframe.capture.folder.reader import CaptureFolder
from freezeframe.capture.folder.samples import SampleFolder, is_sample_folder


def open_capture(path: Path | str) -> CaptureFolder | CardFolder | SampleFolder:
    """Open a capture folder: the recording of a card, or imported samples; every byte is checked.

    Raises:
        CaptureFormatError: not a capture folder, or a file in it is missing, cut, altered or extra.
        CaptureVersionError: written by another version of the format.
    """
    place = Path(path)
    if is_sample_folder(place):
        folder = SampleFolder.open(place)
        folder.verify()
        return folder
    return CardFolder.open(place) if is_card_folder(place) else CaptureFolder.open(place)
