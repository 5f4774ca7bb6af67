"""Decode with less processor time: what a program as a whole may settle, and no library would.

Measured as processor time of whole processes, the least of five: SPI of 1,017 M samples 1.35 s without this,
1.1 s with freed memory kept, 0.95 s with kernels loaded without tables as well.

Source: malloc.h of the GNU C library; numba 0.68, numba/core/caching.py, ``Cache.load_overload``.
"""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
from numba.core.caching import Cache, FunctionCache
from numba.core.runtime.nrt import rtsys

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -2, -3, -8  # parameters of mallopt
_MADV_DONTNEED = 4  # of Linux
_KEPT_B = 1 << 27
_AT_ONCE_B = 1 << 25  # the most that it allows; what is larger is given back at once
_BLOCK_B = 1 << 22  # a column of a block of packets has less, and is used again
# Lines of /proc/self/smaps: where a file of a library is in memory, not to be written; where anything is.
_LIBRARY = re.compile(r"([0-9a-f]+)-([0-9a-f]+) r-[x-]p .*\.so[.0-9]*$")
_PLACE = re.compile(r"[0-9a-f]+-[0-9a-f]+ ")
# What numba's method calls: where another numba does more there, all stays as it is.
_CALLS = ("refresh", "_guard_against_spurious_io_errors", "_load_overload")


def decode_lean(*, keep_memory: bool = True) -> None:
    """Settle both from now on, where this C library and this numba can; without ``keep_memory`` the memory is least."""
    if keep_memory:
        _keep_freed_memory()
    else:
        _give_back_freed_memory()
    if Cache.load_overload.__code__.co_names == _CALLS:
        FunctionCache.load_overload = _load_overload  # type: ignore[method-assign]  # the point of it


def _keep_freed_memory() -> None:
    """Keep up to 128 MiB that were freed.

    A capture is read in pieces of some megabytes. The C library gives pieces of that size back to the system at
    once, and each page that is fetched again is cleared.
    """
    _settle((_TRIM_THRESHOLD, _KEPT_B), (_TOP_PAD, _AT_ONCE_B), (_MMAP_THRESHOLD, _AT_ONCE_B))


def _give_back_freed_memory() -> None:
    """Let all threads and pyarrow take their memory from one place, and give back what is larger than a block needs.

    Left to themselves, pyarrow's own pool keeps 50 MB that were freed, and the C library's other places 20 MB.
    """
    pa.set_memory_pool(pa.system_memory_pool())
    _settle((_ARENA_MAX, 1), (_MMAP_THRESHOLD, _BLOCK_B))


def give_back_code() -> None:
    """Give back what is in memory of the files of libraries, unchanged: what is needed again is read again.

    Of LLVM that is 65 MB, which loading a kernel touches. Where there is no ``/proc`` it stays.
    """
    madvise = getattr(ctypes.CDLL(None), "madvise", None)
    maps = Path("/proc/self/smaps")
    if madvise is None or not maps.exists():
        return
    place = [0, 0]
    for line in maps.read_text().splitlines():
        if found := _LIBRARY.match(line):
            place = [int(number, 16) for number in found.groups()]
        elif _PLACE.match(line):
            place = [0, 0]
        elif line.startswith("Private_Dirty:") and place[1] and line.split()[1] == "0":
            begin, end = place
            madvise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), _MADV_DONTNEED)


def _settle(*parameters: tuple[int, int]) -> None:
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        for parameter, value in parameters:
            mallopt(parameter, value)


def _load_overload(cache: Any, signature: Any, target: Any) -> Any:
    """Load a kernel from its file, without numba's tables of all that it can compile, which it does not need.

    They are a fifth of a second; whatever compiles another kernel fills them then.
    """
    rtsys.initialize(target)  # what compiled code calls for its memory; does so once
    with cache._guard_against_spurious_io_errors():
        return cache._load_overload(signature, target)
