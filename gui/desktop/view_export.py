"""What is seen of the time line as a file: PNG, SVG, or CSV of the items in view; and the pictures of a finding."""

from __future__ import annotations

import csv
from pathlib import Path

from PyQt6.QtGui import QImage

from freezeframe.capture.errors import InputError
from freezeframe.gui.desktop.panels.proof_panel import Pages
from freezeframe.gui.desktop.timeline.view import TimelineView
from freezeframe.gui.export.place import new_files
from freezeframe.gui.places import refuse_evidence
from freezeframe.gui.tracks.tracks import SeriesTrack

MOST_ROWS = 100_000
"""Items of a CSV of what is seen; more are exported from the table, in a worker."""


def write_png(view: TimelineView, place: Path) -> str:
    """Write the picture; return what was written, in words.

    Raises:
        InputError: the file cannot be written.
    """
    return _save(view.render_image(), place)


def write_svg(view: TimelineView, place: Path) -> str:
    """Write the picture as lines and texts; raises as `write_png`."""
    return _write(view.render_svg(), place)


def proof_png(pages: Pages, place: Path) -> str:
    """Write the pictures of a finding as they are seen; raises as `write_png`."""
    return _save(pages.image(), place)


def proof_svg(pages: Pages, place: Path) -> str:
    """Write the pictures of a finding as ``plot --what finding`` does; raises as `write_png`."""
    proof = pages.proof
    if proof is None:
        raise InputError("there are no pictures of a finding to write; choose a finding")
    return _write(proof.svg(pages.theme).encode(), place)


def write_csv(view: TimelineView, place: Path) -> str:
    """Write a line for each item in view: track, begin, end, text, row of its table.

    Times are whole picoseconds. Raises as `write_png`, and `InputError` where more is in view than
    a spreadsheet takes.
    """
    refuse_evidence(place)
    hidden = view.arranged.hidden
    tracks = [track for track in view.tracks() if track.key not in hidden]
    spans = [(track, *view.visible_items(track.key)) for track in tracks]
    count = sum(last - first for _, first, last in spans)
    if count > MOST_ROWS:
        raise InputError(
            f"{count:,} items are in view, {MOST_ROWS:,} fit; zoom in, hide tracks, or export the "
            "selection as csv, which writes whole tables"
        )
    with (
        new_files([place], force=True) as temporary,
        temporary[0].open("x", encoding="utf-8", newline="") as file,
    ):
        lines = csv.writer(file)
        lines.writerow(["source", "track", "t_ps", "t_end_ps", "text", "row", "value"])
        for track, first, last in spans:
            for item in range(first, last):
                value = track.value[item] if isinstance(track, SeriesTrack) else ""
                lines.writerow(
                    [track.source, track.name, int(track.t_ps[item]), track.end_of(item),
                     track.label_of(item), track.row_of(item), value]
                )  # fmt: skip
    return f"{count:,} items"


def _save(image: QImage, place: Path) -> str:
    refuse_evidence(place)
    with new_files([place], force=True) as temporary:
        if not image.save(str(temporary[0]), "PNG"):
            raise InputError(f"{place}: the picture cannot be written; choose another place")
    return f"{image.width()} x {image.height()} pixels"


def _write(data: bytes, place: Path) -> str:
    refuse_evidence(place)
    with new_files([place], force=True) as temporary:
        temporary[0].write_bytes(data)
    return f"{len(data):,} B"
