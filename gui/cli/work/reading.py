"""How the options of `gui.cli.reading` are handed to the readers of captures."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.choice import SourceChoice
from freezeframe.capture.files.open import is_samples
from freezeframe.capture.files.sigrok_sr import parse_samplerate
from freezeframe.capture.folder.one_file import place_of
from freezeframe.capture.time_text import parse_span
from freezeframe.gui.cli.reading import Reading
from freezeframe.gui.places import is_capture
from freezeframe.gui.text import printable


def refuse_other_folder(path: Path) -> None:
    """Refuse a folder that is neither a capture folder nor a folder of samples.

    Raises:
        InputError: it is such a folder.
    """
    if path.is_dir() and not is_capture(path) and not is_samples(path):
        raise InputError(
            f"{path}: is a directory, but not a capture folder: it has no manifest.json; give the "
            "folder NAME.ff that a pull wrote, or a capture file"
        )


def refuse_on_recording(path: Path, reading: Reading) -> None:
    """Refuse options for samples where the recording of a card is read: they would do nothing.

    Raises:
        InputError: there is one.
    """
    if reading.words() and place_of(path).is_dir() and not is_samples(path):
        raise InputError(
            f"{path}: is the recording of a card, and format, channels, thresholds, cut and rate are for samples: "
            "leave those options out; --where 't_ps >= 100us and t_ps < 120us' chooses a time"
        )


def samplerate_hz(reading: Reading) -> int | None:
    """Return the sample rate that was given.

    Raises:
        InputError: it is none.
    """
    return None if reading.samplerate is None else parse_samplerate(reading.samplerate)


def source_choice(reading: Reading, note: Callable[[str], None] | None = None) -> SourceChoice:
    """Return format, names, thresholds and cut.

    Raises:
        InputError: the cut is no range of time.
    """
    return SourceChoice(
        reading.format,
        tuple(reading.channel or ()),
        tuple(reading.threshold or ()),
        None if reading.cut is None else parse_span(reading.cut),
        note,
    )


def print_notes(notes: Iterable[str]) -> None:
    """Print on standard error what had to be assumed, each once."""
    for note in dict.fromkeys(notes):  # a file may be opened more than once
        print(f"note: {printable(note)}", file=sys.stderr)
