"""64 samples in one comparison: each plane beside a loop over the samples."""

from __future__ import annotations

import numpy as np
import pytest

from freezeframe.capture.files.plane_kernels import differs, fetch, has_bit, moves

LANES = range(64)


def drawn(size: int, dtype: str = "u1") -> np.ndarray:
    return np.random.default_rng(size).integers(0, 4, size).astype(dtype)


@pytest.mark.parametrize("unit_B", [3, 5, 6, 7])
def test_a_bit_of_each_unit_of_odd_bytes_stands_in_its_lane(unit_B: int) -> None:
    raw = drawn(2 + 65 * unit_B)
    for at_B in (0, 2):
        for bit in (1, 2, 128):
            seen = sum(int(raw[at_B + lane * unit_B] & bit != 0) << lane for lane in LANES)
            assert has_bit(raw, at_B, unit_B, np.uint64(bit)) == seen


def test_samples_are_compared_with_a_value_and_with_the_one_before() -> None:
    data = drawn(70)
    other = sum(int(data[3 + lane] & 1 != 1) << lane for lane in LANES)
    moved = sum(int((data[3 + lane] ^ data[2 + lane]) & 2 != 0) << lane for lane in LANES)
    assert differs(data, 3, np.uint64(1), np.uint64(1)) == other
    assert moves(data, 3, np.uint64(2)) == moved


def test_memory_is_asked_for_far_beyond_an_array_and_nothing_of_it_changes() -> None:
    raw = drawn(64)
    for at_B in (0, 63, 64, 1 << 40):
        fetch(raw, at_B)
    assert raw.tobytes() == drawn(64).tobytes()
