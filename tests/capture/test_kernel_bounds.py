"""All tests run their kernels with numba's check of every index: none reads or writes beyond its arrays unseen."""

from __future__ import annotations

import os

import numpy as np
import pytest

from freezeframe.capture.files._change_kernels import CHANGE_STATE, apply_changes


@pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1",
    reason="without compiling there are no bounds checks",
)
def test_a_kernel_that_has_no_room_for_what_it_writes_raises() -> None:
    none = np.zeros(0, np.uint64)
    # Two changes, and no room for the edge of the first.
    changes = np.array([0, 5]), np.array([1, 1], np.uint64), np.array([1, 0], np.uint64)
    with pytest.raises(IndexError):
        apply_changes(changes, np.zeros(1, CHANGE_STATE), np.zeros(0, np.int64), none)
