"""Where the dashboard is drawn: Textual takes standard error, which may be a file beside a terminal."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.driver import Driver


def terminal_driver() -> type[Driver] | None:
    """Return what draws on standard output where that alone is a terminal; None: Textual's own choice."""
    if "TEXTUAL_DRIVER" in os.environ or sys.__stdout__ is None or sys.__stderr__ is None:
        return None
    if sys.platform == "win32" or sys.__stderr__.isatty() or not sys.__stdout__.isatty():
        return None
    from textual.drivers.linux_driver import LinuxDriver  # not on Windows

    class OnStandardOutput(LinuxDriver):
        def __init__(self, *given: object, **named: object) -> None:
            super().__init__(*given, **named)  # type: ignore[arg-type]
            assert sys.__stdout__ is not None
            self._file = sys.__stdout__

    return OnStandardOutput
