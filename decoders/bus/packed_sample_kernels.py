"""The clocks of a bus in samples of 3, 5, 6 or 7 bytes, as they stand in a file.

A bus of 32 lines has a 33rd for its clock. To widen such samples to 8 B costs more than to decode
them, and 8 B more of memory's time than 5. So all bytes are looked at for the clock's bit, 64 at
once, those of the right place in a sample are kept, and only at a clock a whole sample is read.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from freezeframe.capture.files.plane_kernels import (
    LANES,
    bits_of,
    count_ones,
    differs,
    fetch,
    lowest,
    word_at,
)

__all__ = ["SLACK", "PackedLayout", "packed_layout", "take_packed"]

SLACK = 2  # samples behind the last block, so that eight bytes can be read of each in it

_ONE, _NONE = np.uint64(1), np.uint64(0)
_ALL = ~np.uint64(0)
_AHEAD_B = 3072  # 1.2 times as fast as 512, and as 8192


class PackedLayout(NamedTuple):
    """Where the clock is: its ``bit`` in a byte, and for each 64 bytes of 64 samples, ``(unit_B,)``,
    which of them hold it (``places``) and how many those are."""

    bit: np.uint64
    places: npt.NDArray[np.uint64]
    counts: npt.NDArray[np.uint64]


def packed_layout(unit_B: int, watch: int) -> PackedLayout | None:
    """Return the layout for a clock that is bit ``watch`` of samples of so many bytes.

    Returns:
        None where a sample is a machine word, or ``watch`` more lines than one.
    """
    if unit_B in (1, 2, 4, 8) or watch.bit_count() != 1:
        return None
    byte, bit = divmod(watch.bit_length() - 1, 8)
    held = [
        [lane for lane in range(LANES) if (LANES * part + lane) % unit_B == byte]
        for part in range(unit_B)
    ]
    places = np.array([sum(1 << lane for lane in lanes) for lanes in held], dtype=np.uint64)
    counts = np.array([len(lanes) for lanes in held], dtype=np.uint64)
    return PackedLayout(np.uint64(1 << bit), places, counts)


@numba.njit(cache=True, nogil=True)
def take_packed(units: Any, layout: Any, how: Any, room: Any, span: Any, count: int) -> int:
    """Write sample index, time and item of the clocks in whole blocks, not in the first of the piece.

    Args:
        units: ``(n, unit_B)`` uint8; behind the last block there are at least `SLACK` more.
        how: whether both edges count, whether the falling one does, whether what stands before it
            is taken; how the item is lifted out of a sample, above which stand bytes of the next;
            and what its index is multiplied with for the time.
        room: places for samples, items and times, from ``count`` on.
        span: the index of the first of ``units`` in the capture, the first block and the one after
            the last.
    Returns:
        The next place.
    """
    begin_sample, begin, stop = span
    data = units.reshape(-1)
    unit_B = np.uint64(units.shape[1])
    bit, places, counts = layout
    (both, falls, before), (right, mask, _), span_ps = how
    sample, value, t_ps, _ = room
    unwanted = _ALL if falls else _NONE
    back = _ONE if before else _NONE
    # Unsigned: numba looks whether a signed one counts from the end.
    first: Any = np.uint64(begin * LANES)
    offset = np.uint64(begin_sample)
    # Of the sample before the first, the byte with the clock.
    clock_B = np.uint64(lowest(places[0]))
    earlier = np.uint64(np.uint64(data[(first - _ONE) * unit_B + clock_B]) & bit != 0)
    here = np.uint64(count)
    for _ in range(begin, stop):
        levels = _NONE
        shift = _NONE
        at = first * unit_B
        for part in range(np.uint64(len(places))):
            fetch(data, at + np.uint64(_AHEAD_B))
            levels |= bits_of(differs(data, at, bit, _NONE), places[part]) << shift
            shift += counts[part]
            at += np.uint64(LANES)
        clocks = levels ^ (levels << _ONE | earlier)
        if not both:
            clocks &= levels ^ unwanted
        earlier = levels >> np.uint64(LANES - 1)
        # So many turns, not "while there are some": the processor need not wait for the answer.
        end = here + np.uint64(count_ones(clocks))
        for i in range(here, end):
            place = first + np.uint64(lowest(clocks))
            clocks &= clocks - _ONE
            now = np.int64(place + offset)
            sample[i] = now
            t_ps[i] = now * span_ps
            value[i] = word_at(data, (place - back) * unit_B) >> right & mask
        here = end
        first += np.uint64(LANES)
    return np.int64(here)  # type: ignore[return-value]  # numba's int64 is an int
