"""The third job: a live card, its counters as series, and what becomes of one that dies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PyQt6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from freezeframe.capture.counters.contract import Counter, Sample
from freezeframe.capture.counters.reader import SourceReader
from freezeframe.capture.errors import TargetError
from freezeframe.gui.desktop.sources.live import LiveSource
from freezeframe.gui.desktop.window import MainWindow
from freezeframe.gui.tracks.tracks import SeriesTrack
from tests.gui.desktop.conftest import WAIT_MS, MakeWindow


class Card:
    """A source that counts 10 packets a reading, until it is told to die."""

    url = "card:<b>x</b>"
    counters = {  # noqa: RUF012 - one for all, as the protocol has it
        "packets": Counter("packets", "counter", "packets", "packets sent", "x"),
        "level": Counter("level", "gauge", "words", "words held", "x"),
        "still": Counter("still", "counter", "packets", "never changes", "x"),
    }
    laws = ()

    def __init__(self) -> None:
        self.count = 0
        self.dead = False

    def read(self) -> Sample:
        import time

        if self.dead:
            raise TargetError("card: no answer after 0.1 s")
        self.count += 10
        return Sample(
            time.monotonic_ns(), {"packets": self.count, "level": self.count % 30, "still": 3}
        )

    def close(self) -> None:
        pass


def live_in(window: MainWindow, card: Card) -> LiveSource:
    def again() -> Card:
        if card.dead:
            raise TargetError("card: no answer after 0.1 s")
        return card

    live = LiveSource("9", card.url, SourceReader(card, again, 0.02))
    window.workspace._live_opened(live)
    return live


def series(window: MainWindow, name: str) -> SeriesTrack | None:
    found = {track.key: track for track in window.timeline.tracks()}.get(f"9/live/{name}")
    assert found is None or isinstance(found, SeriesTrack)
    return found


def test_counters_become_series_of_rates_and_gauges_of_values(
    qtbot: QtBot, window: MainWindow
) -> None:
    card = Card()
    live = live_in(window, card)

    def long_enough() -> bool:
        track = series(window, "packets")
        return track is not None and len(track) >= 8

    qtbot.waitUntil(long_enough, timeout=WAIT_MS)
    packets, level = series(window, "packets"), series(window, "level")
    assert packets is not None and level is not None
    # 10 packets a reading: the rate is 10 over the time between two, whatever that was
    between_s = np.diff(packets.t_ps) / 1e12
    assert np.allclose(packets.value[1:] * between_s, 10, rtol=1e-6)
    assert packets.unit == "packets/s"
    assert set(level.value.tolist()) <= {0.0, 10.0, 20.0}
    assert series(window, "still") is None  # what never moves is in the table, not on the time line
    frame = live.opened.tables["counters"].frame
    assert frame.set_index("counter")["count"]["still"] == 3


def test_a_source_that_dies_is_stale_with_a_gap_and_comes_back(
    qtbot: QtBot, window: MainWindow
) -> None:
    card = Card()
    live = live_in(window, card)
    qtbot.waitUntil(lambda: series(window, "packets") is not None, timeout=WAIT_MS)
    card.dead = True
    qtbot.waitUntil(
        lambda: window.live.banner.text().startswith("STALE, last answer "), timeout=WAIT_MS
    )
    assert window.live.banner.text().endswith("card: no answer after 0.1 s")
    track = series(window, "packets")
    assert track is not None and np.isnan(track.value[-1])
    log = live.opened.tables["log"].frame
    assert log["kind"].tolist()[-1] == "stale"
    card.dead = False
    qtbot.waitUntil(lambda: not window.live.banner.text().startswith("STALE"), timeout=WAIT_MS)
    assert window.live.banner.text() == "answers"


def test_a_counter_that_went_back_has_no_rate_at_that_step(
    qtbot: QtBot, window: MainWindow
) -> None:
    card = Card()
    live_in(window, card)
    qtbot.waitUntil(
        lambda: (t := series(window, "packets")) is not None and len(t) > 3, timeout=WAIT_MS
    )
    card.count = 0

    def has_gap() -> bool:
        track = series(window, "packets")
        return track is not None and bool(np.isnan(track.value).any())

    qtbot.waitUntil(has_gap, timeout=WAIT_MS)
    track = series(window, "packets")
    assert track is not None
    assert np.nanmin(track.value) >= 0


def test_what_is_newest_stays_in_view(qtbot: QtBot, window: MainWindow) -> None:
    live_in(window, Card())
    qtbot.waitUntil(lambda: series(window, "packets") is not None, timeout=WAIT_MS)
    window.timeline.zoom_fit()
    first = window.timeline.extent()[1]
    qtbot.waitUntil(lambda: window.timeline.extent()[1] > first + 10**12 // 2, timeout=WAIT_MS)
    assert window.timeline.range()[1] >= window.timeline.extent()[1]


def test_a_time_axis_of_100_ps_opens_by_itself_whatever_moved_the_extent_meanwhile(
    qtbot: QtBot, window: MainWindow
) -> None:
    live_in(window, Card())
    qtbot.waitUntil(
        lambda: (t := series(window, "packets")) is not None and len(t) > 3, timeout=WAIT_MS
    )
    begin = window.timeline.extent()[0]
    window.timeline.set_range(begin, begin + 100)  # what is newest came from elsewhere meanwhile
    assert window.timeline.range()[1] < window.timeline.extent()[1]
    qtbot.waitUntil(
        lambda: window.timeline.range()[1] >= window.timeline.extent()[1], timeout=WAIT_MS
    )
    assert window.timeline.range()[0] <= begin


@pytest.fixture
def emulated(qtbot: QtBot, make_window: MakeWindow) -> MainWindow:
    window = make_window(allow_write=True)
    window.open("emu:?profile=forth&fault=none&seed=3")
    # On a busy machine it may be stale at first.
    qtbot.waitUntil(lambda: "armed" in window.live.banner.text(), timeout=WAIT_MS)
    return window


def test_a_card_is_frozen_pulled_and_its_capture_opened(
    qtbot: QtBot, emulated: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = emulated
    assert "armed" in window.live.banner.text()
    assert window.live.freeze.isEnabled() and not window.live.pull.isEnabled()
    window.live.freeze.click()
    qtbot.waitUntil(window.live.pull.isEnabled, timeout=WAIT_MS)
    assert "frozen" in window.live.banner.text()
    window.live.pull.click()
    qtbot.waitUntil(lambda: len(window.workspace.sources) == 2, timeout=WAIT_MS)
    pulled = list(window.workspace.sources.values())[1]
    assert pulled.path == tmp_path / "open-0001.ff"
    assert len(pulled.tables["packets"])
    told = f"pulled and explained: {pulled.answer}"
    qtbot.waitUntil(lambda: told in window.live.banner.text(), timeout=WAIT_MS)
    (live,) = window.workspace.live.values()
    assert live.monitor.log[-1].text == told
    asked: list[str] = []
    monkeypatch.setattr(QMessageBox, "exec", lambda box: asked.append(box.text()))
    window.live.arm.click()
    assert asked == ["The card holds a frozen recording. Arming it makes that recording be lost."]
    assert "frozen" in window.live.banner.text()  # not armed without a yes


def test_without_allow_write_no_button_acts(qtbot: QtBot, make_window: MakeWindow) -> None:
    window = make_window()
    window.open("emu:?profile=forth&fault=none&seed=3")
    qtbot.waitUntil(
        lambda: bool(window.live.current and window.live.current.watched.recorders), timeout=WAIT_MS
    )
    window.live.refresh()
    assert not any(b.isEnabled() for b in (window.live.arm, window.live.freeze, window.live.pull))
    live = window.live.current
    assert live is not None
    window.commands.live_asked("freeze", live.opened.key)
    assert "this window only reads; start it with --allow-write" in window.trouble.text()
    assert live.busy == ""


def test_a_reading_that_was_under_way_when_it_was_called_stale_ends_the_gap() -> None:
    """Times never go back: the time of a sample is that at which its reading began."""
    from freezeframe.gui.desktop.sources.counted import Counted

    series = Counted(is_gauge=True)
    series.add(1_000, 1, 5, None)
    series.gap(9_000)
    series.add(4_000, 4, 6, None)
    series.add(9_500, 9, 7, None)
    assert list(series.t_ps) == [1_000, 4_000, 4_000, 9_500]
    assert series.value[0] == 5 and np.isnan(series.value[1]) and list(series.value[2:]) == [6, 7]
