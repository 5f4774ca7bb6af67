"""One counter over time, as it is shown: a count as its rate, a gauge as its value, NaN where it is not known."""

from __future__ import annotations

import math
from array import array
from typing import Any

import numpy as np

from freezeframe.capture.counters.history import Rate
from freezeframe.gui.tracks.tracks import MarkTrack, SeriesTrack


class Counted:
    """What was read of one counter; ``moved``: it had more than one value between two gaps."""

    def __init__(self, is_gauge: bool, unit: str = "") -> None:
        self.is_gauge = is_gauge
        self.unit = unit if is_gauge else f"{unit}/s"
        self.t_ps = array("q")
        self.value = array("d")
        self.first: int | None = None
        self.last: int | None = None
        self.moved = False
        self._before: int | None = None  # the last value since a gap
        self._rate = Rate()

    def add(self, t_ps: int, t_ns: int, value: int, own_ns: int | None = None) -> None:
        """Take a value that was read at ``t_ns``, by the device's own clock at ``own_ns``."""
        self.first = value if self.first is None else self.first
        self.moved = self.moved or self._before not in (None, value)
        self.last = self._before = value
        shown = float(value) if self.is_gauge else self._rate.step(t_ns, value, own_ns)
        if shown is not None:
            self._append(t_ps, shown)

    def gap(self, t_ps: int) -> None:
        """From here on nothing is known; what comes next is no step from what was before."""
        self._before = None
        self._rate.forget()
        if len(self.value):
            self._append(t_ps, math.nan)

    def keep(self, most: int) -> None:
        """Let the oldest go where there are many more than ``most``."""
        if len(self.t_ps) > most + most // 8:
            del self.t_ps[: len(self.t_ps) - most]
            del self.value[: len(self.value) - most]

    def track(self, key: str, name: str, **fields: Any) -> SeriesTrack:
        """Return it as a track. Copies: the arrays grow, and what is drawn must not."""
        return SeriesTrack(
            key=key,
            name=name,
            t_ps=np.array(self.t_ps, np.int64),
            value=np.array(self.value, np.float64),
            step=True,
            unit=self.unit,
            **fields,
        )

    def _append(self, t_ps: int, value: float) -> None:
        if self.t_ps and self.t_ps[-1] > t_ps:
            # It was called stale while it was being read: the gap ends where that reading began.
            self.t_ps[-1] = max(t_ps, self.t_ps[-2] if len(self.t_ps) > 1 else t_ps)
            t_ps = self.t_ps[-1]
        self.t_ps.append(t_ps)
        self.value.append(value)


def line_track(
    key: str, lines: list[tuple[int, str]], role: tuple[str, ...], **fields: Any
) -> MarkTrack:
    """Return lines that were written beside counters as marks; ``lines``: time and text, in order of time."""
    return MarkTrack(
        key=f"{key}/live-log",
        t_ps=np.array([t_ps for t_ps, _ in lines], np.int64),
        text=tuple(text for _, text in lines),
        role=role,
        across=False,
        **fields,
    )
