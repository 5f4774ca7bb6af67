"""What is said of tracks beside their picture: the tip of an item, and what colours mean."""

from __future__ import annotations

from collections.abc import Iterable

from freezeframe.capture.time_text import format_ps
from freezeframe.gui.text import printable
from freezeframe.gui.tracks.tracks import (
    IntervalTrack,
    MarkTrack,
    SeriesTrack,
    SliceTrack,
    Track,
    roles_of,
)


def tip_of(track: Track, item: int) -> str:
    """Return what is shown when the mouse rests on an item: plain text, several lines."""
    start, end = int(track.t_ps[item]), track.end_of(item)
    label = printable(track.label_of(item))
    lines = [printable(track.name), label]
    if isinstance(track, SliceTrack) and track.class_of(item) not in label:
        lines.append(printable(track.class_of(item)))
    lines.append(format_ps(start))
    if end > start:
        lines[-1] += f" to {format_ps(end)}  ({format_ps(end - start)})"
    if isinstance(track, IntervalTrack):
        for column, words in (
            (track.open_start, "began before the recording"),
            (track.open_end, "had not ended"),
        ):
            lines += [words] if column is not None and column[item] else []
    if isinstance(track, MarkTrack) and track.unc_ps is not None and track.unc_ps[item]:
        lines[-1] += f"  ± {format_ps(int(track.unc_ps[item]))}"
    if is_wrong(track, item):
        lines.append("in error")
    if track.tip is not None:
        lines += [printable(line) for line in track.tip(item).split("\n")]
    return "\n".join(line for line in lines if line)


def is_wrong(track: Track, item: int) -> bool:
    """Return whether an item is marked as an error."""
    error = getattr(track, "error", None)
    return error is not None and bool(error[item])


def legend_of(tracks: Iterable[Track]) -> list[tuple[str, str]]:
    """Return role and meaning of the colours of some tracks, each once, in order of appearance."""
    said: dict[tuple[str, str], None] = {}
    for track in tracks:
        names = getattr(track, "classes", ()) or getattr(track, "names", ())
        roles = roles_of(len(names), getattr(track, "roles", ()))
        present = getattr(track, "colour", None)
        if present is None:
            present = getattr(track, "state", None)
        for number, (role, name) in enumerate(zip(roles, names, strict=True)):
            if name and len(track) and (present is None or bool((present == number).any())):
                said.setdefault((role, name))
        if isinstance(track, SliceTrack) and track.error is not None and bool(track.error.any()):
            said.setdefault(("error", "fails a check"))
        if isinstance(track, SeriesTrack) and track.limit is not None and track.limit_label:
            said.setdefault(("limit", track.limit_label))
    return list(said)


def one_swatch_each(entries: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return each look once, with all that it means: two swatches that look alike would tell nothing apart.

    Args:
        entries: (look, meaning), as of `legend_of`.
    """
    meanings: dict[str, dict[str, None]] = {}
    for look, meaning in entries:
        meanings.setdefault(look, {}).setdefault(meaning)
    return [(look, ", ".join(said)) for look, said in meanings.items()]
