"""Export as a Perfetto trace, for ui.perfetto.dev: a writer of the tracks that every other picture is made of.

What lasts is a slice, a moment an instant, a quantity a counter; what was not recorded is a slice with its reason, on
a track beside. Perfetto counts nanoseconds, so times are rounded down; ``t_ps`` and all other columns of the row that
an item shows are written unrounded beside it.

Source: perfetto.dev, protos/perfetto/trace: trace_packet.proto, track_event/track_event.proto,
track_event/track_descriptor.proto, track_event/counter_descriptor.proto, track_event/debug_annotation.proto.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from freezeframe.capture.count_text import plural
from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges
from freezeframe.gui.export.material import Material, Wrote, different, to_ns
from freezeframe.gui.export.protobuf import (
    bytes_field,
    double_field,
    int_field,
    text_field,
    uint_field,
)
from freezeframe.gui.export.signals import Signals
from freezeframe.gui.tracks.decoded import table_tracks
from freezeframe.gui.tracks.lanes import split_lanes
from freezeframe.gui.tracks.said import is_wrong
from freezeframe.gui.tracks.topics import group_name
from freezeframe.gui.tracks.tracks import IntervalTrack, SeriesTrack, SliceTrack, Track

_SEQUENCE = 1  # one writer; Perfetto wants to know which
_BEGIN, _END, _INSTANT, _COUNTER = 1, 2, 3, 4  # TrackEvent.Type
_CLEARED = 1  # TracePacket.SequenceFlags: nothing before it is missing

# Field numbers, by message.
_PACKET = 1  # Trace
_TIMESTAMP, _SEQUENCE_ID, _TRACK_EVENT, _FLAGS, _DESCRIPTOR = 8, 10, 11, 13, 60  # TracePacket
_ANNOTATION, _TYPE, _TRACK, _NAME = 4, 9, 11, 23  # TrackEvent
_COUNTER_VALUE, _DOUBLE_VALUE = 30, 44
_UUID, _TRACK_NAME, _PARENT, _COUNTER_TRACK = 1, 2, 5, 8  # TrackDescriptor
_UNIT_NAME = 6  # CounterDescriptor
_BOOL, _INT, _TEXT, _KEY = 2, 4, 6, 10  # DebugAnnotation

_ROWS_AT_ONCE = 4096  # rows of a table as objects at a time
_Event = tuple[int, int, int, bytes]
"""Time, place among those of one time (ends first), number, TrackEvent."""


class _Tracks:
    """Tracks by their path of names, declared when they are first used."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._uuids: dict[tuple[str, ...], int] = {}

    def uuid(self, *path: str, counter: str | None = None) -> int:
        """Return the number of the track, and of those above it, writing what is new; ``counter``: its unit."""
        if path in self._uuids:
            return self._uuids[path]
        body = text_field(_TRACK_NAME, path[-1])
        if len(path) > 1:
            body += uint_field(_PARENT, self.uuid(*path[:-1]))
        if counter is not None:
            body += bytes_field(_COUNTER_TRACK, text_field(_UNIT_NAME, counter) if counter else b"")
        # Zero is Perfetto's default track.
        number = self._uuids[path] = len(self._uuids) + 1
        _packet(self._file, bytes_field(_DESCRIPTOR, uint_field(_UUID, number) + body))
        return number


def write_perfetto(material: Material, path: Path) -> Wrote:
    """Write the tracks of a material, by group; of tables alone those of each table; of samples each as a counter.

    Raises:
        InputError: an item is before the beginning of the capture, or there is none.
    """
    wrote = Wrote()
    with path.open("xb") as file:
        _packet(file, uint_field(_FLAGS, _CLEARED))
        tracks = _Tracks(file)
        if material.edges is not None:
            _write_edges(file, tracks, material.edges(), wrote)
            return wrote
        tables = dict(material.tables)
        shown = [
            lane for made in material.tracks or decoded_tracks(material) for lane in _lanes(*made)
        ]
        events: list[_Event] = []
        for track, table in shown:
            of = None if table is None else tables.get(table)
            events += _items(track, table, of, tracks, wrote)
        if not events:
            raise InputError(
                f"{material.source}: nothing to export as perfetto: {', '.join(tables)} have no rows"
            )
        end_ps = max(event[0] for event in events)
        for track, _ in shown:
            events += _holes(track, end_ps, tracks, wrote)
        # At one time ends come first, or a slice would seem to be inside the one before it.
        events.sort(key=lambda event: event[:3])
        for t_ps, _, _, body in events:
            _packet(file, uint_field(_TIMESTAMP, to_ns(t_ps)) + bytes_field(_TRACK_EVENT, body))
    return wrote


def decoded_tracks(material: Material) -> Iterator[tuple[Track, str | None]]:
    """Yield the tracks of tables that decoders made, with the name of the table of each."""
    for name, table in material.tables:
        text = None if material.texts is None else material.texts(name)
        for track in table_tracks("", material.source.name, name, table.to_pandas(), text):
            yield track, name


def _lanes(track: Track, table: str | None) -> Iterator[tuple[Track, str | None]]:
    """Yield a track, or as many as it takes: what overlaps without being inside is not shown on one."""
    if isinstance(track, SliceTrack):
        yield from ((lane, table) for lane in split_lanes(track, len(track)))
    else:
        yield track, table


def _path(track: Track) -> tuple[str, ...]:
    return tuple(name for name in (group_name(track), track.name) if name)


