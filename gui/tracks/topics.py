"""What tracks are about: the topic and the device that stand in a track's key, and the groups that they make.

``1/packets/A.tx_deq`` is of the packets of device A, ``1/throughput/series/A.out.throughput`` of its throughput.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from freezeframe.gui.tracks.tracks import Track

MARKS = "marks"
"""Findings, notes, what a comparison shows: always open, without a line of their own."""

_PARTS: dict[str, tuple[str, ...]] = {
    MARKS: ("findings", "notes", "compare"),
    "packets": ("packets", "words"),
    "signals": ("wave", "bus"),
    "decoded": ("table",),
    "counters": ("live", "live-log"),
    "back-pressure": ("intervals", "pressure"),
    "credits": ("credits",),
    "throughput": ("throughput",),
    "latency": ("latency",),
    "host": ("dma",),
    "link": (),
    "states": ("state",),
    "events": (),
    "recording": (),
    "tables": (),
}
"""Topics in their order, and the second parts of the keys of their tracks."""

TOPICS = tuple(_PARTS)
_OF_PART = {part: topic for topic, parts in _PARTS.items() for part in parts}
_OF_EVENTS = {"CREDIT": "credits", "DESC": "host", "IRQ": "host", "LINK": "link"}
WAITS = "waits"
"""What the one colour of waits means, whoever tells of them: the log, an analysis, a described card."""
_ROLE_OF = {"pressure": "warn", "credits": "error"}  # all of whose intervals mean one thing
_SHAPES = ("series", "intervals", "table")  # the second part of a key that an analysis made


class About(NamedTuple):
    """What a track is about. ``device``: a card, a direction ``A->B``, a connection; empty for the whole source."""

    topic: str
    device: str


def about(track: Track) -> About:
    """Return what a track is about, by its key."""
    return _about(track.key)


@lru_cache(maxsize=1024)  # each layout asks for all tracks, some times over
def _about(key: str) -> About:
    parts = key.split("/")[1:]
    part, rest = (parts[0], parts[1:]) if parts else ("", [])
    if part == "events":
        return About(_OF_EVENTS.get(rest[-1], "events"), _device(rest[0])) if len(rest) > 1 else (
            About("recording", "")
        )  # fmt: skip
    if part == "packets" and len(rest) > 1:  # of a connection and one of its ends
        topic = "throughput" if rest[-1] == "rate" else "packets"
        return About(topic, f"connection {rest[0]}")
    if rest and rest[0] in _SHAPES and part not in ("intervals", "table"):
        topic = _OF_PART.get(part, part)
        if rest[0] == "table":
            return About("tables", "")
        return About(topic, _device(rest[1 if rest[0] == "series" else 2]))
    topic = _OF_PART.get(part, part)
    whole = topic in (MARKS, "signals", "decoded") or not rest
    return About(topic, "" if whole else _device(rest[0]))


def role_of_all(analysis: str) -> str:
    """Return the one role of all intervals of an analysis; empty where each kind has its own."""
    return _ROLE_OF.get(analysis, "")


def coloured_with(track: Track) -> str:
    """Return the kind of tracks in which a colour means the same as in this one: words and packets differ."""
    part = (track.key.split("/")[1:2] or [""])[0]
    return {"words": "words", "compare": "comparison"}.get(part) or about(track).topic


def _device(name: str) -> str:
    return name.partition(".")[0] if "." in name else ""


def group_name(track: Track) -> str:
    """Return what stands above the tracks of a group; empty for tracks that need no line."""
    topic, device = about(track)
    return "" if topic == MARKS else f"{device} {topic}".strip()


def rank(track: Track) -> tuple[int, str]:
    """Return the place of a track's group among those of its source: by topic, then by device."""
    topic, device = about(track)
    return (TOPICS.index(topic) if topic in TOPICS else len(TOPICS)), device


def is_further_lane(track: Track) -> bool:
    """Return whether a track holds what another of the same name has no room for: ``A transfers (2)``."""
    last = track.key.rpartition("/")[2]
    return last.isdigit() and int(last) > 1 and track.name.endswith(f"({last})")
