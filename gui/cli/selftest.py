"""``freezeframe selftest``: up the ladder of a card's bring-up, to the first stage that fails."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from freezeframe.gui.cli.errors import EXIT_FINDINGS
from freezeframe.gui.cli.options import JsonOption, LogOption, TargetArgument
from freezeframe.gui.cli.output import emit_json, printable
from freezeframe.gui.cli.session import open_session

if TYPE_CHECKING:
    from freezeframe.analyzers.bringup.ladder import StageResult

__all__ = ["run"]

DiscardOption = Annotated[
    bool, typer.Option("--discard", help="Run although a card holds a recording; it is lost.")
]


def run(
    target: TargetArgument,
    discard: DiscardOption = False,
    json: JsonOption = False,
    log_accesses: LogOption = None,
) -> None:
    """Test a card from its registers up to the link, and stop at the first stage that fails.

    Four stages: the target interface; host DMA with a pattern compare; loop-back; the pair. The
    cards go on with their own traffic meanwhile, send pattern packets beside it, and are looped
    back for one stage; all that is put back, and they are armed at the end. A card that is frozen
    is refused, for its recording would be lost. The exit code is 1 when a stage failed.

    \b
    Examples:
      freezeframe selftest etherbone://192.0.2.7
      freezeframe selftest emu:?fault=word-omitted --discard
    """
    from freezeframe.analyzers.bringup.ladder import climb

    def show(stage: str, line: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\x1b[K{stage}: {printable(line)}"[:100], end="", file=sys.stderr, flush=True)

    with open_session(target, log_accesses) as devices:
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
    if failed:
        raise typer.Exit(EXIT_FINDINGS)


def _lines(number: int, result: StageResult) -> str:
    import textwrap

    lines = [f"{number} {result.stage:<10} {result.outcome:<8} {result.doc}"]
    lines += [f"    {printable(line)}" for line in result.held]
    if result.seen:
        lead = "FAILED: " if result.outcome == "failed" else ""
        lines += textwrap.wrap(
            lead + printable(result.seen), 100, initial_indent="    ", subsequent_indent="      "
        )
    return "\n".join(lines)
