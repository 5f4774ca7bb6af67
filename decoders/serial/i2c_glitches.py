"""A filter for glitches on the two lines of I2C.

Source: NXP UM10204 rev. 7.0, table 10 (tSP: pulses that the input filter must suppress).
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

_FILTER = np.dtype(
    [
        ("started", np.int64),
        ("value", np.uint64),  # as it comes in
        ("clean", np.uint64),  # as it goes out
        ("since", np.int64, (2,)),  # where a line changed that may still change back, -1
    ]
)


def new_filter() -> npt.NDArray[np.void]:
    """Return the state of `without_glitches` at the start of a stream."""
    state = np.zeros(1, dtype=_FILTER)
    state["since"] = -1
    return state


@numba.njit(cache=True, nogil=True)
def without_glitches(
    sample: npt.NDArray[np.int64],
    value: npt.NDArray[np.uint64],
    glitch_samples: int,
    end_sample: int,
    state: Any,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
    """Return the edges without pulses of fewer than ``glitch_samples`` on either line.

    An edge is given once its level has stood so long; its place is where it really was. Edges
    before ``end_sample - glitch_samples`` are all given.
    """
    at = np.empty(2 * len(sample) + 3, dtype=np.int64)
    out = np.empty(2 * len(sample) + 3, dtype=np.uint64)
    count = 0
    s = state[0]
    for i in range(len(sample) + 1):
        now = end_sample if i == len(sample) else sample[i]
        # The line that changed first comes first.
        for _ in range(2):
            line = 0
            if s.since[1] >= 0 and (s.since[0] < 0 or s.since[1] < s.since[0]):
                line = 1
            since = s.since[line]
            if since >= 0 and now - since >= glitch_samples:
                s.clean ^= np.uint64(1) << np.uint64(line)
                both = s.since[1 - line] == since
                if both:
                    s.clean ^= np.uint64(2) >> np.uint64(line)
                    s.since[1 - line] = -1
                s.since[line] = -1
                at[count] = since
                out[count] = s.clean
                count += 1
        if i == len(sample):
            break
        if s.started == 0:
            s.started = 1
            s.value = value[0]
            s.clean = value[0]
            at[count] = sample[0]
            out[count] = value[0]
            count += 1
            continue
        changed = (s.value ^ value[i]) & np.uint64(3)
        s.value = value[i]
        for line in range(2):
            if changed >> np.uint64(line) & np.uint64(1):
                s.since[line] = sample[i] if s.since[line] < 0 else -1
    return at[:count], out[:count]
