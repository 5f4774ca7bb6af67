"""A standing adversary: every parser and server fed with broken input, resumed where it stopped.

Half of the inputs are bytes changed, cut, spliced; the other half keep the structure that a checker would ask for:
archives with right checksums, manifests with right digests, frames with right CRCs, texts whose words stand in other
places. Each parser runs in a process of its own, so that one that dies is a finding too. ``make harden``; state and
corpus stay in ``out/harden``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from threading import Event
from typing import Any

from freezeframe.decoders.srd.process import TIMEOUT_VARIABLE
from tests.campaign.harden_attack import LENGTH_B, NOW, Tally, attack
from tests.campaign.harden_page import page
from tests.campaign.harden_parsers import PARSERS

STATE = Path("out/harden")
HUNG_S = 600.0  # without an answer, on a machine that others use, too
_ENDING, _ENDED = (signal.SIGTERM, signal.SIGINT), 130
_STACK_S = 5
_FAST = 6  # parsers that share what is left to ten million
EACH, EACH_S, ALL = (
    200_000,
    3600.0,
    10_000_000,
)  # executions of a parser, or seconds of the processor; of all


def one(name: str, executions: int, seed: int, place: Path, cpu_s: float) -> None:
    """Attack one parser and print its tally as JSON: the process of `run`."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # A stack of sigrok's that loops for its whole minute is one execution all the same.
    os.environ.setdefault(TIMEOUT_VARIABLE, str(_STACK_S))
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(
        prefix="harden-", dir=memory if memory.is_dir() else None
    ) as scratch:
        tempfile.tempdir = scratch  # what a parser writes for itself is written to memory
        ended = Event()
        for number in _ENDING:
            signal.signal(number, lambda *_: ended.set())
        parser = PARSERS[name]
        print(
            json.dumps(asdict(attack(parser, executions, seed, place, cpu_s, HUNG_S, ended.is_set)))
        )


def known(place: Path, names: Sequence[str]) -> dict[str, Tally]:
    """Return the tallies of parsers so far."""
    state = _state(place)
    return {name: Tally(**state[name]["tally"]) if name in state else Tally() for name in names}


def _state(place: Path) -> dict[str, Any]:
    file = place / "state.json"
    return dict(json.loads(file.read_text())) if file.exists() else {}


def run(names: Sequence[str], place: Path, cpu_s: float, executions: int = 1 << 40) -> None:
    """Attack parsers, each in a process of its own, with inputs that no run before had.

    Who ends it (Ctrl-C, SIGTERM) ends it behind the present input; what was done so far counts.
    """
    ended = Event()
    place.mkdir(parents=True, exist_ok=True)
    for name in names:
        state = _state(place)
        before = state.get(name, {"runs": 0, "tally": asdict(Tally())})
        command = [sys.executable, "-m", "tests.campaign.harden", "--one", name]
        command += ["--executions", str(executions), "--seconds", str(cpu_s)]
        command += ["--seed", str(before["runs"]), "--place", str(place)]
        child = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

        def end(*_: object, child: subprocess.Popen[str] = child) -> None:
            ended.set()
            child.terminate()

        for number in _ENDING:
            signal.signal(number, end)
        output, said = child.communicate()
        process = subprocess.CompletedProcess(command, child.returncode, output, said)
        if ended.is_set() and process.returncode == -signal.SIGTERM:
            sys.exit(_ENDED)  # before it had begun
        if process.returncode:
            done = Tally(crashed=1, crashes=[_death(process, place / name, before["runs"])])
        else:
            done = Tally(**json.loads(process.stdout.splitlines()[-1]))
        total = Tally(**before["tally"]) + done
        state[name] = {"runs": before["runs"] + 1, "tally": asdict(total)}
        written = place / "state.new"
        written.write_text(json.dumps(state, indent=1))
        written.replace(place / "state.json")
        print(f"{name}: {done.executions:,} executions in {done.cpu_s:.0f} s of the processor, {total.executions:,} "
              f"in all", *done.crashes, sep="\n  ", file=sys.stderr, flush=True)  # fmt: skip
        if ended.is_set():
            sys.exit(_ENDED)


