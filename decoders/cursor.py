"""The change cursor: a place on one line that goes from change to change, over edges or over samples.

A rule about a line without a clock (a UART) is written once, with the functions here; which form it
is compiled for follows from the type of its line. A place is the index of an edge or of a sample, -1
for what was before the piece; what holds at a place holds until the next one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba.extending import overload

from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.plane_kernels import LANES, differs, lowest
from freezeframe.capture.files.samples import Samples

_ONE, _LANES = np.uint64(1), np.uint64(LANES)
_NEAR = np.uint64(16)  # samples


class EdgeLine(NamedTuple):
    """A line of a piece of edges: its level is 1 where ``value & mask`` is ``high``, and ``before`` it
    0, 1 or, at the begin of a capture, -1."""

    sample: npt.NDArray[np.int64]
    value: npt.NDArray[np.uint64]
    mask: np.uint64
    high: np.uint64
    before: int
    end_sample: int


class SampleLine(NamedTuple):
    """The same of a piece of samples, whose first is sample ``begin_sample`` of the capture."""

    begin_sample: int
    value: npt.NDArray[np.unsignedinteger[Any]]
    mask: np.uint64
    high: np.uint64
    before: int
    end_sample: int


def line_of(piece: Edges | Samples, *, invert: bool, before: int) -> EdgeLine | SampleLine:
    """Return the first channel of a piece as a line; ``before`` is its level in the piece before."""
    if isinstance(piece, Edges):
        mask = _ONE
        high = np.uint64(0) if invert else mask
        return EdgeLine(piece.sample, piece.value, mask, high, before, piece.end_sample)
    mask = piece.masks()[0]
    high = np.uint64(0) if invert else mask
    return SampleLine(piece.begin_sample, piece.data, mask, high, before, piece.end_sample)


# Each is what runs without numba, too; compiled, the one that fits the type of the line is taken.
def sample_at(line: Any, place: Any) -> Any:
    """Return the sample of a place, which is not -1."""
    return (_sample_of_edge if isinstance(line, EdgeLine) else _sample_of_sample)(line, place)


def place_at(line: Any, place: Any, sample: Any) -> Any:
    """Return the place, from ``place`` on, that holds at a sample of the piece."""
    return (_edge_at if isinstance(line, EdgeLine) else _sample_place)(line, place, sample)


def next_change(line: Any, place: Any) -> Any:
    """Return the next place with another level; one after the last where there is none."""
    return (_next_edge if isinstance(line, EdgeLine) else _next_sample)(line, place)


def level_at(line: Any, place: Any) -> Any:
    """Return the level, 0 or 1, at a place; -1 before the capture."""
    if place < 0:
        return np.int64(line.before)
    return np.int64(np.uint64(line.value[np.uint64(place)]) & line.mask == line.high)


def level_since(line: Any, place: Any) -> Any:
    """Return the sample where the level at a place began; -1 for one from before the piece."""
    level = level_at(line, place)
    if place < 0:
        return np.int64(-1)
    while place > 0 and level_at(line, place - 1) == level:
        place -= 1
    if place == 0 and line.before in (-1, level):
        return np.int64(-1)
    return np.int64(sample_at(line, place))


def _sample_of_edge(line: Any, place: Any) -> Any:
    return line.sample[np.uint64(place)]


def _sample_of_sample(line: Any, place: Any) -> Any:
    return line.begin_sample + place


def _edge_at(line: Any, place: Any, sample: Any) -> Any:
    while place + 1 < len(line.sample) and line.sample[np.uint64(place + 1)] <= sample:
        place += 1
    return place


def _sample_place(line: Any, place: Any, sample: Any) -> Any:
    return sample - line.begin_sample


def _next_edge(line: Any, place: Any) -> Any:
    level = level_at(line, place)
    place += 1
    while place < len(line.sample) and level_at(line, place) == level:
        place += 1
    return place


def _next_sample(line: Any, place: Any) -> Any:
    level = line.high if level_at(line, place) == 1 else line.mask ^ line.high
    i: Any = np.uint64(place + 1)
    count = np.uint64(len(line.value))
    # The next change is often near: then 64 samples at once take longer.
    near = min(i + _NEAR, count)
    while i < near:
        if np.uint64(line.value[i]) & line.mask != level:
            return np.int64(i)
        i += _ONE
    while i + _LANES <= count:
        changed = differs(line.value, i, line.mask, level)
        if changed:
            return np.int64(i) + lowest(changed)
        i += _LANES
    while i < count and np.uint64(line.value[i]) & line.mask == level:
        i += _ONE
    return np.int64(i)


@overload(sample_at)
def _pick_sample_at(line: Any, place: Any) -> Any:
    return _sample_of_edge if line.instance_class is EdgeLine else _sample_of_sample


@overload(place_at)
def _pick_place_at(line: Any, place: Any, sample: Any) -> Any:
    return _edge_at if line.instance_class is EdgeLine else _sample_place


@overload(next_change)
def _pick_next_change(line: Any, place: Any) -> Any:
    return _next_edge if line.instance_class is EdgeLine else _next_sample


@overload(level_at)
def _pick_level_at(line: Any, place: Any) -> Any:
    return level_at


@overload(level_since)
def _pick_level_since(line: Any, place: Any) -> Any:
    return level_since
