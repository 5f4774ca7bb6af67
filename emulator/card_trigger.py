"""The trigger of steps of a card that is described by a file: what ff_card_trigger_sequence makes of words.

Knows the cycles of the register bus alone. A word is taken in a cycle; the time of a step is over in a cycle in which
no word is taken. Source: docs/trigger.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from freezeframe.capture.card.trigger_steps import Mode, StepTrigger

LATENCY_CYCLES = 4
"""Bus cycles from a word's record to the cycle in which the steps take it, as most words need."""


class TakenWord(NamedTuple):
    """A word as it comes to the steps: number of its tap, its terms (one bit each), its cycle in the tap's clock."""

    tap: int
    terms: int
    cycle: int


class Reached(NamedTuple):
    """What completed a step: the word, or None where the time was over in bus cycle ``cycle``."""

    word: TakenWord | None
    cycle: int


@dataclass(slots=True)
class StepMachine:
    """The state since an arm in bus cycle ``entered``."""

    trigger: StepTrigger
    entered: int
    step: int = 0
    matches: int = 0
    fired: int | None = None
    reached: list[Reached] = field(default_factory=list)

    def ends_at(self) -> int | None:
        """Return the cycle in which the time of the step is over, and the step with it; None where it has none."""
        mode = self.trigger.steps[self.step].mode
        if self.fired is not None or mode not in (Mode.WITHIN, Mode.NOT_WITHIN):
            return None
        return self.entered + self.trigger.timer_cycles + 1

    def run_to(self, cycle: int) -> None:
        """Let the times be over that are before this cycle."""
        while (end := self.ends_at()) is not None and end < cycle:
            if self.step == 0 and self.trigger.steps[0].mode is Mode.WITHIN:
                whole = end - self.entered  # it begins anew again and again
                end += (cycle - 1 - end) // whole * whole
            self.end(end)

    def end(self, cycle: int) -> None:
        """Let the time of the step be over in this cycle."""
        if self.trigger.steps[self.step].mode is Mode.NOT_WITHIN:
            self._reach(Reached(None, cycle), cycle)
        else:
            self._begin_anew(cycle)

    def take(self, cycle: int, word: TakenWord) -> None:
        """Take a word in a cycle up to which `run_to` has run, and which is not `ends_at`."""
        if self.fired is not None:
            return
        step = self.trigger.steps[self.step]
        late = cycle - self.entered > self.trigger.timer_cycles
        if not step.when >> word.terms & 1 or (step.mode is Mode.AFTER and not late):
            return
        self.matches += 1
        if self.matches < max(1, step.count):
            return
        if step.mode is Mode.NOT_WITHIN:
            self._begin_anew(cycle)
        else:
            self._reach(Reached(word, word.cycle), cycle)

    def _reach(self, by: Reached, cycle: int) -> None:
        del self.reached[self.step :]
        self.reached.append(by)
        self.matches, self.entered = 0, cycle
        if self.step + 1 == len(self.trigger.steps):
            self.fired = cycle
        else:
            self.step += 1

    def _begin_anew(self, cycle: int) -> None:
        self.step, self.matches, self.entered = 0, 0, cycle
        self.reached.clear()


def played(
    trigger: StepTrigger, armed: int, words: Iterable[tuple[int, TakenWord]], until: int
) -> StepMachine:
    """Return what a trigger made of words, each with the bus cycle from which on it can be taken, in that order.

    Args:
        until: last bus cycle of the recording.
    """
    machine = StepMachine(trigger, armed)
    free = armed + 1
    for offered, word in words:
        at = max(offered, free)
        machine.run_to(min(at, until + 1))
        while at <= until and at == machine.ends_at():  # the word waits a cycle
            at += 1
            machine.run_to(min(at, until + 1))
        if at > until or machine.fired is not None:
            break
        machine.take(at, word)
        free = at + 1
    machine.run_to(until + 1)
    return machine
