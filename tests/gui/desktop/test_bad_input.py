"""What cannot be opened or shown: one clear line, and the window goes on."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from freezeframe.capture.errors import InputError
from freezeframe.gui.desktop.application import mistake_shown
from freezeframe.gui.desktop.notes import Note
from freezeframe.gui.desktop.sources.choice import kind_of
from freezeframe.gui.desktop.start import check_desktop, missing_libraries
from freezeframe.gui.desktop.window import MainWindow
from tests.gui.cli import refusal, run_inside
from tests.gui.desktop.conftest import WAIT_MS, MakeWindow, wait_loaded
from tests.processes import run_program


def found(library: str) -> object:
    return library


def test_without_a_display_it_says_what_to_do() -> None:
    with pytest.raises(
        InputError, match=r"there is no display .* ssh -X, without a screen xvfb-run"
    ):
        check_desktop({}, found, "linux")


@pytest.mark.parametrize(
    ("library", "package"),
    [
        ("libEGL.so.1", "libegl1"),
        ("libxcb-cursor.so.0", "libxcb-cursor0"),
        ("libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
        ("libdbus-1.so.3", "libdbus-1-3"),
    ],
)
def test_a_missing_library_is_named_with_its_package(library: str, package: str) -> None:
    def load(name: str) -> object:
        if name == library:
            raise OSError(f"{name}: cannot open shared object file")
        return name

    with pytest.raises(InputError) as raised:
        check_desktop({"DISPLAY": ":0"}, load, "linux")
    assert str(raised.value) == (
        f"libraries that Qt needs are missing: {library}; on Debian: apt-get install {package}"
    )


def test_the_libraries_that_are_looked_for_are_there_where_the_tests_run() -> None:
    """Else the list above would name a library that Qt does not need under that name."""
    check_desktop({"DISPLAY": ":0"})
    assert missing_libraries({"libNoSuchThing.so.9": "none"}) == {"libNoSuchThing.so.9": "none"}


def test_without_the_extra_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"needs PyQt6, .* pip install 'freezeframe\[desktop\]'"):
        check_desktop({"DISPLAY": ":0"}, found, "linux")


def test_offscreen_needs_neither_display_nor_x11() -> None:
    def load(name: str) -> object:
        if "xcb" in name:
            raise OSError(name)
        return name

    check_desktop({"QT_QPA_PLATFORM": "offscreen"}, load, "linux")


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("no-such.ff", "there is no such file or folder, and it is no target"),
        ("", "nothing is named"),
        ("a\0b", "cannot be looked at"),
    ],
)
def test_what_is_no_source_is_said(what: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        kind_of(what)


def test_a_folder_without_a_manifest_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a directory, but not a capture folder"):
        kind_of(str(tmp_path))


def test_kinds_of_sources(fault_capture: Path, tmp_path: Path) -> None:
    (tmp_path / "x.vcd").write_text("$end")
    assert kind_of(str(fault_capture)) == "capture"
    assert kind_of(str(tmp_path / "x.vcd")) == "samples"
    assert [kind_of(url) for url in ("emu:", "netdev:eth0", "etherbone://192.0.2.7")] == [
        "live"
    ] * 3


def refused(qtbot: QtBot, window: MainWindow, what: object) -> str:
    window.open(str(what))
    qtbot.waitUntil(lambda: bool(window.trouble.text()), timeout=WAIT_MS)
    assert window.trouble.isVisible()
    assert window.workspace.sources == {}
    return window.trouble.text()


def test_a_damaged_capture_is_refused_by_name(
    qtbot: QtBot, window: MainWindow, fault_capture: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(fault_capture, tmp_path / "copy.ff"))
    raw = copy / "raw" / "A.tx_enq.rec"
    data = bytearray(raw.read_bytes())
    data[100] ^= 1
    raw.write_bytes(data)
    text = refused(qtbot, window, copy)
    assert "A.tx_enq.rec: altered in chunk" in text
    assert "\n" not in text


def test_a_capture_of_another_version_is_refused(
    qtbot: QtBot, window: MainWindow, fault_capture: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(fault_capture, tmp_path / "copy.ff"))
    manifest = copy / "manifest.json"
    held = json.loads(manifest.read_text())
    held["format"][1] = 9
    manifest.write_text(json.dumps(held))
    text = refused(qtbot, window, copy)
    assert f"format version 9.{held['format'][2]}, this program reads 2." in text
    assert text.endswith("update Freezeframe")


def test_a_file_of_no_format_is_refused_and_the_window_opens_the_next(
    qtbot: QtBot, window: MainWindow, fault_capture: Path, tmp_path: Path
) -> None:
    (tmp_path / "noise").write_bytes(bytes(range(256)))
    assert "no format is recognised" in refused(qtbot, window, tmp_path / "noise")
    assert wait_loaded(qtbot, window, fault_capture)


def test_a_target_that_is_not_there_is_said(qtbot: QtBot, window: MainWindow) -> None:
    assert "nosuch0" in refused(qtbot, window, "netdev:nosuch0")


def test_damaged_notes_do_not_keep_the_capture_from_opening(
    qtbot: QtBot, make_window: MakeWindow, fault_capture: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(fault_capture, tmp_path / "copy.ff"))
    (copy / "notes.json").write_text("{")
    window = make_window()
    key = wait_loaded(qtbot, window, copy)
    assert "holds no notes that can be read" in window.notes.trouble.text()
    window.notes.add(key, Note.new(5, "new"))
    qtbot.waitUntil(lambda: "is not written over" in window.trouble.text(), timeout=WAIT_MS)
    assert (copy / "notes.json").read_text() == "{"


def test_the_verb_says_what_is_wrong_without_a_window(tmp_path: Path) -> None:
    said = refusal("open", str(tmp_path / "no.ff"), "--check")
    assert "there is no such file or folder" in said


def test_the_verb_tells_what_sources_are(fault_capture: Path) -> None:
    done = run_inside("open", str(fault_capture), "emu:", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out) == {
        "desktop": "can be shown",
        "sources": [
            {"source": str(fault_capture), "kind": "capture"},
            {"source": "emu:", "kind": "live"},
        ],
    }


def test_the_verb_refuses_options_that_cannot_be_meant(tmp_path: Path) -> None:
    assert "--every 0.001: at least 0.02 seconds" in run_inside("open", "--every", "0.001").err
    assert "is not a folder" in run_inside("open", "--into", str(tmp_path / "no")).err


CLOSED = """
from PyQt6.QtCore import QTimer
from PyQt6.QtWidgets import QApplication
app = QApplication(["x"])
from freezeframe.gui.desktop.options import DesktopOptions; from freezeframe.gui.desktop.start import start
QTimer.singleShot(1500, app.closeAllWindows)
sys.exit(start(DesktopOptions([sys.argv[1]])))
"""
INTERRUPTED = """
import os, signal, threading
from freezeframe.gui.cli.main import main
threading.Timer(2.5, os.kill, (os.getpid(), signal.SIGINT)).start()
main(["open", sys.argv[1]])
"""
WHILE_PAINTED = """
import os, signal
from freezeframe.gui.desktop.timeline import canvas
drawn, painted = canvas.draw_ruler, []
def draw(*scene):
    painted.append(1)
    if len(painted) == 3: os.kill(os.getpid(), signal.SIGINT)
    return drawn(*scene)
