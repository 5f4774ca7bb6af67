"""Lines across a whole drawing at a time, each with a label above: findings, causes of a freeze."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from freezeframe.capture.time_text import format_doubt
from freezeframe.gui.plots.axis import TimeAxis
from freezeframe.gui.plots.svg import Svg, text_width

ROW = 16.0
"""Height of a row of labels."""

_LABEL = 12.0
_BESIDE = 7.0  # between the line of a mark and its label, so that the flag has room
_AFTER = 14.0  # of the axis: labels may reach into the drawing's margin


@dataclass(frozen=True, slots=True)
class Mark:
    """A line across all lanes at a time, with a label above; the band shows its uncertainty."""

    t_ps: int
    label: str
    css: str
    unc_ps: int = 0


class Marks:
    """The marks of one drawing that lie in its range, and where their labels stand.

    Those outside are drawn with them where the drawing can move: in the first row.

    ``height``: of the rows of labels, pixels; 0 without a mark.
    """

    def __init__(self, axis: TimeAxis, marks: Sequence[Mark]) -> None:
        inside = [m for m in marks if axis.t0_ps <= m.t_ps <= axis.t1_ps]
        self._axis = axis
        self._outside = [m for m in marks if m not in inside]
        self.shown = sorted(inside, key=lambda m: m.t_ps)
        self._lefts = _label_lefts(axis, self.shown)
        self._rows = _mark_rows(self._lefts, self.shown)
        self.height = ROW * (max(self._rows, default=-1) + 1)

    def bands(self, svg: Svg, top: float, bottom: float) -> None:
        """Draw how sure the times are, below all else."""
        for mark in self._drawn(svg):
            if mark.unc_ps > 0:
                ends = mark.t_ps - mark.unc_ps, mark.t_ps + mark.unc_ps
                left, right = map(self._axis.clamp, ends)
                svg.lasts(*ends)
                svg.rect(left, top, right - left, bottom - top, f"band {mark.css}")

    def lines(self, svg: Svg, top: float, bottom: float) -> None:
        """Draw lines, flags and labels, the labels' rows from ``top`` on.

        Labels come after all lines: a label has an outline that keeps the lines of others out of its letters.
        """
        drawn = self._drawn(svg)
        rows = [*self._rows, *(0 for _ in drawn[len(self._rows) :])]
        lefts = [*self._lefts, *(0.0 for _ in drawn[len(self._rows) :])]
        for mark, row in zip(drawn, rows, strict=True):
            _draw_mark(svg, self._axis, mark, top + ROW * row + _LABEL, bottom)
        for mark, row, left in zip(drawn, rows, lefts, strict=True):
            baseline = top + ROW * row + _LABEL - 2
            svg.stands(mark.t_ps, wide=text_width(mark.label, _LABEL))
            svg.text(left, baseline, mark.label, f"marklabel {mark.css}")

    def _drawn(self, svg: Svg) -> list[Mark]:
        return [*self.shown, *(self._outside if svg.moves else [])]


def _draw_mark(svg: Svg, axis: TimeAxis, mark: Mark, baseline: float, bottom: float) -> None:
    x = axis.x(mark.t_ps)
    svg.stands(mark.t_ps)
    svg.line(
        x,
        baseline + 3,
        x,
        bottom,
        f"mark {mark.css}",
        tip=f"{mark.label}: {format_doubt(mark.t_ps, mark.unc_ps)}",
    )
    svg.stands(mark.t_ps)
    svg.polygon(
        [(x - 4, baseline + 1), (x + 4, baseline + 1), (x, baseline + 7)], f"flag {mark.css}"
    )


def _label_lefts(axis: TimeAxis, marks: Sequence[Mark]) -> list[float]:
    """Return where each label begins: beside its own line, on the side away from the next mark."""
    lefts = []
    for number, mark in enumerate(marks):
        width = text_width(mark.label, _LABEL)
        x = axis.x(mark.t_ps)
        later = axis.x(marks[number + 1].t_ps) if number + 1 < len(marks) else math.inf
        room_right = x + _BESIDE + width < min(later - _BESIDE, (axis.x1 + _AFTER))
        left = x + _BESIDE if room_right or x - _BESIDE < width else x - _BESIDE - width
        lefts.append(min(max(left, 0.0), (axis.x1 + _AFTER) - width))
    return lefts


def _mark_rows(lefts: Sequence[float], marks: Sequence[Mark]) -> list[int]:
    """Return for each mark, in order of time, the first row of labels in which its own has room."""
    ends: list[float] = []
    rows = []
    for mark, left in zip(marks, lefts, strict=True):
        row = next((i for i, end in enumerate(ends) if left > end + 8), len(ends))
        end = left + text_width(mark.label, _LABEL)
        if row == len(ends):
            ends.append(end)
        else:
            ends[row] = end
        rows.append(row)
    return rows
