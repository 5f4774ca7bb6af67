"""What a receiver says of its lanes: slips of both at once, and whether it corrects for the clocks.

Its synchronization FIFOs are written and read together, so that one that runs empty or full does so with the other:
a slip of one lane alone is another fault. A word that was repeated or lost on the link is then one that both lanes
repeated or lost.

Source: docs/formats.md section 3, "Bonding"; section 4, LINK underflow and overflow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.streams import EventLog
from freezeframe.capture.registers.layouts import Kind

__all__ = ["Slips", "corrects_clock", "drifts", "lanes_slipped", "slips_of"]

_EVENT_CYCLES = 4
"""Events of both lanes may be stamped so many cycles apart: the log takes one a cycle."""


@dataclass(frozen=True, slots=True)
class Slips:
    """Slips of both lanes at once in one card's log: positions of the first lane's event of each."""

    log: EventLog
    kind: str  # "underflow" or "overflow"
    positions: tuple[int, ...]
    alone: int  # slips of one lane only

    @property
    def interval_cycles(self) -> int | None:
        """The least distance of two slips; None with fewer than two."""
        cycles = self.log.cycle[list(self.positions)]
        return int(np.diff(cycles).min()) if len(cycles) > 1 else None

    @property
    def regular(self) -> bool:
        """All distances are multiples of the least one, within a few cycles."""
        least = self.interval_cycles
        if least is None or least < 100:
            return False
        distances = np.diff(self.log.cycle[list(self.positions)])
        off = np.abs(distances - np.round(distances / least) * least)
        return bool((off <= np.maximum(8, distances // 100)).all())


def slips_of(facts: Facts, receiver: str) -> Slips | None:
    """Return the slips of both lanes that a card recorded; None without a log of them."""
    log = facts.view.logs.get(receiver)
    if log is None or not log.recorded(Kind.LINK):
        return None
    best = Slips(log, "underflow", (), 0)
    for kind in ("underflow", "overflow"):
        at = log.select(Kind.LINK.name, kind)
        lanes = [at[log.value[at] == lane] for lane in (0, 1)]
        both = []
        for position in lanes[0].tolist():
            near = np.abs(log.cycle[lanes[1]] - log.cycle[position]) <= _EVENT_CYCLES
            if near.any():
                both.append(position)
        alone = len(at) - 2 * len(both)
        if len(both) > len(best.positions):
            best = Slips(log, kind, tuple(both), alone)
        elif not best.positions:
            best = Slips(log, best.kind, (), best.alone + alone)
    return best


def corrects_clock(facts: Facts, receiver: str) -> bool:
    """Return whether the receiver is known to insert or remove idles: then it corrects its clock."""
    counts = [facts.view.counter(receiver, name) for name in ("idles_inserted", "idles_removed")]
    return any(counts)


def lanes_slipped(facts: Facts, receiver: str) -> bool:
    """Return whether the lanes' own counts say that both slipped equally often."""
    for name in ("underflows", "overflows"):
        counts = [facts.view.value(receiver, f"frozen.lane.{name}", lane) for lane in (0, 1)]
        if counts[0] and counts[0] == counts[1]:
            return True
    return False


def drifts(facts: Facts, receiver: str) -> bool:
    """Return whether a receiver's lanes slipped together and it does not correct for that."""
    if corrects_clock(facts, receiver):
        return False
    slips = slips_of(facts, receiver)
    return (slips is not None and bool(slips.positions)) or lanes_slipped(facts, receiver)
