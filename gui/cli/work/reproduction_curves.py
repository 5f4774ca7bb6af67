"""Figures of the papers as curves of ours, beside what the texts give of them: points, and words that are claims.

The papers' figures are not at hand, only their texts. A point of a paper is a number that its text prints, or an equation
of its own worked out; a claim is what the text says of a curve, measured on ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from freezeframe.analyzers.card.phases import ways_of
from freezeframe.analyzers.card.view import CardView
from freezeframe.capture.errors import InputError
from freezeframe.emulator.sci.record import run_bridge
from freezeframe.gui.cli.output import table
from freezeframe.gui.cli.work.reproduction_end import equation_2, equation_5, equation_6, period_us
from freezeframe.gui.cli.work.reproduction_sci import block_MBps, stream_MBps
from freezeframe.gui.cli.work.reproduction_stages import (
    TOLERANCE,
    Bench,
    Judged,
    Kind,
    Row,
    judge_row,
    number,
    rows_text,
)
from freezeframe.gui.plots.curves import Curve, draw_curves

_MB = 1 << 20
_CYCLE_PS = 30_000


@dataclass(frozen=True)
class Point:
    """A point of a curve: ``x``, ours, and the paper's where its text gives one.

    ``bound``: what no run can exceed; ``contradicts``: the paper's point contradicts other numbers of the paper.
    """

    x: float
    ours: float
    paper: float | None = None
    bound: float | None = None
    contradicts: bool = False

    @property
    def difference(self) -> float | None:
        """Ours by the paper's, in per cent of it."""
        return None if self.paper is None else 100 * (self.ours - self.paper) / self.paper

    @property
    def verdict(self) -> str:
        """Whether it agrees; a paper's point above what its own depth allows is a contradiction of it with itself."""
        if self.paper is None:
            return ""
        if self.contradicts or (self.bound is not None and self.paper > self.bound * (1 + 1e-9)):
            return "contradiction"
        return "yes" if abs(self.ours - self.paper) <= TOLERANCE * abs(self.paper) else "no"


@dataclass(frozen=True)
class Line:
    """One curve: its name, its points, and the mechanism that makes it."""

    label: str
    points: tuple[Point, ...]
    why: str


@dataclass(frozen=True)
class Figure:
    """One figure: its curves, and what the text says of them."""

    key: str
    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    claims: tuple[Judged, ...]
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "figure": self.key, "title": self.title, "x": self.x_label, "y": self.y_label, "note": self.note,
            "curves": [
                {
                    "label": line.label, "mechanism": line.why,
                    "points": [
                        {"x": p.x, "ours": p.ours, "paper": p.paper, "difference_percent": p.difference, "verdict": p.verdict}
                        for p in line.points
                    ],
                }
                for line in self.lines
            ],
            "claims": [claim.to_json() for claim in self.claims],
        }  # fmt: skip

    def text(self) -> str:
        """Return the figure as tables."""
        rows = [
            (line.label, number(p.x), number(p.ours), "-" if p.paper is None else number(p.paper),
             "-" if p.difference is None else f"{p.difference:+z.1f} %", p.verdict)
            for line in self.lines for p in line.points
        ]  # fmt: skip
        headers = ("curve", self.x_label, f"ours, {self.y_label}", "paper", "difference", "agrees")
        parts = [self.title, table(headers, rows, right=(1, 2, 3, 4))]
        parts += [f"{line.label}: {line.why}" for line in self.lines]
        parts += [rows_text(self.claims)] if self.claims else []
        parts += [self.note] if self.note else []
        return "\n\n".join(parts)

    def svg(self) -> str:
        """Return the figure as a picture; the paper's points are a dashed line by each curve that has any."""
        curves = []
        for line in self.lines:
            curves.append(
                Curve(line.label, [p.x for p in line.points], [p.ours for p in line.points])
            )
            there = [p for p in line.points if p.paper is not None]
            if there:
                curves.append(
                    Curve("", [p.x for p in there], [float(p.paper or 0) for p in there], True)
                )
        return draw_curves(curves, self.title, self.x_label, self.y_label)

    @property
    def agrees(self) -> bool:
        """Whether every point and every claim agrees that can."""
        return all(claim.agrees is not False for claim in self.claims) and all(
            p.verdict != "no" for line in self.lines for p in line.points
        )