canvas.draw_ruler = draw
from freezeframe.gui.cli.main import main
main(["open", sys.argv[1]])
"""


@pytest.mark.parametrize(
    ("program", "code"),
    [(CLOSED, 0), (INTERRUPTED, 130), (WHILE_PAINTED, 130)],
    ids=["closed", "Ctrl-C", "Ctrl-C while it paints"],
)
def test_the_program_ends_as_it_should_when_its_window_is_closed_or_interrupted_while_it_is_painted(
    fault_capture: Path, program: str, code: int
) -> None:
    """In a process of its own: Qt crashes at the end of one whose objects go in the wrong order."""
    done = run_program([sys.executable, "-c", f"import sys\n{program}", str(fault_capture)])
    assert done.returncode == code, done.stderr[-2000:]
    assert "Traceback" not in done.stderr
    # Qt says so of a window that went away while it was painted.
    assert "QBackingStore" not in done.stderr


def test_a_mistake_of_the_program_is_shown_and_the_window_goes_on(
    window: MainWindow, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        raise ZeroDivisionError("<b>by nothing</b>")
    except ZeroDivisionError as error:
        mistake_shown(window)(ZeroDivisionError, error, error.__traceback__)
    assert "ZeroDivisionError: <b>by nothing</b>; the window goes on" in window.trouble.text()
    assert "Traceback" in capsys.readouterr().err
