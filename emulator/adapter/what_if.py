"""Questions to a profile of stages: what one change buys, over ranges of values, and what each part is worth."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from freezeframe.capture.errors import InputError
from freezeframe.emulator.adapter.compiled import Compiled
from freezeframe.emulator.adapter.outcome import Outcome, run_adapter, run_compiled
from freezeframe.emulator.adapter.reading import Described, described
from freezeframe.emulator.adapter.remote import on_scheduler

FASTER = 1.01
"""How much faster a part is made to see what that buys."""

MOST_POINTS = 1_000_000
_EVEN = 9  # points of a range that does not span an octave or three
_OCTAVES = 8


class Worth(NamedTuple):
    """What a part is worth: the change of throughput and mean latency, in per cent, when it is 1 % faster."""

    part: str
    throughput: float
    latency: float


class Point(NamedTuple):
    """One point of a sweep: its settings, and what it showed (`Outcome.shown`)."""

    settings: dict[str, Any]
    shown: dict[str, Any]


def worths(outcome: Outcome) -> list[Worth]:
    """Return what 1 % of speed of each resource, and of each stage that uses none, buys; the dearest first."""
    compiled = outcome.compiled
    stages = compiled.described.adapter.stage
    parts: dict[str, list[int]] = {}
    for number, (name, stage) in enumerate(stages.items()):
        for part in stage.uses or [f"stage {name}"]:
            parts.setdefault(part, []).append(number)
    used = set(compiled.world.steps["stage"].tolist())
    found = [
        _worth(outcome, part, run_compiled(_faster(compiled, numbers)))
        for part, numbers in parts.items()
        if used.intersection(numbers)
    ]
    return sorted(found, key=lambda worth: (-abs(worth.throughput), worth.latency))


def _worth(before: Outcome, part: str, after: Outcome) -> Worth:
    gain = 100 * (after.throughput_MBps / before.throughput_MBps - 1) if before.bytes_ else 0.0
    was, now = before.latency_ns(), after.latency_ns()
    return Worth(part, gain, 100 * (now["mean"] / was["mean"] - 1) if was and was["mean"] else 0.0)


def _faster(compiled: Compiled, stages: list[int]) -> Compiled:
    steps = compiled.world.steps.copy()
    rows = np.isin(steps["stage"], stages)
    for name in ("fixed", "message", "segment", "byte", "beyond"):
        faster = steps[name][rows] / FASTER
        steps[name][rows] = faster if name in ("byte", "beyond") else np.rint(faster)
    return replace(compiled, world=compiled.world._replace(steps=steps))


def values_of(text: str) -> list[Any]:
    """Return the values of a sweep: ``a,b,c``; ``a..b``; ``a..b/N``, N evenly; ``a..b*F``, each F times the last.

    ``a..b`` doubles where b is 8 times a or more, else there are 9 values evenly.

    Raises:
        ValueError: it is none of these.
    """
    if ".." not in text:
        return [value_of(part) for part in text.split(",")]
    low_text, _, rest = text.partition("..")
    high_text, _, count_text = rest.partition("/")
    high_text, _, factor_text = high_text.partition("*")
    low, high = _number(low_text), _number(high_text)
    if high < low:
        raise ValueError(f"{text!r}: its end is before its beginning")
    if factor_text or (not count_text and low > 0 and high >= _OCTAVES * low):
        factor = _number(factor_text) if factor_text else 2
        if low <= 0 or factor <= 1:
            raise ValueError(
                f"{text!r}: begins at {low:g} and grows by {factor:g}; above 0 and above 1"
            )
        values = [low]
        while values[-1] * factor <= high:
            values.append(values[-1] * factor)
            if len(values) > MOST_POINTS:
                raise ValueError(f"{text!r}: more than {MOST_POINTS:,} values")
        return [_whole(value) for value in values]
    count = int(_number(count_text)) if count_text else _EVEN
    if not 1 < count <= MOST_POINTS:
        raise ValueError(f"{text!r}: {count:,} values; 2 to {MOST_POINTS:,}")
    whole = isinstance(low, int) and isinstance(high, int)
    values = [low + (high - low) * i / (count - 1) for i in range(count)]
    return list(dict.fromkeys(round(value) if whole else value for value in values))


def value_of(text: str) -> Any:
    """Return a value as the command line gives it: a number, true, false, a list ``[a b]``, a formula, or text."""
    text = text.strip()
    if text in ("true", "false"):
        return text == "true"
    if text.startswith("[") and text.endswith("]"):
        return [value_of(part) for part in text[1:-1].split()]
    try:
        return _number(text)
    except ValueError:
        return text


def _number(text: str) -> int | float:
    try:
        return int(text.replace("_", ""))
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a number") from None


def _whole(value: float) -> int | float:
    return int(value) if float(value).is_integer() else value


def grid(sweeps: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Yield every combination of the values of several keys, the last key fastest."""
    for values in itertools.product(*sweeps.values()):
        yield dict(zip(sweeps, values, strict=True))


def sweep(
    base: Described,
    settings: Mapping[str, Any],
    sweeps: Mapping[str, Sequence[Any]],
    progress: Callable[[int, int], None] | None = None,
    scheduler: str = "",
) -> list[Point]:
    """Run a profile at every point of a grid, on all cores, or on the machines of a Dask scheduler.

    Args:
        scheduler: its address, ``tcp://HOST:8786``.
    Raises:
        InputError: a value is not allowed; nothing is returned then. Or there are more than a million points; or the
            scheduler cannot be used (`remote.on_scheduler`).
    """
    points = list(grid(sweeps))
    if len(points) > MOST_POINTS:
        raise InputError(f"{len(points):,} points; a sweep has at most {MOST_POINTS:,}")

    if scheduler:
        shown = on_scheduler(
            scheduler,
            base.file,
            [{**settings, **point} for point in points],
            progress,
            list(sweeps),
        )
        return [Point(point, one) for point, one in zip(points, shown, strict=True)]

    def one(point: dict[str, Any]) -> Point:
        return Point(point, run_adapter(described(base.file, {**settings, **point}, point)).shown())

    found: list[Point] = []
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        for point in workers.map(one, points):
            found.append(point)
            if progress is not None:
                progress(len(found), len(points))
    return found