def claim(
    key: str, label: str, paper: tuple[float, float], unit: str, value: float, why: str,
    *, about: bool = False, said: str = "", kind: Kind = "emerges", fitted: tuple[str, ...] = (),
) -> Judged:  # fmt: skip
    """Return what a text says of a curve, judged by what ours has there."""
    row = Row(
        key,
        label,
        paper,
        unit,
        kind,
        lambda bench: value,
        why,
        about=about,
        said=said,
        fitted=fitted,
    )
    return judge_row(row, Bench())


# -- END ---------------------------------------------------------------------------------------------------------------

_END_SIZES = tuple(1 << power for power in range(6, 17))


def _end_line(
    bench: Bench,
    label: str,
    profile: str,
    depth: int,
    equation: Callable[[int], float] | None,
    why: str,
) -> Line:
    points = []
    for size_B in _END_SIZES:
        ours = size_B / period_us(bench, size_B, depth, profile)
        alone = size_B / period_us(bench, size_B, 1, profile)
        paper = size_B / equation(size_B) if equation is not None else None
        points.append(Point(size_B, ours, paper, depth * alone))
    return Line(label, tuple(points), why)


def end_figures(bench: Bench) -> list[Figure]:
    """Return END's figures 8 and 9."""
    base = [
        _end_line(bench, "depth 1", "cim250", 1, equation_2, "one message at a time: host, DMA and FC in turn"),
        _end_line(bench, "depth 2", "cim250", 2, equation_5, "FC takes the memory bus from DMA; the DMA of the next small message comes too late for the third of F_o that leaves it. "
            "By (5) it would not, and two banks would gain nothing for small messages, where the text has 8 %"),
        _end_line(bench, "depth 3", "cim250", 3, None, "bound by the memory bus from 1 KB on"),
        _end_line(bench, "depth 4", "cim250", 4, None, "as depth 3"),
    ]  # fmt: skip
    deeper = [
        b.ours / a.ours for a, b in zip(base[0].points, base[1].points, strict=True) if a.x >= 1024
    ]
    mean = 100 * (sum(deeper) / len(deeper) - 1)
    eight = Figure(
        "end-8", "END, figure 8: throughput of the CIM 250, host to link", "message, B", "MB/s", tuple(base),
        (claim("fig8-deeper", "depth 1 to 2, mean of 1-64 KB", (50, 50), "%", mean,
                "the printed third of F_o; 0.6 of it would give 46 %", about=True),),
        "The text gives no point of the figure; the paper's are its equations (2) and (5). Equation (5) is faster than two "
        "messages under way can be (below half of (2)) from 352 B to 1,728 B.",
    )  # fmt: skip
    nine = [
        _end_line(bench, "depth 1, base", "cim250", 1, equation_2, "equation (2)"),
        _end_line(bench, "depth 1, faster interface", "cim250-fast", 1, None, "M_o 923 us in place of 1,280, a fit"),
        _end_line(bench, "depth 1, two banks", "cim250-dual", 1, None, "nothing to overlap with"),
        _end_line(bench, "depth 2, base", "cim250", 2, equation_5, "equation (5)"),
        _end_line(bench, "depth 2, two banks", "cim250-dual", 2, equation_6, "DMA and FC no longer share a bus"),
        _end_line(bench, "depth 2, both", "cim250-both", 2, None, "and the interface"),
    ]  # fmt: skip
    by_name = {line.label: {p.x: p.ours for p in line.points} for line in nine}

    def gain(better: str, base_line: str, size_B: int) -> float:
        return 100 * (by_name[better][size_B] / by_name[base_line][size_B] - 1)

    banks = [gain("depth 2, two banks", "depth 2, base", size) for size in _END_SIZES]
    both = [gain("depth 2, both", "depth 2, base", size) for size in _END_SIZES if size >= 1024]
    still = max(abs(gain("depth 1, two banks", "depth 1, base", size)) for size in _END_SIZES)
    claims = (
        claim("fig9-banks-1", "depth 1: two banks gain nothing", (0, 0), "%", round(still, 9), "one message at a time"),
        claim("fig9-banks-small", "depth 2, two banks, small (256 B)", (8, 8), "%", banks[_END_SIZES.index(256)],
               "DMA no longer waits for FC", about=True),
        claim("fig9-banks-most", "depth 2, two banks: the most", (28, 28), "%", max(banks),
               "40 % at 8 KB with the printed third; 28 % with 0.6", about=True),
        claim("fig9-banks-large", "depth 2, two banks, 64 KB", (17, 17), "%", banks[-1], "DMA decides again", about=True),
        claim("fig9-falls", "and the gain falls from its most to 64 KB", (1, 1), "", float(max(banks) > banks[-1]), "as above"),
        claim("fig9-both", "depth 2, both: the most of 1-64 KB", (15, 50), "%", max(both), "host and bus together"),
    )  # fmt: skip
    figure_9 = Figure(
        "end-9", "END, figure 9: improved models of the CIM 250", "message, B", "MB/s", tuple(nine), claims,
        "The paper's points are its equations. (5) and (6) are faster than two messages under way can be up to 1,728 B and "
        "7,872 B: those points are contradictions of the paper with itself.",
    )  # fmt: skip
    return [eight, figure_9]


