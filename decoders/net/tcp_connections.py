"""Which connection a TCP packet belongs to: a hash table with open addressing, and which was not used for longest."""

from __future__ import annotations

import numpy as np
from numba import njit

from freezeframe.decoders.net.tcp_state import (
    CLOSING,
    COUNT,
    DST,
    DST_LOW,
    FIN_AT,
    FIRST_HELD,
    FREE_SLOTS,
    HASH,
    HOLE_AFTER,
    HOLE_BEFORE,
    LAST_HELD,
    LAST_USED,
    LIVE,
    NUMBER,
    PORTS,
    QUEUE_AT,
    QUEUE_END,
    QUEUE_USED,
    SIDE_COLUMNS,
    SRC,
    SRC_LOW,
    VERSION,
)

_GONE = np.int64(1 << 62)  # later than any packet


@njit(cache=True, nogil=True)
def _mixed(high, low, port):  # type: ignore[no-untyped-def]
    x = np.uint64(high) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ x >> np.uint64(32)) + np.uint64(low)
    x = x * np.uint64(0xD6E8FEB86659FD93) + np.uint64(port)
    x = (x ^ x >> np.uint64(29)) * np.uint64(0xBF58476D1CE4E5B9)
    return x ^ x >> np.uint64(32)


@njit(cache=True, nogil=True)
def hash_of(src, src_low, dst, dst_low, ports):  # type: ignore[no-untyped-def]
    """Return the same for both directions of a connection."""
    x = _mixed(src, src_low, ports >> 16) + _mixed(dst, dst_low, ports & 0xFFFF)
    return np.int64(x >> np.uint64(2))


@njit(cache=True, nogil=True)
def find(state, key, version, src, src_low, dst, dst_low, ports):  # type: ignore[no-untyped-def]
    """Return the slot and which side the packet is from; slot -1 where the connection is not known."""
    connection, table = state.connection, state.table
    back = (ports & 0xFFFF) << 16 | ports >> 16
    mask = table.size - 1
    place = key & mask
    while table[place] >= 0:
        c = np.int64(table[place])
        if connection[c, HASH] == key and connection[c, VERSION] == version:
            if (
                connection[c, SRC] == src and connection[c, DST] == dst and connection[c, PORTS] == ports
                and connection[c, SRC_LOW] == src_low and connection[c, DST_LOW] == dst_low
            ):  # fmt: skip
                return c, np.int64(0)
            if (
                connection[c, SRC] == dst and connection[c, DST] == src and connection[c, PORTS] == back
                and connection[c, SRC_LOW] == dst_low and connection[c, DST_LOW] == src_low
            ):  # fmt: skip
                return c, np.int64(1)
        place = (place + 1) & mask
    return np.int64(-1), np.int64(0)


@njit(cache=True, nogil=True)
def least_recent(state):  # type: ignore[no-untyped-def]
    """Return the slot of the connection whose last packet is the oldest; there must be one.

    A list that follows every packet would cost more than all else here. Instead the connections are sorted when one
    must go, and those that were used since then are passed over: they are younger than all that were not.
    """
    now, connection = state.now, state.connection
    while True:
        while now[QUEUE_AT] < now[QUEUE_END]:
            c = np.int64(state.queue[now[QUEUE_AT]])
            if (
                connection[c, NUMBER] == state.queue_number[now[QUEUE_AT]]
                and connection[c, LAST_USED] <= now[QUEUE_USED]
            ):
                return c
            now[QUEUE_AT] += 1
        slots = np.empty(now[LIVE], np.int64)
        count = 0
        for place in range(state.table.size):
            if state.table[place] >= 0:
                slots[count] = state.table[place]
                count += 1
        used = np.empty(count, np.int64)
        for k in range(count):
            used[k] = connection[slots[k], LAST_USED]
        order = np.argsort(used)
        for k in range(count):
            state.queue[k] = slots[order[k]]
            state.queue_number[k] = connection[slots[order[k]], NUMBER]
        now[QUEUE_AT], now[QUEUE_END] = 0, count
        now[QUEUE_USED] = used[order[count - 1]]


@njit(cache=True, nogil=True)
def add(state, key, version, src, src_low, dst, dst_low, ports, packet):  # type: ignore[no-untyped-def]
    """Enter a connection whose side 0 is ``src``, and return its slot; there must be a free one."""
    now = state.now
    now[FREE_SLOTS] -= 1
    c = np.int64(state.free[now[FREE_SLOTS]])
    connection, side = state.connection, state.side
    connection[c, NUMBER], connection[c, VERSION], connection[c, HASH] = now[COUNT], version, key
    connection[c, PORTS], connection[c, LAST_USED] = ports, packet
    connection[c, SRC], connection[c, SRC_LOW] = src, src_low
    connection[c, DST], connection[c, DST_LOW] = dst, dst_low
    now[COUNT] += 1
    now[LIVE] += 1
    for s in range(2 * c, 2 * c + 2):
        for column in range(SIDE_COLUMNS):
            side[s, column] = 0
        side[s, FIRST_HELD], side[s, LAST_HELD], side[s, FIN_AT] = -1, -1, -1
        side[s, HOLE_BEFORE], side[s, HOLE_AFTER] = -1, -1
    mask = state.table.size - 1
    place = key & mask
    while state.table[place] >= 0:
        place = (place + 1) & mask
    state.table[place] = c
    return c


@njit(cache=True, nogil=True)
def remove(state, c):  # type: ignore[no-untyped-def]
    """Take a connection out; its slot is free again with the next block."""
    now, table = state.now, state.table
    mask = table.size - 1
    hole = state.connection[c, HASH] & mask
    while table[hole] != c:
        hole = (hole + 1) & mask
    place = hole
    while True:  # what was pushed on by it moves back
        table[hole] = -1
        while True:
            place = (place + 1) & mask
            if table[place] < 0:
                break
            home = state.connection[table[place], HASH] & mask
            if (place - home) & mask >= (place - hole) & mask:
                break
        if table[place] < 0:
            break
        table[hole] = table[place]
        hole = place
    state.connection[c, LAST_USED] = _GONE
    state.closing[now[CLOSING]] = c
    now[CLOSING] += 1
    now[LIVE] -= 1


@njit(cache=True, nogil=True)
def free_closed(states):  # type: ignore[no-untyped-def]
    """Free the slots of connections that were closed in the block before."""
    state = states[0]
    now = state.now
    for k in range(now[CLOSING]):
        state.free[now[FREE_SLOTS]] = state.closing[k]
        now[FREE_SLOTS] += 1
    now[CLOSING] = 0
