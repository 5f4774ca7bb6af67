"""Let kernels that are compiled already be loaded without all that is needed to compile others.

To hand out a kernel from its cache on disk numba first fills its tables of everything that it can compile:
all operators of Python and most of numpy, a fifth of a second, as much as a fifth of the whole decoding of
a capture of a billion samples. The kernel itself needs none of them, and whatever compiles another fills
them then. This is for the program as a whole, so no library does it.

Source: numba 0.68, numba/core/caching.py, ``Cache.load_overload``.
"""

from __future__ import annotations

from typing import Any

__all__ = ["load_without_tables"]

# What it calls: where another numba does more there, all stays as it is.
_CALLS = ("refresh", "_guard_against_spurious_io_errors", "_load_overload")


def load_without_tables() -> bool:
    """Load kernels so from now on; return whether this numba can."""
    try:
        from numba.core.caching import Cache, FunctionCache
        from numba.core.runtime.nrt import rtsys

        if Cache.load_overload.__code__.co_names != _CALLS:
            return False
    except (ImportError, AttributeError):
        return False

    def load_overload(cache: Any, signature: Any, target: Any) -> Any:
        rtsys.initialize(target)  # what compiled code calls for its memory; does so once
        with cache._guard_against_spurious_io_errors():
            return cache._load_overload(signature, target)

    FunctionCache.load_overload = load_overload  # type: ignore[method-assign]  # the point of it
    return True
