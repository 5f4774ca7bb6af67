"""Memory regions and their handles: where a remote write may go on a card that resolves them.

The FORTH paper (section 2.2) leaves room for it: the 32-bit destination of a descriptor as a handle that is resolved by
bindings made before. How the word is divided, and that all regions of a card have one size, is ours.
"""

from __future__ import annotations

from enum import IntEnum

from freezeframe.emulator.profile import OFFSET_BITS, Profile

_WORD_B = 8
_OFFSET_MASK = (1 << OFFSET_BITS) - 1


class Refusal(IntEnum):
    """Why a write is refused, as the event says it."""

    UNBOUND = 1
    BEYOND = 2


class Regions:
    """The bindings of one card: handles 0 to ``regions.count`` - 1, a region of ``regions.size_words`` each.

    A card without regions takes every destination for a physical address.
    """

    def __init__(self, profile: Profile) -> None:
        self.count = profile.regions_count
        self.size_B = profile.regions_size_words * _WORD_B

    def refusal(self, dest: int, words: int) -> Refusal | None:
        """Return why a write of so many words is refused; None for one that is within its region."""
        if not self.count:
            return None
        handle, offset_B = dest >> OFFSET_BITS, dest & _OFFSET_MASK
        if handle >= self.count:
            return Refusal.UNBOUND
        return Refusal.BEYOND if offset_B + words * _WORD_B > self.size_B else None

    def bound(self, dest: int, words: int) -> int:
        """Return what a driver makes of a destination: a bound handle, and an offset that the write fits at."""
        if not self.count:
            return dest
        handle = (dest >> OFFSET_BITS) % self.count
        places = (self.size_B - words * _WORD_B) // _WORD_B + 1
        return handle << OFFSET_BITS | (dest & _OFFSET_MASK) // _WORD_B % places * _WORD_B
