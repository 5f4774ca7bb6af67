"""``freezeframe pull``: a frozen recording into a capture folder, every word verified."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freezeframe.capture.errors import InputError, RecorderStateError, TargetError
from freezeframe.gui.cli.options import ForceOption, JsonOption, LogOption
from freezeframe.gui.cli.output import count_text, emit_json, plural, printable, progress_bar
from freezeframe.gui.cli.session import open_logged
from freezeframe.gui.cli.usage import seconds
from freezeframe.gui.places import refuse_evidence
from freezeframe.gui.text import shell_path, shell_word

if TYPE_CHECKING:
    from freezeframe.capture.folder import HostTrace
    from freezeframe.capture.recorder.case import SameTime
    from freezeframe.capture.recorder.pull import PullReport
    from freezeframe.capture.targets.base import Target

__all__ = ["pull_with_bar", "refuse_recording", "report_lines", "run"]

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


SameTimeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--same-time",
        metavar="A.bus:N=B.bus:M",
        help="Two cycles that are one instant, of cards of different targets; +-NS behind it.",
        show_default=False,
    ),
]
HostOption = Annotated[
    list[str] | None,
    typer.Option(
        "--host-trace",
        metavar="FILE",
        help="A trace of the card's computer to keep: trace-cmd report, ftrace or dmesg; B=FILE: of "
        "card B.",
        show_default=False,
    ),
]
TargetsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="TARGET...",
        help="URL of the card: etherbone://192.0.2.7 and others, see 'freezeframe targets'; several "
        "go into one capture.",
        show_default=False,
    ),
]


def run(
    target: TargetsArgument,
    output: OutputOption,
    *,
    same_time: SameTimeOption = None,
    host_trace: HostOption = None,
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

    Cards in computers of their own, given as several targets, become devices A, B, ... of one capture.
    Their time lines are related by the packets that crossed the link, or by --same-time. A trace of
    the computer goes onto the same time line by what both saw: registers written, interrupts raised.

    \b
    Examples:
      freezeframe pull etherbone://192.0.2.7 -o fault.ff
      freezeframe pull etherbone://192.0.2.7 -o fault.ff --wait 600
      freezeframe pull etherbone://192.0.2.7 -o now.ff --freeze
      freezeframe pull etherbone://192.0.2.7 etherbone://192.0.2.8 -o case.ff
      freezeframe pull pci:0000:03:00.0 -o case.ff --host-trace trace.txt
    """
    from freezeframe.capture.recorder.case import SameTime

    for url in target:
        refuse_recording(url)
    twice = next((url for url in target if target.count(url) > 1), None)
    if twice is not None:
        raise InputError(f"{twice}: is given twice; each target goes into a capture once")
    refuse_evidence(output.parent)
    pairs = [SameTime.parse(text) for text in same_time or []]

    def host() -> list[HostTrace]:
        return [_host_trace(text) for text in host_trace or []]

    # One that cannot be read, or placed, is said before the card is touched.
    for note in _without_time(host()):
        print(f"note: {note}", file=sys.stderr)
    with ExitStack() as stack:
        opened = [stack.enter_context(open_logged(url, log_accesses)) for url in target]
        if wait:
            end = time.monotonic() + wait
            for one in opened:
                _wait_for_freeze(one, max(0.0, end - time.monotonic()), wait, needed=not freeze)
        report = _pull_all(
            opened, output, freeze=freeze, outage_s=outage, overwrite=force, pairs=pairs, host=host
        )
    if json:
        emit_json(_document(target, report))
    else:
        for line in report_lines(report):
            print(line)
    if not report.complete:
        urls = " ".join(shell_word(url) for url in target)
        again = f"freezeframe pull {urls} -o {shell_path(str(output))} --force"
        raise TargetError(
            f"{output}: holds only a part of the recording; the card keeps it until it is armed, so "
            f"pull again: {again}"
        )


def _pull_all(
    targets: Sequence[Target],
    path: Path,
    *,
    freeze: bool,
    outage_s: float,
    overwrite: bool,
    pairs: Sequence[SameTime],
    host: Callable[[], Sequence[HostTrace]],
) -> PullReport:
    from freezeframe.capture.recorder.case import pull_case
    from freezeframe.capture.recorder.pull import Progress

    with progress_bar("pull", "words") as update:

        def show(now: Sequence[Progress]) -> None:
            gone = sum(one.waiting for one in now)
            note = f"{plural(gone, 'card')} gone, waiting" if gone else now[-1].phase
            update(sum(one.words_done for one in now), sum(one.words_total for one in now), note)

        return pull_case(
            targets,
            path,
            freeze=freeze,
            wait_s=outage_s,
            progress=show,
            overwrite=overwrite,
            same_time=pairs,
            host=host,
        )


def _host_trace(text: str) -> HostTrace:
    """Read the file of ``--host-trace``: FILE, or DEVICE=FILE."""
    from freezeframe.capture.folder import HostTrace

    device, equals, name = text.partition("=")
    if not equals or not (device.isalnum() and device[:1].isupper() and len(device) < 4):
        device, name = "A", text
    path = Path(name)
    try:
        return HostTrace(path.name, device, path.read_bytes())
    except OSError as error:
        raise InputError(f"--host-trace {name}: cannot be read: {error.strerror}") from None


def _without_time(traces: Iterable[HostTrace]) -> Iterator[str]:
    """Yield a note for each trace of which no line can be put on a time line."""
    from freezeframe.decoders.host.lines import read_lines

    for trace in traces:
        lines = list(read_lines(trace.text))
        if not any(line.own_ps >= 0 for line in lines):
            yield (
                f"--host-trace {printable(trace.name)}: none of {plural(len(lines), 'line')} has a time of the "
                "kernel's clock ([  123.456789]); it is kept, and cannot be put on the time line: "
                "use dmesg without -T, or trace-cmd report"
            )


def pull_with_bar(
    target: Target, path: Path, *, freeze: bool, outage_s: float, overwrite: bool
) -> PullReport:
    """Pull with a progress bar on standard error; raises as ``pull`` does."""
    return _pull_all(
        [target], path, freeze=freeze, outage_s=outage_s, overwrite=overwrite, pairs=(), host=tuple
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


def _document(targets: Sequence[str], report: PullReport) -> dict[str, Any]:
    return {
        "target": targets[0],
        "targets": list(targets),
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


def refuse_recording(target: str) -> None:
    """Raise InputError for a capture folder: what is pulled is a card."""
    if target.partition(":")[0] != "file":
        return
    path = target.partition(":")[2]
    raise InputError(
        f"{target}: is a recording already, so there is nothing to pull; copy the folder, or look "
        f"into it: freezeframe explain {shell_path(path)}"
    )


def _wait_for_freeze(target: Target, left_s: float, wait_s: float, *, needed: bool) -> None:
    from freezeframe.capture.recorder.control import wait_for
    from freezeframe.capture.recorder.state import read_state
    from freezeframe.capture.registers.access import open_devices

    end = time.monotonic() + left_s
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
