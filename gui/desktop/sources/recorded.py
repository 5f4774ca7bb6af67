"""A recording of counters (``NAME.ffrec``) as it is shown: counters as rates, gauges as values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from freezeframe.analyzers.wall_clock import WallClock
from freezeframe.capture.count_text import plural
from freezeframe.capture.counters.recorded import Recorded
from freezeframe.capture.counters.recording import LINES
from freezeframe.capture.errors import CaptureFormatError
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.trace.coverage import Coverage
from freezeframe.gui.desktop.progress import Progress
from freezeframe.gui.desktop.sources.counted import Counted, line_track
from freezeframe.gui.desktop.sources.opened import Opened, Part, Table
from freezeframe.gui.text import folder_title
from freezeframe.gui.tracks.tracks import Track

_NS_PS = 1000
_ENDS = ("the recording begins here", "the recording ends here")
_TRACKS = 256
_PAUSE, _PAUSE_PS = (
    20,
    10**13,
)  # so many times the usual step, and 10 s, is a pause of the recording
_CLOCK = "by the clock of the machine that recorded, not by a card's own cycles"
_CHECK = 1000  # samples between two looks whether it is still wanted


class _Counter(Counted):
    """One counter of one source as it was recorded."""

    def __init__(self, is_gauge: bool, unit: str) -> None:
        super().__init__(is_gauge, unit)
        self.counts = unit  # what it counts
        self._since_ps = 0  # between the last two values

    def take(self, t_ps: int, value: int) -> None:
        """Take a value; a count that went back leaves a gap, and so does a time in which nothing was recorded."""
        if len(self.t_ps):
            since_ps, usual_ps = t_ps - self.t_ps[-1], self._since_ps
            if usual_ps and since_ps > max(_PAUSE_PS, _PAUSE * usual_ps):
                self.gap(self.t_ps[-1] + usual_ps)
            self._since_ps = since_ps
        self.moved = self.moved or self.last not in (None, value)
        self.add(t_ps, t_ps // _NS_PS, value)

    @property
    def per_s(self) -> float:
        """The rate at the end, NaN where it is not known."""
        return self.value[-1] if len(self.value) and not self.is_gauge else math.nan


def load_recording(key: str, path: Path, progress: Progress) -> Opened:
    """Return a recording of `watch`, `serve` or `console`; one that still grows as far as it has come.

    Raises:
        CaptureFormatError, CaptureVersionError: it is none, or of another version.
        Cancelled: it is no longer wanted.
    """
    progress.report(0, 0, "reading the recording")
    recorded = Recorded(path)
    counters: dict[tuple[str, str], _Counter] = {}
    lines: list[tuple[int, str]] = []
    first_ns: int | None = None
    samples = end_ps = back = 0
    for samples, event in enumerate(recorded.events(), 1):
        if samples % _CHECK == 0:
            progress.check()
        first_ns = event.utc_ns - event.t_ps // _NS_PS if first_ns is None else first_ns
        if event.t_ps < end_ps:  # the clock of the machine was set back between two runs
            back += 1
            continue
        end_ps = event.t_ps
        if event.source is None:
            lines.append((event.t_ps, event.text))
            continue
        for (name, kind, unit), value in zip(event.columns, event.values, strict=True):
            counter = counters.get((event.source, name))
            if counter is None:
                counter = counters[event.source, name] = _Counter(kind == "gauge", unit)
            counter.take(event.t_ps, value)
    if first_ns is None:
        raise CaptureFormatError(f"{path}: holds no sample and no line yet")
    name = folder_title(path)
    what = "line" if recorded.kind == LINES else "sample"
    opened = Opened(
        key,
        name,
        str(path),
        "recording",
        path,
        remarks=[f"missing: {line}" for line in recorded.missing] + _set_back(back, what),
        facts={"recorded": f"{plural(samples, what)} in {format_ps(end_ps)}"},
        wall_clock=WallClock(first_ns, 0),
        answer="a recording of counters is not explained",
    )
    table = _line_table(lines) if recorded.kind == LINES else _table(counters)
    tracks = [(track, None) for track in _tracks(key, name, counters)]
    if any(not counter.is_gauge for counter in counters.values()):
        opened.remarks.append(f"rates are {_CLOCK}: a live card has others where it runs slower")
    moved = sum(counter.moved for counter in counters.values())
    if moved > _TRACKS:
        opened.remarks.append(
            f"{moved:,} counters moved; the first {_TRACKS} have a track, the table has all"
        )
    note = "Lines as they were recorded."
    made = line_track(key, lines, ("note",) * len(lines), name="lines", source=name, note=note)
    marks = [(made, table.key)] if lines else []
    opened.absorb(Part(tables=[table], tracks=[*tracks, *marks]))
    return opened


def _set_back(count: int, what: str) -> list[str]:
    if not count:
        return []
    return [
        f"{plural(count, what)} not shown: dated before those recorded earlier; the clock was set back"
    ]


def _tracks(key: str, name: str, counters: dict[tuple[str, str], _Counter]) -> Iterator[Track]:
    """Yield a track for each counter that moved; what never did is in the table alone."""
    several = len({source for source, _ in counters}) > 1
    moved = [(which, counter) for which, counter in counters.items() if counter.moved]
    for (source, counter_name), counter in moved[:_TRACKS]:
        rated = "" if counter.is_gauge else f" The rate is {_CLOCK}."
        if not len(counter.t_ps):
            continue
        yield counter.track(
            f"{key}/live/{source}/{counter_name}",
            f"{source} {counter_name}" if several else counter_name,
            source=name,
            note=f"{counter_name} of {source}, as it was recorded.{rated}",
            coverage=Coverage.between(counter.t_ps[0], counter.t_ps[-1] + 1, *_ENDS),
        )


def _line_table(lines: list[tuple[int, str]]) -> Table:
    frame = pd.DataFrame(
        {"t_ps": np.array([t for t, _ in lines], np.int64), "text": [text for _, text in lines]}
    )
    return Table("log", frame, doc="every line that was recorded")


def _grew(one: _Counter) -> int:
    return (one.last or 0) - (one.first or 0)


def _table(counters: dict[tuple[str, str], _Counter]) -> Table:
    frame = pd.DataFrame(
        {
            "from": [source for source, _ in counters],
            "counter": [name for _, name in counters],
            "count": pd.array([one.last for one in counters.values()], dtype=object),
            "grew": pd.array([_grew(one) for one in counters.values()], dtype=object),
            "per_s": np.array([one.per_s for one in counters.values()], np.float64),
            "unit": [one.counts for one in counters.values()],
        }
    )
    return Table(
        "counters", frame, doc=f"every counter at the end of the recording; per_s is {_CLOCK}"
    )
