"""What the proposed next measurement brings: runs whose answer is undetermined, measured once more as the answer says.

``make campaign-open`` runs it last and writes docs/campaign-next.md.

Each run: an emulated pair behind a real UDP server, pulled, and explained from both ends and from a capture of each end
alone. Where the first answer names nothing, the command that it proposes is run as it is printed, on the same pair,
which still stands frozen; what that brings is explained, and the truth is looked at last. Simulated time passes when
the card is asked for something: until the fault has come again.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import shlex
import tempfile
import warnings
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from freezeframe.analyzers.explain import Explanation, explain
from freezeframe.capture.errors import FreezeframeError
from freezeframe.capture.folder import CaptureFolder, CaptureWriter
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.targets.base import Words, open_target
from freezeframe.emulator.target import EmulatorTarget
from freezeframe.gui.cli.app import run_verb
from tests.campaign.open_world.judge import OPEN, right_of
from tests.campaign.open_world.report import DOCS
from tests.campaign.open_world.run import COUNTING, TESTING, round_of
from tests.campaign.open_world.runs import (
    FOLDER,
    LIMIT_PS,
    SETTLE_PS,
    Job,
    NotShown,
    powered_up,
    run_to_freeze,
)
from tests.campaign.runs import FAULTS
from tests.capture.serving import serving

Record = dict[str, Any]

OUT = Path("out/campaign-open/next.jsonl")
NEXT_PAGE = DOCS / "campaign-next.md"
_ASKED = "90 %"
_COMMAND = "freezeframe"


class Coming:
    """The pair as a target: before each reading of a card that records, time passes until its fault has come."""

    def __init__(self, card: EmulatorTarget) -> None:
        self._card = card
        self.url = card.url

    def read(self, addresses: Words | Sequence[int]) -> Words:
        if not self._card.frozen:
            self._card.run_until_evident(LIMIT_PS)
            self._card.advance(SETTLE_PS if self._card.frozen else 0)
        return self._card.read(addresses)

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        self._card.write(address, words)
        if not self._card.frozen:
            self._card.run_until_frozen(0)

    def close(self) -> None:
        self._card.close()


def measured(job: Job) -> list[Record]:
    """Return a record for each answer that names nothing: what it proposes, and what that brings."""
    with (
        tempfile.TemporaryDirectory(prefix="ff-next-", dir=FOLDER) as folder,
        warnings.catch_warnings(),
        contextlib.chdir(folder),
    ):
        warnings.simplefilter("ignore")
        return [
            record for ends in ("both", "A", "B") for record in _measured(job, ends, Path(folder))
        ]


def _measured(job: Job, ends: str, folder: Path) -> Iterable[Record]:
    card = powered_up(job, folder)
    try:
        run_to_freeze(card, job)
    except NotShown:
        return
    with serving(Coming(card)) as url:
        path = _pulled(url, folder, ends)
        said = explain(path)
        if not said.findings or said.findings[0].diagnosis not in OPEN:
            return
        command = said.findings[0].next
        shown = command.replace(url, "TARGET").replace(f"{folder}/", "")
        record = {
            "world": job.world, "fault": job.fault, "load": job.load, "seed": job.seed, "card": job.card,
            "ends": ends, "name": said.findings[0].diagnosis, "command": shown,
        }  # fmt: skip
        try:
            left = _carried_out(command)
            found = explain(left)
        except (FreezeframeError, NotShown) as error:
            yield record | {"then": f"({type(error).__name__})", "right": False, "why": str(error)}
            return
        generation = CaptureFolder.open(left).devices[0].registers.value("ctl.generation")
        yield (
            record
            | {"generation": generation}
            | _judged(found, job.fault, card.pair.truth.to_json())
        )


def _pulled(url: str, folder: Path, ends: str) -> Path:
    """Return the capture of a frozen pair, of one end where only that is asked for."""
    path = folder / f"run-{ends}.ff"
    target = open_target(url)
    if ends == "both":
        pull(target, path)
    else:
        whole = folder / f"whole-{ends}.ff"
        pull(target, whole)
        writer = CaptureWriter(path, source=url)
        writer.add_device(next(d for d in CaptureFolder.open(whole).devices if d.name == ends))
        writer.commit()
    target.close()
    return path


def _carried_out(command: str) -> Path:
    """Run a command line as it is printed, verb after verb; return the capture that it leaves.

    Raises:
        NotShown: a verb ended with an error, or left no capture.
    """
    left: Path | None = None
    for line in command.split(" && "):
        words = shlex.split(line)
        assert words[0] == _COMMAND, line
        said = StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = _exit_code(words[1:])
        if code not in (0, 1):
            raise NotShown(f"{line}: exit code {code}: {said.getvalue().strip()[-200:]}")
        if "-o" in words:
            left = Path(words[words.index("-o") + 1])
    if left is None:
        raise NotShown(f"{command}: leaves no capture")
    # guard writes a directory of captures.
    return max(left.glob("*.ff")) if left.suffix != ".ff" else left


def _exit_code(words: list[str]) -> int:
    try:
        return run_verb(words, completing=False)
    except SystemExit as done:
        return int(done.code or 0)


def _judged(found: Explanation, fault: str, truth: dict[str, Any]) -> Record:
    """Return what the second answer is, and whether it is right, by the truth of the freeze that it is of."""
    place = truth["injections"][-1]
    first = found.findings[0] if found.findings else None
    right = first is not None and right_of(first, fault, place) is True
    return {
        "then": first.diagnosis if first is not None else "(none)",
        "right": right and first is not None and first.diagnosis == fault,
        "text": first.text if first is not None else found.answer,
    }


def text_of(records: Sequence[Record], runs: int) -> str:
    """Return docs/campaign-next.md."""
    right = sum(bool(r["right"]) for r in records)
    lines = [
        "# What the next measurement brings",
        "",
        f"`python -m tests.campaign.open_world.next`: {runs} runs with one of the eighteen faults, each explained from "
        "both ends and from a capture of each alone. Where the answer named nothing, the command that it proposes was "
        f"run as it is printed, on the same pair. The right name then: {_share(records)}; {_ASKED} are asked for.",
        "",
        "| seen from | undetermined | command | right name then |",
        "|---|---|---|---|",
    ]
    groups = sorted({(r["ends"], r["command"]) for r in records}, key=lambda g: (g[0] != "both", g))
    for ends, command in groups:
        mine = [r for r in records if (r["ends"], r["command"]) == (ends, command)]
        seen = "both ends" if ends == "both" else f"{ends} alone"
        lines.append(f"| {seen} | {len(mine)} | `{command}` | {_share(mine)} |")
    missed = [r for r in records if not r["right"]]
    lines += ["", f"Not named then: {len(records) - right}."]
    lines += [
        f"- {r['fault']} ({r['load'] or 'load by the seed'}, seed {r['seed']}, {r['ends']}): {r['then']}"
        for r in missed
    ]
    return "\n".join(lines) + "\n"


def _share(records: Sequence[Record]) -> str:
    right = sum(bool(r["right"]) for r in records)
    return (
        f"{right} of {len(records)} ({100 * right / len(records):.1f} %)" if records else "no run"
    )


def main() -> None:
    """Measure from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--rounds", type=int, default=10, help="rounds of one run of every fault (10)"
    )
    parser.add_argument("--first", type=int, default=0, help="the first seed of its range (0)")
    parser.add_argument("--count", action="store_true", help="seeds for counting, not for testing")
    parser.add_argument("--worlds", default="1", help="1: the usual card, 3: random geometries (1)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=OUT, help="file of JSON lines")
    parser.add_argument("--write", action="store_true", help="write docs/campaign-next.md")
    args = parser.parse_args()
    seeds = COUNTING if args.count else TESTING
    worlds = tuple(int(world) for world in args.worlds.split(","))
    jobs = [
        job
        for seed in seeds[args.first : args.first + args.rounds]
        for job in round_of(seed, worlds)
        if job.fault in FAULTS
    ]
    args.out.parent.mkdir(parents=True, exist_ok=True)
    records: list[Record] = []
    os.environ["XDG_STATE_HOME"] = str(args.out.parent.resolve() / "kept")
    with (
        args.out.open("w") as file,
        multiprocessing.get_context("spawn").Pool(args.workers) as pool,
    ):
        for found in pool.imap_unordered(measured, jobs):
            records += found
            file.writelines(json.dumps(record) + "\n" for record in found)
    text = text_of(records, len(jobs))
    print(text)
    if args.write:
        NEXT_PAGE.write_text(text)


if __name__ == "__main__":
    main()
