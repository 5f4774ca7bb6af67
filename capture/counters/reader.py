"""A source read at a steady pace in a thread of its own, so that one that hangs delays nobody.

A source that fails is closed and opened again until it answers; until then its last sample grows old.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from freezeframe.capture.counters.contract import CounterSource, Sample
from freezeframe.capture.errors import FreezeframeError

_LONGEST_PAUSE_S = 2.0  # between two tries to open a source that is gone
_STALE_PERIODS = 5
_LEAST_STALE_NS = 1_000_000_000
_KEPT = 4096  # samples nobody has taken yet; the oldest go first


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of something that was asked of a source: one line, and whether it failed."""

    text: str
    failed: bool = False


class SourceReader:
    """One source and the thread that reads it. All methods may be called from any thread."""

    def __init__(
        self, source: CounterSource, reopen: Callable[[], CounterSource], period_s: float
    ) -> None:
        """Begin with an opened source; ``start`` begins to read.

        Args:
            reopen: opens the source again after it failed.
            period_s: from one reading to the next.
        """
        self.url = source.url
        self.period_s = period_s
        self.source = source  # the newest that was opened; its counters and facts may be looked at
        self.last: Sample | None = None
        self.trouble: str | None = None
        self.missed = 0  # samples that nobody took in time
        self._reopen = reopen
        self._opened = True
        self._samples: deque[Sample] = deque()
        self._asked: deque[Callable[[CounterSource], str]] = deque()
        self._answers: deque[Answer] = deque()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._ending = False
        self._thread = threading.Thread(target=self._run, name=f"read {source.url}", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def stop(self, wait_s: float = 2.0) -> None:
        """End the thread; a source that hangs in a reading is left to the end of the process."""
        self._ending = True
        self._wake.set()
        if self._thread.ident is not None:
            self._thread.join(wait_s)

    def take(self) -> list[Sample]:
        """Return the samples since the last call, oldest first."""
        with self._lock:
            taken = list(self._samples)
            self._samples.clear()
        return taken

    def age_ns(self) -> int | None:
        """Return how old the newest sample is, None before the first."""
        last = self.last
        return None if last is None else time.monotonic_ns() - last.t_ns

    def is_stale(self, now_ns: int) -> bool:
        """Return whether the source fails, or its newest sample is older than a few periods.

        Before the first sample it is not stale, unless it fails.
        """
        if self.trouble is not None:
            return True
        limit_ns = max(_LEAST_STALE_NS, int(_STALE_PERIODS * self.period_s * 1e9))
        return self.last is not None and now_ns - self.last.t_ns > limit_ns

    def ask(self, action: Callable[[CounterSource], str]) -> None:
        """Let ``action`` run between two readings; ``answers`` will hold the line it returns."""
        self._asked.append(action)
        self._wake.set()

    def answers(self) -> list[Answer]:
        """Return what became of what was asked, since the last call."""
        taken = []
        while self._answers:
            taken.append(self._answers.popleft())
        return taken

    def _run(self) -> None:
        try:
            self._read_on()
        except (
            Exception
        ) as error:  # a mistake of the program: the thread ends, and must not do so unseen
            self.trouble = f"reading has ended by a mistake of this program: {error!r}"
            raise
        finally:
            self._close()

    def _read_on(self) -> None:
        pause_s = self.period_s
        due_s = time.monotonic()
        while not self._ending:
            try:
                if not self._opened:
                    self.source = self._reopen()
                    self._opened = True
                self._keep(self.source.read())
                self.trouble = None
                pause_s = self.period_s
                self._obey()
            except (FreezeframeError, OSError) as error:
                self.trouble = str(error)
                self._close()
                self._refuse()
                pause_s = min(_LONGEST_PAUSE_S, max(2 * pause_s, 0.1))
            # From due time to due time, so that the pace does not drift; after a delay it begins again.
            due_s = max(due_s + (self.period_s if self._opened else pause_s), time.monotonic())
            while not self._ending and (left_s := due_s - time.monotonic()) > 0:
                if self._wake.wait(left_s):
                    self._wake.clear()
                    if self._opened and self._asked:
                        break

    def _keep(self, sample: Sample) -> None:
        with self._lock:
            if len(self._samples) == _KEPT:
                self._samples.popleft()
                self.missed += 1
            self._samples.append(sample)
        self.last = sample

    def _obey(self) -> None:
        while self._asked:
            action = self._asked.popleft()
            try:
                self._answers.append(Answer(action(self.source)))
            except FreezeframeError as error:
                self._answers.append(Answer(str(error), failed=True))

    def _refuse(self) -> None:
        while self._asked:
            self._asked.popleft()
            self._answers.append(
                Answer(f"{self.url} does not answer; nothing was done", failed=True)
            )

    def _close(self) -> None:
        if self._opened:
            self._opened = False
            self.source.close()
