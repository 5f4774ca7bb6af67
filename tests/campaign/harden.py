"""A standing adversary: every parser and server fed with broken input, resumed where it stopped.

Half of the inputs are bytes changed, cut, spliced; the other half keep the structure that a checker would ask for:
archives with right checksums, manifests with right digests, frames with right CRCs, texts whose words stand in other
places. An input that makes a parser answer in a way not seen before joins its corpus. Each parser runs in a process of
its own, so that one that dies is a finding too. ``make harden``; state and corpus stay in ``out/harden``.
"""

from __future__ import annotations

import argparse
import json
import mmap
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from tests.campaign.harden_parsers import ALLOWED, PARSERS, Parser

STATE = Path("out/harden")
PAGE = Path(__file__).parents[2] / "docs/reliability.md"
MARK = "<!-- broken input -->"
MOST_B = 1 << 16
SLOW_S = 1.0  # of the processor, for an input of at most 64 KiB
NOW, _LENGTH_B = "now", 8  # the file that holds the present input behind its length
_MOST_CORPUS = 400
_DIGITS = re.compile(r"0x[0-9a-fA-F]+|\d+|'[^']*'|\"[^\"]*\"")
_NUMBERS = (
    0,
    1,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    (1 << 63) - 1,
    (1 << 64) - 1,
)
_WORDS = (
    b"-1",
    b"0",
    b"1e309",
    b"nan",
    b"99999999999999999999",
    b"-9223372036854775808",
    b"\x00",
    b"\xff\xfe",
    b"\xc3\x28",
    b"\r\n",
    b"'",
    b'"',
    b"=cmd|x!A0",
    b"\x1b[31m",
)


@dataclass(slots=True)
class Tally:
    """What was done to a parser in all runs so far."""

    executions: int = 0
    structured: int = 0
    refused: int = 0
    slow: int = 0
    crashes: list[str] = field(default_factory=list)
    most_MB: int = 0