# -- SCI ---------------------------------------------------------------------------------------------------------------

_PRINTED = {"A": 5, "D": 21, "E": 3, "F": 4, "H": 7, "I": 8, "J": 4}
"""Cycles that the text prints; D is 3 and 18. B, C and G have the other 37 of 89."""
_SCI_SIZES = tuple(1 << power for power in range(6, 17))


def sci_figures(bench: Bench) -> list[Figure]:
    """Return figures 7 and 8 of the PCI-SCI bridge."""
    ((_, found),) = ways_of(CardView.of(run_bridge("pci-sci", workload="single-4B").recording))
    cycles = {phase.name: phase.mean_ps / _CYCLE_PS for phase in found.phases}
    points = tuple(
        Point(n, value, _PRINTED.get(name)) for n, (name, value) in enumerate(cycles.items(), 1)
    )
    rest = sum(value for name, value in cycles.items() if name not in _PRINTED)
    fitted = ("epu_cycles", "control_cycles")
    seven = Figure(
        "sci-7", "SCI, figure 7: phases A to J of a remote write of one word", "phase (1: A)", "cycles of 30 ns",
        (Line("phases", points, "the bridge down to its cycles, by the event log of its own capture"),),
        (
            claim("fig7-rest", "B, C and G together: 89 less those printed", (37, 37), "cycles", rest,
                   "two EPU routines of two instructions, the controllers, one routine of three", kind="fit", fitted=fitted),
            claim("fig7-all", "all phases", (89, 89), "cycles", sum(cycles.values()), "A to J", kind="fit", fitted=fitted),
        ),
        "Of the printed phases each is read back from a parameter of the profile.",
    )  # fmt: skip
    pong = tuple(
        Point(size, block_MBps(bench, size), 116 if size == 8192 else None) for size in _SCI_SIZES
    )
    stream = stream_MBps(bench)
    rate = {p.x: p.ours for p in pong}
    eight = Figure(
        "sci-8", "SCI, figure 8: bandwidth of remote writes by dmove64", "block, B", "MB/s of 2^20 B",
        (
            Line("ping-pong", pong, "a block's packets behind each other, and the latency once"),
            Line("writes back to back", tuple(Point(size, stream) for size in _SCI_SIZES),
                 "16 cycles of the PCI master for 64 B, whatever the block"),
        ),
        (
            claim("fig8-8k", "ping-pong at 8 KB", (116, 116), "MB/s", rate[8192],
                   "whole bursts; the paper's chipset does not always make them", about=True),
            claim("fig8-rises", "ping-pong rises with the block", (1, 1), "",
                   float(all(a.ours < b.ours for a, b in pairwise(pong))), "the latency counts for less"),
            claim("fig8-full", "writes: all of the bandwidth from about 4 KB on; ping-pong has there", (0.9, 1), "of its end",
                   rate[4096] / rate[_SCI_SIZES[-1]], "the latency is 2.67 us, 4 KB take 31 us"),
            claim("fig8-writes", "writes back to back: about 120 falling to 116", (116, 120), "MB/s", stream,
                   "the longest stage alone; the chipset's broken bursts are not in the model", about=True),
        ),
        "Not ours: the curve DPM Write and the dip of writes near 2 KB, which the paper does not explain, and writes of one block "
        "with the flush behind them, whose cost it does not give.",
    )  # fmt: skip
    return [seven, eight]


def write_pictures(figures: Sequence[Figure], folder: Path) -> list[Path]:
    """Write each figure as ``KEY.svg`` into a folder.

    Raises:
        InputError: it cannot be written.
    """
    written = []
    for one in figures:
        path = folder / f"{one.key}.svg"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(one.svg(), encoding="utf-8")
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error}") from error
        written.append(path)
    return written
