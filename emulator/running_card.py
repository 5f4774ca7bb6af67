"""Described cards that run: each arm lets their model run anew, and the freeze shows what it recorded.

The model runs by itself: what freezes it has done so before the host can look, and a run that nothing freezes waits for
the host. Several cards of one model run when all of them are armed; one that waits for others has recorded nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from freezeframe.capture.card.recording import CardRecording
from freezeframe.capture.code import code
from freezeframe.capture.errors import InputError
from freezeframe.capture.targets.base import Words
from freezeframe.emulator.card_image import CardImage, empty_recording
from freezeframe.emulator.profile_files import profile_file

# A model is loaded when a card of it runs: a pair of cards has none, and waits for no compiler.
_run_bridge = code("freezeframe.emulator.sci.record:run_bridge")
_run_pair = code("freezeframe.emulator.sci.record:run_pair")
_run_recorded = code("freezeframe.emulator.adapter.record:run_recorded")

Run = Callable[[int], tuple[Sequence[CardRecording], tuple[str, ...]]]
"""From a number of a run, 0 on, to the recording of each card and what was done to them, a line each."""


class Wanted(NamedTuple):
    """What a model is asked to run."""

    profile: str
    fault: str
    seed: int
    workload: str


def _sci(wanted: Wanted) -> Run:
    def run(number: int) -> tuple[Sequence[CardRecording], tuple[str, ...]]:
        made = _run_bridge(
            wanted.profile, wanted.fault, wanted.seed + number, wanted.workload or "mixed"
        )
        return (made.recording,), made.truth

    return run


def _sci_pair(wanted: Wanted) -> Run:
    def run(number: int) -> tuple[Sequence[CardRecording], tuple[str, ...]]:
        made = _run_pair(
            wanted.profile, wanted.fault, wanted.seed + number, wanted.workload or "mixed"
        )
        return made.recordings, made.truth

    return run


def _stages(wanted: Wanted) -> Run:
    if wanted.fault != "none":
        raise InputError(
            f"profile {wanted.profile} has no fault {wanted.fault!r}; a profile of stages has none"
        )

    def run(number: int) -> tuple[Sequence[CardRecording], tuple[str, ...]]:
        made, _ = _run_recorded(wanted.profile, wanted.seed + number, wanted.workload or "rising")
        return (made,), ()

    return run


MODELS: dict[str, Callable[[Wanted], Run]] = {
    "sci-bridge": _sci,
    "sci-pair": _sci_pair,
    "stages": _stages,
}
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
    """A target whose cards run at power-up and whenever all of them have been armed."""

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
        first = self._recorded()
        super().__init__(first, boot_nonce=drawn, url=url)
        self._cards = range(len(first))
        self._armed: set[int] = set()

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        """Write registers; see ``Target.write``. The arm of the last card lets all run.

        Raises:
            BusError: an address that cannot be written.
        """
        before = [self.device(n).get("id.generation") for n in self._cards]
        super().write(address, words)
        armed = {n for n in self._cards if self.device(n).get("id.generation") != before[n]}
        self._armed |= armed
        for n in armed:
            self.device(n).run_again(empty_recording(self.device(n).recording.card))
        if armed and len(self._armed) == len(self._cards):
            self._armed.clear()
            for n, recording in enumerate(self._recorded()):
                self.device(n).run_again(recording)

    def _recorded(self) -> Sequence[CardRecording]:
        recordings, truth = self._run(self._runs)
        self._runs += 1
        if self._truth is not None:
            _written(self._truth, "a", [f"run {self._runs}: {line}" for line in truth])
        return recordings


def _written(path: Path, mode: str, lines: list[str]) -> None:
    try:
        with path.open(mode, encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    except OSError as error:
        raise InputError(f"{path}: the truth cannot be written: {error}") from error
