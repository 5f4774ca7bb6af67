"""``freezeframe watch``: live counters in the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from freezeframe.capture.errors import InputError
from freezeframe.gui.cli.options import ForceOption
from freezeframe.gui.cli.output import plural
from freezeframe.gui.cli.usage import seconds
from freezeframe.gui.places import refuse_evidence

if TYPE_CHECKING:
    from freezeframe.capture.counters.reader import SourceReader

__all__ = ["RootOption", "SourcesArgument", "opened_readers", "run"]

LEAST_PERIOD_S = 0.02

SourcesArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE...",
        help="A card (etherbone://192.0.2.7), netdev:eth0, rdma:mlx5_0/1; several are shown together.",
        show_default=False,
    ),
]
RootOption = Annotated[
    Path | None,
    typer.Option(
        "--root",
        metavar="FOLDER",
        help="Read sys and proc of netdev: and rdma: below FOLDER: a recorded tree.",
        show_default=False,
    ),
]
EveryOption = Annotated[
    float,
    typer.Option("--every", metavar="SECONDS", parser=seconds, help="Time between two readings."),
]
AlarmOption = Annotated[
    list[str] | None,
    typer.Option(
        "--alarm",
        metavar="NAME>RATE",
        help="Ring when a counter grows faster than RATE a second; NAME may hold *. May be given again.",
        show_default=False,
    ),
]
RecordOption = Annotated[
    Path | None,
    typer.Option(
        "--record", metavar="FILE", help="Keep every sample, as Parquet.", show_default=False
    ),
]
WriteOption = Annotated[bool, typer.Option("--allow-write", help="Let keys arm and freeze a card.")]
IntoOption = Annotated[
    Path,
    typer.Option(
        "--into",
        metavar="FOLDER",
        help="Where snapshots and pulled captures go.",
        show_default=False,
    ),
]
ServeOption = Annotated[
    int | None,
    typer.Option(
        "--serve",
        metavar="PORT",
        min=1,
        max=65535,
        help="Show it in a browser of this machine.",
        show_default=False,
    ),
]


def run(
    sources: SourcesArgument,
    *,
    every: EveryOption = 0.5,
    alarm: AlarmOption = None,
    record: RecordOption = None,
    into: IntoOption = Path(),
    allow_write: WriteOption = False,
    serve: ServeOption = None,
    root: RootOption = None,
    force: ForceOption = False,
) -> None:
    """Show live counters in the terminal: cards, network interfaces, RDMA ports.

    Reads only, unless --allow-write is given. A source that vanishes is shown as stale and comes
    back by itself. '?' shows the keys.

    \b
    Examples:
      freezeframe watch etherbone://192.0.2.7
      freezeframe watch netdev:eth0 rdma:mlx5_0/1 --alarm 'rx_dropped>0'
      freezeframe watch netdev:eth0 --every 0.1 --record run.parquet
    """
    from freezeframe.capture.counters.alarms import parse_alarm

    if every < LEAST_PERIOD_S:
        raise InputError(f"--every {every:g}: at least {LEAST_PERIOD_S:g} seconds")
    alarms = [parse_alarm(text) for text in alarm or ()]
    if not into.is_dir():
        raise InputError(f"{into}: is not a folder")
    if serve is not None:
        from freezeframe.gui.dashboard.browser import serve_in_browser

        serve_in_browser(
            serve, _arguments_again(), allow_write=allow_write, recording=record is not None
        )
        return
    with opened_readers(sources, root, every) as readers, ExitStack() as stack:
        in_browser = "TEXTUAL_DRIVER" in os.environ  # behind a page of --serve
        if not (in_browser or (sys.stdin.isatty() and sys.stdout.isatty())):
            raise InputError(
                "watch needs a terminal; for a script there are 'freezeframe counters --json' and 'freezeframe serve'"
            )
        from freezeframe.capture.counters.monitor import Monitor
        from freezeframe.gui.dashboard.app import Dashboard, DashboardOptions

        recording = None
        if record is not None:
            from freezeframe.capture.counters.recording import Recording

            refuse_evidence(record)
            recording = Recording(record, overwrite=force)

            def close() -> None:
                assert recording is not None
                print(
                    f"{record}: {plural(recording.close(), 'row')} of {plural(recording.samples, 'sample')}"
                )

            stack.callback(close)
        Dashboard(
            Monitor(readers, alarms), DashboardOptions(every, allow_write, into), recording
        ).run()


@contextmanager
def opened_readers(
    sources: Sequence[str], root: Path | None, period_s: float
) -> Iterator[list[SourceReader]]:
    """Open every source once, so that a wrong name is told at once; the readers are stopped at the end.

    Raises:
        InputError, TargetError: as ``open_source``; also for a source that is named twice.
    """
    from freezeframe.capture.counters.reader import SourceReader
    from freezeframe.capture.counters.sources import open_source

    with ExitStack() as stack:
        readers = []
        for name in sources:
            if sources.count(name) > 1:
                raise InputError(f"{name}: is named twice")
            source = open_source(name, root)
            stack.callback(source.close)
            readers.append(SourceReader(source, partial(open_source, name, root), period_s))
        for reader in readers:
            stack.callback(reader.stop)
        yield readers


def _arguments_again() -> list[str]:
    """Return this command line without ``--serve PORT``, for the process behind each page."""
    arguments = sys.argv[1:]
    kept: list[str] = []
    skip = False
    for argument in arguments:
        if skip:
            skip = False
        elif argument == "--serve":
            skip = True
        elif not argument.startswith("--serve="):
            kept.append(argument)
    return kept
