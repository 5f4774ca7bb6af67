"""SWD piece by piece: clocks, the kernel, and its rows as a table.

Source: Arm IHI 0031, ADIv5.2, chapter B4.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.samples import Samples
from freezeframe.decoders.clocked import Clocked, clocking
from freezeframe.decoders.columns import (
    by_column,
    distinct,
    event_schema,
    name_type,
    names,
    span_table,
)
from freezeframe.decoders.contract import OptionValues, Texts
from freezeframe.decoders.serial.rows import joined
from freezeframe.decoders.serial.swd_kernels import ERRORS, ROW, close, new_state, transfers
from freezeframe.decoders.serial.swd_names import register_name

_KINDS = ("transfer", "line-reset", "switch", "error")
_ACKS = ("", "ok", "wait", "", "fault", "", "", "none")
_PORTS = ("", "DP", "AP")
_SWITCHES = {0xE79E: "JTAG to SWD", 0xE73C: "SWD to JTAG", 0xE3BC: "SWD to dormant"}
_BOTH = clocking(1, both=True)
# A name for each of AP, read, address, bank; the bank that is not known first.
_REGISTERS = [
    register_name(bool(ap), bool(read), 4 * address, bank - 1)
    for ap in range(2)
    for read in range(2)
    for address in range(4)
    for bank in range(17)
]
_REGISTER_NAMES, _REGISTER_CODES = distinct((*_REGISTERS, "", *_SWITCHES.values()))


@cache
def swd_schema() -> pa.Schema:
    """Return the columns of SWD transfers, resets and errors, in the order of their begin.

    ``kind`` is ``transfer``, ``line-reset`` (``ones`` clocks), ``switch`` (``register`` says from what to what) or
    ``error``, and then ``error`` says which; an error about a transfer stands after it and repeats its values.
    ``port`` is DP or AP, ``address`` 0 to 12, ``register`` its name, ``ack`` ok, wait, fault or none. ``data`` of
    a read of an AP is that of the read before it. ``apsel`` and ``bank`` are as SELECT was written last.
    Places are those of the first bits; -1 stands for what is not there, null for a verdict.
    """
    return event_schema(
        {
            "port": name_type(),
            "read": pa.bool_(),
            "address": pa.int8(),
            "register": name_type(),
            "ack": name_type(),
            "data": pa.int64(),
            "parity_ok": pa.bool_(),
            "apsel": pa.int16(),
            "bank": pa.int8(),
            "ones": pa.int64(),
            **dict.fromkeys(("sample", "ack_sample", "data_sample", "end_sample"), pa.int64()),
        }
    )


class SwdState:
    """What is carried from piece to piece: the kernel's record, and the clock."""

    def __init__(self, options: OptionValues) -> None:
        self.clocked = Clocked()
        self.record = new_state(options.flag("strict_start"))[0]


def decode_swd(
    piece: Edges | Samples, options: OptionValues, state: SwdState, last: bool
) -> pa.Table:
    """Decode a piece of a capture with the channels SWCLK and SWDIO, in this order."""
    parts = []
    for clocks in state.clocked.parts(piece, _BOTH):
        # A transfer has 24 edges or more, a request that is none two.
        rows = np.empty(len(clocks.sample) + 4, dtype=ROW)
        parts.append(rows[: transfers(clocks, state.record, rows)].copy())
    if last:
        rows = np.empty(4, dtype=ROW)
        parts.append(rows[: close(piece.end_sample, state.record, rows)])
    return _table(joined(parts, ROW), piece)


def _table(records: npt.NDArray[np.void], piece: Edges | Samples) -> pa.Table:
    rows = by_column(records)
    kind = np.where(rows["error"] != 0, len(_KINDS) - 1, rows["kind"])
    at = ((rows["ap"] * 2 + rows["read"]) * 4 + rows["address"] // 4) * 17 + rows["bank"] + 1
    number = np.where(rows["ap"] >= 0, at, len(_REGISTERS))
    for place, code in enumerate(_SWITCHES):
        number = np.where(rows["switch"] == code, len(_REGISTERS) + 1 + place, number)
    return span_table(
        swd_schema(),
        rows,
        piece.channels[1],
        piece.samplerate_hz,
        kind=names(kind, _KINDS),
        error=names(rows["error"], ERRORS),
        port=names(rows["ap"] + 1, _PORTS),
        register=names(_REGISTER_CODES[number], _REGISTER_NAMES),
        ack=names(np.maximum(rows["ack"], 0), _ACKS),
        data=rows["value"],
    )


def swd_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of `swd_schema` into words."""
    source, kind = row["source"], row["kind"]
    if kind == "line-reset":
        return Texts("LR", "line reset", f"{source}: line reset, {row['ones']} clocks")
    if kind == "switch":
        return Texts("SW", row["register"], f"{source}: switch from {row['register']}")
    letter = "R" if row["read"] else "W"
    name = row["register"] or f"{row['address']:#x}"
    about = f"{letter} {row['port']} {name}"
    if kind == "error":
        error = str(row["error"])
        return Texts("!", error, f"{source}: {error} ({about}): {_ERROR_TEXTS[error]}")
    if row["ack"] != "ok" and row["data"] < 0:
        return Texts(row["ack"], f"{about} {row['ack']}", f"{source}: {about}: {row['ack']}")
    value = f"{row['data']:08x}"
    where = f", AP {row['apsel']}" if row["port"] == "AP" and row["apsel"] >= 0 else ""
    return Texts(value, f"{about} {value}", f"{source}: {about}{where}: {value}, {row['ack']}")


_ERROR_TEXTS = {
    "bad-request": "the parity of the request is wrong; the target does not answer",
    "no-reply": "nothing answered the request",
    "bad-ack": "the acknowledge is none of ok, wait and fault",
    "bad-parity": "the parity of the data is wrong",
    "cut-transfer": "a line reset or the end of the capture is inside the transfer",
}
