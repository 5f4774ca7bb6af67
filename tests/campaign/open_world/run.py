"""The open-world campaign: listed faults, faults in no list, and random geometries, each answer judged by the truth.

``make campaign-open``. Answers go to a file, one JSON line each; docs/campaign-open.md is made of such files. A
confidence may be counted on the seeds of `COUNTING` alone and is tested on those of `TESTING` alone.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from freezeframe.emulator.open_world.table import ENTRIES
from tests.campaign.open_world.report import PAGE, page
from tests.campaign.open_world.runs import GEOMETRIES, LISTED, UNLISTED, Job, run_job
from tests.campaign.runs import FAULTS, LOADS

COUNTING = range(1_000_000)
TESTING = range(1_001_000, 2_000_000)
"""Seeds that may be looked at while something is counted or tuned, and seeds that may not; others were looked at."""

OUT = Path("out/campaign-open")
_CLEAN, _CARDS_CLEAN, _CARDS_UNLISTED = 4, 10, 12  # runs a round, beside one of every fault
_TOLD = 250  # runs between two words of progress


def round_of(seed: int, worlds: tuple[int, ...] = (LISTED, UNLISTED, GEOMETRIES)) -> list[Job]:
    """Return one round: every fault once, clean runs, and random cards with and without faults, in mixed order."""
    draw = random.Random(f"round {seed}")
    load = LOADS[seed % len(LOADS)]
    jobs = [Job(LISTED, fault, load, seed) for fault in FAULTS]
    jobs += [Job(LISTED, "none", draw.choice(LOADS), seed * _CLEAN + n) for n in range(_CLEAN)]
    jobs += [Job(UNLISTED, fault, draw.choice(("", *LOADS)), seed) for fault in ENTRIES]
    on_cards = [*FAULTS, *["none"] * _CARDS_CLEAN, *draw.sample(list(ENTRIES), _CARDS_UNLISTED)]
    each = len(on_cards)
    jobs += [Job(GEOMETRIES, f, "", seed, seed * each + n) for n, f in enumerate(on_cards)]
    draw.shuffle(jobs)
    return [job for job in jobs if job.world in worlds]


def campaign(jobs: list[Job], workers: int) -> Iterator[list[dict[str, Any]]]:
    """Run all jobs on the given number of processes, in any order; yield the records of each run."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(workers, maxtasksperchild=1000) as pool:
        yield from pool.imap_unordered(run_job, jobs, chunksize=4)


def main() -> None:
    """Run the campaign from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30, help="rounds of about 190 runs (30)")
    parser.add_argument("--first", type=int, default=0, help="the first seed of its range (0)")
    parser.add_argument("--count", action="store_true", help="seeds for counting, not for testing")
    parser.add_argument("--worlds", default="1,2,3", help="which worlds (1,2,3)")
    parser.add_argument("--faults", default=None, help="comma-separated names; all without")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=None, help="file of JSON lines")
    parser.add_argument("--write", action="store_true", help="write docs/campaign-open.md")
    args = parser.parse_args()
    seeds = COUNTING if args.count else TESTING
    worlds = tuple(int(world) for world in args.worlds.split(","))
    wanted = set(args.faults.split(",")) if args.faults else None
    jobs = [
        job
        for seed in seeds[args.first : args.first + args.rounds]
        for job in round_of(seed, worlds)
        if wanted is None or job.fault in wanted
    ]
    path = args.out or OUT / ("counting.jsonl" if args.count else "testing.jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    start, done, records = time.monotonic(), 0, []
    with path.open("w") as file:
        try:
            for answers in campaign(jobs, args.workers):
                done += 1
                for answer in answers:
                    file.write(json.dumps(answer) + "\n")
                    records.append(answer)
                if done % _TOLD == 0:
                    rate = done / (time.monotonic() - start)
                    print(
                        f"{done} of {len(jobs)} runs, {rate:.2f} a second",
                        file=sys.stderr,
                        flush=True,
                    )
        except KeyboardInterrupt:
            print(f"interrupted after {done} of {len(jobs)} runs", file=sys.stderr)
    text, svg = page(records, done, time.monotonic() - start, args.workers)
    print(text)
    print(f"answers in {path}")
    if args.write:
        PAGE.write_text(text)
        (PAGE.parent / "images" / "reliability.svg").write_text(svg)


if __name__ == "__main__":
    main()
