"""Decode with less processor time: what a program as a whole may settle, and no library would.

Measured as processor time of whole processes, the least of five: SPI of 1,017 M samples 1.35 s without this,
1.1 s with freed memory kept, 0.95 s with kernels loaded without tables as well.

Source: malloc.h of the GNU C library; numba 0.68, numba/core/caching.py, ``Cache.load_overload``.
"""

from __future__ import annotations

import ctypes
from typing import Any

from numba.core.caching import Cache, FunctionCache
from numba.core.runtime.nrt import rtsys

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3  # parameters of mallopt
_KEPT_B = 1 << 27
_AT_ONCE_B = 1 << 25  # the most that it allows; what is larger is given back at once
# What numba's method calls: where another numba does more there, all stays as it is.
_CALLS = ("refresh", "_guard_against_spurious_io_errors", "_load_overload")


def decode_lean(*, keep_memory: bool = True) -> None:
    """Settle both from now on, where this C library and this numba can."""
    if keep_memory:
        _keep_freed_memory()
    if Cache.load_overload.__code__.co_names == _CALLS:
        FunctionCache.load_overload = _load_overload  # type: ignore[method-assign]  # the point of it


def _keep_freed_memory() -> None:
    """Keep up to 128 MiB that were freed.

    A capture is read in pieces of some megabytes. The C library gives pieces of that size back to the system at
    once, and each page that is fetched again is cleared.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_TRIM_THRESHOLD, _KEPT_B)
        mallopt(_TOP_PAD, _AT_ONCE_B)
        mallopt(_MMAP_THRESHOLD, _AT_ONCE_B)


def _load_overload(cache: Any, signature: Any, target: Any) -> Any:
    """Load a kernel from its file, without numba's tables of all that it can compile, which it does not need.

    They are a fifth of a second; whatever compiles another kernel fills them then.
    """
    rtsys.initialize(target)  # what compiled code calls for its memory; does so once
    with cache._guard_against_spurious_io_errors():
        return cache._load_overload(signature, target)
