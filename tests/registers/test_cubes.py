"""Address sets as masked comparisons: exactly the set, each address matched once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.registers.sources import exporter

cubes = exporter("cubes")
BITS = 9


@given(st.sets(st.integers(0, (1 << BITS) - 1)))
def test_the_comparisons_match_exactly_the_set_and_no_word_twice(words: set[int]) -> None:
    found = cubes.cover(words, BITS)
    for word in range(1 << BITS):
        hits = sum(word & mask == value for mask, value in found)
        assert hits == (1 if word in words else 0)
        assert cubes.matches(found, word) == (word in words)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (set(), []),
        ({0x47}, [(0x1FF, 0x47)]),
        (set(range(0x40, 0x48)), [(0x1F8, 0x40)]),
        ({0x80, 0xC0}, [(0x1BF, 0x80)]),
        (set(range(512)), [(0, 0)]),
    ],
    ids=["nothing", "one word", "an aligned block", "a stride", "everything"],
)
def test_regular_sets_become_one_comparison(words: set[int], wanted: list[tuple[int, int]]) -> None:
    assert cubes.cover(words, BITS) == wanted


def test_a_word_beyond_the_address_bits_is_refused() -> None:
    with pytest.raises(ValueError, match="word 0x200 does not fit 9 address bits"):
        cubes.cover({0x200}, BITS)
