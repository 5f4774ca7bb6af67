"""What-if from a capture, against the truth: 200 random pairs of profiles (``make campaign-what-if``).

A random card runs random messages; its recording is pulled into a capture folder. From it alone a profile is fitted
and the gain of a random change foretold. The truth is the same card with the change and the same messages. Nothing but
the path of the capture, and what is to be changed to which value, is handed to the side that foretells.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from freezeframe.capture.errors import InputError
from freezeframe.capture.recorder.pull import pull
from freezeframe.emulator.adapter.gain import gains
from freezeframe.emulator.adapter.outcome import run_adapter
from freezeframe.emulator.adapter.reading import load_adapter
from freezeframe.emulator.target import EmulatorTarget
from freezeframe.gui.cli.work.calibration import write_fitted

PAIRS = 200
NEAR = 3.0  # points
NARROW = 5.0  # points: half of a 90 % interval
_DOCS = Path("docs/campaign-what-if.md")
_MARK = "## Measured"
_STEP_PS = 50_000_000
_MOST_PS = 20_000_000_000
_BEGIN_PS = 1_000_000  # the hosts' programs start so long after the link is up


@dataclass(frozen=True)
class Pair:
    """A card, its messages, and a change: as the user calls it, and as the card's own profile does."""

    profile: dict[str, int]
    messages: list[tuple[float, str, int, int]]
    saturated: bool
    key: str
    value: float
    changed: dict[str, int]


@dataclass(frozen=True)
class Row:
    """How one pair came out; per cent. ``refused``: why nothing was foretold."""

    number: int
    what: str
    gain: str
    was: float = 0.0
    truth: float = 0.0
    foretold: float = 0.0
    low: float = 0.0
    high: float = 0.0
    refused: str = ""

    @property
    def near(self) -> bool:
        return abs(self.foretold - self.truth) <= NEAR

    @property
    def inside(self) -> bool:
        return self.low <= self.truth <= self.high

    @property
    def half(self) -> float:
        return (self.high - self.low) / 2

    @property
    def good(self) -> bool:
        return not self.refused and (self.near or self.inside)


def random_pair(number: int) -> Pair:
    """Return pair ``number``: all of it follows from the number."""
    draw = random.Random(f"what-if {number}")
    split = draw.randint(10, 120)
    profile = {
        "clocks.bus_hz": draw.randint(50, 150) * 1_000_000,
        "clocks.link_hz": draw.randint(40, 160) * 1_000_000,
        "bus.overhead_cycles": draw.randint(4, 20),
        "bus.split_min_cycles": split,
        "bus.split_max_cycles": split + draw.randint(0, 30),
        "bus.completion_cycles": draw.randint(2, 10),
        "bus.write_cycles": draw.randint(3, 16),
        "bus.write_burst_words": draw.choice((32, 64, 128, 256)),
        "bus.retries_ppm": draw.randint(0, 20_000),
        "bus.disconnects_ppm": draw.randint(0, 20_000),
        "fifo.rx_words": 4096,
        "link.latency_ps": draw.randint(100, 1500) * 1000,
        "link.gap_cycles": draw.randint(1, 4),
        "flows.active": draw.randint(1, 2),
        "flows.credit_unit_words": draw.choice((16, 32, 64)),
        "host.ring_descriptors": draw.choice((4, 8, 16, 32)),
        "trace.event_depth": 16_384,
    }
    saturated = draw.random() < 0.5
    messages = _messages(draw, profile, saturated, two_way=draw.random() < 0.4)
    key, value, changed = _change(draw, profile)
    return Pair(profile, messages, saturated, key, value, changed)


def _messages(
    draw: random.Random, profile: dict[str, int], saturated: bool, two_way: bool
) -> list[tuple[float, str, int, int]]:
    mix = draw.choice(
        ((1, 4, 64), (8, 64, 512), (512,), (1, 512), (16, 32, 128), (256, 512, 64, 2))
    )
    cycles = 4 * profile["bus.write_cycles"] + profile["bus.split_max_cycles"] + 30
    word_ns = max(1e9 / profile["clocks.bus_hz"], 1e9 / profile["clocks.link_hz"])
    busy_ns = cycles * 1e9 / profile["clocks.bus_hz"] + word_ns * sum(mix) / len(mix)
    gap_ns = busy_ns * (2 if two_way else 1) / draw.uniform(0.2, 0.75)
    found = []
    for card in "AB" if two_way else "A":
        t_ns = 0.0
        for _ in range(80 if two_way else 120):
            t_ns += 0.0 if saturated else draw.expovariate(1 / gap_ns)
            words = draw.choice(mix) if draw.random() < 0.7 else draw.randint(1, max(mix))
            found.append((t_ns, card, draw.randrange(profile["flows.active"]), 8 * words))
    return found


