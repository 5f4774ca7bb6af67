"""Numbers that one kernel passes to another, of a type for which numba compiles the callee once.

A number written in a call is a type of its own there: a callee is compiled anew for each. For mypy they are any number.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

ZERO = cast(int, np.int64(0))


def int64s(first: int, count: int) -> Any:
    """Return ``count`` numbers from ``first`` on, int64."""
    return np.arange(first, first + count)