def _death(process: subprocess.CompletedProcess[str], folder: Path, runs: int) -> str:
    """Return how a process ended; keep the input of which it did."""
    hung = process.returncode == -signal.SIGALRM
    how = f"no answer in {HUNG_S:g} s" if hung else f"the process ended with {process.returncode}"
    now = folder / NOW
    if now.exists():
        raw = now.read_bytes()
        size_B = int.from_bytes(raw[:LENGTH_B], "little")
        (folder / f"death-{runs}").write_bytes(raw[LENGTH_B : LENGTH_B + size_B])
        now.unlink()
    return f"death-{runs}: {how}: {process.stderr.strip()[-300:]}"


def asked_for(place: Path, names: Sequence[str], cpu_s: float) -> None:
    """Attack until each parser had what is asked for: the nearest first; where all are named, all together."""
    together = ALL if set(names) == set(PARSERS) else 0
    while (name := next_of(tallies := known(place, names), together)) is not None:
        missing = EACH - tallies[name].executions
        run([name], place, cpu_s, missing if missing > 0 else 1 << 40)


def next_of(tallies: Mapping[str, Tally], together: int = ALL) -> str | None:
    """Return who is next: who has had nothing yet, then who needs least for what is asked; None where all is done."""
    needs_s = {}
    for name, tally in tallies.items():
        if not tally.executions:
            return name
        each_s = tally.cpu_s / tally.executions
        missing_s = min((EACH - tally.executions) * each_s, EACH_S - tally.cpu_s)
        if missing_s > 0:
            needs_s[name] = missing_s
    all_together = together - sum(tally.executions for tally in tallies.values())
    if all_together > 0:
        fast = sorted(tallies, key=lambda name: tallies[name].cpu_s / tallies[name].executions)
        least = min(fast[:_FAST], key=lambda name: tallies[name].executions)
        each_s = tallies[least].cpu_s / tallies[least].executions
        needs_s.setdefault(least, all_together * each_s)
    return min(needs_s, key=lambda name: needs_s[name]) if needs_s else None


def main() -> int:
    """Attack all parsers, or those that are named, and print a table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("names", nargs="*", help="parsers; all by default")
    arguments.add_argument(
        "--seconds", type=float, default=40.0, help="of the processor, for each parser"
    )
    arguments.add_argument(
        "--executions", type=int, default=1 << 40, help="of each parser, at most"
    )
    arguments.add_argument(
        "--asked", action="store_true", help="in turns until all have what is asked for"
    )
    arguments.add_argument("--table", action="store_true", help="attack nothing, print the table")
    arguments.add_argument("--place", type=Path, default=STATE)
    arguments.add_argument("--write", action="store_true", help="the table of docs/reliability.md")
    arguments.add_argument("--one", default=None)
    arguments.add_argument("--seed", type=int, default=0)
    asked = arguments.parse_args()
    if asked.one:
        one(asked.one, asked.executions, asked.seed, asked.place, asked.seconds)
        return 0
    names = asked.names or list(PARSERS)
    if asked.asked:
        asked_for(asked.place, names, asked.seconds)
    elif not asked.table:
        run(names, asked.place, asked.seconds, asked.executions)
    return page(names, known(asked.place, names), asked.place, asked.write)


def short(executions: int) -> dict[str, Tally]:
    """Run the short form of the tests: in a place of its own, so that it is the same each time."""
    with tempfile.TemporaryDirectory() as made:
        return {
            name: attack(parser, max(3, executions // parser.cost), 0, Path(made))
            for name, parser in PARSERS.items()
            if not parser.heavy
        }


if __name__ == "__main__":
    sys.exit(main())
