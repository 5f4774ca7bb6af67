"""Kernels of SPI: edges of clock, data and chip selects to words, transfers and errors.

Source: Motorola SPI Block Guide V04.01, 4.3 (clock phase and polarity).
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from freezeframe.decoders.serial.spi_rows import CUT_TRANSFER, CUT_WORD, SEVERAL, WRONG_IDLE

__all__ = ["close", "line_of", "words"]

_CLK = np.uint64(1)
_PAIR = np.uint64(3)  # MISO and MOSI after a shift by one
_FIRST_SELECT = np.uint64(3)
_MOST_TRIES_OFF = 64
_ODD_BITS = np.uint64(0x5555555555555555)


@numba.njit(cache=True, nogil=True)
def words(edges: Any, settings: Any, state: Any, found: Any, rows: Any) -> tuple[int, int, int]:
    """Decode edges until they or the room for rows are used up.

    Args:
        edges: samples and values, with the bits of CHANNELS (spi_rows.py).
        settings: ``(1,)`` of SETTINGS.
        state: from `new_state`, changed.
        found: a tuple of columns to be filled from number ``found[6][0]`` on, which is changed:
            begin and end sample int64, MOSI and MISO int64, transfer int64, select int8. There
            is room for one word more than the edges can make.
        rows: transfers, ``(m,)`` of TRANSFER_ROW, and errors, ``(m,)`` of ERROR_ROW; m at least 8.
    Returns:
        Edges consumed, transfers filled, errors filled.
    """
    sample, value = edges
    begin, end, mosi_column, miso_column, transfer_column, select_column, filled = found
    transfers, errors = rows
    s, option = state[0], settings[0]
    if len(sample) == 0:
        return 0, 0, 0
    transfer_count = 0
    error_count = 0
    if s.started == 0:
        _start(s, option, sample[0], value[0])
    falling = option.falling
    selects = option.selects
    word_bits = option.word_bits
    gap = option.gap_samples
    last = s.value
    bits = s.bits
    pairs = s.pairs
    bit_at = s.bit_at
    bit_before = s.bit_before
    gate = _CLK if s.select >= 0 else np.uint64(0)
    at = filled[0]
    consumed = len(sample)
    span = 2 * word_bits
    tries_off = 0  # words for which the short cut is not tried
    backoff = 0
    i = 0
    while i < len(sample):
        if (
            bits == 0
            and gate
            and gap == 0
            and i + span <= len(sample)
            and (last ^ falling) & _CLK == 0
        ):
            if tries_off > 0:
                tries_off -= 1
            else:
                word, steady = _whole_word(value[i : i + span], last & selects, falling, selects)
                if steady:
                    backoff = 0
                    bit_before = sample[i + span - 4]
                    bit_at = sample[i + span - 2]
                    pairs = word
                    begin[at] = sample[i]
                    end[at] = bit_at + (bit_at - bit_before)
                    miso_column[at] = _one_line(pairs, option)
                    mosi_column[at] = _one_line(pairs >> np.uint64(1), option)
                    transfer_column[at] = s.transfer if s.open else -1
                    select_column[at] = s.select if selects else -1
                    at += 1
                    i += span
                    last = value[i - 1]
                    continue
                backoff = min(2 * backoff + 1, _MOST_TRIES_OFF)
                tries_off = backoff
        now = value[i]
        changed = now ^ last
        if changed & selects:
            # A change of selects can end one transfer and give three errors.
            if transfer_count + 1 > len(transfers) or error_count + 3 > len(errors):
                consumed = i
                break
            s.bits = bits
            s.pairs = pairs
            s.words += at - filled[0]
            filled[0] = at
            ended, wrong = _reselect(
                s,
                option,
                (sample[i], now, changed),
                transfers[transfer_count:],
                errors[error_count:],
            )
            transfer_count += ended
            error_count += wrong
            bits = 0
            gate = _CLK if s.select >= 0 else np.uint64(0)
        last = now
        if changed & (now ^ falling) & gate:
            if gap and (s.open == 0 or sample[i] - bit_at >= gap):
                if transfer_count + 1 > len(transfers) or error_count + 1 > len(errors):
                    last = now ^ changed
                    consumed = i
                    break
                s.bits = bits
                s.pairs = pairs
                s.bit_at = bit_at
                s.bit_before = bit_before
                s.words += at - filled[0]
                filled[0] = at
                ended, wrong = _pause(
                    s, option, sample[i], transfers[transfer_count:], errors[error_count:]
                )
                transfer_count += ended
                error_count += wrong
                bits = 0
            bit_before = bit_at
            bit_at = sample[i]
            pairs = pairs << np.uint64(2) | now >> np.uint64(1) & _PAIR
            if bits == 0:
                s.word_at = bit_at
            bits += 1
            if bits == word_bits:
                bits = 0
                begin[at] = s.word_at
                end[at] = bit_at + (bit_at - bit_before)
                miso_column[at] = _one_line(pairs, option)
                mosi_column[at] = _one_line(pairs >> np.uint64(1), option)
                transfer_column[at] = s.transfer if s.open else -1
                select_column[at] = s.select if selects else -1
                at += 1
        i += 1
    s.value = last
    s.bits = bits
    s.pairs = pairs
    s.bit_at = bit_at
    s.bit_before = bit_before
    s.words += at - filled[0]
    filled[0] = at
    return consumed, transfer_count, error_count


@numba.njit(cache=True, nogil=True)
def close(end_sample: int, settings: Any, state: Any, rows: Any) -> tuple[int, int]:
    """Write what the end of the capture cut off; return transfers and errors (at most 1 and 3)."""
    transfers, errors = rows
    s, option = state[0], settings[0]
    error_count = _cut_word(s, option, end_sample, errors)
    error_count += _end_several(s, end_sample, errors[error_count:])
    if s.open == 0:
        return 0, error_count
    if option.selects:
        _clear(errors[error_count])
        errors[error_count].error = CUT_TRANSFER
        errors[error_count].sample = s.transfer_at
        errors[error_count].end_sample = end_sample
        errors[error_count].select = s.select
        errors[error_count].transfer = s.transfer
        errors[error_count].before = s.words
        error_count += 1
        s.whole = 0
        _transfer(s, end_sample, transfers[0])
        transfers[0].error = CUT_TRANSFER
    else:
        # No line says where it ends: after the last bit, as between two transfers.
        _transfer(s, _bit_end(s), transfers[0])
    return 1, error_count


@numba.njit(cache=True, nogil=True)
def _start(s: Any, option: Any, sample: int, value: Any) -> None:
    s.started = 1
    s.value = value
    if option.selects == 0:
        s.select = 0
        return
    active = (value ^ option.active_low) & option.selects
    s.select = _lowest(active)
    if s.select >= 0:
        # Selected before the capture began.
        _begin(s, sample, 0)
        if active & (active - np.uint64(1)):
            s.several_at = sample


@numba.njit(cache=True, nogil=True)
def _reselect(s: Any, option: Any, edge: Any, transfers: Any, errors: Any) -> tuple[int, int]:
    """Take a change of the chip selects; return the transfers and errors that this makes."""
    sample, now, changed = edge
    wrong = _cut_word(s, option, sample, errors)
    ended = 0
    if s.open:
        _transfer(s, sample, transfers[0])
        ended = 1
    wrong += _end_several(s, sample, errors[wrong:])
    active = (now ^ option.active_low) & option.selects
    s.select = _lowest(active)
    if s.select >= 0:
        _begin(s, sample, 1)
        if active & (active - np.uint64(1)):
            s.several_at = sample
        # When the clock changes in this very sample, nobody knows which was first.
        if changed & _CLK == 0 and now & _CLK != option.idle:
            _clear(errors[wrong])
            errors[wrong].error = WRONG_IDLE
            errors[wrong].sample = sample
            errors[wrong].end_sample = sample
            errors[wrong].select = s.select
            errors[wrong].transfer = s.transfer
            errors[wrong].before = s.words
            wrong += 1
    return ended, wrong


@numba.njit(cache=True, nogil=True)
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


@numba.njit(cache=True, nogil=True)
def _begin(s: Any, sample: int, whole: int) -> None:
    s.open = 1
    s.whole = whole
    s.transfer_at = sample
    s.first_word = s.words
    s.bits = 0


@numba.njit(cache=True, nogil=True)
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


@numba.njit(cache=True, nogil=True)
def _cut_word(s: Any, option: Any, sample: int, errors: Any) -> int:
    if s.bits == 0:
        return 0
    row = errors[0]
    _clear(row)
    row.error = CUT_WORD
    row.sample = s.word_at
    row.end_sample = sample
    row.select = s.select if option.selects else -1
    row.transfer = s.transfer if s.open else -1
    row.before = s.words
    row.bits = s.bits
    row.miso = line_of(s.pairs, s.bits, option.lsb_first)
    row.mosi = line_of(s.pairs >> np.uint64(1), s.bits, option.lsb_first)
    s.bits = 0
    return 1


@numba.njit(cache=True, nogil=True)
def _end_several(s: Any, sample: int, errors: Any) -> int:
    if s.several_at < 0:
        return 0
    _clear(errors[0])
    errors[0].error = SEVERAL
    errors[0].sample = s.several_at
    errors[0].end_sample = sample
    errors[0].before = s.words
    s.several_at = -1
    return 1


@numba.njit(cache=True, nogil=True)
def _bit_end(s: Any) -> int:
    """Return the end of the last bit, after which the clock stops: as long as the one before."""
    if s.bit_before < s.transfer_at:
        return int(s.bit_at + 1)
    return int(s.bit_at + (s.bit_at - s.bit_before))


@numba.njit(cache=True, nogil=True)
def _lowest(active: Any) -> int:
    """Return the number of the first chip select that is active, -1 for none."""
    if active == 0:
        return -1
    number = 0
    while active >> (_FIRST_SELECT + np.uint64(number)) & np.uint64(1) == 0:
        number += 1
    return number


@numba.njit(cache=True, nogil=True)
def _whole_word(value: Any, chosen: Any, falling: Any, selects: Any) -> tuple[Any, bool]:
    """Read a word whose edges are all edges of the clock, two a bit, nothing else between them.

    The usual case of a fast bus, in which data changes with the other edge of the clock: one test
    a word instead of three an edge. False for anything else, a change of the selects included.
    """
    sampling = chosen | _CLK ^ falling
    other = chosen | falling
    different = np.uint64(0)
    pairs = np.uint64(0)
    for i in range(0, len(value), 2):
        different |= (value[i] ^ sampling) | (value[i + 1] ^ other)
        pairs = pairs << np.uint64(2) | value[i] >> np.uint64(1) & _PAIR
    return pairs, different & (selects | _CLK) == 0


@numba.njit(inline="always")
def _one_line(pairs: Any, option: Any) -> int:
    return line_of(pairs, option.word_bits, option.lsb_first)


@numba.njit(cache=True, nogil=True)
def line_of(pairs: Any, bits: int, lsb_first: int) -> int:
    """Return every second bit of ``pairs``, the newest being the last of the word."""
    word = pairs & _ODD_BITS
    word = (word | word >> np.uint64(1)) & np.uint64(0x3333333333333333)
    word = (word | word >> np.uint64(2)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    word = (word | word >> np.uint64(4)) & np.uint64(0x00FF00FF00FF00FF)
    word = (word | word >> np.uint64(8)) & np.uint64(0x0000FFFF0000FFFF)
    word = (word | word >> np.uint64(16)) & np.uint64(0x00000000FFFFFFFF)
    word &= (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    if lsb_first:
        turned = np.uint64(0)
        for _ in range(bits):
            turned = turned << np.uint64(1) | word & np.uint64(1)
            word >>= np.uint64(1)
        word = turned
    return np.int64(word)  # type: ignore[return-value]  # numba's int64 is an int


@numba.njit(cache=True, nogil=True)
def _clear(row: Any) -> None:
    row.error = 0
    row.sample = -1
    row.end_sample = -1
    row.select = -1
    row.transfer = -1
    row.mosi = -1
    row.miso = -1
    row.bits = -1
    row.before = 0
