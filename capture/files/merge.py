"""Two captures on one time base: offset and drift given, or estimated from edges both have seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from freezeframe.capture.errors import InputError
from freezeframe.capture.files.changes import ChangeMerger
from freezeframe.capture.files.edges import Edges

__all__ = ["Alignment", "estimate", "merge"]

_NEVER = np.iinfo(np.int64).max
_MIN_SHARED = 4
_PPM = 10**6
_MAX_DRIFT_PPM = 1000
_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Alignment:
    """Where a sample of the second capture lies in the first: ``offset_ps`` plus its own time,
    longer by ``drift_ppm``.

    ``shared`` edges agree within ``worst_ps``; both are 0 where the alignment was given.
    """

    offset_ps: int
    drift_ppm: Fraction = Fraction(0)
    shared: int = 0
    worst_ps: int = 0


def merge(first: Iterable[Edges], second: Iterable[Edges], alignment: Alignment) -> Iterator[Edges]:
    """Yield both as one capture, at the rate of the first, from its sample 0 to its end.

    Channels of the second whose names are those of the first get ``2.`` in front. What lies
    outside the first is not there; before the second begins and after its end its first and last
    value stand.

    Raises:
        InputError: there are more than 64 channels, or the second lies outside the first.
    """
    left = _Stream(iter(first))
    right = _Stream(iter(second))
    here, there = left.piece, right.piece
    rate_hz = here.samplerate_hz
    names = {name: f"2.{name}" if name in here.channels else name for name in there.channels}
    channels = (*here.channels, *names.values())
    if len(channels) > 64 or len(set(channels)) < len(channels):
        raise InputError(
            f"merge: {len(here.channels)} and {len(there.channels)} channels; at most 64 together, "
            "each with a name of its own"
        )
    # Exact: sample of the first = begin + sample of the second * slope, to the nearest.
    slope = Fraction(rate_hz, there.samplerate_hz) * (1 + alignment.drift_ppm / _PPM)
    begin = Fraction(alignment.offset_ps * rate_hz, 10**12)
    merger = ChangeMerger(channels, rate_hz, here.buses)
    low = np.uint64((1 << len(here.channels)) - 1)
    high = np.uint64((1 << len(channels)) - 1) & ~low
    shift = np.uint64(len(here.channels))
    seen = False
    while left.left:
        edges = left.take()
        upto = edges.end_sample
        parts = [(edges.sample, np.full_like(edges.value, low), edges.value)]
        while right.left and _moved(right.piece.begin_sample, begin, slope) < upto:
            other = right.piece
            at = _placed(other.sample, begin, slope)
            count = int(np.searchsorted(at, upto))
            at, value = at[:count], other.value[:count]
            # What lies before the first capture begins is where the second one starts.
            early = int(np.searchsorted(at, edges.begin_sample, side="right")) - 1
            if early > 0:
                at, value = at[early:], value[early:]
            at = np.maximum(at, edges.begin_sample)
            seen |= bool(count) and _moved(other.end_sample, begin, slope) > 0
            parts.append((at, np.full_like(value, high), value << shift))
            if not right.skip(count, upto, lambda sample: _moved(sample, begin, slope)):
                break
        sample = np.concatenate([part[0] for part in parts])
        order = np.argsort(sample, kind="stable")
        yield from merger.feed(
            sample[order],
            np.concatenate([part[1] for part in parts])[order],
            np.concatenate([part[2] for part in parts])[order],
        )
    if not seen:
        raise InputError(
            f"merge: the second capture, {alignment.offset_ps} ps later, lies outside the first"
        )
    yield from merger.finish(left.end)
