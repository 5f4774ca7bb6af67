"""How far a pull is: counted while it reads, and reported to whoever shows it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a pull is. ``phase``: identity, freeze, crc, registers, memories, samples, writing;
    ``waiting`` while the target is gone. Words are 32-bit words that are verified."""

    phase: str
    words_done: int
    words_total: int
    retries: int
    outages: int
    waiting: bool = False


@dataclass(slots=True)
class Tally:
    """What one target has given so far; ``report`` is called with it often, from the pull's thread."""

    report: Callable[[Progress], None] | None = None
    phase: str = "identity"
    words_done: int = 0
    words_total: int = 0
    retries: int = 0
    outages: int = 0
    frozen: datetime | None = None  # when all recorders were first seen frozen
    froze: bool = False  # this pull froze them
    started_s: float = field(default_factory=time.monotonic)

    def begin(self, phase: str) -> None:
        """Enter a phase and report it."""
        self.phase = phase
        self.tell()

    def tell(self, *, waiting: bool = False) -> None:
        """Report how far the pull is."""
        if self.report is not None:
            self.report(
                Progress(
                    self.phase,
                    self.words_done,
                    self.words_total,
                    self.retries,
                    self.outages,
                    waiting,
                )
            )
