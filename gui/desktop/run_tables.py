"""What ``diff`` finds between two runs, as tables of the window; nothing is computed here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from freezeframe.analyzers.run_diff.compare import RunDiff, TapInRuns
from freezeframe.analyzers.run_diff.statistics import RateChange
from freezeframe.gui.desktop.sources.opened import Table

_TAPS = "tap packets_a packets_b equal altered only_a only_b outside_a outside_b first"
_SAMPLES = "quantity unit median_a median_b distance effect chance changed"
_RATES = "name count_a count_b per_s_a per_s_b change changed"
_NOT_ALL_KNOWN = {"median_a", "median_b", "distance", "effect", "chance", "per_s_a", "per_s_b"}


def run_tables(found: RunDiff[TapInRuns], name: str) -> Iterator[Table]:
    """Yield a table for each way in which two runs can differ; ``name`` is the second run's."""
    taps = [
        (
            t.source,
            *t.packets,
            t.equal,
            len(t.altered),
            len(t.missing),
            len(t.extra),
            *t.outside,
            t.first_text(),
        )
        for t in found.taps
    ]
    settings = [(one.name, one.a, one.b) for one in found.settings]
    samples = [
        (s.name, s.unit, *s.median, s.distance, s.effect, s.chance, s.changed)
        for s in found.samples
    ]
    for title, rows, columns in (
        ("taps", taps, _TAPS),
        ("settings", settings, "setting a b"),
        ("distributions", samples, _SAMPLES),
        ("counters", _rates(found.counters), _RATES),
        ("event rates", _rates(found.events), _RATES),
    ):
        if rows:
            frame = pd.DataFrame(rows, columns=columns.split())
            frame = frame.astype({name: float for name in frame if name in _NOT_ALL_KNOWN})
            yield Table(f"{name}: {title}", frame, doc="a: this run, b: the other (docs: diff)")


def run_remarks(found: RunDiff[TapInRuns], name: str) -> list[str]:
    """Return the verdict, the first divergence and what could not be compared, a line each."""
    lines = [f"{name}: {'differs' if found.different else 'no difference beyond chance'}"]
    first = found.first
    if first is not None:
        lines.append(f"{name}: first divergence at {first.source}: {first.first_text()}")
    return lines + [f"{name}: {note}" for note in found.notes]


def _rates(changes: Sequence[RateChange]) -> list[tuple[object, ...]]:
    return [(one.name, *one.count, *one.rate, one.relative, one.changed) for one in changes]
