"""Small pieces that several analyses put their results together from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.analysis import Figure, Intervals

IntervalRow = tuple[int, int, str, str, int, bool, bool]
"""t_ps, t_end_ps, kind, text, flow, open_start, open_end."""


def interval_track(
    name: str, label: str, rows: Sequence[IntervalRow], rests_on: tuple[str, ...] = ()
) -> Intervals:
    """Return a track from its rows, in their order."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * 7
    return Intervals(
        name,
        label,
        np.array(columns[0], np.int64),
        np.array(columns[1], np.int64),
        tuple(str(kind) for kind in columns[2]),
        tuple(str(text) for text in columns[3]),
        np.array(columns[4], np.int64),
        np.array(columns[5], np.bool_),
        np.array(columns[6], np.bool_),
        rests_on,
    )


def joined_notes(notes: Iterable[str]) -> tuple[str, ...]:
    """Return notes in order, each once."""
    return tuple(dict.fromkeys(note for note in notes if note))


def distribution_figures(
    name: str,
    label: str,
    values: npt.NDArray[np.int64],
    unit: str,
    uncertainty: float | None,
    note: str = "",
) -> list[Figure]:
    """Return least, median, 99th percentile and most of whole numbers, each one that occurred.

    Without values there is one figure without a value, and the note says why.
    """
    if not len(values):
        return [Figure(f"{name}.median", f"{label}, median", None, unit, note=note)]
    ordered = np.sort(values)
    last = len(ordered) - 1
    picks = (("min", "least", 0), ("median", "median", last // 2), ("p99", "99 of 100 below", (99 * last + 99) // 100),
             ("max", "most", last))  # fmt: skip
    return [
        Figure(
            f"{name}.{key}",
            f"{label}, {text}",
            int(ordered[at]),
            unit,
            uncertainty,
            note if key == "median" else "",
        )
        for key, text, at in picks
    ]


def median(values: Iterable[int]) -> int:
    """Return the lower median of whole numbers: one that occurred.

    Raises:
        ValueError: there are none.
    """
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no values, no median")
    return ordered[(len(ordered) - 1) // 2]
