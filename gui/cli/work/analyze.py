"""``freezeframe analyze``: analyses run on one decoding of a capture, printed and written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from freezeframe.analyzers.analysis import AnalysisResult
from freezeframe.analyzers.card.view import run_analysis, view_of
from freezeframe.analyzers.contract import Analysis
from freezeframe.analyzers.registry import AnalysisRegistry, load_analyses
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.capture.stand_ins import given
from freezeframe.gui.cli.analysis_text import analysis_text
from freezeframe.gui.cli.output import emit_json
from freezeframe.gui.cli.work.analysis_tables import write_tables
from freezeframe.gui.cli.work.captures import opened_any
from freezeframe.gui.text import printable, shell_path

_ALL = "all"


def analyze(
    capture: Path,
    names: Sequence[str],
    devices: Sequence[str] | None,
    tables: Path | None,
    tables_format: str,
    *,
    force: bool,
    json: bool,
) -> list[AnalysisResult]:
    """Run analyses, print what they give, and write their tables where a folder is named.

    Raises:
        CaptureFormatError, InputError: it is no capture, there is no such device or analysis, or a table
            cannot be written.
    """
    folder = opened_any(capture, devices)
    analyses = _chosen(load_analyses(), names)
    view = view_of(folder, devices)
    results = [run_analysis(analysis, view) for analysis in analyses]
    written = []
    if tables is not None:
        written = write_tables(results, tables, folder.path, tables_format, force=force)
    if json:
        emit_json(
            {
                "capture": str(given(folder.path)),
                "analyses": [result.to_json() for result in results],
                "tables": [str(path) for path in written],
            }
        )
        return results
    print("\n\n".join(analysis_text(a.title, r) for a, r in zip(analyses, results, strict=True)))
    for path in written:
        print(f"{printable(path)}: {path.stat().st_size:,} B")
    return results


def list_analyses(capture: Path | None, *, json: bool) -> None:
    """Print the names of all analyses and what each tells; of a capture, those that can be asked of it.

    Raises:
        CaptureFormatError, InputError: it is no capture.
    """
    of_file = capture is not None and isinstance(opened_any(capture), CardFolder)
    registry = load_analyses()
    analyses = [
        analysis
        for _, analysis in sorted(registry.analyses.items())
        if not of_file or analysis.run_card is not None
    ]
    told = {a.id: a.card_summary if of_file and a.card_summary else a.summary for a in analyses}
    if json:
        emit_json(
            {
                "analyses": [
                    {"name": a.id, "title": a.title, "summary": told[a.id]} for a in analyses
                ],
                "broken": dict(registry.broken),
            }
        )
        return
    width = max(map(len, told), default=0)
    for name, summary in told.items():
        print(f"{name:<{width}}  {printable(summary)}")
    for name, why in registry.broken.items():
        print(f"{printable(name)} does not load: {printable(why)}")
    place = "CAPTURE.ff" if capture is None else shell_path(str(given(capture)))
    print(f"\nRun some of them: freezeframe analyze {place} NAME...")
    print(f"Run all of them:  freezeframe analyze {place} {_ALL}")


def _chosen(registry: AnalysisRegistry, names: Sequence[str]) -> list[Analysis]:
    """Return the analyses that were named, each once, in the order given."""
    wanted: list[str] = []
    for name in names:
        wanted += sorted(registry.analyses) if name == _ALL else [name]
    return [registry.find(name) for name in dict.fromkeys(wanted)]
