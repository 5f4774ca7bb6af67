"""The campaign of receive livelock: adapters and hosts at random, under a rising load, explained by their card.

What is true is known from other runs: each profile under seven constant loads, by what it delivers. Then the same under
a heavy load that does not change, which shows no fall. ``make
campaign-livelock`` prints the tables of docs/card-explain.md.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

from freezeframe.analyzers.card.explain import explain_card
from freezeframe.analyzers.card.load import LIVELOCK
from freezeframe.emulator.adapter.outcome import run_adapter
from freezeframe.emulator.adapter.reading import load_adapter
from freezeframe.emulator.adapter.record import run_recorded

KINDS = ("an interrupt a packet", "interrupts of up to 8", "back-off", "a link that is saturated")
LOADS = (
    0.25,
    0.5,
    0.75,
    1.0,
    1.25,
    1.5,
    1.9,
)  # of the profile's; the recording rises to twice that
MESSAGES, WINDOWS = 10_000, 100
FALLS, HOLDS = (
    0.8,
    0.9,
)  # of the best deliveries under the heaviest load: less is a fall, more is none
RUNS = 50


def profile_of(kind: str, seed: int) -> str:
    """Return the text of a profile at random."""
    chance = random.Random(f"{kind} {seed}")
    rate = chance.choice([10_000, 20_000, 50_000, 100_000])
    base = "livelock-backoff" if kind == "back-off" else "livelock"
    lines = [
        f'extends = "{base}"',
        "[parameter]",
        f"offered_per_s = {rate}",
        f"interrupt_us = {chance.choice([0.5, 1, 2, 5, 10])}",
        f"message_us = {chance.choice([0.5, 2, 5])}",
        f"stack_us = {chance.choice([2, 5, 10, 20, 40])}",
        "[stage.interrupt]",
        f"queue = {chance.choice([16, 64, 256])}",
        *(["gather_most = 8"] if kind == KINDS[1] else []),
        "[stage.stack]",
        f"queue = {chance.choice([4, 50, 500])}",
        "[run]",
        f"messages = {MESSAGES}",
        f"log_ns = {round(MESSAGES / rate * 1e9 / WINDOWS)}",
    ]
    if kind == KINDS[3]:
        lines += [
            "[resource.link]",
            "servers = 1",
            "[stage.wire]",
            'uses = ["link"]',
            'at = "receiver"',
            f"fixed_ns = {round(1e9 / rate / chance.choice([0.3, 0.6, 1.0, 1.4]))}",
            "[flow.packets]",
            'route = ["wire", "interrupt", "stack"]',
        ]
    return "\n".join(lines) + "\n"


def truth_of(path: Path) -> str:
    """Return ``falls``, ``holds`` or ``between``: deliveries under the heaviest constant load by the best of all."""
    rate = load_adapter(str(path)).adapter.flow["packets"].rate_per_s
    rates = [
        run_adapter(load_adapter(str(path), {"offered_per_s": rate * each})).messages_per_s
        for each in LOADS
    ]
    part = rates[-1] / max(rates)
    return "falls" if part < FALLS else "between" if part < HOLDS else "holds"


def said_of(path: Path, seed: int, workload: str) -> str:
    """Return what is said of its recording: the name, ``undetermined``, another finding, or nothing."""
    recording, _ = run_recorded(str(path), seed, workload)
    names = {finding.diagnosis for finding in explain_card(recording).findings}
    return "named" if LIVELOCK in names else ", ".join(sorted(names)) or "nothing"


def heavy(path: Path) -> None:
    """Give a profile the heaviest of the constant loads."""
    lines = path.read_text(encoding="utf-8").splitlines()
    (at,) = (n for n, line in enumerate(lines) if line.startswith("offered_per_s"))
    (log,) = (n for n, line in enumerate(lines) if line.startswith("log_ns"))
    lines[at] = f"offered_per_s = {float(lines[at].split()[-1]) * LOADS[-1]:.0f}"
    lines[log] = f"log_ns = {float(lines[log].split()[-1]) / LOADS[-1]:.0f}"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def table(tally: Counter[tuple[str, str, str]]) -> None:
    """Print what was said of each kind, by what is true."""
    print(
        "| adapter | deliveries under a heavy load | runs | receive-livelock | undetermined | nothing found | else |"
    )
    print("|---|---|---|---|---|---|---|")
    for kind in KINDS:
        for truth, text in (
            ("falls", "less than 0.8 of the best"),
            ("between", "between"),
            ("holds", "0.9 and more"),
        ):
            row = {said: n for (k, t, said), n in tally.items() if (k, t) == (kind, truth)}
            if row:
                known = [row.pop(said, 0) for said in ("named", "undetermined", "nothing")]
                total = sum(known) + sum(row.values())
                print(
                    f"| {kind} | {text} | {total} | {' | '.join(map(str, known))} | {sum(row.values())} |"
                )


def main() -> int:
    """Run all and print the tables; 1 where a name is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help="profiles of each kind")
    runs = parser.parse_args().runs
    rising: Counter[tuple[str, str, str]] = Counter()
    constant: Counter[tuple[str, str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "adapter.toml"
        for kind in KINDS:
            for seed in range(runs):
                path.write_text(profile_of(kind, seed), encoding="utf-8")
                truth = truth_of(path)
                rising[kind, truth, said_of(path, seed, "rising")] += 1
                heavy(path)
                constant[kind, truth, said_of(path, seed, "as-described")] += 1
    print("A load that rises:\n")
    table(rising)
    print("\nA heavy load that does not change:\n")
    table(constant)
    both = [*rising.items(), *constant.items()]
    wrong = sum(n for (_, truth, said), n in both if truth == "holds" and said != "nothing")
    print(f"\nWrong names: {wrong}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
