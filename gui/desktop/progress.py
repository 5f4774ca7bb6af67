"""How work in a thread reports how far it is, hands over parts, and ends when it is no longer wanted."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

_LEAST_S = 0.05  # between two reports: a reader may call for every piece
_LOOK_S = 0.1  # between two looks whether work that waits is still wanted


class Cancelled(Exception):
    """The work is no longer wanted; not an error."""


class Progress:
    """One piece of work. Everything may be called from any thread."""

    def __init__(
        self,
        report: Callable[[int, int, str], None] = lambda done, total, note: None,
        give: Callable[[Any], None] = lambda part: None,
        call_when_shown: Callable[[Callable[[], None]], None] = lambda then: then(),
    ) -> None:
        """``report`` gets what is done, of how much (0: not known), and what; ``give`` gets parts.

        ``call_when_shown`` calls what it gets once all that was given is shown.
        """
        self._report = report
        self._give = give
        self._call_when_shown = call_when_shown
        self._cancelled = threading.Event()
        self._last_s = 0.0
        self._note = ""

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Ask the work to end; it does at its next report."""
        self._cancelled.set()

    def check(self) -> None:
        """Raise `Cancelled` where the work is no longer wanted."""
        if self._cancelled.is_set():
            raise Cancelled

    def report(self, done: int, total: int = 0, note: str | None = None) -> None:
        """Say how far it is; raises `Cancelled` as `check` does."""
        self.check()
        now_s = time.monotonic()
        if note is not None and note != self._note:
            self._note = note
        elif now_s - self._last_s < _LEAST_S and done < total:
            return
        self._last_s = now_s
        self._report(done, total, self._note)

    def counted(self, done: int, total: int) -> None:
        """`report` in the form that readers of files call."""
        self.report(done, total)

    def give(self, part: Any) -> None:
        """Hand over a part of the result that can be shown already."""
        self.check()
        self._give(part)

    def wait_until_shown(self, most_s: float = 2.0) -> None:
        """Wait until the window shows what it was given: it and this work would take turns at the interpreter.

        Args:
            most_s: where it draws without end, as for a live source, the work goes on all the same.
        Raises:
            Cancelled: it is no longer wanted; also while this waits.
        """
        shown = threading.Event()
        self._call_when_shown(shown.set)
        until_s = time.monotonic() + most_s
        while not shown.wait(_LOOK_S) and time.monotonic() < until_s:
            self.check()
