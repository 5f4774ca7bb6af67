"""No room knows what the example card calls its parts: that stands in its card file alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from freezeframe.capture.card.map_1 import card_of_map

ROOT = Path(__file__).parents[2]
ROOMS = ("capture", "decoders", "analyzers", "gui")

CARD = card_of_map().card
NAMES = {
    *(tap.name for tap in CARD.taps),
    *CARD.said.cause,
    *(cause.name for cause in CARD.causes),
    *(name for name, _ in CARD.counters),
}
# Words of the trade that the card uses as names, too.
GENERIC = {
    "host", "trigger", "length", "sequence", "cross", "drops", "descriptors", "notifications", "interrupts",
}  # fmt: skip
MAY = {
    "capture/registers/layouts.py": "generated from the map's own source",
    "decoders/bus/pci_rows.py": "parity errors of a PCI bus",
    "decoders/bus/pci_tables.py": "parity errors of a PCI bus",
    "decoders/bus/pcix_tables.py": "parity errors of a PCI-X bus",
    "analyzers/credits/tables.py": "columns of its own table",
    "gui/cli/work/reproduction_forth.py": "measures what a paper says of this very card",
    "gui/cli/work/reproduction_forth_curves.py": "runs the emulated pair of this very card, as reproduction_forth.py",
    "gui/cli/work/what_if_card.py": "runs the emulated pair of this very card until enough packets are sent",
}


def _strings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and text of every string of a file that is no docstring."""
    tree = ast.parse(path.read_text("utf-8"))
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.lineno, node.value


def _named(text: str) -> set[str]:
    return set(re.findall(r"[a-z][a-z0-9_-]*", text)) & (NAMES - GENERIC)


def test_no_tap_counter_or_cause_of_the_example_card_stands_in_the_code() -> None:
    found: dict[str, list[str]] = {}
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            hits = [f"{line}: {', '.join(_named(t))}" for line, t in _strings(path) if _named(t)]
            if hits:
                found[str(path.relative_to(ROOT))] = hits
    assert {place: hits for place, hits in found.items() if place not in MAY} == {}
    assert found.keys() == MAY.keys(), "an exception that is none any more is taken out"
