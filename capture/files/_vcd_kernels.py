"""Kernel that reads the value changes of a VCD file, byte by byte, wherever the bytes are cut.

VHDL's simulators write the nine values of std_ulogic: L and H are 0 and 1, U, W and - are x.

Source: IEEE 1364-2005 clause 18.2 (four-state VCD), 18.2.3.4 table 18-5 (left-extension); IEEE
1164-1993 (std_ulogic).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

# What the next byte belongs to.
_BETWEEN, _TIME, _VECTOR, _SKIPPED, _GAP, _ID, _KEYWORD, _COMMENT, _REAL = range(9)
# The part of a real number that the next byte belongs to; the last is what is no number (nan, inf).
_WHOLE, _FRACTION, _EXPONENT, _NO_NUMBER = range(4)
_MOST_EXPONENT = 400  # beyond it a double is 0 or infinite anyway

VCD_STATE = np.dtype(
    [
        ("mode", "i8"),
        ("time", "i8"),  # of the values being read, ticks; -1 before the first
        ("number", "i8"),  # the time being read
        ("digits", "i8"),  # of the time, vector, identifier or keyword being read
        ("acc", "u8"),  # value being read
        ("unknown", "u8"),  # its bits that are neither 0 nor 1
        ("leftmost", "i8"),  # its first digit: 0, 1 (both are filled up with 0), 2 x, 3 z
        ("key", "u8"),  # identifier being read, or the last letters of a keyword
        ("length", "i8"),
        ("ignored", "i8"),  # the value is of a kind that is not read
        ("as_real", "i8"),  # the value is a real number
        ("part", "i8"),  # of it
        ("digits_value", "f8"),  # its digits without the point
        ("minus", "i8"),
        ("places", "i8"),  # digits after the point
        ("exponent", "i8"),
        ("exponent_minus", "i8"),
        ("word", "u8"),
        ("written", "u8"),
        ("stage", "i8"),  # 0 no value yet, 1 values, 2 an edge is written
        ("unknowns", "i8"),  # values with x or z that were read
        ("detail", "i8"),  # of an error
    ]
)

VCD_ERRORS = {
    1: "time {detail} is earlier than the one before; times must not go back",
    2: "a time is larger than 2^62 ticks, or not a number",
    3: "no value, time or keyword begins with byte {detail:#04x}",
    4: "an identifier is longer than 8 characters",
    5: "a value is for an identifier that is not declared",
    6: "a value has {detail} bits, more than its variable",
    7: "byte {detail:#04x} in a vector; 0, 1, x, z, u, w, l, h and - can stand there",
    8: "byte {detail:#04x} in a real number",
    9: "a real number for a variable of bits, or bits for a real one",
}

_COMMENT_KEY = np.uint64(int.from_bytes(b"$comment"))
_END_KEY = np.uint64(int.from_bytes(b"$end"))

# What a byte of a value is: 0, 1, 2 for x, 3 for z, as ``leftmost``; 9 for none.
_NO_BIT = 9
_KIND = np.full(256, _NO_BIT, dtype=np.uint8)
for _letters, _kind in ((b"0Ll", 0), (b"1Hh", 1), (b"xXuUwW-", 2), (b"zZ", 3)):
    _KIND[list(_letters)] = _kind


@njit(cache=True, nogil=True)
def read_changes(
    data: npt.NDArray[np.uint8],
    state: npt.NDArray[np.void],
    signals: tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64], npt.NDArray[np.int64]],
    segments: tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64], npt.NDArray[np.uint64]],
    levels: tuple[np.uint64, np.uint64],
    volts: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]],
    sample: npt.NDArray[np.int64],
    value: npt.NDArray[np.uint64],
) -> tuple[int, int, int]:
    """Read bytes of the body; write an edge for each time at which the word became another.

    Args:
        signals: identifiers of all variables, rising; their widths; where their segments begin,
            with the end of the last one at the end.
        segments: of each part of a variable that is wanted: its lowest bit, the bit of the word
            where that goes, and the mask of its length.
        levels: what x and z are read as, 0 or 1.
        volts: of each variable, from where up a real number is 1 and down to where 0; not a number
            where it is no real one. Between the two it stays as it was.
        sample, value: room for an edge in every two bytes, and two more; sample is in ticks.
    Returns:
        Edges written, error (0 for none) and the byte where it was found.
    """
    keys, widths, begins = signals
    seg_from, seg_to, seg_mask = segments
    s = state[0]
    one = np.uint64(1)
    every = ~np.uint64(0)
    count = 0
    for at in range(len(data)):
        c = data[at]
        blank = c <= 32
        mode = s.mode
        if mode == _BETWEEN:
            if blank:
                continue
            s.acc = np.uint64(0)
            s.unknown = np.uint64(0)
            s.key = np.uint64(0)
            s.digits = 0
            s.length = 0
            s.ignored = 0
            s.as_real = 0
            if c == 35:  # '#'
                s.mode = _TIME
                s.number = 0
            elif _KIND[c] != _NO_BIT:
                s.mode = _ID
                s.leftmost = _KIND[c]
                s.digits = 1
                if s.leftmost < 2:
                    s.acc = np.uint64(s.leftmost)
                else:
                    s.acc = levels[s.leftmost - 2]
                    s.unknown = one
            elif c in (98, 66):  # 'b'
                s.mode = _VECTOR
            elif c in (114, 82):  # 'r'
                s.mode = _REAL
                s.as_real = 1
                s.part = _WHOLE
                s.digits_value = 0.0
                s.minus = 0
                s.places = 0
                s.exponent = 0
                s.exponent_minus = 0
            elif c in (115, 83):  # 's'
                s.mode = _SKIPPED
                s.ignored = 1
            elif c == 36:  # '$'
                s.mode = _KEYWORD
                s.key = np.uint64(c)
            else:
                s.detail = c
                return count, 3, at
        elif mode == _TIME:
            if not blank:
                s.digits += 1
                if c < 48 or c > 57 or s.number > (1 << 62) // 10 - 1:
                    return count, 2, at
                s.number = s.number * 10 + (c - 48)
                continue
            s.mode = _BETWEEN
            if s.digits == 0:
                return count, 2, at
            if s.number < s.time:
                s.detail = s.number
                return count, 1, at
            if s.number > s.time:
                if s.stage == 1 or (s.stage == 2 and s.word != s.written):
                    sample[count] = s.time if s.stage == 2 else 0
                    value[count] = s.word
                    count += 1
                    s.stage = 2
                    s.written = s.word
                s.time = s.number
        elif mode == _VECTOR:
            if blank:
                s.mode = _GAP
                continue
            unknown = np.uint64(0)
            kind = _KIND[c]
            if kind == _NO_BIT:
                s.detail = c
                return count, 7, at
            bit = np.uint64(kind)
            if kind >= 2:
                bit, unknown = levels[kind - 2], one
            if s.digits == 0:
                s.leftmost = kind
            s.digits += 1
            s.acc = s.acc << one | bit
            s.unknown = s.unknown << one | unknown
        elif mode == _SKIPPED:
            if blank:
                s.mode = _GAP
        elif mode == _REAL:
            if blank:
                s.mode = _GAP
            elif 48 <= c <= 57 and s.part != _NO_NUMBER:
                if s.part == _EXPONENT:
                    s.exponent = min(s.exponent * 10 + (c - 48), _MOST_EXPONENT)
                else:
                    s.digits_value = s.digits_value * 10.0 + (c - 48)
                    s.places += s.part == _FRACTION
            elif c == 46 and s.part == _WHOLE:  # '.'
                s.part = _FRACTION
            elif c in (101, 69) and s.part in (_WHOLE, _FRACTION):  # 'e'
                s.part = _EXPONENT
            elif c == 45 and s.part == _EXPONENT:  # '-'
                s.exponent_minus = 1
            elif c == 45 and s.part == _WHOLE:
                s.minus = 1
            elif c in (110, 78, 97, 65, 105, 73, 102, 70):  # 'nan', 'inf'
                s.part = _NO_NUMBER
            elif c != 43:  # '+'
                s.detail = c
                return count, 8, at
        elif mode == _GAP:
            if not blank:
                s.mode = _ID
                s.key = np.uint64(c)
                s.length = 1
        elif mode == _ID:
            if not blank:
                s.length += 1
                if s.length > 8:
                    return count, 4, at
                s.key = s.key << np.uint64(8) | np.uint64(c)
                continue
            s.mode = _BETWEEN
            low = 0
            high = len(keys)
            while low < high:
                middle = (low + high) >> 1
                if keys[middle] < s.key:
                    low = middle + 1
                else:
                    high = middle
            if low == len(keys) or keys[low] != s.key or s.length == 0:
                return count, 5, at
            if s.ignored or begins[low] == begins[low + 1]:
                continue
            if (s.as_real != 0) != (volts[0][low] == volts[0][low]):
                return count, 9, at
            if s.as_real:
                s.stage = max(s.stage, 1)
                if s.part == _NO_NUMBER:
                    s.unknowns += 1
                    continue
                power = (-s.exponent if s.exponent_minus else s.exponent) - s.places
                number = s.digits_value * 10.0**power
                number = -number if s.minus else number
                bit = one << seg_to[begins[low]]
                if number >= volts[0][low]:
                    s.word |= bit
                elif number <= volts[1][low]:
                    s.word &= ~bit
                continue
            if s.digits > widths[low]:
                s.detail = s.digits
                return count, 6, at
            if s.leftmost >= 2 and s.digits < 64:
                above = every << np.uint64(s.digits)
                s.unknown |= above
                level = levels[1] if s.leftmost == 3 else levels[0]
                if level:
                    s.acc |= above
            s.stage = max(s.stage, 1)
            seen = np.uint64(0)
            for k in range(begins[low], begins[low + 1]):
                part = s.acc >> seg_from[k] & seg_mask[k]
                seen |= s.unknown >> seg_from[k] & seg_mask[k]
                s.word = s.word & ~(seg_mask[k] << seg_to[k]) | part << seg_to[k]
            s.unknowns += seen != 0
        elif mode == _KEYWORD:
            if not blank:
                s.key = s.key << np.uint64(8) | np.uint64(c)
                continue
            s.mode = _COMMENT if s.key == _COMMENT_KEY else _BETWEEN
            s.key = np.uint64(0)
        # The text of a comment: only a $end of its own ends it.
        elif blank:
            if s.key == _END_KEY:
                s.mode = _BETWEEN
            s.key = np.uint64(0)
        else:
            # Never all zero after a letter, and never $end after more than eight letters.
            s.key = s.key << np.uint64(8) | np.uint64(c) if s.key >> np.uint64(56) == 0 else every
    return count, 0, len(data)
