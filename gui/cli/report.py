"""``freezeframe report``: the explanation of a capture as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from freezeframe.gui.cli.options import CaptureArgument, ForceOption, JsonOption
from freezeframe.gui.cli.output import emit_json, printable

__all__ = ["run"]

OutputOption = Annotated[
    Path, typer.Option("-o", "--output", metavar="FILE", help="HTML file to write.")
]
NoAnalysesOption = Annotated[
    bool,
    typer.Option("--no-analyses", help="Leave out throughput, credits, latency and the others."),
]


def run(
    capture: CaptureArgument,
    output: OutputOption = Path("report.html"),
    no_analyses: NoAnalysesOption = False,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Write the explanation of a capture as one HTML file that needs nothing else.

    It loads nothing, so it can be mailed, archived and printed. Where a browser runs its script, the
    drawings zoom and the tables sort and filter; everything is there without it, too. --json prints
    what was written: the file, its size and the analyses in it.

    \b
    Examples:
      freezeframe report fault.ff -o fault.html
      freezeframe report fault.ff -o short.html --no-analyses
    """
    from freezeframe.capture.folder import CaptureFolder

    folder = CaptureFolder.open(capture)

    # These compile and load tables; a mistyped path should not wait for that.
    from freezeframe.analyzers.explain import explain
    from freezeframe.gui.report.analysis_sections import run_all
    from freezeframe.gui.report.write import check_place, write_report

    check_place(output, force)
    explanation = explain(folder)
    ran = [] if no_analyses else run_all(folder, explanation.trace)
    write_report(folder, explanation, output, force=force, analyses=ran)
    size_B = output.stat().st_size
    if json:
        emit_json(
            {
                "report": str(output),
                "bytes": size_B,
                "findings": [finding.diagnosis for finding in explanation.findings],
                "analyses": [one.result.name for one in ran],
            }
        )
    else:
        print(f"{printable(output)}: {size_B:,} B")
