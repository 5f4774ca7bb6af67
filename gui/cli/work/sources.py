"""Sources of counters, opened for the length of one verb."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from freezeframe.capture.counters.reader import SourceReader
from freezeframe.capture.counters.sources import open_source
from freezeframe.capture.errors import InputError

_LEAST_PERIOD_S = 0.02


def check_period(period_s: float) -> None:
    """Refuse a time between two readings that is too short.

    Raises:
        InputError: it is.
    """
    if period_s < _LEAST_PERIOD_S:
        raise InputError(f"--every {period_s:g}: at least {_LEAST_PERIOD_S:g} seconds")


@contextmanager
def opened_readers(
    sources: Sequence[str], root: Path | None, period_s: float
) -> Iterator[list[SourceReader]]:
    """Open every source once, so that a wrong name is reported at once; the readers are stopped at the end.

    Raises:
        InputError, TargetError: as ``open_source``; also for a source that is named twice.
    """
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
