"""Columns from the ones of a plane: literal places in, numbers and words of memory out."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.capture.files import place_kernels, plane_kernels
from freezeframe.capture.files.place_kernels import EIGHT, new_places

GUARD = 0xDEAD


@numba.njit
def columns_of(plane: Any, first: int, factor: int, units: Any, lift: Any, made: Any) -> None:
    """Write a row for each one of a plane, eight at a time, to ``made`` from row 3 on."""
    places, numbers, words = made
    place_kernels.places_into(plane, places)
    for done in range(0, plane_kernels.count_ones(plane), EIGHT):
        place_kernels.prepare(numbers, 3 + done + 64)  # beyond the end, which is no access
        place_kernels.numbers_at(places, done, first, factor, numbers, 3 + done)
        place_kernels.words_at(places, done, units, lift, words, 3 + done)


def ones_of(plane: int) -> list[int]:
    return [place for place in range(64) if plane >> place & 1]


planes = st.one_of(
    st.integers(0, 2**64 - 1),
    st.sampled_from([0, 1, 1 << 63, 2**64 - 1, 0x5555555555555555]),
    st.sets(st.integers(0, 63), max_size=9).map(lambda places: sum(1 << at for at in places)),
)


@settings(max_examples=150, deadline=None)
@given(
    planes,
    st.integers(0, 2**40),
    st.sampled_from([0, 1, 10_000, 10**12]),
    st.integers(1, 8),
    st.tuples(st.integers(0, 63), st.integers(0, 2**64 - 1)),
)
def test_each_one_of_a_plane_gives_a_number_and_a_word_and_nothing_is_written_before_them(
    plane: int, first: int, factor: int, unit_B: int, lift: tuple[int, int]
) -> None:
    raw = np.random.default_rng(3).integers(0, 256, 64 * unit_B + 16, dtype=np.uint8)
    first_B = 5
    right, mask = np.uint64(lift[0]), np.uint64(lift[1])
    numbers = np.full(3 + 64, GUARD, dtype=np.int64)
    words = np.full(3 + 64, GUARD, dtype=np.uint64)
    places = new_places()
    places[:] = 63  # what the plane before left behind
    columns_of(
        np.uint64(plane), first, factor, (raw, first_B, unit_B), (right, mask),
        (places, numbers, words),
    )  # fmt: skip
    ones = ones_of(plane)
    stop = 3 + len(ones)
    assert places[: len(ones)].tolist() == ones
    assert places.max() < 64
    wanted = [((first + place) * factor + (1 << 63)) % (1 << 64) - (1 << 63) for place in ones]
    assert numbers[3:stop].tolist() == wanted
    bytes_at = [first_B + place * unit_B for place in ones]
    loaded = [int.from_bytes(raw[at : at + 8].tobytes(), "little") for at in bytes_at]
    assert words[3:stop].tolist() == [word >> lift[0] & lift[1] for word in loaded]
    # Groups of eight are written whole, and nothing else.
    end = 3 + -(-len(ones) // EIGHT) * EIGHT
    for column in (numbers, words):
        assert column[:3].tolist() == [GUARD] * 3
        assert column[end:].tolist() == [GUARD] * (len(column) - end)


@pytest.mark.parametrize("kind", ["int32", "float64"])
def test_a_column_of_other_numbers_is_refused_when_the_kernel_is_made(kind: str) -> None:
    made = new_places(), np.zeros(67, dtype=kind), np.zeros(67, dtype=np.uint64)
    units = np.zeros(128, dtype=np.uint8), 0, 1
    with pytest.raises(numba.core.errors.TypingError):
        columns_of(np.uint64(1), 0, 1, units, (np.uint64(0), np.uint64(1)), made)
