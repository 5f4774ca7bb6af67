"""The bonded lanes of a receiver: how far they are apart, and the synchronization FIFOs that take it out.

Each lane carries its share of every word. A lane comes up to ``link.lane_skew_cycles`` behind the first; words are
read when the latest lane is as full as ``link.sync_fill_halves`` says, so the FIFO of an earlier one holds as many
shares more as that lane is ahead. Source: docs/formats.md section 3.1, rule 4.
"""

from __future__ import annotations

import random

from freezeframe.capture.registers.layouts import Cause, Domain, EventSource, Kind, LinkCode
from freezeframe.emulator.bank import Values
from freezeframe.emulator.ports import Backplane, Stage


class BondedLanes(Stage):
    """The synchronization FIFOs of all lanes.

    Attributes:
        count: of the lanes.
        skew_cycles: how far each lane is behind the earliest.
        levels: shares in each FIFO.
    """

    def __init__(self, plane: Backplane, draw: random.Random) -> None:
        """Train the lanes: ``draw`` says which byte phase, and how far they are apart."""
        super().__init__(plane)
        self.count = self.profile.link_lanes
        self._comma_phase = [draw.randrange(4) for _ in range(self.count)]
        skew = [0] * self.count
        if self.profile.link_lane_skew_cycles:
            skew = [draw.randint(0, self.profile.link_lane_skew_cycles) for _ in skew]
        self.skew_cycles = [behind - min(skew) for behind in skew]
        self.levels = [
            self.profile.link_sync_fill_halves + self.deskew_cycles - behind
            for behind in self.skew_cycles
        ]
        self._underflows = [0] * self.count
        self._overflows = [0] * self.count

    @property
    def deskew_cycles(self) -> int:
        """Cycles that a word waits in the earliest lane for the latest."""
        return max(self.skew_cycles)

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
            for lane in range(self.count)
        }
