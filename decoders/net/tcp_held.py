"""Bytes of TCP streams outside their order: those that came early, and those that were handed on lately.

Early bytes are held in chains of pages, a sorted list without overlap for each side; first come is kept.
What was handed on lately is a cache of the streams' pages: where a retransmission finds its bytes there, the two
are compared, whatever their boundaries.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from freezeframe.decoders.copy_bytes import copy
from freezeframe.decoders.net.tcp_state import (
    AFTER,
    FIRST_HELD,
    FREE_PAGE,
    FREE_PAGES,
    HELD_B,
    HELD_TOTAL_B,
    HIGH,
    LAST_HELD,
    LOW,
    OWNER,
    PACKET,
    PAGE,
    PAGE_B,
    PAST_PAGE_B,
    PAST_PAGE_BITS,
    PAST_PAGES,
    POSITION,
    SPARE,
    STREAM_LENGTH,
    TIME_PS,
)

_SPREAD = np.int64(0x9E3779B1)


@njit(cache=True, nogil=True)
def remember(state, owner, position, buffer, at, size):  # type: ignore[no-untyped-def]
    """Keep bytes that were handed on, until others take their place in the cache."""
    past, past_key = state.past, state.past_key
    while size > 0:
        page, low = position >> PAST_PAGE_BITS, position & (PAST_PAGE_B - 1)
        part = min(size, PAST_PAGE_B - low)
        row = (owner * _SPREAD + page) & (PAST_PAGES - 1)
        same = past_key[row, OWNER] == owner and past_key[row, PAGE] == page
        if same and past_key[row, LOW] <= low <= past_key[row, HIGH]:
            past_key[row, HIGH] = max(past_key[row, HIGH], low + part)
        else:
            past_key[row, OWNER], past_key[row, PAGE] = owner, page
            past_key[row, LOW], past_key[row, HIGH] = low, low + part
        copy(buffer, at, past, row * PAST_PAGE_B + low, part)
        position += part
        at += part
        size -= part


@njit(cache=True, nogil=True)
def differs_from_past(state, owner, position, buffer, at, size):  # type: ignore[no-untyped-def]
    """Return whether bytes are others than those that were handed on for these positions, as far as they are known."""
    past, past_key = state.past, state.past_key
    while size > 0:
        page, low = position >> PAST_PAGE_BITS, position & (PAST_PAGE_B - 1)
        part = min(size, PAST_PAGE_B - low)
        row = (owner * _SPREAD + page) & (PAST_PAGES - 1)
        if past_key[row, OWNER] == owner and past_key[row, PAGE] == page:
            begin, end = max(low, past_key[row, LOW]), min(low + part, past_key[row, HIGH])
            for place in range(begin, end):
                if past[row * PAST_PAGE_B + place] != buffer[at + place - low]:
                    return True
        position += part
        at += part
        size -= part
    return False


@njit(cache=True, nogil=True)
def pages_for(size):  # type: ignore[no-untyped-def]
    """Return how many pages hold ``size`` bytes; one also where only their place is known."""
    return max(np.int64(1), (size + PAGE_B - 1) // PAGE_B)


@njit(cache=True, nogil=True)
def _take_pages(state, size, buffer, at):  # type: ignore[no-untyped-def]
    """Copy bytes into free pages, and return the first of them."""
    first = state.now[FREE_PAGE]
    page, left = first, size
    for _ in range(pages_for(size)):
        part = min(left, PAGE_B)
        copy(buffer, at, state.pages, page * PAGE_B, part)
        at += part
        left -= part
        last = page
        page = np.int64(state.page_after[page])
        state.now[FREE_PAGES] -= 1
    state.now[FREE_PAGE] = page
    state.page_after[last] = -1
    state.now[HELD_TOTAL_B] += size
    return first


@njit(cache=True, nogil=True)
def _free_pages(state, first):  # type: ignore[no-untyped-def]
    state.now[HELD_TOTAL_B] -= state.held[first, HELD_B]
    last, count = first, 1
    while state.page_after[last] >= 0:
        last = np.int64(state.page_after[last])
        count += 1
    state.page_after[last] = state.now[FREE_PAGE]
    state.now[FREE_PAGE] = first
    state.now[FREE_PAGES] += count


@njit(cache=True, nogil=True)
def _differs_from_held(state, held, skip, buffer, at, size):  # type: ignore[no-untyped-def]
    page = held
    for _ in range(skip // PAGE_B):
        page = np.int64(state.page_after[page])
    place = skip % PAGE_B
    for k in range(size):
        if place == PAGE_B:
            page, place = np.int64(state.page_after[page]), 0
        if state.pages[page * PAGE_B + place] != buffer[at + k]:
            return True
        place += 1
    return False


@njit(cache=True, nogil=True)
def hold(state, s, position, buffer, at, size, length, packet, t_ps):  # type: ignore[no-untyped-def]
    """Hold what of ``length`` bytes of a stream is not held yet; the first ``size`` of them are there.

    Returns:
        How many bytes were held already, and whether they are others. What finds no page any more is left out.
    """
    held, side = state.held, state.side
    before, after = np.int64(-1), side[s, FIRST_HELD]
    last = side[s, LAST_HELD]
    if last >= 0 and position >= held[last, POSITION] + held[last, STREAM_LENGTH]:
        before, after = last, np.int64(-1)
    end, again, differs = position + length, np.int64(0), False
    while position < end:
        while after >= 0 and held[after, POSITION] + held[after, STREAM_LENGTH] <= position:
            before, after = after, held[after, AFTER]
        if after >= 0 and held[after, POSITION] <= position:
            skip = position - held[after, POSITION]
            step = min(end - position, held[after, STREAM_LENGTH] - skip)
            both = min(size, step, held[after, HELD_B] - skip)
            if both > 0 and _differs_from_held(state, after, skip, buffer, at, both):
                differs = True
            again += step
        else:
            step = (end if after < 0 else min(end, held[after, POSITION])) - position
            part = min(size, step)
            if state.now[FREE_PAGES] < pages_for(part):
                break
            new = _take_pages(state, part, buffer, at)
            held[new, POSITION], held[new, HELD_B], held[new, STREAM_LENGTH] = position, part, step
            held[new, PACKET], held[new, TIME_PS], held[new, AFTER] = packet, t_ps, after
            if before < 0:
                side[s, FIRST_HELD] = new
            else:
                held[before, AFTER] = new
            if after < 0:
                side[s, LAST_HELD] = new
            before = new
        position += step
        at += step
        size = max(np.int64(0), size - step)
    return again, differs


@njit(cache=True, nogil=True)
def take_first_held(state, s, buffer):  # type: ignore[no-untyped-def]
    """Move the first held bytes of a side into the spare room of the buffer.

    Returns:
        Place in the buffer, bytes there, bytes of the stream, packet and time.
    """
    first = state.side[s, FIRST_HELD]
    held = state.held
    to, left, page = state.now[SPARE], held[first, HELD_B], first
    at = to
    while left > 0:
        part = min(left, PAGE_B)
        copy(state.pages, page * PAGE_B, buffer, at, part)
        at += part
        left -= part
        page = np.int64(state.page_after[page])
    state.now[SPARE] = at
    state.side[s, FIRST_HELD] = held[first, AFTER]
    if held[first, AFTER] < 0:
        state.side[s, LAST_HELD] = -1
    _free_pages(state, first)  # what is written there stands until they are taken again
    size, length = held[first, HELD_B], held[first, STREAM_LENGTH]
    return to, size, length, held[first, PACKET], held[first, TIME_PS]
