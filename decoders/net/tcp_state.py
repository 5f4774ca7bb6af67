"""What is remembered of TCP connections between packets: arrays of a fixed size, so that no capture needs more.

A connection has a slot; slots of those that are closed are used again with the next block. A side is
``2 * slot`` (the end that opened) or ``2 * slot + 1``. Bytes that came early are held in pages; the
bytes that were handed on last are remembered in a cache, to compare retransmissions with.
"""

from __future__ import annotations

from mmap import mmap
from typing import Any

import numpy as np
import numpy.typing as npt

from freezeframe.capture.packets.block import MOST_PACKETS

MOST_CONNECTIONS = 1 << 16  # followed at the same time
PAGE_B, PAGES = 1 << 11, 1 << 13  # of early bytes: 16 MB
PAST_PAGE_BITS = 10
PAST_PAGE_B, PAST_PAGES = 1 << PAST_PAGE_BITS, 1 << 11  # of bytes that were handed on: 2 MB

# Kinds of pieces, and why bytes are not there or a connection is not followed any more.
# Of a type for which numba compiles a callee once, and not for each value.
DATA, GAP, SYN, FIN, RST, CLOSED, DIFFERS, AGAIN = map(np.int64, range(8))
LOST, CUT = np.int64(1), np.int64(2)
AT_END, LEAST_RECENT, REPLACED = map(np.int64, range(3))

# Columns of a connection. ADDRESSES and PORTS are side 0's, then side 1's, as `header_kernels.COLUMNS` has them.
(
    NUMBER, VERSION, SRC, SRC_LOW, DST, DST_LOW, PORTS, HASH, LAST_USED, CONNECTION_COLUMNS
) = range(10)  # fmt: skip

# Columns of a side. Positions count from 0, the first byte after SYN, or the first that was seen.
(
    BASE, NEXT, ACKED, ACKED_PACKET, ACKED_PS, FIRST_HELD, LAST_HELD, HOLE_BEFORE, HOLE_AFTER, FIN_AT, STATE,
    PACKETS, WIRE_B, PAYLOAD_B, STREAM_B, REPEATED, REPEATED_B, EARLY, GAPS, LOST_B, CUT_B, DIFFERENT, FIRST_PS,
    LAST_PS, SYN_PS, ACK_PS, RESETS, SIDE_COLUMNS,
) = range(28)  # fmt: skip
BASED, SYN_SEEN, FIN_SEEN, HAS_DATA, RESET = 1, 2, 4, 8, 16  # bits of STATE

# Columns of bytes that are held, by their first page.
POSITION, HELD_B, STREAM_LENGTH, PACKET, TIME_PS, AFTER, HELD_COLUMNS = range(7)

# Columns of remembered pages.
OWNER, PAGE, LOW, HIGH, PAST_COLUMNS = range(5)

# Places in `now`.
(
    LIVE, COUNT, QUEUE_AT, QUEUE_END, QUEUE_USED, FREE_SLOTS, CLOSING, FREE_PAGE, FREE_PAGES, HOLES_BEGIN, HOLES_END,
    HELD_TOTAL_B, SPARE, PIECES, OVERFLOW, FRAGMENTS, TCP_PACKETS, SAY_AGAIN, NOW_PLACES,
) = range(19)  # fmt: skip


# Rows of what comes out: columns of `freezeframe.decoders.net.tcp_streams.StreamPieces`.
(
    KIND, SIDE, AUX, SLOT, CONNECTION, PIECE_POSITION, OFFSET, LENGTH, PIECE_PACKET, PIECE_PS, PIECE_ROWS
) = range(11)  # fmt: skip


_SLOTS = MOST_CONNECTIONS + MOST_PACKETS  # those closed in a block keep theirs until its end
_RECORD = np.dtype(
    [
        ("now", "i8", NOW_PLACES),
        ("connection", "i8", (_SLOTS, CONNECTION_COLUMNS)),
        ("side", "i8", (2 * _SLOTS, SIDE_COLUMNS)),
        ("queue_number", "i8", MOST_CONNECTIONS),  # which connections those of `queue` were
        ("held", "i8", (PAGES, HELD_COLUMNS)),
        ("past_key", "i8", (PAST_PAGES, PAST_COLUMNS)),
        ("table", "i4", 4 * MOST_CONNECTIONS),  # slot by hash, -1 for none
        (
            "queue",
            "i4",
            MOST_CONNECTIONS,
        ),  # slots of connections by their last packet, the oldest first
        ("free", "i4", _SLOTS),  # those of them that are free come first
        ("closing", "i4", _SLOTS),
        ("page_after", "i4", PAGES),  # the next page of the same bytes, or the next free one
        ("pages", "u1", PAGES * PAGE_B),
        ("past", "u1", PAST_PAGES * PAST_PAGE_B),
    ],
    align=True,
)
"""All in one record: kernels hand on a pointer, where each array of a tuple is seven arguments more."""


def touched_only(count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return zeros, ``(count,)``, that take memory a page of 4 KB at a time, where they are touched.

    numpy asks for pages of 2 MB: the first values of ten long rows would take 20 MB.
    """
    return np.frombuffer(mmap(-1, count * np.dtype(dtype).itemsize), dtype)


def new_state() -> npt.NDArray[Any]:
    """Return the state of a capture that begins, ``(1,)`` of `_RECORD`; most is touched only when needed."""
    state = touched_only(1, _RECORD)
    record = state[0]
    now = record["now"]
    now[[HOLES_BEGIN, HOLES_END]] = -1
    now[FREE_SLOTS], now[FREE_PAGES] = _SLOTS, PAGES
    record["table"] = -1
    record["free"] = np.arange(_SLOTS)[::-1]
    record["page_after"][:-1] = np.arange(1, PAGES)
    record["page_after"][-1] = -1
    record["past_key"][:, OWNER] = -1
    return state
