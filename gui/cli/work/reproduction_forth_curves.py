"""FORTH's figures 3 and 4 as curves: the emulated pair runs, its captures are measured.

Source: FORTH paper, section 2.6.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from freezeframe.gui.cli.work.reproduction import Experiment, Run, figure, run_experiment
from freezeframe.gui.cli.work.reproduction_curves import Figure, Line, Point, claim
from freezeframe.gui.cli.work.reproduction_stages import Judged

_FORTH_SIZES = (8, 64, 512, 4096, 16_384, 65_536)
_HEAD_AND_TAIL_WORDS = 3
_SEGMENT_B = 4096
_VERSIONS = {"": "forth-uncombined", ", write combining": "forth-combining"}
_PACKETS = 120
_LINK_MBps = 596
_PHASES = ("send-initiation", "send-DMA", "send-NIC", "recv-NIC", "recv-DMA")
_PAPER_SHARES = {
    "a": {"send-initiation": 40, "send-DMA": 51.6},
    "b": {"send-initiation": 12, "send-DMA": 58.2},
}


def _size_text(size_B: int) -> str:
    return f"{size_B // 1024}KiB" if size_B % 1024 == 0 else f"{size_B}B"


def _polling(profile: str, folder: Path) -> Path:
    """Write a profile whose hosts look for what has come, as the paper's user-space benchmarks do."""
    path = folder / f"{profile}-polling.toml"
    path.write_text(f'extends = "{profile}"\n[host]\ninterrupt_latency_ns = 0\n', encoding="utf-8")
    return path


def payload_MBps(run: Run, size_B: int) -> float:
    """Return the payload that reaches B: the sampler's words less header and tail of each packet."""
    words = min(size_B, _SEGMENT_B) // 8
    mean = float(figure(run, "throughput", "B.in.throughput.mean").value)
    return mean * words / (words + _HEAD_AND_TAIL_WORDS)


def forth_figures(folder: Path, update: Callable[[int, int, str], None]) -> list[Figure]:
    """Run the pair of cards for figures 3 and 4, and measure them from the captures.

    Args:
        folder: for captures.
    Raises:
        TargetError: the cards could not be run.
    """
    runs = [
        (pattern, more, size)
        for pattern in ("one-way", "ping-pong")
        for more in _VERSIONS
        for size in _FORTH_SIZES
    ]
    rates: dict[tuple[str, str], list[Point]] = {}
    for done, (pattern, more, size_B) in enumerate(runs):
        update(done, len(runs) + 2, f"{pattern} {size_B:,} B{more}")
        profile = str(_polling(_VERSIONS[more], folder))
        workload = f"{pattern}-{_size_text(size_B)}"
        experiment = Experiment(
            workload,
            workload,
            ("--profile", profile, "--workload", workload),
            "tx_deq_packets",
            _PACKETS,
        )
        run = run_experiment(experiment, folder / f"{workload}{len(more)}.ff")
        rate = payload_MBps(run, size_B) * (2 if pattern == "ping-pong" else 1)
        rates.setdefault((pattern, more), []).append(Point(size_B, rate))
    why = {
        "one-way": "posting and reads of the next message overlap with the link; above 4 KB segments",
        "ping-pong": "size by half of the round trip: nothing overlaps but the segments of one message",
    }
    lines = tuple(Line(f"{p}{m}", tuple(points), why[p]) for (p, m), points in rates.items())
    three = Figure(
        "forth-3", "FORTH, figure 3: throughput of user-space benchmarks", "message, B", "MB/s of 2^20 B", lines,
        _forth_claims(rates),
        "The text gives no point of the figure. Hosts poll.",
    )  # fmt: skip
    return [three, _breakdown(folder, lambda n, what: update(len(runs) + n, len(runs) + 2, what))]


def _forth_claims(rates: Mapping[tuple[str, str], Sequence[Point]]) -> tuple[Judged, ...]:
    plain, combined = rates["one-way", ""], rates["one-way", ", write combining"]
    pong = rates["ping-pong", ""]
    most = max(p.ours for points in rates.values() for p in points)
    gains = [b.ours / a.ours - 1 for a, b in zip(plain, combined, strict=True)]
    at = {p.x: p.ours for p in plain}
    return (
        claim("fig3-limit", "the links limit it: the most of all curves", (0, _LINK_MBps), "MB/s", most, "a word each link cycle"),
        claim("fig3-near", "and large one-way messages come near it", (0.9 * _LINK_MBps, _LINK_MBps), "MB/s", at[65_536],
               "gap, header and tail of each packet", said="near 596 MB/s"),
        claim("fig3-combining", "combining is faster, most of all for the smallest", (1, 1), "",
               float(gains[0] == max(gains) and min(gains) > -0.02), "90 ns in place of 400 to post"),
        claim("fig3-segments", "above 4 KB segments: 64 KB by 4 KB, one-way", (1, 1), "", at[65_536] / at[4096],
               "a segment is a message of 4 KB", said="the same"),
        claim("fig3-pong", "ping-pong is below one-way at every size", (1, 1), "",
               float(all(b.ours < a.ours for a, b in zip(plain, pong, strict=True))), "nothing overlaps"),
    )  # fmt: skip


def _breakdown(folder: Path, update: Callable[[int, str], None]) -> Figure:
    """Measure figure 4: shares of the one-way latency of one message, and of two with write combining."""
    lines, claims = [], []
    for number_, (key, profile, workload, name) in enumerate((
        ("a", "forth-uncombined", "single-8B", "A->B.latency"), ("b", "forth-combining", "pair-8B", "A->B.burst.2"),
    )):  # fmt: skip
        update(number_, f"latency, {workload}")
        experiment = Experiment(
            f"fig4-{key}",
            workload,
            ("--profile", profile, "--workload", workload),
            "tx_deq_packets",
            60,
        )
        run = run_experiment(experiment, folder / f"fig4-{key}.ff")
        whole = figure(run, "latency", f"{name}.whole.mean").value
        points = []
        for place, phase in enumerate(_PHASES, 1):
            share = float(figure(run, "latency", f"{name}.{phase}.share").value)
            paper = _PAPER_SHARES[key].get(phase)
            points.append(Point(place, share, paper, contradicts=paper is not None))
            if paper is not None:
                claims.append(
                    claim(f"fig4-{key}-{phase}", f"({key}) {phase}", (paper, paper), "%", share,
                           "400 ns as 40 % leave 84 ns for both NICs and recv-DMA; the flight alone is 320", kind="contradiction")
                )  # fmt: skip
        title = (
            "(a) one message, single writes" if key == "a" else "(b) two messages, write combining"
        )
        lines.append(
            Line(title, tuple(points), f"mean of the phases by the capture, of {whole:,.0f} ns")
        )
    return Figure(
        "forth-4", "FORTH, figure 4: shares of the one-way latency", "phase (1: send-initiation)", "%", tuple(lines), tuple(claims),
        "1 send-initiation, 2 send-DMA, 3 send-NIC, 4 recv-NIC, 5 recv-DMA. The paper's shares contradict its own times "
        "(docs/reproduce-forth.md), so no model meets them.",
    )  # fmt: skip
