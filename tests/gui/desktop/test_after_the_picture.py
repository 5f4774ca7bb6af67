"""What nobody has asked for yet begins when the picture of what was found is drawn."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from freezeframe.gui.desktop.progress import Cancelled, Progress
from freezeframe.gui.desktop.sources import explained
from freezeframe.gui.desktop.sources.opened import Part
from freezeframe.gui.desktop.window import MainWindow
from freezeframe.gui.desktop.workers import Jobs
from tests.gui.desktop.conftest import WAIT_MS, wait_loaded


def test_work_goes_on_when_the_window_has_drawn_what_it_was_given(qtbot: QtBot) -> None:
    jobs = Jobs()
    drawing = [True, True, True]
    order: list[str] = []

    def is_drawing() -> bool:
        order.append("draws" if drawing else "has drawn")
        return bool(drawing and drawing.pop())

    jobs.is_drawing = is_drawing

    def work(progress: Progress) -> None:
        progress.give("a part")
        progress.wait_until_shown()
        order.append("goes on")

    job = jobs.start("waits", work)
    job.part.connect(lambda part: order.append(f"takes {part}"))
    with qtbot.waitSignal(job.done, timeout=WAIT_MS):
        pass
    assert order == ["takes a part", "draws", "draws", "draws", "has drawn", "goes on"]


def test_work_that_waits_for_the_window_can_be_cancelled(qtbot: QtBot) -> None:
    jobs = Jobs()
    looked = threading.Event()
    jobs.is_drawing = lambda: looked.set() or True  # type: ignore[func-returns-value]
    left: list[type[BaseException]] = []
    over = threading.Event()

    def work(progress: Progress) -> None:
        try:
            progress.wait_until_shown(most_s=WAIT_MS)
        except Cancelled:
            left.append(Cancelled)
            raise
        finally:
            over.set()

    job = jobs.start("waits", work)
    qtbot.waitUntil(looked.is_set, timeout=WAIT_MS)
    job.cancel()
    qtbot.waitUntil(over.is_set, timeout=WAIT_MS)
    assert left == [Cancelled]


def test_a_window_that_draws_without_end_holds_no_work_up(qtbot: QtBot) -> None:
    jobs = Jobs()
    jobs.is_drawing = lambda: True
    job = jobs.start("waits", lambda progress: progress.wait_until_shown(most_s=0.05))
    with qtbot.waitSignal(job.done, timeout=WAIT_MS):
        pass


def test_work_without_a_window_waits_for_none() -> None:
    Progress().wait_until_shown()


def test_analyses_begin_when_the_first_finding_is_told_and_marked(
    qtbot: QtBot, window: MainWindow, fault_capture: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, bool, bool]] = []

    def analyses(*_: object) -> Iterator[Part]:
        seen.append(
            (
                window.findings.list.currentRow(),
                "word-omitted" in window.findings.text.toPlainText(),
                bool(window.timeline.hit_times),
            )
        )
        yield from ()

    monkeypatch.setattr(explained, "_analysis_parts", analyses)
    monkeypatch.setattr(Progress.wait_until_shown, "__defaults__", (WAIT_MS / 1000,))
    wait_loaded(qtbot, window, fault_capture)
    assert seen == [(0, True, True)]
