"""The first screen of ten faults, without a click, as the display shows it: one size of screen a run.

    xvfb-run -s '-screen 0 1280x720x24' .venv/bin/python -m tests.gui.desktop.first_screens docs/images/first
    QT_SCALE_FACTOR=2 xvfb-run -s '-screen 0 3840x2160x24' .venv/bin/python -m tests.gui.desktop.first_screens ...

The window is as large as the screen; what is saved is what the display shows.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from freezeframe.gui.desktop.start import check_desktop
from tests.gui.desktop.captures import emulated
from tests.gui.desktop.screenshot import ready, save, until

FAULTS = (
    "word-omitted", "word-duplicated", "sync-fifo-empty", "payload-bit-flip", "header-corrupted",
    "credit-lost", "credit-too-coarse", "credit-too-optimistic", "lane-misaligned", "header-miscounted",
)  # fmt: skip


def main() -> None:
    """Make the capture of each fault and its picture."""
    if len(sys.argv) < 2:
        sys.exit("say where the pictures go, and which faults if not all")
    os.environ.setdefault("QT_QPA_PLATFORM", "xcb")
    check_desktop()
    from PyQt6.QtWidgets import QApplication

    from freezeframe.gui.desktop.window import MainWindow
    from freezeframe.gui.desktop.workspace import Workspace

    app = QApplication(["freezeframe"])
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    screen = app.primaryScreen()
    assert screen is not None
    size, dpr = screen.size(), screen.devicePixelRatio()
    name = f"{round(size.width() * dpr)}x{round(size.height() * dpr)}"
    with tempfile.TemporaryDirectory() as held:
        for fault in sys.argv[2:] or FAULTS:
            window = MainWindow(Workspace(), theme="dark")
            window.setGeometry(0, 0, size.width(), size.height())
            window.show()
            window.open(str(emulated(Path(held) / f"{fault}.ff", fault)))
            until(app, lambda shown=window: ready(shown) and bool(shown.workspace.sources))  # type: ignore[misc]
            place = folder / f"{fault}-{name}.png"
            save(app, window, place)
            print(place)


if __name__ == "__main__":
    main()
