"""Opening a capture of a logic analyzer: its signals as waves and buses, then what decoders make of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.choice import SourceChoice
from freezeframe.capture.files.edges import PLANE_CHANNELS, Edges, join, samples_to_ps
from freezeframe.capture.files.source import ReadSettings
from freezeframe.decoders.blame import texts_of
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import decode_file
from freezeframe.decoders.spec import layers_of
from freezeframe.gui.desktop.progress import Progress
from freezeframe.gui.desktop.sources.opened import Opened, Part, Table
from freezeframe.gui.text import folder_title
from freezeframe.gui.tracks.decoded import table_tracks
from freezeframe.gui.tracks.tracks import BusTrack, Track, WaveTrack

MOST_CHANNELS = 2 * PLANE_CHANNELS


def load_samples(
    key: str, path: Path, progress: Progress, choice: SourceChoice | None = None
) -> Opened:
    """Return the signals of a file or sample folder.

    Args:
        choice: format, names, thresholds and cut, where the file does not say.
    Raises:
        InputError: it cannot be read, or has no channel; also its subclasses.
        Cancelled: it is no longer wanted.
    """
    progress.report(0, 0, "reading")
    notes: list[str] = []
    wanted = replace(choice or SourceChoice(), note=notes.append)
    source = wanted.open(path, ReadSettings(progress=progress.counted))
    header = source.header
    names = header.channels[:MOST_CHANNELS]
    if not names:
        why = "; ".join(f"{name}: {reason}" for name, reason in list(header.refused.items())[:3])
        raise InputError(f"{path}: there is no channel that can be read. {why}".rstrip())
    pieces = []
    for piece in source.read(names):
        progress.check()
        pieces.append(piece)
    edges = join(pieces)
    progress.report(0, 0, "waves")
    opened = Opened(
        key, folder_title(path), str(path), "samples", path, channels=tuple(header.channels)
    )
    opened.remarks += notes
    opened.remarks += [f"{name} is not shown: {why}" for name, why in header.refused.items()]
    if len(header.channels) > len(names):
        left = len(header.channels) - len(names)
        opened.remarks.append(
            f"{left} further channels are not shown; {MOST_CHANNELS} are possible"
        )
    opened.facts["sample rate"] = f"{edges.samplerate_hz:,} Hz" if edges.samplerate_hz else "none"
    opened.facts["samples"] = f"{edges.end_sample:,}"
    opened.facts["changes"] = f"{len(edges):,}"
    opened.absorb(
        Part(tracks=[(track, None) for track in _signals(key, opened.name, edges, progress)])
    )
    opened.loaded = True
    return opened


def decode_samples(
    opened: Opened,
    specs: Sequence[str],
    progress: Progress,
    registry: Registry,
    choice: SourceChoice | None = None,
) -> Part:
    """Return the tables and tracks that decoders make of an opened source, of a stack those of each layer.

    Raises:
        InputError: a spec is wrong or does not fit.
        Cancelled: it is no longer wanted.
    """
    if opened.path is None:
        raise InputError(f"{opened.where}: is no file and cannot be decoded")
    progress.report(0, 0, f"decoding {', '.join(specs)}")
    # From the top down; a layer that two stacks share is shown once.
    layers = list(dict.fromkeys(one for spec in specs for one in reversed(layers_of(spec))))
    made = decode_file(
        opened.path, layers, progress=progress.counted, registry=registry, source=choice
    )
    part = Part(specs=list(specs))
    for name, rows in made:
        progress.check()
        title = _unused(name, [*opened.tables, *(table.key for table in part.tables)])
        top = name.partition("#")[0].rpartition("+")[2].partition(".")[0]
        frame = rows.to_pandas()
        text = texts_of(registry.find(top))
        part.tables.append(Table(title, frame, text, doc=f"decoded by {name}"))
        part.tracks += [
            (t, title) for t in table_tracks(opened.key, opened.name, title, frame, text)
        ]
        if not len(frame):
            part.remarks.append(f"{title}: nothing that this decoder knows is in the capture")
    return part


def _signals(key: str, name: str, edges: Edges, progress: Progress) -> list[Track]:
    t_ps = edges.t_ps()
    end = np.array([edges.end_sample], np.int64)
    end_ps = int(samples_to_ps(end, edges.samplerate_hz)[0])
    made: list[Track] = []
    in_bus = {channel for bus in edges.buses for channel in bus.channels}
    for bus in edges.buses:
        progress.check()
        value = edges.bus(bus.name)
        keep = _changes(value)
        made.append(
            BusTrack(
                key=f"{key}/bus/{bus.name}",
                name=bus.name,
                source=name,
                t_ps=t_ps[keep],
                value=value[keep],
                width_bits=len(bus.channels),
                end_ps=end_ps,
                note=f"{len(bus.channels)} lines as one number.",
            )
        )
    for at, channel in enumerate(edges.channels):
        if channel in in_bus:
            continue
        progress.report(at, len(edges.channels), "waves")
        plane = edges.value if at < PLANE_CHANNELS or edges.high is None else edges.high
        level = (plane >> np.uint64(at % PLANE_CHANNELS) & np.uint64(1)).astype(np.uint8)
        keep = _changes(level)
        made.append(
            WaveTrack(
                key=f"{key}/wave/{channel}",
                name=channel,
                source=name,
                t_ps=t_ps[keep],
                level=level[keep],
                end_ps=end_ps,
                note="A line as it was sampled.",
            )
        )
    return made


def _changes(value: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return where a column has another value than before, the first place with them."""
    keep = np.ones(len(value), np.bool_)
    np.not_equal(value[1:], value[:-1], out=keep[1:])
    return np.flatnonzero(keep)


def _unused(name: str, taken: Sequence[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}#{number}"
    return free
