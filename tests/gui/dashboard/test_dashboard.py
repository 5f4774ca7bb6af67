"""The dashboard driven by keys, as a user would: what it shows, what it writes, and what it refuses."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from freezeframe.capture.counters.contract import Sample
from freezeframe.capture.counters.monitor import Monitor
from freezeframe.capture.counters.reader import SourceReader
from freezeframe.capture.counters.recorded import Recorded
from freezeframe.capture.counters.recording import Recording
from freezeframe.capture.counters.sources import open_source
from freezeframe.capture.folder import CaptureFolder
from freezeframe.gui.dashboard.app import Dashboard, DashboardOptions
from freezeframe.gui.dashboard.help_screen import KEYS
from freezeframe.gui.dashboard.lines import LineView
from freezeframe.gui.dashboard.palette import PLAIN
from tests.capture.counters.played import SECOND_NS
from tests.capture.recorder.fake_recorder import FakeRecorder
from tests.capture.serving import serving
from tests.gui.dashboard.made import (
    BASE_NS,
    HOSTILE,
    card_reader,
    dashboard,
    netdev_reader,
    recorder,
    show,
)


def driven(
    app: Dashboard,
    job: Callable[[Dashboard, Pilot[None]], Awaitable[None]],
    size: tuple[int, int] = (80, 24),
) -> None:
    """Run a dashboard in a terminal of that size and do a job with it."""

    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            await show(pilot)
            await job(app, pilot)

    asyncio.run(run())


def texts(app: Dashboard, name: str) -> list[str]:
    return app.screen_stack[0].query_one(f"#{name}", LineView).texts


def row(app: Dashboard, name: str) -> str:
    return next(text for text in texts(app, "table") if name in text)


async def until(
    app: Dashboard, pilot: Pilot[None], true: Callable[[], object], most_s: float = 20
) -> None:
    end = time.monotonic() + most_s
    while not true() and time.monotonic() < end:
        await asyncio.sleep(0.05)
    await show(pilot)
    assert true()


def test_a_counter_has_its_value_its_rate_its_unit_and_a_spark_line() -> None:
    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        line = row(app, "rx_packets")
        assert line.split()[:4] == ["rx_packets", "144,456", "3.00k", "packets"]
        assert line.endswith(" ▁▆█▃▆▁▃▆█▃▆█")  # 2,000 and 3,000, and the pause of second 5
        assert row(app, "level").split()[:2] == ["level", "4"]
        assert "up, 25000 Mbit/s, full duplex" in texts(app, "panel")[0]
        assert "0.25 interrupts per packet" in texts(app, "panel")[0]

    driven(dashboard(netdev_reader()), job, (100, 30))


def test_counters_that_never_moved_are_hidden_until_they_are_asked_for() -> None:
    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        assert not any("tx_packets" in text for text in texts(app, "table"))
        assert "(1 at 0: z)" in texts(app, "heading")[0]
        await pilot.press("z")
        assert row(app, "tx_packets").split()[:3] == ["tx_packets", "0", "0"]

    driven(dashboard(netdev_reader()), job)


def test_a_filter_is_part_of_a_name_or_a_pattern_and_escape_removes_it() -> None:
    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        await pilot.press("slash", *"PACK", "enter")
        assert [text.split()[0] for text in texts(app, "table")] == ["rx_packets"]
        assert "filter: PACK" in texts(app, "title")[0]
        await pilot.press("escape", "slash", *"*c*err*", "enter")
        assert ["rx_crc_errors" in text for text in texts(app, "table")] == [True]
        await pilot.press("escape")
        assert len(texts(app, "table")) == 5
        assert "filter" not in texts(app, "title")[0]

    driven(dashboard(netdev_reader()), job)


def test_keys_typed_into_the_filter_are_text_and_not_commands() -> None:
    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        await pilot.press("slash", *"zaqp")
        assert app.is_running
        assert "filter: zaqp" in texts(app, "title")[0]
        assert not any("arm" in text for text in texts(app, "log"))

    driven(dashboard(netdev_reader(), allow_write=True), job)


def test_a_name_with_markup_and_control_characters_stays_text() -> None:
    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        view = app.query_one("#table", LineView)
        drawn = [
            "".join(segment.text for segment in view.render_line(y))
            for y in range(view.size.height)
        ]
        (line,) = [text for text in drawn if "bold" in text]
        assert r"[bold red]x[/] \x1b[2J" in line
        assert "[u]" in line
        assert not any("\x1b" in text for text in drawn)

    driven(dashboard(netdev_reader()), job, (120, 30))
    assert "\x1b" in HOSTILE


def test_an_alarm_is_marked_counted_in_the_title_and_logged() -> None:
    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        assert row(app, "rx_packets").startswith("!! rx_packets")
        assert "1 ALARM" in texts(app, "title")[0]
        assert any(
            "rx_packets: 3,000 a second (rx_packets>2000)" in text for text in texts(app, "log")
        )

    driven(dashboard(netdev_reader(), alarms=["rx_packets>2000"]), job)


def test_errors_that_grew_are_logged_with_the_time_they_did() -> None:
    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        assert texts(app, "log") == ["08:00:09Z rx_crc_errors grew by 1 to 1"]

    driven(dashboard(netdev_reader()), job)


def test_errors_that_grew_just_now_are_marked() -> None:
    reader = netdev_reader()
    reader.play(Sample(time.monotonic_ns(), {"rx_packets": 144_456, "rx_crc_errors": 2}))

    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        assert row(app, "rx_crc_errors").startswith("!  rx_crc_errors")
        assert row(app, "rx_packets").startswith("   rx_packets")

    driven(dashboard(reader), job)


def test_alarms_stand_on_top_then_errors_that_grew_then_what_moves() -> None:
    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        names = [text[3:].split()[0] for text in texts(app, "table")]
        assert names[:3] == ["irq.total", "rx_crc_errors", "rx_packets"]
        await pilot.press("z")
        await show(pilot)
        everything = [text[3:].split()[0] for text in texts(app, "table")]
        assert everything[:3] == names[:3] and everything[-1] == "tx_packets"

    driven(dashboard(netdev_reader(), alarms=["irq.total > 5"]), job)


def test_a_freeze_raises_a_banner_with_its_cause_and_rings() -> None:
    facts = {"B froze in": "tx_dma idle, rx_dma data, tx_link data, rx_link idle"}
    states = recorder("A", "frozen", "cross"), recorder("B", "frozen", "pay-crc", "length")
    app = dashboard(card_reader(*states, facts=facts))
    rung = []
    app.bell = lambda: rung.append(True)  # type: ignore[method-assign]

    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        (line,) = texts(app, "banner")
        assert (
            line.strip() == "FROZEN  B: pay-crc, length at bus cycle 23,555  etherbone://192.0.2.7"
        )
        assert app.query_one("#banner").display
        assert "  B froze in: tx_dma idle, rx_dma data, tx_link data, rx_link idle" in texts(
            app, "panel"
        )
        assert any("B is frozen, cause pay-crc, length" in text for text in texts(app, "log"))
        assert rung == [True]

    driven(app, job)


def test_there_is_no_banner_while_nothing_is_frozen() -> None:
    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        assert texts(app, "banner") == []
        assert not app.query_one("#banner").display

    driven(dashboard(card_reader()), job)


def test_the_panel_of_a_card_shows_its_recorder_link_and_credit() -> None:
    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        lines = texts(app, "panel")
        assert lines[2].split() == [
            "card",
            "recorder",
            "gen",
            "out/s",
            "in/s",
            "bad/s",
            "sent/s",
            "taken/s",
            "refused",
            "waits",
        ]
        assert lines[3].split() == ["A", "armed", "1", "12.3k", "0", "0", "0", "190", "0", "5", "%"]
        assert lines[4].split() == ["B", "armed", "1", "0", "12.3k", "0", "190", "0", "0", "-"]

    driven(dashboard(card_reader()), job)


def test_pause_holds_the_picture_while_reading_goes_on() -> None:
    reader = netdev_reader()

    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        await pilot.press("space")
        assert "PAUSED" in texts(app, "title")[0]
        before = [app.query_one("#table", LineView).render_line(y).text for y in range(5)]
        reader.play(Sample(BASE_NS + 12 * SECOND_NS, {"rx_packets": 999_999}))
        await show(pilot)
        assert [app.query_one("#table", LineView).render_line(y).text for y in range(5)] == before
        assert app.monitor.sources[0].histories["rx_packets"].value == 999_999
        await pilot.press("space")
        assert "999,999" in row(app, "rx_packets")

    driven(dashboard(reader), job)


def test_the_pace_goes_up_and_down_in_steps_and_not_beyond() -> None:
    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        await pilot.press("plus", "plus", "plus", "plus")
        assert (app.period_s, app.monitor.sources[0].reader.period_s) == (0.1, 0.1)
        assert "10 Hz" in texts(app, "title")[0]
        await pilot.press(*["minus"] * 9)
        assert app.period_s == 10.0
        assert "every 10 s" in texts(app, "title")[0]

    driven(dashboard(netdev_reader()), job)


def test_help_names_every_key_and_closes() -> None:
    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        await pilot.press("question_mark")
        text = "\n".join(app.screen.query_one("#help", LineView).texts)
        for key in ["?", "/", "z", "space", "+", "n", "s", "p", "a", "f", "q"]:
            assert f"\n  {key} " in text
        await pilot.press("escape")
        assert len(app.screen_stack) == 1

    driven(dashboard(netdev_reader()), job)


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (120, 40)])
def test_help_is_wrapped_and_nothing_of_it_is_cut(size: tuple[int, int]) -> None:
    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        await pilot.press("question_mark")
        lines = app.screen.query_one("#help", LineView).texts
        assert max(len(line) for line in lines) < size[0]
        whole = " ".join(" ".join(lines).split())
        for _, text in KEYS:
            assert text in whole

    driven(dashboard(netdev_reader()), job, size=size)


def test_a_long_line_of_the_log_is_wrapped_and_again_when_the_terminal_grows() -> None:
    text = "failed: no snapshot: " + "/a/very/long/name" * 8 + " is full"

    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        app._note(text)
        await show(pilot)
        narrow = [line for line in texts(app, "log") if line]
        assert max(len(line) for line in narrow) < 80
        joined = "".join(line[10:] for line in narrow[-3:])
        assert joined.replace(" ", "") == text.replace(" ", "")
        await pilot.resize_terminal(300, 24)
        await show(pilot)
        assert texts(app, "log")[-1][10:] == text

    driven(dashboard(netdev_reader()), job, size=(80, 24))


def test_a_line_that_does_not_fit_ends_in_a_sign_of_it() -> None:
    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        view = app.screen.query_one("#panel", LineView)
        view.show([(("x" * 200, PLAIN),)])
        assert view.render_line(0).text == "x" * 79 + "…"
        view.show([(("x" * 80, PLAIN),)])
        assert view.render_line(0).text == "x" * 80

    driven(dashboard(netdev_reader()), job, size=(80, 24))


@pytest.mark.parametrize("size", [(59, 24), (50, 24), (80, 15), (1, 1), (20, 5)])
def test_a_terminal_too_small_is_told_so_and_works_again_when_it_grows(
    size: tuple[int, int],
) -> None:
    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        said = texts(app, "small")
        assert (
            " ".join(said) == f"The terminal is {size[0]} x {size[1]}; the dashboard needs 60 x 16."
        )
        assert max(map(len, said)) <= max(20, size[0])
        assert not app.query_one("#table").display
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        await show(pilot)
        assert app.query_one("#table").display
        assert "144,456" in row(app, "rx_packets")

    driven(dashboard(netdev_reader()), job, size)


def test_in_80_by_24_no_label_is_cut_and_every_line_fits() -> None:
    states = recorder("A", "frozen", "cross"), recorder("B", "frozen", "pay-crc")

    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        for name in ("title", "banner", "heading", "keys", "panel"):
            assert [text for text in texts(app, name) if len(text) > 80] == [], name
        assert app.query_one("#table").size.height >= 3
        assert "…" not in "".join(texts(app, "heading") + texts(app, "keys"))

    driven(dashboard(card_reader(*states), netdev_reader(), allow_write=True), job)


def test_without_colour_nothing_but_attributes_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        written: list[str] = []
        app.console.file = type(
            "Kept", (), {"write": lambda _, text: written.append(text), "flush": lambda _: None}
        )()
        drawn = app.screen._compositor.render_update(full=True)
        app.console.print(drawn)
        sent = "".join(written)
        assert "144,456" in sent
        attributes = {
            part for code in re.findall(r"\x1b\[([0-9;]*)m", sent) for part in code.split(";")
        }
        assert attributes <= {
            "0",
            "1",
            "2",
            "4",
            "7",
            "39",
            "49",
        }  # bold, dim, underlined, reverse: no colour

    driven(dashboard(netdev_reader(), alarms=["rx_packets>0"]), job)


def test_a_source_that_is_gone_is_stale_with_its_age_and_comes_back() -> None:
    reader = netdev_reader()

    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        reader.trouble = "netdev:eth9: the interface is gone"
        await show(pilot)
        assert "STALE, last read " in texts(app, "panel")[0]
        assert "the interface is gone" in texts(app, "panel")[0]
        assert row(app, "rx_packets").startswith("?  rx_packets")
        reader.trouble = None
        reader.play(Sample(time.monotonic_ns(), {"rx_packets": 1_000_000}))
        await show(pilot)
        assert "STALE" not in texts(app, "panel")[0]
        assert texts(app, "log")[-1].endswith("answers again")

    driven(dashboard(reader), job)


def test_a_source_that_was_not_read_yet_is_waited_for_and_not_stale_unless_it_fails() -> None:
    reader = netdev_reader(seconds=0)

    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        assert texts(app, "panel")[0].rstrip() == "> netdev:eth9  waiting for the first answer"
        reader.trouble = "netdev:eth9: the interface is gone"
        await show(pilot)
        assert "STALE " in texts(app, "panel")[0]
        reader.trouble = None
        reader.play(Sample(time.monotonic_ns(), {"rx_packets": 1}))
        await show(pilot)
        assert "STALE" not in texts(app, "panel")[0] and "waiting" not in texts(app, "panel")[0]

    driven(dashboard(reader), job)


def test_a_snapshot_is_a_new_file_with_all_counters(tmp_path: Path) -> None:
    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        await pilot.press("s", "s")
        assert texts(app, "log")[-1].endswith("counters-0002.json")

    driven(dashboard(netdev_reader(), folder=tmp_path), job)
    document = json.loads((tmp_path / "counters-0001.json").read_text())
    assert document["sources"][0]["counters"]["rx_packets"] == 144_456
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "counters-0001.json",
        "counters-0002.json",
    ]


def test_recording_keeps_every_sample(tmp_path: Path) -> None:
    app = dashboard(netdev_reader())
    app.recording = Recording(tmp_path / "run.ffrec")

    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        assert "recording 12 samples" in texts(app, "title")[0]

    driven(app, job)
    app.recording.close()
    values = [
        value
        for sample in Recorded(tmp_path / "run.ffrec").events()
        for (key, *_), value in zip(sample.columns, sample.values, strict=True)
        if key == "rx_packets"
    ]
    assert (len(values), values[-1]) == (12, 144_456)


def watching(url: str, folder: Path, *, allow_write: bool, pull: bool = False) -> Dashboard:
    reader = SourceReader(open_source(url), lambda: open_source(url), 0.1)
    return Dashboard(Monitor([reader]), DashboardOptions(0.1, allow_write, folder, pull))


def logged(app: Dashboard) -> str:
    return " ".join(" ".join(texts(app, "log")).split())


def test_a_frozen_card_is_pulled_and_then_armed_and_frozen_by_keys(tmp_path: Path) -> None:
    fake = FakeRecorder()

    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        await until(app, pilot, lambda: "FROZEN" in "".join(texts(app, "banner")))
        await pilot.press("a")
        log = logged(app)
        assert "would be lost; a once more arms" in log
        await until(
            app, pilot, lambda: "has not kept it; it would be lost. Keep it:" in logged(app)
        )
        assert "discard" not in logged(app)  # here neither the option nor the argument
        assert fake.writes == []
        await pilot.press("p")
        await until(app, pilot, lambda: any("words into" in text for text in texts(app, "log")))
        await pilot.press("a")
        await until(
            app,
            pilot,
            lambda: any("armed: A generation 2, B generation 2" in t for t in texts(app, "log")),
        )
        await until(app, pilot, lambda: texts(app, "banner") == [])
        await pilot.press("f")
        await until(app, pilot, lambda: "FROZEN  A: host" in "".join(texts(app, "banner")))

    with serving(fake) as url:
        driven(watching(url, tmp_path, allow_write=True), job)
    assert len(CaptureFolder.open(tmp_path / "watch-0001.ff").devices) == 2


@pytest.mark.slow  # waits for another program
def test_a_freeze_turns_into_what_explains_it_without_a_key(tmp_path: Path) -> None:
    fake = FakeRecorder()

    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        explained = "pulled and explained: "  # by a process of its own, which may have to wait for the others
        await until(app, pilot, lambda: explained in "".join(texts(app, "banner")), 200)
        assert "FROZEN" in texts(app, "banner")[0]
        assert any("words into" in text for text in texts(app, "log"))

    with serving(fake) as url:
        driven(watching(url, tmp_path, allow_write=False, pull=True), job)
    assert [path.name for path in tmp_path.glob("*.ff")] == ["watch-0001.ff"]  # once for one freeze
    assert fake.writes == []


def test_a_recording_that_was_not_pulled_is_given_up_only_when_asked_twice(tmp_path: Path) -> None:
    fake = FakeRecorder()

    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        await until(app, pilot, lambda: texts(app, "banner"))
        await pilot.press("a", "a")
        await until(app, pilot, lambda: fake.get(0, "ctl.generation") == 2)

    with serving(fake) as url:
        driven(watching(url, tmp_path, allow_write=True), job)


def test_without_allow_write_nothing_is_ever_written_to_the_card(tmp_path: Path) -> None:
    fake = FakeRecorder()

    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        await until(app, pilot, lambda: texts(app, "banner"))
        await pilot.press("a", "a", "f", "p")
        await until(app, pilot, lambda: any("words into" in text for text in texts(app, "log")))
        assert sum("started without --allow-write" in text for text in texts(app, "log")) == 3
        assert "read-only" in texts(app, "title")[0]

    with serving(fake) as url:
        driven(watching(url, tmp_path, allow_write=False), job)
    assert fake.writes == []


def test_a_card_that_cannot_be_pulled_or_a_source_that_is_none_says_so(tmp_path: Path) -> None:
    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        await until(app, pilot, lambda: app.monitor.sources[0].recorders)
        await pilot.press("p")
        await until(app, pilot, lambda: any("failed: " in text for text in texts(app, "log")))
        assert any("armed" in text and "failed" in text for text in texts(app, "log"))

    with serving(FakeRecorder(frozen=False)) as url:
        driven(watching(url, tmp_path, allow_write=False), job)
    assert list(tmp_path.iterdir()) == []


def test_the_device_is_read_once_a_tick_however_many_panels_show_it(tmp_path: Path) -> None:
    fake = FakeRecorder()
    fake.keep_reads = True

    async def job(app: Dashboard, pilot: Pilot[None]) -> None:
        await until(app, pilot, lambda: app.monitor.sources[0].sample)
        app.monitor.sources[0].reader.stop()
        reads = len(fake.reads)
        for _ in range(5):
            await show(pilot)
            await pilot.press("z")
        assert len(fake.reads) == reads

    with serving(fake) as url:
        driven(watching(url, tmp_path, allow_write=False), job)
