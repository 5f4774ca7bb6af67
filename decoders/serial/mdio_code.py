"""MDIO, the management bus between a MAC and its PHYs, clause 22 and clause 45.

Source: IEEE 802.3-2018, 22.2.4 and 45.3.
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
from freezeframe.decoders.columns import event_schema, name_type, names, span_table
from freezeframe.decoders.contract import OptionValues, Texts
from freezeframe.decoders.serial.mdio_kernels import (
    ERRORS,
    ROW,
    Settings,
    close,
    frames,
    new_state,
)
from freezeframe.decoders.serial.mdio_names import DEVICES, REGISTERS
from freezeframe.decoders.serial.rows import joined

OPS = ("", "write", "read", "address", "post-read-increment", "reserved-00", "reserved-11")
_OPS_22 = (5, 1, 2, 6)  # index of OPS for the op bits 00, 01, 10, 11
_OPS_45 = (3, 1, 4, 2)
_ROWS_AT_ONCE = 4096
_RISING = clocking(1)  # of MDC


@cache
def mdio_schema() -> pa.Schema:
    """Return the columns of MDIO frames and errors, in the order of their start.

    ``kind`` is ``frame`` or ``error``, and then ``error`` says which; an error about a frame stands
    after it and repeats its values. ``reg`` is the device address in clause 45, ``address`` the
    register address that the device was last given (-1 unknown, and in clause 22). ``preamble`` counts
    all ones before the start, idle ones included; ``t_ps`` and ``sample`` are those of the last 32
    of them. ``*_sample`` are where the fields begin. -1 stands for what is not there.
    """
    fields = ("st", "op", "phy", "reg", "ta", "data")
    places = ("sample", *(f"{name}_sample" for name in fields), "end_sample")
    return event_schema(
        {
            "clause": pa.int8(),
            "op": name_type(),
            "phy": pa.int8(),
            "reg": pa.int8(),
            "address": pa.int32(),
            "data": pa.int32(),
            "ta": pa.int8(),
            "ta_ok": pa.bool_(),
            "preamble": pa.int64(),
            **dict.fromkeys(places, pa.int64()),
        }
    )


class MdioState:
    """What is carried from piece to piece: the kernel's record, and the clock."""

    def __init__(self, options: OptionValues) -> None:
        self.clocked = Clocked()
        self.record = new_state()


def decode_mdio(
    piece: Edges | Samples, options: OptionValues, state: MdioState, last: bool
) -> pa.Table:
    """Decode a piece of a capture with the channels MDC and MDIO, in this order."""
    clause = options.text("clause")
    settings = Settings(
        0 if clause == "auto" else int(clause),
        options.integer("min_preamble"),
        options.integer("full_preamble"),
    )
    record = state.record[0]
    parts: list[npt.NDArray[np.void]] = []
    for clocks in state.clocked.parts(piece, _RISING):
        left = clocks
        while len(left.sample):
            rows = np.zeros(_ROWS_AT_ONCE, dtype=ROW)
            consumed, count = frames(left, settings, record, rows)
            left = left.cut(consumed)
            parts.append(rows[:count])
    if last:
        rows = np.zeros(1, dtype=ROW)
        parts.append(rows[: close(piece.end_sample, record, rows)])
    return _table(joined(parts, ROW), piece)


def mdio_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of `mdio_schema` into words."""
    if row["kind"] == "error":
        error = str(row["error"])
        about = "" if row["phy"] < 0 else f" ({_place(row)})"
        return Texts("!", error, f"{error}{about}: {_ERROR_TEXTS[error]}")
    letter = {"write": "W", "read": "R", "address": "A", "post-read-increment": "RI"}.get(
        row["op"], "?"
    )
    arrow = "->" if row["op"] in ("read", "post-read-increment") else "<-"
    value = f"{row['data']:#06x}"
    normal = f"{row['op']} {_place(row)} {arrow} {value}"
    preamble = f"preamble {row['preamble']} bits"
    turnaround = "" if row["ta_ok"] else f", turnaround {row['ta']:02b} is wrong"
    return Texts(
        f"{letter} {value}", normal, f"clause {row['clause']} {normal}, {preamble}{turnaround}"
    )


def _place(row: Mapping[str, Any]) -> str:
    phy, reg = row["phy"], row["reg"]
    if row["clause"] == 45:
        device = DEVICES.get(reg, "")
        address = "unknown address" if row["address"] < 0 else f"{row['address']:#06x}"
        return f"port {phy} device {reg}{device and f' {device}'} {address}"
    register = REGISTERS.get(reg, "")
    return f"PHY {phy} register {reg}{register and f' {register}'}"


_ERROR_TEXTS = {
    "short-preamble": "fewer ones before the start than a preamble has",
    "bad-op": "clause 22 has no such operation",
    "bad-turnaround": "the bits between address and data are not those of the standard; in a read "
    "nothing answered",
    "cut-frame": "the capture ends inside the frame",
    "illegal-bus": "a zero without enough ones before it to be a start",
    "other-clause": "a frame of the clause that is not expected here",
}


def _table(rows: npt.NDArray[np.void], piece: Edges | Samples) -> pa.Table:
    of_22 = np.array(_OPS_22)[rows["op"].clip(0)]
    of_45 = np.array(_OPS_45)[rows["op"].clip(0)]
    op = np.where(rows["clause"] == 22, of_22, of_45)
    return span_table(
        mdio_schema(),
        rows,
        piece.channels[1],
        piece.samplerate_hz,
        kind=names((rows["error"] != 0).astype(np.int32), ("frame", "error")),
        error=names(rows["error"], ERRORS),
        data=rows["value"],
        op=names(np.where(rows["op"] < 0, 0, op), OPS),
    )
