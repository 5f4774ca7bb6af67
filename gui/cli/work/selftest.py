"""``freezeframe selftest``: the stages one after the other, and what each found."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

from freezeframe.analyzers.bringup.ladder import StageResult, climb
from freezeframe.gui.cli.output import emit_json
from freezeframe.gui.cli.work.session import open_session
from freezeframe.gui.text import printable


def selftest(target: str, log: Path | None, *, discard: bool, json: bool) -> bool:
    """Test a card and print each stage; return whether none failed.

    Raises:
        RecorderStateError: a card holds a recording that ``discard`` does not give up.
    """

    def show(stage: str, line: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\x1b[K{stage}: {printable(line)}"[:100], end="", file=sys.stderr, flush=True)

    with open_session(target, log) as devices:
        results = climb(devices, show, discard=discard)
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)
    failed = [result for result in results if result.outcome == "failed"]
    if json:
        emit_json(
            {
                "target": target,
                "passed": not failed,
                "stages": [result.to_json() for result in results],
            }
        )
    else:
        print("\n".join(_lines(number, result) for number, result in enumerate(results, 1)))
    return not failed


def _lines(number: int, result: StageResult) -> str:
    lines = [f"{number} {result.stage:<10} {result.outcome:<8} {result.doc}"]
    lines += [f"    {printable(line)}" for line in result.held]
    if result.seen:
        lead = "FAILED: " if result.outcome == "failed" else ""
        lines += textwrap.wrap(
            lead + printable(result.seen), 100, initial_indent="    ", subsequent_indent="      "
        )
    return "\n".join(lines)
