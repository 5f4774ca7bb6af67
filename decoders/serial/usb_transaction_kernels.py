"""Kernel of USB: packets to transactions, which are a token, data and a handshake.

Source: USB 2.0, 8.5.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from freezeframe.decoders.kernel_numbers import ZERO
from freezeframe.decoders.serial.usb_kernels import (
    ERRORS,
    IN,
    LONGEST_B,
    OUT,
    PACKET,
    PRE,
    RESET,
    SETUP,
)

_NO_REPLY = ERRORS.index("no-reply")
_UNEXPECTED = ERRORS.index("unexpected")
_BAD_DATA = ERRORS.index("bad-data")

TRANSACTION_ROW = np.dtype(
    [
        (name, np.int64)
        for name in (
            "error",
            "sample",
            "end_sample",
            "low",
            "token",  # its PID
            "address",
            "endpoint",
            "data_pid",  # -1 without data
            "first_byte",
            "bytes",
            "handshake",  # its PID, -1 without one
        )
    ]
)
_STATE = np.dtype(
    [
        ("phase", np.int64),
        ("bad_data", np.int64),
        ("data", np.uint8, (LONGEST_B,)),
        ("row", TRANSACTION_ROW),
    ]
)
_NOTHING, _TOKEN, _DATA = 0, 1, 2


def new_transactions() -> npt.NDArray[np.void]:
    """Return the state at the start of a stream: an array of one record."""
    return np.zeros(1, dtype=_STATE)


@njit(cache=True, nogil=True)
def transactions(
    packets: Any, octets: Any, last: bool, s: Any, rows: Any, data: Any
) -> tuple[int, int]:
    """Join packets.

    Args:
        packets: ``(n,)`` of the rows of `usb_kernels.packets`, which point into ``octets``.
        last: no more come.
        s: of `new_transactions`, changed.
        rows: ``(3 * n + 3,)`` of TRANSACTION_ROW, to be filled.
        data: room for the octets of all, and LONGEST_B more.
    Returns:
        Rows and octets filled.
    """
    count = used = ZERO
    for i in range(len(packets)):
        packet = packets[i]
        pid = packet.pid
        if packet.kind == RESET:
            s.phase = _NOTHING
        if packet.kind != PACKET or packet.error or pid == PRE or pid < 0:
            continue
        kind = pid & 3
        if kind == 1 and packet.crc_ok != 1:
            continue  # nobody listens to it
        if kind == 1:
            count, used = _unanswered(s, rows, count, data, used)
            if pid in (OUT, IN, SETUP):
                row = s.row
                row.error = 0
                row.sample, row.end_sample = packet.sample, packet.end_sample
                row.low = packet.low
                row.token = pid
                row.address, row.endpoint = packet.address, packet.endpoint
                row.data_pid = row.handshake = -1
                row.bytes = 0
                s.bad_data = 0
                s.phase = _TOKEN
        elif kind == 3 and s.phase == _TOKEN:
            s.row.data_pid = pid
            s.row.bytes = packet.bytes
            s.row.end_sample = packet.end_sample
            for n in range(packet.bytes):
                s.data[n] = octets[packet.first_byte + n]
            s.bad_data = packet.crc_ok != 1
            s.phase = _DATA
        elif kind == 2 and s.phase != _NOTHING:
            s.row.handshake = pid
            s.row.end_sample = packet.end_sample
            count, used = _put(s, ZERO, rows, count, data, used)
        else:
            rows[count] = s.row
            row = rows[count]
            row.error = _UNEXPECTED
            row.sample, row.end_sample, row.low = packet.sample, packet.end_sample, packet.low
            row.token = row.address = row.endpoint = -1
            row.data_pid = pid if kind == 3 else -1
            row.handshake = pid if kind == 2 else -1
            row.first_byte, row.bytes = used, 0
            count += 1
    if last:
        count, used = _unanswered(s, rows, count, data, used)
    return count, used


@njit(cache=True, nogil=True)
def _unanswered(s: Any, rows: Any, count: int, data: Any, used: int) -> tuple[int, int]:
    """End a transaction that has no handshake, as an isochronous one may."""
    if s.phase == _NOTHING:
        return count, used
    wrong = s.phase == _TOKEN or s.row.token == SETUP
    return _put(s, _NO_REPLY if wrong else 0, rows, count, data, used)


@njit(cache=True, nogil=True)
def _put(s: Any, error: int, rows: Any, count: int, data: Any, used: int) -> tuple[int, int]:
    s.row.first_byte = used
    for n in range(s.row.bytes):
        data[used + n] = s.data[n]
    used += s.row.bytes
    rows[count] = s.row
    count += 1
    error = _BAD_DATA if s.bad_data else error
    if error:
        rows[count] = s.row
        rows[count].error = error
        count += 1
    s.phase = _NOTHING
    return count, used
