"""Export as VCD: samples as wires, or a recording as words, packets, states and back-pressure.

The time unit is the picosecond, so no time is rounded.

Source: IEEE 1364-2005, 18.2 (four-state VCD); string variables as GTKWave has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from vcd.writer import VCDWriter

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.trace.views import states
from freezeframe.gui.export.material import Material, Wrote, different, time_order, times_ps
from freezeframe.gui.export.signals import Signals

_MASK = (1 << 64) - 1
_PACKET = (("flow", 7), ("seq", 16), ("length", 10))  # as wide as in the packet's header
_CLEARED, _SET = 0, 1  # of two changes at a time, that which begins something is the later

_Change = tuple[int, int, Any, Any]  # t_ps, _CLEARED or _SET, variable, value


def write_vcd(material: Material, path: Path) -> Wrote:
    """Write samples as one wire a channel, or the tables of a recording.

    Raises:
        InputError: the tables are not those of a recording.
    """
    if material.edges is None and material.table("trace.words") is None:
        raise InputError(
            f"{material.source}: nothing to export as vcd: it takes the samples themselves "
            "(leave out -d) or a recording (-d trace); for decoded tables take --to perfetto"
        )
    with path.open("x", encoding="ascii", newline="\n") as file:
        if material.edges is not None:
            return _samples(file, material.edges())
        return _recording(file, material)


def _writer(file: TextIO) -> VCDWriter:
    # An empty date: the same capture gives the same bytes.
    return VCDWriter(file, timescale="1 ps", date="", version="freezeframe")


def _samples(file: TextIO, pieces: Iterator[Edges]) -> Wrote:
    wrote = Wrote()
    writer = _writer(file)
    signals: Signals | None = None
    wires: list[Any] = []
    end_ps = 0
    for piece in pieces:
        if signals is None:
            signals = Signals(piece)
            names = _signal_names(signals.names, wrote)
            wires = [
                writer.register_var(scope, name, "wire", size=bits)
                for (scope, name), bits in zip(names, signals.bits, strict=True)
            ]
        for t_ps, number, value in signals.changes(piece):
            writer.change(wires[number], t_ps, value)
        wrote.add("edges", len(piece))
        end = np.array([piece.end_sample], dtype=np.int64)
        end_ps = int(times_ps(end, piece.samplerate_hz)[0])
    writer.close(end_ps)
    return wrote


def _signal_names(given: Sequence[str], wrote: Wrote) -> list[tuple[str, str]]:
    """Return scope and name of each: printable ASCII without blanks, all different.

    A name with dots, as captures from simulators have, is a path of scopes.
    """
    names = different([re.sub(r"[^!-~]", "_", name) or "_" for name in given])
    changed = [f"{a} is {b}" for a, b in zip(given, names, strict=True) if a != b]
    if changed:
        wrote.notes.append(f"names that a VCD cannot have were changed: {', '.join(changed)}")
    found = []
    for name in names:
        above, _, last = name.rpartition(".")
        whole = all(name.split("."))  # an empty part is no scope
        found.append((f"logic.{above}", last) if above and whole else ("logic", name))
    return found


def _recording(file: TextIO, material: Material) -> Wrote:
    wrote = Wrote()
    writer = _writer(file)
    changes: list[_Change] = []
    for ending, make in (
        ("trace.words", _words),
        ("trace.packets", _packets),
        ("trace.events", _states),
        ("trace.intervals", _blocked),
    ):
        table = material.table(ending)
        if table is not None:
            time_order(table)  # refuses negative times
            count, made = make(table, writer)
            what = ending.removeprefix("trace.")
            wrote.add(what, count)
            changes += made
            if ending != "trace.events" and count < len(table):
                wrote.notes.append(
                    f"{what} of no length, which cannot be shown: {len(table) - count}"
                )
    events = material.table("trace.events")
    if events is not None:
        states = wrote.counts.pop("events")
        wrote.counts["states"] = states
        if len(events) > states:
            wrote.notes.append(
                "events that are no change of state, so not in the file (--to perfetto has them): "
                f"{len(events) - states}"
            )
    others = [name for name, _ in material.tables if not name.startswith("trace.") or "#" in name]
    if others:
        wrote.notes.append(f"no recordings, so not in the file: {', '.join(others)}")
    changes.sort(key=lambda change: change[:2])
    hidden = _put(writer, changes)
    if hidden:
        wrote.notes.append(
            "values at the time of another one of the same variable, of which a VCD shows the "
            f"last alone: {hidden}"
        )
    writer.close(changes[-1][0] if changes else 0)
    return wrote


def _put(writer: VCDWriter, changes: list[_Change]) -> int:
    """Write changes in order of time, one a variable and time; return how many that hid."""
    hidden = 0
    for t_ps, group in groupby(changes, key=lambda change: change[0]):
        now: dict[Any, tuple[int, Any]] = {}
        for _, rank, variable, value in group:
            before = now.get(variable)
            hidden += before is not None and before[0] == rank == _SET and before[1] != value
            now[variable] = (rank, value)
        for variable, (_, value) in now.items():
            writer.change(variable, t_ps, value)
    return hidden


def _words(table: pa.Table, writer: VCDWriter) -> tuple[int, list[_Change]]:
    """Show each word from its time on; ``slot`` changes with every one, also of equal data."""
    made: list[_Change] = []
    for source, rows in _by_source(table):
        kind = writer.register_var(source, "kind", "string")
        data = writer.register_var(source, "data", "wire", size=64)
        slot = writer.register_var(source, "slot", "wire", size=32)
        for row in rows:
            at = row["t_ps"]
            made.append((at, _SET, kind, row["kind"]))
            made.append((at, _SET, data, row["data"] & _MASK))
            made.append((at, _SET, slot, row["slot"]))
    return len(table), made


def _packets(table: pa.Table, writer: VCDWriter) -> tuple[int, list[_Change]]:
    """Show each packet from its first word to the end of its last; not known is x, none is z."""
    made: list[_Change] = []
    shown = 0
    for source, rows in _by_source(table):
        scope = f"{source}.packet"
        kind = writer.register_var(scope, "type", "string")
        fields = [
            (name, writer.register_var(scope, name, "wire", size=size)) for name, size in _PACKET
        ]
        for row in rows:
            if row["t_end_ps"] <= row["t_ps"]:
                continue
            shown += 1
            made.append((row["t_ps"], _SET, kind, row["kind"]))
            made.append((row["t_end_ps"], _CLEARED, kind, ""))
            for name, variable in fields:
                made.append((row["t_ps"], _SET, variable, row[name] if row[name] >= 0 else "x"))
                made.append((row["t_end_ps"], _CLEARED, variable, "z"))
    return shown, made


def _states(table: pa.Table, writer: VCDWriter) -> tuple[int, list[_Change]]:
    """Show the state of each machine, by name, from the first change on; before, what it left."""
    made: list[_Change] = []
    frame = states(table.to_pandas())
    for (device, machine), rows in frame.groupby(["device", "machine"], observed=True):
        scope = f"{device}.states"
        first = str(rows["old"].iloc[0])
        variable = writer.register_var(scope, _plain(str(machine)), "string", init=first)
        made += [
            (int(t_ps), _SET, variable, str(new))
            for t_ps, new in zip(rows["t_ps"], rows["new"], strict=True)
        ]
    return len(frame), made


def _blocked(table: pa.Table, writer: VCDWriter) -> tuple[int, list[_Change]]:
    """Show 1 for each flow while its sender was blocked."""
    wires: dict[tuple[str, int], Any] = {}
    made: list[_Change] = []
    shown = 0
    for row in table.to_pylist():
        if row["t_end_ps"] <= row["t_ps"]:
            continue
        shown += 1
        key = (str(row["device"]), row["flow"])
        if key not in wires:
            name = f"flow{row['flow']}" if row["flow"] >= 0 else "flow_none"
            wires[key] = writer.register_var(f"{key[0]}.blocked", name, "wire", size=1, init=0)
        made.append((row["t_ps"], _SET, wires[key], 1))
        made.append((row["t_end_ps"], _CLEARED, wires[key], 0))
    return shown, made


def _by_source(table: pa.Table) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for source in pc.unique(table.column("source").cast("string")).to_pylist():
        part = table.filter(pc.equal(table.column("source").cast("string"), source))
        yield str(source), part.to_pylist()


def _plain(name: str) -> str:
    return re.sub(r"[^!-~]|\.", "_", name) or "_"
