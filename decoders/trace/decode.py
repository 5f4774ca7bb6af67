"""Decode a whole capture: records of all memories to words, packets, events and intervals on one time axis.

Source: docs/formats.md sections 2 to 8.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from freezeframe.capture.card.roles import EVENT_LOG
from freezeframe.capture.clock_relation import Relation
from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.folder import CaptureFolder, peers_of
from freezeframe.capture.notebook import ShownInNotebooks
from freezeframe.capture.parquet import read_table, write_table
from freezeframe.capture.timebase import TimeBase
from freezeframe.decoders.contract import OptionValues
from freezeframe.decoders.trace import views
from freezeframe.decoders.trace.coverage import Coverages, coverages
from freezeframe.decoders.trace.events import events_table, intervals_table
from freezeframe.decoders.trace.memory import Problem, ProblemCode, at_earliest, check, read_memory
from freezeframe.decoders.trace.relate import relate_targets
from freezeframe.decoders.trace.schema import TABLES, Places, categories, column_types, schema
from freezeframe.decoders.trace.words import words_and_packets

DECODER_VERSION = 2
"""Rises when the same records decode to other rows; tables of another version are made again."""

_FOLDER = "tables"
_KEY = b"freezeframe"


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
    related: list[str] = field(default_factory=list)
    """How that is known, a sentence each; they stand among the notes, too."""
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

    def save(self, folder: CaptureFolder) -> list[Path]:
        """Write the tables to ``tables/`` of the capture; the same capture gives the same bytes.

        Raises:
            InputError: they cannot be written (no right, no space).
            ValueError: this trace does not hold all devices of the capture.
        """
        names = tuple(device.name for device in folder.devices)
        if names != self.devices:
            raise ValueError(
                f"{folder.path}: the trace holds {', '.join(self.devices)} of {', '.join(names)}; "
                "only a whole decoding is kept"
            )
        about = _sealed(
            {
                "capture": folder.manifest["digest"],
                "decoder": DECODER_VERSION,
                "origin_ps": self.timebase.origin_ps,
                "problems": [asdict(problem) for problem in self.problems],
                "relations": {
                    str(target): None if relation is None else relation.to_json()
                    for target, relation in self.relations.items()
                },
                "related": self.related,
            }
        )
        where = folder.path / _FOLDER
        try:
            where.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(f"{where}: cannot be made: {error.strerror}") from None
        paths = []
        for name, table in self.tables().items():
            paths.append(where / f"{name}.parquet")
            write_table(table.replace_schema_metadata({_KEY: about}), paths[-1])
        return paths

    @classmethod
    def load(cls, folder: CaptureFolder) -> Trace:
        """Read the tables back, every page checked.

        Raises:
            CaptureFormatError: a table is missing, damaged, of another capture, or of another decoder.
        """
        frames = {}
        about: dict[str, Any] = {}
        for name in TABLES:
            path = folder.path / _FOLDER / f"{name}.parquet"
            frames[name] = _read_whole(path, name)
            about = _about(path, frames[name], folder)
        devices = tuple(device.name for device in folder.devices)
        try:
            origin_ps = int(about["origin_ps"])
            problems = [
                Problem(**{**problem, "code": ProblemCode(problem["code"])})
                for problem in about["problems"]
            ]
            relations = {
                int(target): None if relation is None else Relation.from_json(relation)
                for target, relation in about["relations"].items()
            }
            related = [str(line) for line in about["related"]]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise CaptureFormatError(
                f"{folder.path / _FOLDER}: what the tables say of themselves cannot be read: {error}"
            ) from None
        timebase = TimeBase.from_folder(folder, relations).at_origin(origin_ps)
        ends = all_ends(folder, devices)
        places = _places(folder, ends)
        loaded = {name: _frame(name, table, places) for name, table in frames.items()}
        return cls(
            timebase=timebase,
            devices=devices,
            problems=problems,
            notes=[*timebase.notes, *related],
            relations=relations,
            related=related,
            taps=_taps(places),
            coverage=Coverages(
                partial(coverages, folder.devices, loaded["words"], loaded["events"], timebase)
            ),
            **loaded,
        )


def all_ends(folder: CaptureFolder, captured: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the captured devices and of the other ends of their links, as far as known."""
    peers = peers_of(folder.devices)
    names = {*captured, *(peers[name] for name in captured if name in peers)}
    return tuple(sorted(names, key=lambda name: (len(name), name)))


def _places(folder: CaptureFolder, ends: tuple[str, ...]) -> Places:
    memories = (memory for device in folder.devices for memory in device.roles.memories)
    return Places(ends, tuple(dict.fromkeys(memories)))


def _taps(places: Places) -> tuple[str, ...]:
    return tuple(memory for memory in places.memories if memory != EVENT_LOG)


def _sealed(about: dict[str, Any]) -> bytes:
    """Return what a table says of itself with a digest: no page checksum covers a Parquet footer."""
    text = json.dumps(about, sort_keys=True)
    return f"{hashlib.sha256(text.encode()).hexdigest()} {text}".encode()


def _read_whole(path: Path, name: str) -> pa.Table:
    """Return a table of the right schema whose dictionary codes all mean something.

    Page headers and the footer have no checksum of their own.
    """
    try:
        table = read_table(path)
        table.validate(full=True)
        fits = table.schema.equals(schema(name))
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise CaptureFormatError(f"{path}: damaged: {error}") from None
    if not fits:
        raise CaptureFormatError(f"{path}: has other columns than this decoder makes")
    return table


def _about(path: Path, table: pa.Table, folder: CaptureFolder) -> dict[str, Any]:
    try:
        sealed = (table.schema.metadata or {})[_KEY]
        about = json.loads(sealed.partition(b" ")[2])
        if _sealed(about) != sealed:
            raise ValueError("altered")
        capture, decoder = about["capture"], about["decoder"]
    except (KeyError, TypeError, ValueError):
        raise CaptureFormatError(
            f"{path}: does not say, or not rightly, of which capture it is"
        ) from None
    if capture != folder.manifest["digest"]:
        raise CaptureFormatError(f"{path}: was decoded from another capture")
    if decoder != DECODER_VERSION:
        raise CaptureFormatError(
            f"{path}: was made by decoder version {decoder}, this is {DECODER_VERSION}"
        )
    return dict(about)


def _frame(name: str, table: pa.Table, places: Places) -> pd.DataFrame:
    """Return a frame as `make_frame` makes it, so that a loaded trace equals a decoded one."""
    frame: pd.DataFrame = table.to_pandas()
    for column, kind in column_types(name).items():
        if kind == "text":
            texts = pd.Index(categories(name, column, places), dtype="str")
            frame[column] = pd.Categorical(frame[column], categories=texts)
        elif kind == "bool?":
            frame[column] = frame[column].astype("boolean")
        elif kind == "string":
            frame[column] = frame[column].astype("str")
    return frame


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
        related=related,
        taps=_taps(places),
        coverage=Coverages(partial(coverages, chosen, words, events, timebase)),
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
