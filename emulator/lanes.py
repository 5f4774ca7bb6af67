"""The two bonded lanes of a receiver and their synchronization FIFOs."""

from __future__ import annotations

from freezeframe.capture.registers.layouts import Cause, Domain, EventSource, Kind, LinkCode
from freezeframe.emulator.bank import Values
from freezeframe.emulator.ports import Backplane, Stage


class BondedLanes(Stage):
    """The synchronization FIFOs of lane 0 and 1.

    Attributes:
        levels: halves in each FIFO.
    """

    def __init__(self, plane: Backplane, comma_phase: list[int]) -> None:
        super().__init__(plane)
        self.levels = [self.profile.link_sync_fill_halves] * 2
        self._comma_phase = comma_phase
        self._underflows = [0, 0]
        self._overflows = [0, 0]

    def report(self, code: LinkCode, lane: int) -> None:
        """Put a LINK event of a lane into the event log."""
        self.events.link_event(Kind.LINK, EventSource.RX_LINK, code, lane)

    def slip(self, lane: int, underflow: bool) -> None:
        """A lane's synchronization FIFO is read while empty, or written while full."""
        if underflow:
            self._underflows[lane] += 1
            self.levels[lane] = max(0, self.levels[lane] - 1)
            self.events.raise_cause(Cause.SYNC_UNF, Domain.LINK)
        else:
            self._overflows[lane] += 1
        self.report(LinkCode.UNDERFLOW if underflow else LinkCode.OVERFLOW, lane)

    def latched(self, t_ps: int) -> Values:
        """Return the lanes' registers of the freeze bank."""
        return {
            (f"frozen.lane.{name}", (lane,)): values[lane]
            for name, values in (
                ("sync_level", self.levels),
                ("underflows", self._underflows),
                ("overflows", self._overflows),
                ("comma_phase", self._comma_phase),
            )
            for lane in (0, 1)
        }
