"""The clocked stage: where the clock of a bus has its active edge, and what all lines say there.

A rule of a clocked protocol (SPI, JTAG, MDIO, a parallel bus) is written once, on `Clocks`. This stage
makes them of edges or of samples, which may come in any mix, in parts of a bounded size: a rule that
reads them while they are in the cache costs no more than one that looks at the samples itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from freezeframe.capture.files.edges import PLANE_CHANNELS, Edges
from freezeframe.capture.files.plane_kernels import LANES, count_ones, differs, lowest, moves
from freezeframe.capture.files.samples import Samples

MARK = np.uint64(1 << 63)  # in `Clocks.low`: a line changes that is not the clock
STILL = np.uint64(1 << 62)  # beside MARK: and the clock does not change in this sample

_SAMPLES_AT_ONCE = 1 << 18
_EDGES_AT_ONCE = 1 << 17
_ONE, _NONE = np.uint64(1), np.uint64(0)
_ALL = ~_NONE
_MARKS = MARK | STILL
_LANES = np.uint64(LANES)
_LIFTED = np.uint64(
    64 * LANES
)  # samples whose clocks are in the nearest cache when they become channels

# Each is a mask of the low 64 channels, ``watch_high`` of the others.
CLOCKING = np.dtype(
    [
        ("watch", np.uint64),  # the lines of which a change is looked for
        ("watch_high", np.uint64),
        ("falling", np.uint64),  # those of which the falling edge counts
        ("both", np.uint64),  # those of which any change does
        ("marked", np.uint64),  # those of them that are not the clock
        ("gated", np.uint64),  # 1: a marked change counts only while the clock is high
        ("before", np.uint64),  # 1: the lines are read right before the edge, 0: with it
    ]
)

_STATE = np.dtype([("started", np.uint64), ("low", np.uint64), ("high", np.uint64)])


class Clocks(NamedTuple):
    """The sample of each active edge, and the levels of the channels there, ``(n,)`` each.

    ``low`` has bit i = channel i, ``high`` bit i = channel 64 + i; ``high`` is empty for a capture of
    up to 64 channels. Where a marked line changes, ``low`` has MARK, and STILL unless the clock
    changes in the same sample.
    """

    sample: npt.NDArray[np.int64]
    low: npt.NDArray[np.uint64]
    high: npt.NDArray[np.uint64]

    def cut(self, first: int, stop: int | None = None) -> Clocks:
        """Return the clocks ``[first, stop)``, a view."""
        return Clocks(self.sample[first:stop], self.low[first:stop], self.high[first:stop])


def clocking(
    watch: int,
    *,
    falling: bool = False,
    both: bool = False,
    before: bool = False,
    marked: int = 0,
    gated: bool = False,
) -> npt.NDArray[np.void]:
    """Return which edges are active, a record of CLOCKING.

    Args:
        watch: the clock as a mask of channels, or all lines of a bus without one (with ``both``).
        falling, both: which of its edges are active; the rising one by default.
        before: read the lines right before the edge.
        marked: other lines, among the low 62 channels, any change of which is wanted too. The first
            sample of the capture is then one.
        gated: of those only changes while the clock is high.
    """
    record = np.zeros(1, dtype=CLOCKING)
    low = watch & (1 << PLANE_CHANNELS) - 1
    record["watch"] = low | marked
    record["watch_high"] = watch >> PLANE_CHANNELS
    record["falling"] = low if falling else 0
    record["both"] = (low if both else 0) | marked
    record["marked"] = marked
    record["before"] = before
    record["gated"] = gated
    return record


class Clocked:
    """The clocks of a capture that comes in pieces."""

    def __init__(self) -> None:
        self._state = np.zeros(1, dtype=_STATE)
        # Room that is kept: to get it for each part costs as much as filling it.
        self._room = Clocks(np.empty(0, np.int64), np.empty(0, np.uint64), np.empty(0, np.uint64))

    def parts(self, piece: Edges | Samples, how: npt.NDArray[np.void]) -> Iterator[Clocks]:
        """Give the clocks of a piece, part by part; a part is overwritten by the next.

        Args:
            how: from `clocking`, the same for all pieces.
        """
        wide = any(piece.channels[PLANE_CHANNELS:])
        at_once = _SAMPLES_AT_ONCE if isinstance(piece, Samples) else _EDGES_AT_ONCE
        size = min(at_once, len(piece))
        if len(self._room.sample) <= size or len(self._room.high) < wide:
            high = np.empty(size + 1 if wide else 0, np.uint64)
            self._room = Clocks(np.empty(size + 1, np.int64), np.empty(size + 1, np.uint64), high)
        rule, state = how[0], self._state[0]
        lines = _lines_of(piece.bits, rule) if isinstance(piece, Samples) else None
        for begin in range(0, len(piece), max(size, 1)):
            part = slice(begin, begin + size)
            if isinstance(piece, Samples):
                first = piece.begin_sample + begin
                count = _from_samples(piece.data[part], first, lines, rule, state, self._room)
            else:
                high = _no_high if piece.high is None else piece.high[part]
                edges = piece.sample[part], piece.value[part], high
                count = _from_edges(edges, rule, state, self._room)
            yield self._room.cut(0, count)


_no_high = np.zeros(0, dtype=np.uint64)


class _Lines(NamedTuple):
    """Where the lines are in a sample: masks of the clock and of what is marked, and of the low and
    the high channels runs that lie side by side, ``(n, 3)``: shift right, mask, shift left; n >= 2."""

    clock: np.uint64
    marked: np.uint64
    low: npt.NDArray[np.uint64]
    high: npt.NDArray[np.uint64]


def _lines_of(bits: tuple[int, ...], rule: np.void) -> _Lines:
    watch, watch_high, marked = (int(rule[name]) for name in ("watch", "watch_high", "marked"))
    return _lines(bits, watch & ~marked | watch_high << PLANE_CHANNELS, marked)


@lru_cache(maxsize=64)
def _lines(bits: tuple[int, ...], clock: int, marked: int) -> _Lines:
    masks = [
        sum(1 << bit for place, bit in enumerate(bits) if channels >> place & 1 and bit >= 0)
        for channels in (clock, marked)
    ]
    low, high = together_runs(bits[:PLANE_CHANNELS]), together_runs(bits[PLANE_CHANNELS:])
    return _Lines(np.uint64(masks[0]), np.uint64(masks[1]), low, high)


def together_runs(bits: tuple[int, ...]) -> npt.NDArray[np.uint64]:
    """Return the runs by which `together` makes channels of a sample, as `_Lines` have them."""
    runs: list[list[int]] = []
    for place, bit in enumerate(bits):
        if bit < 0:
            continue
        if runs and bit == runs[-1][0] + runs[-1][1] and place == runs[-1][2] + runs[-1][1]:
            runs[-1][1] += 1
        else:
            runs.append([bit, 1, place])
    plan = [(bit, (1 << size) - 1, place) for bit, size, place in runs]
    return np.array(plan + [(0, 0, 0)] * (2 - len(plan)), dtype=np.uint64)


@njit(cache=True, nogil=True)
def _from_edges(edges: Any, how: Any, s: Any, clocks: Any) -> int:
    """Fill ``clocks``, one place longer than there are edges; return how many they are."""
    sample, value, value_high = edges
    at, low_at, high_at = clocks
    wide = len(value_high) > 0
    if len(sample) == 0:
        return 0
    rule = how.watch & ~how.marked, how.falling, how.both, how.marked, how.gated != 0
    watch_high, before = how.watch_high, how.before
    count = _begin(sample[0], value[0], value_high[0] if wide else _NONE, how, s, clocks)
    last, last_high = s.low, s.high
    for i in range(len(sample)):
        now = value[i]
        active, marks = _active(now ^ last, now, rule)
        # Written always and counted when it is a clock: no branch to predict.
        at[count] = sample[i]
        low_at[count] = (last if before else now) | marks
        if wide:
            now_high = value_high[i]
            active |= (now_high ^ last_high) & watch_high
            high_at[count] = last_high if before else now_high
            last_high = now_high
        count += active != 0
        last = now
    s.low = last
    s.high = last_high
    return count


@njit(inline="always")
def _active(changed: Any, now: Any, rule: Any) -> tuple[Any, Any]:
    """Return the lines of which an edge is active, and the marks of this sample."""
    clock, falling, both, marked, gated = rule
    moved = changed & marked
    if gated and now & clock == 0:
        moved = _NONE
    marks = _NONE
    if moved:
        marks = MARK if changed & clock else MARK | STILL
    return changed & clock & ((now ^ falling) | both) | moved, marks


@njit(cache=True, nogil=True)
def _from_samples(data: Any, begin_sample: int, lines: Any, how: Any, s: Any, clocks: Any) -> int:
    """Fill ``clocks``, one place longer than there are samples; return how many they are."""
    at, low_at, high_at = clocks
    length = np.uint64(len(data))
    if length == 0:
        return 0
    low, high = together(data[0], lines.low), together(data[0], lines.high)
    first = np.uint64(_begin(begin_sample, low, high, how, s, clocks))
    # The first sample against the one before it, as from edges.
    rule = how.watch & ~how.marked, how.falling, how.both, how.marked, how.gated != 0
    hit, marks = _active(low ^ s.low, low, rule)
    count = first
    if hit | (high ^ s.high) & how.watch_high:
        at[count] = begin_sample
        low_at[count] = (s.low if how.before else low) | marks
        if len(high_at):
            high_at[count] = s.high if how.before else high
        count += _ONE
    stop = length - (length - _ONE) % _LANES
    i: Any = _ONE
    while i < length:
        here = count
        if i < stop:
            end = min(i + _LIFTED, stop)
            count, marks = _take_blocks(data, begin_sample, (i, end), lines, how, at, low_at, count)
        else:
            end = length
            count, marks = _take_few(data, begin_sample, (i, end), lines, how, at, low_at, count)
        _lift(lines, clocks, here, count)
        if marks:
            _move_marks(clocks, here, count)
        i = end
    last = data[length - _ONE]
    s.low, s.high = together(last, lines.low), together(last, lines.high)
    return np.int64(count)  # type: ignore[return-value]  # numba's int64 is an int


@njit(cache=True, nogil=True)
def _begin(sample: int, low: Any, high: Any, how: Any, s: Any, clocks: Any) -> int:
    """Take the first sample of a capture, before which nothing changed; return the clocks it gives."""
    if s.started:
        return 0
    s.started = 1
    s.low, s.high = low, high
    if how.marked == 0:
        return 0
    clocks[0][0], clocks[1][0] = sample, low | MARK | STILL
    if len(clocks[2]):
        clocks[2][0] = high
    return 1


@njit(cache=True, nogil=True)
def _take_blocks(
    data: Any, begin_sample: int, span: Any, lines: Any, how: Any, at: Any, taken: Any, count: Any
) -> tuple[Any, bool]:
    """Write the clocks in whole blocks of 64 samples, each with its sample as it is, and the marks in ``at``,
    for `_lift` and `_move_marks`; return the next place, and whether there are marks. Before ``span`` there is a
    sample."""
    clock, marking = lines.clock, lines.marked
    both = bool(how.both & ~how.marked) or how.watch_high != 0
    falling = _ALL if how.falling else _NONE
    gated, back, offset = how.gated != 0, how.before, np.uint64(begin_sample)
    levelled = gated or not both
    level = np.uint64(np.uint64(data[span[0] - _ONE]) & clock != 0)
    marked = levels = marks = _NONE
    i: Any = span[0]
    while i < span[1]:
        if levelled:
            levels = differs(data, i, clock, _NONE)
            changed = levels ^ (levels << _ONE | level)
            level = levels >> np.uint64(LANES - 1)
            active = changed if both else changed & (levels ^ falling)
        else:
            active = changed = moves(data, i, clock)
        if marking:
            marked = moves(data, i, marking)
            if gated:
                marked &= levels
            marks |= marked
        here, wanted = count, active | marked
        rest = wanted
        # So many turns, not "while there are some": the processor need not wait for the answer.
        count += np.uint64(count_ones(wanted))
        for n in range(here, count):
            place = i + np.uint64(lowest(rest))
            rest &= rest - _ONE
            at[n] = np.int64(offset + place)
            taken[n] = np.uint64(data[place - back])
        while marked:
            mark = marked & (~marked + _ONE)
            marked ^= mark
            n = here + np.uint64(count_ones(wanted & (mark - _ONE)))
            at[n] = np.int64(np.uint64(at[n]) | (MARK if changed & mark else _MARKS))
        i += _LANES
    return count, marks != 0


@njit(cache=True, nogil=True)
def _take_few(
    data: Any, begin_sample: int, span: Any, lines: Any, how: Any, at: Any, taken: Any, count: Any
) -> tuple[Any, bool]:
    """The same of samples one by one."""
    both = bool(how.both & ~how.marked) or how.watch_high != 0
    any_marks = False
    for i in range(span[0], span[1]):
        changed = np.uint64(data[i] ^ data[i - _ONE])
        high = np.uint64(data[i]) & lines.clock != 0
        moved = changed & lines.clock != 0
        marked = changed & lines.marked != 0 and (high or how.gated == 0)
        if marked or (moved and (both or high == (how.falling == 0))):
            marks = _NONE
            if marked:
                marks = MARK if moved else MARK | STILL
                any_marks = True
            at[count] = np.int64(np.uint64(begin_sample) + i | marks)
            taken[count] = np.uint64(data[i - how.before])
            count += _ONE
    return count, any_marks


@njit(cache=True, nogil=True)
def _lift(lines: Any, clocks: Any, begin: Any, end: Any) -> None:
    """Turn the samples in the places ``begin`` to ``end`` into channels."""
    _, low_at, high_at = clocks
    runs = lines.low
    if len(high_at):
        for n in range(begin, end):
            high_at[n] = together(low_at[n], lines.high)
    if len(runs) > 2:
        for n in range(begin, end):
            low_at[n] = together(low_at[n], runs)
    else:
        right, mask, left = runs[0, 0], runs[0, 1], runs[0, 2]
        right_2, mask_2, left_2 = runs[1, 0], runs[1, 1], runs[1, 2]
        if mask_2 == 0 and right == left:
            mask <<= left
            for n in range(begin, end):
                low_at[n] &= mask
            return
        for n in range(begin, end):
            low = (low_at[n] >> right & mask) << left
            low_at[n] = low | (low_at[n] >> right_2 & mask_2) << left_2


@njit(cache=True, nogil=True)
def _move_marks(clocks: Any, begin: Any, end: Any) -> None:
    """Put the marks of the places ``begin`` to ``end`` beside the channels."""
    at, low_at, _ = clocks
    for n in range(begin, end):
        low_at[n] |= np.uint64(at[n]) & _MARKS
        at[n] = np.int64(np.uint64(at[n]) & ~_MARKS)


@njit(inline="always")
def together(sample: Any, runs: Any) -> Any:
    """Return a sample as channels."""
    value = _NONE
    for run in range(len(runs)):
        value |= (np.uint64(sample) >> runs[run, 0] & runs[run, 1]) << runs[run, 2]
    return value
