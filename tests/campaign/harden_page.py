"""What ``make harden`` prints: executions, corpus and branch coverage of each parser, and what was found."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.campaign.harden_attack import NOW, Tally, corpus_of
from tests.campaign.harden_parsers import PARSERS

PAGE = Path(__file__).parents[2] / "docs/reliability.md"
MARK = "<!-- broken input -->"
_HEAD = (
    "| parser | executions | structure-aware | refused | compared | CPU s | corpus | branches | slow | crashes | left "
    "| most MB |",
    "|---|---|---|---|---|---|---|---|---|---|---|---|",
)
_COLUMNS, _SUMMED = 12, (1, 2, 3, 4, 5, 8, 9, 10)
_MOST_S = 600.0  # for the corpus of a parser, or one input of it


def covered_by(name: str, place: Path) -> str:
    """Return the branch coverage of a parser's own files by its corpus."""
    code = (
        "import coverage, json, os, sys, tempfile\n"
        f"files = {[f'*/{file}' for file in PARSERS[name].files]!r}\n"
        "watched = coverage.Coverage(branch=True, data_file=None, include=files)\n"
        "watched.start()\n"
        "from tests.campaign.harden_attack import corpus_of, fed\n"
        "from tests.campaign.harden_parsers import PARSERS\n"
        "from pathlib import Path\n"
        f"parser = PARSERS[{name!r}]\n"
        f"for data in corpus_of(parser, Path({str(place)!r})):\n"
        "    fed(parser, data)\n"
        "watched.stop()\n"
        "with tempfile.TemporaryDirectory() as made:\n"
        "    watched.json_report(outfile=made + '/report.json')\n"
        "    totals = json.load(open(made + '/report.json'))['totals']\n"
        "print('\\n', totals['covered_branches'], totals['num_branches'])\n"
    )
    said = _run(code)
    if not said:
        return "not measured"
    covered, there = map(int, said[-1].split())
    return f"{covered} of {there} ({100 * covered // max(1, there)} %)"


def still(name: str, place: Path) -> list[str]:
    """Return which of the inputs that crashed a parser, or held it up, still do."""
    kept = sorted(
        path for path in (place / name).glob("*-*") if not path.suffix and path.name != NOW
    )
    code = (
        "import sys\n"
        "from tests.campaign.harden_attack import SLOW_S, fed\n"
        "from tests.campaign.harden_parsers import PARSERS\n"
        "from pathlib import Path\n"
        f"parser = PARSERS[{name!r}]\n"
        "for seed in parser.seeds():\n"
        "    fed(parser, seed)\n"
        "data = Path(sys.argv[1]).read_bytes()\n"
        "fed(parser, data)\n"
        "_, crash, took_s = fed(parser, data)\n"
        "print('\\n', ascii(crash) if crash else 'slow' if took_s > SLOW_S else 'well')\n"
    )
    found = [(path.name, _run(code, str(path))) for path in kept]
    return [
        f"{name}/{file}: {said[-1] if said else 'no answer'}"
        for file, said in found
        if said[-1:] != ["well"]
    ]


def _run(code: str, *arguments: str) -> list[str]:
    """Return the lines that a program prints; none where it died or stood still."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False,
            timeout=_MOST_S, env=os.environ,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return []
    return (
        [line.strip() for line in done.stdout.splitlines() if line.strip()]
        if not done.returncode
        else []
    )


def page(names: Sequence[str], tallies: Mapping[str, Tally], place: Path, write: bool) -> int:
    """Print the table, and what still crashes; return 1 where something does."""
    covered = {name: covered_by(name, place) for name in names}
    left = {name: still(name, place) for name in names}
    text = table(tallies, covered, left, place)
    print(text)
    if write:
        begin, _, rest = PAGE.read_text().partition(f"{MARK}\n")
        before, _, end = rest.partition(f"{MARK}\n")
        PAGE.write_text(f"{begin}{MARK}\n\n{merged(before, text)}\n\n{MARK}\n{end}")
    for lines in left.values():
        for line in lines:
            print(line)
    return 1 if any(left.values()) else 0


def table(
    tallies: Mapping[str, Tally],
    covered: Mapping[str, str],
    left: Mapping[str, Sequence[str]],
    place: Path,
) -> str:
    """Return what was done to each parser in all runs, and the sums."""
    lines = list(_HEAD)
    for name, tally in tallies.items():
        corpus, crashes = len(corpus_of(PARSERS[name], place)), len(tally.crashes)
        lines.append(
            f"| {name} | {tally.executions:,} | {tally.structured:,} | {tally.refused:,} "
            f"| {tally.compared:,} | {tally.cpu_s:,.0f} "
            f"| {corpus} | {covered[name]} | {tally.slow} | {crashes} | {len(left[name])} | {tally.most_MB} |"
        )
    return "\n".join([*lines, _sums(lines[2:])])


def merged(page: str, text: str) -> str:
    """Return a table in which the parsers of a run have its rows, the others those of the page; the sums anew."""
    rows = {}
    for line in (*page.splitlines(), *text.splitlines()):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] in PARSERS and len(cells) == _COLUMNS:
            rows[cells[0]] = line
    ordered = [rows[name] for name in PARSERS if name in rows]
    return "\n".join([*_HEAD, *ordered, _sums(ordered)])


def _sums(rows: Sequence[str]) -> str:
    """Return the last row: the sums of what can be added up."""
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    sums = [sum(int(row[at].replace(",", "")) for row in cells) for at in _SUMMED]
    done = "| all | {:,} | {:,} | {:,} | {:,} | {:,} | | | {} | {} | {} | |"
    return done.format(*sums)
