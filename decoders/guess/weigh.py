"""How often a proposal with such evidence is right.

Each kind of evidence has a weight with a reason; nothing here is fitted but the last step, from the sum to a
frequency, which is two numbers measured on captures whose protocol is known, and judged on folders that they were not
measured on (``make campaign-guess``, docs/campaign-guess.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log2
from typing import NamedTuple

_ENOUGH = 6.0  # log2 of the good rows; more add nothing
_MOST_BITS = 12.0  # of names


@dataclass(frozen=True, slots=True)
class Weighed:
    """Evidence in numbers; see `candidate.Finding` and `names.Named`. ``lines`` is how many it explains."""

    good: int
    bad: int
    explained: float
    bits_for: float
    bits_against: float
    rare_bits: float
    lines: int = 1

    @property
    def share_bad(self) -> float:
        """The share of rows in error; all of none."""
        rows = self.good + self.bad
        return self.bad / rows if rows else 1.0


class Weight(NamedTuple):
    """A kind of evidence: its measure, what one of it adds to the logarithm of the odds, and why."""

    name: str
    measure: Callable[[Weighed], float]
    weight: float
    why: str


WEIGHTS = (
    Weight(
        "none yet", lambda w: 1.0, -7.0, "of all decoders on all lines one in a thousand is right"
    ),
    Weight(
        "log2 of the good rows, at most 6",
        lambda w: min(_ENOUGH, log2(1 + w.good)),
        0.5,
        "twice as many leave chance less room, but noise that is periodic repeats its luck",
    ),
    Weight(
        "share of rows in error",
        lambda w: w.share_bad,
        -12.0,
        "a bus has an error in a hundred rows, a wrong decoder one in three",
    ),
    Weight(
        "share of the edges explained",
        lambda w: w.explained,
        6.0,
        "a decoder that is right leaves nothing over; chance leaves a third",
    ),
    Weight(
        "lines explained beside the first",
        lambda w: w.lines - 1.0,
        0.7,
        "that one more line keeps to the rules halves the room for chance",
    ),
    Weight(
        "bits of names for it, at most 12",
        lambda w: min(_MOST_BITS, w.bits_for),
        0.8,
        "a bit is a factor of two (0.7) by its meaning, and few lines are named wrongly",
    ),
    Weight(
        "bits of names against it, at most 12",
        lambda w: min(_MOST_BITS, w.bits_against),
        -0.6,
        "likewise; who calls a line MOSI means it",
    ),
    Weight(
        "bits by which options are rare",
        lambda w: w.rare_bits,
        -0.7,
        "a bit is a factor of two by its meaning",
    ),
)
CALIBRATION = (1.25, 0.09)
"""From the sum of the weights to the logarithm of the odds: a factor, and what is added."""
MOST = 0.98
"""The most that is said of any proposal: of the 226 captures that scored 97 % and more all were right
(docs/campaign-guess.md), which does not exclude one wrong in a hundred: with 95 % confidence at most 1.3 %,
1 - 0.05 ** (1 / 226)."""
MOST_AGAINST = 0.95
"""The most of one with something against it: of the captures above 62 were such, all right; likewise at most 4.8 %."""


def points(weighed: Weighed) -> float:
    """Return the sum of the weights."""
    return sum(each.weight * each.measure(weighed) for each in WEIGHTS)


def frequency(total: float, calibration: tuple[float, float] = CALIBRATION) -> float:
    """Return how often a proposal of so many points is right, 0 to 1."""
    odds = calibration[0] * total + calibration[1]
    return 1 / (1 + exp(-max(-30.0, min(30.0, odds))))
