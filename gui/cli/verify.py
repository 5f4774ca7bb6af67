"""``freezeframe verify``: whether captures and recordings are as they were written, and what is damaged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from freezeframe.gui.cli.errors import EXIT_FINDINGS
from freezeframe.gui.cli.options import JsonOption, argument

EvidenceArgument = Annotated[
    list[Path],
    argument(
        "FILE|DIR...",
        "Captures (NAME.ff, NAME.ff.zip), recordings (NAME.ffrec), or folders of them.",
    ),
]


def run(evidence: EvidenceArgument, json: JsonOption = False) -> None:
    """List all damage of captures and recordings: what, where and how much; exit 1 where there is any.

    Every byte is held against the hash of its chunk. Where one bit was flipped it is named. What is
    damaged is left out by --salvage of explain, report, analyze and the other verbs that read a capture.

    \b
    Examples:
      freezeframe verify fault.ff
      freezeframe verify fault.ff.zip
      freezeframe verify night/
      freezeframe verify night/ --json
    """
    from freezeframe.gui.cli.work.verify import verify

    if not verify(evidence, json=json):
        raise typer.Exit(EXIT_FINDINGS)
