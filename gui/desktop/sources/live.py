"""A live card, or counters of this machine: read by its own thread, kept as series that grow.

Times begin when the source was opened. While it does not answer, its series have a gap and it is stale.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from freezeframe.capture.code import code
from freezeframe.capture.counters.contract import Counter, CounterSource, Sample
from freezeframe.capture.counters.monitor import Event, Monitor, Watched
from freezeframe.capture.counters.reader import SourceReader
from freezeframe.capture.counters.sources import open_source
from freezeframe.gui.desktop.progress import Progress
from freezeframe.gui.desktop.sources.counted import Counted, line_track
from freezeframe.gui.desktop.sources.opened import ARM_OVER, Opened, Part, Table
from freezeframe.gui.tracks.tracks import MarkTrack, SeriesTrack, Track

# Loaded by the thread that does it: every window knows live sources, few act on one.
_ARM = code("freezeframe.gui.card_actions:arm")
_FREEZE = code("freezeframe.gui.card_actions:freeze")
_PULL = code("freezeframe.gui.card_actions:pull_into")

_NS_PS = 1000
_KEPT = 36_000  # samples of a series: an hour at ten a second; older ones are let go
_COUNTERS, _LOG = "counters", "log"


def open_live(key: str, url: str, period_s: float, progress: Progress) -> LiveSource:
    """Open a target or another source of counters and begin to read it.

    Raises:
        InputError: it names no source.
        TargetError: it cannot be reached.
    """
    progress.report(0, 0, "connecting")
    source = open_source(url)
    if progress.cancelled:
        source.close()
        progress.check()
    reader = SourceReader(source, partial(open_source, url), period_s)
    return LiveSource(key, url, reader)


class LiveSource:
    """One source in live mode: call `poll` often, from the thread of the window; it reads nothing itself."""

    def __init__(self, key: str, url: str, reader: SourceReader) -> None:
        self.reader = reader
        self.monitor = Monitor([reader])
        self.opened = Opened(key, url, url, "live")
        self.start_ns = time.monotonic_ns()
        self._series: dict[str, Counted] = {}
        self._log: list[tuple[int, Event]] = []
        self._changed: set[str] = set()
        self._log_changed = True
        self._pulled: deque[Path] = deque()
        self.busy = ""
        """What was asked and is not answered yet; meanwhile nothing is read."""
        self.opened.loaded = True
        reader.start()

    @property
    def watched(self) -> Watched:
        """The newest sample, what is wrong, and since when."""
        return self.monitor.sources[0]

    @property
    def counters(self) -> Mapping[str, Counter]:
        return self.reader.source.counters

    def close(self) -> None:
        """Stop reading."""
        self.reader.stop(0.5)

    def ask(self, what: str, into: Path) -> None:
        """Let the source arm, freeze or be pulled into a folder below ``into``, between two readings.

        The answer is an event of kind ``note``; a pulled folder is handed over by `taken`.
        """
        self.busy = what
        actions: dict[str, Callable[[CounterSource], str]] = {
            "arm": _ARM,
            ARM_OVER: partial(_ARM, discard=True),
            "freeze": _FREEZE,
            "pull": partial(_PULL, into, "open", self._pulled.append),
        }
        self.reader.ask(actions[what])

    def taken(self) -> list[Path]:
        """Return the folders that were pulled since the last call."""
        found = []
        while self._pulled:
            found.append(self._pulled.popleft())
        return found

    def tell(self, text: str) -> None:
        """Say what became of its freeze, in place of it and in the log."""
        now_ns = time.monotonic_ns()
        self.monitor.tell(self.watched.url, text, now_ns)
        self._log.append((self._ps(now_ns), self.monitor.log[-1]))
        self._log_changed = True

    def poll(self) -> list[Event]:
        """Take what was read since the last call; return what changed."""
        now_ns = time.monotonic_ns()
        was_stale = self.watched.stale
        samples, events = self.monitor.poll(now_ns)
        for _, sample in samples:
            self._take(sample)
        if self.watched.stale and not was_stale:
            t_ps = self._ps(now_ns)
            for key, series in self._series.items():
                series.gap(t_ps)
                self._changed.add(key)
        for event in events:
            self._log.append((self._ps(event.t_ns), event))
            self._log_changed = True
            if event.kind == "note":
                self.busy = ""
        return events

    def part(self) -> Part | None:
        """Return the tracks and tables that have changed since the last call; None without any."""
        if not self._changed and not self._log_changed:
            return None
        tracks: list[tuple[Track, str | None]] = [
            (self._track(key), None) for key in sorted(self._changed) if self._series[key].moved
        ]
        tables = [self._table()]
        if self._log_changed:
            tracks.append((self._marks(), _LOG))
            tables.append(self._log_table())
        self._changed.clear()
        self._log_changed = False
        return Part(tracks=tracks, tables=tables)

    def _take(self, sample: Sample) -> None:
        t_ps = self._ps(sample.t_ns)
        for key, value in sample.values.items():
            series = self._series.get(key)
            if series is None:
                counter = self.counters.get(key)
                gauge = counter is not None and counter.kind == "gauge"
                series = Counted(gauge, "" if counter is None else counter.unit)
                self._series[key] = series
            series.add(t_ps, sample.t_ns, value, sample.own_ns.get(key))
            series.keep(_KEPT)
            self._changed.add(key)

    def _ps(self, t_ns: int) -> int:
        return max(t_ns - self.start_ns, 0) * _NS_PS

    def _track(self, key: str) -> SeriesTrack:
        counter = self.counters.get(key)
        return self._series[key].track(
            f"{self.opened.key}/live/{key}",
            key,
            source=self.opened.name,
            note="" if counter is None else counter.help,
        )

    def _marks(self) -> MarkTrack:
        dated = sorted(self._log, key=lambda one: one[0])
        role = tuple(
            "error" if event.begins and event.kind != "note" else "note" for _, event in dated
        )
        return line_track(
            self.opened.key,
            [(t_ps, event.text) for t_ps, event in dated],
            role,
            name="changes",
            source=self.opened.name,
            note="What changed when: freezes, alarms, broken laws, outages.",
        )

    def _table(self) -> Table:
        watched = self.watched
        values = {} if watched.sample is None else watched.sample.values
        counters = self.counters
        rates = [watched.rate(key) for key in values]
        frame = pd.DataFrame(
            {
                "counter": list(values),
                "count": np.array(list(values.values()), np.int64)
                if all(abs(value) < 1 << 63 for value in values.values())
                else pd.array(list(values.values()), dtype=object),
                "per_s": pd.array(
                    [float("nan") if r is None else r for r in rates], dtype="float64"
                ),
                "unit": [counters[k].unit if k in counters else "" for k in values],
                "help": [counters[k].help if k in counters else "" for k in values],
            }
        )
        return Table(_COUNTERS, frame, doc="every counter, newest value and rate")

    def _log_table(self) -> Table:
        dated = sorted(self._log, key=lambda one: one[0])
        frame = pd.DataFrame(
            {
                "t_ps": np.array([t for t, _ in dated], np.int64),
                "kind": [event.kind for _, event in dated],
                "text": [event.text for _, event in dated],
                "begins": np.array([event.begins for _, event in dated], np.bool_),
            }
        )
        return Table(_LOG, frame, doc="what changed when")
