"""docs/open-world-faults.md, made of the table of the faults: ``python -m tests.campaign.open_world.listing``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from freezeframe.emulator.open_world.base import Entry
from freezeframe.emulator.open_world.in_verilog import IN_VERILOG
from freezeframe.emulator.open_world.table import ENTRIES

PAGE = Path(__file__).parents[3] / "docs" / "open-world-faults.md"

_KINDS = {
    "data": "words or packets are damaged, lost, moved or added",
    "stall": "something stops; the truth is who",
    "recorder": "what was recorded is wrong, the card is sound",
    "register": "a register, counter or check is wrong, the words are right",
    "host": "host, driver, notifications, interrupts",
    "none": "nothing follows that a recording could show",
}


def listing() -> str:
    """Return the page."""
    counts = Counter(entry.kind for entry in ENTRIES.values())
    lines = [
        "# Faults of the open world",
        "",
        f"{len(ENTRIES)} faults for which the diagnosis was not made. The emulated pair makes them by these names "
        "(`freezeframe emulate --fault NAME`, `'emu:?fault=NAME&seed=7'`), and "
        "[the open-world campaign](campaign-open.md) counts what is said of them. "
        "The list does not change once a confidence has been counted with it.",
        "",
        "| kind | faults | meaning |",
        "|---|---|---|",
        *(f"| {kind} | {counts[kind]} | {text} |" for kind, text in _KINDS.items()),
        "",
        "An answer is right when its name is one of *fair names*, and wrong when it is any other; `undetermined` is "
        "neither. Fair are general names ([card-explain.md](card-explain.md)) that are true of the mechanism, and "
        "names of the eighteen that a recording cannot tell from it.",
        "",
        f"{len(IN_VERILOG)} are to be had in the example cards in Verilog, too (`freezeframe sim-board --fault NAME`); "
        "[their campaign](campaign-open-rtl.md).",
        "",
        "| fault | layer | kind | mechanism | truth | fair names | in Verilog |",
        "|---|---|---|---|---|---|---|",
        *(_row(entry) for entry in ENTRIES.values()),
    ]
    return "\n".join(lines) + "\n"


def _row(e: Entry) -> str:
    here = "yes" if e.name in IN_VERILOG else ""
    return f"| {e.name} | {e.layer} | {e.kind} | {e.mechanism} | {e.truth} | {', '.join(e.fair)} | {here} |"


if __name__ == "__main__":
    PAGE.write_text(listing())
