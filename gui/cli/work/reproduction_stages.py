"""Numbers of papers beside those of profiles of stages: what a row is, how it is judged, how a table of them is printed.

A row *emerges* from mechanisms; is *read back* where a parameter holds the paper's own number; is a *fit* where parameters that the
paper does not give were chosen for it; or shows a *contradiction* of the paper with itself, which no model can meet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from freezeframe.emulator.adapter.outcome import Outcome, run_adapter
from freezeframe.emulator.adapter.reading import load_adapter
from freezeframe.gui.cli.output import table

Kind = Literal["emerges", "read back", "fit", "contradiction"]

TOLERANCE, ABOUT = 0.05, 0.10
"""Shares of the paper's number within which ours agrees; the second where the paper says about, or gives a share."""


@dataclass
class Bench:
    """Runs profiles, each once; ``settings`` are laid over every run, to see what moves.

    ``only``: of a parameter, the value that a run has to have for its setting to be laid over it.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    only: Mapping[str, Any] = field(default_factory=dict)
    _runs: dict[str, Outcome] = field(default_factory=dict)

    def run(self, profile: str, **settings: Any) -> Outcome:
        """Return the run of a profile with parameters set."""
        described = load_adapter(profile)
        known = described.file.said.get("parameter", {})
        laid = {
            key: value
            for key, value in self.settings.items()
            if key in known
            and self.only.get(key, settings.get(key, known[key])) == settings.get(key, known[key])
        }
        whole = {**settings, **laid}
        key = f"{profile} {sorted(whole.items())}"
        if key not in self._runs:
            self._runs[key] = run_adapter(load_adapter(profile, whole))
        return self._runs[key]

    def gain(self, before: tuple[str, dict[str, Any]], after: tuple[str, dict[str, Any]]) -> float:
        """Return by how many per cent throughput is higher, profile and settings each."""
        was, now = (self.run(name, **settings) for name, settings in (before, after))
        return 100 * (now.throughput_MBps / was.throughput_MBps - 1)


@dataclass(frozen=True)
class Row:
    """A number of a paper.

    Attributes:
        paper: one value, or the two ends of a printed range; None: the paper contradicts itself, see ``why``.
        about: the paper says about, or gives a share: the wider tolerance.
        why: the mechanism; of a contradiction, what it is.
        fitted: the free parameters of a fit.
        said: the paper's words where it gives no number; ``paper`` is then what we take them for.
    """

    key: str
    label: str
    paper: tuple[float, float] | None
    unit: str
    kind: Kind
    measure: Callable[[Bench], float]
    why: str
    about: bool = False
    fitted: tuple[str, ...] = ()
    said: str = ""


@dataclass(frozen=True)
class Judged:
    """A row with our number: the difference in per cent of the paper's (of the nearer end), and whether it agrees."""

    row: Row
    ours: float
    difference: float | None
    agrees: bool | None

    @property
    def within(self) -> str:
        """How far from the paper's number it still agrees, in words."""
        if self.agrees is None:
            return "-"
        return f"{100 * tolerance_of(self.row):.0f} %" if tolerance_of(self.row) else "the range"

    @property
    def verdict(self) -> str:
        if self.agrees is None:
            return "contradiction"
        return "yes" if self.agrees else "no"

    def to_json(self) -> dict[str, Any]:
        row = self.row
        low, high = row.paper or (None, None)
        return {
            "quantity": row.key, "label": row.label, "unit": row.unit, "kind": row.kind,
            "paper": low if low == high else [low, high], "paper_says": row.said or ("about" if row.about else ""),
            "ours": self.ours, "difference_percent": self.difference,
            "tolerance_percent": None if self.agrees is None else 100 * tolerance_of(row), "agrees": self.agrees,
            "mechanism": row.why, "fitted": list(row.fitted),
        }  # fmt: skip


def tolerance_of(row: Row) -> float:
    """Return the share of the paper's number within which ours agrees; 0 where the paper prints a range."""
    if row.paper is not None and row.paper[0] < row.paper[1]:
        return 0.0
    return ABOUT if row.about else TOLERANCE


def judge_row(row: Row, bench: Bench) -> Judged:
    """Measure a row and hold it against the paper's number; a printed range is met inside it."""
    ours = row.measure(bench)
    if row.paper is None:
        return Judged(row, ours, None, None)
    low, high = row.paper
    near = min(max(ours, low), high)
    difference = 100 * (ours - near) / abs(near) if near else 0.0
    agrees = abs(ours - near) <= tolerance_of(row) * abs(near)
    return Judged(row, ours, difference, None if row.kind == "contradiction" else agrees)


def rows_text(judged: Sequence[Judged]) -> str:
    """Return the rows as a table, and how many agree."""
    rows = [
        (one.row.label, paper_text(one.row), f"{number(one.ours)} {one.row.unit}".rstrip(),
         "-" if one.difference is None else f"{one.difference:+z.1f} %", one.within, one.row.kind, one.verdict,
         one.row.why)
        for one in judged
    ]  # fmt: skip
    headers = ("quantity", "paper", "ours", "difference", "within", "kind", "agrees", "mechanism")
    return f"{table(headers, rows, right=(1, 2, 3, 4))}\n\n{tally(judged)}"


def rows_markdown(judged: Sequence[Judged]) -> str:
    """Return the rows as a table of Markdown, for the documentation."""
    lines = [
        "| quantity | paper | ours | difference | within | kind | agrees | mechanism |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for one in judged:
        difference = "-" if one.difference is None else f"{one.difference:+z.1f} %"
        ours = f"{number(one.ours)} {one.row.unit}".rstrip()
        verdict = "**no**" if one.agrees is False else one.verdict
        kind = f"fit of {', '.join(one.row.fitted)}" if one.row.fitted else one.row.kind
        cells = (
            one.row.label,
            paper_text(one.row),
            ours,
            difference,
            one.within,
            kind,
            verdict,
            one.row.why,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", tally(judged)])


def tally(judged: Sequence[Judged]) -> str:
    """Return in one line how many rows agree, are read back, fitted, contradictions."""
    of = {kind: [one for one in judged if one.row.kind == kind] for kind in ("emerges", "fit", "read back", "contradiction")}  # fmt: skip
    tried = of["emerges"] + of["fit"]
    free = {parameter for one in of["fit"] for parameter in one.row.fitted}
    return (
        f"{sum(bool(one.agrees) for one in tried)} of {len(tried)} numbers that emerge or are fitted agree; "
        f"{len(of['fit'])} of them are a fit with {len(free)} free parameters; {len(of['read back'])} read back; "
        f"{len(of['contradiction'])} contradictions of the paper with itself."
    )


def paper_text(row: Row) -> str:
    """Return what the paper says, with its unit."""
    if row.said:
        return row.said
    if row.paper is None:
        return "-"
    low, high = row.paper
    span = number(low) if low == high else f"{number(low)}..{number(high)}"
    return f"{'about ' if row.about else ''}{span} {row.unit}".rstrip()


def number(value: float) -> str:
    """Return four digits."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
