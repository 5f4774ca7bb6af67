"""Kernel that puts changes of single signals together to edges of all."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

# Stage: 0 nothing is given, 1 given, 2 an edge is written. Time and word wait for the time to go on.
CHANGE_STATE = np.dtype([("stage", "i8"), ("time", "i8"), ("word", "u8"), ("written", "u8")])


@njit(cache=True, nogil=True)
def apply_changes(
    changes: tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64], npt.NDArray[np.uint64]],
    state: npt.NDArray[np.void],
    sample: npt.NDArray[np.int64],
    value: npt.NDArray[np.uint64],
) -> int:
    """Write an edge for each time at which the word has become another; count them.

    Args:
        changes: sample, the bits that are given, and their values; samples do not decrease.
        state: one ``CHANGE_STATE``; what comes at its time is not yet written.
        sample, value: room for as many edges as changes.
    Returns:
        The number of edges, or -1 - i where change i is earlier than the one before.
    """
    at, mask, bits = changes
    now = state[0]
    count = 0
    for i in range(len(at)):
        if at[i] != now.time:
            if at[i] < now.time:
                return -1 - i
            if now.stage == 1 or (now.stage == 2 and now.word != now.written):
                sample[count] = now.time if now.stage == 2 else 0
                value[count] = now.word
                count += 1
                now.stage = 2
                now.written = now.word
            now.time = at[i]
        now.stage = max(now.stage, 1)
        now.word = now.word & ~mask[i] | bits[i] & mask[i]
    return count
