"""``freezeframe pull``: a frozen recording into a capture folder, every word verified."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from freezeframe.capture.errors import InputError, RecorderStateError, TargetError
from freezeframe.gui.cli.options import ForceOption, JsonOption, LogOption, TargetArgument
from freezeframe.gui.cli.output import count_text, emit_json, plural, printable, progress_bar
from freezeframe.gui.cli.session import open_logged
from freezeframe.gui.cli.usage import seconds
from freezeframe.gui.places import refuse_evidence
from freezeframe.gui.text import shell_path, shell_word

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
        parser=seconds,
        help="Wait this long for a freeze, if the card is not frozen yet.",
        show_default=False,
    ),
]
OutageOption = Annotated[
    float,
    typer.Option(
        "--outage", metavar="SECONDS", parser=seconds, help="How long the card may vanish."
    ),
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
    for, and the pull goes on where it stopped; what could not be read is stated in the capture, and
    the exit code is 3 then. With --wait and --freeze, a card that has not frozen by then is frozen.

    \b
    Examples:
      freezeframe pull etherbone://192.0.2.7 -o fault.ff
      freezeframe pull etherbone://192.0.2.7 -o fault.ff --wait 600
      freezeframe pull etherbone://192.0.2.7 -o now.ff --freeze
    """
    _refuse_recording(target)
    refuse_evidence(output.parent)
    with open_logged(target, log_accesses) as opened:
        if wait:
            _wait_for_freeze(opened, wait, needed=not freeze)
        report = pull_with_bar(opened, output, freeze=freeze, outage_s=outage, overwrite=force)
    if json:
        emit_json(_document(target, report))
    else:
        for line in report_lines(report):
            print(line)
    if not report.complete:
        again = f"freezeframe pull {shell_word(target)} -o {shell_path(str(output))} --force"
        raise TargetError(
            f"{output}: holds only a part of the recording; the card keeps it until it is armed, so "
            f"pull again: {again}"
        )


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
        f"{printable(report.path)}: {plural(len(report.devices), 'device')}, "
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


def _refuse_recording(target: str) -> None:
    if target.partition(":")[0] != "file":
        return
    path = target.partition(":")[2]
    raise InputError(
        f"{target}: is a recording already, so there is nothing to pull; copy the folder, or look "
        f"into it: freezeframe explain {shell_path(path)}"
    )


def _wait_for_freeze(target: Target, wait_s: float, *, needed: bool) -> None:
    from freezeframe.capture.recorder.control import wait_for
    from freezeframe.capture.recorder.state import read_state
    from freezeframe.capture.registers.access import open_devices

    end = time.monotonic() + wait_s
    for device in open_devices(target):
        try:
            wait_for(device, "frozen", max(0.0, end - time.monotonic()))
        except RecorderStateError:
            if not needed:
                return
            raise RecorderStateError(
                f"{target.url}: device {device.name} is {read_state(device).state}, not frozen, "
                f"after {wait_s:g} s; wait longer, or give --freeze to stop the recording"
            ) from None
