"""A row taken apart for the inspector: its columns, and of a packet every word with fields and bits.

What a word should hold is shown only where it follows from the recording: a CRC from the words it
covers, a value from the evidence of a finding.

Source: docs/formats.md, sections 3 and 4.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from freezeframe.analyzers.contract import Finding
from freezeframe.capture.registers import layouts
from freezeframe.capture.registers.layout import Layout
from freezeframe.capture.registers.layouts import Kind, PacketFlag, PacketType
from freezeframe.capture.time_text import doubt_text, format_ps
from freezeframe.decoders.query.words import OPAQUE
from freezeframe.decoders.trace.decode import Trace
from freezeframe.decoders.trace.encode import header_crc, tail_word
from freezeframe.gui.desktop.headings import heading
from freezeframe.gui.desktop.sources.opened import Opened, Place

_MASK = (1 << 64) - 1
_HEX = OPAQUE | {"value", "address", "addr"}
_TIMES = ("_ps",)
_VALUE_W = layouts.EVENT.fields["value"][1]  # an event keeps so many bits of a credit word
_VALUE = (1 << _VALUE_W) - 1
_PACKET_WORDS = 600  # a packet cannot have more; a table with wrong counts is shown row by row


@dataclass(frozen=True, slots=True)
class Field:
    """A part of a word or a row. ``lsb``, ``width`` in bits, where it is one; ``wrong`` where a check fails."""

    name: str
    value: str
    lsb: int | None = None
    width: int | None = None
    expected: str = ""
    wrong: bool = False


@dataclass(frozen=True, slots=True)
class InspectedWord:
    """A word of a packet: what it is, its value, the value it should have, and its fields.

    ``row`` is that of the table ``words``. ``wrong`` are the bits that differ from ``expected``.
    """

    name: str
    row: int
    t_ps: int
    value: int
    expected: int | None = None
    fields: tuple[Field, ...] = ()

    @property
    def wrong(self) -> int:
        return 0 if self.expected is None else self.value ^ self.expected


@dataclass(frozen=True, slots=True)
class Inspection:
    """What the inspector shows: a heading, what was checked, the row's fields, the packet's words."""

    title: str
    verdicts: tuple[Field, ...] = ()
    fields: tuple[Field, ...] = ()
    words: tuple[InspectedWord, ...] = ()


_MAYBE = frozenset(
    ("flow", "seq", "length", "flags", "dest", "packets_row", "packet", "events_row", "word",
     "row", "other_row", "other_seq", "bank", "pointer")
)  # fmt: skip
"""Columns in which -1 says that the value is not known, or that there is none."""


def cell_text(name: str, value: Any) -> str:
    """Return a value of a table as people read it: times with a unit, opaque words as hex."""
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bytes):
        return value.hex(" ")
    digits = 2 * getattr(value, "itemsize", 8)
    if hasattr(value, "tolist"):
        value = value.tolist()  # a scalar or an array of numpy
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        if value == -1 and name in _MAYBE:
            return ""
        if name.endswith(_TIMES):
            doubt = name.endswith("unc_ps")
            return doubt_text(value).removeprefix("± ") if doubt else format_ps(value)
        if name in OPAQUE and digits == 16:
            return f"{value & _MASK:#018x}"
        if name in _HEX and value >= 0:
            return f"{value:#x}" if name == "value" else f"0x{value:0{digits}x}"
        return str(value)
    if isinstance(value, list | tuple):
        return " ".join(str(one) for one in value)
    return str(value)


def is_unknown(name: str, values: pd.Series[Any]) -> npt.NDArray[np.bool_]:
    """Return which values of a column `cell_text` shows as nothing."""
    unknown = values.isna().to_numpy(np.bool_, copy=True)
    if name in _MAYBE and pd.api.types.is_integer_dtype(values.dtype):
        unknown |= (values == -1).fillna(False).to_numpy(np.bool_)
    return unknown


def known_time(value: Any) -> int | None:
    """Return a time of a table in picoseconds; None where the row has none."""
    return None if value is None or bool(pd.isna(value)) else int(value)


def _column(name: str, value: Any) -> Field:
    return Field(heading(name), cell_text(name, value))


def inspect_row(table: str, row: int, values: Mapping[str, Any], texts: str = "") -> Inspection:
    """Return a row of any table: a field for each column; of an event also the fields of its value."""
    fields = [_column(str(name), value) for name, value in values.items()]
    layout = _event_layout(values)
    if layout is not None:
        raw = int(values["value"])
        fields += [
            Field(f"value: {name}", _value_text(layout, name, part), lsb, width)
            for (name, (lsb, width)), part in zip(
                layout.fields.items(), layout.unpack(raw & _VALUE).values(), strict=True
            )
            if lsb + width <= _VALUE_W
        ]  # fmt: skip
    t_ps = known_time(values.get("t_ps"))
    when = "" if t_ps is None else f" at {format_ps(t_ps)}"
    what = texts or str(values.get("kind", ""))
    return Inspection(f"{table} row {row:,}{when}: {what}", fields=tuple(fields))


def inspect_place(opened: Opened, place: Place) -> tuple[Inspection, int | None]:
    """Return what the inspector shows of a row, and the row of the word that is chosen in it."""
    trace = opened.trace
    table = opened.tables[place.table]
    if trace is not None and place.table in ("packets", "words"):
        packet, word = place.row, None
        if place.table == "words":
            packet, word = int(trace.words["packet"].iloc[place.row]), place.row
        if 0 <= packet < len(trace.packets):
            columns = trace.packets.iloc[packet]
            if int(columns["end_row"]) - int(columns["first_row"]) <= _PACKET_WORDS:
                return inspect_packet(trace, packet, opened.findings), word
    if opened.cards is not None and place.table in ("packets", "words"):
        return _inspect_card(opened, place)
    values = table.row(place.row)
    text = "" if table.text is None else table.text(values)
    return inspect_row(place.table, place.row, values, text), None


def _inspect_card(opened: Opened, place: Place) -> tuple[Inspection, int | None]:
    """Return what the inspector shows of a packet of a described card, or of a word and its packet."""
    packets, words = opened.tables["packets"].frame, opened.tables["words"].frame
    packet, word = place.row, None
    if place.table == "words":
        word = place.row
        inside = (packets["first_row"] <= word) & (packets["end_row"] > word)
        inside &= packets["source"].astype(str) == str(words["source"].iloc[word])
        found = np.flatnonzero(inside.to_numpy())
        if not len(found):
            return inspect_row("words", word, opened.tables["words"].row(word)), None
        packet = int(found[0])
    said = packets.iloc[packet]
    first, end = int(said["first_row"]), int(said["end_row"])
    shown = []
    for row in range(first, min(end, first + _PACKET_WORDS)):
        of = words.iloc[row]
        fields = tuple(_column(name, of[name]) for name in ("cycle", "slot", "t_unc_ps"))
        name = f"{row - first} {of['kind']}"
        shown.append(
            InspectedWord(name, row, int(of["t_ps"]), int(of["data"]) & _MASK, None, fields)
        )
    verdict = str(said["verdict"]) or "cannot be known from what was recorded"
    verdicts = (
        Field("checks of its format", verdict, wrong=verdict == "bad"),
        Field("what is wrong", str(said["error"]) or "nothing"),
    )
    title = f"packet {said['number']} at {said['source']}, {said['wire_B']} B, {format_ps(int(said['t_ps']))}"
    fields = tuple(
        Field(heading(str(name)), text)
        for name in packets.columns
        if (text := cell_text(str(name), said[name]))
    )
    return Inspection(title, verdicts, fields, tuple(shown)), word


def inspect_packet(trace: Trace, packet: int, findings: Sequence[Finding] = ()) -> Inspection:
    """Return a packet word by word, its checks made again from the words themselves.

    Args:
        packet: row of ``trace.packets``.
        findings: their evidence says what a word should hold.
    """
    said = trace.packets.iloc[packet]
    first, end = int(said["first_row"]), int(said["end_row"])
    words = trace.words.iloc[first:end]
    expected = dict(_expected(findings, first, end))
    kinds = [str(kind) for kind in words["kind"]]
    data = [int(value) & _MASK for value in words["data"]]
    times = [int(t) for t in words["t_ps"]]
    heads = [at for at, kind in enumerate(kinds) if kind == Kind.HEAD.name]
    bodies = [at for at, kind in enumerate(kinds) if kind == Kind.BODY.name]
    crcs = _crcs(said, data, heads, bodies)
    shown = []
    names = _names(said, kinds, heads, bodies)
    for at, value in enumerate(data):
        layout = _layout(names[at])
        wanted = expected.get(first + at, crcs.get(at))
        shown.append(
            InspectedWord(
                names[at],
                first + at,
                times[at],
                value,
                wanted,
                () if layout is None else _fields(layout, value, wanted),
            )
        )
    verdicts = (
        _verdict("header CRC", said["header_ok"]),
        _verdict("payload CRC", said["payload_ok"]),
        _verdict("length", said["length_ok"], _length_text(said)),
        Field(
            "recorded whole",
            "yes" if bool(said["whole"]) else "no, cut by the end of a memory or a gap",
        ),
    )
    return Inspection(
        f"packet {said['seq']}, {said['kind']}, flow {said['flow']}, at {said['source']}, "
        f"{format_ps(int(said['t_ps']))}",
        verdicts,
        tuple(_column(str(name), said[name]) for name in trace.packets.columns),
        tuple(shown),
    )


def _names(
    said: pd.Series[Any], kinds: Sequence[str], heads: Sequence[int], bodies: Sequence[int]
) -> list[str]:
    """Return what each word is; of a lone HEAD the table says which of the two it was taken for."""
    header = int(said["seq"]) >= 0
    names = list(kinds)
    for number, at in enumerate(heads):
        place = number if header else number + 1
        names[at] = ("header", "address")[place] if place < 2 else f"further HEAD {number + 1}"
    for number, at in enumerate(bodies):
        names[at] = f"payload {number}"
    return ["tail" if name == Kind.TAIL.name else name for name in names]


def _layout(name: str) -> Layout | None:
    return {"header": layouts.HEADER, "address": layouts.ADDRESS, "tail": layouts.TAIL}.get(name)


def _crcs(
    said: pd.Series[Any], data: Sequence[int], heads: Sequence[int], bodies: Sequence[int]
) -> dict[int, int]:
    """Return the words that hold a CRC as they should be for the words it covers."""
    found = {}
    if len(heads) == 2 and int(said["seq"]) >= 0:
        header, address = data[heads[0]], data[heads[1]]
        lsb, width = layouts.HEADER.fields["crc"]
        keep = header & ~((1 << width) - 1 << lsb)
        found[heads[0]] = keep | header_crc(header, address) << lsb
    # Without a HEAD the beginning of the payload may be missing too.
    last = len(data) - 1
    if heads and last not in (*heads, *bodies):
        found[last] = tail_word([data[at] for at in bodies])
    return found


def _expected(findings: Iterable[Finding], first: int, end: int) -> Iterable[tuple[int, int]]:
    for finding in findings:
        for row in finding.rows:
            there = row.table == "words" and row.row is not None and first <= row.row < end
            if there and row.row is not None and row.expected is not None:
                yield row.row, row.expected & _MASK


def _fields(layout: Layout, value: int, expected: int | None) -> tuple[Field, ...]:
    wanted = None if expected is None else layout.unpack(expected)
    made = []
    for name, part in layout.unpack(value).items():
        lsb, width = layout.fields[name]
        wrong = wanted is not None and wanted[name] != part
        text = "" if wanted is None or not wrong else _value_text(layout, name, wanted[name])
        made.append(Field(name, _value_text(layout, name, part), lsb, width, text, wrong))
    return tuple(made)


def _value_text(layout: Layout, name: str, value: int) -> str:
    """Return a field's value, with the name it stands for."""
    if name == "type":
        known = {int(kind): kind.name for kind in PacketType}
        return f"{value} {known.get(value, 'unknown')}"
    if name == "flags":
        held = [flag.name for flag in PacketFlag if value & int(flag)]
        return f"{value:#x} {' '.join(str(n) for n in held)}".rstrip()
    if layout is layouts.STATE_VALUE:
        states = layouts.MACHINE_STATE_NAMES
        return f"{value} {states[value] if value < len(states) else 'unknown'}"
    if name == "causes":
        held = [cause for bit, cause in enumerate(layouts.CAUSE_NAMES) if value >> bit & 1]
        return f"{value:#06x} {' '.join(held)}".rstrip()
    if name in ("crc", "dest"):
        digits = -(-layout.fields[name][1] // 4)
        return f"0x{value:0{digits}x}"
    return str(value)


def _event_layout(values: Mapping[str, Any]) -> Layout | None:
    if "event_source" not in values:
        return None
    return {
        Kind.DESC.name: layouts.DESC_VALUE,
        Kind.CREDIT.name: layouts.CREDIT,
        Kind.STATE.name: layouts.STATE_VALUE,
    }.get(str(values.get("kind")))


def _verdict(name: str, value: Any, wanted: str = "") -> Field:
    if value is None or value is pd.NA:
        return Field(name, "cannot be known from what was recorded")
    return Field(name, "good") if bool(value) else Field(name, "bad", expected=wanted, wrong=True)


def _length_text(said: pd.Series[Any]) -> str:
    return f"{said['length']} words by the header, {said['body_words']} crossed"
