"""A time line without a screen."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # before Qt is imported

from pytestqt.qtbot import QtBot

from freezeframe.gui.desktop.timeline.view import TimelineView
from freezeframe.gui.tracks.tracks import Track

Shown = Callable[[Sequence[Track]], TimelineView]


@pytest.fixture
def shown(qtbot: QtBot) -> Iterator[Shown]:
    """Return a function that shows tracks in a time line of 800 x 500 and waits until all is built."""
    views: list[TimelineView] = []

    def show(tracks: Sequence[Track]) -> TimelineView:
        view = TimelineView()
        qtbot.addWidget(view)
        views.append(view)
        view.resize(800, 500)
        with qtbot.waitExposed(view):  # before, a repaint paints nothing
            view.show()
        view.set_tracks(tracks)
        # a machine that never ran this before compiles the kernels first
        qtbot.waitUntil(lambda: not view.is_building(), timeout=180_000)
        view.repaint()
        return view

    yield show
    for view in views:
        view.shutdown()
