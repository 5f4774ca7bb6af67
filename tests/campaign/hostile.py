"""Files that lie, read by the program with 512 MiB of memory: each ends in one line, at once where nothing is unpacked.

``make hostile`` makes them, reads each in a process of its own, and writes the table of docs/reliability.md.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numba
import pyarrow.csv

import freezeframe.capture.files.fst
import freezeframe.capture.files.vcd
import freezeframe.capture.packets.scan_kernels
import freezeframe.decoders.net.packets
import freezeframe.decoders.serial.uart_kernels
import freezeframe.gui.cli.work.decode
import freezeframe.gui.cli.work.explain
import freezeframe.gui.cli.work.propose
import freezeframe.gui.cli.work.recording
from freezeframe.gui.cli.main import main as program
from tests.campaign.hostile_files import CASES
from tests.campaign.hostile_makers import Case

MEMORY_B = 512 << 20
AT_ONCE_S = 2.0  # of the processor, for what is refused before anything is unpacked
LONGEST_S = 600  # by the clock, on a machine that may be busy
# What the program loads, loaded once: a process that is forked from here has it.
LOADED = (numba, pyarrow.csv, freezeframe)
PAGE = Path(__file__).parents[2] / "docs/reliability.md"
MARK = "<!-- hostile files -->"


@dataclass(frozen=True, slots=True)
class Answer:
    """How the program ended: seconds of the processor, the most memory it had, the 0.2 GB of its code included."""

    code: int
    out: str
    err: str
    cpu_s: float
    most_MB: int


def read(case: Case, folder: Path) -> Answer:
    """Make a file and let the program read it."""
    path = folder / case.file
    maker = os.fork()  # so that this process stays small, whatever the file took to make
    if not maker:
        case.make(path)
        os._exit(0)
    if os.waitpid(maker, 0)[1]:
        raise RuntimeError(f"{case.name}: the file was not made")
    return _run(lambda: program([case.verb[0], str(path), *case.verb[1:]]))


def hungry() -> Answer:
    """Ask for more memory than there is: what the limit does."""
    return _run(lambda: print(len(bytearray(MEMORY_B))))


def _run(work: Callable[[], object]) -> Answer:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if not child:
            code = 99
            try:
                resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_B, MEMORY_B))
                signal.alarm(LONGEST_S)
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                work()
                code = 0
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 0
            except BaseException as error:
                os.write(2, repr(error).encode())
            sys.stdout.flush()
            os._exit(code)
        _, status, used = os.wait4(child, 0)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read(1 << 20).decode("utf-8", "replace"))
    return Answer(
        os.waitstatus_to_exitcode(status),
        texts[0],
        texts[1],
        used.ru_utime + used.ru_stime,
        used.ru_maxrss >> 10,
    )


def wrong(case: Case, answer: Answer) -> str:
    """Return what is wrong with an answer; "" where nothing is."""
    if answer.code not in case.codes:
        return f"exit code {answer.code}: {answer.err[-300:]}"
    said = answer.err if answer.code == 2 else answer.err + answer.out
    if case.says not in said:
        return f"does not say {case.says!r}: {said[:300]!r}"
    if answer.code == 2 and answer.err.count("freezeframe: ") != 1:
        return f"not one line: {answer.err[:300]!r}"
    if "Traceback" in answer.err:
        return answer.err[-300:]
    if case.at_once and answer.code == 2 and answer.cpu_s > AT_ONCE_S:
        return f"took {answer.cpu_s:.1f} s"
    return ""


def run(cases: Sequence[Case], told: Callable[[str], object]) -> list[tuple[Case, Answer]]:
    """Read all files; ``told`` hears a line about each."""
    answers = []
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            answer = read(case, Path(folder))
        answers.append((case, answer))
        told(
            f"{case.file:14}{case.name[:60]:62}{answer.code:4}{answer.cpu_s:7.2f} s{answer.most_MB:6} MB  "
            f"{wrong(case, answer) or answer.err.strip().partition(': ')[2][:80]}"
        )
    return answers


def table(answers: Sequence[tuple[Case, Answer]]) -> str:
    """Return the table of the page: by kind of file, how many, how they ended, the most time and memory."""
    lines = [
        "| file | lies | refused in one line | read within bounds | most CPU s | most MB |",
        "|---|---|---|---|---|---|",
    ]
    kinds = dict.fromkeys(case.file.partition(".")[2] or case.file for case, _ in answers)
    for kind in kinds:
        mine = [(c, a) for c, a in answers if (c.file.partition(".")[2] or c.file) == kind]
        refused = sum(a.code == 2 for _, a in mine)
        lines.append(
            f"| .{kind} | {'; '.join(c.name for c, _ in mine)} | {refused} | {len(mine) - refused} "
            f"| {max(a.cpu_s for _, a in mine):.1f} | {max(a.most_MB for _, a in mine)} |"
        )
    return "\n".join(lines)


def main() -> int:
    """Read all files, or those whose name holds a word; print lines, JSON, or write the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("word", nargs="?", default="")
    arguments.add_argument("--at-once", action="store_true", help="none that is unpacked first")
    arguments.add_argument("--json", action="store_true")
    arguments.add_argument("--write", action="store_true")
    asked = arguments.parse_args()
    cases = [case for case in CASES if asked.word in f"{case.file} {case.name}"]
    cases = [case for case in cases if case.at_once or not asked.at_once]
    answers = run(cases, (lambda line: None) if asked.json else partial(print, flush=True))
    if asked.json:
        lines = [[f"{case.file} {case.name}", wrong(case, a), asdict(a)] for case, a in answers]
        print(json.dumps([*lines, ["hungry", "", asdict(hungry())]]))
    bad = sum(bool(wrong(case, answer)) for case, answer in answers)
    if asked.write:
        begin, _, rest = PAGE.read_text().partition(f"{MARK}\n")
        _, _, end = rest.partition(f"{MARK}\n")
        PAGE.write_text(f"{begin}{MARK}\n\n{table(answers)}\n\n{MARK}\n{end}")
    if not asked.json:
        print(f"{len(answers)} files, {bad} of them not as they should be")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
