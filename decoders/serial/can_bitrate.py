"""Measure the bit rates of a CAN line: those at which its frames have the right CRC.

Pulses give rates that may be; the usual ones are tried as well, since the fast bits of CAN FD hide the others.
A CRC of 15 bits or more is right by chance so seldom that a few frames decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

_NOMINAL = (10, 20, 33.333, 50, 62.5, 83.333, 100, 125, 200, 250, 400, 500, 800, 1000)  # kbit/s
_FAST = (500, 1000, 1500, 2000, 2500, 3000, 4000, 5000, 6000, 8000)
LEAST_SAMPLES = 2  # of a bit


class Score(NamedTuple):
    """What frames at some rates are: with a right CRC, with another or broken off, and how many say that
    they switch to the fast rate."""

    good: int
    bad: int
    switching: int

    @property
    def merit(self) -> tuple[int, int]:
        return self.good, -self.bad


def measured_rates(
    samplerate_hz: int,
    from_pulses: Iterable[int],
    given: tuple[int, int],
    score: Callable[[int, int], Score],
) -> tuple[int, int] | None:
    """Return the nominal and the fast bit rate; None where no frame is right at any.

    Without a frame that switches the fast rate is the nominal one.

    Args:
        from_pulses: rates that the pulses of the line have, tried first.
        given: those that are known, 0 for one that is not.
        score: what the frames are at a nominal and a fast rate.
    """

    def candidates(known: int, usual: Iterable[float]) -> list[int]:
        rates = (known,) if known else (*from_pulses, *(round(1000 * rate) for rate in usual))
        return [rate for rate in rates if rate * LEAST_SAMPLES <= samplerate_hz]

    best, found = (0, 0), None
    for nominal in candidates(given[0], _NOMINAL):
        at_one = score(nominal, given[1] or nominal)
        tried = {given[1] or nominal: at_one}
        if at_one.switching and not given[1]:
            fasts = [fast for fast in candidates(0, _FAST) if fast > nominal]
            tried |= {fast: score(nominal, fast) for fast in fasts}
        for fast, scored in tried.items():
            if scored.good and (found is None or scored.merit > best):
                best, found = scored.merit, (nominal, fast)
    return found
