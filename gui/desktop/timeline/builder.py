"""Builds the pyramids of a time line in a job, the tracks in view first."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial

from PyQt6.QtCore import QObject, pyqtSignal

from freezeframe.gui.desktop.progress import Cancelled, Progress
from freezeframe.gui.desktop.timeline.prepared import Prepared
from freezeframe.gui.desktop.timeline.raster import warm_up
from freezeframe.gui.desktop.workers import Job

_PIECE_S = 10.0  # far longer than a piece takes, also where its kernel is compiled first


class Builder(QObject):
    """The job that builds; one that is no longer wanted ends at its next piece, and what is built stays.

    The kernels let the window run meanwhile. Signals arrive in the window's thread.
    """

    advanced = pyqtSignal()
    finished = pyqtSignal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.job: Job | None = None
        self._jobs: list[Job] = []  # this one, and those before whose threads may still run
        self._working = threading.Lock()  # the job before may still be at its last piece

    def build(self, tracks: Sequence[Prepared]) -> None:
        """Build these, in this order, in place of all that was asked for before."""
        self.cancel()
        for job in [job for job in self._jobs if job.wait(0)]:
            self._jobs.remove(job)
            job.deleteLater()  # not sooner: its thread sends to it
        wanted = [one for one in tracks if not one.done]
        if wanted:
            job = self.job = Job("timeline", partial(self._work, wanted), self)
            job.progressed.connect(lambda *_: self.advanced.emit())
            job.ended.connect(lambda: self._ended(job))
            self._jobs.append(job)
            job.start()

    def cancel(self) -> None:
        """Stop building; what is built stays, and can be drawn."""
        job, self.job = self.job, None
        if job is not None:
            job.cancel()

    def shutdown(self) -> None:
        """Stop, and wait for the threads: at most one piece, some ten milliseconds."""
        self.cancel()
        for job in self._jobs:
            job.wait(_PIECE_S)

    def _work(self, tracks: Sequence[Prepared], progress: Progress) -> None:
        with self._working:
            progress.check()
            warm_up(one.pyramid for one in tracks)
            for one in tracks:
                try:
                    one.build(progress.counted)
                except Cancelled:
                    raise
                except Exception as error:
                    # a failure of one track must not end the thread that builds the others
                    one.failed = f"cannot be drawn: {type(error).__name__}: {error}"
                    one.ready = True
                progress.report(1, 1)  # also of a track that was built within a moment

    def _ended(self, job: Job) -> None:
        if job is self.job:
            self.job = None
            self.finished.emit()
