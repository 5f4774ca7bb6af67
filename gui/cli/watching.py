"""The dashboard as ``freezeframe watch`` starts it: options read without typer, readers, the terminal.

typer checks values with pydantic: 9 MB that a dashboard would keep for days. So plain arguments are read
here; whatever is not plain (``--help``, a mistake) goes to typer, whose words about it are the better ones.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from freezeframe.capture.errors import InputError
from freezeframe.gui.cli.output import plural
from freezeframe.gui.places import refuse_evidence

if TYPE_CHECKING:
    from freezeframe.capture.counters.reader import SourceReader

__all__ = ["LEAST_PERIOD_S", "WatchOptions", "opened_readers", "plain_options", "watch"]

LEAST_PERIOD_S = 0.02
_MOST_S = 100_000_000  # as usage.MOST_S, which stands beside typer
_MOST_PORT = 65535


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """The options of ``freezeframe watch``; their meaning stands in its help."""

    sources: tuple[str, ...]
    every: float = 0.5
    alarm: tuple[str, ...] = ()
    record: Path | None = None
    into: Path = Path()
    allow_write: bool = False
    serve: int | None = None
    root: Path | None = None
    force: bool = False


def plain_options(arguments: Sequence[str]) -> WatchOptions | None:
    """Return the options behind the verb, None where typer is to look at them: for help, or a mistake."""
    import argparse

    class Parser(argparse.ArgumentParser):
        def error(self, message: str) -> NoReturn:
            raise _NotPlain

    parser = Parser(add_help=False, allow_abbrev=False)
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--every", type=_seconds, default=0.5)
    parser.add_argument("--alarm", action="append", default=[])
    parser.add_argument("--record", type=Path)
    parser.add_argument("--into", type=Path, default=Path())
    parser.add_argument("--allow-write", action="store_true")
    parser.add_argument("--serve", type=_port)
    parser.add_argument("--root", type=Path)
    parser.add_argument("--force", action="store_true")
    try:
        given = vars(parser.parse_intermixed_args(list(arguments)))
    except _NotPlain:
        return None
    options: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
    }
    return WatchOptions(**options)


def watch(options: WatchOptions) -> None:
    """Show the dashboard until it is left.

    Raises:
        InputError: an option that cannot be used, or no terminal.
        TargetError: a card cannot be reached.
    """
    from freezeframe.capture.counters.alarms import parse_alarm

    if options.every < LEAST_PERIOD_S:
        raise InputError(f"--every {options.every:g}: at least {LEAST_PERIOD_S:g} seconds")
    alarms = [parse_alarm(text) for text in options.alarm]
    if not options.into.is_dir():
        raise InputError(f"{options.into}: is not a folder")
    if options.serve is not None:
        from freezeframe.gui.dashboard.browser import serve_in_browser

        serve_in_browser(
            options.serve,
            _arguments_again(),
            allow_write=options.allow_write,
            recording=options.record is not None,
        )
        return
    with (
        opened_readers(options.sources, options.root, options.every) as readers,
        ExitStack() as stack,
    ):
        in_browser = "TEXTUAL_DRIVER" in os.environ  # behind a page of --serve
        if not (in_browser or (sys.stdin.isatty() and sys.stdout.isatty())):
            raise InputError(
                "watch needs a terminal; for a script there are 'freezeframe counters --json' and 'freezeframe serve'"
            )
        from freezeframe.capture.counters.monitor import Monitor
        from freezeframe.gui.dashboard.app import Dashboard, DashboardOptions

        recording = None
        if options.record is not None:
            from freezeframe.capture.counters.recording import Recording

            refuse_evidence(options.record)
            recording = Recording(options.record, overwrite=options.force)
            stack.callback(_close, recording, options.record)
        Dashboard(
            Monitor(readers, alarms),
            DashboardOptions(options.every, options.allow_write, options.into),
            recording,
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


class _NotPlain(Exception):
    """The arguments are for typer to look at."""


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value <= _MOST_S:  # written so that a nan is refused, too
        raise ValueError(text)
    return value


def _port(text: str) -> int:
    value = int(text)
    if not 1 <= value <= _MOST_PORT:
        raise ValueError(text)
    return value


def _close(recording: Any, path: Path) -> None:
    print(f"{path}: {plural(recording.close(), 'row')} of {plural(recording.samples, 'sample')}")


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
