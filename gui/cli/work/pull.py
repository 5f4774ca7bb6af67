"""``freezeframe pull``: cards waited for, pulled into one capture folder, and what came and what did not."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from freezeframe.capture.card.device import open_any, split_card
from freezeframe.capture.count_text import plural
from freezeframe.capture.errors import InputError, RecorderStateError, TargetError
from freezeframe.capture.folder import HostTrace
from freezeframe.capture.recorder.case import SameTime, pull_case
from freezeframe.capture.recorder.control import wait_for
from freezeframe.capture.recorder.pull import Progress, PullReport
from freezeframe.capture.recorder.state import read_state
from freezeframe.capture.targets.base import Target
from freezeframe.decoders.host.lines import read_lines
from freezeframe.gui.cli.output import count_text, emit_json, progress_bar
from freezeframe.gui.cli.work.session import open_logged
from freezeframe.gui.places import refuse_evidence
from freezeframe.gui.text import printable, shell_path, shell_word


def pull_targets(
    urls: Sequence[str],
    output: Path,
    same_time: Sequence[str],
    host_traces: Sequence[str],
    wait_s: float | None,
    outage_s: float,
    log: Path | None,
    *,
    freeze: bool,
    force: bool,
    json: bool,
) -> None:
    """Pull all targets into one capture folder.

    Raises:
        InputError: an option that cannot be used, or the folder cannot be written.
        RecorderStateError: a card is not frozen.
        TargetError: a card cannot be reached, or only a part of its recording came.
    """
    for url in urls:
        refuse_recording(url)
    twice = next((url for url in urls if urls.count(url) > 1), None)
    if twice is not None:
        raise InputError(f"{twice}: is given twice; each target goes into a capture once")
    refuse_evidence(output.parent)
    card = _card_file(urls)
    pairs = [SameTime.parse(text) for text in same_time]

    def host() -> list[HostTrace]:
        return [_host_trace(text) for text in host_traces]

    # A trace that cannot be read, or placed, is reported before the card is touched.
    for note in _without_time(host()):
        print(f"note: {note}", file=sys.stderr)
    with ExitStack() as stack:
        opened = [stack.enter_context(open_logged(url, log)) for url in urls]
        if wait_s:
            end = time.monotonic() + wait_s
            for target in opened:
                left_s = max(0.0, end - time.monotonic())
                _wait_for_freeze(target, card, left_s, wait_s, needed=not freeze)
        report = _pull_all(
            opened,
            output,
            freeze=freeze,
            outage_s=outage_s,
            overwrite=force,
            pairs=pairs,
            host=host,
            card=card,
        )
    if json:
        emit_json(_document(urls, report))
    else:
        for line in report_lines(report):
            print(line)
    if not report.complete:
        words = " ".join(shell_word(url) for url in urls)
        again = f"freezeframe pull {words} -o {shell_path(str(output))} --force"
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
    card: Path | None = None,
) -> PullReport:
    with progress_bar("pull", "words") as update:

        def show(now: Sequence[Progress]) -> None:
            vanished = sum(each.waiting for each in now)
            note = f"{plural(vanished, 'card')} gone, waiting" if vanished else now[-1].phase
            update(
                sum(each.words_done for each in now), sum(each.words_total for each in now), note
            )

        return pull_case(
            targets,
            path,
            freeze=freeze,
            wait_s=outage_s,
            progress=show,
            overwrite=overwrite,
            same_time=pairs,
            host=host,
            card=card,
        )


def _card_file(urls: Sequence[str]) -> Path | None:
    """Return the card file that the target names."""
    named = [card for url in urls if (card := split_card(url)[1]) is not None]
    return (
        named[0] if named else None
    )  # several targets of card files are refused when they are known


def split_host_trace(text: str) -> tuple[str, Path]:
    """Return device and file of ``--host-trace``: FILE, or DEVICE=FILE."""
    device, equals, name = text.partition("=")
    if not equals or not (device.isalnum() and device[:1].isupper() and len(device) < 4):
        return "A", Path(text)
    return device, Path(name)


def _host_trace(text: str) -> HostTrace:
    device, path = split_host_trace(text)
    try:
        return HostTrace(path.name, device, path.read_bytes())
    except OSError as error:
        raise InputError(f"--host-trace {path}: cannot be read: {error.strerror}") from None


def _without_time(traces: Iterable[HostTrace]) -> Iterator[str]:
    """Yield a note for each trace of which no line can be put on a time line."""
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
    how = "read twice alike" if report.unchecked else "verified"
    lines = [
        f"{printable(report.path)}: {plural(len(report.devices), 'device')}, "
        f"{count_text(report.words)} of {count_text(report.words_total)} words {how} "
        f"in {report.seconds:.2f} s ({count_text(rate)} words/s)"
    ]
    if report.retries or report.outages:
        retries = plural(report.retries, "retry", "retries")
        lines.append(f"{retries}, {plural(report.outages, 'outage')}")
    lines += [printable(f"not in the capture: {line}") for line in report.lost]
    lines += [printable(f"not checked: {line}") for line in report.unchecked]
    lines += [printable(report.not_noted)] if report.not_noted else []
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
        "unchecked": list(report.unchecked),
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


def _wait_for_freeze(
    target: Target, card: Path | None, left_s: float, wait_s: float, *, needed: bool
) -> None:
    end = time.monotonic() + left_s
    for device in open_any(target, card):
        try:
            wait_for(device, "frozen", max(0.0, end - time.monotonic()))
        except RecorderStateError:
            if not needed:
                return
            raise RecorderStateError(
                f"{target.url}: device {device.name} is {read_state(device).state}, not frozen, "
                f"after {wait_s:g} s; wait longer, or give --freeze to stop the recording"
            ) from None
