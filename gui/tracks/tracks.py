"""What a time line shows: tracks of series, slices, waveforms, buses, states, intervals and marks.

A track is columns and a few callables; it is handed over once and never changed, so a worker may read
it while the window draws it. An *item* is a position in the track's columns; a *row* is the number of
the event in the table that the track was made from. Nothing here imports Qt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from freezeframe.decoders.trace.coverage import Coverage
from freezeframe.gui.palette import CLASSES

Int64 = npt.NDArray[np.int64]
Role = str  # a name of palette.ROLES: "good", "error", "warn", "idle", "a" .. "h"

EVERYTHING = Coverage()


@dataclass(frozen=True, eq=False, kw_only=True)
class Track:
    """What all tracks share.

    Attributes:
        key: names the track in a view for good: selections, saved views and links use it. Unique.
        name: shown in the label column. Plain text, whatever it holds.
        source: the capture, file or device it comes from; tracks of one source are shown together.
        t_ps: ``(n,)`` int64, not decreasing. Items begin here.
        rows: ``(n,)`` int64, the row of each item in its table; None when item i is row i.
        height_px: height of the open track; 0 for the usual one of its kind.
        note: shown when the mouse rests on the label: what the track holds, what it lacks.
        tip: text for one item, made on demand; None for the usual one.
        coverage: which stretches of time were recorded; the others are hatched, with the reason.
    """

    key: str
    name: str
    source: str = ""
    t_ps: Int64 = field(default_factory=lambda: np.empty(0, np.int64))
    rows: Int64 | None = None
    height_px: int = 0
    note: str = ""
    tip: Callable[[int], str] | None = None
    coverage: Coverage = EVERYTHING

    def __post_init__(self) -> None:
        self._check_times(self.t_ps, "t_ps")
        for name, column in vars(self).items():
            if isinstance(column, np.ndarray):
                self._same_length(name, column)

    def __len__(self) -> int:
        return len(self.t_ps)

    @cached_property
    def rows_in_order(self) -> bool:
        """Whether `rows` do not decrease; the worker that builds the pyramid asks first."""
        return self.rows is None or bool((self.rows[1:] >= self.rows[:-1]).all())

    def row_of(self, item: int) -> int:
        """Return the row of the table that an item stands for.

        Raises:
            IndexError: there is no such item.
        """
        if not 0 <= item < len(self):
            raise IndexError(f"{self.key}: item {item} of {len(self)}")
        return item if self.rows is None else int(self.rows[item])

    def item_of(self, row: int) -> int | None:
        """Return the item that shows a row of the table; None when the track does not show it."""
        if self.rows is None:
            return row if 0 <= row < len(self) else None
        if self.rows_in_order:
            at = int(np.searchsorted(self.rows, row))
            return at if at < len(self) and self.rows[at] == row else None
        found = np.flatnonzero(self.rows == row)
        return int(found[0]) if len(found) else None

    def items_of(self, rows: Int64) -> Int64:
        """Return the items, rising, that show any of ``rows``; rows without an item are left out."""
        if self.rows is None:
            known = np.unique(rows)
            return known[(known >= 0) & (known < len(self))]
        if not self.rows_in_order:
            return np.flatnonzero(np.isin(self.rows, rows)).astype(np.int64)
        wanted = np.unique(rows)
        first = np.searchsorted(self.rows, wanted, side="left")
        last = np.searchsorted(self.rows, wanted, side="right")
        found = [np.arange(a, b) for a, b in zip(first, last, strict=True) if b > a + 1]
        return np.sort(np.concatenate([first[last == first + 1], *found])).astype(np.int64)

    def taken(self, items: Int64, **changes: Any) -> Self:
        """Return the track of some of its items, which keep their rows and texts; ``changes``: fields of it."""
        columns: dict[str, Any] = {
            k: v[items] for k, v in vars(self).items() if isinstance(v, np.ndarray)
        }
        for name in ("label", "tip"):
            text = getattr(self, name, None)
            columns |= {} if text is None else {name: lambda item, of=text: of(int(items[item]))}
        rows = items if self.rows is None else self.rows[items]
        return replace(self, **(columns | {"rows": rows} | changes))

    def end_of(self, item: int) -> int:
        """Return where an item ends; its own time when it has no length."""
        return int(self.t_ps[item])

    def extent_ps(self) -> tuple[int, int] | None:
        """Return the half-open range of time that the items cover; None without items."""
        if not len(self):
            return None
        return int(self.t_ps[0]), int(self.t_ps[-1]) + 1

    def label_of(self, item: int) -> str:
        """Return the short text of an item; empty when it has none."""
        return ""

    def data_B(self) -> int:
        """Return the bytes of the track's columns: what the memory of a pyramid is compared with."""
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))

    def _check_times(self, times: Int64, name: str) -> None:
        if times.dtype != np.int64 or times.ndim != 1:
            raise ValueError(
                f"{self.key}: {name} is {times.dtype}{times.shape}; wanted int64 of shape (n,)"
            )

    def _same_length(self, name: str, column: Sequence[Any] | npt.NDArray[Any]) -> None:
        if len(column) != len(self.t_ps):
            raise ValueError(
                f"{self.key}: {name} has {len(column)} entries for {len(self.t_ps)} times"
            )


