"""Builds the pyramids of a time line in another thread, the tracks in view first."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from functools import partial

from PyQt6.QtCore import QObject, pyqtSignal

from freezeframe.gui.desktop.timeline.prepared import Prepared
from freezeframe.gui.desktop.timeline.raster import warm_up
from freezeframe.gui.plots.pyramid import BuildCancelled


class Builder(QObject):
    """A queue of tracks and the thread that builds them; the kernels let the window run meanwhile.

    Signals arrive in the window's thread.
    """

    advanced = pyqtSignal(object, object)  # items built, items in all tracks that were asked for
    finished = pyqtSignal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: deque[Prepared] = deque()
        self._current: Prepared | None = None
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._stopped = False
        self._cancelled: set[int] = set()
        self._before = 0
        self._all = 0
        self._warm = False

    @property
    def busy(self) -> bool:
        """Whether something is being built."""
        with self._changed:
            return self._current is not None or bool(self._waiting)

    def build(self, tracks: Sequence[Prepared]) -> None:
        """Build these, in this order, in place of all that was asked for before."""
        with self._changed:
            wanted = {id(p) for p in tracks}
            if self._current is not None:
                change = (
                    self._cancelled.discard if id(self._current) in wanted else self._cancelled.add
                )
                change(id(self._current))
            self._waiting = deque(p for p in tracks if p is not self._current and not p.done)
            self._before = 0
            self._all = sum(len(p.track) for p in self._waiting)
            self._all += (
                len(self._current.track) if self._current in tracks and self._current else 0
            )
            if not self._waiting and self._current is None:
                return
            if self._thread is None:
                self._stopped = False
                self._thread = threading.Thread(target=self._run, name="timeline", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def cancel(self) -> None:
        """Stop building; what is built stays, and can be drawn."""
        with self._changed:
            self._waiting.clear()
            if self._current is not None:
                self._cancelled.add(id(self._current))

    def shutdown(self) -> None:
        """Stop the thread and wait for it: at most one piece, some ten milliseconds."""
        self.cancel()
        with self._changed:
            self._stopped = True
            thread, self._thread = self._thread, None
            self._changed.notify_all()
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._stopped:
                    self._changed.wait()
                if self._stopped:
                    return
                current = self._current = self._waiting.popleft()
                self._cancelled.discard(id(current))
            if not self._warm:
                warm_up()
                self._warm = True
            try:
                current.build(self._tell, partial(self._is_cancelled, current))
            except BuildCancelled:
                self._queue_again(current)
            except Exception as error:
                # a failure of one track must not end the thread that builds the others
                current.failed = f"cannot be drawn: {type(error).__name__}: {error}"
                current.ready = True
            with self._changed:
                self._current = None
                self._before += len(current.track)
                idle = not self._waiting
            self._tell(0, 0)
            if idle:
                self._emit_finished()

    def _queue_again(self, prepared: Prepared) -> None:
        """Build a track later after all when it was asked for again while it was being cancelled."""
        with self._changed:
            if id(prepared) not in self._cancelled:
                self._waiting.append(prepared)

    def _is_cancelled(self, prepared: Prepared) -> bool:
        return id(prepared) in self._cancelled

    def _tell(self, done: int, total: int) -> None:
        try:
            self.advanced.emit(min(self._before + done, self._all), self._all)
        except RuntimeError:  # the window is gone, with the C++ side of this object
            self._stopped = True

    def _emit_finished(self) -> None:
        try:
            self.finished.emit()
        except RuntimeError:  # as in _tell
            self._stopped = True
