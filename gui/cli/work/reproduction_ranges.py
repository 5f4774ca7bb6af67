"""How free a fit is: how far each of its parameters can go while the numbers that are fitted by it still agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from freezeframe.emulator.profile_files import profile_file
from freezeframe.gui.cli.work.reproduction_stages import Bench, Judged, Row, judge_row

_FACTORS = (
    0.02,
    0.05,
    0.1,
    0.2,
    0.4,
    0.8,
)  # by which a number is moved until something no longer agrees
_CLOSE = 0.005  # of its value, to which the end of a range is then found
_MOST_STEPS = 64  # of a whole number


class Free(NamedTuple):
    """A parameter of a fit, its value, and the ends of its range; None: no end was met within 80 %, or 64."""

    name: str
    value: float
    low: float | None
    high: float | None

    def text(self) -> str:
        """Return it as ``epu_cycles 3 (3 to 3)``."""
        low, high = ("-" if end is None else f"{end:.4g}" for end in (self.low, self.high))
        return f"{self.name} {self.value:.4g} ({low} to {high})"


def free_parameters(judged: Sequence[Judged], values: Mapping[str, float | str]) -> list[Free]:
    """Return the parameters of a paper's fits with their ranges, each moved alone.

    Args:
        values: of each parameter its value, or the name of the profile that has it.
    """
    found = []
    for name in dict.fromkeys(name for one in judged for name in one.row.fitted):
        said = values[name]
        value = profile_file(said).said["parameter"][name] if isinstance(said, str) else said
        rows = [one.row for one in judged if name in one.row.fitted and one.agrees]

        agrees = partial(_agrees, name, value, rows)
        end = _whole_end if isinstance(value, int) else _end
        found.append(Free(name, value, end(value, -1, agrees), end(value, 1, agrees)))
    return found


def _agrees(name: str, value: float, rows: Sequence[Row], at: float) -> bool:
    bench = Bench({name: at}, only={name: value})
    return all(judge_row(row, bench).agrees for row in rows)


def _whole_end(value: float, sign: int, agrees: Callable[[float], bool]) -> float | None:
    for step in range(1, _MOST_STEPS + 1):
        at = int(value) + sign * step
        if at < 1 or not agrees(at):
            return at - sign
    return None


def _end(value: float, sign: int, agrees: Callable[[float], bool]) -> float | None:
    good = 0.0
    for factor in _FACTORS:
        if not agrees(value * (1 + sign * factor)):
            break
        good = factor
    else:
        return None
    bad = factor
    while bad - good > _CLOSE:
        middle = (good + bad) / 2
        good, bad = (middle, bad) if agrees(value * (1 + sign * middle)) else (good, middle)
    return value * (1 + sign * good)


def ranges_text(free: Sequence[Free]) -> str:
    """Return the ranges in one line; empty without a fit."""
    if not free:
        return ""
    return (
        f"Free in a fit, with how far each can go alone while the numbers fitted by it agree: "
        f"{', '.join(one.text() for one in free)}."
    )
