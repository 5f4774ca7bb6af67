"""The drawn time line: tracks, the range in view, scrolling, and painting; no selection yet.

Drawing a step costs milliseconds whatever the zoom: it asks the pyramids and paints with kernels.
Nothing here reads a whole column; that is the builder's work, in its own thread.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PyQt6.QtCore import QCoreApplication, QPointF, QRectF, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QImage, QPainter, QPaintEvent, QResizeEvent
from PyQt6.QtWidgets import QWidget

from freezeframe.gui.desktop.timeline import export
from freezeframe.gui.desktop.timeline.builder import Builder
from freezeframe.gui.desktop.timeline.gutter import draw_gutter
from freezeframe.gui.desktop.timeline.layout import GROUP_PX, HEADING_PX, GroupLine, Layout, Row
from freezeframe.gui.desktop.timeline.overlay import RULER_PX, draw_overlay, draw_ruler
from freezeframe.gui.desktop.timeline.prepared import Prepared
from freezeframe.gui.desktop.timeline.raster import Raster
from freezeframe.gui.desktop.timeline.scene import GUTTER_PX, Overlay, Scene
from freezeframe.gui.desktop.timeline.scroll_strip import STRIP_PX, ScrollStrip
from freezeframe.gui.desktop.timeline.window import Window
from freezeframe.gui.desktop.workers import delayed
from freezeframe.gui.palette import DARK, THEMES, Theme
from freezeframe.gui.tracks.tracks import SeriesTrack, Track

_REFRESH_MS = (
    40  # pictures while a pyramid grows: often enough to see, seldom enough to cost nothing
)
_ZOOM_STEP = 1.5
_LEAST_GUTTER_PX, _LEAST_AREA_PX = 90, 120


class TimelineCanvas(QWidget):
    """Tracks over one axis of time."""

    range_changed = pyqtSignal(object, object)
    tracks_changed = pyqtSignal()
    gutter_changed = pyqtSignal(int)
    group_clicked = pyqtSignal(object)  # a GroupLine

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMinimumSize(GUTTER_PX + _LEAST_AREA_PX, RULER_PX + 60)
        self.gutter_px = GUTTER_PX
        self._window = Window()
        self.arranged = Layout(self._relaid)
        """Order, hidden and thin tracks, groups: what is done there is seen here."""
        self._prepared: dict[str, Prepared] = {}
        self._theme: Theme = DARK
        self._raster = Raster()
        self._stale = True
        self._fitted: tuple[int, int] | None = None  # what fitted when everything was shown last
        self._scale_in_view = False
        self._focus: str | None = None
        self._bar = ScrollStrip(self)
        self._bar.valueChanged.connect(self._refresh)
        self._builder = Builder(self)
        self._builder.advanced.connect(self._built_some)
        self._builder.finished.connect(self._built_all)
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self._builder.shutdown)
        self._later = delayed(self, _REFRESH_MS, self._refresh)

    # tracks

    def set_tracks(self, tracks: Sequence[Track], keep_range: bool = False) -> None:
        """Show these tracks; those shown already keep their place and what was built of them.

        Args:
            tracks: in the order wanted; keys are unique.
            keep_range: stay where the view is, else show everything.
        Raises:
            ValueError: two tracks have the same key.
        """
        self.arranged.set_tracks(tracks)
        self._prepared = {track.key: self._reused(track) for track in tracks}
        self._measure_extent()
        if not keep_range:
            self._fit()
        if self._focus not in self._prepared:
            self._focus = self.arranged.rows[0].key if self.arranged.rows else None
        self._start_build()
        self._refresh()
        self.range_changed.emit(self._window.t0_ps, self._window.t1_ps)

    def replace_track(self, track: Track) -> None:
        """Put new columns in the place of the track with the same key. Raises: KeyError."""
        self.arranged.replace(track)
        self._prepared[track.key] = self._reused(track)
        self._measure_extent()
        self._start_build()

    def tracks(self) -> tuple[Track, ...]:
        """Return the tracks from top to bottom, hidden ones too."""
        return tuple(self._prepared[key].track for key in self.arranged.order())

    def set_gutter(self, wide_px: int) -> None:
        """Make the column of labels so wide; the least and what leaves room for the tracks are kept."""
        most = max(self.width() - _LEAST_AREA_PX - STRIP_PX, _LEAST_GUTTER_PX)
        wide_px = min(max(wide_px, _LEAST_GUTTER_PX), most)
        if wide_px != self.gutter_px:
            self.gutter_px = wide_px
            self._relaid()
            self.gutter_changed.emit(wide_px)

    def move_track(self, key: str, step: int) -> None:
        """Move a track up (-1) or down (+1). Raises: KeyError."""
        if self.arranged.move(key, step):
            self.tracks_changed.emit()

    def visible_items(self, key: str) -> tuple[int, int]:
        """Return the half-open range of items of a track that are in view. Raises: KeyError."""
        return self._prepared[key].visible(self._window.t0_ps, self._window.t1_ps)

    def cancel_build(self) -> None:
        """Stop building pyramids; what is built stays visible, the rest is hatched."""
        self._builder.cancel()

    def shutdown(self) -> None:
        """Stop the building thread and wait for it; for the end of a window's life."""
        self._builder.shutdown()

    def is_building(self) -> bool:
        """Return whether pyramids are being built."""
        return self._builder.job is not None

    def memory_B(self) -> int:
        """Return the bytes of all pyramids."""
        return sum(prepared.memory_B() for prepared in self._prepared.values())

    # the range in view

    def extent(self) -> tuple[int, int]:
        """Return the half-open range of time that the tracks cover."""
        return self._window.extent

    def range(self) -> tuple[int, int]:
        """Return the half-open range of time in view."""
        return self._window.t0_ps, self._window.t1_ps

    def set_range(self, t0_ps: int, t1_ps: int) -> None:
        """Show a range; it is widened or moved when it is too narrow or beside all data."""
        self._window.show(t0_ps, t1_ps)
        self._ranged()

    @property
    def shows_all(self) -> bool:
        """Whether the view is where everything was shown last."""
        return self.range() == self._fitted

    def area_width(self) -> int:
        """Return the width of the time area, logical pixels."""
        return max(self.width() - self.gutter_px - STRIP_PX, 1)

    def zoom_fit(self) -> None:
        """Show everything."""
        self._fit()
        self._ranged()

    def zoom_by(self, factor: float, at_ps: int | None = None) -> None:
        """Show ``1 / factor`` of the time; what is at ``at_ps`` (else the middle) stays in place."""
        self._window.zoom(factor, at_ps)
        self._ranged()

    def zoom_step(self, steps: int) -> None:
        """Zoom in (+1) or out (-1) by one step."""
        self.zoom_by(_ZOOM_STEP**steps)

    def pan_by(self, fraction: float) -> None:
        """Move by a fraction of what is in view."""
        self._window.pan(fraction)
        self._ranged()

    def drag_by(self, dx: float) -> None:
        """Move by pixels."""
        self._window.move(self.time_at(self.gutter_px + dx) - self._window.t0_ps)
        self._ranged()

    def go_to_end(self, *, first: bool) -> None:
        """Show the start or the end at the present zoom."""
        start, end = self._window.extent
        span = self._window.span_ps
        margin = span // 50
        self.set_range(*((start - margin, start - margin + span) if first
                         else (end + margin - span, end + margin)))  # fmt: skip

    def show_time(self, t_ps: int) -> None:
        """Bring a time into view, to the middle when it is not there yet, without zooming."""
        t0, t1 = self.range()
        margin = (t1 - t0) // 20
        if not t0 + margin <= t_ps < t1 - margin:
            self.set_range(t_ps - (t1 - t0) // 2, t_ps - (t1 - t0) // 2 + (t1 - t0))

    def centre(self, t_ps: int) -> None:
        """Bring a time to the middle, without zooming."""
        self.set_range(t_ps - self._window.span_ps // 2, t_ps + -(-self._window.span_ps // 2))

    def toggle_scale(self) -> None:
        """Scale series to what is in view, or to all of their values; the label column says which."""
        self._scale_in_view = not self._scale_in_view
        self._refresh()

    # places

    def time_at(self, x: float) -> int:
        """Return the time at a position of the widget."""
        return self._window.time_at(x - self.gutter_px, self.area_width())

    def x_of(self, t_ps: int) -> float:
        """Return the position in the widget of a time."""
        return self.gutter_px + self._window.x_of(t_ps, self.area_width())

    def row_at(self, y: float) -> Row | None:
        """Return the track at a position of the widget."""
        return None if y < RULER_PX else self.arranged.row_at(int(y) - RULER_PX + self._bar.value())

    def group_at(self, y: float) -> GroupLine | None:
        """Return the line of a group at a position of the widget."""
        if y < RULER_PX:
            return None
        return self.arranged.group_at(int(y) - RULER_PX + self._bar.value())

    def row_center(self, key: str) -> int:
        """Return the height in the widget of the middle of a track. Raises: KeyError."""
        row = self.arranged.row(key)
        if row is None:
            raise KeyError(key)
        return RULER_PX + row.y - self._bar.value() + row.height // 2

    def scroll_by(self, pages: float) -> None:
        """Scroll the tracks by a part of the height."""
        self._bar.setValue(self._bar.value() + round(pages * self._area_height()))

    @property
    def scrolled_px(self) -> int:
        """How far down the tracks are scrolled."""
        return self._bar.value()

    def show_tracks(self, keys: Collection[str]) -> bool:
        """Bring all these tracks into view, with what is written above the first; False where they have no room."""
        rows = [row for row in self.arranged.rows if row.key in keys]
        if not rows:
            return False
        first, last = rows[0], rows[-1]
        top = first.y - HEADING_PX * bool(first.heading) - GROUP_PX * first.grouped
        room = self._area_height() - (last.y + last.height - top)
        if room < 0:
            return False
        if not top - room <= self._bar.value() <= top:
            self._bar.setValue(top)
        return True

    def show_track(self, key: str) -> None:
        """Scroll until a track is in view."""
        row = self.arranged.row(key)
        if row is None:
            return
        top, bottom = self._bar.value(), self._bar.value() + self._area_height()
        if row.y - 20 < top:
            self._bar.setValue(row.y - 20)
        elif row.y + row.height > bottom:
            self._bar.setValue(row.y + row.height - self._area_height())

    # looks

    def set_theme(self, name: str) -> None:
        """Use the colours ``dark`` or ``light``. Raises: ValueError."""
        if name not in THEMES:
            raise ValueError(f"no theme {name!r}; there are {', '.join(sorted(THEMES))}")
        self._theme = THEMES[name]
        self._bar.set_colours(self._theme)
        self._refresh()

    def render_image(self) -> QImage:
        """Return what is seen as an image."""
        return export.image(self._scene(), self._overlay(), (self.width(), self.height()))

    def render_svg(self) -> bytes:
        """Return what is seen as an SVG document: lines and text."""
        return export.svg(self._scene(), self._overlay(), (self.width(), self.height()))

    # Qt

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Paint the tracks when they changed, and what is drawn above them."""
        scene = self._scene()
        painter = QPainter(self)
        if self._stale:
            self._raster.paint(scene, self.devicePixelRatioF())
            self._stale = False
        wide = self.gutter_px
        painter.drawImage(QPointF(wide, RULER_PX), self._raster.image)
        corner = QRectF(wide + scene.width, 0, STRIP_PX, RULER_PX)
        painter.fillRect(corner, QColor(self._theme.gutter))
        overlay = self._overlay()
        painter.translate(wide, 0)
        draw_ruler(painter, scene, overlay)
        painter.translate(0, RULER_PX)
        draw_overlay(painter, scene, overlay)
        painter.translate(-wide, -RULER_PX)
        draw_gutter(painter, scene, overlay, self.hasFocus())
        painter.end()

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Give the scroll bar its place."""
        self._relaid()

    # for the class above this one

    def _overlay(self) -> Overlay:
        return Overlay(focus=self._focus)

    def _scene(self) -> Scene:
        area_height, scroll = self._area_height(), self._bar.value()
        rows = tuple(
            (row, self._prepared[row.key])
            for row in self.arranged.rows
            if row.y < scroll + area_height and row.y + row.height > scroll
        )
        return Scene(
            self._window, self._theme, rows, self.area_width(), area_height, scroll, self._scale_in_view,
            self.gutter_px, tuple(g for g in self.arranged.groups if g.y < scroll + area_height),
            self._scales(),
        )  # fmt: skip

    def _scales(self) -> dict[str, tuple[float, float]]:
        """Return the smallest and largest value of each scale, of the tracks that are shown."""
        spans: dict[str, list[tuple[float, float]]] = {}
        for row in self.arranged.rows:
            prepared = self._prepared[row.key]
            track = prepared.track
            if isinstance(track, SeriesTrack) and track.scale:
                span = prepared.extremes()
                spans.setdefault(track.scale, []).extend([] if span is None else [span])
        return {
            scale: (min(low for low, _ in held), max(high for _, high in held))
            for scale, held in spans.items()
            if held
        }

    def _refresh(self) -> None:
        self._stale = True
        self.update()

    def _area_height(self) -> int:
        return max(self.height() - RULER_PX, 1)

    def _reused(self, track: Track) -> Prepared:
        known = self._prepared.get(track.key)
        return known if known is not None and known.track is track else Prepared(track)

    def _start_build(self) -> None:
        order = [key for key in self.arranged.order() if key not in self.arranged.hidden]
        order += [key for key in self.arranged.order() if key in self.arranged.hidden]
        self._builder.build([self._prepared[key] for key in order])

    def _fit(self) -> None:
        self._window.fit()
        self._fitted = self.range()

    def _measure_extent(self) -> None:
        spans = [span for p in self._prepared.values() if (span := p.extent_ps())]
        if spans:
            self._window.set_extent(min(s[0] for s in spans), max(s[1] for s in spans))

    def _relaid(self) -> None:
        width = STRIP_PX
        self._bar.setGeometry(self.width() - width, RULER_PX, width, self._area_height())
        self._bar.setRange(0, max(self.arranged.height - self._area_height(), 0))
        self._bar.setPageStep(self._area_height())
        self._bar.setSingleStep(20)
        self._refresh()

    def _ranged(self) -> None:
        self._refresh()
        self.range_changed.emit(self._window.t0_ps, self._window.t1_ps)

    def _built_some(self) -> None:
        if not self._later.isActive():
            self._later.start()

    def _built_all(self) -> None:
        fitted = self.range() == self._fitted
        self._measure_extent()
        if fitted:
            self.zoom_fit()
        self._refresh()
