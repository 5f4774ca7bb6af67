"""What is to be drawn now: the range, the rows in view, and what is drawn above them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from freezeframe.gui.desktop.timeline.layout import GroupLine, Row
from freezeframe.gui.desktop.timeline.positions import Cursor, Selection
from freezeframe.gui.desktop.timeline.prepared import Prepared
from freezeframe.gui.desktop.timeline.window import AxisLabels, Window, axis_labels
from freezeframe.gui.palette import Theme
from freezeframe.gui.tracks.tracks import Track

PAD_PX = 3  # free above and below what a row shows
LABEL_PX = 11  # font size inside slices
GUTTER_PX = 220  # of the column of labels, until it is dragged
_TICK_PX = 110  # room for the label of one tick


@dataclass(frozen=True, slots=True)
class Overlay:
    """What is drawn above the tracks."""

    selection: Selection | None = None
    hits: Mapping[str, npt.NDArray[np.int64]] = field(default_factory=dict)  # key -> rising times
    cursors: tuple[Cursor, ...] = ()
    band: tuple[int, int] | None = None  # the selected stretch of time
    zoom_box: tuple[int, int] | None = None
    snapped_ps: int | None = None
    focus: str | None = None
    read_ps: int | None = None  # the cursor whose values stand in the label column


@dataclass(frozen=True, slots=True)
class Scene:
    """The time area: ``width`` x ``height`` logical pixels, rows scrolled up by ``scroll``; labels ``gutter`` wide."""

    window: Window
    theme: Theme
    rows: tuple[tuple[Row, Prepared], ...]
    width: int
    height: int
    scroll: int = 0
    scale_in_view: bool = False  # series: from the smallest to the largest value in view
    gutter: int = GUTTER_PX
    groups: tuple[GroupLine, ...] = ()
    scales: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # shared ones, by name

    def x_of(self, t_ps: int) -> float:
        """Return the logical pixel position of a time."""
        return self.window.x_of(t_ps, self.width)

    def inside(self, row: Row) -> tuple[int, int]:
        """Return top and bottom of what a row shows, logical pixels of the time area."""
        pad = 1 if row.collapsed else PAD_PX
        return row.y - self.scroll + pad, row.y - self.scroll + row.height - pad

    def holes(self, track: Track, width: int) -> Iterator[tuple[int, int, str]]:
        """Yield the columns ``[left, right)`` of ``width`` that lie whole in what a track does not cover, and why."""
        window = self.window
        for t0_ps, t1_ps, why in track.coverage.within(window.t0_ps, window.t1_ps):
            left, right = (
                -(-(t0_ps - window.t0_ps) * width // window.span_ps),
                (t1_ps - window.t0_ps) * width // window.span_ps,
            )
            if left < right:
                yield left, right, why

    def axis(self) -> AxisLabels:
        """Return the round times of the axis."""
        return axis_labels(self.window.t0_ps, self.window.t1_ps, max(self.width // _TICK_PX, 1))


def pixels_hit(times: npt.NDArray[np.int64], window: Window, width: int) -> npt.NDArray[np.int64]:
    """Return the pixel columns, rising, in which at least one of ``times`` (rising) lies.

    The cost follows the width, not the number of times.
    """
    whole, rest = divmod(window.span_ps, width)
    px = np.arange(width + 1, dtype=np.int64)
    edges = window.t0_ps + whole * px + (rest * px + width - 1) // width
    return np.flatnonzero(np.diff(np.searchsorted(times, edges))).astype(np.int64)
