"""Kernels of SPI: clocks and changes of the chip selects to words, transfers and errors.

Source: Motorola SPI Block Guide V04.01, 4.3 (clock phase and polarity).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from freezeframe.capture.files.plane_kernels import reverse
from freezeframe.decoders.clocked import MARK, STILL
from freezeframe.decoders.kernel_numbers import ZERO
from freezeframe.decoders.serial.spi_rows import (
    CUT_TRANSFER,
    CUT_WORD,
    SEVERAL,
    WRONG_IDLE,
)

_CLK = np.uint64(1)
_FIRST_SELECT = np.uint64(3)
_ONE, _TWO, _OCTET = np.uint64(1), np.uint64(2), np.uint64(8)


@njit(cache=True, nogil=True)
def words(
    clocks: Any, option: Any, s: Any, first_word: int, columns: Any, rows: Any
) -> tuple[int, int, int]:
    """Take clocks until they or the room for rows are used up.

    Args:
        clocks: `Clocks` of the channels of CHANNELS (spi_rows.py), the selects being marked.
        option: of SETTINGS.
        s: of `new_state`, changed.
        first_word: the number of the word that is first in the columns.
        columns: `WordColumns`, with room for one word more than the clocks can make.
        rows: transfers, ``(m,)`` of TRANSFER_ROW, and errors, ``(m,)`` of ERROR_ROW; m at least 8.
    Returns:
        Clocks consumed, transfers filled, errors filled.
    """
    sample, levels, _ = clocks
    transfers, errors = rows
    transfer_count = 0
    error_count = 0
    if option.selects == 0:
        s.select = 0
    i = ZERO
    while i < len(sample):
        if s.bits == 0 and option.gap_samples == 0:
            i = _whole_words(clocks, i, option, s, first_word, columns)
            if i == len(sample):
                break
        # What one clock can give at the most.
        if transfer_count + 2 > len(transfers) or error_count + 4 > len(errors):
            return i, transfer_count, error_count
        at, now = sample[i], levels[i]
        i += 1
        if now & MARK:
            ended, wrong = _reselect(
                s, option, (at, now), transfers[transfer_count:], errors[error_count:]
            )
            transfer_count += ended
            error_count += wrong
            if now & STILL or (now ^ option.falling) & _CLK == 0:
                continue
        if s.select < 0:
            continue
        if option.gap_samples and (s.open == 0 or at - s.bit_at >= option.gap_samples):
            ended, wrong = _pause(s, option, at, transfers[transfer_count:], errors[error_count:])
            transfer_count += ended
            error_count += wrong
        if s.bits == 0:
            s.word_at = at
            s.miso = s.mosi = np.uint64(0)
        s.bit_before = s.bit_at
        s.bit_at = at
        s.miso = s.miso << _ONE | now >> _ONE & _ONE
        s.mosi = s.mosi << _ONE | now >> _TWO & _ONE
        s.bits += 1
        if s.bits == option.word_bits:
            places = s.word_at, s.bit_before, s.bit_at
            _put_word(s.words - first_word, places, s.miso, s.mosi, _how(s, option), columns)
            s.words += 1
            s.bits = 0
    return i, transfer_count, error_count


@njit(cache=True, nogil=True)
def _whole_words(
    clocks: Any, first: int, option: Any, s: Any, first_word: int, columns: Any
) -> int:
    """Take whole words from clock ``first`` on while no select changes; return the clock after them.

    The usual case: one test a word instead of three a bit. Indices are unsigned: numba looks whether
    a signed one counts from the end.
    """
    sample, levels, _ = clocks
    size, count = np.uint64(option.word_bits), np.uint64(len(levels))
    i = np.uint64(first)
    if s.select < 0:
        # Whatever the clock does, nobody listens.
        while i < count and levels[i] & MARK == 0:
            i += _ONE
        return np.int64(i)  # type: ignore[return-value]  # numba's int64 is an int
    how = _how(s, option)
    at = begin = np.uint64(s.words - first_word)
    while i + size <= count:
        # A size that stands in the source is a loop less.
        seen, miso, mosi = _bits(levels, i, _OCTET) if size == _OCTET else _bits(levels, i, size)
        if seen & MARK:
            break
        places = sample[i], sample[i + size - _TWO], sample[i + size - _ONE]
        _put_word(at, places, miso, mosi, how, columns)
        at += _ONE
        i += size
    if at > begin:
        s.words += np.int64(at - begin)
        s.bit_before = sample[i - _TWO]
        s.bit_at = sample[i - _ONE]
    return np.int64(i)  # type: ignore[return-value]  # numba's int64 is an int


@njit(inline="always")
def _bits(levels: Any, first: Any, size: Any) -> Any:
    """Return all levels of a word in one, and its lines.

    Each bit to its place, not all of them up by one: so the processor does several at once. Of a word that is wider
    than a number the lines are not used (spi_wide.py).
    """
    seen = miso = mosi = np.uint64(0)
    left = size
    for n in range(first, first + size):
        left -= _ONE
        seen |= levels[n]
        miso |= (levels[n] >> _ONE & _ONE) << left
        mosi |= (levels[n] >> _TWO & _ONE) << left
    return seen, miso, mosi


@njit(inline="always")
def _how(s: Any, option: Any) -> Any:
    """Return what all words of a transfer share: its number, the chip select, bits, and their order."""
    transfer = s.transfer if s.open else np.int64(-1)
    select = s.select if option.selects else np.int64(-1)
    return transfer, select, option.word_bits, option.lsb_first


@njit(inline="always")
def _put_word(at: Any, places: Any, miso: Any, mosi: Any, how: Any, columns: Any) -> None:
    """Write a word, its lines as they came, between the samples of its first and its last two bits."""
    transfer, select, bits, lsb_first = how
    columns.begin[at] = places[0]
    columns.end[at] = places[2] + (places[2] - places[1])
    columns.miso[at] = _line(miso, bits, lsb_first)
    columns.mosi[at] = _line(mosi, bits, lsb_first)
    columns.transfer[at] = transfer
    columns.select[at] = select


@njit(cache=True, nogil=True)
def close(end_sample: int, option: Any, s: Any, rows: Any) -> tuple[int, int]:
    """Write what the end of the capture cut off; return transfers and errors (at most 1 and 3)."""
    transfers, errors = rows
    error_count = _cut_word(s, option, end_sample, errors)
    error_count += _end_several(s, end_sample, errors[error_count:])
    if s.open == 0:
        return 0, error_count
    if option.selects:
        _error(s, CUT_TRANSFER, s.transfer_at, end_sample, errors[error_count])
        errors[error_count].select = s.select
        errors[error_count].transfer = s.transfer
        error_count += 1
        s.whole = 0
        _transfer(s, end_sample, transfers[0])
        transfers[0].error = CUT_TRANSFER
    else:
        # No line says where it ends: after the last bit, as between two transfers.
        _transfer(s, _bit_end(s), transfers[0])
    return 1, error_count


@njit(cache=True, nogil=True)
def _reselect(s: Any, option: Any, clock: Any, transfers: Any, errors: Any) -> tuple[int, int]:
    """Take a change of the chip selects, or their levels at the begin of the capture; return the
    transfers and errors that this makes."""
    sample, now = clock
    wrong = _cut_word(s, option, sample, errors)
    ended = 0
    if s.open:
        _transfer(s, sample, transfers[0])
        ended = 1
    wrong += _end_several(s, sample, errors[wrong:])
    active = (now ^ option.active_low) & option.selects
    s.select = _lowest(active)
    first = s.started == 0
    s.started = 1
    if s.select >= 0:
        # Of one that is selected before the capture begins, the begin is not there.
        _begin(s, sample, 0 if first else 1)
        if active & (active - _ONE):
            s.several_at = sample
        # When the clock changes in this very sample, nobody knows which was first.
        if not first and now & STILL and now & _CLK != option.idle:
            _error(s, WRONG_IDLE, sample, sample, errors[wrong])
            errors[wrong].select = s.select
            errors[wrong].transfer = s.transfer
            wrong += 1
    return ended, wrong


@njit(cache=True, nogil=True)
def _pause(s: Any, option: Any, sample: int, transfers: Any, errors: Any) -> tuple[int, int]:
    """Begin a transfer at a bit after a pause; return the transfers and errors before it."""
    wrong = 0
    ended = 0
    if s.open:
        wrong = _cut_word(s, option, _bit_end(s), errors)
        _transfer(s, _bit_end(s), transfers[0])
        ended = 1
    _begin(s, sample, 1)
    return ended, wrong


@njit(cache=True, nogil=True)
def _begin(s: Any, sample: int, whole: int) -> None:
    s.open = 1
    s.whole = whole
    s.transfer_at = sample
    s.first_word = s.words
    s.bits = 0


@njit(cache=True, nogil=True)
def _transfer(s: Any, sample: int, row: Any) -> None:
    row.sample = s.transfer_at
    row.end_sample = sample
    row.select = s.select
    row.first_word = s.first_word
    row.words = s.words - s.first_word
    row.whole = s.whole
    row.error = 0
    s.open = 0
    s.transfer += 1


@njit(cache=True, nogil=True)
def _cut_word(s: Any, option: Any, sample: int, errors: Any) -> int:
    if s.bits == 0:
        return 0
    row = errors[0]
    _error(s, CUT_WORD, s.word_at, sample, row)
    row.select = s.select if option.selects else -1
    row.transfer = s.transfer if s.open else -1
    row.bits = s.bits
    row.miso = _line(s.miso, s.bits, option.lsb_first)
    row.mosi = _line(s.mosi, s.bits, option.lsb_first)
    s.bits = 0
    return 1


@njit(cache=True, nogil=True)
def _end_several(s: Any, sample: int, errors: Any) -> int:
    if s.several_at < 0:
        return 0
    _error(s, SEVERAL, s.several_at, sample, errors[0])
    s.several_at = -1
    return 1


@njit(cache=True, nogil=True)
def _bit_end(s: Any) -> int:
    """Return the end of the last bit, after which the clock stops: as long as the one before."""
    if s.bit_before < s.transfer_at:
        return int(s.bit_at + 1)
    return int(s.bit_at + (s.bit_at - s.bit_before))


@njit(cache=True, nogil=True)
def _lowest(active: Any) -> int:
    """Return the number of the first chip select that is active, -1 for none."""
    if active == 0:
        return -1
    number = 0
    while active >> (_FIRST_SELECT + np.uint64(number)) & _ONE == 0:
        number += 1
    return number


@njit(cache=True, nogil=True)
def _line(bits: Any, count: int, lsb_first: int) -> int:
    """Return what so many bits say, the newest of which is the lowest."""
    if lsb_first:
        bits = reverse(bits) >> np.uint64(64 - count)
    return np.int64(bits)  # type: ignore[return-value]  # numba's int64 is an int


@njit(cache=True, nogil=True)
def _error(s: Any, error: int, sample: int, end_sample: int, row: Any) -> None:
    row.error = error
    row.sample = sample
    row.end_sample = end_sample
    row.before = s.words
    row.select = row.transfer = row.mosi = row.miso = row.bits = -1
