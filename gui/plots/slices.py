"""Pyramids of things that last, and of lines that are high or low."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from freezeframe.capture.code import code
from freezeframe.gui.plots.pyramid import FAN, Pyramid, TrackError, level_bases, readable

NOTHING = 255  # the class of a column in which there is no slice

Int64 = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

_SHARE = 0.15  # of the columns' memory that the sums may take; 0.20 is the limit with all the rest

_KERNELS = "freezeframe.gui.plots.kernels"  # a window opens while a worker loads them
_last_reaching = code(f"{_KERNELS}_slices:last_reaching")
_reduce_slices = code(f"{_KERNELS}_slices:reduce_slices")
_slice_columns = code(f"{_KERNELS}_slices:slice_columns")
_reduce_wave = code(f"{_KERNELS}:reduce_wave")
_wave_columns = code(f"{_KERNELS}:wave_columns")


class Slices(NamedTuple):
    """Items in order of time; each of the columns ``klass`` and ``error`` has one entry when all are alike.

    The end of an item without an entry in ``ends`` is ``last_end``: values that hold until the next
    begins need no memory of their own for their ends (``ends = t_ps[1:]``).
    """

    t_ps: Int64
    ends: Int64
    last_end: int
    klass: Bytes
    error: Bytes


class SliceSums(NamedTuple):
    """What is known of each block of ``block`` items.

    ``coarse[b]``: its first time. ``spent[b, c]``: the time of class c in all slices before block b,
    each counted one picosecond longer than it is so that events without length count too.
    ``errors[b]``: slices in error before block b. ``latest``: the last end in each block, level after
    level from ``bases[level]``; without a level the ends do not decrease.
    """

    block: int
    coarse: Int64
    spent: Int64
    errors: npt.NDArray[Any]
    latest: Int64
    bases: Int64


class SliceColumns(NamedTuple):
    """What stands in each column of pixels, each ``(width,)``, and the items wide enough to name.

    ``colour`` uint8: the class that takes most of the time, NOTHING for none. ``cover`` float64: the
    share of the column that is taken. ``wrong`` int64: slices in error that begin or stand there.
    ``starts`` int64: slices that begin there. ``wide``: ``(k,)`` int64 items, in order.
    """

    colour: Bytes
    cover: npt.NDArray[np.float64]
    wrong: Int64
    starts: Int64
    wide: Int64


class WaveColumns(NamedTuple):
    """Levels in each column of pixels (bit 0 low, bit 1 high, bit 2 not known) and edges in it."""

    bits: Bytes
    edges: Int64


class SlicePyramid(Pyramid):
    """Slices with a class and an error flag."""

    def __init__(
        self,
        t_ps: Int64,
        t_end_ps: Int64 | None,
        *,
        end_ps: int | None = None,
        colour: Bytes | None = None,
        classes: int = 1,
        error: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        """Take the columns without a copy.

        Args:
            t_ps: ``(n,)`` int64, not decreasing.
            t_end_ps: ``(n,)`` int64; None: each holds until the next begins.
            end_ps: until when the last holds, without ``t_end_ps``.
            colour: ``(n,)`` uint8 below ``classes``; None: all 0.
            error: ``(n,)`` bool; None: none.
        """
        super().__init__(t_ps)
        self.ends = self.t_ps[1:] if t_end_ps is None else readable(t_end_ps)
        last = int(t_ps[-1]) if len(t_ps) else 0
        self.last_end = last if end_ps is None else max(end_ps, last)
        self._colour = np.zeros(1, np.uint8) if colour is None else readable(colour)
        self._error = np.zeros(1, np.uint8) if error is None else readable(error).view(np.uint8)
        if len(t_ps) == 1:  # one entry means "the same for all", which is the same thing here
            self._colour, self._error = self._colour[:1], self._error[:1]
        self._slices = Slices(self.t_ps, self.ends, self.last_end, self._colour, self._error)
        self.classes = classes if colour is not None else 1
        self._columns_B = sum(c.nbytes for c in (self.t_ps, self._colour, self._error))
        self._columns_B += 0 if t_end_ps is None else self.ends.nbytes
        while self.total and self.total / self.block * 8 * (self.classes + 2.5) > (
            _SHARE * self._columns_B
        ):
            self.block *= 2
            if self.block >= 1 << 16:
                break
        self.bases: Int64 = np.empty(0, np.int64)
        self.latest_end_ps = self.end_of(self.total - 1) if self.total else 0

    def _allocate(self) -> None:
        if len(self.coarse):
            return
        blocks = -(-self.total // self.block)
        self._all_bases, size = level_bases(self.total, self.block)
        self.spent = np.zeros((blocks + 1, self.classes), np.int64)
        self.errors = np.zeros(blocks + 1, np.int64 if self.total > 1 << 31 else np.int32)
        self.latest = np.zeros(size, np.int64)
        self._faults = np.full(4, -1, np.int64)
        self.coarse = np.zeros(blocks, np.int64)

    def _reduce(self, begin: int, end: int) -> None:
        _reduce_slices(self._slices, self._sums(), begin, end, self._faults)
        disorder, backward, unknown, _ = (int(fault) for fault in self._faults)
        self._refuse_disorder(disorder)
        if backward >= 0:
            raise TrackError(
                f"item {backward:,}: it ends at {self.end_of(backward):,} ps, before it begins at "
                f"{self.t_ps[backward]:,} ps"
            )
        if unknown >= 0:
            raise TrackError(
                f"item {unknown:,}: class {self._colour[unknown]} of {self.classes} (0.."
                f"{self.classes - 1})"
            )

    def _finish(self) -> None:
        self.latest_end_ps = int(self.latest[: len(self.coarse)].max()) if self.total else 0
        if self._faults[3] < 0:  # the ends are in order: the item before is the only candidate
            self.latest = np.empty(0, np.int64)
            return
        bases = self._all_bases
        for level in range(1, len(bases)):
            top = bases[level + 1] if level + 1 < len(bases) else len(self.latest)
            below = self.latest[bases[level - 1] : bases[level]]
            starts = np.arange(0, len(below), FAN)
            self.latest[bases[level] : top] = np.maximum.reduceat(below, starts)
        self.bases = bases

    def end_of(self, item: int) -> int:
        """Return where an item ends."""
        return int(self.ends[item]) if item < len(self.ends) else self.last_end

    def item_at(self, t_ps: int, slack_ps: int = 0) -> int | None:
        """Return the item that stands at a time, else one that begins within ``slack_ps`` of it."""
        if not self.built:
            return None
        times = self.t_ps[: self.built]
        after = int(np.searchsorted(times, t_ps, side="right"))
        levels = self.latest, self.bases, self.block
        reaching = int(_last_reaching(self.ends, self.last_end, *levels, after, t_ps))
        if reaching >= 0:
            return reaching
        near = [i for i in (after - 1, after) if 0 <= i < self.built]
        best = min(near, key=lambda i: self._apart(i, t_ps), default=None)
        return best if best is not None and self._apart(best, t_ps) <= slack_ps else None

    def columns(self, t0_ps: int, t1_ps: int, width: int, wide_px: int = 16) -> SliceColumns:
        """Return what stands in each of ``width`` columns of ``[t0_ps, t1_ps)``."""
        columns = SliceColumns(
            np.full(width, NOTHING, np.uint8),
            np.zeros(width),
            np.zeros(width, np.int64),
            np.zeros(width, np.int64),
            np.empty(width // max(wide_px, 1) + 1, np.int64),
        )
        count = 0
        if self.built:
            span_ps = t1_ps - t0_ps
            count = _slice_columns(
                self._slices, self._sums(), self.built, t0_ps, span_ps, wide_px, columns
            )
        return columns._replace(wide=columns.wide[:count])

    def _sums(self) -> SliceSums:
        return SliceSums(self.block, self.coarse, self.spent, self.errors, self.latest, self.bases)

    def memory_B(self) -> int:
        """Return the bytes of all sums."""
        if not len(self.coarse):
            return 0
        parts = (self.spent, self.errors, self.latest, self.coarse)
        return sum(part.nbytes for part in parts)

    def _apart(self, item: int, t_ps: int) -> int:
        return max(int(self.t_ps[item]) - t_ps, t_ps - self.end_of(item), 0)


class WavePyramid(Pyramid):
    """Edges of one line."""

    def __init__(self, t_ps: Int64, level: Bytes, *, end_ps: int | None = None) -> None:
        """Take the columns without a copy; ``level`` 0, 1, or 2 for not known."""
        super().__init__(t_ps)
        self.level = readable(level)
        last = int(t_ps[-1]) + 1 if len(t_ps) else 0
        self.end_ps = last if end_ps is None else max(end_ps, last)
        self._most = 0

    def _allocate(self) -> None:
        if len(self.coarse):
            return
        blocks = -(-self.total // self.block)
        self.seen = np.zeros(blocks, np.uint8)
        self.coarse = np.zeros(blocks, np.int64)

    def _reduce(self, begin: int, end: int) -> None:
        wrong = _reduce_wave(self.t_ps, self.level, begin, end, self.block, self.coarse, self.seen)
        self._refuse_disorder(wrong)
        piece = self.seen[begin // self.block : -(-end // self.block)]
        self._most |= int(np.bitwise_or.reduce(piece))

    def columns(self, t0_ps: int, t1_ps: int, width: int) -> WaveColumns:
        """Return the levels in each of ``width`` columns of ``[t0_ps, t1_ps)``."""
        bits, count = np.zeros(width, np.uint8), np.zeros(width, np.int64)
        if self.built:
            end_ps = self.end_ps if self.done else int(self.t_ps[self.built - 1]) + 1
            _wave_columns(
                self.t_ps, self.level, self.built, self.coarse, self.seen, self.block, self._most,
                end_ps, t0_ps, t1_ps - t0_ps, bits, count,
            )  # fmt: skip
        return WaveColumns(bits, count)

    def memory_B(self) -> int:
        """Return the bytes of the index."""
        return self.seen.nbytes + self.coarse.nbytes if len(self.coarse) else 0
