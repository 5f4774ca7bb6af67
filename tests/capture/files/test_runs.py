"""Where samples change, found in bytes: what numpy finds, for every width and length of runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freezeframe.capture.files.few_changes import few_changes
from freezeframe.capture.files.runs import changes_in_bytes

RUNS = st.lists(
    st.tuples(st.integers(0, 2**64 - 1), st.sampled_from([1, 2, 3, 7, 8, 9, 255, 256, 70_000])),
    min_size=1,
    max_size=12,
)


@given(RUNS, st.sampled_from([1, 2, 4, 8]))
def test_changes_are_those_that_numpy_finds(runs: list[tuple[int, int]], unit_B: int) -> None:
    kind = np.dtype(f"<u{unit_B}")
    values = np.array([value & (1 << 8 * unit_B) - 1 for value, _ in runs], dtype=kind)
    samples = np.repeat(values, [length for _, length in runs])
    found = changes_in_bytes(samples.tobytes(), unit_B, 1 << 16)
    changed = np.flatnonzero(samples[1:] != samples[:-1]) + 1
    assert found is not None
    assert found.tolist() == [0, *changed.tolist()]


@pytest.mark.parametrize(
    ("data", "unit_B", "changes"),
    [
        (b"\x05", 1, [0]),
        (b"\x05\x05\x05", 1, [0]),
        (b"\x05\x05\x04", 1, [0, 2]),
        (b"\x05\x05\x05\x05\x05\x06\x05\x05", 2, [0, 2, 3]),
        (b"\x01\x02\x01\x02\x02\x01", 2, [0, 2]),
        (bytes(100_000) + b"\x01" + bytes(200_000), 1, [0, 100_000, 100_001]),
    ],
    ids=["one", "no change", "the last", "two bytes", "the same bytes shifted", "long runs"],
)
def test_the_first_sample_and_each_that_differs_is_a_change(
    data: bytes, unit_B: int, changes: list[int]
) -> None:
    found = changes_in_bytes(data, unit_B, 100)
    assert found is not None
    assert found.tolist() == changes


def test_no_sample_is_no_answer() -> None:
    assert changes_in_bytes(b"", 1, 100) is None


@pytest.mark.parametrize("limit", [1, 2, 10, 255])
def test_as_many_as_the_limit_are_too_many_as_for_numpy(limit: int) -> None:
    samples = np.arange(limit, dtype=np.uint8)
    assert changes_in_bytes(samples.tobytes(), 1, limit) is None
    assert few_changes(samples, limit) is None
    found = changes_in_bytes(samples.tobytes(), 1, limit + 1)
    assert found is not None
    assert found.tolist() == list(range(limit))


def test_more_different_samples_than_stretches_are_kept_of() -> None:
    samples = np.repeat(np.arange(1000, dtype=np.uint16), 300)
    found = changes_in_bytes(samples.tobytes(), 2, 1 << 16)
    assert found is not None
    assert found.tolist() == list(range(0, 300_000, 300))
