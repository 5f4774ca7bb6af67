"""``freezeframe report``: the explanation of a capture as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from freezeframe.gui.cli.options import CaptureArgument, ForceOption
from freezeframe.gui.cli.output import printable

__all__ = ["run"]

OutputOption = Annotated[
    Path, typer.Option("-o", "--output", metavar="FILE", help="HTML file to write.")
]


def run(
    capture: CaptureArgument, output: OutputOption = Path("report.html"), force: ForceOption = False
) -> None:
    """Write the explanation of a capture as one HTML file that needs nothing else.

    It has no script and loads nothing, so it can be mailed, archived and printed.

    \b
    Example:
      freezeframe report fault.ff -o fault.html
    """
    from freezeframe.capture.folder import CaptureFolder

    folder = CaptureFolder.open(capture)

    # These compile and load tables; a mistyped path should not wait for that.
    from freezeframe.analyzers.explain import explain
    from freezeframe.gui.report.write import check_place, write_report

    check_place(output, force)
    write_report(folder, explain(folder), output, force=force)
    print(f"{printable(output)}: {output.stat().st_size:,} B")
