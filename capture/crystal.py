"""How far the clock of a card is off its nominal frequency, as it was measured."""

from __future__ import annotations

from typing import NamedTuple

MAY_DRIFT_PPB = 20_000
"""How far a crystal may have moved since, by temperature and age: an AT cut stays within it where people work."""


class Crystal(NamedTuple):
    """How much faster than nominal a clock runs by another one, in 10^-9, and how far that can be wrong."""

    ppb: int
    unc_ppb: int

    @property
    def tolerance_ppb(self) -> int:
        """How far the clock can be from ``ppb`` at another time."""
        return self.unc_ppb + MAY_DRIFT_PPB

    @property
    def text(self) -> str:
        """``+37.25 ± 0.40 ppm``."""
        return f"{self.ppb / 1000:+.2f} ± {self.unc_ppb / 1000:.2f} ppm"