def _items(
    track: Track, name: str | None, table: pa.Table | None, tracks: _Tracks, wrote: Wrote
) -> Iterator[_Event]:
    """Yield what stands on a track; of a table only what has a time in Perfetto, which has none before 0."""
    if not len(track):
        return
    if isinstance(track, SeriesTrack):
        yield from _values(track, tracks, wrote)
        return
    first_ps = int(track.t_ps[0])
    if first_ps < 0 and table is not None:
        raise InputError(
            f"{track.name}: a row of the table is at {first_ps} ps, before the beginning of the capture; "
            "export it with --to csv or --to parquet"
        )
    uuid = tracks.uuid(*_path(track))
    early = written = 0
    for number, columns in enumerate(_rows(track, table)):
        t_ps, end_ps = int(track.t_ps[number]), track.end_of(number)
        beside = _beside(track, number) | columns
        if t_ps < 0:
            early += 1
            if end_ps <= 0:
                continue
            t_ps = 0
        written += 1
        body = text_field(_NAME, track.label_of(number)) + _annotations(beside)
        if end_ps <= t_ps:
            yield t_ps, 1, number, _event(_INSTANT, uuid) + body
            continue
        yield t_ps, 2, number, _event(_BEGIN, uuid) + body
        yield end_ps, 0, number, _event(_END, uuid)
    wrote.add(f"rows of {name}" if name else f"items of {group_name(track) or track.name}", written)
    if early:
        wrote.notes.append(
            f"{track.name}: {plural(early, 'item')} before time 0 left out or cut there"
        )


def _rows(track: Track, table: pa.Table | None) -> Iterator[dict[str, Any]]:
    """Yield the row of each item as column -> value; nothing but its time where no table is exported with it."""
    rows = np.arange(len(track), dtype=np.int64) if track.rows is None else track.rows
    if table is None or not len(table):
        yield from ({"t_ps": t_ps} for t_ps in track.t_ps.tolist())
        return
    for at in range(0, len(rows), _ROWS_AT_ONCE):
        yield from table.take(pa.array(rows[at : at + _ROWS_AT_ONCE])).to_pylist()


def _beside(track: Track, item: int) -> dict[str, Any]:
    """Return what other pictures show of an item by its look."""
    said: dict[str, Any] = {"in error": True} if is_wrong(track, item) else {}
    if isinstance(track, IntervalTrack):
        for column, words in (
            (track.open_start, "began before"),
            (track.open_end, "had not ended"),
        ):
            said |= {words: True} if column is not None and column[item] else {}
    return said


def _values(track: SeriesTrack, tracks: _Tracks, wrote: Wrote) -> Iterator[_Event]:
    """Yield the values that are known; Perfetto has no time before 0, so earlier ones are counted and left out."""
    uuid = tracks.uuid(*_path(track), counter=track.unit)
    whole = track.value.dtype.kind in "iu"
    early = written = 0
    for number, (t_ps, value) in enumerate(
        zip(track.t_ps.tolist(), track.value.tolist(), strict=True)
    ):
        if t_ps < 0:
            early += 1
        elif not math.isnan(value):
            held = int_field(_COUNTER_VALUE, value) if whole else double_field(_DOUBLE_VALUE, value)
            written += 1
            yield t_ps, 1, number, _event(_COUNTER, uuid) + held
    wrote.add(f"values of {group_name(track) or track.name}", written)
    if early:
        wrote.notes.append(f"{track.name}: {plural(early, 'value')} before time 0 left out")


def _holes(track: Track, end_ps: int, tracks: _Tracks, wrote: Wrote) -> Iterator[_Event]:
    """Yield a slice, on a track beside, for each stretch of the recording that a track lacks."""
    *above, name = _path(track)
    for hole in track.coverage.within(0, end_ps):
        uuid = tracks.uuid(*above, f"{name}, not recorded")
        yield hole.t0_ps, 2, 0, _event(_BEGIN, uuid) + text_field(_NAME, hole.reason)
        yield hole.t1_ps, 0, 0, _event(_END, uuid)
        wrote.add("stretches that were not recorded", 1)


def _write_edges(file: BinaryIO, tracks: _Tracks, pieces: Iterator[Edges], wrote: Wrote) -> None:
    """Write a counter for each signal, piece by piece; values of 64 bits are int64 bit patterns."""
    signals: Signals | None = None
    uuids: list[int] = []
    for piece in pieces:
        if signals is None:
            signals = Signals(piece)
            uuids = [tracks.uuid(name, counter="") for name in different(signals.names)]
        for t_ps, number, value in signals.changes(piece):
            signed = value - (1 << 64) if value >> 63 else value
            body = _event(_COUNTER, uuids[number]) + int_field(_COUNTER_VALUE, signed)
            time = uint_field(_TIMESTAMP, to_ns(t_ps))
            _packet(file, time + bytes_field(_TRACK_EVENT, body))
        wrote.add("edges", len(piece))


def _event(kind: int, track: int) -> bytes:
    return uint_field(_TYPE, kind) + uint_field(_TRACK, track)


def _annotations(row: Mapping[str, Any]) -> bytes:
    """Return all columns with their values; bytes as hex, lists as text, null left out."""
    out = b""
    for name, value in row.items():
        if value is None:
            continue
        if isinstance(value, bool):
            held = uint_field(_BOOL, value)
        elif isinstance(value, int):
            held = int_field(_INT, value)
        else:
            text = value.hex() if isinstance(value, bytes) else str(value)
            held = text_field(_TEXT, text)
        out += bytes_field(_ANNOTATION, text_field(_KEY, name) + held)
    return out


def _packet(file: BinaryIO, body: bytes) -> None:
    file.write(bytes_field(_PACKET, body + uint_field(_SEQUENCE_ID, _SEQUENCE)))