def _change(draw: random.Random, profile: dict[str, int]) -> tuple[str, float, dict[str, int]]:
    """Return a change of one number, as the fitted profile calls it and as the card's does."""
    factor = draw.choice((0.5, 0.67, 0.8, 1.25, 1.5, 2.0))

    def times(key: str, least: int = 1) -> int:
        return max(least, round(profile[key] * factor))

    which = draw.choice(
        ("bus_MHz", "link_MHz", "overhead_cycles", "split_cycles", "post_cycles", "completion_cycles", "burst_words")
    )  # fmt: skip
    if which in ("bus_MHz", "link_MHz"):
        key = f"clocks.{which[:-4]}_hz"
        hz = round(times(key) / 1e6) * 1_000_000
        return which, hz / 1e6, {key: hz}
    if which == "split_cycles":
        cycles = times("bus.split_min_cycles", 5)
        return which, cycles, {"bus.split_min_cycles": cycles, "bus.split_max_cycles": cycles}
    if which == "post_cycles":
        cycles = times("bus.write_cycles")
        return which, 4 * cycles, {"bus.write_cycles": cycles}
    if which == "burst_words":
        words = draw.choice(
            [w for w in (32, 64, 128, 256) if w != profile["bus.write_burst_words"]]
        )
        return which, words, {"bus.write_burst_words": words}
    key = f"bus.{which}"
    return which, times(key, 2), {key: times(key, 2)}


def written_profile(values: dict[str, int], path: Path) -> Path:
    """Write a card's profile that extends the shipped one."""
    sections: dict[str, list[str]] = {}
    for key, value in values.items():
        section, _, name = key.partition(".")
        sections.setdefault(section, []).append(f"{name} = {value}")
    lines = ['extends = "forth"']
    for section, keys in sections.items():
        lines += [f"[{section}]", *keys]
    path.write_text("\n".join(lines) + "\n")
    return path


def run_card(
    profile: Path, messages: list[tuple[float, str, int, int]], folder: Path, seed: int
) -> tuple[EmulatorTarget, float, float]:
    """Run messages through a card until all have arrived; return card, time and mean latency in ns."""
    listed = folder / "messages.csv"
    listed.write_text(
        "".join(f"{t:.3f},{card},{flow},{size}\n" for t, card, flow, size in messages)
    )
    target = EmulatorTarget(str(profile), seed=seed, workload=str(listed))
    begin_ps = target.now_ps + _BEGIN_PS
    ends: dict[str, list[int]] = {"A": [], "B": []}
    for nic, sender in zip(target.pair.nics, "BA", strict=True):
        finish = nic.rx_dma._finish

        def noted(*given: Any, finish: Any = finish, sender: str = sender) -> None:
            ends[sender].append(target.now_ps - begin_ps)
            finish(*given)

        nic.rx_dma._finish = noted  # type: ignore[method-assign,assignment]
    while sum(map(len, ends.values())) < len(messages):
        target.advance(_STEP_PS)
        if target.now_ps > _MOST_PS:
            raise RuntimeError(
                f"{sum(map(len, ends.values()))} of {len(messages)} messages arrived"
            )
    latencies = [
        end / 1000 - t_ns
        for card in "AB"
        for end, t_ns in zip(ends[card], (m[0] for m in messages if m[1] == card), strict=True)
    ]
    took_ns = max(max(one, default=0) for one in ends.values()) / 1000 - min(m[0] for m in messages)
    return target, took_ns, float(np.mean(latencies))


def foretold(
    capture: Path, key: str, value: float, folder: Path
) -> dict[str, tuple[float, float, float]]:
    """Return what the tool says of a change, from a capture alone: value, low and high by gain.

    Raises:
        InputError: it refuses.
    """
    path = folder / "fitted.toml"
    write_fitted(capture, path)
    base, changed = (
        run_adapter(load_adapter(str(path))),
        run_adapter(load_adapter(str(path), {key: value})),
    )
    return {
        name: (gain.value, gain.low, gain.high)
        for name, gain in gains(base, changed, {key: value}).items()
    }


