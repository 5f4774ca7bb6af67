"""The faults of the open world that the cards in Verilog have: verilated, pulled over UDP, explained, judged.

``make campaign-rtl`` runs it after the listed faults and writes docs/campaign-open-rtl.md.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from freezeframe.capture.errors import FreezeframeError
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.control import wait_for
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.registers.access import open_devices
from freezeframe.capture.targets.base import open_target
from freezeframe.emulator.open_world.in_verilog import IN_VERILOG
from tests.board.boards import program, running
from tests.campaign.open_world.report import (
    DOCS,
    Record,
    confusion,
    figures,
    missed,
    wrong,
)
from tests.campaign.open_world.runs import answered

PAGE = DOCS / "campaign-open-rtl.md"
_LIMIT_S = 60.0
_WORLD = 2


class Job(NamedTuple):
    fault: str
    seed: int


def run_on_board(job: Job) -> list[Record]:
    """Return the records of a run: one an answer, at least one for both ends and for each end alone."""
    same = {"world": _WORLD, "fault": job.fault, "load": "", "seed": job.seed, "card": -1}
    with (
        tempfile.TemporaryDirectory(prefix="ff-open-rtl-") as name,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        folder = Path(name)
        try:
            truth = _taken(job, folder)
        except FreezeframeError as error:  # it stands in the report by its text
            return [
                same
                | {"ends": "both", "name": "(error)", "error": f"{type(error).__name__}: {error}"}
            ]
        if not truth["injections"]:
            return [same | {"ends": "both", "name": "(not shown)"}]
        for injection in truth["injections"]:
            _name_lane(injection["detail"])
        return answered(CaptureFolder.open(folder / "run.ff"), job.fault, truth, same)


def _name_lane(detail: dict[str, Any]) -> None:
    """Say which lane's count was changed: the board has the counts of all lanes in one word, 32 bits each."""
    if detail.get("register") == "frozen.lane.underflows":
        lane, bit = divmod(detail["bit"], 32)
        detail |= {"register": f"frozen.lane.underflows[{lane}]", "bit": bit}


def _taken(job: Job, folder: Path) -> dict[str, Any]:
    """Run a board until it froze, pull it, and return the truth."""
    truth = folder / "truth.json"
    with running(
        "--fault", job.fault, "--seed", str(job.seed), "--truth", str(truth), "--freeze-when-evident"
    ) as board:  # fmt: skip
        target = open_target(board.url)
        for device in open_devices(target):
            wait_for(device, "frozen", _LIMIT_S)
        pull(target, folder / "run.ff")
        target.close()
    said: dict[str, Any] = json.loads(truth.read_text())
    return said


def page(records: list[Record], runs: int, seconds: float) -> str:
    """Return docs/campaign-open-rtl.md."""
    rows = [row for row in figures(records, runs) if row[1] != "no run"]
    return "\n".join(
        [
            "# Open-world campaign in Verilog",
            "",
            f"`make campaign-rtl`, second part: {runs} runs in {seconds / 60:.1f} minutes. {len(IN_VERILOG)} faults "
            "of [open-world-faults.md](open-world-faults.md) in the example cards in Verilog: the verilated pair "
            "runs, and cells of its FIFOs, its cable, its trace memories and its freeze bank are changed in the "
            "model, after they were written and before they are read; the recording is pulled over UDP and explained.",
            "",
            "| figure | measured | asked |",
            "|---|---|---|",
            *(f"| {name} | {value} | {asked} |" for name, value, asked in rows),
            "",
            "## Certain and wrong",
            "",
            *wrong(records),
            "## What was said first, from both ends",
            "",
            *confusion(records, _WORLD),
            "",
            "## What is missed",
            "",
            *missed(records),
        ]
    )


def main() -> None:
    """Run the campaign from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10, help="seeds a fault (10)")
    parser.add_argument("--first", type=int, default=1_001_000, help="the first seed")
    parser.add_argument("--faults", default=None, help="comma-separated names; all without")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", action="store_true", help=f"write docs/{PAGE.name}")
    args = parser.parse_args()
    program()  # built before its runs are started side by side
    faults = args.faults.split(",") if args.faults else IN_VERILOG
    jobs = [
        Job(fault, seed) for seed in range(args.first, args.first + args.seeds) for fault in faults
    ]
    start, records = time.monotonic(), []
    with multiprocessing.get_context("spawn").Pool(args.workers) as pool:
        for done, answers in enumerate(pool.imap_unordered(run_on_board, jobs, chunksize=4), 1):
            records += answers
            if sys.stderr.isatty() or done % 100 == 0:
                print(f"\r{done} of {len(jobs)}", end="", file=sys.stderr, flush=True)
    text = page(records, len(jobs), time.monotonic() - start)
    print(text)
    if args.write:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
