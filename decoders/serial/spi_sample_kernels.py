"""Kernel of SPI over samples: 64 at once while a chip is selected and nothing but clock and data
changes; everything else goes through the kernel over edges.

Source: Motorola SPI Block Guide V04.01, 4.3 (clock phase and polarity).
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from freezeframe.capture.files.plane_kernels import (
    LANES,
    count_ones,
    differs,
    lowest,
    reverse,
)
from freezeframe.decoders.serial.sample_kernels import edges_between, union, value_at
from freezeframe.decoders.serial.spi_kernels import line_of, words

__all__ = ["words_of_samples"]

_ONE, _FIRST = np.uint64(1), np.uint64(0)
_ALL = ~np.uint64(0)
_FIRST_SELECT = 3
_ROWS_OF_A_BLOCK = 4 * LANES  # a change of selects in each sample, with three errors


@numba.njit(cache=True, nogil=True)
def words_of_samples(
    samples: Any, channels: Any, settings: Any, state: Any, found: Any, rows: Any
) -> tuple[int, int, int]:
    """Decode samples until they or the room for rows are used up; without pauses (gap_samples 0).

    Args:
        samples: ``(n,)`` of an unsigned integer, and the index of the first in the capture.
        channels: their masks in a sample, ``(7,)`` uint64, 0 for one that is not there.
        settings, state, found, rows: as for `words`; m at least 256.
    Returns:
        Samples consumed, transfers filled, errors filled.
    """
    data, begin_sample = samples
    transfers, errors = rows
    s = state[0]
    edges = np.empty(LANES, dtype=np.int64), np.empty(LANES, dtype=np.uint64)
    transfer_count = 0
    error_count = 0
    i = 0
    while i < len(data):
        if s.started:
            i = _run(data, i, begin_sample, channels, settings, state, found)
            if i == len(data):
                break
        if transfer_count + _ROWS_OF_A_BLOCK > len(
            transfers
        ) or error_count + _ROWS_OF_A_BLOCK > len(errors):
            break
        stop = min(i + LANES, len(data))
        count = edges_between(data, channels, (i, stop), begin_sample, edges)
        _, ended, wrong = words(
            (edges[0][:count], edges[1][:count]),
            settings,
            state,
            found,
            (transfers[transfer_count:], errors[error_count:]),
        )
        transfer_count += ended
        error_count += wrong
        i = stop
    return i, transfer_count, error_count


@numba.njit(cache=True, nogil=True)
def _run(
    data: Any, i: int, begin_sample: int, channels: Any, settings: Any, state: Any, found: Any
) -> int:
    """Decode whole blocks from ``i`` on while no select changes; return where it stopped."""
    begin, end, mosi_column, miso_column, transfer_column, select_column, filled = found
    s, option = state[0], settings[0]
    clock, miso_mask, mosi_mask = channels[0], channels[1], channels[2]
    selects = union(channels[_FIRST_SELECT:])
    chosen = _FIRST
    for channel in range(_FIRST_SELECT, len(channels)):
        if s.value >> np.uint64(channel) & _ONE:
            chosen |= channels[channel]
    if s.select < 0:
        # Whatever the clock does, nobody listens.
        first = i
        while i + LANES <= len(data) and differs(data, i, selects, chosen) == 0:
            i += LANES
        if i > first:
            s.value = value_at(np.uint64(data[i - 1]), channels)
        return i
    word_bits = option.word_bits
    lsb_first = option.lsb_first
    falling = _ALL if option.falling else _FIRST
    whole = (_ONE << np.uint64(word_bits)) - _ONE
    to_end = np.uint64(64 - word_bits)
    transfer = s.transfer if s.open else -1
    select = s.select if option.selects else -1
    before = s.value & _ONE  # the clock in the sample before the block
    bits = s.bits
    # The bits so far, the first one lowest.
    miso = np.uint64(line_of(s.pairs, bits, 1))
    mosi = np.uint64(line_of(s.pairs >> _ONE, bits, 1))
    word_at = s.word_at
    bit_at = s.bit_at
    bit_before = s.bit_before
    at = filled[0]
    places = np.empty(LANES, dtype=np.int64)
    first = i
    while i + LANES <= len(data):
        if differs(data, i, selects, chosen):
            break
        levels = differs(data, i, clock, _FIRST)
        sampling = (levels ^ (levels << _ONE | before)) & (levels ^ falling)
        before = levels >> np.uint64(63)
        here = begin_sample + i
        i += LANES
        if sampling == 0:
            continue
        count = count_ones(sampling)
        miso_levels = differs(data, i - LANES, miso_mask, _FIRST)
        mosi_levels = differs(data, i - LANES, mosi_mask, _FIRST)
        new_miso = _FIRST
        new_mosi = _FIRST
        for bit in range(np.uint64(count)):
            place = np.uint64(lowest(sampling))
            sampling &= sampling - _ONE
            places[bit] = place
            new_miso |= (miso_levels >> place & _ONE) << bit
            new_mosi |= (mosi_levels >> place & _ONE) << bit
        used = 0
        while bits + count - used >= word_bits:
            if bits == 0:
                word_at = here + places[used]
            miso = (miso | new_miso << np.uint64(bits)) & whole
            mosi = (mosi | new_mosi << np.uint64(bits)) & whole
            need = word_bits - bits
            new_miso >>= np.uint64(need)
            new_mosi >>= np.uint64(need)
            used += need
            bit_before = here + places[used - 2] if used >= 2 else bit_at
            bit_at = here + places[used - 1]
            begin[at] = word_at
            end[at] = bit_at + (bit_at - bit_before)
            miso_column[at] = np.int64(miso if lsb_first else reverse(miso) >> to_end)
            mosi_column[at] = np.int64(mosi if lsb_first else reverse(mosi) >> to_end)
            transfer_column[at] = transfer
            select_column[at] = select
            at += 1
            miso = _FIRST
            mosi = _FIRST
            bits = 0
        if used < count:
            if bits == 0:
                word_at = here + places[used]
            miso |= new_miso << np.uint64(bits)
            mosi |= new_mosi << np.uint64(bits)
            bits += count - used
            bit_before = here + places[count - 2] if count >= 2 else bit_at
            bit_at = here + places[count - 1]
    if i > first:
        s.value = value_at(np.uint64(data[i - 1]), channels)
        s.bits = bits
        s.pairs = _interleaved(miso, mosi, bits)
        s.word_at = word_at
        s.bit_at = bit_at
        s.bit_before = bit_before
        s.words += at - filled[0]
        filled[0] = at
    return i


@numba.njit(cache=True, nogil=True)
def _interleaved(miso: Any, mosi: Any, bits: int) -> Any:
    """Return ``pairs`` of the state: MOSI and MISO of each bit side by side, the newest lowest."""
    pairs = np.uint64(0)
    for bit in range(bits):
        place = np.uint64(bit)
        pairs = pairs << np.uint64(2) | (mosi >> place & _ONE) << _ONE | miso >> place & _ONE
    return pairs