def judge(number: int) -> list[Row]:
    """Run a pair and hold what is foretold beside the truth: throughput of a saturated card, and latency."""
    pair = random_pair(number)
    with tempfile.TemporaryDirectory() as hidden:
        folder = Path(hidden)
        target, was_ns, was_latency_ns = run_card(
            written_profile(pair.profile, folder / "card.toml"), pair.messages, folder, number
        )
        capture = folder / "card.ff"
        pull(target, capture, freeze=True)
        target.close()
        changed = written_profile(pair.profile | pair.changed, folder / "changed.toml")
        _, now_ns, now_latency_ns = run_card(changed, pair.messages, folder, number)
        truth = {
            "throughput": 100 * (was_ns / now_ns - 1),
            "mean_latency": 100 * (now_latency_ns / was_latency_ns - 1),
        }
        what = f"{pair.key} = {pair.value:g}"
        names = ("throughput", "mean_latency") if pair.saturated else ("mean_latency",)
        try:
            found = foretold(capture, pair.key, pair.value, folder)
        except InputError as error:
            why = str(error).partition(": ")[2]
            return [Row(number, what, name, truth=truth[name], refused=why) for name in names]
    return [Row(number, what, name, was_latency_ns, truth[name], *found[name]) for name in names]


def run(pairs: range, jobs: int = 2) -> Iterator[list[Row]]:
    """Judge pairs on several processes, in their order."""
    if jobs == 1:
        yield from map(judge, pairs)
        return
    with ProcessPoolExecutor(jobs) as workers:
        yield from workers.map(judge, pairs)


def summary(rows: list[Row]) -> list[str]:
    """Return the lines of the result."""
    told = [row for row in rows if not row.refused]
    lines = [
        "| gain | foretold | within 3 points | in its interval | either | half width <= 5 | mean error | worst |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in ("throughput", "mean_latency"):
        mine = [row for row in told if row.gain == name]
        if not mine:
            continue
        errors = [abs(row.foretold - row.truth) for row in mine]
        narrow = 100 * sum(row.half <= NARROW for row in mine) / len(mine)
        shares = " | ".join(_share(mine, what) for what in ("near", "inside", "good"))
        lines.append(
            f"| {name.replace('_', ' ')} | {len(mine)} | {shares} | {narrow:.1f} % | "
            f"{np.mean(errors):.2f} points | {max(errors):.1f} points |"
        )
    return lines


def _share(rows: list[Row], what: str) -> str:
    return f"{100 * sum(getattr(row, what) for row in rows) / len(rows):.1f} %"


def write_table(page: Path, rows: list[Row], pairs: range) -> None:
    """Put the result behind the last line of a page that begins its figures."""
    refused = sorted({(row.number, row.what, row.refused) for row in rows if row.refused})
    lines = [
        f"Pairs {pairs.start} to {pairs.stop - 1}, of which {len(refused)} were refused:",
        "",
        *summary(rows),
        "",
    ]
    lines += [f"- pair {number}, `{what}`: {why}" for number, what, why in refused]
    missed = [row for row in rows if not row.good and not row.refused]
    lines += ["", f"Neither within 3 points nor inside its interval: {len(missed)}."]
    lines += [
        f"- pair {row.number}, `{row.what}`, {row.gain.replace('_', ' ')}: {row.foretold:+.1f} %, "
        f"in truth {row.truth:+.1f} %"
        for row in missed
    ]
    head = page.read_text().partition(_MARK)[0]
    page.write_text(head + _MARK + "\n\n" + "\n".join(lines).rstrip() + "\n")


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--pairs", type=int, default=PAIRS)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--write", action="store_true", help="write the table into docs")
    chosen = options.parse_args()
    rows: list[Row] = []
    pairs = range(chosen.first, chosen.first + chosen.pairs)
    for found in run(pairs):
        rows += found
        for row in found:
            verdict = row.refused or ("ok" if row.good else "MISSED")
            print(
                f"{row.number:4} {row.what:24} {row.gain:13} truth {row.truth:+7.2f} foretold {row.foretold:+7.2f} "
                f"[{row.low:+.2f} .. {row.high:+.2f}] {verdict}",
                flush=True,
            )
    print(*summary(rows), sep="\n")
    if chosen.write:
        write_table(_DOCS, rows, pairs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
