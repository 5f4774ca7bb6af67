"""The encoder beside the decoders of the link: packets and credits to the edges of two lanes.

Source: docs/formats.md section 3.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.link.code_8b10b import POSITIVE, K, decode_table, encode_table
from freezeframe.decoders.sent_levels import edges_of_levels

ALIGN_PERIOD = 1024  # columns, at most that many and the rest of a packet between two align columns
_SKIPS = 2
_IDLES = 16  # columns around everything: synchronization needs three

_COMMA, _FILL = K | 0xBC, 0xB5
_END, _ALIGN, _SKIP = K | 0xFD, K | 0x7C, K | 0x1C
_PACKET, _CREDIT = K | 0xFB, K | 0x5C

_Column = tuple[tuple[int, int, int, int], tuple[int, int, int, int]]


def encode_link(
    units: Iterable[Sequence[int]], *, samples_a_bit: int, samplerate_hz: int, idles: int = 0
) -> Edges:
    """Return the two lanes of a link that sends these units: a unit of one word is a credit, others packets.

    Args:
        idles: idle columns between units beyond the one control column that there must be.
    """
    columns = [_control(), *_group(), *([_control()] * _IDLES)]
    since_align = 0
    ended = False
    for unit in units:
        if since_align >= ALIGN_PERIOD:
            columns += [_control(_END if ended else _FILL), *_group()]
            ended, since_align = False, 0
        if idles:
            columns += [_control(_END if ended else _FILL), *([_control()] * (idles - 1))]
            ended = False
        is_credit = len(unit) == 1
        columns.append(_control(_END if ended else _FILL, _CREDIT if is_credit else _PACKET))
        columns += [_data(word) for word in unit]
        ended = not is_credit
        since_align += idles + 1 + len(unit)
    columns += [_control(_END if ended else _FILL), *([_control()] * _IDLES)]
    lanes = [[symbol for column in columns for symbol in column[lane]] for lane in (0, 1)]
    return encode_lanes(lanes, samples_a_bit=samples_a_bit, samplerate_hz=samplerate_hz)


def encode_lanes(
    lanes: Sequence[Sequence[int]],
    *,
    samples_a_bit: int,
    samplerate_hz: int,
    names: Sequence[str] = ("LANE0", "LANE1"),
) -> Edges:
    """Return lanes that carry these symbols (K << 8 | byte), each lane as many.

    Raises:
        ValueError: a symbol does not exist, or the lanes are not equally long.
    """
    levels = np.array([lane_levels(lane) for lane in lanes], dtype=np.uint64)
    value = np.bitwise_or.reduce(levels << np.arange(len(lanes), dtype=np.uint64)[:, None], axis=0)
    return edges_of_levels(value, samples_a_bit, tuple(names), samplerate_hz)


def lane_levels(symbols: Sequence[int]) -> npt.NDArray[np.uint8]:
    """Return the bits of symbols, ``(10 n,)``, beginning with negative running disparity.

    Raises:
        ValueError: there is no such symbol.
    """
    encode, decode = encode_table(), decode_table()
    groups = np.empty(len(symbols), dtype=np.int64)
    positive = 0
    for number, symbol in enumerate(symbols):
        group = int(encode[positive, symbol])
        if group < 0:
            raise ValueError(f"there is no symbol {symbol:#x}")
        groups[number] = group
        positive = int(decode[positive, group] & POSITIVE != 0)
    bits = groups[:, None] >> np.arange(9, -1, -1) & 1
    return bits.astype(np.uint8).reshape(-1)


def _control(role: int = _FILL, following: int = _FILL) -> _Column:
    symbols = (_COMMA, role, _FILL, following)
    return symbols, symbols


def _group() -> list[_Column]:
    return [_control(_ALIGN), *([_control(_SKIP)] * _SKIPS)]


def _data(word: int) -> _Column:
    octets = word.to_bytes(8, "little")
    even, odd = octets[0::2], octets[1::2]
    return (even[0], even[1], even[2], even[3]), (odd[0], odd[1], odd[2], odd[3])
