"""Packets of two captures beside each other, as the analysis ``diff`` aligned them: a table, and two tracks a tap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from freezeframe.analyzers.run_diff.packets import TapRuns, changes
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.trace.coverage import Coverage
from freezeframe.decoders.trace.decode import Trace
from freezeframe.gui.tracks.tracks import MarkTrack, SliceTrack, Track

Int64 = npt.NDArray[np.int64]

KINDS = (
    "same", "differs", "only in the first", "only in the second", "not recorded in the first",
    "not recorded in the second",
)  # fmt: skip
"""What a packet can be; the last two come before or after what the other recording holds."""

_ROLES = ("good", "error", "error", "error", "idle", "idle")
_WRONG = 3  # kinds from 1 to here are divergences
_ROW_PX = 22  # sixteen of them, two a tap, fit a window
_Found = tuple[str, int, int, str, str]  # tap, row, other row, kind, what differs


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Two captures beside each other.

    Attributes:
        table: a row a packet, by time: ``t_ps`` in the first capture (in the second, moved by
            ``offset_ps``, where only that has it), kind (of `KINDS`), source, flow, seq, other_seq,
            ``later_ps`` of the second, ``row`` and ``other_row`` of the tables ``packets``, differs (in
            words). -1 and null where one of them has no such packet.
        offset_ps: what is added to times of the second so that its packets are where the first's are.
        paired: packets that both have.
        first: the row of the table in which the two part first; None where they do not.
        taps: those that both recorded, in the order of the alignment.
    """

    table: pd.DataFrame
    offset_ps: int
    paired: int
    first: int | None
    taps: tuple[str, ...]


def pair_packets(taps: Sequence[TapRuns], one: Trace, other: Trace) -> Pairs:
    """Return the packets of two captures side by side.

    The offset is the median of the differences of time between packets that both have; 0 without any.

    Args:
        taps: what ``align_taps`` found in the two.
    """
    found = [line for tap in taps for line in _of_tap(tap, one, other)]
    row = np.array([line[1] for line in found], np.int64)
    other_row = np.array([line[2] for line in found], np.int64)
    paired = (row >= 0) & (other_row >= 0)
    t_one, t_other = _at(one, "t_ps", row), _at(other, "t_ps", other_row)
    offset_ps = int(np.median((t_one - t_other)[paired])) if paired.any() else 0
    t_ps = np.where(row >= 0, t_one, t_other + offset_ps)
    table = pd.DataFrame(
        {
            "t_ps": t_ps,
            "kind": pd.Categorical([line[3] for line in found], list(KINDS)),
            "source": [line[0] for line in found],
            "flow": np.where(row >= 0, _at(one, "flow", row), _at(other, "flow", other_row)),
            "seq": _at(one, "seq", row),
            "other_seq": _at(other, "seq", other_row),
            "later_ps": pd.arrays.IntegerArray(t_other + offset_ps - t_one, ~paired),
            "row": row,
            "other_row": other_row,
            "differs": [line[4] for line in found],
        }
    )
    table = table.iloc[np.argsort(t_ps, kind="stable")].reset_index(drop=True)
    codes = table["kind"].cat.codes.to_numpy()
    parted = np.flatnonzero((codes >= 1) & (codes <= _WRONG))
    first = int(parted[0]) if len(parted) else None
    return Pairs(table, offset_ps, int(paired.sum()), first, tuple(tap.source for tap in taps))


def pair_tracks(
    key: str, name: str, others_name: str, pairs: Pairs, one: Trace, other: Trace
) -> Iterator[Track]:
    """Yield a mark where the two part first, then each tap of both: the first's above the second's.

    Items of a pair are the same row of the table. Times are those of the first capture.
    """
    table = pairs.table
    if pairs.first is not None:
        said = table.iloc[pairs.first]
        yield MarkTrack(
            key=f"{key}/first",
            name="first divergence",
            source=name,
            t_ps=np.array([int(said["t_ps"])], np.int64),
            rows=np.array([pairs.first], np.int64),
            text=(f"first divergence: {said['source']}, packet {_label(said)}",),
            role=("error",),
            note=f"Where this capture and {others_name} part first, of the packets that both recorded.",
        )
    for source in pairs.taps:
        for which, trace, column, offset_ps in (
            ("first", one, "row", 0),
            ("second", other, "other_row", pairs.offset_ps),
        ):
            rows = np.flatnonzero((table["source"] == source) & (table[column] >= 0))
            if not len(rows):
                continue
            yield _side(f"{key}/{source}/{which}", name, f"{source} {which}", table,
                        rows.astype(np.int64), trace, column, offset_ps,
                        trace.coverage.words(source).shifted(offset_ps),
                        f"Packets of {name if which == 'first' else others_name} at this tap, where "
                        "those of the other stand.")  # fmt: skip


