"""The desktop's time line: one pan or zoom step at 1600 x 900, offscreen, against issue 6's limits.

Columns are drawn from pyramids; before any time is taken, what they say is compared with what numpy
finds in the raw columns. What other programs take of the machine is not counted: a redraw costs the
time of the window's thread (it waits for nothing, so on an idle machine this is the clock's time), opening
the time of the whole process (its two threads overlap, so the clock shows less), and a call of the window
what its thread works and sleeps, for the builder's hold on the interpreter say (`thread_time`).
"""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PyQt6.QtCore import QEventLoop, QTimer
from PyQt6.QtWidgets import QApplication

from freezeframe.gui.desktop.application import prepare_process
from freezeframe.gui.desktop.timeline.view import TimelineView
from freezeframe.gui.desktop.window import MainWindow
from freezeframe.gui.desktop.workspace import Workspace
from freezeframe.gui.plots.pyramid import SeriesPyramid
from freezeframe.gui.plots.slices import SlicePyramid
from freezeframe.gui.tracks.tracks import SeriesTrack, SliceTrack, Track
from tests.bench.common import BenchResult, main
from tests.gui.desktop.captures import emulated
from tests.gui.desktop.conftest import NO_ANALYSES
from tests.gui.desktop.thread_time import Moment, spent_s
from tests.gui.desktop.watchdog import Watchdog

Int64 = npt.NDArray[np.int64]

