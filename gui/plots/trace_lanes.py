"""A decoded recording as lanes of a drawing: packets at the taps in the order of their way, waits, states, events."""

from __future__ import annotations

from typing import Any

import pandas as pd

from freezeframe.capture.registers.layouts import Kind
from freezeframe.decoders.trace.decode import Trace
from freezeframe.gui.plots.timeline import Lane
from freezeframe.gui.plots.track_lanes import lanes_of
from freezeframe.gui.tracks.recording import (
    VERDICTS,
    event_tracks,
    packet_tracks,
    silent_tracks,
    state_tracks,
    wait_tracks,
)
from freezeframe.gui.tracks.tracks import IntervalTrack, Track

_OF_SENDER = 2  # taps of a packet's way that are at its sender; the others are at the receiver
_OF_TIME = ("MARK", "TIME")


def time_range(trace: Trace) -> tuple[int, int]:
    """Return the first and last time of what was recorded, ``(0, 1)`` for an empty recording.

    A card goes on writing time marks when nothing happens any more, so they count only where there
    is nothing else.
    """
    of_time = trace.events["kind"].isin(_OF_TIME)
    data = _extent(trace, trace.events[~of_time])
    return data or _extent(trace, trace.events) or (0, 1)


def _extent(trace: Trace, shown: pd.DataFrame) -> tuple[int, int] | None:
    starts, ends = [], []
    for table, end in (
        (trace.words, "t_ps"),
        (shown, "t_ps"),
        (trace.packets, "t_end_ps"),
        (trace.intervals, "t_end_ps"),
    ):
        if len(table):
            starts.append(int(table["t_ps"].min()))
            ends.append(int(table[end].max()))
    return (min(starts), max(*ends, min(starts) + 1)) if starts else None


def directions(devices: list[str]) -> list[tuple[str, str | None]]:
    """Return (sender, receiver) pairs of the devices; a lone device has no partner."""
    if len(devices) == 1:
        return [(devices[0], None)]
    return [(a, b) for a in devices for b in devices if a != b]


def trace_lanes(trace: Trace, devices: list[str], first: str | None) -> list[Lane]:
    """Return all lanes; the way of the words from sender to receiver is one group.

    A direction in which nothing was recorded has no lanes.

    Args:
        devices: names of the devices that were recorded.
        first: sender of the direction to show first, None for the order of the devices.
    """
    at_taps = {track.key.rpartition("/")[2]: track for track, _ in packet_tracks("", "", trace)}
    at_taps |= {
        track.key.rpartition("/")[2]: track for track in silent_tracks("", "", trace, at_taps)
    }
    shown: list[tuple[str, Track]] = []
    for sender, receiver in sorted(directions(devices), key=lambda way: way[0] != first):
        group = f"{sender} → {receiver}" if receiver else f"{sender} sends, {sender} receives"
        ends = [f"{sender}.{tap}" for tap in trace.taps[:_OF_SENDER]]
        ends += [f"{receiver or sender}.{tap}" for tap in trace.taps[_OF_SENDER:]]
        way = [at_taps[source] for source in ends if source in at_taps]
        shown += [(group, track) for track in way] if any(map(len, way)) else []
    waits = [track for track, _ in wait_tracks("", "", trace)]
    log = [track for made in (state_tracks, event_tracks) for track, _ in made("", "", trace)]
    for device in devices:
        mine = [track for track in waits if _device_of(track) == device]
        shown += [("Back-pressure", track) for track in mine or [_no_wait(trace, device)]]
    for device in devices:
        shown += [(f"Log of {device}", track) for track in log if _device_of(track) == device]
    return lanes_of(shown)


def _device_of(track: Track) -> str:
    """Return the device of a track of a log: the third part of its key is where its records come from."""
    return track.key.split("/")[2].partition(".")[0]


def _no_wait(trace: Trace, device: str) -> IntervalTrack:
    covered = trace.coverage.log(device, Kind.PRESSURE)
    note = f"no flow of {device} waited for credit"
    return IntervalTrack(
        key=f"/intervals/{device}", name=f"{device} blocked", note=note, coverage=covered
    )


def packet_rows(trace: Trace, direction: str) -> list[dict[str, Any]]:
    """Return the packets of one direction tap by tap, in the order in which words pass the taps."""
    packets = trace.packets[trace.packets["direction"] == direction]
    rows = plain_rows(packets)
    order = trace.taps
    return sorted(rows, key=lambda row: (order.index(row["tap"]), row["t_ps"], row["first_row"]))


def verdict_text(row: dict[str, Any]) -> str:
    """Return what the checks say: ``good``, ``bad payload CRC``, ``not all recorded``."""
    wrong = [what for column, what in VERDICTS if row[column] is False]
    if wrong:
        return f"bad {', '.join(wrong)}"
    return "good" if row["whole"] else "not all recorded"


def plain_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows as dictionaries of plain Python values, null as None."""
    columns = {
        str(name): [
            None if missing else value for value, missing in zip(*_plain(column), strict=True)
        ]
        for name, column in table.items()
    }
    names = list(columns)
    return [dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _plain(column: pd.Series[Any]) -> tuple[list[Any], list[bool]]:
    return column.tolist(), column.isna().tolist()
