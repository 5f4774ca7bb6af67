"""A plug-in's decoder in the window: in its jail as everywhere; what becomes of it is one line beside all the rest."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot

from freezeframe.decoders.plugin import load_with_plugins
from tests.decoders.test_adding_a_decoder import write_bus
from tests.decoders.test_plugin_jail import DOES, PLUGIN
from tests.gui.desktop.conftest import WAIT_MS, MakeWindow, settle, wait_loaded


def test_a_plugin_that_dies_is_one_line_and_the_window_shows_what_it_has(
    qtbot: QtBot, make_window: MakeWindow, tmp_path: Path
) -> None:
    plugin = tmp_path / "one.py"
    plugin.write_text(PLUGIN.format(does=DOES))
    board = write_bus(tmp_path / "board.sr")
    window = make_window(registry=load_with_plugins([plugin]))
    key = wait_loaded(qtbot, window, board)
    window.workspace.decode(key, ("one:does=segfault",))
    qtbot.waitUntil(lambda: bool(window.trouble.text()), timeout=WAIT_MS)
    settle(qtbot, window)
    assert "one.py: decoder one: the worker process died of SIGSEGV" in window.trouble.text()
    assert "\n" not in window.trouble.text()
    assert not window.workspace.sources[key].tables
    window.workspace.decode(key, ("one", "mdio"))
    qtbot.waitUntil(lambda: len(window.workspace.sources[key].tables) == 2, timeout=WAIT_MS)
    settle(qtbot, window)
    (said,) = window.workspace.sources[key].tables["one"].frame["kind"]
    assert said.startswith("well, in ")
