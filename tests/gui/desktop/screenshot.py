"""The pictures of docs/desktop.md: the demo's fault in a real window, alone and beside a run without it.

    xvfb-run -s '-screen 0 1600x900x24' .venv/bin/python -m tests.gui.desktop.screenshot docs/images

What is saved is what the display shows, not what the program would draw.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from freezeframe.capture.recorder.control import freeze
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.registers.access import open_devices
from freezeframe.emulator.target import EmulatorTarget
from freezeframe.gui.desktop.start import check_desktop
from freezeframe.gui.palette import ThemeName
from tests.gui.desktop.captures import emulated
from tests.gui.desktop.small_png import save_small

if TYPE_CHECKING:
    from PyQt6.QtWidgets import QApplication

    from freezeframe.gui.desktop.window import MainWindow


_WAIT_S = 120.0
_SETTLE_S = 1.5
_UNTIL_PS = 240_000_000  # the good run is frozen about when the bad one freezes itself
_LIMIT_PS = 20_000_000_000


def take(app: QApplication, capture: Path, place: Path, theme: ThemeName) -> None:
    """Show a capture with its first finding chosen, and save what the display shows.

    Raises:
        TimeoutError: it did not get ready.
        OSError: the picture is empty or cannot be written.
    """
    window = _opened(app, [capture], theme)
    window.findings.list.setCurrentRow(0)
    save(app, window, place)


def take_proof(app: QApplication, capture: Path, place: Path, pictures: Path) -> None:
    """Save the window that shows the pictures of the first finding, and these alone; raises as `take`."""
    window = _opened(app, [capture], "dark")
    window.show_panel("Proof")
    until(app, lambda: window.proof.pages.proof is not None)
    save_proof(window, pictures)
    save(app, window, place)


def save_proof(window: MainWindow, place: Path) -> None:
    """Save the pictures of the finding, light. Raises: OSError."""
    theme = window.theme
    window.set_theme("light")
    window.commands.write_proof("png", place)
    window.set_theme(theme)
    if window.trouble.text():
        raise OSError(window.trouble.text())


def take_comparison(app: QApplication, good: Path, bad: Path, place: Path) -> None:
    """Show two captures beside each other, and save what the display shows; raises as `take`."""
    window = _opened(app, [good, bad], "dark")
    window.menus.actions["Compare two captures"].trigger()
    save(app, window, place)


def _opened(app: QApplication, captures: Sequence[Path], theme: ThemeName) -> MainWindow:
    from freezeframe.gui.desktop.window import MainWindow
    from freezeframe.gui.desktop.workspace import Workspace

    window = MainWindow(Workspace(), theme=theme)
    window.setGeometry(0, 0, 1600, 900)
    window.show()
    for capture in captures:
        window.open(str(capture))
    until(app, lambda: len(window.workspace.sources) == len(captures) and ready(window))
    return window


def ready(window: MainWindow) -> bool:
    """Return whether all of it is there and nothing works any more."""
    working = window.workspace.jobs.running or window.timeline.is_building()
    return all(one.loaded for one in window.workspace.sources.values()) and not working


def save(app: QApplication, window: MainWindow, place: Path) -> None:
    """Save what the display shows, and close the window. Raises: OSError."""
    from PyQt6 import sip

    settled_s = time.monotonic() + _SETTLE_S
    until(app, lambda: time.monotonic() > settled_s and ready(window))
    window.repaint()  # whole: what is painted part by part has other corners of frames
    screen = window.screen()
    shown = None if screen is None else screen.grabWindow(window.winId())
    if shown is None or shown.isNull() or not save_small(shown, place):
        raise OSError(f"{place}: no picture")
    window.close()
    sip.delete(window)


def until(app: QApplication, done: Callable[[], bool]) -> None:
    """Let the window work until something is so. Raises: TimeoutError."""
    end_s = time.monotonic() + _WAIT_S
    while not done():
        if time.monotonic() > end_s:
            raise TimeoutError("the window did not get ready")
        app.processEvents()
        time.sleep(0.005)


def main() -> None:
    """Make the demo's capture and all pictures."""
    if len(sys.argv) != 2:
        sys.exit("say where the pictures go: python -m tests.gui.desktop.screenshot docs/images")
    os.environ.setdefault("QT_QPA_PLATFORM", "xcb")
    check_desktop()
    from PyQt6.QtWidgets import QApplication

    app = QApplication(["freezeframe"])
    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "freezeframe-demo" / "capture.ff"
        capture.parent.mkdir()
        emulated(capture, "word-omitted")
        for name, theme in (("desktop.png", "dark"), ("desktop-light.png", "light")):
            take(app, capture, Path(sys.argv[1]) / name, "dark" if theme == "dark" else "light")
            print(Path(sys.argv[1]) / name)
        at = Path(sys.argv[1])
        take_proof(app, capture, at / "desktop-proof.png", at / "proof-word-omitted.png")
        credit = emulated(Path(folder) / "credit-lost.ff", "credit-lost")
        take_proof(app, credit, Path(folder) / "window.png", at / "proof-credit-lost.png")
        print(
            *(
                at / f"{one}.png"
                for one in ("desktop-proof", "proof-word-omitted", "proof-credit-lost")
            )
        )
        good = Path(folder) / "good.ff"
        _pull_good(good)
        take_comparison(app, good, capture, Path(sys.argv[1]) / "compare.png")
        print(Path(sys.argv[1]) / "compare.png")


def _pull_good(path: Path) -> None:
    """Pull the same traffic without a fault, frozen by the host."""
    target = EmulatorTarget(profile="forth", fault="none", seed=2, access_ps=0)
    devices = open_devices(target)
    target.advance(_UNTIL_PS)
    freeze(devices[0])
    target.run_until_frozen(_LIMIT_PS)
    target.advance(_LIMIT_PS)  # until the table of CRCs is ready: accesses cost no time here
    pull(target, path)
    target.close()


if __name__ == "__main__":
    main()
