"""Starting the desktop: what is missing on the machine is said before Qt ends the process without a word."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING

from freezeframe.capture.errors import FreezeframeError, InputError

if TYPE_CHECKING:
    from freezeframe.capture.files.choice import SourceChoice
    from freezeframe.decoders.registry import Registry
    from freezeframe.gui.desktop.window import MainWindow

__all__ = [
    "DesktopOptions",
    "check_desktop",
    "missing_libraries",
    "mistake_shown",
    "prepare_process",
    "start",
]

_EXTRA = "install it with: pip install 'freezeframe[desktop]'"
# Libraries that the wheels of Qt do not bring, by the Debian package that does.
_ALWAYS: Mapping[str, str] = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libfontconfig.so.1": "libfontconfig1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libxkbcommon.so.0": "libxkbcommon0",
}
_X11: Mapping[str, str] = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
_AWAKE_MS = 250
_HEADLESS = ("offscreen", "minimal", "vnc")


@dataclass(frozen=True, slots=True)
class DesktopOptions:
    """What the verb ``open`` was asked for."""

    sources: Sequence[str] = ()
    specs: Sequence[str] = ()
    allow_write: bool = False
    light: bool = False
    period_s: float = 0.5
    into: Path = field(default_factory=Path)
    choice: SourceChoice | None = None
    registry: Registry | None = None


def check_desktop(
    environment: Mapping[str, str] = os.environ,
    load: Callable[[str], object] = ctypes.CDLL,
    platform: str = sys.platform,
) -> None:
    """Check that a window can be shown here.

    Raises:
        InputError: there is no display, a library of the system is missing (the message names its
            Debian package), or the extra is not installed.
    """
    import importlib.util

    for module in ("PyQt6", "pyqtgraph"):
        if importlib.util.find_spec(module) is None:
            raise InputError(f"the desktop needs {module}, which is not installed; {_EXTRA}")
    chosen = environment.get("QT_QPA_PLATFORM", "").partition(":")[0]
    on_x11 = platform.startswith("linux") and chosen in ("", "xcb")
    has_wayland = bool(environment.get("WAYLAND_DISPLAY")) and chosen in ("", "wayland")
    if (
        platform.startswith("linux")
        and chosen not in _HEADLESS
        and not environment.get("DISPLAY")
        and not has_wayland
    ):
        raise InputError(
            "there is no display (DISPLAY and WAYLAND_DISPLAY are not set); over ssh use ssh -X, "
            "without a screen xvfb-run, or 'freezeframe explain' and 'freezeframe report', which "
            "need none"
        )
    if platform.startswith("linux"):
        wanted = {**_ALWAYS, **(_X11 if on_x11 and not has_wayland else {})}
        missing = missing_libraries(wanted, load)
        if missing:
            raise InputError(
                f"libraries that Qt needs are missing: {', '.join(missing)}; on Debian: "
                f"apt-get install {' '.join(dict.fromkeys(missing.values()))}"
            )
    try:
        import PyQt6.QtGui
        import PyQt6.QtSvg
        import PyQt6.QtWidgets  # noqa: F401 - the three that the desktop is made of
    except ImportError as error:
        raise InputError(f"Qt cannot be loaded: {error}; {_EXTRA}") from None


def missing_libraries(
    wanted: Mapping[str, str], load: Callable[[str], object] = ctypes.CDLL
) -> dict[str, str]:
    """Return those of the libraries that cannot be loaded, with their Debian packages."""
    missing = {}
    for library, package in wanted.items():
        try:
            load(library)
        except OSError:
            missing[library] = package
    return missing


def start(options: DesktopOptions) -> int:
    """Show the window until it is closed; return the exit code of the application.

    Raises:
        InputError: as `check_desktop`, or a source is nothing that can be opened.
        KeyboardInterrupt: it was ended by Ctrl-C in the terminal, after all was saved.
    """
    from freezeframe.gui.desktop.sources.choice import kind_of

    check_desktop()
    for what in options.sources:
        kind_of(what)
    from PyQt6 import sip
    from PyQt6.QtCore import QTimer
    from PyQt6.QtWidgets import QApplication

    app = QApplication.instance() or QApplication(["freezeframe"])
    prepare_process()
    from freezeframe.gui.desktop.window import MainWindow
    from freezeframe.gui.desktop.workspace import Workspace

    workspace = Workspace(
        period_s=options.period_s,
        into=options.into,
        choice=options.choice,
        registry=options.registry,
    )
    window = MainWindow(
        workspace, allow_write=options.allow_write, theme="light" if options.light else "dark"
    )
    window.show()
    for what in options.sources:
        window.open(what, options.specs)
    interrupted: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        interrupted.append(number)
        window.close()

    before = signal.signal(signal.SIGINT, interrupt)
    awake = QTimer()  # Python sees a signal only when it runs
    awake.timeout.connect(_nothing)
    awake.start(_AWAKE_MS)
    sys.excepthook = mistake_shown(window)
    code = int(app.exec())
    awake.stop()
    sys.excepthook = sys.__excepthook__
    signal.signal(signal.SIGINT, before)
    # In this order, while the application is still there: Qt crashes on a window that outlives it.
    window.close()
    sip.delete(window)
    if interrupted:
        raise KeyboardInterrupt
    return code


def prepare_process() -> None:
    """Load and settle, before a window is shown, what would hold it up later."""
    # A worker would load these while the window waits for the interpreter.
    import numba  # noqa: F401
    import pandas  # noqa: F401
    import pyarrow.parquet  # noqa: F401

    from freezeframe.analyzers import explain  # noqa: F401
    from freezeframe.decoders.trace import decode  # noqa: F401

    # Threads of workers hold the interpreter for at most so long while the window wants it.
    sys.setswitchinterval(0.001)
    # A full collection, in whichever thread, holds the interpreter: 40 to 80 ms where it passes over the
    # 100,000 objects of the modules loaded here, which stay for ever; 10 to 25 ms without them.
    gc.collect()
    gc.freeze()


def mistake_shown(window: MainWindow) -> Callable[..., None]:
    """Return what is done with an exception that nobody caught: traceback to the terminal, a line in the window.

    Without it Qt ends the process at once, and with it what was not saved.
    """

    def shown(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        sys.__excepthook__(kind, error, trace)
        if issubclass(kind, FreezeframeError):
            window.say_trouble(str(error))
        else:
            window.say_trouble(
                f"a mistake of this program: {kind.__name__}: {error}; the window goes on, the "
                "terminal has the details"
            )

    return shown


def _nothing() -> None:
    """Let Python run for a moment."""
