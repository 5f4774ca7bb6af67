"""What ``diff`` finds between two runs, as tables of the window; nothing is computed here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from freezeframe.analyzers.run_diff.compare import RunDiff, TapInRuns
from freezeframe.analyzers.run_diff.statistics import RateChange, SampleChange
from freezeframe.gui.desktop.sources.opened import Table


def run_tables(found: RunDiff[TapInRuns], name: str) -> Iterator[Table]:
    """Yield a table for each way in which two runs can differ; ``name`` is the second run's."""
    taps = pd.DataFrame(
        {
            "tap": [tap.source for tap in found.taps],
            "packets_a": [tap.packets[0] for tap in found.taps],
            "packets_b": [tap.packets[1] for tap in found.taps],
            "equal": [tap.equal for tap in found.taps],
            "altered": [len(tap.altered) for tap in found.taps],
            "only_a": [len(tap.missing) for tap in found.taps],
            "only_b": [len(tap.extra) for tap in found.taps],
            "first": [tap.first_text() for tap in found.taps],
        }
    )
    settings = pd.DataFrame(
        {
            "setting": [one.name for one in found.settings],
            "a": [one.a for one in found.settings],
            "b": [one.b for one in found.settings],
        }
    )
    for title, frame in (
        ("taps", taps),
        ("settings", settings),
        ("distributions", _samples(found.samples)),
        ("counters", _rates(found.counters)),
        ("event rates", _rates(found.events)),
    ):
        if len(frame):
            yield Table(f"{name}: {title}", frame, doc="a: this run, b: the other (docs: diff)")


def run_remarks(found: RunDiff[TapInRuns], name: str) -> list[str]:
    """Return the verdict, the first divergence and what could not be compared, a line each."""
    lines = [f"{name}: {'differs' if found.different else 'no difference beyond chance'}"]
    first = found.first
    if first is not None:
        lines.append(f"{name}: first divergence at {first.source}: {first.first_text()}")
    return lines + [f"{name}: {note}" for note in found.notes]


def _samples(samples: Sequence[SampleChange]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "quantity": [one.name for one in samples],
            "unit": [one.unit for one in samples],
            "median_a": _known([one.median[0] for one in samples]),
            "median_b": _known([one.median[1] for one in samples]),
            "distance": _known([one.distance for one in samples]),
            "effect": _known([one.effect for one in samples]),
            "chance": _known([one.chance for one in samples]),
            "changed": [one.changed for one in samples],
        }
    )


def _rates(changes: Sequence[RateChange]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "name": [one.name for one in changes],
            "count_a": [one.count[0] for one in changes],
            "count_b": [one.count[1] for one in changes],
            "per_s_a": _known([one.rate[0] for one in changes]),
            "per_s_b": _known([one.rate[1] for one in changes]),
            "change": [one.relative for one in changes],
            "changed": [one.changed for one in changes],
        }
    )


def _known(values: Sequence[float | None]) -> pd.Series[float]:
    """Return numbers; what is not known stays so."""
    return pd.Series([float("nan") if v is None else float(v) for v in values], dtype="float64")
