"""The campaign on designs that are not ours: each fault x design x seed on the RTL, clean runs, and a long clean run.

``make campaign-foreign`` writes docs/campaign-foreign.md.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from freezeframe.analyzers.card.explain import CardExplanation, explain_card
from freezeframe.analyzers.contract import UNDETERMINED, Finding
from tests.campaign.card_model import FAULTS
from tests.campaign.foreign_plans import PREAMBLE_B, Truth, cannot, plan
from tests.campaign.foreign_report import (
    CLEAN,
    FRAMES,
    SEEDS,
    Long,
    Result,
    Verdict,
    missed,
    report,
    told,
)
from tests.rtl.foreign.running import DESIGNS, Ran, build, run

DOC = Path(__file__).parents[2] / "docs" / "campaign-foreign.md"
ASKED = 0.97


def judge(design: str, fault: str, seed: int, bench: Path) -> Verdict:
    """Run a design once and compare what is said of it with what was done."""
    arguments, truth = plan(design, fault, seed)
    with tempfile.TemporaryDirectory() as folder:
        ran = run(bench, arguments, Path(folder) / "run.ff")
    explanation = explain_card(ran.recording)
    said = tuple(finding.diagnosis for finding in explanation.findings)
    if not truth.name:
        good = not said and not ran.froze and not ran.dropped
        return Verdict(design, fault, seed, good, good, wrong=bool(said), said=said)
    right = [finding for finding in explanation.findings if finding.diagnosis == truth.name]
    wrong = any(name not in (truth.name, UNDETERMINED) for name in said)
    hit = _hit(ran, truth, explanation)
    placed = any(_placed(finding, truth, hit, explanation) for finding in right)
    delay = _delay(ran, truth, hit, explanation)
    whole = bool(hit) or not truth.frames
    return Verdict(design, fault, seed, bool(right), placed, wrong, said, delay, whole)


def _hit(ran: Ran, truth: Truth, explanation: CardExplanation) -> list[int]:
    """Return the numbers of the packets that were hit, at the tap in front of the fault; found by their bytes."""
    if not truth.frames:
        return []
    end = explanation.streams[truth.first]
    bare = PREAMBLE_B if "mac" in explanation.streams else 0
    frames = [frame[bare:] for frame in ran.struck[: truth.frames] or ran.dropped]
    return [n for n in range(len(end)) if end.stream.whole[n] and end.content(n) in frames]


def _placed(finding: Finding, truth: Truth, hit: list[int], explanation: CardExplanation) -> bool:
    if finding.tap != truth.tap or not truth.frames:
        return finding.tap == truth.tap
    if finding.packet not in hit:
        return False
    width = explanation.streams[truth.first].tap.stream_bytes
    if finding.word is None or truth.byte < 0:
        return True
    # A beat is one of the stream, with the preamble.
    word = finding.word - (PREAMBLE_B // width if "mac" in explanation.streams else 0)
    if word == truth.byte // width:
        return True
    frame = explanation.streams[truth.first].content(finding.packet)
    low, high = sorted((word * width, truth.byte))
    size = truth.beat_B
    return bool(size) and frame[low:high] == frame[low + size : high + size]


def _delay(ran: Ran, truth: Truth, hit: list[int], explanation: CardExplanation) -> int | None:
    end = explanation.streams[truth.tap]
    causes = [c.said for c in ran.recording.card.causes if c.name in ran.recording.cause_names]
    if (
        len(hit) != 1
        or truth.tap != truth.first
        or not any(c and c.tap == truth.tap for c in causes)
    ):
        return None
    cycle = end.stream.cause_cycle
    return None if cycle is None else cycle - int(end.stream.packets.end[hit[0]])


_LINE = ["every_length=100", "shortest=64", "longest=200", "pause=4", "lazy=20"]
LONG = {
    # The line has 8 bits: of a hundred frames one is long, or a billion cycles would not do.
    "liteeth-8": _LINE,
    "liteeth-32": _LINE,
    "axis-512": ["every_length=4", "shortest=64", "longest=1518", "pause=30", "lazy=20"],
}
"""Of so many frames one is of the next of all lengths, 64 to 9,000 B; the others are between two."""


def long_run(design: str, frames: int, bench: Path) -> Long:
    """Let so many good frames pass an armed card; the host freezes it then."""
    with tempfile.TemporaryDirectory() as folder:
        plan = [*LONG[design], f"seed={frames}", f"hit={frames - 1}", "after=0"]
        ran = run(bench, plan, Path(folder) / "run.ff")
    said = tuple(finding.diagnosis for finding in explain_card(ran.recording).findings)
    told = ran.told
    return Long(
        design, told["sent"], told["bytes"], told["line_cycles"], told["sys_cycles"], ran.froze,
        len(ran.dropped), said,
    )  # fmt: skip


Job = tuple[str, str, int, Path]


def _one(job: Job) -> Result:
    design, fault, number, bench = job
    return (
        long_run(design, number, bench) if fault == "long" else judge(design, fault, number, bench)
    )


def _key(result: Result) -> tuple[str, str, int]:
    if isinstance(result, Long):
        return result.design, "long", 0
    return result.design, result.fault, result.seed


def campaign(jobs: Sequence[Job], workers: int, kept: Path | None = None) -> list[Result]:
    """Do the jobs; those whose results stand in a file are not done again, and the others' are added to it."""
    results = _read(kept) if kept is not None and kept.exists() else []
    done = set(map(_key, results))
    jobs = [job for job in jobs if (job[0], job[1], 0 if job[1] == "long" else job[2]) not in done]
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        for result in pool.imap_unordered(_one, jobs, chunksize=1):
            results.append(result)
            if kept is not None:
                with kept.open("a") as file:
                    file.write(json.dumps(asdict(result)) + "\n")
    return results


