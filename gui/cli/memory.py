"""Let the program keep memory that it has freed, for what it needs next.

A capture is read in pieces of some megabytes, each in new memory. The C library gives pieces of
that size back to the system at once, and each page that is fetched anew is cleared: a tenth of the
time of reading a long capture. This is for the program as a whole, so no library does it.
"""

from __future__ import annotations

import ctypes
import gc

__all__ = ["collect_seldom", "keep_freed_memory"]

# malloc.h of the GNU C library, with the numbers of its parameters.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
_OBJECTS = 70_000
_KEPT_B = 1 << 27
_AT_ONCE_B = 1 << 25  # the most that it allows; what is larger is given back at once


def keep_freed_memory() -> bool:
    """Keep up to 128 MiB; return whether this C library can."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    asked = (
        (_TRIM_THRESHOLD, _KEPT_B),
        (_TOP_PAD, _AT_ONCE_B),
        (_MMAP_THRESHOLD, _AT_ONCE_B),
    )
    return all(mallopt(parameter, size_B) == 1 for parameter, size_B in asked)


def collect_seldom() -> None:
    """Look for objects that hold each other a hundred times less often than Python does.

    Nearly all that is made while modules are loaded stays, and to look at it again and again is an eighth
    of the time that loading numba takes.
    """
    gc.set_threshold(_OBJECTS, 10, 10)
