"""The diagnosis campaign: every fault x many seeds, through emulate -> pull -> explain.

Each run is an emulated pair behind a real UDP Etherbone server; the recording is pulled over the socket, written to a
capture folder, and explained from that folder alone. Only then is the truth file opened. Prints a confusion matrix and
writes docs/campaign.md. ``make campaign``.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["FAULTS", "Run", "judge", "main", "run_one"]

FAULTS = (
    "word-omitted",
    "word-duplicated",
    "sync-fifo-empty",
    "lane-misaligned",
    "payload-bit-flip",
    "header-corrupted",
    "credit-corrupted",
    "credit-lost",
    "wrap-unhandled",
    "credit-start-too-large",
)
PLACE = ("device", "tap", "direction", "flow", "packet", "word")
WITH_PACKET = FAULTS[:6]  # those of which faults say the packet; the word too, but in headers
CLEAN_RUN_PS = 400_000_000  # how long a clean run goes on before the host freezes it: 400 us
CLEAN_SNAPSHOTS = 4  # the same on the board, in counter snapshots of 164 us
BOARD_LIMIT_S = 120.0
LIMIT_PS = 20_000_000_000  # a run that has not frozen after 20 ms never will

DOCS = Path(__file__).parents[2] / "docs"
REPORTS = {"emulator": DOCS / "campaign.md", "board": DOCS / "campaign-rtl.md"}
COMMANDS = {"emulator": "make campaign", "board": "make campaign-rtl"}
WHAT = {"emulator": "emulated pair", "board": "verilated pair"}
ASKED = {"emulator": (0.99, 0.98), "board": (0.97, 0.97)}  # right name first; right place


@dataclass
class Run:
    """One run: what was injected, and what the explanation said of both ends and of each alone."""

    fault: str
    seed: int
    truth: dict[str, Any]
    causes: dict[str, list[str]]
    said: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # "both", "A", "B"
    error: str = ""
    emulate_s: float = 0.0
    pull_s: float = 0.0
    explain_s: float = 0.0


def run_one(job: tuple[str, str, int]) -> Run:
    """Run a card until it freezes, pull over UDP, explain from the folder, and only then read the truth.

    Args:
        job: "emulator" or "board", fault, seed.
    """
    on, fault, seed = job
    with tempfile.TemporaryDirectory(prefix="ff-campaign-") as folder:
        try:
            return _run_in(Path(folder), on, fault, seed)
        except (
            Exception
        ) as error:  # one broken run must not end the campaign; it is counted as wrong
            return Run(fault, seed, {}, {}, error=f"{type(error).__name__}: {error}")


@contextmanager
def _emulated(fault: str, seed: int, truth: Path) -> Iterator[str]:
    """Yield the URL of an emulated pair that has frozen, or has run for long without a fault."""
    from freezeframe.emulator.target import EmulatorTarget

    from tests.capture.serving import serving

    emulator = EmulatorTarget(profile="forth", fault=fault, seed=seed, truth_path=truth)
    if fault == "none":
        emulator.run_until_frozen(CLEAN_RUN_PS)
    elif not emulator.run_until_frozen(LIMIT_PS):
        raise RuntimeError("the emulator did not freeze")
    with serving(emulator) as url:
        yield url


@contextmanager
def _simulated(fault: str, seed: int, truth: Path) -> Iterator[str]:
    """Yield the URL of a simulated board, the same way."""
    from freezeframe.capture.recorder.control import wait_for
    from freezeframe.capture.recorder.state import read_state
    from freezeframe.capture.registers.access import open_devices
    from freezeframe.capture.targets.base import open_target

    from tests.board.boards import running

    with running("--fault", fault, "--seed", str(seed), "--truth", str(truth)) as board:
        target = open_target(board.url)
        devices = open_devices(target)
        if fault == "none":
            while devices[0].read("ctl.snapshot_seq") < CLEAN_SNAPSHOTS:
                if read_state(devices[0]).state == "frozen":
                    break
                time.sleep(0.005)
        else:
            for device in devices:
                wait_for(device, "frozen", BOARD_LIMIT_S)
        target.close()
        yield board.url


def _run_in(folder: Path, on: str, fault: str, seed: int) -> Run:
    from freezeframe.analyzers.explain import explain
    from freezeframe.capture.folder import CaptureFolder
    from freezeframe.capture.recorder.pull import pull
    from freezeframe.capture.recorder.state import read_state
    from freezeframe.capture.registers.access import open_devices
    from freezeframe.capture.targets.base import open_target

    truth_path = folder / "truth.json"
    start = time.perf_counter()
    card = _simulated if on == "board" else _emulated
    with card(fault, seed, truth_path) as url:
        emulated = time.perf_counter()
        capture = folder / "run.ff"
        target = open_target(url)
        pull(target, capture, freeze=True)
        causes = {d.name: list(read_state(d).causes) for d in open_devices(target)}
        target.close()
    pulled = time.perf_counter()
    opened = CaptureFolder.open(capture)
    said = {
        "both": explain(opened),
        "A": explain(opened, devices=["A"]),
        "B": explain(opened, devices=["B"]),
    }
    explained = time.perf_counter()
    truth = json.loads(truth_path.read_text()) if truth_path.exists() else {}
    run = Run(fault, seed, truth, causes)
    run.said = {end: [f.to_json() for f in e.findings] for end, e in said.items()}
    run.emulate_s, run.pull_s, run.explain_s = (
        emulated - start,
        pulled - emulated,
        explained - pulled,
    )
    return run


@dataclass
class Verdict:
    """What a run counts as."""

    first: str  # the first diagnosis, or "(none)" or "(error)"
    named: bool
    placed: bool | None  # everything the truth says of the place; None for a clean run
    one_end_wrong: list[str]
    one_end_right: list[str]


def judge(run: Run) -> Verdict:
    """Compare what was said to the truth; a clean run is right when nothing was said."""
    if run.error:
        return Verdict("(error)", False, None if run.fault == "none" else False, [], [])
    both = run.said["both"]
    first = both[0]["diagnosis"] if both else "(none)"
    if run.fault == "none":
        silent = [end for end in "AB" if not run.said[end]]
        named = [e for e in "AB" if any(f["diagnosis"] != "undetermined" for f in run.said[e])]
        return Verdict(first, not both, None, named, silent)
    right_name = first == run.fault
    truth = run.truth["injections"][-1]
    known = [key for key in PLACE if truth[key] is not None]
    placed = right_name and all(both[0][key] == truth[key] for key in known)
    wrong, right = [], []
    for end in "AB":
        named_here = [f for f in run.said[end] if f["diagnosis"] != "undetermined"]
        if any(
            f["diagnosis"] != run.fault or any(f[key] not in (None, truth[key]) for key in known)
            for f in named_here
        ):
            wrong.append(end)
        elif named_here:
            right.append(end)
    return Verdict(first, right_name, placed, wrong, right)


def campaign(jobs: Iterable[tuple[str, str, int]], workers: int) -> Iterator[Run]:
    """Run all jobs on the given number of processes, in any order."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(workers, maxtasksperchild=200) as pool:
        yield from pool.imap_unordered(run_one, jobs, chunksize=2)


