"""Export as a Perfetto trace, for ui.perfetto.dev: rows as slices or instants, levels as counters.

Perfetto counts nanoseconds, so times are rounded down; ``t_ps`` and all other columns are written unrounded
beside each slice.

Source: perfetto.dev, protos/perfetto/trace: trace_packet.proto, track_event/track_event.proto,
track_event/track_descriptor.proto, track_event/debug_annotation.proto.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.trace.coverage import Coverages
from freezeframe.decoders.trace.views import credits
from freezeframe.gui.export.material import Material, Wrote, different, rows_by_time, to_ns
from freezeframe.gui.export.protobuf import bytes_field, int_field, text_field, uint_field
from freezeframe.gui.export.signals import Signals

_SEQUENCE = 1  # one writer; Perfetto wants to know which
_BEGIN, _END, _INSTANT, _COUNTER = 1, 2, 3, 4  # TrackEvent.Type
_CLEARED = 1  # TracePacket.SequenceFlags: nothing before it is missing

# Field numbers, by message.
_PACKET = 1  # Trace
_TIMESTAMP, _SEQUENCE_ID, _TRACK_EVENT, _FLAGS, _DESCRIPTOR = 8, 10, 11, 13, 60  # TracePacket
_ANNOTATION, _TYPE, _TRACK, _NAME, _COUNTER_VALUE = 4, 9, 11, 23, 30  # TrackEvent
_UUID, _TRACK_NAME, _PARENT, _COUNTER_TRACK = 1, 2, 5, 8  # TrackDescriptor
_BOOL, _INT, _TEXT, _KEY = 2, 4, 6, 10  # DebugAnnotation


class _Tracks:
    """Tracks by their path of names, declared when they are first used."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._uuids: dict[tuple[str, ...], int] = {}

    def uuid(self, *path: str, counter: bool = False) -> int:
        """Return the number of the track, and of those above it, writing what is new."""
        if path in self._uuids:
            return self._uuids[path]
        body = text_field(_TRACK_NAME, path[-1])
        if len(path) > 1:
            body += uint_field(_PARENT, self.uuid(*path[:-1]))
        if counter:
            body += bytes_field(_COUNTER_TRACK, b"")
        # Zero is Perfetto's default track.
        number = self._uuids[path] = len(self._uuids) + 1
        _packet(self._file, bytes_field(_DESCRIPTOR, uint_field(_UUID, number) + body))
        return number


def write_perfetto(material: Material, path: Path) -> Wrote:
    """Write a track for each source of each table, or a counter for each channel of the samples.

    Raises:
        InputError: a time is before the beginning of the capture.
    """
    wrote = Wrote()
    with path.open("xb") as file:
        _packet(file, uint_field(_FLAGS, _CLEARED))
        tracks = _Tracks(file)
        if material.edges is not None:
            _write_edges(file, tracks, material.edges(), wrote)
            return wrote
        events: list[tuple[int, int, int, bytes]] = []
        for name, table in material.tables:
            texts = material.texts(name) if material.texts is not None else _kind
            events += _rows_as_events(name, table, tracks, texts, wrote)
            events += _credits(name, table, tracks, wrote)
            events += _holes(name, table, tracks, material.coverage, wrote)
        if not events:
            raise InputError(
                f"{material.source}: nothing to export as perfetto: "
                f"{', '.join(name for name, _ in material.tables)} have no rows"
            )
        # At one time ends come first, or a slice would seem to be inside the one before it.
        events.sort(key=lambda event: event[:3])
        for t_ps, _, _, body in events:
            _packet(file, uint_field(_TIMESTAMP, to_ns(t_ps)) + bytes_field(_TRACK_EVENT, body))
    return wrote


def _rows_as_events(
    name: str,
    table: pa.Table,
    tracks: _Tracks,
    texts: Callable[[dict[str, object]], str],
    wrote: Wrote,
) -> Iterator[tuple[int, int, int, bytes]]:
    """Yield (t_ps, order, number, TrackEvent): a slice for rows with an end, else an instant.

    Slices of a track must nest; one that overlaps another goes to a further lane.
    """
    lanes: dict[str, list[int]] = {}
    ends = "t_end_ps" in table.column_names
    number = 0
    for row in rows_by_time(table):
        number += 1
        source, t_ps = str(row["source"]), row["t_ps"]
        free_ps = lanes.setdefault(source, [])
        body = text_field(_NAME, texts(row)) + _annotations(row)
        if not ends:
            track = tracks.uuid(name, source)
            yield t_ps, 1, number, _event(_INSTANT, track) + body
            continue
        end_ps = max(row["t_end_ps"], t_ps)
        lane = next((i for i, free in enumerate(free_ps) if free <= t_ps), len(free_ps))
        free_ps[lane : lane + 1] = [end_ps]
        track = tracks.uuid(name, source if lane == 0 else f"{source} ({lane + 1})")
        if end_ps == t_ps:
            yield t_ps, 1, number, _event(_INSTANT, track) + body
            continue
        yield t_ps, 2, number, _event(_BEGIN, track) + body
        yield end_ps, 0, number, _event(_END, track)
    wrote.add(f"rows of {name}", number)


def _holes(
    name: str, table: pa.Table, tracks: _Tracks, coverage: Coverages, wrote: Wrote
) -> Iterator[tuple[int, int, int, bytes]]:
    """Yield a slice, on a track beside that of each source, for each stretch of the recording that it lacks."""
    if "source" not in table.column_names or not len(table):
        return
    begin_ps, end_ps = coverage.extent_ps()
    number = 0
    for source in dict.fromkeys(table.column("source").to_pylist()):
        covered = coverage.memories.get(str(source))
        if covered is None:
            continue
        for hole in covered.within(max(begin_ps, 0), end_ps):
            number += 1
            track = tracks.uuid(name, f"{source}, not recorded")
            named = _event(_BEGIN, track) + text_field(_NAME, hole.reason)
            yield hole.t0_ps, 2, number, named
            yield hole.t1_ps, 0, number, _event(_END, track)
    if number:
        wrote.add(f"stretches of {name} that were not recorded", number)


def _credits(
    name: str, table: pa.Table, tracks: _Tracks, wrote: Wrote
) -> Iterator[tuple[int, int, int, bytes]]:
    """Yield a counter for each flow: the words freed, as in the credit words, not unwrapped."""
    if not {"event_source", "code", "flow", "value"} <= set(table.column_names):
        return
    frame = credits(table.to_pandas())
    for number, row in enumerate(frame.to_dict("records")):
        track = tracks.uuid(
            name, str(row["device"]), f"flow {row['flow']} words freed, {row['code']}", counter=True
        )
        body = _event(_COUNTER, track) + int_field(_COUNTER_VALUE, int(row["freed"]))
        yield int(row["t_ps"]), 1, number, body
    if len(frame):
        wrote.add(f"credits of {name} as counters", len(frame))


def _write_edges(file: BinaryIO, tracks: _Tracks, pieces: Iterator[Edges], wrote: Wrote) -> None:
    """Write a counter for each signal; values of 64 bits are int64 bit patterns."""
    signals: Signals | None = None
    uuids: list[int] = []
    for piece in pieces:
        if signals is None:
            signals = Signals(piece)
            uuids = [tracks.uuid(name, counter=True) for name in different(signals.names)]
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


def _kind(row: dict[str, object]) -> str:
    return str(row["kind"])


def _packet(file: BinaryIO, body: bytes) -> None:
    file.write(bytes_field(_PACKET, body + uint_field(_SEQUENCE_ID, _SEQUENCE)))
