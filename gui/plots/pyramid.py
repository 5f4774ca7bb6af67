"""Pyramids: what a drawing needs of a hundred million items, in a few per cent of their memory.

A pyramid is built piece by piece (in a worker: progress, cancel), can be drawn up to where it is
built, and never copies the columns it is made of. The answers are exact: every column of pixels knows
the true extremes and every error of the items in it, at any zoom.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from freezeframe.capture.code import code
from freezeframe.capture.errors import FreezeframeError

Int64 = npt.NDArray[np.int64]

FAN = 16  # blocks of one level of a pyramid that the next level joins
_BLOCK = 64  # items a block of the lowest level: 2-3 % of memory; half of it scanned per column
_PIECE = 1 << 22  # items built at a time: 10-40 ms, then progress is reported and a cancel is seen

_KERNELS = "freezeframe.gui.plots.kernels"  # a window opens while a worker loads them
_reduce_series = code(f"{_KERNELS}:reduce_series")
_series_columns = code(f"{_KERNELS}:series_columns")


class TrackError(FreezeframeError):
    """The columns of a track contradict themselves; the message names the first such item."""


class Series(NamedTuple):
    """Values in order of time; NaN where one is not known.

    ``step``: a value holds until the next time, else points are joined by lines.
    """

    t_ps: Int64
    value: npt.NDArray[Any]
    step: bool


class SeriesLevels(NamedTuple):
    """Extremes of blocks of ``block`` values, and of FAN such blocks, and so on.

    ``low`` and ``high`` hold the levels one after the other, each beginning at ``bases[level]``;
    ``coarse[b]`` is the first time of block b, ``gaps[b]`` how many values before block b are unknown.
    """

    block: int
    coarse: Int64
    low: npt.NDArray[Any]
    high: npt.NDArray[Any]
    bases: Int64
    gaps: npt.NDArray[Any]


class SeriesColumns(NamedTuple):
    """What a line passes in each column of pixels, each ``(width,)``.

    ``low`` and ``high`` float64 (``inf, -inf``: no line there), ``gap`` int64 values that are not
    known, ``points`` int64 points in the column.
    """

    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    gap: Int64
    points: Int64


class Pyramid(ABC):
    """The part all pyramids share: building in pieces.

    Attributes:
        built: how many items can be drawn already.
        total: how many there are.
    """

    def __init__(self, t_ps: Int64) -> None:
        self.t_ps = readable(t_ps)
        self.total = len(t_ps)
        self.built = 0
        self.block = _BLOCK
        self.coarse: Int64 = np.empty(0, np.int64)

    @property
    def done(self) -> bool:
        """Whether everything is built."""
        return self.built == self.total

    def build(self, progress: Callable[[int, int], object] = lambda done, total: None) -> None:
        """Build what is not built yet; ``progress`` gets what is built, of how much, and may end it by raising.

        A later call goes on from there. Raises: TrackError: the columns contradict themselves.
        """
        self._allocate()
        while self.built < self.total:
            end = min(self.built + _PIECE, self.total)
            self._reduce(self.built, end)
            if end == self.total:
                self._finish()
            self.built = end
            progress(end, self.total)

    @abstractmethod
    def memory_B(self) -> int:
        """Return the bytes that the pyramid takes beside the columns it is made of."""

    @abstractmethod
    def _allocate(self) -> None: ...

    @abstractmethod
    def _reduce(self, begin: int, end: int) -> None: ...

    def _finish(self) -> None:  # noqa: B027 - a pyramid may have nothing left to do
        """Do what can only be done when all items are known."""

    def _refuse_disorder(self, item: int) -> None:
        if item >= 0:
            raise TrackError(
                f"item {item:,}: its time {self.t_ps[item]:,} ps is earlier than that of the item "
                f"before it ({self.t_ps[item - 1]:,} ps); a track has to be in order of time"
            )


class SeriesPyramid(Pyramid):
    """Extremes of a quantity over time."""

    def __init__(
        self, t_ps: Int64, value: npt.NDArray[Any], *, step: bool = True, end_ps: int | None = None
    ) -> None:
        """Take the columns without a copy.

        Args:
            t_ps: ``(n,)`` int64, not decreasing.
            value: ``(n,)`` integers or floats; NaN where the value is not known.
            step: a value holds until the next time, else points are joined by lines.
            end_ps: until when the last value holds (step).
        """
        super().__init__(t_ps)
        self.value = readable(value)
        self.step = step
        last = int(t_ps[-1]) + 1 if len(t_ps) else 0
        self.end_ps = last if end_ps is None else max(end_ps, last)
        self._series = Series(self.t_ps, self.value, step)
        kind = np.finfo(value.dtype) if value.dtype.kind == "f" else np.iinfo(value.dtype)
        floats = value.dtype.kind == "f"
        self._empty_low = value.dtype.type(np.inf if floats else kind.max)
        self._empty_high = value.dtype.type(-np.inf if floats else kind.min)

    def _allocate(self) -> None:
        if len(self.coarse):
            return
        self.bases, size = level_bases(self.total, self.block)
        blocks = -(-self.total // self.block)
        self.low = np.empty(size, self.value.dtype)  # every entry is written before it is read
        self.high = np.empty(size, self.value.dtype)
        self.gaps = np.zeros(blocks + 1, np.int64 if self.total > 1 << 31 else np.int32)
        self.coarse = np.zeros(blocks, np.int64)

    def _reduce(self, begin: int, end: int) -> None:
        empty = self._empty_low, self._empty_high
        wrong = _reduce_series(self._series, self._levels(), begin, end, *empty)
        self._refuse_disorder(wrong)

    def extremes(self) -> tuple[float, float] | None:
        """Return the smallest and largest value of what is built; None without any number."""
        if not self.built:
            return None
        blocks = -(-self.built // self.block)
        low, high = float(self.low[:blocks].min()), float(self.high[:blocks].max())
        if low > high or np.isinf(low) or np.isinf(high):
            return None
        return low, high

    def columns(self, t0_ps: int, t1_ps: int, width: int) -> SeriesColumns:
        """Return what the line passes in each of ``width`` columns of ``[t0_ps, t1_ps)``."""
        columns = SeriesColumns(
            np.full(width, np.inf),
            np.full(width, -np.inf),
            np.zeros(width, np.int64),
            np.zeros(width, np.int64),
        )
        if self.built:
            end_ps = self.end_ps if self.done else int(self.t_ps[self.built - 1]) + 1
            place = end_ps, t0_ps, t1_ps - t0_ps
            _series_columns(self._series, self._levels(), self.built, *place, columns)
        return columns

    def _levels(self) -> SeriesLevels:
        return SeriesLevels(self.block, self.coarse, self.low, self.high, self.bases, self.gaps)

    def memory_B(self) -> int:
        """Return the bytes of all levels."""
        if not len(self.coarse):
            return 0
        return self.low.nbytes + self.high.nbytes + self.gaps.nbytes + self.coarse.nbytes


def level_bases(items: int, block: int) -> tuple[Int64, int]:
    """Return where each level of a pyramid begins in its one array, and the length of that."""
    bases = [0]
    size = blocks = max(-(-items // block), 1)
    while blocks > FAN:
        bases.append(size)
        blocks = -(-blocks // FAN)
        size += blocks
    return np.array(bases, np.int64), size


class _Writable:
    """The memory of an array under another flag: numba compiles a kernel again for read-only ones."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self.array = array  # keeps the memory alive
        self.__array_interface__ = {
            **array.__array_interface__,
            "data": (array.__array_interface__["data"][0], False),
        }


def readable(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a column as the kernels take it: contiguous, and of one type whether it may be written.

    A copy only when it is not contiguous, not aligned, or of the other byte order. The kernels do not
    write it.
    """
    dense = np.require(column, column.dtype.newbyteorder("="), ["C", "A"])
    if dense.flags.writeable or not len(dense):
        return dense
    return np.asarray(_Writable(dense))