@dataclass(frozen=True, eq=False, kw_only=True)
class SeriesTrack(Track):
    """A quantity over time.

    Attributes:
        value: ``(n,)`` integers or floats; NaN where it is not known, drawn as a gap.
        step: ``value[i]`` holds from ``t_ps[i]`` to the next time; False: points joined by lines.
        unit: ``MiB/s``, ``words``; empty for a plain count.
        limit: a line to compare with, in the same unit; None without.
        role: the colour.
        end_ps: until when the last value of a step series holds; None for its own time.
        scale: series of one scale are drawn to the same height, so that they can be compared; empty: its own.
    """

    value: npt.NDArray[Any] = field(default_factory=lambda: np.empty(0, np.float64))
    step: bool = True
    unit: str = ""
    limit: float | None = None
    limit_label: str = ""
    role: Role = "a"
    end_ps: int | None = None
    scale: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.value.dtype.kind not in "iuf":
            raise ValueError(f"{self.key}: value is {self.value.dtype}; wanted integers or floats")

    def extent_ps(self) -> tuple[int, int] | None:
        """Return the half-open range from the first point to the last, or to `end_ps`."""
        span = super().extent_ps()
        return span and (span[0], max(span[1], self.end_ps or span[1]))

    def label_of(self, item: int) -> str:
        """Return the value with its unit."""
        return f"{self.value[item]:,} {self.unit}".rstrip()


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassedTrack(Track):
    """Items of some classes, each class with a colour.

    Attributes:
        colour: ``(n,)`` uint8, the class of each item, below ``len(classes)``; None: all class 0.
        classes: what each class means (in the legend and the tips), at most 16.
        roles: a colour for each class; empty for the usual order.
        error: ``(n,)`` bool: is to be seen however small it is; None: no item is in error.
    """

    colour: npt.NDArray[np.uint8] | None = None
    classes: tuple[str, ...] = ("",)
    roles: tuple[Role, ...] = ()
    error: npt.NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        classes, roles, column = len(self.classes), len(self.roles), self.colour
        if not 1 <= classes <= 16:
            raise ValueError(f"{self.key}: {classes} classes; wanted 1..16")
        if roles and roles != classes:
            raise ValueError(f"{self.key}: {roles} colours for {classes} classes")
        if column is not None and column.dtype != np.uint8:
            raise ValueError(f"{self.key}: the column of classes is {column.dtype}; wanted uint8")

    @property
    def role_of_class(self) -> tuple[Role, ...]:
        """The colour of each class."""
        return roles_of(len(self.classes), self.roles)

    def class_of(self, item: int) -> str:
        """Return what the class of an item is called."""
        return self.classes[0 if self.colour is None else int(self.colour[item])]


@dataclass(frozen=True, eq=False, kw_only=True)
class SliceTrack(ClassedTrack):
    """Things that last ``[t_ps, t_end_ps)``: packets, transactions, decoded fields.

    Slices of one track should not overlap (`lanes.split_lanes` makes several tracks of those that
    do); where they do, the later one is drawn above the earlier.

    Attributes:
        t_end_ps: ``(n,)`` int64, each at or after its ``t_ps``. Equal: an event without length.
        label: item -> text, called for slices with room for it only.
    """

    t_end_ps: Int64 = field(default_factory=lambda: np.empty(0, np.int64))
    label: Callable[[int], str] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_times(self.t_end_ps, "t_end_ps")

    def end_of(self, item: int) -> int:
        """Return the end of a slice."""
        return int(self.t_end_ps[item])

    def extent_ps(self) -> tuple[int, int] | None:
        """Return the range from the first start to the last end.

        The ends of the last thousand slices are looked at: all of a hundred million would take a
        tenth of a second. What overlaps more than that is found when the pyramid is built.
        """
        span = super().extent_ps()
        return span and (span[0], max(span[1], int(self.t_end_ps[-1000:].max())))

    def label_of(self, item: int) -> str:
        """Return the text of a slice; the name of its class when it has none."""
        if self.label is not None:
            return self.label(item)
        return self.class_of(item)


