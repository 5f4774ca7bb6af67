"""A described card that runs: each arm lets its model run anew, and the freeze shows what it recorded.

The model runs by itself: what freezes it has done so before the host can look, and a run that nothing freezes waits for
the host.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from freezeframe.capture.card.recording import CardRecording
from freezeframe.capture.errors import InputError
from freezeframe.capture.targets.base import Words
from freezeframe.emulator.card_image import CardImage
from freezeframe.emulator.profile_files import profile_file
from freezeframe.emulator.sci.record import run_bridge

Run = Callable[[int], tuple[CardRecording, tuple[str, ...]]]
"""From a number of a run, 0 on, to its recording and what was done to the card, a line each."""


class Wanted(NamedTuple):
    """What a model is asked to run."""

    profile: str
    fault: str
    seed: int
    workload: str


def _sci(wanted: Wanted) -> Run:
    def run(number: int) -> tuple[CardRecording, tuple[str, ...]]:
        made = run_bridge(
            wanted.profile, wanted.fault, wanted.seed + number, wanted.workload or "mixed"
        )
        return made.recording, made.truth

    return run


MODELS: dict[str, Callable[[Wanted], Run]] = {"sci-bridge": _sci}
"""What runs a profile that says ``model = NAME``."""


def model_of(profile: str) -> str:
    """Return the model that a profile names; empty for a pair of cards.

    Raises:
        InputError: no such profile, or no such model.
    """
    file = profile_file(profile)
    model = str(file.said.get("model", ""))
    if model and model not in MODELS:
        raise InputError(
            f"{file.place(('model',))}: there is no model {model!r}; there are {', '.join(MODELS)}"
        )
    return model


class RunningCard(CardImage):
    """A target whose card runs at power-up and at every arm."""

    def __init__(self, wanted: Wanted, truth: Path | None = None, nonce: int | None = None) -> None:
        """Power it up: it has run once, and stands frozen.

        Args:
            truth: file to which what was done is added, a line each with the number of its run; None for none.
        Raises:
            InputError: the profile has no model, or its model knows no such fault or workload; or the truth file cannot
                be written.
        """
        model = model_of(wanted.profile)
        if not model:
            raise InputError(f"profile {wanted.profile} names no model that could run")
        self._run = MODELS[model](wanted)
        self._truth, self._runs = truth, 0
        if truth is not None:
            _written(truth, "w", [])
        drawn = int.from_bytes(os.urandom(4), "little") if nonce is None else nonce
        url = f"emu:?profile={wanted.profile}&fault={wanted.fault}&seed={wanted.seed}"
        super().__init__([self._recorded()], boot_nonce=drawn, url=url)

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        """Write registers; see ``Target.write``. An arm lets the card run.

        Raises:
            BusError: an address that cannot be written.
        """
        before = self.device(0).get("id.generation")
        super().write(address, words)
        if self.device(0).get("id.generation") != before:
            self.device(0).run_again(self._recorded())

    def _recorded(self) -> CardRecording:
        recording, truth = self._run(self._runs)
        self._runs += 1
        if self._truth is not None:
            _written(self._truth, "a", [f"run {self._runs}: {line}" for line in truth])
        return recording


def _written(path: Path, mode: str, lines: list[str]) -> None:
    try:
        with path.open(mode, encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    except OSError as error:
        raise InputError(f"{path}: the truth cannot be written: {error}") from error
