"""What is remembered of TCP connections between packets: arrays of a fixed size, so that no capture needs more.

A connection has a slot; slots of those that are closed are used again with the next block. A side is
``2 * slot`` (the end that opened) or ``2 * slot + 1``. Bytes that came early are held in pages; the
bytes that were handed on last are remembered in a cache, to compare retransmissions with.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from freezeframe.capture.packets.block import MOST_PACKETS

Bytes = npt.NDArray[np.uint8]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]

MOST_CONNECTIONS = 1 << 16  # followed at the same time
PAGE_B, PAGES = 1 << 11, 1 << 13  # of early bytes: 16 MB
PAST_PAGE_BITS = 10
PAST_PAGE_B, PAST_PAGES = 1 << PAST_PAGE_BITS, 1 << 11  # of bytes that were handed on: 2 MB

# Kinds of pieces, and why bytes are not there or a connection is not followed any more.
DATA, GAP, SYN, FIN, RST, CLOSED, DIFFERS, AGAIN = range(8)
LOST, CUT = 1, 2
AT_END, LEAST_RECENT, REPLACED = 0, 1, 2

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


class State(NamedTuple):
    """The arrays; a tuple, because numba takes one."""

    connection: Int64  # (slots, CONNECTION_COLUMNS)
    side: Int64  # (2 slots, SIDE_COLUMNS)
    table: Int32  # (4 slots,): slot by hash, -1 for none
    queue: Int32  # (MOST_CONNECTIONS,): slots of the connections by their last packet, the oldest first
    queue_number: Int64  # (MOST_CONNECTIONS,): which connections these were
    free: Int32  # (slots,): those of them that are free come first
    closing: Int32  # (slots,)
    pages: Bytes  # (PAGES * PAGE_B,)
    page_after: Int32  # (PAGES,): the next page of the same bytes, or the next free one
    held: Int64  # (PAGES, HELD_COLUMNS)
    past: Bytes  # (PAST_PAGES * PAST_PAGE_B,)
    past_key: Int64  # (PAST_PAGES, PAST_COLUMNS)
    now: Int64  # (NOW_PLACES,)


def new_state() -> State:
    """Return the state of a capture that begins; most of it is touched only when it is needed."""
    slots = MOST_CONNECTIONS + MOST_PACKETS
    now = np.zeros(NOW_PLACES, np.int64)
    now[[HOLES_BEGIN, HOLES_END]] = -1
    now[FREE_SLOTS], now[FREE_PAGES] = slots, PAGES
    page_after = np.arange(1, PAGES + 1, dtype=np.int32)
    page_after[-1] = -1
    past_key = np.zeros((PAST_PAGES, PAST_COLUMNS), np.int64)
    past_key[:, OWNER] = -1
    return State(
        np.zeros((slots, CONNECTION_COLUMNS), np.int64),
        np.zeros((2 * slots, SIDE_COLUMNS), np.int64),
        np.full(4 * MOST_CONNECTIONS, -1, np.int32),
        np.empty(MOST_CONNECTIONS, np.int32),
        np.empty(MOST_CONNECTIONS, np.int64),
        np.arange(slots, dtype=np.int32)[::-1].copy(),
        np.zeros(slots, np.int32),
        np.empty(PAGES * PAGE_B, np.uint8),
        page_after,
        np.zeros((PAGES, HELD_COLUMNS), np.int64),
        np.empty(PAST_PAGES * PAST_PAGE_B, np.uint8),
        past_key,
        now,
    )
