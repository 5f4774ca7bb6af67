"""Where an emulated serial console ends: a pseudo-terminal, which is read as a serial port is, or a file.

A terminal that nobody reads takes what fits and loses the rest, as a line without a listener does.

Source: pty(7).
"""

from __future__ import annotations

import os
import tty
from pathlib import Path

from freezeframe.capture.errors import InputError

TERMINAL = "pty"


class SerialLine:
    """The sending end of a console; ``name`` is what the listener opens."""

    def __init__(self, place: str) -> None:
        """Open a pseudo-terminal (`TERMINAL`), or begin a file anew.

        Raises:
            InputError: it cannot be opened.
        """
        self._far = -1
        try:
            if place == TERMINAL:
                self._near, self._far = os.openpty()
                tty.setraw(self._far)  # nothing is echoed, no line end is changed
                os.set_blocking(self._near, False)
                self.name = os.ttyname(self._far)
            else:
                self._near = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
                self.name = str(Path(place))
        except OSError as error:
            raise InputError(
                f"{place}: cannot be written: {error.strerror}; choose another place"
            ) from None

    def write(self, text: bytes) -> None:
        """Send; what does not fit a terminal is lost."""
        try:
            os.write(self._near, text)
        except BlockingIOError:
            return  # nobody listens

    def close(self) -> None:
        """End the line."""
        for descriptor in (self._near, self._far):
            if descriptor >= 0:
                os.close(descriptor)
        self._near = self._far = -1
