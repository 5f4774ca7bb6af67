"""Compare any two taps of a capture, or any two columns of words: what was omitted, doubled, altered or reordered.

Packets of different flows may overtake each other on the way (a crossbar, a scheduler); within a flow they may
not. So packets are matched by their headers first, and each packet's words are compared with its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from freezeframe.analyzers.analysis import AnalysisResult, Figure
from freezeframe.analyzers.streams import Packet, Stream
from freezeframe.analyzers.taps.align import Edit, Op
from freezeframe.analyzers.taps.tap_diff import (
    PacketPair,
    SegmentDiff,
    compare_packets,
    diff_streams,
)
from freezeframe.analyzers.taps.word_diff import Order, diff_words
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.errors import InputError

_AROUND = 6  # words shown on either side of the first divergence
_COLUMNS: dict[str, Any] = {
    "up": str,
    "down": str,
    "op": str,
    "words": np.int64,
    "flow": np.int64,
    "packet": np.int64,
    "word": np.int64,
    "word_places": np.int64,
    "up_at": np.int64,
    "down_at": np.int64,
    "t_ps": np.int64,
    "t_unc_ps": np.int64,
    "up_data": np.int64,
    "down_data": np.int64,
    "bits_changed": np.int64,
    "note": str,
}


def compare_taps(view: CaptureView, up: str, down: str) -> SegmentDiff:
    """Compare two taps, neighbours or not; ``up`` is the one the words cross first.

    Args:
        up, down: ``A.tx_enq``, ``B.rx_deq``, ...
    Raises:
        InputError: the capture has no such tap, or may not be looked at for it.
    """
    streams = []
    for name in (up, down):
        device, _, tap = name.partition(".")
        stream = view.stream(device, tap)
        if stream is None:
            known = ", ".join(stream.source for stream in view.streams.values()) or "no tap"
            raise InputError(f"no tap {name!r} to compare; the capture holds {known}")
        streams.append(stream)
    return diff_streams(f"{streams[0].device}->{streams[1].device}", streams[0], streams[1])


def differences(diff: SegmentDiff) -> pd.DataFrame:
    """Return one row for each difference, in the order of the downstream tap.

    Columns: ``op``; ``words`` touched; ``flow``, ``packet`` (sequence number); ``word``, the index in the
    payload, and ``word_places``, over how many places from there on it is uncertain; ``up_at``,
    ``down_at``, positions in the two streams; ``t_ps`` of the downstream word (upstream where there is
    none) and ``t_unc_ps``; the words as int64 bit patterns; ``note``. -1 where there is none or it is not
    known; the data of a word that is not there is 0.
    """
    rows = sorted(_rows(diff), key=lambda row: (row["down_at"], row["up_at"]))
    table = pd.DataFrame(rows, columns=list(_COLUMNS))
    return table.astype({name: kind for name, kind in _COLUMNS.items() if kind is not str})


def surroundings(diff: SegmentDiff, around: int = _AROUND) -> pd.DataFrame:
    """Return the words around the first divergence side by side, equal ones and the others.

    Columns: up_at, down_at (-1 where nothing is there), up_data, down_data (int64 bit patterns, 0 where
    nothing stands), op (empty where equal), label. Without rows where nothing diverges.
    """
    columns = ["up_at", "down_at", "up_data", "down_data", "op", "label"]
    divergence = diff.first_divergence
    lines = [] if divergence is None else list(_side_by_side(diff, *divergence, around))
    return pd.DataFrame(lines, columns=columns)


def diff_columns(
    up: pd.DataFrame,
    down: pd.DataFrame,
    column: str | tuple[str, str],
    *,
    up_bits: int | None = None,
    down_bits: int | None = None,
    order: Order = "low-first",
    flow: str | None = None,
) -> pd.DataFrame:
    """Compare a column of words of two decoded tables, by flow where a column says the flow.

    Args:
        column: its name, or its two names.
        up_bits, down_bits, order: as of `word_diff.diff_words`.
        flow: name of a column in both tables: rows of one value are compared with each other, so that
            flows may overtake one another.
    Returns:
        The runs (`word_diff.WordDiff.table`) with ``flow``, ``up_row``, ``down_row`` (row of the first word
        in either table; where nothing is there the row before which it would) and, where the tables have
        ``t_ps``, ``up_t_ps`` and ``down_t_ps``.
    Raises:
        InputError: a table lacks the column.
        ValueError: as of `word_diff.diff_words`.
    """
    names = (column, column) if isinstance(column, str) else column
    for side, table, name in zip(("up", "down"), (up, down), names, strict=True):
        for wanted in (name, flow):
            if wanted is not None and wanted not in table.columns:
                has = ", ".join(map(str, table.columns))
                raise InputError(f"{side}: the table has no column {wanted!r}; it has {has}")
    words = [table[name].to_numpy() for table, name in zip((up, down), names, strict=True)]
    parts = []
    for value, up_rows, down_rows in _by_flow(up, down, flow):
        word_diff = diff_words(
            words[0][up_rows], words[1][down_rows],
            up_bits=up_bits, down_bits=down_bits, order=order,
        ).table()  # fmt: skip
        word_diff.insert(0, "flow", value)
        for side, rows, table in (("up", up_rows, up), ("down", down_rows, down)):
            at = np.append(rows, len(table))[word_diff[f"{side}_word"].to_numpy()]
            word_diff[f"{side}_row"] = at
            if "t_ps" in table.columns and len(table):
                word_diff[f"{side}_t_ps"] = table["t_ps"].to_numpy()[np.minimum(at, len(table) - 1)]
        parts.append(word_diff)
    joined = pd.concat(parts, ignore_index=True)
    return joined.sort_values("down_row", kind="stable", ignore_index=True)


def _by_flow(
    up: pd.DataFrame, down: pd.DataFrame, flow: str | None
) -> Iterator[tuple[int, npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    if flow is None:
        yield -1, np.arange(len(up)), np.arange(len(down))
        return
    flows = [table[flow].to_numpy().astype(np.int64) for table in (up, down)]
    for value in np.union1d(*flows).tolist() or [-1]:
        yield value, np.flatnonzero(flows[0] == value), np.flatnonzero(flows[1] == value)


def run(view: CaptureView) -> AnalysisResult:
    diffs = [
        compare_taps(view, up, down)
        for sender, receiver in view.directions
        for up, down in _segments(view, sender, receiver)
    ]
    if not diffs:
        return AnalysisResult(
            "taps",
            notes=("Fewer than two taps of one direction were recorded: nothing to compare.",),
        )
    tables = {f"{diff.up.source} - {diff.down.source}": differences(diff) for diff in diffs}
    figures: list[Figure] = []
    notes = list(view.switched_off)
    first: SegmentDiff | None = None
    for diff, table in zip(diffs, tables.values(), strict=True):
        figures += _figures(diff, table)
        if first is None and diff.first_divergence is not None:
            first = diff
        if not diff.pairs:
            notes.append(f"{diff.up.source} and {diff.down.source} hold no packet in common.")
    joined = pd.concat([table for table in tables.values() if len(table)] or [tables.popitem()[1]])
    around = pd.DataFrame() if first is None else surroundings(first)
    if first is None:
        notes.append("Every word recorded at two taps is the same at both, in the same order.")
    else:
        notes.append(_first_note(first))
    return AnalysisResult(
        "taps",
        figures=tuple(figures),
        tables={"differences": joined.reset_index(drop=True), "first_divergence": around},
        notes=tuple(notes),
    )


def _segments(view: CaptureView, sender: str, receiver: str) -> Iterator[tuple[str, str]]:
    """Yield neighbouring taps of a direction that were recorded, then its first and last."""
    there = [f"{d}.{t}" for d, t in view.path(sender, receiver) if view.stream(d, t) is not None]
    yield from pairwise(there)
    if len(there) > 2:
        yield there[0], there[-1]


def _figures(diff: SegmentDiff, table: pd.DataFrame) -> Iterator[Figure]:
    name = f"{diff.up.source}-{diff.down.source}"
    label = f"{diff.up.source} to {diff.down.source}"
    note = f"{len(diff.pairs):,} packets stand at both taps"
    yield Figure(
        f"{name}.compared", f"{label}, words compared", diff.words_compared, "words", note=note
    )
    sums = table.groupby("op")["words"].sum()
    total = int(sums.sum())
    yield Figure(f"{name}.differing", f"{label}, words that differ", total, "words")
    for op in (Op.OMITTED, Op.DUPLICATED, Op.INSERTED, Op.ALTERED, Op.REORDERED):
        if op in sums.index:
            yield Figure(f"{name}.{op}", f"{label}, words {op}", int(sums[op]), "words")


def _first_note(diff: SegmentDiff) -> str:
    divergence = diff.first_divergence
    assert divergence is not None
    pair, edit = divergence
    which = pair.payload_index(edit)
    if which is None:
        where = "a HEAD or TAIL word, or one whose place is not known"
    elif which[1] - which[0] == 1:
        where = f"payload word {which[0]}"
    else:
        where = f"one of payload words {which[0]} to {which[1] - 1}"
    seq = pair.up.seq if pair.up.seq is not None else pair.down.seq
    packet = "a packet whose header was not recorded" if seq is None else f"packet {seq}"
    return (
        f"First divergence: between {diff.up.source} and {diff.down.source}, {packet}: "
        f"{where} {edit.op}."
    )


def _rows(diff: SegmentDiff) -> Iterator[dict[str, object]]:
    for pair in diff.pairs:
        yield from _pair_rows(diff, pair)
    good = {
        (p.header, p.address) for pair in diff.pairs for p in (pair.up, pair.down) if p.has_head
    }
    for p, q in diff.reordered:
        row = _whole(diff, diff.down, q, Op.REORDERED, _how_reordered(diff, p, q))
        row["up_at"] = p.start
        yield row
        yield from _pair_rows(diff, compare_packets(diff.up, p, diff.down, q))
    for p in diff.missing:
        yield _whole(diff, diff.up, p, Op.OMITTED, "the whole packet")
    for q in diff.extra:
        twice = q.has_head and (q.header, q.address) in good
        op = Op.DUPLICATED if twice else Op.INSERTED
        yield _whole(diff, diff.down, q, op, "the whole packet")


def _how_reordered(diff: SegmentDiff, p: Packet, q: Packet) -> str:
    """Say whether a packet left the order of its own flow, or only overtook others."""
    position = {pair.up.index: pair.down.index for pair in diff.pairs if pair.up.flow == p.flow}
    position.update({a.index: b.index for a, b in diff.reordered if a.flow == p.flow})
    overtaken = any(
        (up < p.index) != (down < q.index) for up, down in position.items() if up != p.index
    )
    return "the whole packet, within its flow" if overtaken else "the whole packet, between flows"


def _pair_rows(diff: SegmentDiff, pair: PacketPair) -> Iterator[dict[str, object]]:
    for edit in pair.edits:
        up_at = pair.up.start + pair.up_skip + edit.up
        down_at = pair.down.start + pair.down_skip + edit.down
        here_up = edit.op in (Op.OMITTED, Op.ALTERED)
        here_down = edit.op is not Op.OMITTED
        a = int(diff.up.data[up_at]) if here_up else None
        b = int(diff.down.data[down_at]) if here_down else None
        stream, at = (diff.down, down_at) if here_down else (diff.up, up_at)
        index = pair.payload_index(edit)
        p = pair.up if pair.up.header_ok else pair.down
        yield {
            **_base(diff, p, stream, at),
            "op": str(edit.op),
            "words": 1,
            "word": -1 if index is None else index[0],
            "word_places": -1 if index is None else index[1] - index[0],
            "up_at": up_at,
            "down_at": down_at,
            "up_data": _signed(a or 0),
            "down_data": _signed(b or 0),
            "bits_changed": (a ^ b).bit_count() if a is not None and b is not None else -1,
            "note": "" if index is not None else _which_word(stream, at),
        }


def _which_word(stream: Stream, at: int) -> str:
    kind = int(stream.kind[at])
    return {1: "a HEAD word", 3: "the TAIL word"}.get(kind, "its place in the payload is not known")


def _whole(diff: SegmentDiff, stream: Stream, p: Packet, op: Op, note: str) -> dict[str, object]:
    upstream = stream is diff.up
    return {
        **_base(diff, p, stream, p.start),
        "op": str(op),
        "words": p.end - p.start,
        "word": -1,
        "word_places": -1,
        "up_at": p.start if upstream else -1,
        "down_at": -1 if upstream else p.start,
        "up_data": 0,
        "down_data": 0,
        "bits_changed": -1,
        "note": note,
    }


def _base(diff: SegmentDiff, p: Packet, stream: Stream, at: int) -> dict[str, object]:
    t_ps, unc_ps = stream.when(at)
    return {
        "up": diff.up.source,
        "down": diff.down.source,
        "flow": -1 if p.flow is None else p.flow,
        "packet": -1 if p.seq is None else p.seq,
        "t_ps": t_ps,
        "t_unc_ps": -1 if unc_ps is None else unc_ps,
    }


def _side_by_side(
    diff: SegmentDiff, pair: PacketPair, edit: Edit, around: int
) -> Iterator[tuple[int, int, int, int, str, str]]:
    """Yield the words of a packet around an edit, laid beside each other as the edits say."""
    edits = {(e.up, e.down): e for e in pair.edits}
    up_begin, down_begin = pair.up.start + pair.up_skip, pair.down.start + pair.down_skip
    i, j = edit.up, edit.down
    back = min(around, i, j)
    i, j = i - back, j - back
    shown = 0
    up_end, down_end = pair.up.end - up_begin, pair.down.end - down_begin
    while shown < back + 1 + around and (i < up_end or j < down_end):
        here = edits.get((i, j))
        op = "" if here is None else str(here.op)
        has_up = i < up_end and (here is None or here.op in (Op.OMITTED, Op.ALTERED))
        has_down = j < down_end and (here is None or here.op is not Op.OMITTED)
        if here is None and not (has_up and has_down):
            return  # one of the two recordings ends here
        up_at, down_at = up_begin + i, down_begin + j
        stream, at, p = (diff.up, up_at, pair.up) if has_up else (diff.down, down_at, pair.down)
        yield (
            up_at if has_up else -1,
            down_at if has_down else -1,
            _signed(int(diff.up.data[up_at])) if has_up else 0,
            _signed(int(diff.down.data[down_at])) if has_down else 0,
            op,
            _label(stream, at, p),
        )
        i, j = i + has_up, j + has_down
        shown += 1


def _label(stream: Stream, at: int, p: Packet) -> str:
    kind = int(stream.kind[at])
    if kind != 2:
        return "HEAD" if kind == 1 else "TAIL"
    return f"word {at - p.start - p.heads}" if not p.cut_start or p.has_head else "word ?"


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value
