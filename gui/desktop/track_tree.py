"""The tracks of a window in groups, by topic and device, and which of them are open: data and pure functions, no Qt.

A track says what it is about in its key: ``1/packets/A.tx_deq``, ``1/throughput/series/A.out.throughput``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from freezeframe.gui.tracks.topics import MARKS, TOPICS, about, group_name, is_further_lane, rank
from freezeframe.gui.tracks.tracks import Track

MOST_OPEN = 15
"""Tracks of a preset that are open; the others are one click away, under the line of their group."""


class Preset(NamedTuple):
    """A choice of tracks: what it is called, and its topics, the most telling first; none: everything."""

    title: str
    topics: tuple[str, ...] = ()


PRESETS: Mapping[str, Preset] = {
    "fault": Preset("Find the fault", tuple(topic for topic in TOPICS if topic != "tables")),
    "slow": Preset("Why slow", ("throughput", "back-pressure", "latency", "credits", "states")),
    "credits": Preset("Credits", ("credits", "back-pressure", "packets")),
    "host": Preset("Host", ("host", "packets")),
    "signals": Preset("Logic analyzer", ("decoded", "signals")),
    "all": Preset("Everything"),
}


@dataclass(slots=True)
class TrackChoice:
    """Which tracks are open.

    Attributes:
        preset: a key of `PRESETS`.
        search: words that a track's name, group or key must all hold; while there are any, nothing else counts.
        pins: keys of tracks that are always open, above the others of their source.
        by_hand: tracks that the user has opened (True) or closed since the preset was chosen.
        evidence: tracks that the chosen finding rests on: the first that "find the fault" opens.
    """

    preset: str = "fault"
    search: str = ""
    pins: set[str] = field(default_factory=set)
    by_hand: dict[str, bool] = field(default_factory=dict)
    evidence: tuple[str, ...] = ()

    def take_preset(self, name: str) -> None:
        """Choose a preset; what was opened and closed by hand is forgotten. Raises: KeyError."""
        if name not in PRESETS:
            raise KeyError(name)
        self.preset, self.search = name, ""
        self.by_hand.clear()

    def hidden(self, tracks: Sequence[Track], most: int = MOST_OPEN) -> set[str]:
        """Return the keys of the tracks of a source that are not open; a preset opens up to ``most``."""
        if self.search.strip():
            return {track.key for track in tracks} - set(found(tracks, self.search))
        opened = opened_by(PRESETS[self.preset], tracks, self.evidence, most) | self.pins
        opened |= {key for key, open_ in self.by_hand.items() if open_}
        closed = {key for key, open_ in self.by_hand.items() if not open_}
        return {track.key for track in tracks if track.key not in opened or track.key in closed}

    def order(self, tracks: Iterable[Track]) -> list[Track]:
        """Return the tracks of a source in order: marks, pinned ones, the evidence, then by group."""
        return sorted(
            tracks,
            key=lambda track: (
                about(track).topic != MARKS,
                track.key not in self.pins,
                not self.is_evidence(track),
                rank(track),
            ),
        )

    def group_of(self, tracks: Iterable[Track]) -> dict[str, str]:
        """Return the line that each track stands under."""
        return {
            track.key: "pinned"
            if track.key in self.pins
            else "evidence"
            if self.is_evidence(track)
            else group_name(track)
            for track in tracks
        }

    def is_evidence(self, track: Track) -> bool:
        """Return whether a track stands under the findings as their evidence: where a fault is looked for."""
        mine = self.preset == "fault" and track.key in self.evidence
        return mine and about(track).topic != MARKS


def opened_by(
    preset: Preset,
    tracks: Sequence[Track],
    evidence: Collection[str] = (),
    most: int = MOST_OPEN,
) -> set[str]:
    """Return the keys of the tracks that a preset opens: marks, and others up to ``most`` in all.

    The tracks of one kind that hold something come first; further lanes and single words only where room is left.
    """
    if not preset.topics:
        return {track.key for track in tracks}
    topics = {topic: place for place, topic in enumerate(preset.topics)}
    marks = [track for track in tracks if about(track).topic == MARKS]
    others = [
        (
            track.key not in evidence,
            not len(track),
            is_further_lane(track) or track.key.split("/")[1] == "words",
            topics[topic],
            number,
            track.key,
        )
        for number, track in enumerate(tracks)
        if (topic := about(track).topic) in topics and topic != MARKS
    ]
    room = max(most - len(marks), 0)
    return {track.key for track in marks} | {one[-1] for one in sorted(others)[:room]}


def found(tracks: Iterable[Track], words: str) -> list[str]:
    """Return the keys of the tracks whose name, group or key hold all of some words, small or capital."""
    wanted = words.casefold().split()
    return [
        track.key
        for track in tracks
        if all(
            word in f"{track.name} {group_name(track)} {track.key}".casefold() for word in wanted
        )
    ]


def offered(tracks: Sequence[Track]) -> list[str]:
    """Return the presets that would show something of these tracks beside marks."""
    topics = {about(track).topic for track in tracks} - {MARKS}
    return [
        name
        for name, preset in PRESETS.items()
        if not preset.topics or topics.intersection(preset.topics)
    ]


class Branch(NamedTuple):
    """A branch of the tree of a source: a device with its topics, or a topic with its tracks."""

    title: str
    branches: tuple[Branch, ...]
    tracks: tuple[Track, ...]


def tree_of(tracks: Iterable[Track]) -> list[Branch]:
    """Return tracks by device, then by topic; what is about no device first, marks without a branch left out."""
    held: dict[str, dict[str, list[Track]]] = {}
    for track in sorted(tracks, key=rank):
        topic, device = about(track)
        held.setdefault(device, {}).setdefault(topic, []).append(track)
    return [
        Branch(
            device or "all of it",
            tuple(Branch(topic, (), tuple(mine)) for topic, mine in topics.items()),
            (),
        )
        for device, topics in sorted(held.items())
    ]
