"""Time pairs: by which own cycle a clock domain saw which toggle of the time line that all devices share.

Source: docs/formats.md section 6; register file ``pair``.
"""

from __future__ import annotations

from freezeframe.capture.registers.layouts import Domain
from freezeframe.emulator.clocks import Clock, Clocks
from freezeframe.emulator.freeze import FreezeControl

Toggle = tuple[int, int]
"""Number of a toggle, and the domain's cycle in which it was seen."""


class TimePairs:
    """The first and the last toggle that each domain of a card saw in its recording."""

    def __init__(
        self, clocks: Clocks, master: Clock, period_cycles: int, freeze: FreezeControl
    ) -> None:
        """The line toggles every ``period_cycles`` cycles of ``master``."""
        self._clocks = clocks
        self._master = master
        self._period_cycles = period_cycles
        self._freeze = freeze

    def pair(self, domain: Domain, now_ps: int) -> tuple[Toggle, Toggle] | None:
        """Return the first toggle after the arm and the last before the domain's memories had closed, if any."""
        clock, freeze = self._clocks[domain], self._freeze
        armed, closed = freeze.armed_cycle(domain), freeze.closed_cycle(domain)
        until = clock.cycle_at(now_ps if freeze.frozen_ps is None else freeze.frozen_ps)
        if closed is not None:
            until = min(until, closed - 1)
        first = max(1, self._number_at(clock.edge_ps(armed)) - 1)
        while self._seen(clock, first) <= armed:
            first += 1
        if self._seen(clock, first) > until:
            return None
        last = self._number_at(clock.edge_ps(until))
        while self._seen(clock, last) > until:
            last -= 1
        return (first, self._seen(clock, first)), (last, self._seen(clock, last))

    def _number_at(self, t_ps: int) -> int:
        return self._master.cycle_at(t_ps) // self._period_cycles

    def _seen(self, clock: Clock, number: int) -> int:
        """Return the cycle of ``clock`` in which a toggle is seen."""
        at = number * self._period_cycles
        return at if clock is self._master else clock.crossed(self._master.edge_ps(at))
