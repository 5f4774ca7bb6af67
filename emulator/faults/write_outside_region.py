"""write-outside-region: A's driver posts one write whose destination is not within a region of B: of a handle that is
not bound, or beyond the end of one that is.

B refuses it: nothing is written, no notification follows, its words go back as credit. No check of the hardware freezes
for it: the host does. Needs a card with regions.
"""

from __future__ import annotations

from freezeframe.capture.errors import InputError
from freezeframe.emulator.faults.base import A, Fault
from freezeframe.emulator.profile import HANDLE_BITS, OFFSET_BITS, Profile
from freezeframe.emulator.traffic import Plan

_WORD_B = 8


class WriteOutsideRegion(Fault):
    """One write that B refuses."""

    name = "write-outside-region"
    card = A
    silent = True

    def prepare(self) -> None:
        self._unbound = self.draw.random() < 0.5

    def shape(self, plan: Plan, profile: Profile) -> None:
        if not profile.regions_count:
            raise InputError(
                f"fault {self.name}: profile {profile.name} has no [regions]; forth-regions has them"
            )
        self._count, self._size_B = profile.regions_count, profile.regions_size_words * _WORD_B

    def destination(self, dest: int, words: int) -> int:
        if not self.ready() or not words:
            return dest
        if self._unbound and self._count < 1 << HANDLE_BITS:
            handle = self.draw.randrange(self._count, 1 << HANDLE_BITS)
            dest = handle << OFFSET_BITS | dest & (1 << OFFSET_BITS) - 1
        else:
            past = self.draw.randint(1, words)  # words that lie beyond the end
            dest = dest >> OFFSET_BITS << OFFSET_BITS | self._size_B - (words - past) * _WORD_B
        self.strike(handle=dest >> OFFSET_BITS, offset_B=dest & (1 << OFFSET_BITS) - 1, words=words)
        self.show_within(60, 120)
        return dest
