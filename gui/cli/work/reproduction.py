"""Experiments on emulated cards, each pulled over a real socket, and quantities measured from the captures.

A quantity knows what a paper says and how it is measured; what it comes to is computed by an analyzer from a
capture and by nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from freezeframe.analyzers.analysis import AnalysisResult
from freezeframe.analyzers.registry import load_analyses
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.errors import FreezeframeError, TargetError
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.recorder.state import read_state
from freezeframe.capture.registers.access import Device
from freezeframe.gui.cli.card_process import card_process
from freezeframe.gui.cli.work.session import open_logged, open_session

_WAIT_S = 120.0  # for the traffic of one experiment
_POLL_S = 0.05
_PS_PER_MS = 10**9
_FAST = 0.0  # speed: as fast as one core simulates


@dataclass(frozen=True, slots=True)
class Experiment:
    """Traffic on a pair of cards.

    Attributes:
        name: of its capture.
        what: in words, for people.
        options: of ``freezeframe emulate``: profile, workload, load.
        counter, least: the pair is frozen once this counter of A has reached so much.
    """

    name: str
    what: str
    options: tuple[str, ...]
    counter: str
    least: int
    seed: int = 1


class Run:
    """The capture of one experiment, and what analyses say of it; each analysis runs once."""

    def __init__(self, experiment: Experiment, path: Path) -> None:
        self.experiment = experiment
        self.path = path
        self._results: dict[str, AnalysisResult] = {}

    @cached_property
    def view(self) -> CaptureView:
        return CaptureView(CaptureFolder.open(self.path))

    def result(self, name: str) -> AnalysisResult:
        """Return what a named analysis says of the capture.

        Raises:
            InputError: there is no such analysis.
        """
        if name not in self._results:
            self._results[name] = load_analyses().find(name).run(self.view)
        return self._results[name]


@dataclass(frozen=True, slots=True)
class Measured:
    """What a quantity came to: the value, its uncertainty (half width, None where it is exact), a remark."""

    value: float
    uncertainty: float | None = None
    remark: str = ""


Measure = Callable[[Mapping[str, Run]], Measured]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of a paper.

    Attributes:
        key: for programs.
        label: for people.
        paper: as the paper gives it: one value, or the two ends of a range.
        unit: of all its values.
        tolerance: how far from the paper's value it still comes out: per cent of the value, and of a
            quantity in per cent percentage points. A range is met inside it; ``tolerance`` widens it.
        how: analysis and figure, in words.
        experiments: names of those whose captures it needs.
        measure: computes it.
        about: the paper says "about", "on the order of", "up to".
        kind: emerges, read back, fit, contradiction: see `reproduction_stages`.
    """

    key: str
    label: str
    paper: tuple[float, float]
    unit: str
    how: str
    experiments: tuple[str, ...]
    measure: Measure
    tolerance: float = 2.0
    about: str = ""
    kind: str = "emerges"

    @property
    def difference_unit(self) -> str:
        """What a difference from the paper is given in."""
        return "points" if self.unit == "%" else "%"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A quantity beside the paper's: ``difference`` from the paper's (from the nearer end of a range), in
    the quantity's ``difference_unit``; None where it could not be measured, and ``why`` says why.
    """

    quantity: Quantity
    measured: Measured | None
    difference: float | None
    comes_out: bool
    why: str = ""

    @property
    def verdict(self) -> str:
        """``yes``, ``no``, or ``contradiction``: no model can meet what the paper itself contradicts."""
        if self.quantity.kind == "contradiction" and self.measured is not None:
            return "contradiction"
        return "yes" if self.comes_out else "no"

    def to_json(self) -> dict[str, Any]:
        q, m = self.quantity, self.measured
        low, high = q.paper
        return {
            "quantity": q.key,
            "label": q.label,
            "kind": q.kind,
            "unit": q.unit,
            "paper": low if low == high else [low, high],
            "paper_says": q.about,
            "ours": None if m is None else m.value,
            "uncertainty": None if m is None else m.uncertainty,
            "difference": self.difference,
            "difference_unit": q.difference_unit,
            "tolerance": q.tolerance,
            "comes_out": self.comes_out,
            "verdict": self.verdict,
            "how": q.how,
            "captures": list(q.experiments),
            "remark": self.why or ("" if m is None else m.remark),
        }


def counted(outcomes: Sequence[Outcome]) -> str:
    """Return in one line how many numbers agree, those that emerge or are fitted apart from those read back."""
    of = {
        kinds: [outcome for outcome in outcomes if outcome.quantity.kind in kinds]
        for kinds in (("emerges", "fit"), ("fit",), ("read back",), ("contradiction",))
    }
    tried, fits, back, against = of.values()
    came, same = (sum(outcome.comes_out for outcome in part) for part in (tried, back))
    return (
        f"{came} of {len(tried)} numbers that emerge or are fitted agree; {len(fits)} of them are a fit with one free "
        f"parameter; {same} of {len(back)} that are read back; {len(against)} contradictions of the paper "
        "with itself."
    )


def run_experiment(experiment: Experiment, path: Path) -> Run:
    """Run the cards in a process of their own, let traffic run, freeze, and pull over UDP into ``path``.

    Raises:
        InputError: the emulator refuses the options.
        TargetError: it ended, or the traffic did not come, or the pull is not complete.
    """
    truth = path.with_suffix(".truth")
    with card_process("emulate", "none", experiment.seed, truth, _FAST, experiment.options) as (
        url,
        _,
    ):
        with open_session(url) as devices:
            _wait(devices[0], experiment)
        _pull(url, path)
    truth.unlink(missing_ok=True)
    return Run(experiment, path)


def judge(quantity: Quantity, runs: Mapping[str, Run], failed: Mapping[str, str]) -> Outcome:
    """Measure a quantity and hold it beside the paper's.

    Args:
        failed: experiments that could not be run, and why.
    """
    for name in quantity.experiments:
        if name in failed:
            return Outcome(quantity, None, None, False, f"{name}: {failed[name]}")
    try:
        measured = quantity.measure(runs)
    except (FreezeframeError, LookupError) as error:
        return Outcome(quantity, None, None, False, f"not measured: {error}")
    low, high = quantity.paper
    nearest = min(max(measured.value, low), high)
    difference = measured.value - nearest
    if quantity.difference_unit == "%":
        difference *= 100 / abs(nearest)
    return Outcome(quantity, measured, difference, abs(difference) <= quantity.tolerance)


def _wait(device: Device, experiment: Experiment) -> None:
    """Wait until a counter has reached what the experiment needs, or the cards froze by themselves."""
    end = time.monotonic() + _WAIT_S
    count = 0
    while time.monotonic() < end:
        count = device.counters().values[experiment.counter]
        if count >= experiment.least:
            return
        state = read_state(device)
        if state.state == "frozen":
            raise TargetError(
                f"{experiment.name}: card A froze by itself ({', '.join(state.causes)}) after {count} "
                f"{experiment.counter}"
            )
        time.sleep(_POLL_S)
    raise TargetError(
        f"{experiment.name}: {count} {experiment.counter} after {_WAIT_S:g} s; "
        f"{experiment.least} are needed"
    )


def _pull(url: str, path: Path) -> None:
    with open_logged(url) as target:
        report = pull(target, path, freeze=True)
    if not report.complete:
        raise TargetError(f"{url}: the pull brought home only a part of the recording")


def waits_per_ms(run: Run) -> float:
    """Return how often A waited for credit in a millisecond, over what its event log holds.

    Raises:
        LookupError: the log is empty.
    """
    times_ps = run.view.logs["A"].t_ps
    span_ps = int(times_ps[-1] - times_ps[0]) if len(times_ps) else 0
    if not span_ps:
        raise LookupError(f"{run.experiment.name}: the event log of A is empty")
    return int((run.view.trace.intervals["device"] == "A").sum()) * _PS_PER_MS / span_ps


def figure(run: Run, analysis: str, name: str) -> Measured:
    """Return a figure of an analysis as a measured value.

    Raises:
        LookupError: there is none, or it has no value; the message says why.
    """
    result = run.result(analysis)
    try:
        found = result.figure(name)
    except KeyError:
        told = "; ".join(result.notes) or "the capture does not hold it"
        raise LookupError(f"{run.experiment.name}: {analysis} gives no {name}: {told}") from None
    if found.value is None:
        raise LookupError(f"{run.experiment.name}: {name} has no value: {found.note}")
    return Measured(float(found.value), found.uncertainty, found.note)
