"""``freezeframe report``: explanation and analyses of a capture as one HTML file."""

from __future__ import annotations

from pathlib import Path

from freezeframe.analyzers.explain import explain
from freezeframe.capture.folder import CaptureFolder
from freezeframe.gui.cli.output import emit_json
from freezeframe.gui.report.analysis_sections import run_all
from freezeframe.gui.report.write import check_place, write_report
from freezeframe.gui.text import printable


def save_report(
    folder: CaptureFolder, output: Path, *, with_analyses: bool, force: bool, json: bool
) -> None:
    """Write the report and print its size.

    Raises:
        InputError: no report can be written there.
    """
    check_place(output, force)
    explanation = explain(folder)
    analyses = run_all(folder, explanation.trace) if with_analyses else []
    write_report(folder, explanation, output, force=force, analyses=analyses)
    size_B = output.stat().st_size
    if json:
        emit_json(
            {
                "report": str(output),
                "bytes": size_B,
                "findings": [finding.diagnosis for finding in explanation.findings],
                "analyses": [ran.result.name for ran in analyses],
            }
        )
    else:
        print(f"{printable(output)}: {size_B:,} B")
