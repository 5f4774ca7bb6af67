"""Rows of a table as slices of the time line: in order of time, with the row's own columns and text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from freezeframe.decoders.trace.coverage import Coverage
from freezeframe.gui.tracks.tracks import EVERYTHING, SliceTrack

Int64 = npt.NDArray[np.int64]
Slices = TypeVar("Slices", bound=SliceTrack)

MOST_CLASSES = 16
"""Colours that a track of slices can have."""


@dataclass(frozen=True, slots=True)
class TapPlace:
    """A tap among the tracks: the key and name of the capture it is of, its own name, and what its memory covers."""

    key: str
    name: str
    source: str
    coverage: Coverage = EVERYTHING

    def fields(self, what: str) -> dict[str, Any]:
        """Return the fields that tracks of one tap share: ``what`` is "packets" or "words"."""
        return {
            "key": f"{self.key}/{what}/{self.source}",
            "name": f"{self.source} {what}",
            "source": self.name,
            "coverage": self.coverage,
        }

    def empty(self, note: str) -> SliceTrack:
        """Return the track of a tap at which no packet is known, so that it can be seen why there is none."""
        return SliceTrack(note=note, **self.fields("packets"))


def slices_of_rows(
    kind: type[Slices],
    t_ps: Int64,
    t_end_ps: Int64 | None = None,
    rows: Int64 | None = None,
    *,
    label: Callable[[int], str],
    tip: Callable[[int], str] | None = None,
    columns: Mapping[str, npt.NDArray[Any]] | None = None,
    **fields: Any,
) -> Slices:
    """Return a track of some rows of a table.

    Args:
        t_ps, t_end_ps: of every row of the table; without an end a row is a moment.
        rows: those that are shown; None for all.
        label, tip: row -> text.
        columns: further columns of the track, with a value for every row of the table.
        fields: the other fields of the track.
    """
    order = rows_by_time(t_ps, np.arange(len(t_ps), dtype=np.int64) if rows is None else rows)
    begin = t_ps[order]
    fields |= {name: column[order] for name, column in (columns or {}).items()}
    return kind(
        t_ps=begin,
        t_end_ps=begin if t_end_ps is None else np.maximum(t_end_ps[order], begin),
        rows=order,
        label=lambda item: label(int(order[item])),
        tip=None if tip is None else (lambda item: tip(int(order[item]))),
        **fields,
    )


def packets_of_rows(
    at: TapPlace,
    t_ps: Int64,
    t_end_ps: Int64,
    rows: Int64,
    *,
    bad: npt.NDArray[np.bool_],
    colour: npt.NDArray[np.uint8],
    note: str = "",
    **fields: Any,
) -> SliceTrack:
    """Return the packets that crossed a tap; ``bad`` and ``colour`` are of every row of the table."""
    said = f"Packets as they crossed {at.source}; one that fails a check is in error. {note}"
    return slices_of_rows(
        SliceTrack,
        t_ps,
        t_end_ps,
        rows,
        columns={"colour": colour, "error": bad},
        note=said.strip(),
        **at.fields("packets"),
        **fields,
    )


def words_of_rows(
    at: TapPlace,
    t_ps: Int64,
    t_end_ps: Int64,
    rows: Int64,
    *,
    data: npt.NDArray[Any],
    colour: npt.NDArray[np.uint8],
    **fields: Any,
) -> SliceTrack:
    """Return a track of words, written in hexadecimal; where two are closer than they last, the first ends early.

    Clocks drift: a word that lasts a cycle may reach into the next one. The arguments are those of `packets_of_rows`.
    """
    made = slices_of_rows(
        SliceTrack,
        t_ps,
        t_end_ps,
        rows,
        columns={"colour": colour},
        label=lambda row: f"{int(data[row]) & (1 << 64) - 1:016x}",
        **at.fields("words"),
        **fields,
    )
    made.t_end_ps[:-1] = np.maximum(made.t_ps[:-1], np.minimum(made.t_end_ps[:-1], made.t_ps[1:]))
    return made


def rows_by_time(t_ps: Int64, rows: Int64) -> Int64:
    """Return rows in order of time; also of a memory whose times go back."""
    mine = t_ps[rows]
    if not np.any(mine[1:] < mine[:-1]):
        return rows
    return rows[np.argsort(mine, kind="stable")]


def classes_by_appearance(texts: Iterable[str]) -> tuple[tuple[str, ...], npt.NDArray[np.uint8]]:
    """Return at most 16 classes and the class of each text; what appears late shares the last one."""
    codes, names = pd.factorize(np.array(list(texts), dtype=object))
    classes = tuple(str(name) for name in names[:MOST_CLASSES])
    if len(names) > MOST_CLASSES:
        classes = (*classes[:-1], "other")
    return classes or ("",), np.minimum(codes, max(len(classes), 1) - 1).astype(np.uint8)
