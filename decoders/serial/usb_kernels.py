"""Kernel of USB: edges of D+ and D- to packets, resets and keep-alives.

Every change between J and K begins a bit anew; between them bits are counted. Places in time are samples times
`FRACTION`. D+ and D- do not change in the same sample: what lasts no half bit between J and K is their change.

Source: USB 2.0, 7.1.7 (levels), 7.1.8 (NRZI), 7.1.9 (bit stuffing), 8.2 to 8.4 (packets), 8.3.5 (CRC), 8.6.5 (PRE).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from freezeframe.decoders.kernel_numbers import ZERO

ERRORS = (
    "",
    "bad-sync",
    "bad-pid",
    "bad-length",
    "bad-crc",
    "bad-stuff",
    "bad-eop",
    "cut-packet",
    "no-reply",
    "unexpected",
    "bad-data",
)
_BAD_SYNC, _BAD_PID, _BAD_LENGTH, _BAD_CRC, _BAD_STUFF, _BAD_EOP, _CUT = range(1, 8)
PACKET, RESET, KEEP_ALIVE = 0, 1, 2
OUT, ACK, DATA0, PING, SOF, IN, NAK, DATA1, PRE, SETUP, STALL = 1, 2, 3, 4, 5, 9, 10, 11, 12, 13, 14

FRACTION = 1 << 12
LONGEST_B = 1100  # 1,023 of data, and what is around them

# Places are samples, -1 where there is none; values -1 where they are not known.
ROW = np.dtype(
    [
        (name, np.int64)
        for name in (
            "error",
            "kind",
            "sample",
            "end_sample",
            "low",  # 1 low speed
            "pid",
            "address",
            "endpoint",
            "frame",
            "first_byte",
            "bytes",
            "crc",
            "crc_ok",
            "expected",
            "seen",
        )
    ]
)
_BLANK = np.full(1, -1, dtype=np.int64).repeat(len(ROW.names or ())).view(ROW)
_BLANK["error"] = _BLANK["kind"] = _BLANK["first_byte"] = _BLANK["bytes"] = 0

# In samples times FRACTION.
SETTINGS = np.dtype(
    [
        (name, np.int64)
        for name in (
            "full_bit",
            "low_bit",
            "reset",  # SE0 for longer is a reset
            "keep_alive",  # at low speed, for longer and no reset
            "se0",  # for so long it is no change of two lines
            "idle",  # J or K for so long is J
            "speed",  # 1 low, 2 full, 0 automatic
        )
    ]
)
_STATE = np.dtype(
    [
        ("pins", np.int64),  # D+ in bit 0, D- in bit 1; -1 before the capture
        ("since", np.int64),
        ("phase", np.int64),
        ("speed", np.int64),
        ("preamble", np.int64),  # 1: low speed behind a hub at full speed
        ("symbol", np.int64),  # the pins of the last J or K
        ("sent", np.int64),  # those of the bit before
        ("next", np.int64),
        ("ones", np.int64),
        ("bits", np.int64),
        ("sure", np.int64),  # 1: the end of a packet or an idle line was seen
        ("data", np.uint8, (LONGEST_B,)),
        ("row", ROW),
    ]
)
_WAITING, _IDLE, _BITS, _EOP = 0, 1, 2, 3
_SE0, _FULL_J, _LOW_J = 0, 1, 2
_LOW, _FULL = 1, 2
_SYNC = 0x80


def new_state() -> npt.NDArray[np.void]:
    """Return the state at the start of a stream: an array of one record."""
    state = np.zeros(1, dtype=_STATE)
    state["pins"] = -1
    return state


@njit(cache=True, nogil=True)
def packets(
    sample: Any, value: Any, end_sample: int, option: Any, s: Any, rows: Any, data: Any
) -> tuple[int, int]:
    """Go along edges of both lines, and then to ``end_sample``.

    Args:
        sample, value: ``(n,)``, D+ is bit 0, D- bit 1.
        option: of SETTINGS.
        s: of `new_state`, changed.
        rows: ``(3 * n + 8,)`` of ROW, to be filled.
        data: room for ``n + 2 * LONGEST_B`` octets.
    Returns:
        Rows and octets filled.
    """
    count = used = ZERO
    for i in range(len(sample) + 1):
        until = (sample[i] if i < len(sample) else end_sample) * FRACTION
        bit = option.full_bit if s.speed == _FULL and s.preamble == 0 else option.low_bit
        while s.phase == _BITS and s.next < until:
            s.next += bit
            preamble = _take(s, option)
            if preamble or s.ones == 7:
                error = 0 if preamble else _BAD_STUFF
                count, used = _put(s, error, s.next // FRACTION, rows, count, data, used)
                s.phase = _WAITING
            if preamble:
                # After it the hub sends at low speed, with the levels of full speed.
                s.preamble = 1
                s.phase = _IDLE
                s.sent = s.symbol = _FULL_J
        if i == len(sample):
            break
        pins: Any = np.int64(value[i]) & 3
        if pins == s.pins:
            continue
        lasted = until - s.since
        idle = lasted > option.idle and s.pins in (_FULL_J, _LOW_J)
        if (s.pins == _SE0 and s.phase == _EOP) or (idle and s.phase == _BITS):
            wrong = idle or lasted > option.reset or pins != _idle_level(s)
            end = s.since // FRACTION if idle else sample[i]
            count, used = _put(s, _BAD_EOP if wrong else 0, end, rows, count, data, used)
        if s.pins < 0:
            _settle(s, option, pins)
        elif s.pins == _SE0:
            if lasted > option.reset or (
                s.phase != _EOP and lasted > option.keep_alive and s.speed == _LOW
            ):
                kind = RESET if lasted > option.reset else KEEP_ALIVE
                count = _mark(s, kind, sample[i], rows, count)
            crossing = max(option.se0, 2 * bit // 3) if s.speed == _LOW else option.se0
            if s.phase == _EOP or lasted > crossing:
                s.preamble = 0
                _settle(s, option, pins)
                s.sure = 1
        elif idle and s.preamble == 0:
            _settle(s, option, s.pins)
            s.sure = 1
        if pins in (_FULL_J, _LOW_J) and pins != s.symbol:
            # Half way where the lines crossed.
            apart = s.pins in (0, 3) and 2 * lasted <= bit
            at = s.since + lasted // 2 if apart else until
            if s.phase == _IDLE and s.symbol == _idle_level(s):
                s.phase = _BITS
                s.row = _BLANK[0]
                s.row.sample = sample[i]
                s.row.low = s.speed == _LOW or s.preamble == 1
                s.sent = s.symbol
                s.bits = s.ones = 0
                bit = option.full_bit if s.row.low == 0 else option.low_bit
            s.next = at + bit // 2
            s.symbol = pins
        s.pins = pins
        s.since = until
    return count, used


@njit(cache=True, nogil=True)
def close(end_sample: int, s: Any, rows: Any, data: Any) -> tuple[int, int]:
    """Write what the end of the capture cut off; return rows (at most 3) and octets."""
    if s.phase not in (_BITS, _EOP):
        return 0, 0
    s.sure = 1
    return _put(s, 0 if s.phase == _EOP else _CUT, end_sample, rows, ZERO, data, ZERO)


@njit(cache=True, nogil=True)
def _idle_level(s: Any) -> int:
    return _LOW_J if s.speed == _LOW else _FULL_J


@njit(cache=True, nogil=True)
def _settle(s: Any, option: Any, pins: Any) -> None:
    """Take the pins for the idle line, whose level tells the speed."""
    s.phase = _IDLE if pins in (_FULL_J, _LOW_J) else _WAITING
    if pins in (_FULL_J, _LOW_J):
        s.speed = option.speed or (_FULL if pins == _FULL_J else _LOW)
        s.symbol = s.sent = pins


@njit(cache=True, nogil=True)
def _take(s: Any, option: Any) -> bool:
    """Take a bit; return True where a preamble is whole."""
    if s.pins == _SE0:
        s.phase = _EOP
        return False
    bit = s.symbol == s.sent
    s.sent = s.symbol
    stuffed = s.ones == 6
    s.ones = s.ones + 1 if bit else 0
    if stuffed:
        return False
    place = s.bits >> 3
    if place < LONGEST_B:
        if s.bits & 7 == 0:
            s.data[place] = 0
        s.data[place] |= np.uint8(bit << (s.bits & 7))
    s.bits += 1
    preamble = s.bits == 16 and s.data[0] == _SYNC and s.data[1] == 0x3C
    return bool(preamble and s.speed == _FULL and s.preamble == 0)


@njit(cache=True, nogil=True)
def _mark(s: Any, kind: int, at: int, rows: Any, count: int) -> int:
    rows[count] = _BLANK[0]
    row = rows[count]
    row.kind = kind
    row.sample, row.end_sample = s.since // FRACTION, at
    row.low = s.speed == _LOW
    return count + 1


@njit(cache=True, nogil=True)
def _put(
    s: Any, error: int, at: int, rows: Any, count: int, data: Any, used: int
) -> tuple[int, int]:
    """Write the packet as far as it is there, and what is wrong with it; return rows and octets used."""
    row = s.row
    row.end_sample = at
    row.first_byte = used
    octets = min(s.bits >> 3, LONGEST_B)
    if octets >= 2 and s.data[1] & 15 == ~s.data[1] >> 4 & 15:
        row.pid = s.data[1] & 15
    if error == 0:
        error = _fields(s, row, octets)
    elif row.pid & 3 == 3 and octets > 2:
        row.bytes = octets - 2
    for n in range(row.bytes):
        data[used + n] = s.data[2 + n]
    used += row.bytes
    if error and s.sure == 0 and error != _BAD_CRC:
        error = _CUT
    # Of a wrong CRC there are two rows: the packet, and what is wrong with it.
    holds = (error in (0, _BAD_CRC), error != 0)
    for n in range(len(holds)):
        if not holds[n]:
            continue
        rows[count] = row
        rows[count].error = n * error
        if n == 0:
            rows[count].expected = rows[count].seen = -1
        count += 1
    s.sure = 1
    return count, used


@njit(cache=True, nogil=True)
def _fields(s: Any, row: Any, octets: int) -> int:
    """Fill in the fields of a packet that has an end; return what is wrong with it."""
    if octets >= 1 and s.data[0] != _SYNC:
        return _BAD_SYNC
    if octets < 2:
        return _BAD_LENGTH
    if row.pid < 0:
        return _BAD_PID
    # A hub may add a bit (7.1.9.1).
    if s.bits & 7 > 1 or octets == LONGEST_B:
        return _BAD_LENGTH
    if row.pid & 3 == 3:
        if octets < 4:
            return _BAD_LENGTH
        row.bytes = octets - 4
        row.expected = _crc(s.data, 2, 8 * row.bytes, 0xFFFF, 0xA001)
        row.crc = s.data[octets - 2] | np.int64(s.data[octets - 1]) << 8
    elif row.pid & 3 == 1 or row.pid == PING:
        if octets != 4:
            return _BAD_LENGTH
        field = s.data[2] | np.int64(s.data[3]) << 8
        row.expected = _crc(s.data, 2, 11, 0x1F, 0x14)
        row.crc = field >> 11
        if row.pid == SOF:
            row.frame = field & 0x7FF
        else:
            row.address, row.endpoint = field & 0x7F, field >> 7 & 15
    else:
        return 0 if octets == 2 else _BAD_LENGTH
    row.seen = row.crc
    row.crc_ok = row.crc == row.expected
    return 0 if row.crc_ok else _BAD_CRC


@njit(cache=True, nogil=True)
def _crc(data: Any, first: int, bits: int, mask: int, poly: int) -> int:
    """Return the CRC of bits, the lowest of each octet first; register and polynomial are reflected."""
    register = mask
    for n in range(bits):
        low = (register ^ np.int64(data[first + (n >> 3)]) >> (n & 7)) & 1
        register = register >> 1 ^ (poly if low else 0)
    return register ^ mask
