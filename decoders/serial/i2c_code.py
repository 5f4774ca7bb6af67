"""I2C: conditions, bytes with their acknowledge, and the transfers they make.

Source: NXP UM10204 rev. 7.0, 3.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.files.edges import Edges, samples_to_ps
from freezeframe.capture.files.samples import Samples
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.clocked import Clocked, clocking
from freezeframe.decoders.columns import (
    by_column,
    cut_octets,
    event_schema,
    names,
    sampled_schema,
    span_table,
    verdicts,
    whole,
)
from freezeframe.decoders.contract import OptionValues, Texts
from freezeframe.decoders.serial.i2c_glitches import new_filter, without_glitches
from freezeframe.decoders.serial.i2c_kernels import (
    ERRORS,
    KINDS,
    ROW,
    TRANSFER_ROW,
    close,
    events,
    new_state,
    new_transfer,
    transfers,
)

_MORE_ROWS = 8  # for what began in the piece before, and what the end cuts
_NS_PER_S = 10**9
_SCL, _SDA = 1, 2  # masks of channels
_CHANGES = clocking(_SCL, both=True, marked=_SDA, gated=True)


@cache
def byte_schema() -> pa.Schema:
    """Return the columns of I2C conditions, bytes and errors, in the order of their end.

    ``kind`` is ``start``, ``repeated-start``, ``address``, ``address-low`` (the second byte of a
    10-bit address), ``data``, ``stop`` or ``error``, and then ``error`` says which. ``data`` is the
    byte as on the wire, with the direction bit in an address; ``address`` the 7 or 10 bits of the
    transfer, -1 where they are not known (yet). ``ack`` and ``read`` are null where there is none.
    ``low_ps`` is the longest time for which SCL was low in the byte: a stretched clock shows here.
    ``sample`` is where the first bit was sampled, ``last_sample`` the eighth, ``ack_sample`` the
    ninth; the ends are one bit later. -1 stands for what is not there.
    """
    places = ("sample", "last_sample", "byte_end_sample", "ack_sample", "end_sample")
    return event_schema(
        {
            "address": pa.int16(),
            "read": pa.bool_(),
            "data": pa.int16(),
            "ack": pa.bool_(),
            "bits": pa.int8(),
            "low_ps": pa.int64(),
            **dict.fromkeys(places, pa.int64()),
        }
    )


@cache
def transfer_schema() -> pa.Schema:
    """Return the columns of I2C transfers: from a START to the next, or to the STOP.

    ``kind`` is ``transfer``, or ``error`` (``cut-transfer``) for one that the capture's end cuts.
    ``address`` has 7 bits, or 10 where ``ten_bit`` says so; -1 where it is not known. ``data`` are
    the bytes after the address. ``address_ack`` is the acknowledge of the whole address (null
    without one), ``nak_at`` the number of the first byte of ``data`` that was not acknowledged, -1
    for none (the reader does not acknowledge the last). ``repeated`` says that it begins with a
    repeated START, ``stopped`` that it ends with a STOP. ``byte_sample`` and ``byte_end_sample``
    are where the first bit of each byte of ``data`` was sampled, and one bit after its acknowledge.
    """
    return sampled_schema(
        {
            "transfer": pa.int64(),
            "address": pa.int16(),
            "ten_bit": pa.bool_(),
            "read": pa.bool_(),
            "address_ack": pa.bool_(),
            "data": pa.binary(),
            "nak_at": pa.int64(),
            "repeated": pa.bool_(),
            "stopped": pa.bool_(),
            "byte_sample": pa.list_(pa.int64()),
            "byte_end_sample": pa.list_(pa.int64()),
            "samplerate_hz": pa.int64(),
        }
    )


class I2cState:
    """What is carried from piece to piece: the kernels' records, and the bytes of a transfer that
    is open."""

    def __init__(self, options: OptionValues) -> None:
        self.clocked = Clocked()
        self.record = new_state()[0]
        self.filter = new_filter()
        self.transfer = new_transfer()[0]
        self.transfers = 0  # given so far
        # Room that is kept: to allocate it for each piece costs as much as decoding.
        self.rows = np.empty(0, dtype=ROW)
        self.data = np.empty(0, np.uint8), np.empty(0, np.int64), np.empty(0, np.int64)

    def make_room(self, rows: int, clocks: int) -> None:
        """Let the rows of so many clocks fit after those that there are."""
        # Two changes of SDA while SCL is high make three rows: a START, an error, a STOP.
        needed = rows + 2 * clocks + _MORE_ROWS
        if len(self.rows) < needed:
            self.rows = _longer(self.rows, rows, 2 * needed)

    def make_room_for_bytes(self, rows: int) -> None:
        """Let the bytes of so many rows fit after those of the transfer that is open."""
        size = int(self.transfer["bytes"])
        if len(self.data[0]) < size + rows:
            byte, begin, end = (_longer(column, size, 2 * (size + rows)) for column in self.data)
            self.data = byte, begin, end

    def forget(self) -> None:
        """Move the bytes of the open transfer to the front; those before are in the table."""
        first, size = (int(self.transfer[name]) for name in ("first_byte", "bytes"))
        for column in self.data:
            column[:size] = column[first : first + size].copy()
        self.transfer["first_byte"] = 0


def decode_i2c(
    piece: Edges | Samples, options: OptionValues, state: I2cState, last: bool
) -> dict[str, pa.Table]:
    """Decode a piece of a capture with the channels SCL and SDA, in this order."""
    glitch_samples = -(-options.integer("glitch_ns") * piece.samplerate_hz // _NS_PER_S)
    if glitch_samples:
        edges = piece if isinstance(piece, Edges) else piece.edges()
        # What has not changed back by the end of the capture stays.
        until = edges.end_sample + (glitch_samples if last else 0)
        sample, value = without_glitches(
            edges.sample, edges.value, glitch_samples, until, state.filter
        )
        piece = replace(edges, sample=sample, value=value)
    ten_bit = options.text("address_bits") == "auto"
    count = 0
    for clocks in state.clocked.parts(piece, _CHANGES):
        state.make_room(count, len(clocks.sample))
        count += events(clocks, ten_bit, state.record, state.rows[count:])
    state.make_room(count, 0)
    if last:
        count += close(piece.end_sample, state.record, state.rows[count:])
    rows = state.rows[:count]
    state.make_room_for_bytes(count)
    ended = np.empty(count + 1, dtype=TRANSFER_ROW)
    ended = ended[: transfers(rows, state.transfer, state.data, ended)]
    tables = {
        "i2c.bytes": _byte_table(rows, piece),
        "i2c.transfers": _transfer_table(ended, state, piece),
    }
    state.forget()
    return tables


def _longer(column: npt.NDArray[Any], used: int, size: int) -> npt.NDArray[Any]:
    longer = np.empty(size, column.dtype)
    longer[:used] = column[:used]
    return longer


def i2c_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of `byte_schema` or `transfer_schema` into words."""
    kind = row["kind"]
    if kind == "error":
        error = str(row["error"])
        return Texts("!", error, f"{row['source']}: {error}: {_ERROR_TEXTS[error]}")
    way = {True: "read", False: "write", None: "?"}[row["read"]]
    address = "?" if row["address"] < 0 else f"0x{row['address']:02x}"
    if "transfer" in row:
        data = row["data"].hex(" ")
        nak = "" if row["address_ack"] else ", nothing answered"
        normal = f"{address} {way}{data and ': ' + data}{nak}"
        end = "STOP" if row["stopped"] else "no STOP"
        begin = "repeated START, " if row["repeated"] else ""
        return Texts(address, normal, f"{row['source']}: {begin}{normal}, {end}")
    if kind in _CONDITIONS:
        return Texts(_CONDITIONS[kind], kind, f"{row['source']}: {kind}")
    ack = {True: "ACK", False: "NAK", None: "no acknowledge bit"}[row["ack"]]
    if kind == "address":
        normal = f"{'10-bit address' if row['data'] >> 3 == 0b11110 else address} {way} {ack}"
        return Texts(f"{row['data']:02x}", normal, f"{row['source']}: address {normal}")
    value = f"{row['data']:02x}"
    long = f"{row['source']}: {kind} {value} {way} {address} {ack}"
    return Texts(value, f"{value} {ack}", f"{long}, SCL low for {format_ps(row['low_ps'])} at most")


