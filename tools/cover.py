"""Print the coverage of each room, and of its kernels, from the JSON that coverage writes."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path


def main() -> None:
    files = json.loads(Path(sys.argv[1]).read_text("utf-8"))["files"]
    lines: Counter[str] = Counter()
    covered: Counter[str] = Counter()
    for name, file in files.items():
        room, summary = name.partition("/")[0], file["summary"]
        for group in [room, "all"] + ["of these: kernels"] * ("kernels" in Path(name).stem):
            lines[group] += summary["num_statements"] + summary["num_branches"]
            covered[group] += summary["covered_lines"] + summary["covered_branches"]
    print(f"{'room':20}{'statements and branches':>24}{'covered':>9}")
    order = sorted(set(lines) - {"all", "of these: kernels"})
    for group in [*order, "all", "of these: kernels"]:
        if lines[group]:
            print(f"{group:20}{lines[group]:24}{covered[group] / lines[group]:9.1%}")


main()
