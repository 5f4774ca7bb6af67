"""Analog channels as logic: a threshold with hysteresis, fed in pieces."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from freezeframe.capture.errors import InputError


@dataclass(frozen=True, slots=True)
class Threshold:
    """High from ``high_V`` up, low from ``low_V`` down; what is between stays as it was."""

    high_V: float
    low_V: float

    def __post_init__(self) -> None:
        if not self.low_V <= self.high_V:
            raise ValueError(f"low threshold {self.low_V} V is above the high one {self.high_V} V")


class Thresholder:
    """Turns voltages of one channel into 0 and 1; a channel that begins between is low."""

    def __init__(self, threshold: Threshold) -> None:
        self._threshold = threshold
        self._level = 0
        self.not_numbers = 0

    def feed(self, volts: npt.NDArray[np.floating]) -> npt.NDArray[np.uint64]:
        """Return ``(n,)`` uint64 of 0 and 1. What is no number stays as it was, and is counted."""
        high = volts >= self._threshold.high_V
        decided = high | (volts <= self._threshold.low_V)
        self.not_numbers += int(np.isnan(volts).sum())
        # Where each sample took its level: the last decided one up to it, 0 for that before all.
        at = np.maximum.accumulate(np.where(decided, np.arange(1, len(volts) + 1), 0))
        levels = np.concatenate(([self._level], high.astype(np.uint64))).astype(np.uint64)[at]
        if len(levels):
            self._level = int(levels[-1])
        return np.asarray(levels, dtype=np.uint64)


def parse_threshold(text: str) -> tuple[str, Threshold]:
    """Return channel and threshold from ``[CHANNEL=]HIGH[/LOW]`` in volts; ``""`` is every channel.

    Raises:
        InputError: it is not of that form, or LOW is above HIGH.
    """
    name, equals, volts = text.rpartition("=")
    number = r"[+-]?\d+(?:\.\d+)?"
    match = re.fullmatch(rf"\s*({number})\s*(?:/\s*({number}))?\s*V?\s*", volts)
    if not match or (equals and not name.strip()):
        raise InputError(
            f"threshold {text!r}: not [CHANNEL=]HIGH[/LOW] in volts, for instance A0=1.4/0.8"
        )
    high_V = float(match[1])
    low_V = float(match[2]) if match[2] else high_V
    if low_V > high_V:
        raise InputError(f"threshold {text!r}: LOW {low_V} V is above HIGH {high_V} V")
    return name.strip(), Threshold(high_V, low_V)
