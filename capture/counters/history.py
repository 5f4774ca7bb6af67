"""What a counter did lately: its rate, and the bins of a spark line."""

from __future__ import annotations

from collections import deque

_NS = 1_000_000_000
BIN_NS = _NS
"""What one place of a spark line stands for: so it moves once a second, which also a slow line can follow."""


class History:
    """The last values of one counter of one source.

    A counter that went down has started again with its device (or wrapped): that step has no rate and is counted in
    ``restarts``. ``bins`` holds the highest rate of each second, of a gauge the highest value.
    """

    __slots__ = ("_after_gap", "_bin", "bins", "is_gauge", "rate", "restarts", "t_ns", "value")

    def __init__(self, is_gauge: bool, depth: int) -> None:
        """``depth``: bins that are kept."""
        self.is_gauge = is_gauge
        self.value: int | None = None
        self.t_ns = 0
        self.rate: float | None = None
        self.restarts = 0
        self.bins: deque[float] = deque(maxlen=depth)
        self._bin = -1
        self._after_gap = False

    @property
    def amount(self) -> float | None:
        """What thresholds look at: the rate of a counter, the value of a gauge."""
        return self.value if self.is_gauge else self.rate

    def add(self, t_ns: int, value: int) -> None:
        """Take a value."""
        before, since_ns = self.value, t_ns - self.t_ns
        if self.is_gauge:
            step = float(value)
        elif before is None or since_ns <= 0 or self._after_gap:
            step = 0.0
        elif value < before:
            self.restarts += 1
            self.rate = None
            step = 0.0
        else:
            self.rate = step = (value - before) * _NS / since_ns
        self.value, self.t_ns, self._after_gap = value, t_ns, False
        number = t_ns // BIN_NS
        if number != self._bin or not self.bins:
            self._bin = number
            self.bins.append(step)
        elif step > self.bins[-1]:
            self.bins[-1] = step

    def gap(self) -> None:
        """The source was away: what comes next is no step from what was before."""
        self.rate = None
        self._after_gap = True
