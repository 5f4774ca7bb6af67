"""Where samples change: against a loop over them, for all units, at the seams of the blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.capture.files.edges import EdgeReducer
from freezeframe.capture.files.few_changes import few_changes

KINDS = ("<u1", "<u2", "<u4", "<u8")


@settings(deadline=None, max_examples=100)
@given(
    st.sampled_from(KINDS),
    st.lists(st.integers(0, 3), min_size=1, max_size=300),
    st.integers(1, 300),
)
def test_every_change_is_found_unless_they_are_too_many(
    kind: str, values: list[int], limit: int
) -> None:
    want = [0] + [i for i in range(1, len(values)) if values[i] != values[i - 1]]
    found = few_changes(np.array(values, dtype=kind), limit)
    assert (None if found is None else found.tolist()) == (want if len(want) < limit else None)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("off", [-1, 0, 1])
def test_a_change_at_the_seam_of_two_blocks_is_found_once(kind: str, off: int) -> None:
    samples = np.zeros(600_000, dtype=kind)
    at = (1 << 18) // samples.itemsize + 1 + off
    samples[at:] = 1
    found = few_changes(samples, 10)
    assert found is not None
    assert found.tolist() == [0, at]


def test_no_sample_has_no_change() -> None:
    assert few_changes(np.zeros(0, dtype="<u1"), 10) is None


def test_bits_that_are_not_asked_for_may_change_with_every_sample() -> None:
    samples = np.tile(np.array([0, 4], dtype="<u1"), 50)
    samples[60:] |= 2
    edges = EdgeReducer(1, [1]).few(samples, 5)
    assert edges is not None
    assert (edges[0].tolist(), edges[1].tolist()) == ([0, 60], [0, 1])
    assert EdgeReducer(1, [2]).few(samples, 5) is None


def test_channels_in_another_order_than_their_bits_are_put_in_order() -> None:
    samples = np.array([0b001, 0b001, 0b100, 0b110], dtype="<u1")
    edges = EdgeReducer(1, [2, 0]).few(samples, 9)
    assert edges is not None
    # Bit 1 is not chosen: its change at sample 3 is none.
    assert (edges[0].tolist(), edges[1].tolist()) == ([0, 2], [0b10, 0b01])
