"""Decode a whole capture: records of all memories to words, packets, events and intervals on one time axis.

Source: docs/formats.md sections 2 to 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import pandas as pd
import pyarrow as pa

from freezeframe.capture.card.roles import EVENT_LOG
from freezeframe.capture.clock_relation import Relation
from freezeframe.capture.errors import InputError
from freezeframe.capture.folder import CaptureFolder, peers_of
from freezeframe.capture.notebook import ShownInNotebooks
from freezeframe.capture.timebase import TimeBase
from freezeframe.decoders.contract import OptionValues
from freezeframe.decoders.trace import views
from freezeframe.decoders.trace.coverage import Coverages, coverages
from freezeframe.decoders.trace.events import events_table, intervals_table
from freezeframe.decoders.trace.memory import Problem, at_earliest, check, read_memory
from freezeframe.decoders.trace.relate import relate_targets
from freezeframe.decoders.trace.schema import TABLES, Places, schema
from freezeframe.decoders.trace.words import words_and_packets


@dataclass(slots=True, eq=False)
class Trace(ShownInNotebooks):
    """A decoded capture.

    Attributes:
        words, packets, events, intervals: the tables of docs/formats.md section 8.
        timebase: its origin is the earliest record, t_ps 0.
        devices: names of the devices whose records are in the tables.
        problems: what was wrong with the recording itself; each also has rows of kind "error" in ``events``.
        notes: what a reader should know of times and tables, one line each.
    """

    words: pd.DataFrame
    packets: pd.DataFrame
    events: pd.DataFrame
    intervals: pd.DataFrame
    timebase: TimeBase
    devices: tuple[str, ...]
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    relations: dict[int, Relation | None] = field(default_factory=dict)
    """How the time lines of further targets stand to that of the first, by their number."""
    taps: tuple[str, ...] = ()
    """The taps of the cards, in the order in which a packet passes them."""
    coverage: Coverages = field(default_factory=Coverages)
    """Which stretches of time each memory covers, and why not the others."""

    def credits(self) -> pd.DataFrame:
        """Return the credits that were sent, taken and refused; see `views.credits`."""
        return views.credits(self.events)

    def descriptors(self) -> pd.DataFrame:
        """Return what became of each descriptor; see `views.descriptors`."""
        return views.descriptors(self.events)

    def states(self) -> pd.DataFrame:
        """Return the changes of the state machines; see `views.states`."""
        return views.states(self.events)

    def tables(self) -> dict[str, pa.Table]:
        """Return the tables by name as pyarrow tables of exactly the declared schemas."""
        return {
            name: pa.Table.from_pandas(
                getattr(self, name), schema=schema(name), preserve_index=False
            ).replace_schema_metadata(None)
            for name in TABLES
        }


def all_ends(folder: CaptureFolder, captured: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the captured devices and of the other ends of their links, as far as known."""
    peers = peers_of(folder.devices)
    names = {*captured, *(peers[name] for name in captured if name in peers)}
    return tuple(sorted(names, key=lambda name: (len(name), name)))


def _places(folder: CaptureFolder, ends: tuple[str, ...]) -> Places:
    memories = (memory for device in folder.devices for memory in device.roles.memories)
    return Places(ends, tuple(dict.fromkeys(memories)))


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
    places = _places(folder, ends)
    words, packets = words_and_packets(readings, timebase, places, peers)
    checked = [check(reading) for reading in readings]
    events = events_table(readings, [marks for _, marks in checked], timebase, places)
    return Trace(
        words=words,
        packets=packets,
        events=events,
        intervals=intervals_table(events, readings, timebase, places),
        timebase=timebase,
        devices=names,
        problems=[problem for problems, _ in checked for problem in problems],
        notes=[*timebase.notes, *related],
        relations=relations,
        taps=tuple(memory for memory in places.memories if memory != EVENT_LOG),
        coverage=Coverages(partial(coverages, chosen, words, events, timebase)),
    )


def decode_tables(
    folder: CaptureFolder, options: OptionValues, state: None, last: bool
) -> dict[str, pa.Table]:
    """Decode a capture for `TRACE`: its tables by their kinds."""
    return {f"trace.{name}": table for name, table in decode_capture(folder).tables().items()}
