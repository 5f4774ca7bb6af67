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
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from freezeframe.capture.registers import layouts
from freezeframe.decoders.trace.crc_kernels import (
    CRC32_START,
    crc16_header,
    crc32_two,
    crc32_word,
)
from freezeframe.decoders.trace.kernels import Bytes, Words, as_words, unpack_groups

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

# Records unpacked at a time: data, kind and CRC tables stay in the first-level caches.
_BLOCK = 4096
_BY_TAIL, _BY_HEAD, _BY_CUT = 0, 1, 2  # what ended a packet
_NO_TAIL = np.uint64(0)

# How far the records are read, and the packet that is open.
_READER = np.dtype(
    [
        ("header", np.uint64),
        ("address", np.uint64),
        ("previous", np.uint64),  # the HEAD before the next
        ("position", np.int64),  # the first record of the block
        ("packets", np.int64),  # rows written
        ("stop", np.int64),  # number of the next gap
        ("word", np.int64),  # HEAD, BODY and TAIL so far
        ("heads", np.int64),
        ("bodies", np.int64),
        ("first_record", np.int64),
        ("last_record", np.int64),
        ("before_previous", np.int64),  # the record before that of the previous HEAD
        ("first_word", np.int64),
        ("crc", np.uint32),
        ("is_open", np.bool_),
        ("fresh", np.bool_),  # nothing was read since a gap, or since the beginning
        ("cut", np.bool_),  # the first word of the packet may lie before the memory
        ("fits", np.bool_),  # the header passes its CRC
    ],
    align=True,
)


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
    reader = np.zeros(1, dtype=_READER)
    reader["fresh"] = True
    # A good packet has three words or more. What stays unused of this is address space, not memory.
    rows = np.empty(2 * _BLOCK + 2 + n // 3, dtype=PACKET)
    while not _frame(words, n, stops, reader, rows):
        grown = np.empty(2 * len(rows) + 2 * _BLOCK, dtype=PACKET)
        grown[: len(rows)] = rows
        rows = grown
    packets = rows[: int(reader["packets"][0])]
    return packets.copy() if 2 * len(packets) < len(rows) else packets


@njit(cache=True)
def _frame(
    words: Words, n: int, stops: npt.NDArray[np.int64], state: npt.NDArray[np.void], rows: Packets
) -> bool:
    """Go on from ``state`` until all records are framed (True) or ``rows`` is nearly full (False)."""
    data = np.empty(_BLOCK, dtype=np.uint64)
    kind_groups = np.empty(_BLOCK // 8, dtype=np.uint64)
    dt_groups = np.empty(_BLOCK // 8, dtype=np.uint64)
    kind = kind_groups.view(np.uint8)
    reader = state[0]
    while reader.position < n:
        if reader.packets + 2 * _BLOCK + 2 > rows.size:
            return False
        size = min(_BLOCK, n - reader.position)
        group = reader.position // 8
        groups = (size + 7) // 8
        unpack_groups(
            words[9 * group : 9 * (group + groups)],
            data[: 8 * groups],
            kind_groups[:groups],
            dt_groups[:groups],
        )
        _frame_block(kind, data, size, stops, reader, rows)
        reader.position += size
    if reader.is_open:
        _close(rows[reader.packets], reader, _BY_CUT, _NO_TAIL, reader.last_record, reader.word)
    return True


@njit(cache=True)
def _frame_block(
    kind: Bytes, data: Words, size: int, stops: npt.NDArray[np.int64], reader: Any, rows: Packets
) -> None:
    """Frame the first ``size`` records of a block that is unpacked."""
    position = reader.position
    limit = min(size, stops[reader.stop] - position)
    i = 0
    while i < size:
        while i == limit:
            if reader.is_open:
                _close(
                    rows[reader.packets], reader, _BY_CUT, _NO_TAIL, reader.last_record, reader.word
                )
            reader.fresh = True
            reader.stop += 1
            limit = min(size, stops[reader.stop] - position)
        k = kind[i]
        if k == _BODY:
            if not reader.is_open:
                _open(reader, position + i)
            begin = i
            crc = reader.crc
            while i + 1 < limit and kind[i] == _BODY and kind[i + 1] == _BODY:
                crc = crc32_two(crc, data[i], data[i + 1])
                i += 2
            if i < limit and kind[i] == _BODY:
                crc = crc32_word(crc, data[i])
                i += 1
            reader.crc = crc
            reader.bodies += i - begin
            reader.word += i - begin
            reader.last_record = position + i - 1
            continue
        if k == _HEAD:
            _take_head(rows[reader.packets], reader, data[i], position + i)
        elif k == _TAIL:
            if not reader.is_open:
                _open(reader, position + i)
            reader.word += 1
            _close(rows[reader.packets], reader, _BY_TAIL, data[i], position + i, reader.word)
        i += 1


@njit(cache=True)
def _open(reader: Any, record: int) -> None:
    """Begin a packet with the word in this record."""
    reader.is_open = True
    reader.cut = reader.fresh
    reader.fresh = False
    reader.heads = 0
    reader.bodies = 0
    reader.crc = CRC32_START
    reader.fits = False
    reader.first_record = record
    reader.first_word = reader.word


@njit(cache=True)
def _take_head(row: Any, reader: Any, head: np.uint64, record: int) -> None:
    """Take a HEAD: the first of a packet, its address, or one that may begin the next."""
    if reader.is_open and reader.bodies > 0:
        _close(row, reader, _BY_HEAD, _NO_TAIL, reader.last_record, reader.word)
    if not reader.is_open:
        _open(reader, record)
        reader.header = head
    elif reader.heads == 1:
        reader.address = head
        reader.fits = _header_fits(reader.header, head)
    else:
        pair = _header_fits(reader.previous, head)
        if pair and reader.heads >= 3:
            reader.heads -= 1  # the previous HEAD belongs to the next packet
            reader.word -= 1
            _close(row, reader, _BY_HEAD, _NO_TAIL, reader.before_previous, reader.word)
            _open(reader, reader.last_record)
            reader.heads = 1
            reader.word += 1
        if pair and not reader.fits:
            reader.header = reader.previous
            reader.address = head
            reader.fits = True
        elif not reader.fits and reader.heads == 2 and _header_fits(reader.header, head):
            reader.address = head
            reader.fits = True
    reader.heads += 1
    reader.before_previous = reader.last_record
    reader.previous = head
    reader.last_record = record
    reader.word += 1


@njit(cache=True)
def _header_fits(header: np.uint64, address: np.uint64) -> bool:
    fits: bool = np.uint64(crc16_header(header, address)) == header >> np.uint64(_CRC_LSB)
    return fits


@njit(cache=True)
def _close(
    row: Any, reader: Any, ended: int, tail: np.uint64, last_record: int, end_word: int
) -> None:
    """Fill the row of the open packet and give the verdicts; it is open no longer.

    Takes the row, not all of them: counting a reference to an array costs more than the rest of a short packet.
    """
    header, address, heads = reader.header, reader.address, reader.heads
    bodies, cut = reader.bodies, reader.cut
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
        header_ok = TRUE if reader.fits and heads == 2 else FALSE
    else:
        header_ok = FALSE if began else UNKNOWN

    payload_ok = UNKNOWN
    if ended == _BY_TAIL and (heads > 0 or began):
        mask = np.uint64(_TAIL_MASK)
        right = np.uint64(reader.crc ^ CRC32_START) == tail & mask
        payload_ok = TRUE if right else FALSE

    length_ok = UNKNOWN
    if header_read:
        if ended == _BY_TAIL:
            length_ok = TRUE if length == bodies else FALSE
        elif ended == _BY_HEAD or bodies > length:
            length_ok = FALSE

    row.header = header
    row.address = address
    row.first_record = reader.first_record
    row.last_record = last_record
    row.first_word = reader.first_word
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
    reader.packets += 1
    reader.is_open = False
