"""Kernels of I2C: changes of SCL, and of SDA while SCL is high, to conditions, bytes, errors and transfers.

Source: NXP UM10204 rev. 7.0, 3.1 (START, STOP, acknowledge, 10-bit address).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from freezeframe.decoders.clocked import MARK, STILL

KINDS = ("start", "repeated-start", "address", "address-low", "data", "stop", "error")
START, REPEATED, ADDRESS, ADDRESS_LOW, DATA, STOP, ERROR = range(7)

ERRORS = ("", "cut-byte", "void", "cut-transfer")
_CUT_BYTE, _VOID, CUT_TRANSFER = 1, 2, 3

_SCL, _SDA = np.uint64(1), np.uint64(2)
_ONE = np.uint64(1)
_CLOCKS_OF_BYTE = np.uint64(16)  # SCL falls and rises with each bit

# Places are sample indices; -1 where there is none or it is not known. Numbers are as narrow as in the table.
ROW = np.dtype(
    [
        ("sample", np.int64),
        ("last_sample", np.int64),  # where the eighth bit was sampled
        ("byte_end_sample", np.int64),
        ("ack_sample", np.int64),
        ("end_sample", np.int64),
        ("low_samples", np.int64),
        ("kind", np.int32),  # index of KINDS
        ("error", np.int32),  # index of ERRORS
        ("address", np.int16),
        ("value", np.int16),
        ("read", np.int8),
        ("ack", np.int8),
        ("bits", np.int8),
        ("ten", np.int8),  # 1 in the first byte of a 10-bit address
    ]
)

_STATE = np.dtype(
    [
        ("started", np.int64),
        ("phase", np.int64),
        ("repeated", np.int64),  # a START before, and no STOP since
        ("start_at", np.int64),
        ("bytes", np.int64),  # since the START
        ("bits", np.int64),  # of the byte so far, 9 with the acknowledge
        ("shift", np.int64),
        ("byte_at", np.int64),
        ("bit_at", np.int64),
        ("bit_before", np.int64),
        ("width", np.int64),  # samples of the eighth bit
        ("read", np.int64),
        ("address", np.int64),
        ("ten", np.int64),  # how much of a 10-bit address is known
        ("ten_address", np.int64),
        ("low_at", np.int64),  # since when SCL is low, -1 while it is high
        ("low_samples", np.int64),  # the longest so far in this byte
    ]
)
_IDLE, _IN_BYTES = 0, 1
_SEVEN, _LOW_NEXT, _TEN = 0, 1, 2

# The bytes of data stand from first_byte on, in columns beside this one.
TRANSFER_ROW = np.dtype(
    [
        (name, np.int64)
        for name in (
            "open",
            "error",  # index of ERRORS
            "sample",
            "end_sample",
            "address",
            "ten",
            "read",
            "ack",
            "nak_at",
            "repeated",
            "stopped",
            "first_byte",
            "bytes",
        )
    ]
)


def new_state() -> npt.NDArray[np.void]:
    """Return the state at the start of a stream: an array of one record."""
    state = np.zeros(1, dtype=_STATE)
    state["low_at"] = state["read"] = state["address"] = -1
    return state


def new_transfer() -> npt.NDArray[np.void]:
    """Return the state of `transfers` at the start of a stream."""
    return np.zeros(1, dtype=TRANSFER_ROW)


@njit(cache=True, nogil=True)
def events(clocks: Any, ten_bit: bool, s: Any, rows: Any) -> int:
    """Take clocks, and return the rows filled.

    Args:
        clocks: `Clocks` of SCL and SDA: both edges of SCL, SDA being marked while SCL is high.
        ten_bit: take 1111 0xx for the beginning of a 10-bit address.
        s: of `new_state`, changed.
        rows: ``(m,)`` of ROW, to be filled; m at least twice the clocks, and 8.
    """
    sample, levels, _ = clocks
    count = 0
    i = 0
    if s.started == 0 and len(sample):
        s.started = 1
        if levels[0] & _SCL == 0:
            s.low_at = sample[0]
        i = 1
    while i < len(sample):
        if s.phase == _IN_BYTES and s.bits == 0 and s.low_at < 0:
            i = _whole_byte(clocks, i, s)
            if i == len(sample):
                break
        at, now = sample[i], levels[i]
        i += 1
        if now & STILL == 0:
            if now & _SCL == 0:
                s.low_at = at
                continue
            if s.low_at >= 0:
                s.low_samples = max(s.low_samples, at - s.low_at)
                s.low_at = -1
            if s.phase == _IN_BYTES:
                level = int(now & _SDA != 0)
                if s.bits < 8:
                    _bit(s, at, level)
                else:
                    count += _acknowledge(s, at, level, ten_bit, rows[count])
                continue
        # SCL high and SDA changes. While no byte runs, SCL may have risen in this very sample.
        if now & MARK:
            if now & _SDA == 0:
                count += _cut_byte(s, at, True, rows[count:])
                count += _start(s, at, rows[count])
            elif s.phase == _IN_BYTES:
                count += _cut_byte(s, at, True, rows[count:])
                count += _stop(s, at, rows[count:])
    return count


@njit(inline="always")
def _whole_byte(clocks: Any, first: int, s: Any) -> int:
    """Take the eight bits of a byte from clock ``first`` on, SCL being high before it; return the clock after
    them, or ``first`` where they are not all there or SDA changes while SCL stays high.

    The usual case: with no such change SCL falls and rises in turn, and nothing has to be asked at each
    clock. Indices are unsigned: numba looks whether a signed one counts from the end.
    """
    sample, levels, _ = clocks
    i = np.uint64(first)
    end = i + _CLOCKS_OF_BYTE
    if end > np.uint64(len(levels)):
        return first
    seen = shift = np.uint64(0)
    low_samples = np.int64(s.low_samples)
    for bit in range(8):
        fall = i + np.uint64(2 * bit)
        rise = fall + _ONE
        seen |= levels[fall] | levels[rise]
        shift |= (levels[rise] >> _ONE & _ONE) << np.uint64(7 - bit)
        low_samples = max(low_samples, sample[rise] - sample[fall])
    if seen & STILL:
        return first
    s.bits, s.shift, s.low_samples = 8, shift, low_samples
    s.byte_at = sample[i + _ONE]
    s.bit_before = sample[end - np.uint64(3)]
    s.bit_at = sample[end - _ONE]
    s.width = s.bit_at - s.bit_before
    return np.int64(end)  # type: ignore[return-value]  # numba's int64 is an int


@njit(cache=True, nogil=True)
def _bit(s: Any, sample: int, level: int) -> None:
    """Take one bit of a byte."""
    if s.bits == 0:
        s.byte_at = sample
        s.shift = 0
    s.shift = s.shift << 1 | level
    s.bits += 1
    s.bit_before = s.bit_at
    s.bit_at = sample
    if s.bits == 8:
        s.width = s.bit_at - s.bit_before


@njit(cache=True, nogil=True)
def close(end_sample: int, s: Any, rows: Any) -> int:
    """Write what the end of the capture cut off, and count it (at most 3 rows)."""
    if s.phase != _IN_BYTES:
        return 0
    count = _cut_byte(s, end_sample, False, rows)
    _clear(rows[count])
    rows[count].kind = ERROR
    rows[count].error = CUT_TRANSFER
    rows[count].sample = s.start_at
    rows[count].end_sample = end_sample
    rows[count].address = s.address
    rows[count].read = s.read
    return count + 1


@njit(cache=True, nogil=True)
def transfers(rows: Any, t: Any, data: Any, ended: Any) -> int:
    """Put rows together to transfers.

    Args:
        rows: what `events` and `close` gave.
        t: of `new_transfer`, changed: the transfer that is open.
        data: columns of the bytes, their begin and their end samples; those of the open transfer
            are in their place, and there is room for one byte a row.
        ended: ``(m,)`` of TRANSFER_ROW, to be filled; m above the number of rows.
    Returns:
        Transfers filled.
    """
    byte, begin, end = data
    count = 0
    for i in range(len(rows)):
        row = rows[i]
        kind = row.kind
        if kind == DATA:
            at = t.first_byte + t.bytes
            byte[at] = row.value
            begin[at] = row.sample
            end[at] = row.end_sample
            if row.ack == 0 and t.nak_at < 0:
                t.nak_at = t.bytes
            t.bytes += 1
        elif kind == ADDRESS:
            t.address = row.address
            t.ten = row.ten
            t.read = row.read
            t.ack = row.ack
        elif kind == ADDRESS_LOW:
            # The whole address is acknowledged when its last byte is.
            t.address = row.address
            t.ack = row.ack
        elif kind != ERROR or row.error == CUT_TRANSFER:
            if t.open == 1:
                t.end_sample = row.end_sample
                t.stopped = kind == STOP
                t.error = row.error
                ended[count] = t
                count += 1
                t.first_byte += t.bytes
            t.open = 0
            t.bytes = 0
            if kind in (START, REPEATED):
                t.open = 1
                t.sample = row.sample
                t.repeated = kind == REPEATED
                t.address = -1
                t.ten = 0
                t.read = -1
                t.ack = -1
                t.nak_at = -1
    return count


@njit(cache=True, nogil=True)
def _acknowledge(s: Any, sample: int, level: int, ten_bit: bool, row: Any) -> int:
    """Take the ninth bit, which makes a row."""
    _byte(s, ten_bit, row)
    row.ack_sample = sample
    row.end_sample = sample + s.width
    row.ack = 1 - level
    row.low_samples = s.low_samples
    s.low_samples = 0
    s.bits = 0
    s.bytes += 1
    return 1


@njit(cache=True, nogil=True)
def _byte(s: Any, ten_bit: bool, row: Any) -> None:
    """Fill in a byte of which all 8 bits are there, and what it means for those that follow."""
    _clear(row)
    row.sample = s.byte_at
    row.last_sample = s.bit_at
    row.byte_end_sample = s.bit_at + s.width
    row.end_sample = row.byte_end_sample
    row.value = s.shift
    row.bits = 8
    row.low_samples = s.low_samples
    if s.bytes == 0:
        row.kind = ADDRESS
        s.read = s.shift & 1
        s.address = s.shift >> 1
        high = (s.shift >> 1 & 3) << 8
        if not ten_bit or s.shift >> 3 != 0b11110:
            s.ten = _SEVEN
        elif s.read == 0:
            row.ten = 1
            s.ten = _LOW_NEXT
            s.ten_address = high
            s.address = -1
        else:
            # 3.1.11: a read repeats the upper part of the address that a write has sent.
            row.ten = 1
            known = s.ten == _TEN and s.ten_address & 0x300 == high
            s.address = s.ten_address if known else -1
    elif s.ten == _LOW_NEXT and s.bytes == 1:
        row.kind = ADDRESS_LOW
        s.ten = _TEN
        s.ten_address |= s.shift
        s.address = s.ten_address
    else:
        row.kind = DATA
    row.address = s.address
    row.read = s.read


@njit(cache=True, nogil=True)
def _cut_byte(s: Any, sample: int, condition: bool, rows: Any) -> int:
    """Write what a START, a STOP or the end of the capture cuts: at most 2 rows."""
    # SCL has to rise for a condition: that edge was no bit, as SDA changed after it.
    bits = s.bits - condition
    shift = s.shift >> np.int64(condition)
    s.bits = 0
    if s.phase != _IN_BYTES or bits <= 0:
        return 0
    count = 0
    if bits == 8:
        _byte(s, False, rows[0])
        count = 1
    row = rows[count]
    _clear(row)
    row.kind = ERROR
    row.error = _CUT_BYTE
    row.sample = s.byte_at
    row.end_sample = sample
    row.address = s.address
    row.read = s.read
    row.bits = bits
    row.value = shift
    return count + 1


@njit(cache=True, nogil=True)
def _start(s: Any, sample: int, row: Any) -> int:
    _clear(row)
    row.kind = REPEATED if s.repeated else START
    row.sample = sample
    row.end_sample = sample
    s.phase = _IN_BYTES
    s.repeated = 1
    s.start_at = sample
    s.bytes = 0
    s.bits = 0
    s.low_samples = 0
    s.address = -1
    s.read = -1
    return 1


@njit(cache=True, nogil=True)
def _stop(s: Any, sample: int, rows: Any) -> int:
    count = 0
    if s.bytes == 0:
        _clear(rows[0])
        rows[0].kind = ERROR
        rows[0].error = _VOID
        rows[0].sample = s.start_at
        rows[0].end_sample = sample
        count = 1
    row = rows[count]
    _clear(row)
    row.kind = STOP
    row.sample = sample
    row.end_sample = sample
    s.phase = _IDLE
    s.repeated = 0
    s.ten = _SEVEN
    s.address = -1
    s.read = -1
    return count + 1


@njit(cache=True, nogil=True)
def _clear(row: Any) -> None:
    row.kind = row.error = row.ten = 0
    row.sample = row.last_sample = row.byte_end_sample = row.ack_sample = row.end_sample = -1
    row.address = row.read = row.value = row.ack = row.bits = row.low_samples = -1