def _side(
    key: str, source: str, name: str, table: pd.DataFrame, rows: Int64, trace: Trace, column: str,
    offset_ps: int, coverage: Coverage, note: str,
) -> SliceTrack:  # fmt: skip
    packets = table[column].to_numpy()[rows]
    starts = _at(trace, "t_ps", packets) + offset_ps
    ends = np.maximum(_at(trace, "t_end_ps", packets) + offset_ps, starts)
    order = np.argsort(starts, kind="stable")
    rows, starts, ends = rows[order], starts[order], ends[order]
    kinds = table["kind"].cat.codes.to_numpy()[rows].astype(np.uint8)

    def tip(item: int) -> str:
        said = table.iloc[int(rows[item])]
        return f"{said['kind']}\n{said['differs']}\n{_later(said)}".strip()

    return SliceTrack(
        key=key,
        name=name,
        source=source,
        t_ps=starts,
        t_end_ps=ends,
        rows=rows,
        colour=kinds,
        classes=KINDS,
        roles=_ROLES,
        error=(kinds >= 1) & (kinds <= _WRONG),
        label=lambda item: _label(table.iloc[int(rows[item])]),
        tip=tip,
        height_px=_ROW_PX,
        note=note,
        coverage=coverage,
    )


def _label(said: Any) -> str:
    """Return the numbers of a packet, and what is the matter with it."""
    numbers = [int(said[name]) for name in ("seq", "other_seq") if int(said[name]) >= 0]
    number = " / ".join(str(one) for one in dict.fromkeys(numbers))
    matter = said["differs"] or ("" if said["kind"] == "same" else said["kind"])
    return f"{number} {matter}".rstrip()


def _later(said: Any) -> str:
    by_ps = said["later_ps"]
    if by_ps is pd.NA or not by_ps:
        return ""
    by_ps = int(by_ps)
    return f"{format_ps(abs(by_ps))} {'later' if by_ps > 0 else 'earlier'} in the second"


def _of_tap(tap: TapRuns, one: Trace, other: Trace) -> Iterator[_Found]:
    """Yield what a tap's alignment says, by the rows of the tables ``packets``."""
    rows = _packet_rows(one, tap.a.rows), _packet_rows(other, tap.b.rows)
    for up, down in tap.same:
        yield tap.source, int(rows[0][up.start]), int(rows[1][down.start]), KINDS[0], ""
    for pair in tap.altered:
        lengths = (pair.up.body_words, pair.down.body_words)
        said = ", ".join(changes(pair))
        if lengths[0] != lengths[1]:
            said += f"; {lengths[0]} payload words, {lengths[1]} in the second"
        yield (
            tap.source,
            int(rows[0][pair.up.start]),
            int(rows[1][pair.down.start]),
            KINDS[1],
            said,
        )
    for packets, kind in ((tap.missing, KINDS[2]), (tap.alone[0], KINDS[5])):
        for packet in packets:
            yield tap.source, int(rows[0][packet.start]), -1, kind, ""
    for packets, kind in ((tap.extra, KINDS[3]), (tap.alone[1], KINDS[4])):
        for packet in packets:
            yield tap.source, -1, int(rows[1][packet.start]), kind, ""


def _packet_rows(trace: Trace, words: Int64) -> Int64:
    """Return the packet of each of these rows of the table ``words``."""
    column: Int64 = trace.words["packet"].to_numpy(dtype=np.int64)
    return column[words]


def _at(trace: Trace, name: str, rows: Int64) -> Int64:
    """Return whole numbers of packets by row, -1 for the row -1."""
    column = trace.packets[name].to_numpy(dtype=np.int64, na_value=-1) if name != "t_ps" else (
        trace.packets[name].to_numpy(dtype=np.int64))  # fmt: skip
    if not len(column):
        return np.full(len(rows), -1, np.int64)
    found: Int64 = np.where(rows >= 0, column[rows], -1)
    return found
