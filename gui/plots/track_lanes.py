"""Tracks as lanes of a drawing: what lasts as bars, moments as ticks, with the track's tips, colours and coverage."""

from __future__ import annotations

from collections.abc import Iterable

from freezeframe.gui.plots.timeline import Bar, Lane, Tick
from freezeframe.gui.tracks.said import Meaning, is_wrong, legend_of, tip_of
from freezeframe.gui.tracks.tracks import ClassedTrack, SliceTrack, StateTrack, Track


def lane_of(track: Track, group: str = "", items: Iterable[int] | None = None) -> Lane:
    """Return slices or states of a track, all or some, as a lane; what is in error is loud.

    Raises:
        ValueError: the track is of another kind.
    """
    if not isinstance(track, ClassedTrack):
        raise ValueError(f"{track.key}: a {type(track).__name__} is no lane of bars")
    holds, roles = isinstance(track, StateTrack), track.role_of_class
    moments = isinstance(track, SliceTrack) and bool((track.t_end_ps == track.t_ps).all())
    lane = Lane(group, track.name, track.note or track.name, coverage=track.coverage)
    for item in range(len(track)) if items is None else items:
        begin, end, wrong = int(track.t_ps[item]), track.end_of(item), is_wrong(track, item)
        css = "error" if wrong else roles[0 if track.colour is None else int(track.colour[item])]
        tip = tip_of(track, item)
        if moments:
            lane.ticks.append(Tick(begin, css, tip))
            continue
        end = max(end, begin + 1)
        # What holds until the next change is known only where a change would have been recorded.
        parts = track.coverage.covered(begin, end) if holds else [(begin, end)]
        label = track.label_of(item)
        lane.bars += [Bar(t0, t1, css, label, tip, loud=wrong) for t0, t1 in parts]
    look = "tick " if moments else ""
    lane.legend = tuple(Meaning(f"{look}{m.look}", m.text, m.of) for m in legend_of([track]))
    return lane


def lanes_of(grouped: Iterable[tuple[str, Track]]) -> list[Lane]:
    """Return a lane for each track under its heading."""
    return [lane_of(track, group) for group, track in grouped]
