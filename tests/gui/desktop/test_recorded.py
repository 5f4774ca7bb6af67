"""A recording of counters in the window: rates, gauges, what is missing, and its place by the wall clock."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from freezeframe.analyzers.wall_clock import WallClock
from freezeframe.capture.counters.contract import Sample
from freezeframe.capture.counters.recording import LINES, Recording
from freezeframe.capture.errors import CaptureFormatError
from freezeframe.gui.desktop.progress import Progress
from freezeframe.gui.desktop.sources.beside import place_by_clock
from freezeframe.gui.desktop.sources.choice import kind_of
from freezeframe.gui.desktop.sources.opened import Opened
from freezeframe.gui.desktop.sources.recorded import load_recording
from freezeframe.gui.desktop.window import MainWindow
from freezeframe.gui.tracks.tracks import MarkTrack, SeriesTrack
from tests.capture.counters.played import SECOND_NS, counter, gauge
from tests.gui.desktop.conftest import wait_loaded

COUNTERS = {"rx": counter("rx", "packets"), "level": gauge("level"), "still": counter("still")}


def loaded(place: Path, seconds: list[float], counts: list[int]) -> Opened:
    recording = Recording(place)
    for second, count in zip(seconds, counts, strict=True):
        values = {"rx": count, "level": count % 7, "still": 3}
        recording.add("netdev:eth0", COUNTERS, Sample(int(second * SECOND_NS), values))
    recording.close()
    return load_recording("1", place, Progress())


def series(opened: Opened) -> dict[str, SeriesTrack]:
    return {t.name: t for t in opened.tracks if isinstance(t, SeriesTrack)}


def test_counters_are_rates_gauges_values_and_what_stands_still_is_in_the_table_alone(
    tmp_path: Path,
) -> None:
    place = tmp_path / "night.ffrec"
    opened = loaded(place, [5.0, 5.5, 6.5], [100, 150, 350])
    assert (kind_of(str(place)), opened.kind) == ("recording", "recording")
    shown = series(opened)
    assert sorted(shown) == ["level", "rx"]
    assert shown["rx"].t_ps.tolist() == [500_000_000_000, 1_500_000_000_000]
    assert shown["rx"].value.tolist() == [100.0, 200.0] and shown["rx"].unit == "packets/s"
    assert shown["level"].value.tolist() == [2.0, 3.0, 0.0]
    frame = opened.tables["counters"].frame.set_index("counter")
    assert (frame["count"]["rx"], frame["grew"]["rx"], frame["grew"]["still"]) == (350, 250, 0)


def test_a_count_that_went_back_and_a_pause_of_the_recording_are_gaps(tmp_path: Path) -> None:
    opened = loaded(tmp_path / "a.ffrec", [0, 1, 2, 3, 100, 101], [0, 10, 4, 14, 500, 520])
    rx = series(opened)["rx"]
    assert rx.t_ps.tolist() == [s * 10**12 for s in (1, 2, 3, 4, 101)]
    known = np.isfinite(rx.value)
    assert known.tolist() == [True, False, True, False, True]
    assert rx.value[known].tolist() == [10.0, 10.0, 20.0]


def test_lines_are_marks(tmp_path: Path) -> None:
    recording = Recording(tmp_path / "a.ffrec", LINES)
    recording.line("<b>it begins</b>")
    recording.close()
    progress = Progress()
    opened = load_recording("1", tmp_path / "a.ffrec", progress)
    (track,) = opened.tracks
    assert isinstance(track, MarkTrack) and track.text == ("<b>it begins</b>",)


def test_a_recording_that_holds_nothing_yet_says_so(tmp_path: Path) -> None:
    Recording(tmp_path / "a.ffrec").close()
    progress = Progress()
    with pytest.raises(CaptureFormatError, match=r"a\.ffrec: "):
        load_recording("1", tmp_path / "a.ffrec", progress)


def test_a_recording_stands_beside_a_capture_where_the_wall_clocks_say(tmp_path: Path) -> None:
    opened = loaded(tmp_path / "a.ffrec", [0, 1], [0, 1])
    assert opened.wall_clock is not None and opened.wall_clock.unc_ns == 0
    clock = WallClock(opened.wall_clock.epoch_ns - 3 * SECOND_NS, 500_000_000)
    capture = Opened("0", "fault.ff", "fault.ff", "capture", wall_clock=clock)
    place_by_clock(opened, [capture])
    assert opened.offset_ps == 3 * 10**12
    assert "placed beside fault.ff by their wall clocks, right to 500 ms" in opened.remarks[-1]


def test_a_recording_opens_in_the_window_beside_a_capture(
    qtbot: QtBot, window: MainWindow, fault_capture: Path, tmp_path: Path
) -> None:
    loaded(tmp_path / "night.ffrec", [0, 1, 2], [0, 10, 30])
    wait_loaded(qtbot, window, fault_capture)
    key = wait_loaded(qtbot, window, tmp_path / "night.ffrec")
    opened = window.workspace.sources[key]
    assert opened.kind == "recording" and not window.trouble.text()
    assert {t.name for t in window.timeline.tracks() if t.key.startswith(f"{key}/live/")} == {
        "level",
        "rx",
    }
    assert any(
        "fault.ff" in remark for remark in opened.remarks
    )  # where it stands beside it, or why nowhere


def test_a_recorded_rate_says_by_which_clock_it_is(tmp_path: Path) -> None:
    """A recording holds no cycles of a card: a rate is growth by the clock of the machine that recorded."""
    opened = loaded(tmp_path / "a.ffrec", [0, 1, 2], [0, 10, 30])
    clock = "by the clock of the machine that recorded, not by a card's own cycles"
    shown = series(opened)
    assert shown["rx"].note == f"rx of netdev:eth0, as it was recorded. The rate is {clock}."
    assert shown["level"].note == "level of netdev:eth0, as it was recorded."
    assert opened.tables["counters"].doc.endswith(f"; per_s is {clock}")
    assert [r for r in opened.remarks if clock in r] == [
        f"rates are {clock}: a live card has others where it runs slower"
    ]


def test_a_recording_of_values_alone_says_nothing_of_rates(tmp_path: Path) -> None:
    recording = Recording(tmp_path / "a.ffrec")
    for second in range(2):
        sample = Sample(second * SECOND_NS, {"level": second})
        recording.add("netdev:eth0", {"level": gauge("level")}, sample)
    recording.close()
    assert load_recording("1", tmp_path / "a.ffrec", Progress()).remarks == []
