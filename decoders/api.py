"""Decoding for programs: the recording of a card as a trace, any capture with decoders as tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import overload

import pandas as pd

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.choice import SourceChoice
from freezeframe.capture.files.open import find_format, is_samples
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.capture.folder.of_cards import is_card_folder
from freezeframe.capture.folder.one_file import place_of
from freezeframe.capture.folder.reader import CaptureFolder, as_recording
from freezeframe.capture.folder.samples import SampleFolder
from freezeframe.decoders.run import decode_file
from freezeframe.decoders.tap.tables import packet_tables
from freezeframe.decoders.trace.decode import Trace, decode_capture

Capture = CaptureFolder | SampleFolder | Path | str
Progress = Callable[[int, int], None]


@overload
def decode(capture: CaptureFolder, /) -> Trace: ...
@overload
def decode(capture: CardFolder, /) -> dict[str, pd.DataFrame]: ...
@overload
def decode(capture: SampleFolder | Path | str, /) -> Trace | dict[str, pd.DataFrame]: ...
@overload
def decode(
    capture: Capture,
    spec: str,
    /,
    *specs: str,
    max_samples: int | None = None,
    samplerate_hz: int | None = None,
    progress: Progress | None = None,
    source: SourceChoice | None = None,
) -> dict[str, pd.DataFrame]: ...
def decode(
    capture: Capture | CardFolder,
    /,
    *specs: str,
    max_samples: int | None = None,
    samplerate_hz: int | None = None,
    progress: Progress | None = None,
    source: SourceChoice | None = None,
) -> Trace | dict[str, pd.DataFrame]:
    """Decode the recording of a card, or anything with decoders.

    Args:
        capture: an opened capture folder, or the path of any file that ``freezeframe decode`` reads.
        specs: decoders as on the command line, ``"spi+enc28j60"``; none for the recording of a card.
        max_samples, samplerate_hz, progress, source: as `freezeframe.decoders.run.decode_file` takes them.
    Returns:
        Without specs a `Trace`: ``words``, ``packets``, ``events``, ``intervals`` as pandas frames.
        With specs the tables by name, as pandas frames; so without, of cards that are described by a file:
        the packets of each tap, and the event log of a card that has one.
    Raises:
        InputError: the capture or a spec cannot be used; samples without a spec.
    """
    if isinstance(capture, Path | str) and is_card_folder(Path(capture)):
        capture = CardFolder.open(capture)
    if isinstance(capture, CardFolder):
        if specs:
            raise InputError(
                f"{capture.path}: decoders read samples; a card's packets come without one"
            )
        return {name: table.to_pandas() for name, table in packet_tables(capture)}
    path = capture.path if isinstance(capture, CaptureFolder | SampleFolder) else place_of(capture)
    if specs:
        decoded = decode_file(
            path,
            specs,
            max_samples=max_samples,
            samplerate_hz=samplerate_hz,
            progress=progress,
            source=source,
        )
        return {table.name: table.table.to_pandas() for table in decoded}
    if isinstance(capture, SampleFolder) or is_samples(path):
        find_format(path)  # refuses what holds none
        raise InputError(
            f"{path}: holds samples, so name a decoder, for instance decode(capture, 'uart'); "
            f"freezeframe decode {path} proposes some"
        )
    return decode_capture(as_recording(capture))
