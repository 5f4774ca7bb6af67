"""``freezeframe diff``: a good and a bad run side by side, as text or JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freezeframe.gui.cli.errors import EXIT_FINDINGS
from freezeframe.gui.cli.options import JsonOption
from freezeframe.gui.cli.output import count_text, emit_json, printable, table

if TYPE_CHECKING:
    from freezeframe.analyzers.run_diff.compare import RunDiff
    from freezeframe.analyzers.run_diff.packets import TapRuns
    from freezeframe.analyzers.run_diff.statistics import RateChange, SampleChange

__all__ = ["run"]

_LINES = 12  # of each table; --all and --json have the rest

FirstArgument = Annotated[
    Path, typer.Argument(metavar="A.ff", help="Capture of run A, the good one.", show_default=False)
]
SecondArgument = Annotated[
    Path, typer.Argument(metavar="B.ff", help="Capture of run B, the bad one.", show_default=False)
]
AllOption = Annotated[
    bool, typer.Option("--all", help="List every quantity, not only what changed most.")
]
FailOption = Annotated[
    bool,
    typer.Option("--fail-on-difference", help="Exit with 1 when the runs differ beyond chance."),
]


def run(
    first: FirstArgument,
    second: SecondArgument,
    everything: AllOption = False,
    fail_on_difference: FailOption = False,
    json: JsonOption = False,
) -> None:
    """Compare two captures: the first packet that differs, and what changed in the numbers.

    Packets are aligned tap by tap and flow by flow by what they carry and by their sequence numbers. Lengths, gaps
    and delays are compared as distributions, counters and events as rates. Runs with other traffic have no
    packet in common; then the numbers alone are compared.

    \b
    Examples:
      freezeframe diff good.ff bad.ff
      freezeframe diff good.ff bad.ff --all
      freezeframe diff good.ff bad.ff --json --fail-on-difference
    """
    from freezeframe.capture.folder import CaptureFolder

    folders = [CaptureFolder.open(path) for path in (first, second)]

    # These compile and load tables; a mistyped path should not wait for that.
    from freezeframe.analyzers.run_diff.compare import diff_runs
    from freezeframe.analyzers.view import CaptureView

    found = diff_runs(CaptureView(folders[0]), CaptureView(folders[1]))
    names = tuple(printable(str(path)) for path in (first, second))
    if json:
        emit_json({"a": names[0], "b": names[1], **found.to_json()})
    else:
        print("\n".join(_lines(names, found, everything)))
    if fail_on_difference and found.different:
        raise typer.Exit(EXIT_FINDINGS)


def _lines(names: tuple[str, ...], found: RunDiff, everything: bool) -> list[str]:
    verdict = "they differ" if found.different else "no difference beyond chance"
    if not found.different and not found.compared:
        verdict = "too little in common to compare: no packet stands in both, and no distribution has enough values"
    lines = [f"A {names[0]}", f"B {names[1]}", verdict]
    first = found.first
    if first is not None:
        lines += [
            "",
            f"First divergence: {first.source}, {_us(first.first_ps)}: {first.first_text()}",
        ]
    elif any(tap.equal for tap in found.taps):
        lines += ["", "Every packet that both runs recorded is the same in both."]
    lines += ["", _packets(found.taps)]
    if found.settings:
        rows = [(s.name, s.a, s.b) for s in found.settings]
        lines += ["", table(("settings and causes", "A", "B"), rows)]
    lines += _section(found.samples, everything, _samples)
    lines += _section(found.counters, everything, lambda x: _rates("counters, a second", x))
    lines += _section(found.events, everything, lambda x: _rates("events, a second", x))
    return lines + [f"Note: {note}." for note in found.notes]


def _section(changes: Any, everything: bool, made: Any) -> list[str]:
    """Return a table of what changed, or of everything; a count of what is left out."""
    chosen = list(changes) if everything else [c for c in changes if c.changed][:_LINES]
    if not chosen:
        return []
    left = len([c for c in changes if c.changed]) - len(chosen)
    more = [f"  and {left} more; --all lists them"] if left > 0 and not everything else []
    return ["", made(chosen), *more]


def _packets(taps: tuple[TapRuns, ...]) -> str:
    rows = [
        (
            tap.source,
            count_text(tap.packets[0]),
            count_text(tap.packets[1]),
            count_text(tap.equal),
            count_text(len(tap.altered)),
            count_text(len(tap.missing)),
            count_text(len(tap.extra)),
        )
        for tap in taps
    ]
    headers = ("packets at", "A", "B", "equal", "altered", "only in A", "only in B")
    return table(headers, rows, right=range(1, 7))


def _samples(samples: list[SampleChange]) -> str:
    rows = [
        (
            one.name,
            _value(one.median[0], one.unit),
            _value(one.median[1], one.unit),
            "" if one.distance is None else f"{one.distance:.2f}",
            "" if one.effect is None else f"{one.effect:+.2f}",
            "" if one.chance is None else _chance(one.chance),
            f"{one.count[0]:,} / {one.count[1]:,}",
        )
        for one in samples
    ]
    headers = ("distributions", "median A", "median B", "distance", "effect", "by chance", "values")
    return table(headers, rows, right=(1, 2, 3, 4, 5))


def _rates(title: str, changes: list[RateChange]) -> str:
    rows = [
        (
            one.name,
            _rate(one.rate[0]),
            _rate(one.rate[1]),
            f"{one.relative:+.0%}",
            f"{one.count[0]:,} / {one.count[1]:,}",
        )
        for one in changes
    ]
    return table((title, "A", "B", "change", "counts"), rows, right=(1, 2, 3))


def _value(value: float | None, unit: str) -> str:
    if value is None:
        return "none"
    return _us(round(value)) if unit == "ps" else f"{value:,.0f} {unit}"


def _us(t_ps: int | None) -> str:
    from freezeframe.gui.plots.axis import format_ps

    return "" if t_ps is None else format_ps(t_ps)


def _rate(rate: float | None) -> str:
    return "not known" if rate is None else f"{rate:,.0f}"


def _chance(chance: float) -> str:
    return "< 1e-9" if chance < 1e-9 else f"{chance:.1g}"