def _read(kept: Path) -> list[Result]:
    rows = [json.loads(line) for line in kept.read_text().splitlines()]
    return [
        (Long if "frames" in row else Verdict)(**row | {"said": tuple(row["said"])}) for row in rows
    ]


def jobs_of(
    benches: Mapping[str, Path], seeds: Sequence[int], clean: int, frames: int
) -> list[Job]:
    """Return the long runs, and seed by seed each fault and a share of the clean runs, on each design."""
    jobs = [(d, "long", frames, b) for d, b in benches.items() if d in LONG and frames]
    for at, seed in enumerate(seeds):
        numbers = [(fault, seed) for fault in FAULTS]
        numbers += [
            ("none", n) for n in range(at * clean // len(seeds), (at + 1) * clean // len(seeds))
        ]
        jobs += [(d, f, n, b) for f, n in numbers for d, b in benches.items() if not cannot(d, f)]
    return jobs


def met(results: Sequence[Result]) -> bool:
    """Tell whether what is asked is reached: on each design, and without one wrong name or a finding on a clean run."""
    verdicts = [r for r in results if isinstance(r, Verdict)]
    for design in DESIGNS:
        part = [v for v in verdicts if v.design == design and v.fault != "none"]
        if sum(v.named and v.placed for v in part) < ASKED * len(part):
            return False
    if any(r.froze or r.dropped or r.said for r in results if isinstance(r, Long)):
        return False
    return not any(v.wrong or not v.whole or (v.fault == "none" and missed(v)) for v in verdicts)


def main() -> None:
    """Run the campaign; exit 1 when an asked figure is not met."""
    parser = argparse.ArgumentParser(description="the campaign on designs that are not ours")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--clean", type=int, default=CLEAN)
    parser.add_argument(
        "--frames", type=int, default=FRAMES, help="of the long clean runs; 0: none"
    )
    parser.add_argument("--design", choices=DESIGNS, action="append")
    parser.add_argument("--folder", type=Path, help="where the benches are, or are built")
    parser.add_argument(
        "--kept", type=Path, help="results, a line each; what stands there is not done again"
    )
    parser.add_argument("--workers", type=int, default=multiprocessing.cpu_count())
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        benches = {}
        for name in args.design or DESIGNS:
            folder = (args.folder or Path(temporary)) / name
            bench = folder / "obj" / "bench"
            benches[name] = bench if bench.exists() else build(DESIGNS[name], folder)
        seeds = range(args.first, args.first + args.seeds)
        jobs = jobs_of(benches, seeds, args.clean, args.frames)
        results = campaign(jobs, args.workers, args.kept)
    for result in results:
        if isinstance(result, Verdict) and missed(result):
            print(told(result), file=sys.stderr)
    table = report(results)
    print(table)
    full = args.seeds >= SEEDS and args.clean >= CLEAN and args.frames >= FRAMES
    if full and not args.first and not args.design:
        DOC.write_text(table)
    sys.exit(0 if met(results) else 1)


if __name__ == "__main__":
    main()
