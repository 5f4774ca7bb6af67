"""Decode a whole capture: records of all memories to words, packets, events and intervals on one time axis.

Source: docs/formats.md sections 2 to 8.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.folder import CaptureFolder, peers_of
from freezeframe.capture.timebase import TimeBase
from freezeframe.decoders.contract import OptionValues
from freezeframe.decoders.trace.checks import check
from freezeframe.decoders.trace.events import events_table
from freezeframe.decoders.trace.intervals import intervals_table
from freezeframe.decoders.trace.memory import read_memory
from freezeframe.decoders.trace.relate import relate_targets
from freezeframe.decoders.trace.times import at_earliest
from freezeframe.decoders.trace.trace import Trace, all_ends
from freezeframe.decoders.trace.words import words_and_packets

__all__ = ["Trace", "decode_capture", "decode_tables", "open_trace"]


def decode_capture(folder: CaptureFolder, devices: Sequence[str] | None = None) -> Trace:
    """Decode the records of a capture.

    Whatever stands in the records, nothing raises: oddities become rows of kind "error" and problems.

    Args:
        folder: the capture.
        devices: names of the devices to decode; all when not given.
    Raises:
        CaptureFormatError: a device states a clock of 0 Hz.
        InputError: the capture has no such device.
    """
    known = [device.name for device in folder.devices]
    wanted = known if devices is None else list(devices)
    unknown = [name for name in wanted if name not in known]
    if unknown or not wanted:
        raise InputError(
            f"{folder.path}: no device {', '.join(unknown) or 'was named'}; "
            f"the capture holds {', '.join(known)}"
        )
    chosen = [device for device in folder.devices if device.name in wanted]
    names = tuple(device.name for device in chosen)
    ends = all_ends(folder, names)
    readings = [
        read_memory(device, image) for device in chosen for image in device.memories.values()
    ]
    peers = peers_of(folder.devices)
    relations, related = relate_targets(folder, chosen, readings, peers)
    timebase = at_earliest(TimeBase.from_targets(chosen, relations), readings)
    words, packets = words_and_packets(readings, timebase, ends, peers)
    checked = [check(reading) for reading in readings]
    events = events_table(readings, [marks for _, marks in checked], timebase, ends)
    return Trace(
        words=words,
        packets=packets,
        events=events,
        intervals=intervals_table(events, readings, timebase, ends),
        timebase=timebase,
        devices=names,
        problems=[problem for problems, _ in checked for problem in problems],
        notes=[*timebase.notes, *related],
        relations=relations,
        related=related,
    )


def decode_tables(
    folder: CaptureFolder, options: OptionValues, state: None, last: bool
) -> dict[str, pa.Table]:
    """Decode a capture for `TRACE`: its tables by their kinds."""
    return {f"trace.{name}": table for name, table in decode_capture(folder).tables().items()}


def open_trace(folder: CaptureFolder) -> Trace:
    """Return the decoded capture from its tables; where they are not there or damaged, make them (again).

    The reason for making them again, or for not being able to keep them, stands in the trace's notes.

    Raises:
        CaptureFormatError: a device states a clock of 0 Hz.
    """
    notes = []
    try:
        return Trace.load(folder)
    except CaptureFormatError as error:
        if (folder.path / "tables").exists():
            notes.append(f"tables were made again from the raw records: {error}")
    trace = decode_capture(folder)
    try:
        trace.save(folder)
    except InputError as error:
        notes.append(f"tables were not kept: {error}")
    trace.notes += notes
    return trace
