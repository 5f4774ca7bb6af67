"""``freezeframe analyze``: named analyses of a capture: figures, series, intervals, tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from freezeframe.gui.cli.errors import EXIT_FINDINGS
from freezeframe.gui.cli.options import ForceOption, JsonOption
from freezeframe.gui.cli.output import emit_json, printable

if TYPE_CHECKING:
    from freezeframe.analyzers.analysis import AnalysisResult
    from freezeframe.analyzers.contract import Analysis
    from freezeframe.analyzers.registry import AnalysisRegistry
    from freezeframe.capture.folder import CaptureFolder

__all__ = ["run"]

_ALL = "all"

CaptureOption = Annotated[
    Path | None,
    typer.Argument(metavar="[CAPTURE.ff]", help="Capture folder.", show_default=False),
]
NamesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME]...",
        help="Analyses; 'all' for every one; without a name they are listed.",
        show_default=False,
    ),
]
DeviceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--device", metavar="NAME", help="Use this device's recording only.", show_default=False
    ),
]
TablesOption = Annotated[
    Path | None,
    typer.Option(
        "--tables",
        metavar="DIR",
        help="Write the tables there, a file each: ANALYSIS.TABLE.parquet.",
        show_default=False,
    ),
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
    device: DeviceOption = None,
    tables: TablesOption = None,
    tables_format: FormatOption = "parquet",
    force: ForceOption = False,
    fail_on_findings: FailOption = False,
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
    from freezeframe.analyzers.registry import load_analyses

    registry = load_analyses()
    if capture is None or not names:
        if capture is not None:
            _open(capture)  # a mistyped path is an error also where nothing is to be run yet
        _list(registry, json)
        return
    analyses = _chosen(registry, names)
    results = _results(capture, analyses, device)
    if tables is not None:
        from freezeframe.gui.cli.analysis_tables import write_tables

        written = write_tables(results, tables, capture, tables_format, force=force)
    else:
        written = []
    if json:
        emit_json(
            {
                "capture": str(capture),
                "analyses": [result.to_json() for result in results],
                "tables": [str(path) for path in written],
            }
        )
    else:
        from freezeframe.gui.cli.analysis_text import analysis_text

        print(
            "\n\n".join(analysis_text(a.title, r) for a, r in zip(analyses, results, strict=True))
        )
        for path in written:
            print(f"{printable(str(path))}: {path.stat().st_size:,} B")
    if fail_on_findings and any(result.findings for result in results):
        raise typer.Exit(EXIT_FINDINGS)


def _list(registry: AnalysisRegistry, json: bool) -> None:
    found = [registry.analyses[name] for name in sorted(registry.analyses)]
    if json:
        emit_json(
            {
                "analyses": [{"name": a.id, "title": a.title, "summary": a.summary} for a in found],
                "broken": dict(registry.broken),
            }
        )
        return
    width = max((len(a.id) for a in found), default=0)
    for analysis in found:
        print(f"{analysis.id:<{width}}  {printable(analysis.summary)}")
    for name, why in registry.broken.items():
        print(f"{printable(name)} does not load: {printable(why)}")
    print("\nRun some of them, or all: freezeframe analyze CAPTURE.ff NAME...")


def _chosen(registry: AnalysisRegistry, names: list[str]) -> list[Analysis]:
    """Return the analyses that were named, each once, in the order given."""
    wanted: list[str] = []
    for name in names:
        wanted += sorted(registry.analyses) if name == _ALL else [name]
    return [registry.find(name) for name in dict.fromkeys(wanted)]


def _results(
    capture: Path, analyses: list[Analysis], device: list[str] | None
) -> list[AnalysisResult]:
    """Run the analyses on one decoding of the capture."""
    from freezeframe.analyzers.view import CaptureView

    folder = _open(capture)
    known = [d.name for d in folder.devices]
    for name in device or []:
        if name not in known:
            from freezeframe.capture.errors import InputError

            raise InputError(f"{capture}: no device {name!r}; the capture holds {', '.join(known)}")
    view = CaptureView(folder, device or None)
    return [analysis.run(view) for analysis in analyses]


def _open(capture: Path) -> CaptureFolder:
    from freezeframe.capture.folder import CaptureFolder

    return CaptureFolder.open(capture)
