"""The pictures of docs/desktop.md: the demo's fault in a real window.

    xvfb-run -s '-screen 0 1600x900x24' .venv/bin/python -m tests.gui.desktop.screenshot docs/images

What is saved is what the display shows, not what the program would draw.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from freezeframe.capture.recorder.pull import pull
from freezeframe.emulator.target import EmulatorTarget
from freezeframe.gui.desktop.start import check_desktop
from freezeframe.gui.desktop.theme import Theme

if TYPE_CHECKING:
    from PyQt6.QtWidgets import QApplication

__all__ = ["take"]

_WAIT_S = 120.0


def take(app: QApplication, capture: Path, place: Path, theme: Theme) -> None:
    """Show a capture with its first finding chosen, and save what the display shows.

    Raises:
        TimeoutError: it did not get ready.
        OSError: the picture is empty or cannot be written.
    """
    from freezeframe.gui.desktop.window import MainWindow
    from freezeframe.gui.desktop.workspace import Workspace
    from PyQt6 import sip

    window = MainWindow(Workspace(), theme=theme)
    window.setGeometry(0, 0, 1600, 900)
    window.show()
    key = window.open(str(capture))

    def ready() -> bool:
        opened = window.workspace.sources.get(key or "")
        working = window.workspace.jobs.running or window.timeline.is_building()
        return opened is not None and opened.loaded and not working

    _until(app, ready)
    window.findings.list.setCurrentRow(0)
    settled_s = time.monotonic() + 1.5
    _until(app, lambda: time.monotonic() > settled_s and ready())
    screen = window.screen()
    shown = None if screen is None else screen.grabWindow(window.winId())
    if shown is None or shown.isNull() or not shown.save(str(place), "PNG"):
        raise OSError(f"{place}: no picture")
    window.close()
    sip.delete(window)


def _until(app: QApplication, ready: Callable[[], bool]) -> None:
    end_s = time.monotonic() + _WAIT_S
    while not ready():
        if time.monotonic() > end_s:
            raise TimeoutError("the window did not get ready")
        app.processEvents()
        time.sleep(0.005)


def main() -> None:
    """Make the demo's capture and both pictures."""
    if len(sys.argv) != 2:
        sys.exit("say where the pictures go: python -m tests.gui.desktop.screenshot docs/images")
    os.environ.setdefault("QT_QPA_PLATFORM", "xcb")
    check_desktop()
    from PyQt6.QtWidgets import QApplication

    app = QApplication(["freezeframe"])
    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "freezeframe-demo" / "capture.ff"
        capture.parent.mkdir()
        target = EmulatorTarget(profile="forth", fault="word-omitted", seed=2)
        target.run_until_frozen(20_000_000_000)
        pull(target, capture, freeze=True)
        for name, theme in (("desktop.png", "dark"), ("desktop-light.png", "light")):
            take(app, capture, Path(sys.argv[1]) / name, "dark" if theme == "dark" else "light")
            print(Path(sys.argv[1]) / name)


if __name__ == "__main__":
    main()
