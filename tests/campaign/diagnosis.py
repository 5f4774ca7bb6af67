"""The diagnosis campaign: every fault x load x seed, clean runs, and two faults at once, each judged by its truth.

Prints the tables and writes docs/campaign.md. ``make campaign``; with ``--board`` on the simulated board,
``make campaign-rtl``.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from pathlib import Path

from tests.campaign.judge import judge, judge_pair
from tests.campaign.runs import FAULTS, LOADS, Job, Run, run_one
from tests.campaign.table import report

DOCS = Path(__file__).parents[2] / "docs"
REPORTS = {"emulator": DOCS / "campaign.md", "board": DOCS / "campaign-rtl.md"}
_TOLD = 250  # runs between two words of progress, where nobody watches
USUAL = {
    "emulator": (100, 1000, 2),
    "board": (20, 40, 0),
}  # seeds a fault, clean runs, seeds a pair


def jobs_of(on: str, faults: Sequence[str], seeds: range, clean: int, pair_seeds: int) -> list[Job]:
    """Return the runs of a campaign. From one end alone is explained at one load of three: it is slow."""
    loads = LOADS if on == "emulator" else ("",)
    single = [
        Job(on, fault, load, seed, ends=load in ("", "medium"))
        for seed in seeds
        for fault in faults
        for load in loads
    ]
    quiet = [
        Job(
            on,
            "none",
            loads[n % len(loads)],
            seeds.start + n,
            loads[n % len(loads)] in ("", "medium"),
        )
        for n in range(clean)
    ]
    both = [
        Job(on, "+".join(pair), loads[(n + again) % len(loads)], seeds.start + again, ends=False)
        for again in range(pair_seeds)
        for n, pair in enumerate(permutations(faults, 2))
    ]
    # Side by side, so that a campaign that is interrupted has done its share of each.
    placed = [
        ((n + 0.5) / len(part), job) for part in (single, quiet, both) for n, job in enumerate(part)
    ]
    return [job for _, job in sorted(placed, key=lambda entry: entry[0])]


def campaign(jobs: Iterable[Job], workers: int) -> Iterator[Run]:
    """Run all jobs on the given number of processes, in any order."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(workers, maxtasksperchild=400) as pool:
        yield from pool.imap_unordered(run_one, jobs, chunksize=4)


def _miss(run: Run) -> str:
    """Return what is to be said of a run that went wrong; empty for a right one."""
    if "+" in run.fault:
        pair = judge_pair(run)
        if not pair.counts or pair.both:
            return ""
        return f"MISS {run.fault} {run.load} seed {run.seed}: {', '.join(pair.said)}"
    verdict = judge(run)
    if verdict.named and verdict.placed is not False and not verdict.one_end_wrong:
        return ""
    lines = [
        f"MISS {run.fault} {run.load} seed {run.seed}: {run.error or verdict.first}",
        f"  truth {run.truth.get('injections')}",
    ]
    for end in ("both", *verdict.one_end_wrong):
        said = [{k: v for k, v in f.items() if k != "evidence"} for f in run.said.get(end, [])]
        lines.append(f"  {end}: {said[:2]}")
    return "\n".join(lines)


def main() -> None:
    """Run the campaign from the command line; exit 1 when an asked figure is not met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--board", action="store_true", help="on the simulated board")
    parser.add_argument("--seeds", type=int, default=None, help="seeds a fault (100; board 20)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (0)")
    parser.add_argument("--clean", type=int, default=None, help="clean runs (1000; board 40)")
    parser.add_argument(
        "--pairs", type=int, default=None, help="seeds a pair of faults (2; board 0)"
    )
    parser.add_argument("--profile", default="forth", help="of the emulated pair (forth)")
    parser.add_argument("--through", default="", help="profile of a switch between the cards")
    parser.add_argument("--faults", default=None, help="comma-separated names")
    parser.add_argument("--workers", type=int, default=multiprocessing.cpu_count())
    parser.add_argument(
        "--write", type=Path, default=None, help="where the table goes (docs/ when whole)"
    )
    args = parser.parse_args()
    on = "board" if args.board else "emulator"
    faults = tuple(args.faults.split(",")) if args.faults else FAULTS
    asked = [
        usual if given is None else given
        for given, usual in zip((args.seeds, args.clean, args.pairs), USUAL[on], strict=True)
    ]
    if args.board:
        from tests.board.boards import program

        program()  # built before its runs are started side by side
    seeds = range(args.first, args.first + asked[0])
    jobs = [
        job._replace(profile=args.profile, through=args.through)
        for job in jobs_of(on, faults, seeds, asked[1], asked[2])
    ]
    whole = (faults, args.profile, args.through) == (FAULTS, "forth", "") and all(
        a >= u for a, u in zip(asked, USUAL[on], strict=True)
    )
    start = time.monotonic()
    runs: list[Run] = []
    try:
        for run in campaign(jobs, args.workers):
            runs.append(run)
            missed = _miss(run)
            if missed:
                print(f"\n{missed}", file=sys.stderr, flush=True)
            if sys.stderr.isatty() or len(runs) % _TOLD == 0:
                print(f"\r{len(runs)} of {len(jobs)}", end="", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        whole = False  # what was run so far is reported, and said to be a part
        print(f"\ninterrupted after {len(runs)} of {len(jobs)} runs", file=sys.stderr)
    table, good = report(runs, time.monotonic() - start, on, len(jobs))
    print(table)
    path = args.write or (REPORTS[on] if whole else None)
    if path:
        path.write_text(table)
        print(f"written to {path}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
