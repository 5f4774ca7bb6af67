"""What every target checks before it touches its transport: addresses, words, being open."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from operator import index

import numpy as np
import numpy.typing as npt

from freezeframe.capture.errors import TargetError
from freezeframe.capture.targets.base import Words

_TOP = 1 << 32


def checked_addresses(addresses: Words | Sequence[int], base: int = 0) -> Words:
    """Return addresses plus ``base`` as a new ``(n,)`` uint32 array.

    Raises:
        ValueError: an address is negative, not a multiple of 4, or (with the base) above 32 bits.
    """
    asked = np.asarray(addresses)
    if asked.size == 0:
        return np.empty(0, np.uint32)
    if asked.ndim != 1 or asked.dtype.kind not in "iu":
        raise ValueError("addresses must be a list of whole numbers")
    # Unsigned 64-bit input cannot be negative, and above 2**63 it must not become so.
    wide = (
        np.minimum(asked, 1 << 62).astype(np.int64)
        if asked.dtype == np.uint64
        else (asked.astype(np.int64))
    )
    wrong = (wide < 0) | (wide & 3 != 0) | (wide + base >= _TOP)
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        raise ValueError(_why(int(asked[first]), base, first))
    return (wide + base).astype(np.uint32)


def checked_write(address: int, words: Sequence[int] | Words, base: int = 0) -> tuple[int, Words]:
    """Return the address plus ``base`` and the words as a new ``(n,)`` uint32 array.

    Raises:
        ValueError: as for addresses, of the first and the last word; or a word has over 32 bits.
    """
    if not (isinstance(words, np.ndarray) and words.dtype == np.uint32):
        for word in words:
            if not 0 <= index(word) < _TOP:
                raise ValueError(f"word {word} does not fit 32 bits (0..{_TOP - 1})")
    data = np.array(words, dtype=np.uint32)
    last = address + 4 * max(0, len(data) - 1)
    for place, end in ((0, address), (len(data) - 1, last)):
        if end < 0 or end & 3 or end + base >= _TOP:
            raise ValueError(_why(end, base, place))
    return address + base, data


def closed_error(url: str) -> TargetError:
    """Return the error that use after close raises."""
    return TargetError(f"{url}: the target has been closed; open it again")


def runs(addresses: Words, longest: int) -> list[tuple[int, int]]:
    """Return the ``[start, end)`` of stretches in which each address is the one before plus 4.

    Args:
        addresses: ``(n,)`` uint32.
        longest: words in a stretch, at most.
    """
    if not len(addresses):
        return []
    wide: npt.NDArray[np.int64] = addresses.astype(np.int64)
    breaks = [0, *(np.flatnonzero(np.diff(wide) != 4) + 1).tolist(), len(addresses)]
    return [
        (at, min(at + longest, end))
        for start, end in pairwise(breaks)
        for at in range(start, end, longest)
    ]


def _why(address: int, base: int, place: int) -> str:
    shown = f"address {address:#x}" if address >= 0 else f"address {address}"
    where = f"{shown} (number {place} of the list)"
    if address < 0:
        return f"{where} is negative"
    if address & 3:
        return f"{where} is not a multiple of 4"
    plus = f" with the base {base:#x}" if base else ""
    return f"{where} does not fit 32 bits{plus} (0..0xfffffffc)"
