"""JTAG: states of the TAP controller, and scans of the instruction and data registers.

Source: IEEE 1149.1-2013, figure 6-1 (TAP controller), 6.1.1.
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
    cut_octets,
    end_to_end,
    name_type,
    names,
    sampled_schema,
    span_schema,
    span_table,
)
from freezeframe.decoders.contract import OptionValues, Texts
from freezeframe.decoders.serial.jtag_kernels import (
    ERRORS,
    SCAN_ROW,
    STATE_ROW,
    STATES,
    TRST,
    close,
    new_state,
    scans,
)
from freezeframe.decoders.serial.rows import joined

_ROWS_AT_ONCE = 1 << 15
_TCK = 1  # the mask of tck
_TDI, _TDO, _TRST = 2, 3, 4  # places of channels
_SHOWN_B = 16  # of a long scan, in a normal text


@cache
def state_schema() -> pa.Schema:
    """Return the columns of states of the TAP controller, one row a stay.

    ``kind`` is the state's name. A stay lasts from the rising edge that enters it to the one that
    leaves it; ``clocks`` counts its rising edges, the entering one included (0 after TRST),
    ``last_sample`` is the last of them. The last stay ends with the capture.
    """
    return span_schema(
        {
            "clocks": pa.int64(),
            "sample": pa.int64(),
            "last_sample": pa.int64(),
            "end_sample": pa.int64(),
        }
    )


@cache
def scan_schema() -> pa.Schema:
    """Return the columns of scans, in the order of their end.

    ``kind`` is ``ir``, ``dr`` or ``error``, and then ``error`` says which and ``register`` of what.
    ``tdi`` and ``tdo`` hold ``bits`` bits in whole bytes, the first one lowest in the first byte
    (empty for a line that is not there). ``instruction`` is what the last scan of the instruction
    register shifted in: of an ``ir`` scan its own, -1 where it is not known or longer than 63 bits.
    A scan lasts from its first bit to the update.
    """
    return sampled_schema(
        {
            "register": name_type(),
            "bits": pa.int64(),
            "tdi": pa.binary(),
            "tdo": pa.binary(),
            "instruction": pa.int64(),
        }
    )


class JtagState:
    """What is carried from piece to piece: the kernel's record, and the bits of an open scan."""

    def __init__(self, options: OptionValues) -> None:
        self.clocked = Clocked()
        self.record = new_state(STATES.index(options.text("start")))[0]
        self.rows = np.empty(_ROWS_AT_ONCE, STATE_ROW), np.empty(_ROWS_AT_ONCE, SCAN_ROW)
        self.shifted = (np.zeros(0, dtype=np.uint8), np.zeros(0, dtype=np.uint8))

    def make_room(self, clocks: int) -> None:
        """Let the bits of so many clocks fit, and the bytes that they begin."""
        # Each scan takes at least five clocks, and begins a byte.
        used = int(self.record["first_byte"]) + (int(self.record["bits"]) + 7) // 8
        needed = used + clocks // 8 + clocks // 4 + 2
        if len(self.shifted[0]) < needed:
            room = np.zeros(needed, dtype=np.uint8)
            self.shifted = (
                np.concatenate([self.shifted[0], room]),
                np.concatenate([self.shifted[1], room]),
            )

    def forget(self) -> None:
        """Move the bits of the open scan to the front; those before it are in the table."""
        s = self.record
        first, size = int(s["first_byte"]), (int(s["bits"]) + 7) // 8
        for line in self.shifted:
            line[:size] = line[first : first + size].copy()
        s["first_byte"] = 0


def decode_jtag(
    piece: Edges | Samples, options: OptionValues, state: JtagState, last: bool
) -> dict[str, pa.Table]:
    """Decode a piece of a capture with the channels tck, tms, tdi, tdo, ntrst."""
    has_trst = bool(piece.channels[_TRST])
    states: list[Mapping[str, npt.NDArray[np.int64]]] = []
    ended_scans: list[npt.NDArray[np.void]] = []
    for clocks in state.clocked.parts(piece, clocking(_TCK, marked=TRST if has_trst else 0)):
        state.make_room(len(clocks.sample))
        left = clocks
        while len(left.sample):
            consumed, stays, ended = scans(left, has_trst, state.record, state.shifted, state.rows)
            left = left.cut(consumed)
            states.append(by_column(state.rows[0][:stays]))
            ended_scans.append(state.rows[1][:ended].copy())
    if last or not states:
        rows = np.empty(1, STATE_ROW), np.empty(1, SCAN_ROW)
        stays, ended = close(piece.end_sample, state.record, rows) if last else (0, 0)
        states.append(by_column(rows[0][:stays]))
        ended_scans.append(rows[1][:ended])
    tables = {
        "jtag.states": _state_table(end_to_end(states), piece),
        "jtag.scans": _scan_table(joined(ended_scans, SCAN_ROW), state, piece),
    }
    state.forget()
    return tables


def jtag_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of `state_schema` or `scan_schema` into words."""
    if "clocks" in row:
        kind = str(row["kind"])
        return Texts(kind, kind, f"{row['source']}: {kind}, {row['clocks']} clocks")
    if row["kind"] == "error":
        error = str(row["error"])
        about = f"{row['register']} scan of {row['bits']} bits"
        return Texts("!", error, f"{row['source']}: {about}: {error}: {_ERROR_TEXTS[error]}")
    lines = [f"{line} {_hex(row[line.lower()])}" for line in ("TDI", "TDO") if row[line.lower()]]
    normal = f"{row['register']} {row['bits']} bits {' '.join(lines)}".strip()
    instruction = row["instruction"]
    after = f", instruction {instruction:#x}" if row["kind"] == "dr" and instruction >= 0 else ""
    return Texts(f"{row['register']} {row['bits']}", normal, f"{row['source']}: {normal}{after}")


_ERROR_TEXTS = {
    "cut-scan": "the capture ends before the update",
    "reset-scan": "TRST ends the scan",
}


def _hex(data: bytes) -> str:
    """Return the value of a scan; of a long one the end, which is the lowest."""
    if len(data) > _SHOWN_B:
        return f"0x..{int.from_bytes(data[:_SHOWN_B], 'little'):0{2 * _SHOWN_B}x}"
    return f"{int.from_bytes(data, 'little'):#x}"


def _state_table(rows: Mapping[str, npt.NDArray[np.int64]], piece: Edges | Samples) -> pa.Table:
    kind = names(rows["state"], STATES)
    return span_table(state_schema(), rows, piece.channels[0], piece.samplerate_hz, kind=kind)


def _scan_table(rows: npt.NDArray[np.void], state: JtagState, piece: Edges | Samples) -> pa.Table:
    count = len(rows)
    used = int(rows["first_byte"][-1] + (rows["bits"][-1] + 7) // 8) if count else 0
    offsets = np.append(rows["first_byte"], used)
    nothing = np.zeros_like(offsets)
    lines = {}
    for name, place, line in (("tdi", _TDI, 0), ("tdo", _TDO, 1)):
        there = bool(piece.channels[place])
        data = state.shifted[line][: used if there else 0].copy()
        lines[name] = cut_octets(data, offsets if there else nothing)
    return span_table(
        scan_schema(),
        rows,
        piece.channels[0],
        piece.samplerate_hz,
        kind=names(np.where(rows["error"] != 0, 2, rows["ir"]), ("dr", "ir", "error")),
        error=names(rows["error"], ERRORS),
        register=names(rows["ir"], ("DR", "IR")),
        **lines,
    )
