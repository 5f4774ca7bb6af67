"""``freezeframe pull``: a frozen recording into a capture folder, every word verified."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from freezeframe.gui.cli.options import ForceOption, JsonOption, LogOption, TargetArgument
from freezeframe.gui.cli.output import count_text, emit_json, plural, printable, progress_bar
from freezeframe.gui.cli.session import open_logged, open_session

if TYPE_CHECKING:
    from freezeframe.capture.recorder.pull import PullReport
    from freezeframe.capture.targets.base import Target

__all__ = ["pull_with_bar", "report_lines", "run"]

OutputOption = Annotated[
    Path,
    typer.Option(
        "-o", "--output", metavar="NAME.ff", help="Capture folder to write.", show_default=False
    ),
]
FreezeOption = Annotated[
    bool, typer.Option("--freeze", help="Freeze a recorder that still runs instead of refusing it.")
]
WaitOption = Annotated[
    float | None,
    typer.Option(
        "--wait",
        metavar="SECONDS",
        min=0,
        help="Wait this long for a freeze, if the card is not frozen yet.",
        show_default=False,
    ),
]
OutageOption = Annotated[
    float,
    typer.Option("--outage", metavar="SECONDS", min=0, help="How long the card may vanish."),
]


def run(
    target: TargetArgument,
    output: OutputOption,
    *,
    freeze: FreezeOption = False,
    wait: WaitOption = None,
    outage: OutageOption = 30.0,
    force: ForceOption = False,
    json: JsonOption = False,
    log_accesses: LogOption = None,
) -> None:
    """Copy a frozen recording into a capture folder, verified against the card's own checksums.

    Writes nothing to the card unless --freeze is given. A card that vanishes meanwhile is waited
    for, and the pull goes on where it stopped; what could not be read is stated in the capture.

    \b
    Examples:
      freezeframe pull etherbone://192.0.2.7 -o fault.ff
      freezeframe pull etherbone://192.0.2.7 -o fault.ff --wait 600
      freezeframe pull etherbone://192.0.2.7 -o now.ff --freeze
    """
    if wait:
        _wait_for_freeze(target, wait, log_accesses)
    with open_logged(target, log_accesses) as opened:
        report = pull_with_bar(opened, output, freeze=freeze, outage_s=outage, overwrite=force)
    if json:
        emit_json(_document(target, report))
        return
    for line in report_lines(report):
        print(line)


def pull_with_bar(
    target: Target, path: Path, *, freeze: bool, outage_s: float, overwrite: bool
) -> PullReport:
    """Pull with a progress bar on standard error; raises as ``pull`` does."""
    from freezeframe.capture.recorder.pull import Progress, pull

    with progress_bar("pull", "words") as update:

        def show(now: Progress) -> None:
            note = "card gone, waiting" if now.waiting else now.phase
            update(now.words_done, now.words_total, note)

        return pull(
            target, path, freeze=freeze, wait_s=outage_s, progress=show, overwrite=overwrite
        )


def report_lines(report: PullReport) -> list[str]:
    """Return what a pull brought home, and what it did not, for people."""
    rate = int(report.words / max(report.seconds, 1e-6))
    lines = [
        f"{report.path}: {plural(len(report.devices), 'device')}, "
        f"{count_text(report.words)} of {count_text(report.words_total)} words verified "
        f"in {report.seconds:.2f} s ({count_text(rate)} words/s)"
    ]
    if report.retries or report.outages:
        retries = plural(report.retries, "retry", "retries")
        lines.append(f"{retries}, {plural(report.outages, 'outage')}")
    lines += [printable(f"not in the capture: {line}") for line in report.lost]
    return lines


def _document(target: str, report: PullReport) -> dict[str, Any]:
    return {
        "target": target,
        "path": str(report.path),
        "devices": list(report.devices),
        "complete": report.complete,
        "words": report.words,
        "words_total": report.words_total,
        "retries": report.retries,
        "outages": report.outages,
        "seconds": round(report.seconds, 6),
        "lost": list(report.lost),
    }


def _wait_for_freeze(target: str, wait_s: float, log: Path | None) -> None:
    from freezeframe.capture.recorder.control import wait_for

    end = time.monotonic() + wait_s
    with open_session(target, log) as devices:
        for device in devices:
            wait_for(device, "frozen", max(0.0, end - time.monotonic()))
