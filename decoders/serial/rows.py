"""Rows that a kernel gave part by part, in one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def joined(parts: Sequence[npt.NDArray[np.void]], kind: np.dtype[np.void]) -> npt.NDArray[np.void]:
    """Return the rows of all parts; each is ``(n,)`` of ``kind``, whose fields are all int64.

    As numbers: numpy compares all fields of each part before it joins records, 50 us a part.
    """
    if len(parts) == 1:
        return parts[0]
    numbers = [np.zeros(0, dtype=np.int64), *(part.view(np.int64) for part in parts)]
    return np.concatenate(numbers).view(kind)
