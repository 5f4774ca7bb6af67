"""What `test_pci_guest` has the guest do: ``python -m tests.capture.targets.in_guest URL FOLDER``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from freezeframe.capture.targets.pci import open_pci
from tests.gui.cli import run_inside


def main(url: str, folder: Path) -> None:
    """Run verbs on the card, and write what they said."""
    found: dict[str, Any] = {"mapped": [mapping(url)]}
    verbs = (
        ("status", url, "--json"),
        ("pull", url, "-o", str(folder / "bar.ff")),
        ("arm", url),
        ("arm", url),
    )
    for words in verbs:
        done = run_inside(*words)
        found.setdefault("said", []).append([words[0], done.code, done.out, done.err])
    (folder / "answers.json").write_text(json.dumps(found))


def mapping(url: str) -> str:
    """Return how the kernel says that the BAR is mapped into a process that has read a word of it."""
    target = open_pci(url)
    target.read([0])
    rows = [row.split() for row in Path("/proc/self/maps").read_text().splitlines()]
    target.close()
    return " ".join(row[1] for row in rows if row[-1].endswith("/resource2"))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
