"""The trigger unit: watches the words of one tap and says in which cycle it fires. Knows cycles only.

A word matches a term when its kind is one of the term's and its data agree in the masked bits. With `edge` a match
counts only when the word before, at the same tap, did not match that term. With `sequence` the matches of term 1 count
after a match of term 0, on later words, within `limit` cycles of it; past the limit the unit waits for term 0 again.
It fires once an arm, on match number `count` of the last term; the freeze cause is that of the following cycle.

Source: register file ``trigger`` of firmware-hooks/registers/freezeframe.rdl; docs/formats.md section 2, rule 4.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from freezeframe.emulator.memory import Kinds, Words


@dataclass(slots=True)
class Term:
    """What a word must be. All as in the registers."""

    value: int = 0
    mask: int = 0
    kinds: int = 0


@dataclass(slots=True)
class Trigger:
    """Configuration and state of the unit; call `reset` after changing the configuration."""

    enable: bool = False
    tap: int = 0
    edge: bool = False
    sequence: bool = False
    count: int = 0
    limit: int = 0
    terms: tuple[Term, Term] = field(default_factory=lambda: (Term(), Term()))
    fired: bool = False
    steps: list[int] = field(
        default_factory=list
    )  # cycles in which a sequence began; not yet taken
    _before: list[bool] = field(default_factory=lambda: [False, False])
    _since: int | None = None
    _matches: int = 0

    def reset(self) -> None:
        """Forget what was seen: as after an arm or a write to the configuration."""
        self.fired = False
        self.steps.clear()
        self._before = [False, False]
        self._since = None
        self._matches = 0

    def feed(self, cycle: int, kinds: Kinds, data: Words) -> int | None:
        """Look at words of consecutive cycles. Return the cycle of the word on which the unit fires, else None."""
        if not self.enable or self.fired or not len(data):
            return None
        hits = [self._hits(number, kinds, data) for number in (0, 1)]
        needed = max(1, self.count)
        for place in np.flatnonzero(hits[0] | hits[1]).tolist():
            now = cycle + place
            if not self.sequence:
                if hits[0][place]:
                    self._matches += 1
            elif self._since is None or (self.limit and now - self._since > self.limit):
                self._since = now if hits[0][place] else None
                self._matches = 0
                if hits[0][place]:
                    self.steps.append(now)
                continue
            elif hits[1][place]:
                self._matches += 1
            if self._matches >= needed:
                self.fired = True
                return now
        return None

    def _hits(self, number: int, kinds: Kinds, data: Words) -> npt.NDArray[np.bool_]:
        term = self.terms[number]
        same: npt.NDArray[np.bool_] = (data ^ np.uint64(term.value)) & np.uint64(term.mask) == 0
        same &= (np.uint32(term.kinds) >> kinds.astype(np.uint32)) & 1 == 1
        if not self.edge:
            return same
        before: npt.NDArray[np.bool_] = np.concatenate([[self._before[number]], same[:-1]])
        self._before[number] = bool(same[-1])
        same &= ~before
        return same
