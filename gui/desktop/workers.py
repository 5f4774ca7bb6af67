"""Jobs: work in threads whose progress, parts and end arrive in the window's thread; with cancel."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from PyQt6 import sip
from PyQt6.QtCore import QObject, QTimer, pyqtBoundSignal, pyqtSignal

from freezeframe.capture.errors import FreezeframeError
from freezeframe.gui.desktop.progress import Cancelled, Progress
from freezeframe.gui.text import printable

_LOOK_MS = 5  # between two looks whether the window still draws


def delayed(parent: QObject, wait_ms: int, act: Callable[[], object]) -> QTimer:
    """Return a timer that acts once, so long after it was started last."""
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.setInterval(wait_ms)
    timer.timeout.connect(act)
    return timer


class Job(QObject):
    """One piece of work. Its signals come in the thread of the window.

    ``ended`` comes once, whatever happened; before it ``done`` with the result, ``failed`` with a
    line, or neither where it was cancelled.
    """

    progressed = pyqtSignal(object, object, str)
    part = pyqtSignal(object)
    done = pyqtSignal(object)
    failed = pyqtSignal(str)
    ended = pyqtSignal()
    _heard = pyqtSignal(str, object)  # from the thread to the window's

    def __init__(
        self,
        title: str,
        work: Callable[[Progress], Any],
        parent: QObject,
        is_drawing: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__(parent)
        self.title = title
        self._is_drawing = is_drawing
        self.told: tuple[int, int, str] = (0, 0, "")
        self._work = work
        self._over = False
        self.progress = Progress(
            lambda done, total, note: self._tell("progressed", (done, total, note)),
            lambda part: self._tell("part", part),
            lambda then: self._tell("shown", then),
        )
        self._heard.connect(self._relay)  # from another thread: queued
        self._thread = threading.Thread(target=self._run, name=title, daemon=True)

    def start(self) -> None:
        """Begin; the call returns at once."""
        self._thread.start()

    def cancel(self) -> None:
        """End it. What is shown of it goes at once; the thread itself at its next report."""
        self.progress.cancel()
        self._end()

    def wait(self, wait_s: float) -> bool:
        """Wait for the thread; return whether it has ended."""
        if self._thread.ident is not None:
            self._thread.join(wait_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            result = self._work(self.progress)
            self.progress.check()
            self._tell("done", result)
        except Cancelled:
            return
        except FreezeframeError as error:
            self._tell("failed", printable(str(error).strip()))
        except OSError as error:
            where = f"{error.filename}: " if error.filename is not None else ""
            self._tell("failed", printable(f"{where}{error.strerror or error}"))
        except MemoryError:
            self._tell("failed", f"{self.title}: not enough memory; open less at once")
        except Exception as error:
            # A mistake of this program must end the job and be seen; its traceback goes to the terminal.
            self._tell("failed", printable(f"{self.title}: mistake of this program: {error!r}"))
            raise
        finally:
            self._tell("ended", None)

    def _tell(self, what: str, value: Any) -> None:
        """Send to the window's thread, unless the window is gone."""
        if not sip.isdeleted(self):
            self._heard.emit(what, value)

    def _relay(self, what: str, value: Any) -> None:
        """Take a message of the thread; those of a cancelled job are dropped."""
        if what == "ended":
            self._end()
        elif self.progress.cancelled:
            return
        elif what == "progressed":
            self.told = value
            self.progressed.emit(*value)
        elif what == "part":
            self.part.emit(value)
        elif what == "shown":
            self._call_when_drawn(value)
        elif what == "done":
            self.done.emit(value)
        else:
            self.failed.emit(str(value))

    def _call_when_drawn(self, then: Callable[[], None]) -> None:
        """Call this when the window has drawn what it was given, which is laid out in another thread."""
        if self.progress.cancelled:
            return
        if self._is_drawing():
            QTimer.singleShot(_LOOK_MS, lambda: self._call_when_drawn(then))
        else:
            QTimer.singleShot(1, then)  # a timer comes after the paint events that wait

    def _end(self) -> None:
        if not self._over:
            self._over = True
            self.ended.emit()


class Jobs(QObject):
    """The jobs that run. ``changed`` comes when one begins or ends.

    ``is_drawing``: whether the window still draws what it was given; the window sets it.
    """

    began = pyqtSignal(object)
    changed = pyqtSignal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.running: list[Job] = []
        self.is_drawing: Callable[[], bool] = lambda: False
        self._stopped = False

    def start(
        self,
        title: str,
        work: Callable[[Progress], Any],
        done: Callable[[Any], object] | None = None,
        failed: Callable[[str], object] | pyqtBoundSignal | None = None,
    ) -> Job:
        """Make a job; connect its signals, it begins with the next turn of the event loop."""
        job = Job(title, work, self, self.is_drawing)
        if done is not None:
            job.done.connect(done)
        if failed is not None:
            job.failed.connect(failed)
        if self._stopped:
            job.progress.cancel()  # the window is closing; nothing begins any more
            return job
        self.running.append(job)
        job.ended.connect(lambda: self._gone(job))
        self.began.emit(job)
        self.changed.emit()
        QTimer.singleShot(0, job.start)
        return job

    def cancel_all(self) -> None:
        """Cancel every job."""
        for job in list(self.running):
            job.cancel()

    def stop(self, wait_s: float = 2.0) -> None:
        """Cancel every job and wait for the threads; one that hangs is left to the end of the process."""
        self._stopped = True
        jobs = list(self.running)
        self.cancel_all()
        for job in jobs:
            job.wait(wait_s)

    def _gone(self, job: Job) -> None:
        if job in self.running:
            self.running.remove(job)
            self.changed.emit()