@dataclass(frozen=True, eq=False, kw_only=True)
class IntervalTrack(SliceTrack):
    """Slices of which some began before the recording or outlived it: back-pressure, outages.

    Attributes:
        open_start: ``(n,)`` bool: the true start is earlier than ``t_ps``; None: none is.
        open_end: ``(n,)`` bool: the true end is later than ``t_end_ps``; None: none is.
    """

    open_start: npt.NDArray[np.bool_] | None = None
    open_end: npt.NDArray[np.bool_] | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class _HeldTrack(Track):
    """Something that holds from each time to the next, and at last until ``end_ps``."""

    end_ps: int | None = None

    def end_of(self, item: int) -> int:
        """Return when the next value begins."""
        return held_until(self.t_ps, self.end_ps, item)

    def extent_ps(self) -> tuple[int, int] | None:
        """Return the range from the first time to ``end_ps``."""
        span = super().extent_ps()
        return span and (span[0], max(span[1], self.end_ps or span[1]))


@dataclass(frozen=True, eq=False, kw_only=True)
class WaveTrack(_HeldTrack):
    """One line of a logic analyzer: ``level[i]`` holds from ``t_ps[i]``.

    Attributes:
        level: ``(n,)`` uint8: 0 low, 1 high, 2 not known (drawn as such, never as a level).
    """

    level: npt.NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, np.uint8))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.level.dtype != np.uint8:
            raise ValueError(f"{self.key}: level is {self.level.dtype}; wanted uint8")

    def label_of(self, item: int) -> str:
        """Return the level by name."""
        return ("low", "high")[self.level[item]] if self.level[item] < 2 else "not known"


@dataclass(frozen=True, eq=False, kw_only=True)
class BusTrack(_HeldTrack):
    """Several lines read as a number: ``value[i]`` holds from ``t_ps[i]``.

    Attributes:
        value: ``(n,)`` integers; 64-bit words as int64 bit patterns.
        width_bits: how many lines, for the usual hexadecimal text.
        format: value -> text, called for values with room for it only; None: hexadecimal.
        error: ``(n,)`` bool, as of a `SliceTrack`.
    """

    value: npt.NDArray[Any] = field(default_factory=lambda: np.empty(0, np.int64))
    width_bits: int = 64
    format: Callable[[int], str] | None = None
    error: npt.NDArray[np.bool_] | None = None
    role: Role = "a"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.value.dtype.kind not in "iu":
            raise ValueError(f"{self.key}: value is {self.value.dtype}; wanted integers")

    def label_of(self, item: int) -> str:
        """Return the value in the track's format."""
        value = int(self.value[item])
        if self.format is not None:
            return self.format(value)
        return f"{value & ((1 << self.width_bits) - 1):0{-(-self.width_bits // 4)}x}"


@dataclass(frozen=True, eq=False, kw_only=True)
class StateTrack(ClassedTrack, _HeldTrack):
    """A state machine: the state ``classes[colour[i]]`` holds from ``t_ps[i]``."""

    colour: npt.NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, np.uint8))

    def label_of(self, item: int) -> str:
        """Return the name of the state."""
        return self.class_of(item)


@dataclass(frozen=True, eq=False, kw_only=True)
class MarkTrack(Track):
    """Moments with a text: findings, notes, triggers.

    Attributes:
        text: ``(n,)`` texts.
        role: ``(n,)`` colours; empty for ``warn``.
        unc_ps: ``(n,)`` int64, half width of what the time may be off by; None: exact.
        across: draw each as a line over all tracks.
    """

    text: tuple[str, ...] = ()
    role: tuple[Role, ...] = ()
    unc_ps: Int64 | None = None
    across: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._same_length("text", self.text)
        if self.role:
            self._same_length("role", self.role)

    def label_of(self, item: int) -> str:
        """Return the text of a mark."""
        return self.text[item]

    def role_of(self, item: int) -> Role:
        """Return the colour of a mark."""
        return self.role[item] if self.role else "warn"


def held_until(t_ps: Int64, end_ps: int | None, item: int) -> int:
    """Return the end of an item that holds until the next begins, the last until ``end_ps``."""
    if item + 1 < len(t_ps):
        return int(t_ps[item + 1])
    return max(int(t_ps[item]), int(t_ps[item]) if end_ps is None else end_ps)


def roles_of(classes: int, roles: tuple[Role, ...]) -> tuple[Role, ...]:
    """Return a colour for each of ``classes`` classes: those given, then the usual order again."""
    usual = (CLASSES[i % len(CLASSES)] for i in range(classes))
    return roles or tuple(usual)


def state_roles(names: Sequence[str]) -> tuple[Role, ...]:
    """Return a colour for each state; one in which nothing happens is not the loudest on the page."""
    busy = iter(roles_of(len(names), ()))
    return tuple("idle" if name == "idle" else next(busy) for name in names)
