"""The range of time in view: zoom and pan in whole picoseconds, and the labels of its axis."""

from __future__ import annotations

from dataclasses import dataclass

from freezeframe.capture.time_text import format_ps
from freezeframe.gui.plots.axis import round_ticks

LEAST_SPAN_PS = (
    100  # below this a column of pixels is a fraction of a picosecond, and nothing is there
)


class Window:
    """A half-open range ``[t0_ps, t1_ps)`` inside what can be looked at.

    Times are Python integers; no range can overflow or lose a picosecond.
    """

    def __init__(self) -> None:
        self.extent = (0, 1_000_000)
        self.t0_ps, self.t1_ps = self.extent

    @property
    def span_ps(self) -> int:
        """How much time is in view."""
        return self.t1_ps - self.t0_ps

    def set_extent(self, t0_ps: int, t1_ps: int) -> None:
        """Say what there is to look at; the view is moved only as far as it must."""
        self.extent = (t0_ps, max(t1_ps, t0_ps + 1))
        self.show(self.t0_ps, self.t1_ps)

    def fit(self) -> None:
        """Show everything, with a margin of a hundredth on both sides."""
        first, last = self.extent
        margin = (last - first) // 100
        self.show(first - margin, last + margin)

    def show(self, t0_ps: int, t1_ps: int) -> None:
        """Show a range, made to fit: at least 100 ps, at most the extent and half of it around."""
        first, last = self.extent
        most = max(2 * (last - first), LEAST_SPAN_PS)
        span = min(max(t1_ps - t0_ps, LEAST_SPAN_PS), most)
        start = t0_ps if span == t1_ps - t0_ps else (t0_ps + t1_ps - span) // 2
        # at least a tenth of the view stays on the data, so that nobody is lost in empty time
        start = min(max(start, first - span * 9 // 10), last - span // 10)
        start = min(max(start, -(1 << 62)), (1 << 62) - span)
        self.t0_ps, self.t1_ps = start, start + span

    def zoom(self, factor: float, at_ps: int | None = None) -> None:
        """Show ``1 / factor`` of the time; ``at_ps`` (else the middle) stays where it is."""
        at = (self.t0_ps + self.t1_ps) // 2 if at_ps is None else at_ps
        share, whole = (1 << 20, round(factor * (1 << 20)))
        span = max(self.span_ps * share // max(whole, 1), LEAST_SPAN_PS)
        before = (at - self.t0_ps) * span // self.span_ps
        self.show(at - before, at - before + span)

    def pan(self, fraction: float) -> None:
        """Move by a fraction of what is in view."""
        self.move(self.span_ps * round(fraction * (1 << 20)) // (1 << 20))

    def move(self, by_ps: int) -> None:
        """Move by a time."""
        self.show(self.t0_ps + by_ps, self.t1_ps + by_ps)

    def time_at(self, x: float, width: int) -> int:
        """Return the time at a pixel position."""
        return self.t0_ps + int(x * 1024) * self.span_ps // (max(width, 1) * 1024)

    def x_of(self, t_ps: int, width: int) -> float:
        """Return the pixel position of a time, far outside as far outside, never an overflow."""
        x = (t_ps - self.t0_ps) * width / self.span_ps
        return min(max(x, -1e6), 1e6)

    def per_pixel_ps(self, width: int) -> int:
        """Return the time of one pixel, at least 1 ps."""
        return max(self.span_ps // max(width, 1), 1)


@dataclass(frozen=True, slots=True)
class AxisLabels:
    """Round times with their labels; when ``base`` is set, labels are offsets from ``base_ps``."""

    ticks: tuple[tuple[int, str], ...]
    base_ps: int = 0
    base: str = ""


def axis_labels(t0_ps: int, t1_ps: int, most: int, longest: int = 14) -> AxisLabels:
    """Return at most ``most`` round times in ``[t0_ps, t1_ps)``.

    Deep in a long capture the full times would be too long to be written beside each other: then the
    first tick is the base, written once, and the others say how much later they are.
    """
    times = round_ticks(t0_ps, t1_ps, most)
    largest = max((abs(t) for t in times), default=0)
    labels = [format_ps(t, largest) for t in times]
    if not times or max(map(len, labels)) <= longest:
        return AxisLabels(tuple(zip(times, labels, strict=True)))
    base = times[0]
    reach = times[-1] - base
    offsets = tuple((t, f"+{format_ps(t - base, reach)}") for t in times)
    return AxisLabels(offsets, base, format_ps(base))
