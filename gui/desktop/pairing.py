"""Packets of two captures that are the same: by tap, direction, flow and sequence number.

For showing two runs beside each other on one time base. What the differences mean, ``diff`` says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from freezeframe.gui.desktop.timeline.tracks import SliceTrack

if TYPE_CHECKING:
    import pandas as pd
    from freezeframe.decoders.trace.decode import Trace

__all__ = ["Pairs", "pair_packets", "pairs_track"]

Int64 = npt.NDArray[np.int64]

_KEY = ["source", "direction", "flow", "seq"]
_FIELDS = ("kind", "length", "body_words", "flags", "dest", "header_ok", "payload_ok", "length_ok")
_CLASSES = ("same", "differs", "only here")


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """What two captures have in common.

    Attributes:
        table: a row a packet, by time: ``t_ps`` in the first capture (in the second, moved by
            ``offset_ps``, where only that has it), kind (same, differs, only in the first, only in
            the second), source, flow, seq, ``later_ps`` of the second, differs (in words),
            ``row`` and ``other_row`` of the tables ``packets`` or -1.
        offset_ps: what is added to times of the second so that its packets stand where the first's do.
        paired: packets that both have.
    """

    table: pd.DataFrame
    offset_ps: int
    paired: int


def pair_packets(one: Trace, other: Trace) -> Pairs:
    """Return the packets of two captures side by side; a number that comes again is counted on.

    The offset is the median of the differences of time; 0 where nothing is common.
    """
    import pandas as pd

    left, right = _keyed(one.packets), _keyed(other.packets)
    both = left.merge(right, on=[*_KEY, "again"], how="outer", suffixes=("", "_other"))
    # Row numbers, not times, go through the merge: an outer one makes floats of what has gaps.
    row = both["row"].fillna(-1).to_numpy(dtype=np.int64)
    other_row = both["row_other"].fillna(-1).to_numpy(dtype=np.int64)
    paired = (row >= 0) & (other_row >= 0)
    t_one, t_other = one.packets["t_ps"].to_numpy(), other.packets["t_ps"].to_numpy()
    apart = t_one[row[paired]] - t_other[other_row[paired]]
    offset_ps = int(np.median(apart)) if len(apart) else 0
    at = np.where(row >= 0, _at(t_one, row), _at(t_other, other_row) + offset_ps)
    later = np.where(paired, _at(t_other, other_row) + offset_ps - _at(t_one, row), 0)
    words = ["" if not both_have else _difference(one, other, a, b) for a, b, both_have in zip(
        row.tolist(), other_row.tolist(), paired.tolist(), strict=True)]  # fmt: skip
    kind = np.where(
        paired,
        np.where(np.array([bool(text) for text in words], np.bool_), "differs", "same"),
        np.where(row >= 0, "only in the first", "only in the second"),
    )
    table = pd.DataFrame(
        {
            "t_ps": at,
            "kind": kind,
            "source": both["source"].astype(str),
            "flow": both["flow"],
            "seq": both["seq"],
            "later_ps": later,
            "differs": words,
            "row": row,
            "other_row": other_row,
        }
    )
    table = table.iloc[np.argsort(at, kind="stable")].reset_index(drop=True)
    return Pairs(table, offset_ps, int(paired.sum()))


def pairs_track(key: str, name: str, title: str, pairs: Pairs, one: Trace) -> SliceTrack:
    """Return the pairs as slices of the first capture: what differs or stands alone is in error."""
    rows = np.flatnonzero(pairs.table["row"].to_numpy() >= 0).astype(np.int64)
    packet = pairs.table["row"].to_numpy()[rows]
    kinds = pairs.table["kind"].to_numpy()[rows]
    colour = np.select([kinds == "same", kinds == "differs"], [0, 1], 2).astype(np.uint8)
    starts = one.packets["t_ps"].to_numpy()[packet]
    ends = one.packets["t_end_ps"].to_numpy()[packet]
    source = pairs.table["source"].to_numpy()[rows]
    seq, differs = pairs.table["seq"].to_numpy()[rows], pairs.table["differs"].to_numpy()[rows]
    return SliceTrack(
        key=key,
        name=title,
        source=name,
        t_ps=starts,
        t_end_ps=np.maximum(starts, ends),
        rows=rows,
        colour=colour,
        classes=_CLASSES,
        roles=("good", "warn", "error"),
        error=colour > 0,
        label=lambda item: f"{source[item]} {seq[item]} {differs[item] or kinds[item]}",
        note="Packets of this capture against those of the other, by tap, flow and sequence number.",
    )


def _keyed(packets: pd.DataFrame) -> pd.DataFrame:
    keyed = packets[_KEY].copy()
    for name in ("source", "direction"):
        keyed[name] = keyed[name].astype(str)
    keyed["row"] = np.arange(len(packets), dtype=np.int64)
    keyed = keyed[keyed["seq"] >= 0]
    keyed["again"] = keyed.groupby(_KEY, sort=False).cumcount()
    return keyed


def _at(column: Int64, rows: Int64) -> Int64:
    """Return values by row, 0 for the row -1."""
    if not len(column):
        return np.zeros(len(rows), np.int64)
    found: Int64 = np.where(rows >= 0, column[rows], 0)
    return found


def _difference(one: Trace, other: Trace, row: int, other_row: int) -> str:
    """Return what differs between two packets, the first word that does with its place; empty if nothing."""
    import pandas as pd

    said = []
    for name in _FIELDS:
        a, b = one.packets[name].iloc[row], other.packets[name].iloc[other_row]
        if (a is pd.NA) != (b is pd.NA) or (a is not pd.NA and a != b):
            said.append(f"{name} {a}, {b}")
    first, second = _words(one, row), _words(other, other_row)
    common = min(len(first), len(second))
    unlike = np.flatnonzero(first[:common] != second[:common])
    if len(unlike):
        at = int(unlike[0])
        said.append(
            f"word {at} of {len(first)}: {int(first[at]) & (1 << 64) - 1:016x}, "
            f"{int(second[at]) & (1 << 64) - 1:016x}; {len(unlike)} differ"
        )
    elif len(first) != len(second):
        said.append(f"{len(first)} words, {len(second)}")
    return "; ".join(said)


def _words(trace: Trace, row: int) -> Int64:
    first, end = trace.packets["first_row"].iloc[row], trace.packets["end_row"].iloc[row]
    words: Int64 = trace.words["data"].to_numpy()[int(first) : int(end)]
    return words
