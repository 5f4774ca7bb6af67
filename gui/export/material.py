"""What an export is made of: the samples of a file as edges, or the tables that decoders made.

Every writer takes a `Material` and returns what it `Wrote`, so that formats differ in one file each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges, samples_to_ps
from freezeframe.decoders.run import Decoded
from freezeframe.gui.tracks.tracks import Track

NS_PS = 1000  # picoseconds in a nanosecond
_ROWS_AT_ONCE = 4096  # rows of a table as objects at a time


@dataclass(frozen=True, slots=True)
class Material:
    """What there is to export: either ``edges`` or ``tables``.

    ``source`` is the capture's path, for messages and titles. ``edges`` begins the samples again
    each time it is called. ``texts`` gives, for the name of a table, what puts a row into words. A format
    that writes every sample refuses more than ``max_samples``. ``tracks`` are those that pictures of it have, with the
    name of the table that each shows; none where they are to be made from the tables.
    """

    source: Path
    edges: Callable[[], Iterator[Edges]] | None = None
    tables: Sequence[Decoded] = ()
    texts: Callable[[str], Callable[[dict[str, object]], str]] | None = None
    max_samples: int = 1 << 32
    tracks: Sequence[tuple[Track, str | None]] = ()

    def table(self, ending: str) -> pa.Table | None:
        """Return the table whose name ends so, ``trace.words`` for instance, if there is one."""
        return next((table for name, table in self.tables if name.endswith(ending)), None)


@dataclass(slots=True)
class Wrote:
    """What went into a file: how many of what, and what the user has to know."""

    counts: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, what: str, count: int) -> None:
        """Count ``count`` more of ``what``."""
        self.counts[what] = self.counts.get(what, 0) + count


def to_ns(t_ps: int) -> int:
    """Return whole nanoseconds, rounded down, as all exports do whose format has no picoseconds."""
    return t_ps // NS_PS


def rows_by_time(table: pa.Table) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table in `time_order`, as column -> value; raises as it does."""
    order = time_order(table)
    for at in range(0, len(order), _ROWS_AT_ONCE):
        yield from table.take(order[at : at + _ROWS_AT_ONCE]).to_pylist()


def time_order(table: pa.Table) -> npt.NDArray[np.int64]:
    """Return the rows of a table in order of ``t_ps``; equal times keep their order.

    Raises:
        InputError: a time is negative; formats of other tools have none.
    """
    t_ps = table.column("t_ps").to_numpy()
    if len(t_ps) and int(t_ps.min()) < 0:
        raise InputError(
            f"a row of the table is at {int(t_ps.min())} ps, before the beginning of the capture; "
            "export it with --to csv or --to parquet"
        )
    return np.asarray(np.argsort(t_ps, kind="stable"), dtype=np.int64)


def times_ps(sample: npt.NDArray[np.int64], samplerate_hz: int) -> npt.NDArray[np.int64]:
    """Return the time of each sample, picoseconds from the start of the capture, rounded down.

    Raises:
        InputError: a time is beyond int64 (106 days).
    """
    try:
        return samples_to_ps(sample, samplerate_hz)
    except ValueError as error:
        raise InputError(f"{error}; --to sr has no times and takes it") from None


def different(names: Sequence[str]) -> list[str]:
    """Return the names, those that came before with ``_2``, ``_3`` at their end."""
    taken: set[str] = set()
    result = []
    for name in names:
        chosen, number = name, 1
        while chosen in taken:
            number += 1
            chosen = f"{name}_{number}"
        taken.add(chosen)
        result.append(chosen)
    return result
