"""The 8b/10b code: its two sub-block tables, and from them the tables that decode and encode.

A code group is an integer of 10 bits, abcdei fghj with a, the bit sent first, as bit 9.

Source: IEEE 802.3-2018 36.2.4 (tables 36-1a to 36-2); ANSI X3.230 (FC-PH) clause 11.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

# One entry of the decode table: byte [0,8], K [8,1], error [9,2], running disparity after [11,1].
K = 1 << 8
ERROR_LSB = 9
DISPARITY_ERROR, CODE_ERROR = 1, 2
POSITIVE = 1 << 11

# The six bits for EDCBA = 0..31 and the four for HGF = 0..7, where the running disparity before is
# negative. Where it is positive, unbalanced ones are complemented, and the two that table 36-1
# complements although they are balanced: D.7 and D.x.3.
_SIX = tuple(
    int(bits, 2)
    for line in (
        "100111 011101 101101 110001 110101 101001 011001 111000",
        "111001 100101 010101 110100 001101 101100 011100 010111",
        "011011 100011 010011 110010 001011 101010 011010 111010",
        "110011 100110 010110 110110 001110 101110 011110 101011",
    )
    for bits in line.split()
)
_FOUR = (0b1011, 0b1001, 0b0101, 0b1100, 0b1101, 0b1010, 0b0110, 0b1110)
_ALTERNATE_7 = 0b0111  # instead of D.x.7 where that would make five equal bits in a row
_ALTERNATE_NEGATIVE, _ALTERNATE_POSITIVE = (17, 18, 20), (11, 13, 14)

# Table 36-2, the column of negative running disparity; the other is its complement.
_SPECIAL = {
    0x1C: 0b001111_0100,  # K28.0
    0x3C: 0b001111_1001,  # K28.1
    0x5C: 0b001111_0101,  # K28.2
    0x7C: 0b001111_0011,  # K28.3
    0x9C: 0b001111_0010,  # K28.4
    0xBC: 0b001111_1010,  # K28.5
    0xDC: 0b001111_0110,  # K28.6
    0xFC: 0b001111_1000,  # K28.7
    0xF7: 0b111010_1000,  # K23.7
    0xFB: 0b110110_1000,  # K27.7
    0xFD: 0b101110_1000,  # K29.7
    0xFE: 0b011110_1000,  # K30.7
}


def group_name(byte: int, control: bool) -> str:
    """Return the standard's name of a code group: ``D21.5``, ``K28.5``."""
    return f"{'K' if control else 'D'}{byte & 31}.{byte >> 5}"


def is_comma(byte: int, control: bool) -> bool:
    """Return whether the group holds a comma, 0011111 or 1100000: K28.1, K28.5, K28.7 (36.2.4.9)."""
    return control and byte in (0x3C, 0xBC, 0xFC)


@cache
def encode_table() -> npt.NDArray[np.int16]:
    """Return ``(2, 512)``: the group for [running disparity positive, K << 8 | byte], -1 where there is none."""
    table = np.full((2, 512), -1, dtype=np.int16)
    for positive in (0, 1):
        for byte in range(256):
            table[positive, byte] = _data_group(byte, positive)
        for byte, group in _SPECIAL.items():
            table[positive, K | byte] = group ^ (0x3FF if positive else 0)
    table.setflags(write=False)
    return table


@cache
def decode_table() -> npt.NDArray[np.uint16]:
    """Return ``(2, 1024)``: the entry for [running disparity positive, group as received].

    A group of the other column only is a disparity error and has its byte; one of neither is a
    code error with byte 0. The disparity after follows from the bits as received (36.2.4.4), also
    after an error.
    """
    encode = encode_table()
    table = np.empty((2, 1024), dtype=np.uint16)
    meaning = [
        {int(group): place for place, group in enumerate(encode[positive]) if group >= 0}
        for positive in (0, 1)
    ]
    for positive in (0, 1):
        for group in range(1024):
            place = meaning[positive].get(group)
            error = 0
            if place is None:
                place = meaning[1 - positive].get(group)
                error = CODE_ERROR if place is None else DISPARITY_ERROR
            after = POSITIVE * _disparity_after(group, positive)
            table[positive, group] = (place or 0) | error << ERROR_LSB | after
    table.setflags(write=False)
    return table


def _data_group(byte: int, positive: int) -> int:
    low, high = byte & 31, byte >> 5
    six = _SIX[low]
    if positive and (six.bit_count() != 3 or low == 7):
        six ^= 0x3F
    positive = _six_after(six, positive)
    four = _FOUR[high]
    if high == 7 and low in (_ALTERNATE_POSITIVE if positive else _ALTERNATE_NEGATIVE):
        four = _ALTERNATE_7
    if positive and (four.bit_count() != 2 or high == 3):
        four ^= 0xF
    return six << 4 | four


def _disparity_after(group: int, positive: int) -> int:
    """Return 1 where the running disparity is positive after these ten bits (36.2.4.4)."""
    positive = _six_after(group >> 4, positive)
    four = group & 0xF
    if four.bit_count() > 2 or four == 0b0011:
        return 1
    if four.bit_count() < 2 or four == 0b1100:
        return 0
    return positive


def _six_after(six: int, positive: int) -> int:
    if six.bit_count() > 3 or six == 0b000111:
        return 1
    if six.bit_count() < 3 or six == 0b111000:
        return 0
    return positive