def report(runs: list[Run], seconds: float, command: str, on: str = "emulator") -> tuple[str, bool]:
    """Return the table as Markdown and whether every asked figure is met."""
    verdicts = [(run, judge(run)) for run in runs]
    faults = [f for f in (*FAULTS, "none") if any(run.fault == f for run in runs)]
    columns = sorted({v.first for _, v in verdicts} - set(faults) - {"(none)"})
    columns = [*[f for f in faults if f != "none"], *columns, "(none)"]
    lines = [
        f"# Diagnosis campaign{' on the simulated board' if on == 'board' else ''}",
        "",
        f"`{command}`: {len(runs)} runs in {seconds / 60:.1f} minutes on "
        f"{multiprocessing.cpu_count()} cores. Each run: {WHAT[on]} -> UDP Etherbone -> "
        "verified pull -> capture folder -> explanation; then, and only then, the truth.",
        "",
        "| fault | runs | named first | place right | "
        "from A alone: right / wrong | from B alone: right / wrong |",
        "|---|---|---|---|---|---|",
    ]
    good = True
    name_share, place_share = ASKED[on]
    for fault in faults:
        mine = [(r, v) for r, v in verdicts if r.fault == fault]
        named = sum(v.named for _, v in mine)
        placed = [v.placed for _, v in mine if v.placed is not None]
        ends = [
            f"{sum(e in v.one_end_right for _, v in mine)}"
            f" / {sum(e in v.one_end_wrong for _, v in mine)}"
            for e in "AB"
        ]
        where = f"{sum(placed)} of {len(placed)}" if placed else "-"
        label = "no finding" if fault == "none" else fault
        lines.append(f"| {label} | {len(mine)} | {named} | {where} | {ends[0]} | {ends[1]} |")
        good &= named == len(mine) if fault == "none" else named >= name_share * len(mine)
        good &= sum(placed) >= place_share * len(placed)
        good &= not any(v.one_end_wrong for _, v in mine)
    faulty = [v for r, v in verdicts if r.fault != "none"]
    placed = [bool(v.placed) for r, v in verdicts if r.fault in WITH_PACKET]
    clean = [v for r, v in verdicts if r.fault == "none"]
    lines += ["", "| figure | measured | asked |", "|---|---|---|"]
    if faulty:
        share = sum(v.named for v in faulty) / len(faulty)
        lines.append(f"| right name first | {share:.2%} | at least {name_share:.0%} |")
    if placed:
        share = sum(placed) / len(placed)
        lines.append(
            "| right device, tap, direction, flow, packet and word, of the faults that have them "
            f"| {share:.2%} | at least {place_share:.0%} |"
        )
    if clean:
        lines.append(
            f"| findings in {len(clean)} clean runs | {sum(not v.named for v in clean)} | 0 |"
        )
    wrong = sum(len(v.one_end_wrong) for _, v in verdicts)
    lines.append(
        f"| wrong answers from one end alone ({2 * len(runs)} explanations) | {wrong} | 0 |"
    )
    lines += ["", "Confusion matrix (rows: injected; columns: named first):", ""]
    lines.append("| | " + " | ".join(columns) + " |")
    lines.append("|---|" + "---|" * len(columns))
    for fault in faults:
        count = Counter(v.first for r, v in verdicts if r.fault == fault)
        lines.append(f"| {fault} | " + " | ".join(str(count[c] or "") for c in columns) + " |")
    causes = Counter(
        (r.fault, cause) for r, _ in verdicts for c in r.causes.values() for cause in c
    )
    lines += ["", "Freeze causes seen (either device):", "", "| fault | causes |", "|---|---|"]
    for fault in faults:
        seen = ", ".join(f"{c} {n}" for (f, c), n in sorted(causes.items()) if f == fault)
        lines.append(f"| {fault} | {seen} |")
    done = [r for r in runs if not r.error]
    if done:
        medians = [
            sorted(getattr(r, name) for r in done)[len(done) // 2]
            for name in ("emulate_s", "pull_s", "explain_s")
        ]
        lines += [
            "",
            f"Median seconds a run: until frozen {medians[0]:.2f}, pull {medians[1]:.2f}, "
            f"explain three times {medians[2]:.2f}.",
        ]
    return "\n".join(lines) + "\n", good


def main() -> None:
    """Run the campaign from the command line; exit 1 when an asked figure is not met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--board", action="store_true", help="on the simulated board")
    parser.add_argument("--seeds", type=int, default=None, help="seeds a fault (100; board 20)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (0)")
    parser.add_argument("--clean", type=int, default=None, help="clean runs (500; board 40)")
    parser.add_argument("--faults", default=",".join(FAULTS), help="comma-separated names")
    parser.add_argument("--workers", type=int, default=multiprocessing.cpu_count())
    parser.add_argument(
        "--write",
        type=Path,
        default=None,
        help="where the table goes (docs/campaign.md when whole)",
    )
    args = parser.parse_args()
    on = "board" if args.board else "emulator"
    usual = {"emulator": (100, 500), "board": (20, 40)}[on]
    args.seeds = usual[0] if args.seeds is None else args.seeds
    args.clean = usual[1] if args.clean is None else args.clean
    if args.board:
        from tests.board.boards import program

        program()  # built before its runs are started side by side
    seeds = range(args.first, args.first + args.seeds)
    jobs = [(on, f, s) for s in seeds for f in args.faults.split(",") if f]
    jobs += [(on, "none", s) for s in range(args.first, args.first + args.clean)]
    whole = args.seeds >= usual[0] and args.clean >= usual[1] and args.faults == ",".join(FAULTS)
    start = time.monotonic()
    runs: list[Run] = []
    for run in campaign(jobs, args.workers):
        runs.append(run)
        verdict = judge(run)
        if not verdict.named or verdict.placed is False or verdict.one_end_wrong:
            print(f"\nMISS {run.fault} seed {run.seed}: {run.error or ''}", file=sys.stderr)
            print(f"  truth {run.truth.get('injections')}", file=sys.stderr)
            for end in ("both", *verdict.one_end_wrong):
                said = [
                    {k: v for k, v in f.items() if k != "evidence"} for f in run.said.get(end, [])
                ]
                print(f"  {end}: {said[:2]}", file=sys.stderr)
        if sys.stderr.isatty():
            print(f"\r{len(runs)} of {len(jobs)}", end="", file=sys.stderr)
    table, good = report(runs, time.monotonic() - start, COMMANDS[on], on)
    print(table)
    path = args.write or (REPORTS[on] if whole else None)
    if path:
        path.write_text(table)
        print(f"written to {path}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
