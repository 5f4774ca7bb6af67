"""How far a time between two clock domains of a capture can be wrong.

Within one domain the offset to the master is the same at both ends of a span and cancels: what is
left is the error of the rate over the span. Between two domains both offsets count in full.

Source: docs/formats.md section 6; `freezeframe.capture.timebase` for how a domain is related.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from freezeframe.capture.timebase import (
    DRIFT_PPB_PER_S,
    UNKNOWN_PS,
    DomainClock,
    TimeBase,
)

Int64 = npt.NDArray[np.int64]

_ROUNDING_PS = 2  # each end is rounded down to picoseconds
_PPB = 10**9


@dataclass(frozen=True, eq=False, slots=True)
class Moments:
    """Times of one kind of event, all of one clock domain.

    Attributes:
        device, domain: the domain that dated them.
        t_ps, t_unc_ps: ``(n,)`` int64 as in the event tables; -1 in ``t_unc_ps`` is unknown.
    """

    device: str
    domain: str
    t_ps: Int64
    t_unc_ps: Int64


def span_uncertainty_ps(timebase: TimeBase, begin: Moments, end: Moments) -> Int64:
    """Return the half width of each span ``end.t_ps - begin.t_ps``.

    Args:
        begin, end: as many moments each, in pairs.
    Returns:
        ``(n,)`` int64 picoseconds; `UNKNOWN_PS` where the two domains have no known relation. The
        same domain always has one: its own clock, exact to its rate.
    Raises:
        KeyError: the time base does not hold a domain.
        ValueError: the two have different lengths.
    """
    if len(begin.t_ps) != len(end.t_ps):
        raise ValueError(f"{len(begin.t_ps)} begins and {len(end.t_ps)} ends; they go in pairs")
    clock = timebase.clocks[begin.device, begin.domain]
    if (begin.device, begin.domain) == (end.device, end.domain):
        span_ps = np.abs(end.t_ps - begin.t_ps)
        return _rate_error_ps(span_ps, clock)
    known = (begin.t_unc_ps >= 0) & (end.t_unc_ps >= 0)
    return np.where(known, begin.t_unc_ps + end.t_unc_ps, np.int64(UNKNOWN_PS))


def alignment_notes(timebase: TimeBase) -> list[str]:
    """Return a sentence for each domain whose times are not measured against the master's."""
    notes = []
    for (device, domain), clock in sorted(timebase.clocks.items()):
        if clock.relation == "none":
            notes.append(
                f"{device}.{domain}: no relation to the other clocks was recorded; times between it "
                "and another are not given"
            )
        elif clock.relation == "one pair":
            notes.append(
                f"{device}.{domain}: one time pair only: its rate is taken as nominal, and times "
                "between it and another are as uncertain as stated"
            )
    return notes


def _rate_error_ps(span_ps: Int64, clock: DomainClock) -> Int64:
    """Return how far a span in one domain is off because its rate is not known exactly."""
    if clock.relation == "master":
        return np.full(len(span_ps), 0, np.int64)
    rate_ppb = clock.tolerance_ppb
    if clock.relation == "two pairs" and clock.pairs is not None:
        cycles = max(1, clock.pairs[1] - clock.pairs[0])
        drift_ppb = cycles * DRIFT_PPB_PER_S // clock.clk_hz + 1
        # Each pair is within half a cycle: one cycle in all of the distance between them. What the crystal may be off
        # its nominal clock bounds the rate, and not how far the measured one is off that.
        rate_ppb = _PPB // max(1, cycles - 1) + 1 + drift_ppb
    # Split, because a span of days times parts in 10^9 leaves int64.
    whole, rest = np.divmod(span_ps, _PPB)
    error: Int64 = whole * rate_ppb + rest * rate_ppb // _PPB + 1 + _ROUNDING_PS
    return error