_CONDITIONS = {"start": "S", "repeated-start": "Sr", "stop": "P"}
_ERROR_TEXTS = {
    "cut-byte": "a START, a STOP or the end of the capture is inside a byte",
    "void": "a STOP follows a START without a byte (UM10204 3.1.10: not allowed)",
    "cut-transfer": "the capture ends before a STOP",
}


def _byte_table(records: npt.NDArray[np.void], piece: Edges | Samples) -> pa.Table:
    rows = by_column(records)
    low_ps = samples_to_ps(np.maximum(rows["low_samples"], 0), piece.samplerate_hz)
    return span_table(
        byte_schema(),
        rows,
        piece.channels[1],
        piece.samplerate_hz,
        kind=names(rows["kind"], KINDS),
        error=names(rows["error"], ERRORS),
        data=rows["value"],
        low_ps=np.where(rows["low_samples"] < 0, -1, low_ps),
    )


def _transfer_table(
    rows: npt.NDArray[np.void], state: I2cState, piece: Edges | Samples
) -> pa.Table:
    count = len(rows)
    used = int(rows["first_byte"][-1] + rows["bytes"][-1]) if count else 0
    offsets = np.append(rows["first_byte"], used).astype(np.int32)
    data, begin, end = (column[:used].copy() for column in state.data)
    first_transfer = state.transfers
    state.transfers += count
    return span_table(
        transfer_schema(),
        rows,
        piece.channels[1],
        piece.samplerate_hz,
        kind=names((rows["error"] != 0).astype(np.int32), ("transfer", "error")),
        error=names(rows["error"], ERRORS),
        transfer=np.arange(first_transfer, state.transfers),
        ten_bit=rows["ten"] == 1,
        address_ack=verdicts(rows["ack"]),
        data=cut_octets(data, offsets),
        byte_sample=pa.ListArray.from_arrays(whole(offsets), whole(begin)),
        byte_end_sample=pa.ListArray.from_arrays(whole(offsets), whole(end)),
        samplerate_hz=np.full(count, piece.samplerate_hz),
    )
