"""Export samples as a sigrok session file, for PulseView and sigrok-cli.

Source: sigrok wiki, File format:Sigrok/v2.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.gui.export.material import Material, Wrote


def write_session(material: Material, path: Path) -> Wrote:
    """Write the samples, whole and at their own rate.

    Raises:
        InputError: there are no samples, or a channel's name cannot be written in such a file.
    """
    if material.edges is None:
        raise InputError(
            f"{material.source}: nothing to export as sr: it takes samples, and these are decoded "
            "tables; leave out -d of a capture of samples; the recording of a card has none"
        )
    wrote = Wrote()
    try:
        write_sr(_counted(material, material.edges(), wrote), path)
    except ValueError as error:
        raise InputError(f"{material.source}: cannot be exported as sr: {error}") from error
    return wrote


def _counted(material: Material, pieces: Iterator[Edges], wrote: Wrote) -> Iterator[Edges]:
    """Count samples as they pass; captures of changes may span any number of them."""
    for piece in pieces:
        if piece.end_sample > material.max_samples:
            raise InputError(
                f"{material.source}: more than {material.max_samples} samples of "
                f"{piece.samplerate_hz} Hz; give --max-samples, or export as vcd, whose size is that "
                "of the changes"
            )
        wrote.add("samples", piece.total_samples)
        yield piece
