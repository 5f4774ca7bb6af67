"""The desktop as a process: the application of Qt, its window, Ctrl-C, and mistakes that nobody caught."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Callable
from types import FrameType, TracebackType

import numba  # noqa: F401 - a worker would load it while the window waits for the interpreter
import pyarrow.parquet  # noqa: F401 - as numba
from PyQt6 import sip
from PyQt6.QtCore import QTimer
from PyQt6.QtWidgets import QApplication

from freezeframe.capture.errors import FreezeframeError
from freezeframe.decoders.trace import decode  # noqa: F401 - as numba
from freezeframe.gui.desktop.options import DesktopOptions
from freezeframe.gui.desktop.settings import settings_path
from freezeframe.gui.desktop.window import MainWindow
from freezeframe.gui.desktop.workspace import Workspace

_AWAKE_MS = 250


def show(options: DesktopOptions) -> int:
    """Show the window until it is closed; return the exit code of the application.

    Raises:
        KeyboardInterrupt: it was ended by Ctrl-C in the terminal, after all was saved.
    """
    app = QApplication.instance() or QApplication(["freezeframe"])
    prepare_process()
    workspace = Workspace(
        period_s=options.period_s,
        into=options.into,
        choice=options.choice,
        registry=options.registry,
    )
    window = MainWindow(
        workspace,
        allow_write=options.allow_write,
        theme="light" if options.light else None,
        settings=settings_path(),
        at_ps=options.at_ps,
    )
    window.show()
    for what in options.sources:
        window.open(what, options.specs)
    interrupted: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        interrupted.append(number)
        # Not here: Python may be amid a paint event, and Qt crashes where its window goes away under it.
        QTimer.singleShot(0, window.close)

    before = signal.signal(signal.SIGINT, interrupt)
    awake = QTimer()  # Python sees a signal only when it runs
    awake.timeout.connect(lambda: None)
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
    """Settle, before a window is shown, what would hold it up later."""
    # Threads of workers hold the interpreter for at most so long while the window wants it.
    sys.setswitchinterval(0.001)
    # A full collection, in whichever thread, holds the interpreter: 40 to 80 ms where it passes over the
    # 100,000 objects of the modules loaded here, which stay for ever; 10 to 25 ms without them. None is made
    # for it: what little garbage loading has left is not worth a sixth of a second before the window.
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
