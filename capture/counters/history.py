"""What a counter did lately: its rate, and the bins of a spark line."""

from __future__ import annotations

import math
from collections import deque

_NS = 1_000_000_000
BIN_NS = _NS
"""What one place of a spark line stands for: so it moves once a second, which also a slow line can follow."""


_STANDS_NS = (
    10 * _NS
)  # a device whose own clock has not moved for so long counts nothing that can be rated


class Rate:
    """How fast a counter grows from one reading to the next, by the clock that it was counted with."""

    __slots__ = ("at_ns", "t_ns", "value")

    def __init__(self) -> None:
        self.value: int | None = None
        self.t_ns = self.at_ns = 0

    def step(self, t_ns: int, value: int, own_ns: int | None = None) -> float | None:
        """Return the growth a second; NaN where it is not known, None where this reading tells nothing new.

        Args:
            t_ns: when it was read; own_ns: when it was counted, by the device's own clock, where that is told.
        """
        at_ns = t_ns if own_ns is None else own_ns
        before, since_ns = self.value, at_ns - self.at_ns
        if before is not None and since_ns == 0 and value == before:
            # The same snapshot read again; a clock that stands still is said after a while.
            return math.nan if t_ns - self.t_ns > _STANDS_NS else None
        self.value, self.t_ns, self.at_ns = value, t_ns, at_ns
        if before is None:
            return None
        # A count that went back began again with its device: how fast it grew is not known.
        return (value - before) * _NS / since_ns if value >= before and since_ns > 0 else math.nan

    def forget(self) -> None:
        """What comes next is no step from what was before."""
        self.value = None


class History:
    """The last values of one counter of one source.

    A counter that went down has started again with its device (or wrapped): that step has no rate and is counted in
    ``restarts``. ``bins`` holds the highest rate of each second, of a gauge the highest value.
    """

    __slots__ = ("_bin", "_rate", "bins", "is_gauge", "rate", "restarts", "t_ns", "value")

    def __init__(self, is_gauge: bool, depth: int) -> None:
        """``depth``: bins that are kept."""
        self.is_gauge = is_gauge
        self.value: int | None = None
        self.t_ns = 0
        self.rate: float | None = None
        self.restarts = 0
        self.bins: deque[float] = deque(maxlen=depth)
        self._bin = -1
        self._rate = Rate()

    @property
    def amount(self) -> float | None:
        """What thresholds look at: the rate of a counter, the value of a gauge."""
        return self.value if self.is_gauge else self.rate

    def add(self, t_ns: int, value: int, own_ns: int | None = None) -> None:
        """Take a value; ``own_ns`` as of `Rate.step`."""
        if self.is_gauge:
            step = float(value)
        else:
            grown = self._rate.step(t_ns, value, own_ns)
            self.restarts += self.value is not None and value < self.value and grown is not None
            if grown is not None:
                self.rate = None if math.isnan(grown) else grown
            step = self.rate or 0.0
        self.value, self.t_ns = value, t_ns
        number = t_ns // BIN_NS
        if number != self._bin or not self.bins:
            self._bin = number
            self.bins.append(step)
        elif step > self.bins[-1]:
            self.bins[-1] = step

    def gap(self) -> None:
        """The source was away: what comes next is no step from what was before."""
        self.rate = None
        self._rate.forget()
