"""1-Wire piece by piece: slots, and the bytes that they make.

Source: Maxim application notes 126, 187, 27.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges, samples_to_ps
from freezeframe.decoders.columns import (
    by_column,
    name_type,
    names,
    sampled_schema,
    span_table,
)
from freezeframe.decoders.contract import OptionValues, Texts
from freezeframe.decoders.serial.onewire_kernels import (
    ADDRESS,
    BYTE_ROW,
    COMMAND,
    ERRORS,
    SLOT_ROW,
    close_slots,
    join_bits,
    new_bytes,
    new_slots,
    slots,
)
from freezeframe.decoders.serial.onewire_names import COMMANDS, FAMILIES
from freezeframe.decoders.serial.rows import edge_parts, joined

_EDGES_AT_ONCE = 1 << 17
_LEAST_HZ = {False: 200_000, True: 2_000_000}
_SLOT_KINDS = ("reset", "presence", "bit", "error")
_BYTE_KINDS = ("reset", "presence", "command", "address", "data", "error")


@cache
def slot_schema() -> pa.Schema:
    """Return the columns of what is on the wire, in the order of its begin.

    ``kind`` is ``reset``, ``presence`` (from the end of a reset to its answer), ``bit`` or ``error``. ``low_ps`` is
    how long the line was low, of ``presence`` by the device.
    """
    return sampled_schema(
        {
            "bit": pa.int8(),
            "present": pa.bool_(),
            "overdrive": pa.bool_(),
            "low_ps": pa.int64(),
        }
    )


@cache
def byte_schema() -> pa.Schema:
    """Return the columns of what bits make, in the order of their begin.

    ``kind`` is ``reset`` (with its answer: ``present``), ``command`` (of the ROM), ``address`` (of a device, 64 bits),
    ``data`` or ``error``. ``value`` is the octet or the address, ``name`` that of the command or of the family.
    ``rom`` is the address of the device that is selected, -1 for none or all. ``conflicts`` counts the bits of
    a search in which devices differ. Addresses are int64 bit patterns, the family in the lowest octet.
    """
    return sampled_schema(
        {
            "value": pa.int64(),
            "name": name_type(),
            "present": pa.bool_(),
            "overdrive": pa.bool_(),
            "rom": pa.int64(),
            "crc_ok": pa.bool_(),
            "conflicts": pa.int8(),
            "expected": pa.int16(),
            "seen": pa.int16(),
        }
    )


class OnewireState:
    """What is carried from piece to piece: the records of both kernels."""

    def __init__(self, options: OptionValues) -> None:
        self.slots = new_slots(options.flag("overdrive"))[0]
        self.bytes = new_bytes()[0]


def decode_onewire(
    edges: Edges, options: OptionValues, state: OnewireState, last: bool
) -> dict[str, pa.Table]:
    """Decode a piece of a capture, which has the one channel of the line.

    Raises:
        InputError: the sample rate is too low to tell a 1 from a 0.
    """
    least_hz = _LEAST_HZ[options.flag("overdrive")]
    if edges.samplerate_hz < least_hz:
        raise InputError(
            f"decoder onewire: {edges.samplerate_hz} samples a second do not tell bits apart; at "
            f"least {least_hz} are needed"
        )
    parts = []
    for sample, value, until in edge_parts(edges, _EDGES_AT_ONCE):
        rows = np.empty(5 * len(sample) + 5, dtype=SLOT_ROW)
        parts.append(rows[: slots(sample, value, until, edges.samplerate_hz, state.slots, rows)])
    if last:
        rows = np.empty(5, dtype=SLOT_ROW)
        parts.append(rows[: close_slots(edges.end_sample, state.slots, rows)])
    found = joined(parts, SLOT_ROW)
    made = np.empty(2 * len(found) + 2, dtype=BYTE_ROW)
    count = join_bits(found, last, state.bytes, made)
    return {
        "onewire.bytes": _byte_table(made[:count], edges),
        "onewire.slots": _slot_table(found, edges),
    }


def _table(
    schema: pa.Schema,
    rows: Mapping[str, npt.NDArray[np.int64]],
    edges: Edges,
    kinds: tuple[str, ...],
    **columns: Any,
) -> pa.Table:
    """Return a table of which the last kind is that of errors."""
    return span_table(
        schema,
        rows,
        edges.channels[0],
        edges.samplerate_hz,
        kind=names(np.where(rows["error"] != 0, len(kinds) - 1, rows["kind"]), kinds),
        error=names(rows["error"], ERRORS),
        **columns,
    )


def _slot_table(records: npt.NDArray[np.void], edges: Edges) -> pa.Table:
    rows = by_column(records)
    low_ps = samples_to_ps(rows["low"], edges.samplerate_hz)
    return _table(slot_schema(), rows, edges, _SLOT_KINDS, low_ps=low_ps)


def _byte_table(records: npt.NDArray[np.void], edges: Edges) -> pa.Table:
    rows = by_column(records)
    # Numbered: nothing, the commands, the families.
    texts = ("", *COMMANDS.values(), *FAMILIES.values())
    octets = rows["value"] & 0xFF
    number = np.zeros(len(records), dtype=np.int32)
    for kind, named, first in ((COMMAND, COMMANDS, 1), (ADDRESS, FAMILIES, 1 + len(COMMANDS))):
        codes = np.zeros(256, dtype=np.int32)
        codes[list(named)] = np.arange(first, first + len(named))
        number += np.where(rows["kind"] == kind, codes[octets], 0).astype(np.int32)
    return _table(byte_schema(), rows, edges, _BYTE_KINDS, name=names(number, texts))


def onewire_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of `byte_schema` or `slot_schema` into words."""
    source, kind = row["source"], row["kind"]
    if kind == "error":
        error = str(row["error"])
        seen = row.get("seen", -1)
        more = f": expected {row['expected']:#04x}, seen {seen:#04x}" if seen >= 0 else ""
        return Texts("!", error, f"{source}: {error}: {_ERROR_TEXTS[error]}{more}")
    speed = " at overdrive speed" if row["overdrive"] else ""
    if kind == "bit":
        return Texts(str(row["bit"]), f"bit {row['bit']}", f"{source}: bit {row['bit']}{speed}")
    if kind == "presence" or (kind == "reset" and row["present"] is not None):
        answer = "a device is present" if row["present"] else "no device"
        short = "P" if row["present"] else "-"
        return Texts(short, f"reset, {answer}", f"{source}: reset{speed}, {answer}")
    if kind == "reset":
        return Texts("R", "reset", f"{source}: reset{speed}")
    name = f" {row['name']}" if row["name"] else ""
    if kind == "address":
        value = f"{row['value'] & (1 << 64) - 1:016x}"
        differ = f", {row['conflicts']} bits differ between devices" if row["conflicts"] > 0 else ""
        return Texts(value, f"{value}{name}", f"{source}: address {value}{name}{differ}")
    value = f"{row['value']:02x}"
    return Texts(value, f"{value}{name}", f"{source}: {kind} {value}{name}{speed}")


_ERROR_TEXTS = {
    "short-recovery": "the line was high for less than 1 us before it fell",
    "short-low": "the line was low for less than 1 us",
    "short-slot": "the next slot begins less than 60 us (overdrive: 6 us) after this one",
    "long-low": "low for longer than a slot and shorter than a reset",
    "long-reset": "a reset of more than 960 us masks what devices signal",
    "early-presence": "the answer to a reset came in less than 15 us (overdrive: 2 us)",
    "short-presence": "the answer to a reset was shorter than 60 us (overdrive: 8 us)",
    "long-presence": "the answer to a reset was longer than 240 us (overdrive: 24 us)",
    "short-pause": "the line fell less than 480 us (overdrive: 48 us) after a reset",
    "cut-slot": "the capture ends while the line is low, or after a reset",
    "unknown-command": "there is no such ROM command",
    "bad-crc": "the CRC is not that of the address",
    "no-device": "no device takes part in the search any more",
    "cut-byte": "a reset or the end of the capture is inside the octet or the address",
}
