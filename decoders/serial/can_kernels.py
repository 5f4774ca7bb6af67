"""Kernel of CAN: edges of one line to bits, bits to frames, error flags and overload flags.

Every edge from recessive to dominant after a recessive bit begins a bit anew; between them bits are counted.
Places in time are samples times `FRACTION`.

Source: ISO 11898-1:2015, 10.4 (frames), 10.5 (bit stuffing), 10.4.2.6 (CRC), 10.11 (errors and overload).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from freezeframe.decoders.kernel_numbers import ZERO

ERRORS = (
    "",
    "bad-start",
    "bad-stuff",
    "bad-fixed-stuff",
    "bad-stuff-count",
    "bad-crc",
    "bad-form",
    "no-ack",
    "error-flag",
    "reserved",
    "cut-frame",
    "few-edges",
    "no-bitrate",
)
_BAD_START, _BAD_STUFF, _BAD_FIXED, _BAD_COUNT, _BAD_CRC = 1, 2, 3, 4, 5
_BAD_FORM, _NO_ACK, _FLAG, _RESERVED, _CUT = 6, 7, 8, 9, 10
OVERLOAD, RATE = 2, 3  # of `kind`; 0 is a frame, 1 a remote frame

FRACTION = 1 << 16
LONGEST_B = 64

# Places are samples, -1 where there is none; values -1 where they are not known.
ROW = np.dtype(
    [
        (name, np.int64)
        for name in (
            "error",  # index of ERRORS
            "kind",
            "sample",
            "end_sample",
            "id_sample",
            "dlc_sample",
            "data_sample",
            "crc_sample",
            "ack_sample",
            "id",
            "extended",
            "remote",
            "fd",
            "brs",
            "esi",
            "dlc",
            "first_byte",
            "bytes",
            "stuff_count",
            "crc",
            "crc_ok",
            "ack",
            "expected",
            "seen",
        )
    ]
)
_BLANK = np.full(1, -1, dtype=np.int64).repeat(len(ROW.names or ())).view(ROW)
_BLANK["error"] = _BLANK["kind"] = _BLANK["bytes"] = 0

# In samples times FRACTION: the bit, and how far its sample point is from its begin.
SETTINGS = np.dtype(
    [(name, np.int64) for name in ("bit", "point", "fast_bit", "fast_point", "invert")]
)

_STATE = np.dtype(
    [
        ("level", np.int64),  # of the line, 1 recessive; -1 before the capture
        ("since", np.int64),  # where that began, in samples times FRACTION
        ("phase", np.int64),
        ("sure", np.int64),  # 1: the bus was seen idle before
        ("next", np.int64),  # where the next bit is taken
        ("fast", np.int64),
        ("last", np.int64),  # the bit before
        ("run", np.int64),  # equal bits so far
        (
            "pos",
            np.int64,
        ),  # number of the frame's bit without stuff bits; of the part in CRC and tail
        ("acc", np.int64),  # the last bits
        ("dlc_at", np.int64),
        ("data_end", np.int64),
        ("crc15", np.int64),
        ("crc17", np.int64),
        ("crc21", np.int64),
        ("stuffed", np.int64),
        ("fixed_bad", np.int64),
        ("count_ok", np.int64),
        ("late", np.int64),  # 1: the acknowledge took a second bit, 2: it came in the second
        ("flag", np.int64),  # index of ERRORS, or 0 for an overload flag
        ("data", np.uint8, (LONGEST_B,)),
        ("row", ROW),
    ]
)
_WAIT, _IDLE, _FRAME, _LAST_STUFF, _FD_CRC, _TAIL, _IN_FLAG = range(7)
_IDLE_HALVES = 19  # halves of a bit: a delimiter of 8 bits and 2 of the intermission, less a half
_FLAG_HALVES = 11  # halves of a bit that a flag has at least: 6 bits, less a half
_NOTHING, _DONE = 0, -1
_CRC_DELIMITER, _ACK, _ACK_DELIMITER, _EOF_END, _PAUSE_END = 0, 1, 2, 9, 12

_LENGTHS = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64], dtype=np.int64)
# Gray code of the number of stuff bits modulo 8, and its even parity (ISO 11898-1, table 7).
_COUNTS = np.array([0b0000, 0b0011, 0b0110, 0b0101, 0b1100, 0b1111, 0b1010, 0b1001], dtype=np.int64)


def new_state() -> npt.NDArray[np.void]:
    """Return the state at the start of a stream: an array of one record."""
    state = np.zeros(1, dtype=_STATE)
    state["level"] = -1
    return state


def in_good_tail(record: np.void) -> bool:
    """Tell whether a frame with a right CRC has still to end."""
    open_tail = record["phase"] == _TAIL and record["pos"] <= _EOF_END
    return bool(open_tail and record["row"]["crc_ok"] == 1)


@njit(cache=True, nogil=True)
def frames(
    sample: Any, value: Any, end_sample: int, option: Any, s: Any, rows: Any, data: Any
) -> tuple[int, int]:
    """Go along edges of the line, and then to ``end_sample``.

    Args:
        sample, value: ``(n,)``, the line is bit 0.
        option: of SETTINGS.
        s: of `new_state`, changed.
        rows: ``(2 * n + 8,)`` of ROW, to be filled.
        data: room for ``n + 2 * LONGEST_B`` octets.
    Returns:
        Rows and octets filled.
    """
    count = used = ZERO
    invert = np.uint64(option.invert)
    for i in range(len(sample) + 1):
        until = (sample[i] if i < len(sample) else end_sample) * FRACTION
        while s.phase >= _FRAME and s.next < until:
            if s.phase == _IN_FLAG and s.level == 0:
                break  # only its end matters
            at = s.next
            s.next = at + (option.fast_bit if s.fast else option.bit)
            found = _take(s, option, at, s.level)
            if found != _NOTHING:
                count, used = _put(s, option, at, found, rows, count, data, used)
        if i == len(sample):
            break
        level = np.int64((value[i] & np.uint64(1)) ^ invert)
        if level == s.level:
            continue
        if level == 0 and s.level == 1:
            idle = 2 * (until - s.since) >= _IDLE_HALVES * option.bit
            if s.sure == 0 and idle and s.phase >= _FRAME:
                s.row.crc_ok = 0  # what began in a frame before the capture runs into this one
                count, used = _put(s, option, s.next, _DONE, rows, count, data, used)
                s.phase = _WAIT
            if s.phase == _WAIT and (idle or s.sure == 0):
                s.phase = _IDLE
            if s.phase == _IDLE:
                s.sure |= idle
                _begin(s, until)
                s.next = until + option.point
            elif s.last == 1:
                s.next = until + (option.fast_point if s.fast else option.point)
        elif s.phase == _IN_FLAG:
            # A shorter one is the end of an acknowledge, or a glitch.
            if 2 * (until - s.row.sample * FRACTION) >= _FLAG_HALVES * option.bit:
                rows[count] = _BLANK[0]
                rows[count].error = s.flag
                rows[count].kind = OVERLOAD
                rows[count].sample = s.row.sample
                rows[count].end_sample = sample[i]
                count += 1
            s.phase = _WAIT
        s.level = level
        s.since = until
    return count, used


@njit(cache=True, nogil=True)
def close(end_sample: int, s: Any, rows: Any, data: Any) -> tuple[int, int]:
    """Write what the end of the capture cut off; return rows (at most 1) and octets."""
    open_tail = s.phase == _TAIL and s.pos <= _EOF_END
    if not (open_tail or s.phase in (_FRAME, _LAST_STUFF, _FD_CRC, _IN_FLAG)):
        return 0, 0
    if s.phase == _IN_FLAG:
        begin = s.row.sample
        s.row = _BLANK[0]
        s.row.sample = begin
    s.row.end_sample = end_sample
    s.phase = _WAIT
    return _write(s, _CUT, rows, ZERO, data, ZERO)


@njit(cache=True, nogil=True)
def _begin(s: Any, at: int) -> None:
    s.phase = _FRAME
    s.row = _BLANK[0]
    s.row.sample = at // FRACTION
    s.pos = -1
    s.acc = s.crc15 = s.stuffed = s.fixed_bad = s.late = s.fast = 0
    s.count_ok = -1
    s.crc17, s.crc21 = 1 << 16, 1 << 20
    s.dlc_at = s.data_end = 1 << 20
    s.last, s.run = 1, 0


@njit(cache=True, nogil=True)
def _take(s: Any, option: Any, at: int, bit: int) -> int:
    """Take a bit; return _FLAG_HALVES = 11  # halves of a bit that a flag has at least: 6 bits, less a half
    _NOTHING, _DONE for a frame that ends here, or what breaks it off."""
    if s.phase == _TAIL:
        found = _take_tail(s, option, at, bit)
        if s.phase != _FRAME:
            return found
    if s.pos < 0 and bit == 1:
        return _BAD_START
    stuff = s.run == 5 and bit != s.last and s.phase != _FD_CRC
    s.run = s.run + 1 if bit == s.last else 1
    before, s.last = s.last, bit
    if s.run > 6 or (s.run == 6 and s.phase != _FD_CRC):
        return _BAD_STUFF
    if s.phase == _LAST_STUFF:
        s.phase, s.pos = _TAIL, 0
        return _NOTHING
    if s.phase == _FD_CRC:
        _take_fd_crc(s, option, at, bit, before)
        return _NOTHING
    s.crc17 = _crc(s.crc17, bit, 17, 0x1685B)
    s.crc21 = _crc(s.crc21, bit, 21, 0x102899)
    if stuff:
        s.stuffed += 1
        return _NOTHING
    s.pos += 1
    s.acc = s.acc << 1 & 0xFFFFFFFF | bit
    if s.pos <= s.data_end:
        s.crc15 = _crc(s.crc15, bit, 15, 0x4599)
    return _RESERVED if _field(s, option, at, bit) else _NOTHING


@njit(cache=True, nogil=True)
def _field(s: Any, option: Any, at: int, bit: int) -> bool:
    """Put a bit without stuffing where it belongs; return True where the frame is of no known form."""
    pos, row = s.pos, s.row
    if pos <= s.dlc_at + 3:
        if pos == 1:
            row.id_sample = _begin_of(s, option, at)
        elif pos == 11:
            row.id = s.acc & 0x7FF
        elif pos in (12, 32):
            row.remote = bit
        elif pos == 13:
            row.extended = bit
        elif pos == 31:
            row.id = row.id << 18 | s.acc & 0x3FFFF
        elif pos == (33 if row.extended else 14):
            row.fd = bit
            s.dlc_at = pos + (4 if bit else 2 if row.extended else 1)
        elif row.fd == 1 and pos == s.dlc_at - 3:
            if bit:
                return True
        elif row.fd == 1 and pos == s.dlc_at - 2:
            row.brs = bit
            if bit:
                # The rate changes at the sample point.
                s.fast = 1
                s.next = at + option.fast_bit
        elif row.fd == 1 and pos == s.dlc_at - 1:
            row.esi = bit
        if pos == s.dlc_at:
            row.dlc_sample = _begin_of(s, option, at)
        if pos != s.dlc_at + 3:
            return False
        row.dlc = s.acc & 15
        if row.fd == 1:
            row.remote = 0
        length = _LENGTHS[row.dlc] if row.fd == 1 else min(row.dlc, 8)
        s.data_end = pos + (0 if row.remote == 1 else 8 * length)
    elif pos <= s.data_end:
        if pos == s.dlc_at + 4:
            row.data_sample = _begin_of(s, option, at)
        if (pos - s.dlc_at - 3) & 7 == 0:
            s.data[row.bytes] = s.acc & 0xFF
            row.bytes += 1
    elif pos == s.data_end + 1:
        row.crc_sample = _begin_of(s, option, at)
    elif pos == s.data_end + 15:
        row.crc = s.acc & 0x7FFF
        row.expected, row.seen = s.crc15, row.crc
        row.crc_ok = row.crc == s.crc15
        s.phase = _LAST_STUFF if s.run == 5 else _TAIL
        s.pos = 0
        return False
    if pos == s.data_end and row.fd == 1:
        s.phase = _FD_CRC
        s.pos = 0
        s.acc = 0
    return False


@njit(cache=True, nogil=True)
def _take_fd_crc(s: Any, option: Any, at: int, bit: int, before: int) -> None:
    """Take a bit of the stuff count and CRC of CAN FD, each fifth of which is a fixed stuff bit."""
    row = s.row
    wide = row.bytes > 16
    if s.pos % 5 == 0:
        s.fixed_bad |= bit == before
    else:
        s.acc = s.acc << 1 | bit
        if s.pos < 5:
            s.crc17 = _crc(s.crc17, bit, 17, 0x1685B)
            s.crc21 = _crc(s.crc21, bit, 21, 0x102899)
    if s.pos == 4:
        row.stuff_count = s.acc
        s.count_ok = s.acc == _COUNTS[s.stuffed & 7]
        s.acc = 0
    elif s.pos == 6:
        row.crc_sample = _begin_of(s, option, at)
    elif s.pos == (31 if wide else 26):
        row.crc = s.acc
        row.expected = s.crc21 if wide else s.crc17
        row.seen = row.crc
        row.crc_ok = row.crc == row.expected
        s.phase = _TAIL
        s.pos = -1
    s.pos += 1


@njit(cache=True, nogil=True)
def _take_tail(s: Any, option: Any, at: int, bit: int) -> int:
    """Take a bit from the CRC delimiter to the intermission; return as `_take` does."""
    s.last = bit
    tail = s.pos
    s.pos += 1
    if tail == _CRC_DELIMITER:
        if s.fast:
            s.fast = 0
            s.next = at + option.bit
        return _NOTHING if bit else _BAD_FORM
    if tail == _ACK:
        s.row.ack = 1 - bit
        s.row.ack_sample = _begin_of(s, option, at)
        return _NOTHING
    if tail == _EOF_END:
        return _DONE
    if tail == _PAUSE_END:
        s.phase = _IDLE
        s.sure = 1
    if bit:
        return _NOTHING
    if tail == _PAUSE_END:
        # Dominant here is a start of frame already.
        _begin(s, s.since)
        return _NOTHING
    if tail > _EOF_END:
        _flag(s, 0)
        return _NOTHING
    if tail == _ACK_DELIMITER and s.late == 0:
        # A receiver of CAN FD may be a bit late (10.4.2.7), one far off is by a part of a bit.
        s.late = 2 - s.row.ack
        s.row.ack = 1
        s.pos = tail
        return _NOTHING
    if s.late == 2 and tail <= _ACK_DELIMITER + 1:
        s.row.ack = 0  # no late acknowledge: it goes on
    if s.row.crc_ok == 0:
        return _BAD_CRC
    return _BAD_FORM if s.row.ack == 1 else _NO_ACK


@njit(cache=True, nogil=True)
def _flag(s: Any, flag: int) -> None:
    s.phase = _IN_FLAG
    s.flag = flag
    s.row.sample = s.since // FRACTION


@njit(cache=True, nogil=True)
def _put(
    s: Any, option: Any, at: int, found: int, rows: Any, count: int, data: Any, used: int
) -> tuple[int, int]:
    """End a frame: write it, and wait for the end of a flag or for an idle bus where it broke off."""
    bit, point = option.bit, option.point
    if s.fast:
        bit, point = option.fast_bit, option.fast_point
    s.row.end_sample = _end(at, bit, point)
    error = 0 if found == _DONE else found
    if s.sure == 0 and (found == _BAD_STUFF or s.row.crc_ok == 0):
        error, s.row.crc = _CUT, -1  # began before the capture
    count, used = _write(s, error, rows, count, data, used)
    s.sure = 1
    s.fast = 0
    if found == _BAD_START:
        s.phase = _IDLE
        s.last = 1
    elif found != _DONE or error == _CUT:
        s.phase = _WAIT
        if s.last == 0:
            _flag(s, _FLAG)
    elif s.last == 0:
        _flag(s, 0)  # in the last bit of the frame: for receivers it is an overload
    return count, used


@njit(cache=True, nogil=True)
def _write(s: Any, error: int, rows: Any, count: int, data: Any, used: int) -> tuple[int, int]:
    """Write the frame if its CRC is there, and what is wrong with it; return rows and octets used."""
    row = s.row
    row.first_byte = used
    for i in range(row.bytes):
        data[used + i] = s.data[i]
    used += row.bytes
    row.kind = row.remote == 1
    # The frame, what is wrong with its parts, and what broke it off.
    whole = row.crc >= 0
    told = (0, _BAD_FIXED, _BAD_COUNT, _BAD_CRC, error)
    holds = (
        whole,
        whole and s.fixed_bad == 1,
        whole and s.count_ok == 0,
        whole and row.crc_ok == 0,
        error not in (0, _BAD_CRC),
    )
    for n in range(len(told)):
        if not holds[n]:
            continue
        rows[count] = row
        rows[count].error = told[n]
        # What was expected and seen belongs to the error alone.
        if told[n] == _BAD_COUNT:
            rows[count].expected, rows[count].seen = _COUNTS[s.stuffed & 7], row.stuff_count
        elif told[n] != _BAD_CRC:
            rows[count].expected = rows[count].seen = -1
        count += 1
    return count, used


@njit(cache=True, nogil=True)
def _begin_of(s: Any, option: Any, at: int) -> Any:
    """Return the sample where the bit begins that is taken at ``at``."""
    point: int = option.fast_point if s.fast else option.point
    return at // FRACTION - point // FRACTION


@njit(cache=True, nogil=True)
def _end(at: int, bit: int, point: int) -> int:
    return at // FRACTION + (bit - point) // FRACTION


@njit(cache=True, nogil=True)
def _crc(register: int, bit: int, width: int, poly: int) -> int:
    top = register >> (width - 1) ^ bit
    return register << 1 & (1 << width) - 1 ^ (poly & (1 << width) - 1 if top else 0)
