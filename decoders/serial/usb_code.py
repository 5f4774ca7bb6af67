"""USB piece by piece: packets, transactions and transfers as tables.

Source: USB 2.0, chapters 7 to 9.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.columns import (
    byte_strings,
    name_type,
    names,
    sampled_schema,
    span_table,
)
from freezeframe.decoders.contract import OptionValues
from freezeframe.decoders.serial.rows import Part, edge_parts, joined_with_octets, record_of
from freezeframe.decoders.serial.usb_kernels import (
    ERRORS,
    FRACTION,
    LONGEST_B,
    ROW,
    SETTINGS,
    close,
    new_state,
    packets,
)
from freezeframe.decoders.serial.usb_names import PIDS
from freezeframe.decoders.serial.usb_transaction_kernels import (
    TRANSACTION_ROW,
    new_transactions,
    transactions,
)
from freezeframe.decoders.serial.usb_transfers import Transfer, Transfers

_EDGES_AT_ONCE = 1 << 14
_LOW_HZ, _FULL_HZ = 1_500_000, 12_000_000
_LEAST_SAMPLES = 2  # of a bit
_NS = 10**9
_SPEEDS = ("full", "low")
_PACKET_KINDS = ("token", "data", "handshake", "sof", "special", "reset", "keep-alive", "error")
_KIND_OF_PID = np.array([4, 0, 2, 1, 4, 3, 2, 1, 4, 0, 2, 1, 4, 0, 2, 1, 4])  # the last: no PID
_NAMES = (*PIDS, "")


@cache
def packet_schema() -> pa.Schema:
    """Return the columns of USB packets, in the order of their begin.

    ``kind`` is ``token``, ``data``, ``handshake``, ``sof``, ``special``, ``reset``, ``keep-alive`` or ``error``, and
    then ``error`` says which; of ``bad-crc`` the row of the packet stands before it, and ``expected`` and ``seen``
    say what the CRC should have been and was. -1 stands for what is not there, null for a verdict.
    """
    return sampled_schema(
        {
            "pid": name_type(),
            "speed": name_type(),
            "address": pa.int16(),
            "endpoint": pa.int8(),
            "frame": pa.int16(),
            "data": pa.binary(),
            "crc": pa.int32(),
            "crc_ok": pa.bool_(),
            "expected": pa.int32(),
            "seen": pa.int32(),
        }
    )


@cache
def transaction_schema() -> pa.Schema:
    """Return the columns of USB transactions, in the order of their end.

    ``kind`` is ``transaction`` or ``error``. ``token`` is OUT, IN or SETUP, ``toggle`` the PID of the data,
    ``handshake`` that of the answer, empty where there is none.
    """
    return sampled_schema(
        {
            "token": name_type(),
            "speed": name_type(),
            "address": pa.int16(),
            "endpoint": pa.int8(),
            "toggle": name_type(),
            "data": pa.binary(),
            "handshake": name_type(),
        }
    )


@cache
def transfer_schema() -> pa.Schema:
    """Return the columns of USB transfers, in the order of their end.

    ``kind`` is ``control``, ``bulk``, ``interrupt``, ``isochronous``, ``bulk or interrupt`` where no configuration
    was seen, or ``error``, and then ``transfer`` is the kind. ``endpoint`` has bit 7 set for IN. ``setup`` are the
    eight octets of a control transfer, ``request`` the same in words, ``about`` its descriptors in words.
    ``status`` is the last handshake, ``naks`` the transactions that were put off.
    """
    return sampled_schema(
        {
            "transfer": name_type(),
            "address": pa.int16(),
            "endpoint": pa.int16(),
            "read": pa.bool_(),
            "request": pa.string(),
            "setup": pa.binary(),
            "data": pa.binary(),
            "status": name_type(),
            "naks": pa.int32(),
            "transactions": pa.int32(),
            "about": pa.string(),
        }
    )


class UsbState:
    """What is carried from piece to piece: the records of both kernels, and the open transfers."""

    def __init__(self, options: OptionValues) -> None:
        self.packets = new_state()[0]
        self.transactions = new_transactions()[0]
        self.transfers = Transfers()


def decode_usb(
    edges: Edges, options: OptionValues, state: UsbState, last: bool
) -> dict[str, pa.Table]:
    """Decode a piece of a capture with the channels D+ and D-, in this order.

    Raises:
        InputError: the sample rate is too low for the speed, or for any.
    """
    settings = _settings(edges.samplerate_hz, options.text("signalling"))
    parts: list[Part] = []
    for sample, value, until in edge_parts(edges, _EDGES_AT_ONCE):
        rows = np.empty(3 * len(sample) + 8, dtype=ROW)
        data = np.empty(len(sample) + 2 * LONGEST_B, dtype=np.uint8)
        count, used = packets(sample, value, until, settings, state.packets, rows, data)
        parts.append((rows[:count].copy(), data[:used]))
    if last:
        rows, data = np.zeros(4, dtype=ROW), np.zeros(LONGEST_B, dtype=np.uint8)
        count, used = close(edges.end_sample, state.packets, rows, data)
        parts.append((rows[:count], data[:used]))
    found = joined_with_octets(parts, ROW)
    joined = _transactions(found, state, last)
    transfers = state.transfers.feed(*joined)
    if last:
        transfers += state.transfers.rest()
    return {
        "usb.transfers": _transfer_table(transfers, edges),
        "usb.transactions": _transaction_table(joined, edges),
        "usb.packets": _packet_table(found, edges),
    }


def _settings(samplerate_hz: int, signalling: str) -> np.void:
    least_hz = _LEAST_SAMPLES * (_FULL_HZ if signalling == "full-speed" else _LOW_HZ)
    if samplerate_hz < least_hz:
        raise InputError(
            f"decoder usb: {samplerate_hz} samples a second do not tell bits apart; at least "
            f"{least_hz} are needed, {_LEAST_SAMPLES * _FULL_HZ} for full speed"
        )
    one = FRACTION * samplerate_hz
    return record_of(
        SETTINGS,
        full_bit=one // _FULL_HZ,
        low_bit=one // _LOW_HZ,
        reset=one * 2_500 // _NS,  # 7.1.7.5
        keep_alive=one * 1_200 // _NS,  # two bits at low speed, less the tolerance
        se0=one * 110 // _NS,  # of the two bits of an end at full speed
        idle=one * 5_000 // _NS,  # seven bits at low speed are 4.7 us
        speed=("automatic", "low-speed", "full-speed").index(signalling),
    )


def _transactions(found: Part, state: UsbState, last: bool) -> Part:
    rows = np.empty(3 * len(found[0]) + 3, dtype=TRANSACTION_ROW)
    data = np.empty(len(found[1]) + LONGEST_B, dtype=np.uint8)
    count, used = transactions(*found, last, state.transactions, rows, data)
    return rows[:count], data[:used]


def _table(schema: pa.Schema, found: Part, edges: Edges, **columns: pa.Array) -> pa.Table:
    """Return the table of packets or of transactions: these columns, and those that both have."""
    rows, data = found
    return span_table(
        schema,
        rows,
        "USB",
        edges.samplerate_hz,
        error=names(rows["error"], ERRORS),
        speed=names(rows["low"], _SPEEDS),
        data=byte_strings(data, rows["first_byte"], rows["bytes"]),
        **columns,
    )


def _packet_table(found: Part, edges: Edges) -> pa.Table:
    rows, _ = found
    kind = np.where(rows["kind"] > 0, rows["kind"] + 4, _KIND_OF_PID[rows["pid"]])
    return _table(
        packet_schema(),
        found,
        edges,
        kind=names(np.where(rows["error"] != 0, len(_PACKET_KINDS) - 1, kind), _PACKET_KINDS),
        pid=_pid(rows["pid"]),
    )


def _transaction_table(joined: Part, edges: Edges) -> pa.Table:
    rows, _ = joined
    return _table(
        transaction_schema(),
        joined,
        edges,
        kind=names((rows["error"] != 0).astype(np.int32), ("transaction", "error")),
        token=_pid(rows["token"]),
        toggle=_pid(rows["data_pid"]),
        handshake=_pid(rows["handshake"]),
    )


def _pid(numbers: npt.NDArray[np.int64]) -> pa.Array:
    return names(np.where(numbers < 0, len(PIDS), numbers), _NAMES)


def _transfer_table(transfers: Sequence[Transfer], edges: Edges) -> pa.Table:
    fields = ("sample", "end_sample", "address", "endpoint", "status", "naks", "transactions")
    rows = {
        name: np.array([getattr(transfer, name) for transfer in transfers], dtype=np.int64)
        for name in fields
    }
    return span_table(
        transfer_schema(),
        rows,
        "USB",
        edges.samplerate_hz,
        kind=["error" if t.error else t.kind for t in transfers],
        error=[t.error for t in transfers],
        transfer=[t.kind for t in transfers],
        read=np.array([t.reads for t in transfers], dtype=np.bool_),
        request=pa.array([t.request for t in transfers], pa.string()),
        setup=pa.array([t.setup for t in transfers], pa.binary()),
        data=pa.array([bytes(t.data) for t in transfers], pa.binary()),
        status=_pid(rows["status"]),
        about=pa.array([t.about for t in transfers], pa.string()),
    )
