"""What is said of tracks beside their picture: the tip of an item, and what colours mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from freezeframe.capture.time_text import format_doubt, format_ps
from freezeframe.gui.text import printable
from freezeframe.gui.tracks.topics import coloured_with
from freezeframe.gui.tracks.tracks import (
    ClassedTrack,
    IntervalTrack,
    MarkTrack,
    SeriesTrack,
    SliceTrack,
    Track,
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
    if isinstance(track, MarkTrack) and track.unc_ps is not None:
        lines[-1] = format_doubt(start, int(track.unc_ps[item]))
    if is_wrong(track, item):
        lines.append("in error")
    if track.tip is not None:
        lines += [printable(line) for line in track.tip(item).split("\n")]
    return "\n".join(line for line in lines if line)


def is_wrong(track: Track, item: int) -> bool:
    """Return whether an item is marked as an error."""
    error = getattr(track, "error", None)
    return error is not None and bool(error[item])


class Meaning(NamedTuple):
    """What a look means. ``of``: the kind of tracks in which it does; empty for all. A heading has no look."""

    look: str
    text: str
    of: str = ""


def legend_of(tracks: Iterable[Track]) -> list[Meaning]:
    """Return role and meaning of the colours of some tracks, each once, in order of appearance."""
    said: dict[Meaning, None] = {}
    for track in tracks:
        of = coloured_with(track)
        if isinstance(track, ClassedTrack) and len(track):
            for number, name in enumerate(track.classes):
                if name and (track.colour is None or bool((track.colour == number).any())):
                    said.setdefault(Meaning(track.role_of_class[number], name, of))
        if isinstance(track, SliceTrack) and track.error is not None and bool(track.error.any()):
            said.setdefault(Meaning("error", "fails a check", of))
        if isinstance(track, SeriesTrack) and track.limit is not None and track.limit_label:
            said.setdefault(Meaning("limit", track.limit_label, of))
    return list(said)


def one_swatch_each(entries: Iterable[tuple[str, ...]]) -> list[Meaning]:
    """Return each look once, with all that it means: two swatches that look alike would tell nothing apart.

    Where a look means one thing in one kind of track and another in another kind, each kind has its heading.

    Args:
        entries: as of `legend_of`; look and meaning alone for what all tracks share.
    """
    given = list(dict.fromkeys(Meaning(*entry) for entry in entries if entry[0]))
    often = Counter((look, text) for look, text, _ in given)
    kinds: dict[str, set[str]] = {}
    for look, text, of in given:
        if of and often[look, text] == 1:
            kinds.setdefault(look, set()).add(of)
    clash = any(len(several) > 1 for several in kinds.values())
    made: dict[str, dict[str, dict[str, None]]] = {}
    for look, text, of in given:
        under = of if clash and often[look, text] == 1 else ""
        made.setdefault(under, {}).setdefault(look, {}).setdefault(text)
    lines: list[Meaning] = []
    for of in sorted(made, key=lambda kind: not kind):  # what all share comes last
        lines += [Meaning("", of, of)] if of else []
        lines += [Meaning(look, ", ".join(said), of) for look, said in made[of].items()]
    return lines
