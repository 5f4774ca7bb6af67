"""What the tests of the desktop share: no screen, the window, the capture of the demo's fault."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # before Qt is imported

import pytest
from PyQt6.QtCore import QPoint, Qt, QTimer
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from freezeframe.analyzers.registry import AnalysisRegistry
from freezeframe.capture.files.choice import SourceChoice
from freezeframe.decoders.registry import Registry
from freezeframe.gui.desktop.window import MainWindow
from freezeframe.gui.desktop.workspace import Workspace
from tests.gui.desktop.captures import emulated

NO_ANALYSES = AnalysisRegistry()  # most tests need none, and each costs time
MakeWindow = Callable[..., MainWindow]
Show = Callable[..., MainWindow]
NO_MODIFIER = Qt.KeyboardModifier.NoModifier
_QTEST: Any = QTest  # its type stubs take the widget for self
WAIT_MS = 180_000  # never the measure of anything: what is waited for comes, or the test hangs and says so


@pytest.fixture(scope="session")
def fault_capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's fault: word 3 of packet 69 is lost in A's outgoing FIFO. Only to be read."""
    return emulated(tmp_path_factory.mktemp("captures") / "fault.ff")


@pytest.fixture(scope="session")
def other_capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same cards and traffic, another fault. Only to be read."""
    return emulated(tmp_path_factory.mktemp("captures") / "other.ff", "payload-bit-flip")


@pytest.fixture
def make_window(qtbot: QtBot, tmp_path: Path) -> Iterator[MakeWindow]:
    """Return a function that shows a window; all are closed at the end, and their threads with them."""
    made: list[MainWindow] = []

    def make(
        *,
        allow_write: bool = False,
        period_s: float = 0.05,
        analyses: AnalysisRegistry | None = NO_ANALYSES,
        choice: SourceChoice | None = None,
        registry: Registry | None = None,
    ) -> MainWindow:
        workspace = Workspace(
            period_s=period_s, into=tmp_path, analyses=analyses, choice=choice, registry=registry
        )
        window = MainWindow(workspace, allow_write=allow_write)
        made.append(window)
        window.resize(1600, 900)  # the screen of these tests is smaller
        window.show()
        return window

    yield make
    for window in made:
        window.close()
        window.deleteLater()


@pytest.fixture
def window(make_window: MakeWindow) -> MainWindow:
    return make_window()


@pytest.fixture
def show(qtbot: QtBot, window: MainWindow, fault_capture: Path) -> Show:
    """Return a function that shows what is opened, the demo's fault, in a window of a size, once all of it is there."""

    def shown(what: object = fault_capture, size: tuple[int, int] | None = None) -> MainWindow:
        if size is not None:
            window.resize(*size)
        wait_loaded(qtbot, window, what)
        settle(qtbot, window)
        return window

    return shown


@pytest.fixture
def opened(show: Show) -> MainWindow:
    """A window that shows the demo's fault, its source "1"."""
    return show()


def press(widget: QWidget, key: Qt.Key, modifier: Qt.KeyboardModifier = NO_MODIFIER) -> None:
    """Press a key in a widget."""
    _QTEST.keyClick(widget, key, modifier)


def type_text(widget: QWidget, text: str) -> None:
    """Type a text into a widget."""
    _QTEST.keyClicks(widget, text)


def click(widget: QWidget | None, at: QPoint | None = None) -> None:
    """Click with the left button, in the middle where no place is said."""
    assert widget is not None
    place = widget.rect().center() if at is None else at
    _QTEST.mouseClick(widget, Qt.MouseButton.LeftButton, NO_MODIFIER, place)


def wait_loaded(qtbot: QtBot, window: MainWindow, what: object, *specs: str) -> str:
    """Open a source and wait until all of it is there; return its key."""
    key = window.open(str(what), specs)
    assert key is not None, window.trouble.text()

    def loaded() -> bool:
        opened = window.workspace.sources.get(key)
        return opened is not None and opened.loaded and not window.workspace.jobs.running

    qtbot.waitUntil(loaded, timeout=WAIT_MS)
    return key


def settle(qtbot: QtBot, window: MainWindow) -> None:
    """Wait until nothing works any more: jobs, pyramids, and timers that act once, of typing and of laying out."""
    still = 0

    def stands_still() -> bool:
        nonlocal still
        timers = [*window.findChildren(QTimer), *window.workspace.findChildren(QTimer)]
        works = window.workspace.jobs.running or window.timeline.is_building()
        works = works or any(timer.isSingleShot() and timer.isActive() for timer in timers)
        still = 0 if works else still + 1
        return still > 2  # what a timer or a job has asked for has come, too

    qtbot.waitUntil(stands_still, timeout=WAIT_MS)
