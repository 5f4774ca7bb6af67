"""Find link packets in trace records and check both CRCs of each, in one pass over the 9-byte records.

A packet is HEAD HEAD BODY* TAIL; whatever comes instead still becomes rows, by these rules:

- A run of HEAD words belongs to one packet, except that a third or later HEAD which, with its
  successor, passes the header CRC begins the next one. Of three HEAD words those two are the header
  that pass; ``header_ok`` is false all the same.
- TAIL ends a packet. A HEAD after BODY begins the next one: the TAIL between them is missing. BODY
  or TAIL after a TAIL begins a packet without a header.
- A lone HEAD at the beginning of the memory or after a gap is the address (the header lies before
  it). Anywhere else it is taken for the header when its type is known and its length fits the
  payload seen, else for the address.

Source: docs/formats.md section 3.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import no_type_check

import numpy as np
import numpy.typing as npt
from numba import njit

from freezeframe.capture.registers import layouts
from freezeframe.decoders.trace.kernels import Bytes, as_words, unpack_groups

__all__ = [
    "FALSE",
    "PACKET",
    "TRUE",
    "UNKNOWN",
    "Packets",
    "crc16_header",
    "crc32",
    "frame_records",
]

TRUE, FALSE, UNKNOWN = 1, 0, -1

# One row a packet. Word numbers count HEAD, BODY and TAIL records only; record numbers count all.
PACKET = np.dtype(
    [
        ("header", np.uint64),  # as read; meaningless unless header_read
        ("address", np.uint64),  # as read; meaningless unless address_read
        ("first_record", np.int32),
        ("last_record", np.int32),  # inclusive: the record of its last word
        ("first_word", np.int32),
        ("end_word", np.int32),  # exclusive
        ("body_words", np.int32),
        ("heads", np.int32),
        ("header_read", np.int8),
        ("address_read", np.int8),
        ("tail_read", np.int8),
        ("header_ok", np.int8),  # TRUE, FALSE or UNKNOWN, like the next three
        ("payload_ok", np.int8),
        ("length_ok", np.int8),
        ("whole", np.int8),
    ],
    align=True,
)
Packets = npt.NDArray[np.void]

_HEAD, _BODY, _TAIL = int(layouts.Kind.HEAD), int(layouts.Kind.BODY), int(layouts.Kind.TAIL)
_LAST_TYPE = int(layouts.PacketType.INTERRUPT)  # a credit passes no tap
_TYPE_MASK = layouts.HEADER_TYPE_MASK
_LENGTH_LSB, _LENGTH_MASK = layouts.HEADER_LENGTH_LSB, layouts.HEADER_LENGTH_MASK
_CRC_LSB = layouts.HEADER_CRC_LSB
_TAIL_MASK = layouts.TAIL_CRC_MASK

_BLOCK = (
    4096  # records unpacked at a time: data, kind and CRC tables stay in the first-level caches
)
_BY_TAIL, _BY_HEAD, _BY_CUT = 0, 1, 2  # what ended a packet


def _crc32_tables() -> npt.NDArray[np.uint32]:
    """Return ``(16, 256)``: table k advances a byte that stands k bytes before the end ("slicing by 16").

    Source: M. Kounavis, F. Berry, "A systematic approach to building high performance
    software-based CRC generators", 2005.
    """
    byte = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        byte = np.where(
            byte & 1, byte >> np.uint32(1) ^ np.uint32(0xEDB88320), byte >> np.uint32(1)
        )
    tables = [byte]
    for _ in range(15):
        tables.append(tables[-1] >> np.uint32(8) ^ byte[tables[-1] & np.uint32(255)])
    return np.array(tables, dtype=np.uint32)


def _crc16_tables() -> npt.NDArray[np.uint16]:
    """Return ``(14, 256)``: table k is the share of byte k of a header's 14; the CRC is their sum.

    A CRC is linear, so 14 independent look-ups replace a chain of 14. The share of the start value is in table 0.
    """
    tables = np.zeros((14, 256), dtype=np.uint16)
    for k in range(14):
        crc = np.arange(256, dtype=np.uint32) << 8
        for _ in range(8 * (14 - k)):
            crc = np.where(crc & 0x8000, crc << 1 ^ 0x1021, crc << 1) & 0xFFFF
        tables[k] = crc
    start = 0xFFFF
    for _ in range(8 * 14):
        start = (start << 1 ^ 0x1021 if start & 0x8000 else start << 1) & 0xFFFF
    tables[0] ^= np.uint16(start)
    return tables


_T32 = _crc32_tables()
_T16 = _crc16_tables()


def frame_records(records: Bytes, gaps: Iterable[int] = ()) -> Packets:
    """Return the packets in ``(n, 9)`` records, oldest first, as rows of `PACKET`.

    Args:
        records: uint8, in the order in which they were stored.
        gaps: indices of records before which others were not read, in any order.
    Raises:
        ValueError: the records are not ``(n, 9)`` uint8, or there are 2^31 of them or more.
    """
    n = len(records)
    if n >= 1 << 31:
        raise ValueError(f"{n} records; a call takes fewer than {1 << 31}: frame them in pieces")
    words = as_words(records)
    stops = np.array(sorted({gap for gap in gaps if 0 <= gap < n} | {n}), dtype=np.int64)
    state = np.zeros(24, dtype=np.uint64)
    state[_FRESH] = 1
    # A good packet has three words or more. What stays unused of this is address space, not memory.
    rows = np.empty(2 * _BLOCK + 2 + n // 3, dtype=PACKET)
    while not _frame(words, n, stops, state, rows):
        grown = np.empty(2 * len(rows) + 2 * _BLOCK, dtype=PACKET)
        grown[: len(rows)] = rows
        rows = grown
    found = rows[: int(state[_ROWS])]
    return found.copy() if 2 * len(found) < len(rows) else found


# Places in the state that a call of _frame leaves for the next.
_POSITION, _ROWS, _OPEN, _FRESH, _STOP, _WORD = 0, 1, 2, 3, 4, 5
_HEADS, _BODIES, _CRC, _FIRST_RECORD, _LAST_RECORD, _FIRST_WORD = 6, 7, 8, 9, 10, 11
_HEADER, _ADDRESS, _PREVIOUS, _BEFORE_PREVIOUS_RECORD, _FITS, _CUT = 12, 13, 14, 15, 16, 17


@njit(cache=True, inline="always")
@no_type_check
def _crc32_word(crc, x):
    m = np.uint64(255)
    x = x ^ np.uint64(crc)
    return (
        (_T32[7, x & m] ^ _T32[6, x >> np.uint64(8) & m])
        ^ (_T32[5, x >> np.uint64(16) & m] ^ _T32[4, x >> np.uint64(24) & m])
    ) ^ (
        (_T32[3, x >> np.uint64(32) & m] ^ _T32[2, x >> np.uint64(40) & m])
        ^ (_T32[1, x >> np.uint64(48) & m] ^ _T32[0, x >> np.uint64(56)])
    )


@njit(cache=True, inline="always")
@no_type_check
def _crc32_two(crc, x, y):
    # The look-ups of y do not wait for crc: 310 instead of 250 Mword/s (bench_trace.py).
    m = np.uint64(255)
    x = x ^ np.uint64(crc)
    return (
        (_T32[15, x & m] ^ _T32[14, x >> np.uint64(8) & m])
        ^ (_T32[13, x >> np.uint64(16) & m] ^ _T32[12, x >> np.uint64(24) & m])
        ^ (
            (_T32[11, x >> np.uint64(32) & m] ^ _T32[10, x >> np.uint64(40) & m])
            ^ (_T32[9, x >> np.uint64(48) & m] ^ _T32[8, x >> np.uint64(56)])
        )
    ) ^ _crc32_word(np.uint32(0), y)


@njit(cache=True)
@no_type_check
def crc32(words):
    """Return the CRC-32/ISO-HDLC of uint64 words, least significant byte first."""
    crc = np.uint32(0xFFFFFFFF)
    i = 0
    while i + 1 < words.size:
        crc = _crc32_two(crc, words[i], words[i + 1])
        i += 2
    if i < words.size:
        crc = _crc32_word(crc, words[i])
    return crc ^ np.uint32(0xFFFFFFFF)


@njit(cache=True)
@no_type_check
def crc16_header(header, address):
    """Return the CRC-16/IBM-3740 over bytes 0-5 of ``header`` and the eight of ``address``, both uint64."""
    m = np.uint64(255)
    crc = np.uint16(0)
    for k in range(6):
        crc ^= _T16[k, header >> np.uint64(8 * k) & m]
    for k in range(8):
        crc ^= _T16[6 + k, address >> np.uint64(8 * k) & m]
    return crc


@njit(cache=True, inline="always")
@no_type_check
def _header_fits(header, address):
    return np.uint64(crc16_header(header, address)) == header >> np.uint64(_CRC_LSB)


@njit(cache=True)
@no_type_check
def _close(
    row, ended, tail, crc, cut, heads, bodies, fits, header, address,
    first_record, last_record, first_word, end_word,
):  # fmt: skip
    """Fill the row of a packet and give the verdicts. ``cut`` says that its first word may lie before the memory."""
    length = np.int64(header >> np.uint64(_LENGTH_LSB) & np.uint64(_LENGTH_MASK))
    header_read = heads >= 2
    address_read = heads >= 2
    if heads == 1:
        address = header
        kind = header & np.uint64(_TYPE_MASK)
        plausible = kind >= 1 and kind <= np.uint64(_LAST_TYPE)
        if ended == _BY_CUT:
            plausible = (plausible and length >= bodies) or bodies == 0
        else:
            plausible = plausible and length == bodies
        header_read = plausible and not cut
        address_read = not header_read and (bodies > 0 or ended == _BY_TAIL)
    began = heads >= 2 or not cut

    if header_read and heads == 1 and ended == _BY_CUT and bodies == 0:
        header_ok = UNKNOWN  # the freeze came between the two HEAD words
    elif heads >= 2:
        header_ok = TRUE if fits and heads == 2 else FALSE
    else:
        header_ok = FALSE if began else UNKNOWN

    payload_ok = UNKNOWN
    if ended == _BY_TAIL and (heads > 0 or began):
        mask = np.uint64(_TAIL_MASK)
        right = np.uint64(crc ^ np.uint32(0xFFFFFFFF)) == tail & mask
        payload_ok = TRUE if right else FALSE

    length_ok = UNKNOWN
    if header_read:
        if ended == _BY_TAIL:
            length_ok = TRUE if length == bodies else FALSE
        elif ended == _BY_HEAD or bodies > length:
            length_ok = FALSE

    row.header = header
    row.address = address
    row.first_record = first_record
    row.last_record = last_record
    row.first_word = first_word
    row.end_word = end_word
    row.body_words = bodies
    row.heads = heads
    row.header_read = header_read
    row.address_read = address_read
    row.tail_read = ended == _BY_TAIL
    row.header_ok = header_ok
    row.payload_ok = payload_ok
    row.length_ok = length_ok
    row.whole = began and ended != _BY_CUT


@njit(cache=True)
@no_type_check
def _frame(words, n, stops, state, rows):
    """Go on from ``state`` until all records are framed (True) or ``rows`` is nearly full (False)."""
    data = np.empty(_BLOCK, dtype=np.uint64)
    kind_groups = np.empty(_BLOCK // 8, dtype=np.uint64)
    dt_groups = np.empty(_BLOCK // 8, dtype=np.uint64)
    kind = kind_groups.view(np.uint8)

    position = np.int64(state[_POSITION])
    count = np.int64(state[_ROWS])
    is_open = state[_OPEN] != 0
    fresh = state[_FRESH] != 0
    stop = np.int64(state[_STOP])
    word = np.int64(state[_WORD])
    heads = np.int64(state[_HEADS])
    bodies = np.int64(state[_BODIES])
    crc = np.uint32(state[_CRC])
    first_record = np.int64(state[_FIRST_RECORD])
    last_record = np.int64(state[_LAST_RECORD])
    first_word = np.int64(state[_FIRST_WORD])
    header = state[_HEADER]
    address = state[_ADDRESS]
    previous = state[_PREVIOUS]
    before_previous = np.int64(state[_BEFORE_PREVIOUS_RECORD])
    fits = state[_FITS] != 0
    cut = state[_CUT] != 0
    none = np.uint64(0)

    done = True
    while position < n:
        if count + 2 * _BLOCK + 2 > rows.size:
            done = False
            break
        size = min(_BLOCK, n - position)
        group = position // 8
        groups = (size + 7) // 8
        unpack_groups(
            words[9 * group : 9 * (group + groups)],
            data[: 8 * groups], kind_groups[:groups], dt_groups[:groups],
        )  # fmt: skip
        i = 0
        limit = min(size, stops[stop] - position)
        while i < size:
            while i == limit:
                if is_open:
                    _close(
                        rows[count], _BY_CUT, none, crc, cut, heads, bodies, fits, header, address,
                        first_record, last_record, first_word, word,
                    )  # fmt: skip
                    count += 1
                is_open = False
                fresh = True
                stop += 1
                limit = min(size, stops[stop] - position)
            k = kind[i]
            if k == _BODY:
                if not is_open:
                    is_open, cut, fresh = True, fresh, False
                    heads, bodies, crc = 0, 0, np.uint32(0xFFFFFFFF)
                    first_record, first_word = position + i, word
                begin = i
                while i + 1 < limit and kind[i] == _BODY and kind[i + 1] == _BODY:
                    crc = _crc32_two(crc, data[i], data[i + 1])
                    i += 2
                if i < limit and kind[i] == _BODY:
                    crc = _crc32_word(crc, data[i])
                    i += 1
                bodies += i - begin
                word += i - begin
                last_record = position + i - 1
                continue
            if k == _HEAD:
                x = data[i]
                if is_open and bodies > 0:
                    _close(
                        rows[count], _BY_HEAD, none, crc, cut, heads, bodies, fits, header, address,
                        first_record, last_record, first_word, word,
                    )  # fmt: skip
                    count += 1
                    is_open = False
                if not is_open:
                    is_open, cut, fresh = True, fresh, False
                    heads, bodies, crc, fits = 1, 0, np.uint32(0xFFFFFFFF), False
                    first_record, first_word = position + i, word
                    header = x
                elif heads == 1:
                    heads = 2
                    address = x
                    fits = _header_fits(header, x)
                else:
                    pair = _header_fits(previous, x)
                    if pair and heads >= 3:
                        _close(
                            rows[count], _BY_HEAD, none, crc, cut, heads - 1, bodies, fits, header,
                            address, first_record, before_previous, first_word, word - 1,
                        )  # fmt: skip
                        count += 1
                        cut = False
                        heads = 1
                        first_record, first_word = last_record, word - 1
                        header, address, fits = previous, x, True
                    elif not fits and pair:
                        header, address, fits = previous, x, True
                    elif not fits and heads == 2 and _header_fits(header, x):
                        address, fits = x, True
                    heads += 1
                before_previous = last_record
                previous = x
                last_record = position + i
                word += 1
            elif k == _TAIL:
                if not is_open:
                    is_open, cut, fresh = True, fresh, False
                    heads, bodies, crc = 0, 0, np.uint32(0xFFFFFFFF)
                    first_record, first_word = position + i, word
                word += 1
                _close(
                    rows[count], _BY_TAIL, data[i], crc, cut, heads, bodies, fits, header, address,
                    first_record, position + i, first_word, word,
                )  # fmt: skip
                count += 1
                is_open = False
            i += 1
        position += size
    if done and is_open:
        _close(
            rows[count], _BY_CUT, none, crc, cut, heads, bodies, fits, header, address,
            first_record, last_record, first_word, word,
        )  # fmt: skip
        count += 1
        is_open = False

    state[_POSITION], state[_ROWS], state[_OPEN], state[_FRESH] = position, count, is_open, fresh
    state[_STOP], state[_WORD], state[_HEADS], state[_BODIES] = stop, word, heads, bodies
    state[_CRC], state[_FIRST_RECORD], state[_LAST_RECORD] = crc, first_record, last_record
    state[_FIRST_WORD], state[_HEADER], state[_ADDRESS] = first_word, header, address
    state[_PREVIOUS], state[_BEFORE_PREVIOUS_RECORD] = previous, before_previous
    state[_FITS], state[_CUT] = fits, cut
    return done
