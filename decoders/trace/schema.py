"""The tables that a capture decodes to: columns, types, frames that have exactly these, and the fields of words.

Source: docs/formats.md sections 3, 4 and 8.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from freezeframe.capture.registers.layout import Layout
from freezeframe.capture.registers.layouts import Kind, PacketType
from freezeframe.decoders.columns import name_type

UNKNOWN_KIND = "unknown"
ERROR = "error"

WORD_KINDS = (Kind.HEAD.name, Kind.BODY.name, Kind.TAIL.name)
PACKET_KINDS = (*(kind.name for kind in PacketType), UNKNOWN_KIND)
EVENT_KINDS = (*(kind.name for kind in Kind if kind.name not in WORD_KINDS), ERROR)

# Column types: "text" is a dictionary of strings that is known beforehand, "bool?" may be null.
_COLUMNS: dict[str, dict[str, str]] = {
    "words": {
        "t_ps": "int64",
        "source": "text",
        "kind": "text",
        "t_unc_ps": "int64",
        "cycle": "int64",
        "slot": "int32",
        "data": "int64",
        "packet": "int32",
        "word": "int32",
    },
    "packets": {
        "t_ps": "int64",
        "source": "text",
        "kind": "text",
        "t_end_ps": "int64",
        "t_unc_ps": "int64",
        "cycle": "int64",
        "device": "text",
        "tap": "text",
        "direction": "text",
        "flow": "int16",
        "seq": "int32",
        "length": "int16",
        "body_words": "int32",
        "flags": "int16",
        "dest": "int64",
        "header_ok": "bool?",
        "payload_ok": "bool?",
        "length_ok": "bool?",
        "whole": "bool",
        "first_row": "int32",
        "end_row": "int32",
    },
    "events": {
        "t_ps": "int64",
        "source": "text",
        "kind": "text",
        "t_unc_ps": "int64",
        "cycle": "int64",
        "slot": "int32",
        "device": "text",
        "flow": "int16",
        "code": "string",
        "event_source": "string",
        "value": "int64",
        "data": "int64",
    },
    "intervals": {
        "t_ps": "int64",
        "source": "text",
        "kind": "text",
        "t_end_ps": "int64",
        "t_unc_ps": "int64",
        "device": "text",
        "flow": "int16",
        "open_start": "bool",
        "open_end": "bool",
    },
}
TABLES = tuple(_COLUMNS)
_KINDS = {
    "words": WORD_KINDS,
    "packets": PACKET_KINDS,
    "events": EVENT_KINDS,
    "intervals": (Kind.PRESSURE.name,),
}


@cache
def schema(table: str) -> pa.Schema:
    """Return the pyarrow schema of a table.

    Raises:
        KeyError: there is no such table; `TABLES` lists them.
    """
    types = {
        "int16": pa.int16(),
        "int32": pa.int32(),
        "int64": pa.int64(),
        "bool": pa.bool_(),
        "bool?": pa.bool_(),
        "text": name_type(),
        "string": pa.string(),
    }
    return pa.schema(
        [
            pa.field(name, types[kind], nullable=kind == "bool?")
            for name, kind in _COLUMNS[table].items()
        ]
    )


def column_types(table: str) -> Mapping[str, str]:
    """Return column name to type: a numpy type, "text" (dictionary), "string", or "bool?" (may be null)."""
    return _COLUMNS[table]


@dataclass(frozen=True, slots=True)
class Places:
    """What the places in the tables are called: devices and the other ends of their links, and memories."""

    devices: tuple[str, ...]
    memories: tuple[str, ...]


def categories(table: str, column: str, places: Places) -> tuple[str, ...]:
    """Return every text that a dictionary column may hold, in the order of its codes.

    The order follows from the places alone, so that the same capture gives the same bytes.
    """
    devices, memories = places.devices, places.memories
    if column == "kind":
        return _KINDS[table]
    if column == "device":
        return devices
    if column == "tap":
        return memories
    if column == "source":
        return tuple(f"{device}.{memory}" for device in devices for memory in memories)
    if column == "direction":
        ends = (*devices, "?")
        return tuple(f"{a}->{b}" for a in ends for b in ends if a != b or a != "?")
    raise ValueError(f"{table}.{column} is not a dictionary column")


def make_frame(table: str, columns: Mapping[str, Any], places: Places) -> pd.DataFrame:
    """Return a frame with exactly the columns and types of ``table``.

    Args:
        columns: by name. Dictionary columns are codes into `categories`, "bool?" columns are int8
            with 1, 0 and -1 for null, the others are arrays of their type. Columns that the table
            does not have are left out.
        places: names of the capture's devices and memories.
    """
    frame: dict[str, Any] = {}
    for name, kind in _COLUMNS[table].items():
        values = columns[name]
        if kind == "text":
            texts = _index(categories(table, name, places))
            frame[name] = pd.Categorical.from_codes(np.asarray(values, np.int32), categories=texts)
        elif kind == "bool?":
            verdict = np.asarray(values)
            frame[name] = pd.arrays.BooleanArray(verdict == 1, verdict < 0)
        elif kind == "string":
            frame[name] = pd.array(list(values), dtype="str")
        else:
            frame[name] = np.asarray(values).astype(kind, copy=False)
    return pd.DataFrame(frame)


def joined_columns(
    names: Iterable[str], parts: Sequence[Mapping[str, npt.NDArray[np.generic]]]
) -> dict[str, npt.NDArray[np.generic]]:
    """Return these columns of all parts, one after the other; empty ones of no part."""
    return {
        name: np.concatenate([part[name] for part in parts]) if parts else np.empty(0, np.int64)
        for name in names
    }


@lru_cache(maxsize=64)
def _index(texts: tuple[str, ...]) -> pd.Index[Any]:
    """Return texts as pandas has them in categories; the tables of a capture share most of them."""
    return pd.Index(texts, dtype="str")


def field_of(layout: Layout, field: str, words: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return one field of words, ``(n,)`` int64 bit patterns."""
    lsb, width = layout.fields[field]
    return words >> np.int64(lsb) & np.int64((1 << width) - 1)


def name_of(names: Sequence[str], number: int) -> str:
    """Return the name of a value, ``unknown-7`` for one that has none."""
    return names[number] if number < len(names) else f"unknown-{number}"
