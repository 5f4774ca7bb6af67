"""Counts how often each name was right with each pattern of witnesses: the data behind every printed confidence.

Answers come from files of `tests.campaign.open_world.run --count`, one JSON line each, of seeds for counting alone.
``python -m tests.campaign.count FILE.jsonl ...`` writes ``analyzers/witness/counts.json``; with ``--more`` what is
there is added to, for patterns that came up since: their seeds have to be others.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from freezeframe.analyzers.witness.gate import COUNTS, Count
from tests.campaign.judge import OPEN
from tests.campaign.open_world.run import COUNTING


def counted(answers: Iterable[dict[str, Any]]) -> dict[str, Count]:
    """Return the counts by name and pattern; an answer that names nothing is not counted.

    Raises:
        ValueError: an answer is of a seed that is for testing.
    """
    right: dict[str, int] = {}
    of: dict[str, int] = {}
    for answer in answers:
        if not answer.get("pattern") or answer.get("right") is None or answer["name"] in OPEN:
            continue
        if answer["seed"] not in COUNTING:
            raise ValueError(
                f"seed {answer['seed']} is for testing; count with those below {COUNTING.stop:,}"
            )
        key = f"{answer['name']}: {answer['pattern']}"
        # A right name at a wrong place is not right.
        good = bool(answer["right"]) and answer.get("placed") is not False
        right[key] = right.get(key, 0) + good
        of[key] = of.get(key, 0) + 1
    return {key: Count(right[key], of[key]) for key in sorted(of)}


def _answers(paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
    for path in paths:
        with path.open() as lines:
            yield from map(json.loads, lines)


def main() -> None:
    """Count from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--more", action="store_true", help="add to the counts that are there")
    args = parser.parse_args()
    counts = counted(_answers(args.files))
    before: dict[str, Any] = {"commit": "", "counts": {}}
    if args.more:
        before = json.loads(COUNTS.read_text())
    for key, (right, of) in before["counts"].items():
        mine = counts.get(key, Count(0, 0))
        counts[key] = Count(mine.right + right, mine.of + of)
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()
    said = {
        "commit": " ".join(filter(None, (before["commit"], commit))),
        "counts": {key: [count.right, count.of] for key, count in sorted(counts.items())},
    }
    COUNTS.write_text(json.dumps(said, indent=1) + "\n")
    certain = sum(count.certain for count in counts.values())
    print(f"{len(counts)} patterns, {certain} of them certain; written to {COUNTS}")


if __name__ == "__main__":
    main()
