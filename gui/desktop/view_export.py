"""What is seen of the time line as a file: PNG, SVG, or CSV of the items in view."""

from __future__ import annotations

import csv
from pathlib import Path

from freezeframe.capture.errors import InputError
from freezeframe.gui.desktop.timeline.tracks import SeriesTrack
from freezeframe.gui.desktop.timeline.view import TimelineView
from freezeframe.gui.export.place import new_files
from freezeframe.gui.places import refuse_evidence

MOST_ROWS = 100_000
"""Items of a CSV of what is seen; more are exported from the table, in a worker."""


def write_png(view: TimelineView, place: Path) -> str:
    """Write the picture; return what was written, in words.

    Raises:
        InputError: the file cannot be written.
    """
    refuse_evidence(place)
    image = view.render_image()
    with new_files([place], force=True) as temporary:
        if not image.save(str(temporary[0]), "PNG"):
            raise InputError(f"{place}: the picture cannot be written; choose another place")
    return f"{image.width()} x {image.height()} pixels"


def write_svg(view: TimelineView, place: Path) -> str:
    """Write the picture as lines and texts; raises as `write_png`."""
    refuse_evidence(place)
    with new_files([place], force=True) as temporary:
        temporary[0].write_bytes(view.render_svg())
    return f"{place.stat().st_size:,} B"


def write_csv(view: TimelineView, place: Path) -> str:
    """Write a line for each item in view: track, begin, end, text, row of its table.

    Times are whole picoseconds. Raises as `write_png`, and `InputError` where more is in view than
    a spreadsheet takes.
    """
    refuse_evidence(place)
    hidden = view.hidden()
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