def mutated(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Return bytes changed in a few places, cut, repeated, or spliced with others."""
    octets = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at = rng.randrange(len(octets) + 1)
        what = rng.randrange(8)
        if what == 0 and octets:
            octets[at % len(octets)] ^= 1 << rng.randrange(8)
        elif what == 1:
            size = rng.choice((1, 2, 4, 8))
            value = rng.choice(_NUMBERS) & ((1 << 8 * size) - 1)
            octets[at : at + size] = value.to_bytes(size, rng.choice(("little", "big")))
        elif what == 2:
            del octets[at : at + rng.choice((1, 2, 16, 256))]
        elif what == 3:
            octets[at:at] = bytes(octets[at : at + rng.choice((1, 8, 64, 512))]) * rng.choice(
                (1, 2, 9)
            )
        elif what == 4:
            octets[at:at] = rng.choice(_WORDS)
        elif what == 5 and other:
            begin = rng.randrange(len(other))
            octets[at:] = other[begin:]
        elif what == 6:
            octets[at:at] = rng.randbytes(rng.randrange(1, 9))
        else:
            numbers = list(re.finditer(rb"\d+", octets[: 1 << 13]))
            if numbers:
                found = rng.choice(numbers)
                octets[found.start() : found.end()] = rng.choice(_WORDS[:6])
    return bytes(octets[:MOST_B])


def signature(outcome: str) -> str:
    """Return what stays the same of an answer when only numbers and names differ."""
    return _DIGITS.sub("#", outcome)[:120]


def attack(parser: Parser, executions: int, seed: int, place: Path) -> Tally:
    """Feed a parser; the present input is kept in ``place``, so that who dies of it leaves it."""
    folder = place / parser.name
    folder.mkdir(parents=True, exist_ok=True)
    corpus = [*parser.seeds(), *(path.read_bytes() for path in sorted(folder.glob("*.in")))]
    seen = {signature(_fed(parser, data)[0]) for data in corpus}
    tally = Tally()
    now = folder / NOW
    with now.open("w+b") as file:
        file.truncate(_LENGTH_B + MOST_B)
        kept_now = mmap.mmap(file.fileno(), 0)
    for number in range(executions):
        rng = random.Random(f"{parser.name}/{seed}/{number}")
        base, other = rng.choice(corpus), rng.choice(corpus)
        structured = parser.structured is not None and rng.random() < 0.5
        if structured and parser.structured is not None:
            data = parser.structured(rng, base, partial(mutated, rng, other=other))[:MOST_B]
        else:
            data = mutated(rng, base, other)
        # By memory that outlives the process: to write a file takes ten times as long as most parsers do.
        kept_now[: _LENGTH_B + len(data)] = len(data).to_bytes(_LENGTH_B, "little") + data
        outcome, crash, took_s = _fed(parser, data)
        tally.executions += 1
        tally.structured += structured
        tally.refused += outcome.startswith("refused")
        if crash or took_s > SLOW_S:
            kept = folder / f"{'crash' if crash else 'slow'}-{seed}-{number}"
            kept.write_bytes(data)
            tally.slow += not crash
            if crash:
                tally.crashes.append(f"{kept.name}: {crash}")
        if signature(outcome) not in seen and len(corpus) < _MOST_CORPUS:
            seen.add(signature(outcome))
            corpus.append(data)
            (folder / f"{seed}-{number}.in").write_bytes(data)
    kept_now.close()
    now.unlink(missing_ok=True)
    tally.most_MB = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    return tally


def _fed(parser: Parser, data: bytes) -> tuple[str, str, float]:
    """Return what a parser answers, how it crashed, and the seconds of the processor it took."""
    begun_s = time.process_time()
    try:
        outcome, crash = f"read {parser.run(data)}", ""
    except ALLOWED as error:
        outcome, crash = f"refused {error}", ""
        if any("\n" in line for line in getattr(error, "lines", (str(error),))):
            crash = f"a refusal in several lines: {str(error)[:80]!r}"
    except Exception as error:  # what is looked for
        last = traceback.extract_tb(error.__traceback__)[-1]
        outcome = crash = (
            f"{type(error).__name__}: {str(error)[:100]} at {Path(last.filename).name}:{last.lineno}"
        )
    return outcome, crash, time.process_time() - begun_s


def one(name: str, executions: int, seed: int, place: Path) -> None:
    """Attack one parser and print its tally as JSON: the process of `run`."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print(json.dumps(asdict(attack(PARSERS[name], executions, seed, place))))


def run(names: Sequence[str], executions: int, place: Path) -> dict[str, Tally]:
    """Attack parsers, each in a process of its own, with inputs that no run before had."""
    place.mkdir(parents=True, exist_ok=True)
    state_file = place / "state.json"
    state = json.loads(state_file.read_text()) if state_file.exists() else {}
    done = {}
    for name in names:
        known = state.get(name, {"runs": 0, "tally": asdict(Tally())})
        parser = PARSERS[name]
        count = max(1, executions // parser.cost)
        command = [
            sys.executable,
            "-m",
            "tests.campaign.harden",
            "--one",
            name,
            "--executions",
            str(count),
        ]
        command += ["--seed", str(known["runs"]), "--place", str(place)]
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        before = Tally(**known["tally"])
        if process.returncode:
            died = Tally(
                crashes=[
                    f"the process ended with {process.returncode}: {process.stderr.strip()[-300:]}"
                ]
            )
            now = place / name / NOW
            if now.exists():
                raw = now.read_bytes()
                size_B = int.from_bytes(raw[:_LENGTH_B], "little")
                death = place / name / f"death-{known['runs']}"
                death.write_bytes(raw[_LENGTH_B : _LENGTH_B + size_B])
                now.unlink()
        else:
            died = Tally(**json.loads(process.stdout.splitlines()[-1]))
        total = Tally(
            before.executions + died.executions, before.structured + died.structured, before.refused + died.refused,
            before.slow + died.slow, before.crashes + died.crashes, max(before.most_MB, died.most_MB),
        )  # fmt: skip
        state[name] = {"runs": known["runs"] + 1, "tally": asdict(total)}
        state_file.write_text(json.dumps(state, indent=1))
        done[name] = total
    return done


def coverage_of(names: Sequence[str], place: Path) -> dict[str, str]:
    """Return the branch coverage of each parser's own files by its corpus."""
    found = {}
    for name in names:
        code = (
            "import coverage, sys\n"
            f"files = {[f'*/{file}' for file in PARSERS[name].files]!r}\n"
            "watched = coverage.Coverage(branch=True, data_file=None, include=files)\n"
            "watched.start()\n"
            "from pathlib import Path\n"
            "from tests.campaign.harden import _fed\n"
            "from tests.campaign.harden_parsers import PARSERS\n"
            f"parser = PARSERS[{name!r}]\n"
            f"for data in [*parser.seeds(), *(p.read_bytes() for p in Path({str(place / name)!r}).glob('*.in'))]:\n"
            "    _fed(parser, data)\n"
            "watched.stop()\n"
            "import io\n"
            "print(round(watched.report(file=io.StringIO())))\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        found[name] = f"{done.stdout.split()[-1]} %" if done.stdout.split() else "not measured"
    return found


def table(tallies: Mapping[str, Tally], covered: Mapping[str, str], place: Path) -> str:
    """Return what was done to each parser in all runs, and the sums."""
    lines = [
        "| parser | executions | structure-aware | refused | corpus | branches | slow | crashes | most MB |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, tally in tallies.items():
        corpus = len(list((place / name).glob("*.in"))) + len(PARSERS[name].seeds())
        lines.append(
            f"| {name} | {tally.executions:,} | {tally.structured:,} | {tally.refused:,} | {corpus} | {covered[name]} "
            f"| {tally.slow} | {len(tally.crashes)} | {tally.most_MB} |"
        )
    return "\n".join([*lines, _sums(lines[2:])])


def merged(page: str, text: str) -> str:
    """Return a table in which the parsers of a run have its rows, the others those of the page; the sums anew."""
    head, rows = text.splitlines()[:2], {}
    for line in (*page.splitlines(), *text.splitlines()):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] in PARSERS:
            rows[cells[0]] = line
    ordered = [rows[name] for name in PARSERS if name in rows]
    return "\n".join([*head, *ordered, _sums(ordered)])


def _sums(rows: Sequence[str]) -> str:
    """Return the last row: the sums of executions, structured, refused, slow and crashes."""
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    sums = [sum(int(row[at].replace(",", "")) for row in cells) for at in (1, 2, 3, 6, 7)]
    return f"| all | {sums[0]:,} | {sums[1]:,} | {sums[2]:,} | | | {sums[3]} | {sums[4]} | |"


def main() -> int:
    """Attack all parsers, or those that are named, and print a table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("names", nargs="*", help="parsers; all by default")
    arguments.add_argument(
        "--executions", type=int, default=20_000, help="of each parser that is fast"
    )
    arguments.add_argument("--place", type=Path, default=STATE)
    arguments.add_argument("--write", action="store_true", help="the table of docs/reliability.md")
    arguments.add_argument("--one", default=None)
    arguments.add_argument("--seed", type=int, default=0)
    asked = arguments.parse_args()
    if asked.one:
        one(asked.one, asked.executions, asked.seed, asked.place)
        return 0
    names = asked.names or list(PARSERS)
    begun_s = time.monotonic()
    tallies = run(names, asked.executions, asked.place)
    covered = coverage_of(names, asked.place)
    text = table(tallies, covered, asked.place)
    print(text)
    if asked.write:
        begin, _, rest = PAGE.read_text().partition(f"{MARK}\n")
        before, _, end = rest.partition(f"{MARK}\n")
        PAGE.write_text(f"{begin}{MARK}\n\n{merged(before, text)}\n\n{MARK}\n{end}")
    crashes = [f"{name}: {crash}" for name, tally in tallies.items() for crash in tally.crashes]
    for crash in crashes:
        print(crash)
    total = sum(tally.executions for tally in tallies.values())
    print(
        f"{total:,} executions of {len(names)} parsers in all runs; this one took {time.monotonic() - begun_s:.0f} s"
    )
    return 1 if crashes else 0


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
