"""Numbers of a profile from samples, each with its 90 % interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_DRAWS = 400
_ENOUGH = 3  # times that the least of all samples must come up to be the cost itself
_SEED = 16
_FEW = 5  # samples; of fewer the bootstrap says too little, and one cycle (or ns) is added at either end


class Value(NamedTuple):
    """A number of the profile: its 90 % interval, how many samples it rests on, and what they are."""

    name: str
    value: float
    low: float
    high: float
    samples: int
    told_by: str


def exact(name: str, value: float, told_by: str) -> Value:
    """Return a number that the capture states."""
    return Value(name, value, value, value, 0, told_by)


def mean_of(name: str, samples: Sequence[float], told_by: str) -> Value:
    """Return the mean of a cost that differs from one time to the next; the interval by the bootstrap."""
    values = np.asarray(samples, np.float64)
    draws = np.random.default_rng(_SEED).integers(0, len(values), (_DRAWS, len(values)))
    low, high = np.quantile(values[draws].mean(axis=1), (0.05, 0.95))
    if len(values) < _FEW:
        low, high = max(0.0, low - 1), high + 1
    return Value(name, float(values.mean()), float(low), float(high), len(values), told_by)


def least_of(name: str, samples: Sequence[float], told_by: str) -> Value:
    """Return a fixed cost: the least of its samples, for the others waited for somebody.

    Where the least came up three times it is the cost; else it may be less by as much as the next one is more.
    """
    values = np.sort(np.asarray(samples, np.float64))
    least = float(values[0])
    beside = float(values[min(_ENOUGH, len(values)) - 1]) - least
    return Value(name, least, max(0.0, least - beside), least + beside, len(values), told_by)


def low_half_of(name: str, samples: Sequence[float], told_by: str) -> Value:
    """Return the mean of the lower half of the samples: a cost and where clocks meet, without waiting."""
    values = np.sort(np.asarray(samples, np.float64))
    return mean_of(name, values[: (len(values) + 1) // 2].tolist(), told_by)
