"""``freezeframe diff``: two runs compared, as tables or JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from freezeframe.analyzers.api import diff
from freezeframe.analyzers.run_diff.compare import RunDiff, TapInRuns
from freezeframe.analyzers.run_diff.statistics import RateChange, SampleChange
from freezeframe.capture.stand_ins import given
from freezeframe.capture.time_text import format_ps
from freezeframe.gui.cli.output import count_text, emit_json, table
from freezeframe.gui.cli.work.captures import opened_any
from freezeframe.gui.text import printable

_LINES = 12  # of each table; --all and --json have the rest


def show_difference(first: Path, second: Path, *, everything: bool, json: bool) -> bool:
    """Compare two captures and print what differs; return whether they differ beyond chance.

    Raises:
        CaptureFormatError, InputError: one is no capture.
    """
    a, b = opened_any(first), opened_any(second)
    runs = diff(a, b)
    names = tuple(printable(given(folder.path)) for folder in (a, b))
    if json:
        emit_json({"a": names[0], "b": names[1], **runs.to_json()})
    else:
        print("\n".join(_lines(names, runs, everything)))
    return runs.different


def _lines(names: tuple[str, ...], runs: RunDiff[TapInRuns], everything: bool) -> list[str]:
    verdict = "they differ" if runs.different else "no difference beyond chance"
    if not runs.different and not runs.compared:
        verdict = "too little in common to compare: no packet stands in both, and no distribution has enough values"
    lines = [f"A {names[0]}", f"B {names[1]}", verdict]
    first = runs.first
    if first is not None:
        lines += [
            "",
            f"First divergence: {first.source}, {_us(first.first_ps)}: {first.first_text()}",
        ]
    elif any(tap.equal for tap in runs.taps):
        lines += ["", "Every packet that both runs recorded is the same in both."]
    lines += ["", _packets(runs.taps)]
    if runs.settings:
        rows = [(s.name, s.a, s.b) for s in runs.settings]
        lines += ["", table(("settings and causes", "A", "B"), rows)]
    lines += _section(runs.samples, everything, _samples)
    lines += _section(runs.counters, everything, lambda x: _rates("counters, a second", x))
    lines += _section(runs.events, everything, lambda x: _rates("events, a second", x))
    return lines + [f"Note: {note}." for note in runs.notes]


def _section(changes: Any, everything: bool, as_table: Any) -> list[str]:
    """Return a table of what changed, or of everything; a count of what is left out."""
    chosen = list(changes) if everything else [c for c in changes if c.changed][:_LINES]
    if not chosen:
        return []
    left = len([c for c in changes if c.changed]) - len(chosen)
    more = [f"  and {left} more; --all lists them"] if left > 0 and not everything else []
    return ["", as_table(chosen), *more]


def _packets(taps: tuple[TapInRuns, ...]) -> str:
    rows = [
        (
            tap.source,
            count_text(tap.packets[0]),
            count_text(tap.packets[1]),
            count_text(tap.equal),
            count_text(len(tap.altered)),
            count_text(len(tap.missing)),
            count_text(len(tap.extra)),
            f"{count_text(tap.outside[0])} / {count_text(tap.outside[1])}",
        )
        for tap in taps
    ]
    headers = (
        "packets at",
        "A",
        "B",
        "equal",
        "altered",
        "only in A",
        "only in B",
        "not comparable",
    )
    return table(headers, rows, right=range(1, 8))


def _samples(samples: list[SampleChange]) -> str:
    rows = [
        (
            change.name,
            _value(change.median[0], change.unit),
            _value(change.median[1], change.unit),
            "" if change.distance is None else f"{change.distance:.2f}",
            "" if change.effect is None else f"{change.effect:+.2f}",
            "" if change.chance is None else _chance(change.chance),
            f"{change.count[0]:,} / {change.count[1]:,}",
        )
        for change in samples
    ]
    headers = ("distributions", "median A", "median B", "distance", "effect", "by chance", "values")
    return table(headers, rows, right=(1, 2, 3, 4, 5))


def _rates(title: str, changes: list[RateChange]) -> str:
    rows = [
        (
            change.name,
            _rate(change.rate[0]),
            _rate(change.rate[1]),
            f"{change.relative:+.0%}",
            f"{change.count[0]:,} / {change.count[1]:,}",
        )
        for change in changes
    ]
    return table((title, "A", "B", "change", "counts"), rows, right=(1, 2, 3))


def _value(value: float | None, unit: str) -> str:
    if value is None:
        return "none"
    return _us(round(value)) if unit == "ps" else f"{value:,.0f} {unit}"


def _us(t_ps: int | None) -> str:
    return "" if t_ps is None else format_ps(t_ps)


def _rate(rate: float | None) -> str:
    return "not known" if rate is None else f"{rate:,.0f}"


def _chance(chance: float) -> str:
    return "< 1e-9" if chance < 1e-9 else f"{chance:.1g}"
