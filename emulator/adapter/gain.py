"""What a change buys on a profile that was fitted to a capture, with its 90 % interval.

Each parameter is drawn from its own interval (normally distributed), and profile and change run with the
same draws: what both have in common cancels. So the draws tell how sure the parameters are, and nothing of what the
model itself leaves out. Of that a capture tells one number, by how much the profile misses its own latency (the
misfit), at one point, where errors may cancel; a change moves away from there, and the error with it. The interval is
widened by the whole misfit, in proportion to the time that the change leaves, and no misfit counts for less than
`_LEAST_MISFIT`: a small one is luck as often as it is a good model (docs/campaign-what-if.md has the count).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from freezeframe.emulator.adapter.outcome import Outcome, run_adapter
from freezeframe.emulator.adapter.reading import Fitted, described

DRAWS = 40
_SEED = 90
_SIGMAS = 1.6449  # half of a 90 % interval, of a normal distribution
_OF_MISFIT = 100.0  # points: all that profile and capture differ in may be of what is changed
_LEAST_MISFIT = 0.005  # counted on pairs 100 to 189 of the campaign, as _OF_MISFIT is
_LEAST_HALF = 0.1  # points: a clock cycle here or there


@dataclass(frozen=True, slots=True)
class Gain:
    """A change in per cent, and its 90 % interval."""

    value: float
    low: float
    high: float


def gains(base: Outcome, changed: Outcome, settings: Mapping[str, Any]) -> dict[str, Gain]:
    """Return what a change does to ``throughput`` and ``mean_latency`` of a fitted profile.

    Args:
        base: a run of the profile; changed: of it with ``settings``.
    Raises:
        ValueError: the profile was not fitted.
    """
    profile = base.compiled.described
    if profile.fit is None:
        raise ValueError(f"{profile.file.name} has no [fit]")
    drawn = _draws(profile.fit)

    def both(values: Mapping[str, float]) -> tuple[float, float]:
        before = run_adapter(described(profile.file, values))
        after = run_adapter(described(profile.file, {**values, **settings}))
        return _change(before, after)

    with ThreadPoolExecutor(os.cpu_count()) as workers:
        found = np.array(list(workers.map(both, drawn)), np.float64).reshape(-1, 2)
    answers = {}
    for place, (name, value) in enumerate(
        zip(("throughput", "mean_latency"), _change(base, changed), strict=True)
    ):
        low, high = np.quantile(found[:, place], (0.05, 0.95)) - np.median(found[:, place])
        more = float(np.hypot(profile.fit.misfit, _LEAST_MISFIT)) * (abs(value) + _OF_MISFIT)
        answers[name] = Gain(
            value,
            value - max(_LEAST_HALF, float(np.hypot(low, more))),
            value + max(_LEAST_HALF, float(np.hypot(high, more))),
        )
    return answers


def _draws(fit: Fitted) -> list[dict[str, float]]:
    random = np.random.default_rng(_SEED)
    drawn: list[dict[str, float]] = [{} for _ in range(DRAWS)]
    for name, (low, high) in fit.intervals.items():
        if low < high:
            values = random.normal(fit.values[name], (high - low) / 2 / _SIGMAS, DRAWS)
            for one, value in zip(drawn, np.maximum(values, 0.0), strict=True):
                one[name] = float(value)
    return drawn


def _change(before: Outcome, after: Outcome) -> tuple[float, float]:
    """Return the change of throughput and of mean latency in per cent."""
    was, now = before.latency_ns(), after.latency_ns()
    throughput = (
        100 * (after.throughput_MBps / before.throughput_MBps - 1) if before.bytes_ else 0.0
    )
    return throughput, 100 * (now["mean"] / was["mean"] - 1) if was and was["mean"] else 0.0