_MANY = 100_000_000
_SIZE = (1600, 900)
_ZOOMS = (1.0, 0.3, 0.1, 0.03, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
_STEPS = 20  # pan steps measured at each zoom
_FIRST_S = 2.0  # until the first picture
_CALL_S = 0.050  # longest call in the window's thread
_MEMORY = 0.20


@dataclass(frozen=True, slots=True)
class _Opened:
    view: TimelineView
    first_s: float  # until something of the tracks is seen
    whole_s: float  # until all of it is
    longest_s: float


def run() -> list[BenchResult]:
    """Measure the tracks of issue 6, one after the other: a hundred million items take gigabytes."""
    application = QApplication.instance() or QApplication([])
    prepare_process()
    _warm()
    results: list[BenchResult] = []
    rng = np.random.default_rng(1)
    t_ps = np.cumsum(rng.integers(1, 20_000, _MANY, dtype=np.int64))
    results += _measure("series of 100 M points", [_series(t_ps, rng)], 5, 10, opening=True)
    gc.collect()
    results += _measure("track of 100 M slices", [_slices("p", t_ps, rng)], 16, 30, opening=True)
    del t_ps
    gc.collect()
    ten = []
    for number in range(10):
        times = np.cumsum(rng.integers(1, 20_000, 1_000_000, dtype=np.int64))
        ten.append(_slices(f"p{number}", times, rng))
    results += _measure("10 tracks of 1 M slices", ten, 16, 30, opening=False)
    results.append(_following())
    del application
    return results


def _measure(
    name: str, tracks: Sequence[Track], median_ms: float, late_ms: float, *, opening: bool
) -> list[BenchResult]:
    opened = _open(tracks)
    for track in tracks:
        _compare(opened.view, track)
    times = _redraws(opened.view)
    median, late = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    rows = [
        BenchResult(f"redraw, {name}, median", 1 / median, "redraws/s", median_ms / 1e3 / median,
                    f"{median_ms:g} ms", 1.0),
        BenchResult(f"redraw, {name}, 95 %", 1 / late, "redraws/s", late_ms / 1e3 / late,
                    f"{late_ms:g} ms", 1.0),
    ]  # fmt: skip
    data_B = sum(track.data_B() for track in tracks)
    share = opened.view.memory_B() / data_B
    rows.append(
        BenchResult(f"pyramid, {name}", share * 100, "% of the data", _MEMORY / share, "20 %", 1.0)
    )
    if opening:
        first = BenchResult(f"first picture, {name}", 1 / opened.first_s, "1/s",
                            _FIRST_S / opened.first_s, "2 s", 1.0)  # fmt: skip
        whole = BenchResult(f"whole picture, {name}", 1 / opened.whole_s, "1/s",
                            _FIRST_S / opened.whole_s, "2 s", 1.0)  # fmt: skip
        longest = BenchResult(f"longest call of the window, {name}", 1 / opened.longest_s, "1/s",
                              _CALL_S / opened.longest_s, "50 ms", 1.0)  # fmt: skip
        rows += [first, whole, longest]
    opened.view.shutdown()
    opened.view.deleteLater()
    return rows


def _open(tracks: Sequence[Track]) -> _Opened:
    """Show tracks as a window does, its event loop running; time its calls and the whole picture."""
    view = TimelineView()
    view.resize(*_SIZE)
    view.show()
    QApplication.processEvents()
    calls: list[float] = []

    def call(something: Callable[[], object]) -> None:
        begin = Moment.now()
        something()
        calls.append(spent_s(begin, Moment.now()))

    start = time.process_time()
    first_s = 0.0
    call(lambda: view.set_tracks(tracks))
    while view.is_building():
        call(QApplication.processEvents)
        if not first_s and all(view._prepared[track.key].ready for track in tracks):
            call(view.repaint)
            first_s = time.process_time() - start
        time.sleep(0.001)  # an event loop sleeps between events; the builder has the core meanwhile
    call(QApplication.processEvents)
    call(view.repaint)
    whole_s = time.process_time() - start
    return _Opened(view, first_s or whole_s, whole_s, max(calls))


def _following() -> BenchResult:
    """Open the demo's capture and follow its finding as a user does; of three times the shortest longest call."""
    with TemporaryDirectory() as place:
        capture = emulated(Path(place) / "fault.ff")
        window = MainWindow(Workspace(period_s=0.05, into=Path(place), analyses=NO_ANALYSES))
        window.show()
        dog, longest = Watchdog(), []
        for _ in range(4):
            dog.turns_s.clear()
            key = window.open(str(capture))
            assert key is not None, window.trouble.text()
            _settle(window)
            assert window.workspace.sources[key].loaded
            window.choosing.show_finding(key, 0)
            _settle(window)
            longest.append(max(dog.turns_s))
            window.workspace.close_source(key)
            _wait(50)
        dog.stop()
        window.close()
        window.deleteLater()
    best_s = min(longest[1:])  # the first loads what later is there
    return BenchResult("longest call of the window, a capture opened and its finding followed", 1 / best_s, "1/s",
                       _CALL_S / best_s, "50 ms", 1.0)  # fmt: skip


def _settle(window: MainWindow) -> None:
    """Let the window run until nothing works any more: timers of typing, jobs, pyramids."""
    _wait(300)
    while window.workspace.jobs.running or window.timeline.is_building():
        _wait(20)


def _wait(ms: int) -> None:
    loop = QEventLoop()
    QTimer.singleShot(ms, loop.quit)
    loop.exec()


def _redraws(view: TimelineView) -> list[float]:
    """Return the seconds of pan and zoom steps at every zoom."""
    begin, end = view.extent()
    times = []
    for zoom in _ZOOMS:
        span = max(int((end - begin) * zoom), 1000)
        at = begin + int((end - begin - span) * 0.37)
        for step in range(_STEPS):
            t0 = at + step * span // 50
            grown = span * (100 + step) // 100  # a zoom step now and then
            start = time.thread_time()
            view.set_range(t0, t0 + grown)
            view.repaint()
            times.append(time.thread_time() - start)
    return times


def _compare(view: TimelineView, track: Track) -> None:
    """Compare what is drawn with what numpy finds, over the whole track and over a part."""
    pyramid = view._prepared[track.key].pyramid
    begin, end = view.extent()
    width = 1400
    for t0, t1 in ((begin, end), (begin + (end - begin) // 3, begin + (end - begin) // 3 + 10**10)):
        whole, rest = divmod(t1 - t0, width)
        px = np.arange(width + 1, dtype=np.int64)
        edges = t0 + whole * px + (rest * px + width - 1) // width
        at = np.searchsorted(track.t_ps, edges)
        counts = np.diff(at)
        if isinstance(pyramid, SeriesPyramid) and isinstance(track, SeriesTrack):
            drawn = pyramid.columns(t0, t1, width)
            starts, last = np.minimum(at[:-1], len(track) - 1), at[-1]
            held = track.value[np.maximum(at[:-1] - 1, 0)]
            low = np.minimum.reduceat(track.value[:last], starts)
            high = np.maximum.reduceat(track.value[:last], starts)
            filled = (counts > 0) & (at[:-1] > 0)
            assert (drawn.low == np.minimum(low, held))[filled].all(), "the minima differ"
            assert (drawn.high == np.maximum(high, held))[filled].all(), "the maxima differ"
        elif isinstance(pyramid, SlicePyramid) and isinstance(track, SliceTrack):
            columns = pyramid.columns(t0, t1, width)
            assert (columns.starts == counts).all(), "the counts differ"
            assert track.error is not None
            errors = np.flatnonzero(track.error)
            wrong = np.diff(np.searchsorted(errors, at))
            assert ((columns.wrong > 0) >= (wrong > 0)).all(), "an error is not drawn"
            if t0 == begin:
                assert columns.wrong.sum() >= 1, "the one error is not seen"


def _series(t_ps: Int64, rng: np.random.Generator) -> SeriesTrack:
    value = rng.standard_normal(len(t_ps), np.float32).astype(np.float64)
    return SeriesTrack(key="s", name="throughput", unit="B/s", t_ps=t_ps, value=value)


def _slices(key: str, t_ps: Int64, rng: np.random.Generator) -> SliceTrack:
    """Return slices of eight classes of which a single one is in error."""
    ends = t_ps + 15_000
    np.minimum(ends[:-1], t_ps[1:], out=ends[:-1])
    error = np.zeros(len(t_ps), np.bool_)
    error[len(t_ps) // 3] = True
    return SliceTrack(
        key=key, name=f"packets {key}", t_ps=t_ps, t_end_ps=ends, error=error,
        colour=rng.integers(0, 8, len(t_ps), dtype=np.uint8), classes=tuple("abcdefgh"),
        label=lambda item: f"packet {item}",
    )  # fmt: skip


def _warm() -> None:
    """Compile or load the kernels, as the second start of the program finds them."""
    rng = np.random.default_rng(2)
    t_ps = np.arange(1000, dtype=np.int64) * 1000
    opened = _open([_series(t_ps, rng), _slices("p", t_ps, rng)])
    opened.view.shutdown()
    opened.view.deleteLater()


if __name__ == "__main__":
    main(run)
