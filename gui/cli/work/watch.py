"""The dashboard as ``freezeframe watch`` starts it: sources opened, then the terminal or a browser."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from freezeframe.capture.count_text import plural
from freezeframe.capture.counters.alarms import parse_alarm
from freezeframe.capture.counters.monitor import Monitor
from freezeframe.capture.counters.recording import Recording
from freezeframe.capture.custody.host_rules import refuse_unknown
from freezeframe.capture.errors import InputError
from freezeframe.gui.cli.work.sources import check_period, opened_readers
from freezeframe.gui.dashboard.app import Dashboard, DashboardOptions
from freezeframe.gui.places import refuse_evidence
from freezeframe.gui.text import printable


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """The options of ``freezeframe watch``; its help says what they mean."""

    sources: Sequence[str]
    every: float
    alarm: Sequence[str]
    record: Path | None
    record_keep: int | None
    into: Path
    pull: bool
    allow_write: bool
    serve: int | None
    root: Path | None
    force: bool


def watch(options: WatchOptions) -> None:
    """Show the dashboard until it is left.

    Raises:
        InputError: an option that cannot be used, or no terminal.
        TargetError: a card cannot be reached.
    """
    check_period(options.every)
    alarms = [parse_alarm(text) for text in options.alarm]
    if options.record_keep is not None and options.record is None:
        raise InputError("--record-keep: is of a recording; name it: --record NAME.ffrec")
    if not options.into.is_dir():
        raise InputError(f"{options.into}: is not a folder")
    if options.serve is not None:
        _serve(options, options.serve)
        return
    with (
        opened_readers(options.sources, options.root, options.every) as readers,
        ExitStack() as stack,
    ):
        in_browser = "TEXTUAL_DRIVER" in os.environ  # the process of a page of --serve
        if not (in_browser or (sys.stdin.isatty() and sys.stdout.isatty())):
            raise InputError(
                "watch needs a terminal; for a script there are 'freezeframe counters --json' and 'freezeframe serve'"
            )
        refuse_unknown(alarms, [reader.source for reader in readers])
        recording = None
        if options.record is not None:
            refuse_evidence(options.record)
            recording = Recording(
                options.record, overwrite=options.force, keep_B=options.record_keep
            )
            stack.callback(_end, recording)
        dashboard = Dashboard(
            Monitor(readers, alarms),
            DashboardOptions(options.every, options.allow_write, options.into, options.pull),
            recording,
        )
        for number in (signal.SIGTERM, signal.SIGHUP):  # of a closed session too
            signal.signal(number, lambda *_: dashboard.exit())
        dashboard.run()


def _serve(options: WatchOptions, port: int) -> None:
    """Serve the dashboard to a browser until Ctrl-C.

    Raises:
        InputError: an option that a browser may not use, or the extra ``browser`` is not installed.
    """
    if options.allow_write:
        raise InputError(
            "--serve and --allow-write: a dashboard in a browser only reads; leave one of them out"
        )
    if options.record is not None:
        raise InputError(
            "--serve and --record: every page would record to the same file; leave one of them out"
        )
    try:
        from freezeframe.gui.dashboard.browser import serve_in_browser  # late: an extra
    except ImportError:
        raise InputError(
            "--serve needs the extra 'browser', which is not installed; run: pip install 'freezeframe[browser]'"
        ) from None
    serve_in_browser(port, _arguments_of_a_page())


def _end(recording: Recording) -> None:
    trouble = ""
    try:
        recording.close()
    except OSError as error:  # it fails, or somebody has removed it
        trouble = f"; {error.strerror}"
    more = f"; {recording.lost} more were lost, for there was no room" if recording.lost else ""
    print(f"{printable(recording.path)}: {plural(recording.samples, 'sample')}{more}{trouble}")


def _arguments_of_a_page() -> list[str]:
    """Return this command line without ``--serve PORT``: what the process of each page runs."""
    kept: list[str] = []
    skip = False
    for argument in sys.argv[1:]:
        if skip:
            skip = False
        elif argument == "--serve":
            skip = True
        elif not argument.startswith("--serve="):
            kept.append(argument)
    return kept
