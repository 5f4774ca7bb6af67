"""One comparison of a trigger, of either map: value, mask and kinds of a word, as they stand in five registers.

Source: docs/trigger.md, "One word against one term".
"""

from __future__ import annotations

from dataclasses import dataclass

ALL_KINDS = 0xFFFF
PARTS = ("value_lo", "value_hi", "mask_lo", "mask_hi", "kinds")


@dataclass(frozen=True, slots=True)
class Term:
    """A word is the same as the term when its kind is among ``kinds`` (one bit each) and its data equal ``value`` in
    the bits of ``mask``.
    """

    value: int = 0
    mask: int = 0
    kinds: int = ALL_KINDS

    def fits(self, kind: int, data: int) -> bool:
        """Return whether a word is the same as the term."""
        return bool(self.kinds >> kind & 1) and not (data ^ self.value) & self.mask

    def words(self) -> tuple[int, int, int, int, int]:
        """Return what stands in the term's registers, in their order."""
        low = 0xFFFFFFFF
        return self.value & low, self.value >> 32, self.mask & low, self.mask >> 32, self.kinds
