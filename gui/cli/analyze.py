"""``freezeframe analyze``: named analyses of a capture: figures, series, intervals, tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from freezeframe.gui.cli.completing import analyses
from freezeframe.gui.cli.errors import EXIT_FINDINGS
from freezeframe.gui.cli.options import (
    DevicesOption,
    ForceOption,
    JsonOption,
    SalvageOption,
    argument,
    option,
)
from freezeframe.gui.cli.reading import salvaged

CaptureOption = Annotated[Path | None, argument("[CAPTURE.ff]", "Capture folder.")]
NamesArgument = Annotated[
    list[str] | None,
    argument(
        "[NAME]...",
        "Analyses; 'all' for every one; without a name they are listed.",
        autocompletion=analyses,
    ),
]
TablesOption = Annotated[
    Path | None,
    option("--tables", "DIR", "Write the tables there, a file each: ANALYSIS.TABLE.parquet."),
]
FormatOption = Annotated[
    Literal["parquet", "csv"], typer.Option("--tables-format", help="Format of the tables.")
]
FailOption = Annotated[
    bool, typer.Option("--fail-on-findings", help="Exit with 1 when an analysis has a finding.")
]


def run(
    capture: CaptureOption = None,
    names: NamesArgument = None,
    device: DevicesOption = None,
    tables: TablesOption = None,
    tables_format: FormatOption = "parquet",
    force: ForceOption = False,
    fail_on_findings: FailOption = False,
    salvage: SalvageOption = False,
    json: JsonOption = False,
) -> None:
    """Run analyses on a capture: figures with unit and uncertainty, series, intervals.

    Without a NAME the analyses are listed. What each can and cannot tell stands in
    docs/analyzers.md. With --json everything is printed; --tables writes the tables.

    \b
    Examples:
      freezeframe analyze
      freezeframe analyze fault.ff throughput pressure
      freezeframe analyze fault.ff all --json
      freezeframe analyze fault.ff credits --tables out/ --tables-format csv
    """
    if capture is not None:
        capture = salvaged(capture, salvage)
    from freezeframe.gui.cli.work.analyze import analyze, list_analyses

    if capture is None or not names:
        list_analyses(capture, json=json)
        return
    results = analyze(capture, names, device, tables, tables_format, force=force, json=json)
    if fail_on_findings and any(result.findings for result in results):
        raise typer.Exit(EXIT_FINDINGS)
