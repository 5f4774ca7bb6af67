"""What is kept from one start to the next: literal files in, settings out; a bad file is said once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from freezeframe.capture.counters.contract import Sample
from freezeframe.capture.counters.recording import Recording
from freezeframe.capture.errors import InputError
from freezeframe.gui.desktop.settings import (
    Settings,
    read_settings,
    settings_path,
    write_settings,
)
from freezeframe.gui.desktop.window import MainWindow
from freezeframe.gui.desktop.workspace import Workspace
from tests.capture.counters.played import SECOND_NS, counter
from tests.gui.desktop.conftest import NO_ANALYSES, wait_loaded

_GOOD = {"format": ["freezeframe-desktop", 1], "theme": "light", "gutter_px": 300, "preset": "credits",
         "recent": ["/a.ff", "netdev:lo"], "hidden_columns": {"words": ["slot"]}, "legend": False}  # fmt: skip


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    place = tmp_path / "config" / "desktop.json"
    kept = Settings(
        "light", b"\x00\xff", b"parts", 250, "slow", False, ("/x.ff",), {"words": ("slot", "cycle")}
    )
    write_settings(place, kept)
    assert read_settings(place) == kept
    assert read_settings(tmp_path / "none.json") == Settings()
    assert settings_path({"XDG_CONFIG_HOME": "/c"}) == Path("/c/freezeframe/desktop.json")


def test_a_file_of_literal_fields_gives_literal_settings(tmp_path: Path) -> None:
    place = tmp_path / "desktop.json"
    place.write_text(json.dumps(_GOOD))
    assert read_settings(place) == Settings(
        "light", b"", b"", 300, "credits", False, ("/a.ff", "netdev:lo"), {"words": ("slot",)}
    )


def test_what_was_opened_last_stands_first_and_once() -> None:
    settings = Settings(recent=tuple(f"/{n}" for n in range(12)))
    assert settings.opened("/5").recent[:3] == ("/5", "/0", "/1")
    assert len(settings.opened("/new").recent) == 12


@pytest.mark.parametrize(
    ("held", "says"),
    [
        (b"\x00\xff no json", "is damaged"),
        (b"[" * 100_000, "is damaged"),
        (b"[]", "holds no settings"),
        ({"format": ["freezeframe-desktop", 2]}, "is of the version"),
        ({**_GOOD, "theme": "pink"}, "theme is 'pink'"),
        ({**_GOOD, "gutter_px": 10**9}, "gutter_px is 1000000000"),
        ({**_GOOD, "recent": [1]}, "recent is no list of texts"),
        ({**_GOOD, "hidden_columns": []}, "hidden_columns is no object"),
        ({**_GOOD, "geometry": "%%"}, "is damaged"),
        ({**_GOOD, "geometry": 7}, "is damaged"),
    ],
)
def test_a_damaged_file_is_said_in_one_line(tmp_path: Path, held: object, says: str) -> None:
    place = tmp_path / "desktop.json"
    place.write_bytes(held if isinstance(held, bytes) else json.dumps(held).encode())
    with pytest.raises(InputError) as raised:
        read_settings(place)
    assert says in str(raised.value) and "\n" not in str(raised.value)
    assert "the usual settings are used" in str(raised.value)


def made(place: Path) -> MainWindow:
    return MainWindow(Workspace(analyses=NO_ANALYSES), settings=place)


def test_a_window_works_on_after_a_damaged_file_and_says_it_once(
    qtbot: QtBot, tmp_path: Path
) -> None:
    place = tmp_path / "desktop.json"
    place.write_bytes(b"{damaged")
    window = made(place)
    qtbot.addWidget(window)
    assert window.trouble.text().count("is damaged") == 1
    assert window.theme == "dark"
    window.close()
    assert (tmp_path / "desktop.json.old").read_bytes() == b"{damaged"
    again = made(place)
    qtbot.addWidget(again)
    assert again.trouble.text() == ""
    again.close()


def test_theme_size_label_column_preset_and_panels_come_back(qtbot: QtBot, tmp_path: Path) -> None:
    place = tmp_path / "desktop.json"
    window = made(place)
    qtbot.addWidget(window)
    window.show()
    window.resize(790, 700)  # what every screen has room for
    window.set_theme("light")
    window.timeline.set_gutter(310)
    window.control.take_preset("credits")
    window.docks["Notes"].hide()
    window.close()
    again = made(place)
    qtbot.addWidget(again)
    assert (again.theme, again.timeline.gutter_px) == ("light", 310)
    assert again.height() == 700
    assert again.toolbar.presets.currentData() == "credits"
    assert again.docks["Notes"].isHidden() and not again.docks["Sources"].isHidden()
    again.close()


@contextmanager
def showing(qtbot: QtBot, place: Path, what: Path) -> Iterator[MainWindow]:
    """A window of these settings with one source open; what it is like at the end is kept."""
    window = made(place)
    qtbot.addWidget(window)
    window.show()
    wait_loaded(qtbot, window, what)
    yield window
    window.close()


@pytest.fixture
def night(tmp_path: Path) -> Path:
    recording = Recording(tmp_path / "night.ffrec")
    for second in range(3):
        recording.add("made:a", {"rx": counter("rx")}, Sample(second * SECOND_NS, {"rx": second}))
    recording.close()
    return tmp_path / "night.ffrec"


def test_findings_that_a_recording_of_counters_has_no_use_for_are_there_for_the_next_capture(
    qtbot: QtBot, tmp_path: Path, fault_capture: Path, night: Path
) -> None:
    place = tmp_path / "desktop.json"
    for what, seen in (
        (fault_capture, True),
        (night, False),
        (night, False),
        (fault_capture, True),
    ):
        with showing(qtbot, place, what) as window:
            assert window.docks["Findings"].isVisible() == seen, what.name
            assert window.docks["Inspector"].isVisible()


def test_findings_come_as_soon_as_a_capture_is_opened_beside_a_recording_of_counters(
    qtbot: QtBot, tmp_path: Path, fault_capture: Path, night: Path
) -> None:
    with showing(qtbot, tmp_path / "desktop.json", night) as window:
        wait_loaded(qtbot, window, fault_capture)
        assert window.docks["Findings"].isVisible()


def test_findings_that_the_user_closed_stay_closed_until_he_opens_them(
    qtbot: QtBot, tmp_path: Path, fault_capture: Path, night: Path
) -> None:
    place = tmp_path / "desktop.json"
    with showing(qtbot, place, fault_capture) as window:
        window.docks["Findings"].close()
    for what in (night, fault_capture):
        with showing(qtbot, place, what) as window:
            assert window.docks["Findings"].isHidden(), what.name
    with showing(qtbot, place, night) as window:
        wait_loaded(qtbot, window, fault_capture)
        assert window.docks["Findings"].isHidden()
        window.show_panel("Findings")
    with showing(qtbot, place, fault_capture) as window:
        assert window.docks["Findings"].isVisible()


def test_findings_opened_and_closed_beside_a_recording_of_counters_are_closed_by_the_user(
    qtbot: QtBot, tmp_path: Path, fault_capture: Path, night: Path
) -> None:
    place = tmp_path / "desktop.json"
    with showing(qtbot, place, night) as window:
        window.show_panel("Findings")
        window.docks["Findings"].close()
    with showing(qtbot, place, fault_capture) as window:
        assert window.docks["Findings"].isHidden()
