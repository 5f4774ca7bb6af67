"""The panes of the window: the time line in the middle, panels around it, and what is said above and below."""

from __future__ import annotations

from PyQt6.QtCore import QChildEvent, QSize, Qt
from PyQt6.QtGui import QShowEvent, QUndoStack
from PyQt6.QtWidgets import (
    QDockWidget,
    QLineEdit,
    QMainWindow,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from freezeframe.capture.errors import FreezeframeError
from freezeframe.gui.desktop.legend import Legend
from freezeframe.gui.desktop.panels.cursors import CursorsPanel
from freezeframe.gui.desktop.panels.event_table import EventTable
from freezeframe.gui.desktop.panels.findings import FindingsPanel
from freezeframe.gui.desktop.panels.inspector import InspectorPanel
from freezeframe.gui.desktop.panels.jobs_bar import JobsBar
from freezeframe.gui.desktop.panels.live_panel import LivePanel
from freezeframe.gui.desktop.panels.measurements import MeasurementsPanel
from freezeframe.gui.desktop.panels.notes_panel import NotesPanel
from freezeframe.gui.desktop.panels.proof_panel import ProofPanel
from freezeframe.gui.desktop.panels.sources_panel import SourcesPanel
from freezeframe.gui.desktop.panels.story_strip import StoryStrip
from freezeframe.gui.desktop.panels.tracks_panel import TracksPanel
from freezeframe.gui.desktop.panels.welcome import Welcome
from freezeframe.gui.desktop.theme import apply_theme
from freezeframe.gui.desktop.timeline.overview import Overview
from freezeframe.gui.desktop.timeline.scene import GUTTER_PX
from freezeframe.gui.desktop.timeline.view import TimelineView
from freezeframe.gui.desktop.track_control import TrackControl
from freezeframe.gui.desktop.widgets import beside, button, named, plain_label
from freezeframe.gui.desktop.workspace import Workspace
from freezeframe.gui.palette import THEMES, ThemeName
from freezeframe.gui.text import printable

_SAID_SHARE, _SAID_PX = 0.27, (370, 620)  # of the window's width, for what is said of a choice
_READ_SHARE, _READ_PX = 0.3, (180, 300)  # of its height, for tables and proofs
_USUAL_PX = QSize(1600, 900)  # of the window, where the screen has room
_TROUBLES = 5  # messages that are shown at once


class Panes(QMainWindow):
    """A window with all panes, in which nothing is connected yet: that is the part of `Views`."""

    def __init__(self, workspace: Workspace, *, allow_write: bool, theme: ThemeName) -> None:
        super().__init__()
        self.setWindowTitle("Freezeframe")
        self.workspace = workspace
        workspace.setParent(self)
        self.allow_write = allow_write
        self.undo = QUndoStack(self)
        self.panels_kept = False
        """Whether the panels have the sizes that they are to have."""
        self._recordings = True
        self._findings_away = False  # hidden for want of recordings, not by the user
        self.theme: ThemeName = theme
        self.timeline = named(
            TimelineView(), "time line", "Arrows move, + and - zoom, F fits, n and p step."
        )
        self.overview = named(Overview(GUTTER_PX), "overview of the whole recording")
        self.overview.hide()
        self.table = EventTable(workspace.jobs)
        self.findings = FindingsPanel()
        self.proof = ProofPanel(workspace.jobs)
        self.story = named(StoryStrip(), "story", "How the finding came about, step by step.")
        self.inspector = InspectorPanel()
        self.measurements = MeasurementsPanel()
        self.cursors = CursorsPanel(self.timeline)
        self.notes = NotesPanel(self.undo)
        self.sources = SourcesPanel()
        self.live = LivePanel(allow_write)
        self.tracks = TracksPanel()
        self.control = TrackControl(self.timeline, self.tracks, self)
        self.legend = named(Legend(), "legend")
        self.welcome = Welcome()
        self.legend_on = True
        self.setAcceptDrops(True)
        self.jobs_bar = JobsBar(workspace.jobs)
        self._troubles: list[str] = []
        self.trouble = plain_label("message")
        self.trouble.setContentsMargins(8, 4, 8, 4)
        self._trouble_bar = beside(
            self.trouble,
            button("Dismiss", "dismiss message", lambda: self.say_trouble("")),
            stretch=0,
        )
        self._trouble_bar.hide()
        self.docks: dict[str, QDockWidget] = {}
        self._lay_out()
        self.docks["Findings"].visibilityChanged.connect(self._panel_seen)
        self.set_theme(theme)

    def showEvent(self, event: QShowEvent | None) -> None:
        """Give the panels their share of the window, unless they stand as the user left them."""
        super().showEvent(event)
        if not self.panels_kept:
            self.panels_kept = True
            wide_px = min(max(int(self.width() * _SAID_SHARE), _SAID_PX[0]), _SAID_PX[1])
            high_px = min(max(int(self.height() * _READ_SHARE), _READ_PX[0]), _READ_PX[1])
            self.resizeDocks([self.docks["Findings"]], [wide_px], Qt.Orientation.Horizontal)
            self.resizeDocks([self.docks["Events"]], [high_px], Qt.Orientation.Vertical)

    def show_legend(self, on: bool) -> None:
        """Show what colours mean below the time line, or not."""
        self.legend_on = on
        self.show_middle()

    def focus_line(self, line: QLineEdit) -> None:
        """Put the keyboard into a line of the table, its text chosen."""
        self.show_panel("Events")
        line.setFocus()
        line.selectAll()

    def show_panel(self, title: str) -> None:
        """Bring a panel to the front."""
        dock = self.docks[title]
        dock.show()
        dock.raise_()

    def set_theme(self, theme: ThemeName) -> None:
        """Show everything dark or light."""
        self.theme = theme
        apply_theme(theme)
        self.timeline.set_theme(theme)
        self.proof.set_theme(theme)
        self.story.set_theme(theme)
        self.overview.theme = THEMES[theme]
        self.overview.update()
        self.legend.theme = THEMES[theme]
        self.legend.update()

    def say(self, text: str) -> None:
        """Show a line in the status bar for a while."""
        status = self.statusBar()
        if status is not None:
            status.showMessage(printable(text), 8000)

    def say_trouble(self, text: str) -> None:
        """Show what went wrong above the time line, below what was said before; empty dismisses all."""
        line = printable(text)
        if line in self._troubles:
            return
        self._troubles = [*self._troubles, line] if line else []
        self.trouble.setText("\n".join(f"⚠ {one}" for one in self._troubles[-_TROUBLES:]))
        self._trouble_bar.setVisible(bool(line))

    def report_error(self, error: FreezeframeError) -> None:
        """Show an error of something that was asked for."""
        self.say_trouble(str(error))

    def show_middle(self) -> None:
        """Show the time line, or while nothing is open what can be opened."""
        empty = not self.workspace.sources and not self.workspace.opening
        self.welcome.setVisible(empty)
        self.timeline.setVisible(not empty)
        self.legend.setVisible(self.legend_on and not empty)

    def make_room(self, recordings: bool) -> None:
        """Hide the findings while nothing can have one; a panel that the user closed stays closed."""
        if recordings == self._recordings:
            return
        self._recordings = recordings
        dock = self.docks["Findings"]
        if not recordings and not dock.isHidden():
            dock.hide()
            self._findings_away = True
        elif recordings and self._findings_away:
            self._findings_away = False
            dock.show()

    def panels_state(self) -> bytes:
        """Return what Qt keeps of the panels as the user left them: findings that are only away are among them."""
        dock, away = self.docks["Findings"], self._findings_away
        if away:
            dock.show()
        state = bytes(self.saveState().data())
        if away:
            dock.hide()
            self._findings_away = True
        return state

    # Building

    def _lay_out(self) -> None:
        middle = QWidget()
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._trouble_bar)
        column.addWidget(self.welcome, 1)
        column.addWidget(self.story)
        column.addWidget(self.overview)
        column.addWidget(self.timeline, 1)
        column.addWidget(self.legend)
        column.addWidget(self.jobs_bar)
        self.setCentralWidget(middle)
        right, bottom = (
            Qt.DockWidgetArea.RightDockWidgetArea,
            Qt.DockWidgetArea.BottomDockWidgetArea,
        )
        # What is read of the time line lies in its width; beside it, what is said of a choice, and what is shown.
        self._dock("Findings", self.findings, right)
        for area, tabs in (
            (
                bottom,
                {
                    "Events": self.table,
                    "Proof": self.proof,
                    "Measurements": self.measurements,
                    "Cursors": self.cursors,
                    "Notes": self.notes,
                },
            ),
            (
                right,
                {
                    "Inspector": self.inspector,
                    "Sources": self.sources,
                    "Live": self.live,
                    "Tracks": self.tracks,
                },
            ),
        ):
            first = next(iter(tabs))
            for title, widget in tabs.items():
                self._dock(title, widget, area)
                if title != first:
                    self.tabifyDockWidget(self.docks[first], self.docks[title])
            self.docks[first].raise_()
        self.setCorner(Qt.Corner.BottomRightCorner, right)
        self.setTabPosition(right, self.tabPosition(bottom))
        screen = self.screen()
        room = _USUAL_PX if screen is None else screen.availableGeometry().size()
        self.resize(_USUAL_PX.boundedTo(room))
        status = self.statusBar()
        if status is not None:
            named(status, "status")

    def _dock(self, title: str, widget: QWidget, area: Qt.DockWidgetArea) -> None:
        dock = named(QDockWidget(title), f"{title} panel")
        dock.setObjectName(title)
        dock.setWidget(widget)
        self.addDockWidget(area, dock)
        self.docks[title] = dock

    def childEvent(self, event: QChildEvent | None) -> None:
        """Have no name of a tab cut, also of tabs made by moving panels: arrows lead to those without room."""
        child = None if event is None else event.child()
        if event is not None and event.polished() and isinstance(child, QTabBar):
            child.setElideMode(Qt.TextElideMode.ElideNone)
            child.setUsesScrollButtons(True)

    def _panel_seen(self, seen: bool) -> None:
        """Once the user has opened the findings, what becomes of them is his choice again."""
        self._findings_away = self._findings_away and not seen
