"""The pictures that prove the chosen finding, below each other: they are made when they are first looked at."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from PyQt6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt
from PyQt6.QtGui import QColor, QHelpEvent, QImage, QPainter, QPaintEvent, QResizeEvent
from PyQt6.QtSvg import QSvgRenderer
from PyQt6.QtWidgets import QScrollArea, QToolTip, QWidget

from freezeframe.analyzers.contract import Finding
from freezeframe.gui.desktop.progress import Progress
from freezeframe.gui.desktop.sources.opened import Opened
from freezeframe.gui.desktop.widgets import fill_panel, named, plain_label
from freezeframe.gui.desktop.workers import Job, Jobs
from freezeframe.gui.palette import THEMES, ThemeName
from freezeframe.gui.text import printable

if TYPE_CHECKING:
    from freezeframe.gui.desktop.proofs import Proof
    from freezeframe.gui.plots.svg import Shape

_LEAST, _MOST = 0.75, 2.0  # times its size: texts of 12 pixels stay readable, and nothing is coarse
_NONE = "Choose a finding: its pictures are shown here."
_NO_CARD = "Only a recording of a card has pictures of its findings."


class Pages(QWidget):
    """The pictures of one finding, as wide as there is room."""

    def __init__(self) -> None:
        super().__init__()
        self.proof: Proof | None = None
        self.theme: ThemeName = "dark"
        self.scale = 1.0
        self._held: tuple[Proof, ThemeName, QSvgRenderer] | None = None

    def fit(self, room: QSize) -> None:
        """Take the size that the pictures have in so much room; less than is readable is scrolled sideways.

        What is broken in the first of them is in the room where that leaves it readable.
        """
        if self.proof is not None:
            wide, high = self.proof.size
            whole = min(room.width() / wide, max(room.height() / self.proof.first_px, _LEAST))
            self.scale = min(max(whole, _LEAST), _MOST)
            self.setFixedSize(QSize(int(wide * self.scale), int(high * self.scale)))
        self.update()

    def image(self, scale: float = 2.0) -> QImage:
        """Return all of it as an image, ``scale`` times its size; an empty one without pictures."""
        wide, high = (0.0, 0.0) if self.proof is None else self.proof.size
        return self._drawn(QRect(0, 0, round(wide * scale), round(high * scale)), scale)

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Paint what is seen of it."""
        if event is not None:
            painter = QPainter(self)
            seen = self._drawn(event.rect(), self.scale, self.devicePixelRatioF())
            painter.drawImage(event.rect().topLeft(), seen)
            painter.end()

    def tip_at(self, at: QPointF) -> str:
        """Return what the uppermost mark at a point of the drawing says; empty where none says anything."""
        if self.proof is None:
            return ""
        under = (s for s in reversed(self.proof.shapes) if s.tip and _is_at(s, at))
        return next((shape.tip for shape in under), "")

    def event(self, event: QEvent | None) -> bool:
        """Tell what a mark says when the mouse rests on it."""
        if isinstance(event, QHelpEvent):
            tip = self.tip_at(QPointF(event.pos()) / self.scale)
            # A tool tip takes what looks like markup for such.
            shown = f"<span>{escape(printable(tip)).replace(chr(10), '<br>')}</span>" if tip else ""
            QToolTip.showText(event.globalPos(), shown, self)
            return True
        return super().event(event)

    def _drawn(self, part: QRect, scale: float, dpr: float = 1.0) -> QImage:
        """Return a part of it: Qt leaves out what lies outside of an image, and not what is clipped."""
        image = QImage(part.size() * dpr, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(dpr)
        image.fill(QColor(THEMES[self.theme].background))
        if self.proof is not None:
            if self._held is None or self._held[:2] != (self.proof, self.theme):
                renderer = QSvgRenderer(self.proof.for_qt(self.theme))
                self._held = self.proof, self.theme, renderer
            wide, high = self.proof.size
            painter = QPainter(image)
            place = QRectF(-part.x(), -part.y(), wide * scale, high * scale)
            self._held[2].render(painter, place)
            painter.end()
        return image


def _is_at(shape: Shape, at: QPointF) -> bool:
    """Return whether a point is in the rectangle around a mark, or at most two pixels beside."""
    xs, ys = zip(*shape.points, strict=True)
    return all(min(of) - 2 <= n <= max(of) + 2 for of, n in ((xs, at.x()), (ys, at.y())))


class _Area(QScrollArea):
    """Scrolls the pages, which take its width."""

    def __init__(self, pages: Pages) -> None:
        super().__init__()
        self.pages = pages
        self.setWidget(pages)
        self.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        # Always: one that comes with the pictures would take room that they were fitted to.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)

    def fit(self) -> None:
        """Fit the pages to the room."""
        port = self.viewport()
        if port is not None:
            self.pages.fit(port.size())

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Fit them anew."""
        super().resizeEvent(event)
        self.fit()


class ProofPanel(QWidget):
    """The pictures of the chosen finding; while the panel is hidden none are made."""

    def __init__(self, jobs: Jobs) -> None:
        super().__init__()
        self._jobs = jobs
        self._job: Job | None = None
        self._seen = False
        self._wanted: tuple[Opened, Finding] | None = None
        self._shown: tuple[Opened, Finding] | None = None
        self.pages = named(Pages(), "pictures of the finding")
        self.said = plain_label("state of the pictures", _NONE)
        self.area = named(_Area(self.pages), "pictures, scrolled", "Arrows scroll.")
        fill_panel(self, self.said, (self.area, 1), focus=self.area)
        self.pages.hide()

    def set_finding(self, opened: Opened | None, finding: Finding | None) -> None:
        """Show this finding's pictures as soon as the panel is seen."""
        self._wanted = None if opened is None or finding is None else (opened, finding)
        if self._seen:
            self._bring()

    def set_seen(self, seen: bool) -> None:
        """Take whether the panel can be seen: one behind another tab counts as visible in Qt."""
        self._seen = seen
        if seen:
            self._bring()

    def set_theme(self, theme: ThemeName) -> None:
        """Paint dark or light."""
        self.pages.theme = theme
        self.pages.update()

    def _bring(self) -> None:
        wanted = self._wanted
        if wanted is not None and self._shown is not None and _same(wanted, self._shown):
            return
        if self._job is not None:
            self._job.cancel()
            self._job = None
        self._shown = wanted
        self._show(None, _NONE)
        if wanted is None:
            return
        opened, finding = wanted

        def work(progress: Progress) -> Proof:
            # Here, not above: it loads all of plotting, which the first picture of a capture does not need.
            from freezeframe.gui.desktop.proofs import proof_of

            return proof_of(opened, finding)

        self.said.setText("the pictures are being made")
        self._job = self._jobs.start(
            f"pictures of {finding.diagnosis}", work, lambda made: self._show(made, _NO_CARD), self._failed
        )  # fmt: skip

    def _show(self, proof: Proof | None, otherwise: str) -> None:
        there = proof is not None and bool(proof.drawings)
        self.pages.proof = proof if there else None
        self.pages.setVisible(there)
        self.said.setText(otherwise)
        self.said.setVisible(not there)
        captions = [] if proof is None else [one.caption for one in proof.drawings]
        self.pages.setAccessibleDescription(printable(" ".join(captions)))
        self.area.fit()

    def _failed(self, why: str) -> None:
        self._show(None, f"The pictures cannot be made: {why}")


def _same(one: tuple[Opened, Finding], other: tuple[Opened, Finding]) -> bool:
    return one[0] is other[0] and one[1] is other[1]
