"""What runs at the moment: a line for each job with its progress, and a button that cancels it."""

from __future__ import annotations

from PyQt6.QtCore import QTimer
from PyQt6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from freezeframe.gui.desktop.widgets import button, named, plain_label
from freezeframe.gui.desktop.workers import Job, Jobs

_SCALE = 1000
_PATIENCE_MS = 300


class JobsBar(QWidget):
    """Lines that come and go with the jobs."""

    def __init__(self, jobs: Jobs) -> None:
        super().__init__()
        named(self, "running work")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(4, 0, 4, 0)
        self._column.setSpacing(2)
        self.lines: dict[Job, QWidget] = {}
        jobs.began.connect(self._add)

    def _add(self, job: Job) -> None:
        line = QWidget()
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 0, 0, 0)
        what = plain_label(f"work: {job.title}", job.title)
        what.setWordWrap(False)
        bar = named(QProgressBar(), f"progress of {job.title}")
        bar.setRange(0, 0)
        bar.setMaximumHeight(what.sizeHint().height())
        bar.setMaximumWidth(280)
        cancel = button("Cancel", f"cancel {job.title}", job.cancel, "Ends this work.")
        row.addWidget(what, 1)
        row.addWidget(bar)
        row.addWidget(cancel)
        self._column.addWidget(line)
        self.lines[job] = line
        # What is done at once is not shown: a line that flashes moves the whole window.
        line.hide()
        QTimer.singleShot(_PATIENCE_MS, lambda: self._show(job))

        def told(done: int, total: int, note: str) -> None:
            # Percent of 32 bits: a capture has more samples than a progress bar can count.
            bar.setRange(0, _SCALE if total > 0 else 0)
            if total > 0:
                bar.setValue(min(_SCALE, done * _SCALE // total))
            what.setText(f"{job.title}: {note}" if note else job.title)

        job.progressed.connect(told)
        job.ended.connect(lambda: self._remove(job))

    def _show(self, job: Job) -> None:
        line = self.lines.get(job)
        if line is not None:
            line.show()

    def _remove(self, job: Job) -> None:
        line = self.lines.pop(job, None)
        if line is not None:
            self._column.removeWidget(line)
            line.hide()
            line.deleteLater()
