"""Measurements over the chosen stretch of time: numbers of a track, and a histogram."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QPainter, QPaintEvent, QPalette
from PyQt6.QtWidgets import QComboBox, QSizePolicy, QWidget

from freezeframe.gui.desktop.measure import Histogram, Measured
from freezeframe.gui.desktop.widgets import (
    beside,
    fill_panel,
    fill_tree,
    item,
    label_of,
    named,
    offer,
    plain_label,
    tree,
)
from freezeframe.gui.text import printable

_MARGIN = 6
_BASE = 18


class HistogramView(QWidget):
    """Bars, with the least and the largest value below."""

    def __init__(self) -> None:
        super().__init__()
        named(self, "histogram")
        self._shown: Histogram | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def sizeHint(self) -> QSize:
        return QSize(240, 120)

    def show_histogram(self, histogram: Histogram | None) -> None:
        """Show bars; None empties it."""
        self._shown = histogram
        text = "no histogram: fewer than two different values"
        if histogram is not None:
            most = int(histogram.counts.argmax())
            text = (
                f"{histogram.title}: most, {histogram.counts[most]:,}, between "
                f"{histogram.edges[most]:,.6g} and {histogram.edges[most + 1]:,.6g} {histogram.unit}"
            )
        self.setAccessibleDescription(printable(text))
        self.update()

    def paintEvent(self, event: QPaintEvent | None) -> None:
        painter = QPainter(self)
        palette = self.palette()
        painter.fillRect(self.rect(), palette.color(QPalette.ColorRole.Base))
        painter.setPen(palette.color(QPalette.ColorRole.Text))
        if self._shown is None:
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, "no histogram")
            return
        counts, edges = self._shown.counts, self._shown.edges
        wide = self.width() - 2 * _MARGIN
        high = self.height() - _BASE - 2 * _MARGIN - painter.fontMetrics().height()
        top = _MARGIN + painter.fontMetrics().height()
        largest = max(int(counts.max()), 1)
        for number, count in enumerate(counts.tolist()):
            if count:
                # One that occurs at all is seen, however rare it is.
                tall = max(high * count / largest, 2.0)
                left = _MARGIN + wide * number / len(counts)
                bar = QRectF(left, top + high - tall, max(wide / len(counts) - 1, 1.0), tall)
                painter.fillRect(bar, palette.color(QPalette.ColorRole.Highlight))
        base = int(top + high)
        painter.drawLine(_MARGIN, base, _MARGIN + wide, base)
        below = QRectF(_MARGIN, base + 2, wide, _BASE)
        painter.drawText(below, Qt.AlignmentFlag.AlignLeft, f"{edges[0]:,.5g}")
        painter.drawText(below, Qt.AlignmentFlag.AlignRight, f"{edges[-1]:,.5g} {self._shown.unit}")
        head = QRectF(_MARGIN, 2, wide, top)
        title = painter.fontMetrics().elidedText(
            printable(self._shown.title), Qt.TextElideMode.ElideRight, wide
        )
        painter.drawText(head, Qt.AlignmentFlag.AlignLeft, title)


class MeasurementsPanel(QWidget):
    """A choice of tracks, the numbers, the histogram. ``track_chosen`` has a track's key."""

    track_chosen = pyqtSignal(str)

    def __init__(self) -> None:
        super().__init__()
        self.hint = plain_label(
            "stretch that is measured",
            "Shift-drag in the time line chooses a stretch; without one it is what is in view.",
        )
        self.which = named(QComboBox(), "measured track")
        self.numbers = tree("measurements", ("measurement", "value"))
        self.histogram = HistogramView()
        which = beside(label_of("T&rack", self.which), self.which, stretch=1)
        fill_panel(self, self.hint, which, (self.numbers, 2), (self.histogram, 1), focus=self.which)
        self.which.activated.connect(
            lambda _: self.track_chosen.emit(str(self.which.currentData()))
        )

    def set_tracks(self, tracks: Sequence[tuple[str, str]]) -> None:
        """Offer tracks, (key, name) each; the chosen one stays."""
        offer(self.which, tracks)

    @property
    def track(self) -> str | None:
        """The key of the chosen track."""
        data = self.which.currentData()
        return None if data is None else str(data)

    def choose(self, key: str) -> None:
        """Choose a track."""
        at = self.which.findData(key)
        if at >= 0:
            self.which.setCurrentIndex(at)

    def show_measured(self, measured: Measured | None, stretch: str) -> None:
        """Show what was measured; ``stretch`` says over what."""
        self.hint.setText(printable(stretch))
        lines = () if measured is None else measured.lines
        fill_tree(self.numbers, [item(line) for line in lines])
        self.histogram.show_histogram(None if measured is None else measured.histogram)
