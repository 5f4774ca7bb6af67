"""The window never waits: nothing that the user does, or a worker gives, holds its thread for long.

What is measured is what the window's thread works and sleeps (for the interpreter's lock, for a file) from
the first event it takes until it waits for the next: other programs of the machine do not count, see
`thread_time`. How long that is at most, `make bench` compares with 50 ms; here nothing may hang.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PyQt6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from freezeframe.gui.desktop.application import prepare_process
from freezeframe.gui.desktop.panels.table_model import PAGE_ROWS, FrameModel
from freezeframe.gui.desktop.progress import Progress
from freezeframe.gui.desktop.sources.opened import Opened, Table
from freezeframe.gui.desktop.window import MainWindow
from freezeframe.gui.desktop.workers import Jobs
from freezeframe.gui.tracks.tracks import SliceTrack
from tests.gui.desktop.conftest import WAIT_MS, click, settle, wait_loaded
from tests.gui.desktop.watchdog import Watchdog

HANGS_S = 5.0  # no measure of anything: whoever loads, decodes or searches in the window's thread holds it so
SEEN_S = 0.050
ROWS = 1_000_000


@pytest.fixture
def watchdog(qtbot: QtBot) -> Iterator[Watchdog]:
    prepare_process()  # as the program does before it shows its window
    dog = Watchdog()
    yield dog
    dog.stop()


def long_source(key: str = "7") -> Opened:
    """A million slices on one track, with their table."""
    begin = np.arange(ROWS, dtype=np.int64) * 10_000
    kinds = pd.Categorical(np.take(["DATA", "IDLE", "ACK"], np.arange(ROWS) % 3))
    kinds = kinds.set_categories(["DATA", "IDLE", "ACK"])
    frame = pd.DataFrame({"t_ps": begin, "kind": kinds, "value": np.arange(ROWS, dtype=np.int64)})
    opened = Opened(key, "long", "long", "samples", Path("long"), loaded=True)
    opened.tables["events"] = Table("events", frame)
    opened.tracks.append(
        SliceTrack(key=f"{key}/table/events", name="events", source="long", t_ps=begin, t_end_ps=begin + 9_000,
                   colour=(np.arange(ROWS) % 3).astype(np.uint8), classes=("DATA", "IDLE", "ACK"))
    )  # fmt: skip
    opened.shown_by[f"{key}/table/events"] = "events"
    return opened


def test_the_watchdog_sees_a_call_that_is_too_long(qtbot: QtBot, watchdog: Watchdog) -> None:
    def busy() -> None:
        end = time.thread_time() + 2 * SEEN_S
        while time.thread_time() < end:
            pass

    QTimer.singleShot(0, busy)
    qtbot.waitUntil(lambda: max(watchdog.turns_s, default=0) > SEEN_S, timeout=WAIT_MS)


def test_the_watchdog_sees_a_call_that_waits_for_a_lock(qtbot: QtBot, watchdog: Watchdog) -> None:
    lock = threading.Lock()
    lock.acquire()
    threading.Timer(3 * SEEN_S, lock.release).start()
    QTimer.singleShot(0, lock.acquire)
    qtbot.waitUntil(lambda: max(watchdog.turns_s, default=0) > SEEN_S, timeout=WAIT_MS)


def test_the_collector_never_passes_over_what_was_loaded_before_the_window() -> None:
    code = (
        "import gc, json\n"
        "from freezeframe.gui.desktop.application import prepare_process\n"
        "prepare_process()\n"
        "print(json.dumps([gc.get_freeze_count(), len(gc.get_objects())]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    kept, passed_over = json.loads(done.stdout)
    assert kept > 50 * passed_over  # a full collection held the window for 80 ms with them


def test_opening_a_capture_and_following_its_finding_never_holds_the_window(
    opened: MainWindow, qtbot: QtBot, fault_capture: Path, watchdog: Watchdog
) -> None:
    opened.workspace.close_source("1")
    qtbot.wait(50)
    watchdog.turns_s.clear()
    key = wait_loaded(qtbot, opened, fault_capture)
    settle(qtbot, opened)
    opened.findings.list.setCurrentRow(0)
    opened.choosing.show_finding(key, 0)
    settle(qtbot, opened)
    assert len(watchdog.turns_s) > 10
    assert max(watchdog.turns_s) < HANGS_S


def test_a_million_rows_are_searched_filtered_and_measured_without_holding_the_window(
    qtbot: QtBot, window: MainWindow, watchdog: Watchdog
) -> None:
    opened = long_source()
    window.workspace._take("7", opened)
    settle(qtbot, window)
    watchdog.turns_s.clear()
    window.table.find_edit.setText("value == 0xf4230 or kind == nothing")
    settle(qtbot, window)
    window.table.step(1)
    assert window.table.current_row() == 0xF4230
    window.table.filter_edit.setText("kind == ACK and value > 500_000")
    settle(qtbot, window)
    kept = np.flatnonzero((np.arange(ROWS) % 3 == 2) & (np.arange(ROWS) > 500_000))
    assert window.table.model.shown == len(kept)
    assert len({t.key: t for t in window.timeline.tracks()}["7/table/events"]) == len(kept)
    window.timeline.zoom_fit()
    window.measure()
    settle(qtbot, window)
    assert max(watchdog.turns_s) < HANGS_S


def test_a_table_of_many_million_rows_is_shown_a_million_at_a_time_and_every_row_is_reached() -> (
    None
):
    model = FrameModel()
    count = 2 * PAGE_ROWS + 7
    model.show_frame(pd.DataFrame({"n": np.arange(count, dtype=np.int64)}))
    assert (model.rowCount(), model.pages) == (PAGE_ROWS, 3)
    line = model.line_of(count - 1)
    assert line is not None
    assert (model.page, line, model.row_at(line), model.cell(count - 1, 0)) == (
        2,
        6,
        count - 1,
        str(count - 1),
    )
    model.show_rows(np.arange(1, count, 2, dtype=np.int64))
    assert (model.shown, model.page) == (count // 2, 0)
    assert model.line_of(0) is None
    assert model.line_of(2 * PAGE_ROWS + 1) == 0
    assert model.page == 1
    model.show_page(99)
    assert model.page == model.pages - 1


def test_the_cost_of_a_table_does_not_follow_its_rows(qtbot: QtBot) -> None:
    def cost(rows: int) -> float:
        frame = pd.DataFrame(
            {"n": np.arange(rows, dtype=np.int64), "m": np.arange(rows, dtype=np.int64)}
        )
        best = float("inf")
        for _ in range(3):
            model = FrameModel()
            begun = time.thread_time()
            model.show_frame(frame)
            for row in range(100):
                model.data(model.index(rows // 2 + row, 0))
            best = min(best, time.thread_time() - begun)
        return best

    assert cost(900_000) < 20 * cost(1_000)  # nine hundred times the rows


def test_work_is_cancelled_and_nothing_of_it_is_heard_any_more(qtbot: QtBot) -> None:
    jobs = Jobs()
    ended = threading.Event()

    def work(progress: Progress) -> str:
        try:
            for number in range(10**9):
                progress.report(number, 10**9, "going on")
                time.sleep(0.002)
        finally:
            ended.set()
        return "never"

    job = jobs.start("endless", work)
    heard: list[object] = []
    job.done.connect(heard.append)
    job.failed.connect(heard.append)
    with qtbot.waitSignal(job.progressed, timeout=WAIT_MS):
        pass
    with qtbot.waitSignal(job.ended, timeout=WAIT_MS):
        job.cancel()
    assert jobs.running == []  # gone at once for the user
    assert ended.wait(10)  # and the thread soon after
    qtbot.wait(50)
    assert heard == []


def test_a_job_that_fails_says_so_in_one_line_and_ends(
    qtbot: QtBot, capsys: pytest.CaptureFixture[str]
) -> None:
    from freezeframe.capture.errors import InputError

    jobs = Jobs()

    def work(progress: Progress) -> None:
        raise InputError("x.ff: bad\x1b[31m")

    job = jobs.start("failing", work)
    with qtbot.waitSignals([job.failed, job.ended], timeout=WAIT_MS) as heard:
        pass
    assert heard.all_signals_and_args[0].args == ("x.ff: bad\\x1b[31m",)
    assert jobs.running == []


def test_what_takes_long_has_a_line_with_progress_and_a_button_that_cancels(
    qtbot: QtBot, window: MainWindow
) -> None:
    from PyQt6.QtWidgets import QProgressBar, QPushButton

    def work(progress: Progress) -> None:
        for number in range(10**6):
            progress.report(number % 100, 100, "half way")
            time.sleep(0.005)

    job = window.workspace.jobs.start("long work", work)
    qtbot.waitUntil(
        lambda: job in window.jobs_bar.lines and window.jobs_bar.lines[job].isVisible(),
        timeout=WAIT_MS,
    )
    line = window.jobs_bar.lines[job]
    bar = line.findChild(QProgressBar)
    assert bar is not None and bar.accessibleName() == "progress of long work"
    button = line.findChild(QPushButton)
    assert button is not None
    click(button)
    assert job not in window.jobs_bar.lines
