"""What a card's taps recorded as two tables, packets and words, each row with its time, source and kind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from freezeframe.analyzers.card.view import CardView
from freezeframe.analyzers.contract import Evidence, Finding
from freezeframe.decoders.tap.checked import CheckedStream
from freezeframe.decoders.tap.kinds import BITS, Bit, TapKind
from freezeframe.decoders.tap.tables import packet_table

Int64 = npt.NDArray[np.int64]

_KINDS = [kind.name for kind in TapKind]


def packets_frame(card: CardView) -> pd.DataFrame:
    """Return the packets of all taps, tap by tap, ``error`` saying what is wrong with one or not in the memory.

    ``first_row`` and ``end_row`` are rows of `words_frame`. Columns of headers are empty at taps without them.
    """
    begins = word_rows(card)
    frames = []
    for name, end in card.streams.items():
        table = packet_table(card.recording, card.times, end).to_pandas()
        error = table["kind"] == "error"
        frame = table[~error].reset_index(drop=True)
        texts = dict(zip(table["number"][error], table["error"][error], strict=True))
        frame["error"] = [texts.get(number, "") for number in frame["number"]]
        columns = end.stream.packets
        ethernet = end.said is not None and end.said.is_ == "ethernet"
        frame["first_row"] = columns.first_row + begins[name]
        frame["end_row"] = columns.end_row + begins[name]
        for column in frame:
            if column in end.columns or column.startswith("field_"):
                there = frame["begun"] & ((frame[column] != -1) | (not ethernet))
                frame[column] = frame[column].astype("Int64").where(there)
        frames.append(frame)
    if not frames:
        return pd.DataFrame({"t_ps": np.empty(0, np.int64), "source": pd.Categorical([])})
    joined: pd.DataFrame = pd.concat(frames, ignore_index=True)
    for column in ("source", "kind", "verdict"):
        joined[column] = pd.Categorical(joined[column])
    return joined


def words_frame(card: CardView) -> pd.DataFrame:
    """Return every record of lane 0 of every tap as it was read, oldest first, with the number of its packet."""
    frames = [_words(card, end) for end in card.streams.values()]
    if not frames:
        return pd.DataFrame({"t_ps": np.empty(0, np.int64), "source": pd.Categorical([])})
    joined: pd.DataFrame = pd.concat(frames, ignore_index=True)
    joined["source"] = pd.Categorical(joined["source"])
    joined["kind"] = pd.Categorical(joined["kind"], [*_KINDS, "reserved"])
    return joined


def word_rows(card: CardView) -> dict[str, int]:
    """Return the row of `words_frame` at which each tap begins."""
    counts = [len(end.stream.slots) for end in card.streams.values()]
    begins = np.concatenate([[0], np.cumsum(counts)]).astype(int)
    return dict(zip(card.streams, begins.tolist(), strict=False))


def in_frames(card: CardView, finding: Finding, base: int = 0) -> Finding:
    """Return a finding whose evidence points into `words_frame` rather than into the memory of one tap.

    Args:
        base: the row at which the frame of this card begins in a larger one.
    """
    begins = {f"{card.device}.{name}": row + base for name, row in word_rows(card).items()}

    def moved(evidence: Evidence) -> Evidence:
        rows = tuple(
            replace(row, row=row.row + begins[row.source])
            if row.table == "words" and row.row is not None and row.source in begins
            else row
            for row in evidence.rows
        )
        return replace(evidence, rows=rows)

    return replace(finding, evidence=tuple(moved(each) for each in finding.evidence))


def _words(card: CardView, end: CheckedStream) -> pd.DataFrame:
    stream, records = end.stream, end.stream.records
    kind = records.columns.kind
    first, last = stream.beats
    # Of the others, and where a gap does not end a packed word, the record's own cycle alone is known.
    packed = ((BITS[kind] & Bit.WORD) != 0) & (end.tap.said.time == "exact")
    own = records.dated.cycle - end.tap.latency_cycles
    first, last = np.where(packed, first, own), np.where(packed, last, own)
    t_ps, unc_ps = card.times_ps(end.tap, first)
    t_end_ps, _ = card.times_ps(end.tap, last + 1)
    unc_ps[records.dated.slack < 0] = -1
    number = np.searchsorted(stream.packets.first_row, np.arange(len(kind)), "right") - 1
    inside = (number >= 0) & ((BITS[kind] & Bit.WORD) != 0)
    names = np.full(16, "reserved", object)
    for each in TapKind:
        names[each] = each.name
    return pd.DataFrame(
        {
            "t_ps": t_ps,
            "t_end_ps": t_end_ps,
            "t_unc_ps": unc_ps,
            "source": card.source(end.tap),
            "kind": names[kind],
            "packet": np.where(inside | (kind == TapKind.SUM), number, -1),
            "data": records.columns.data.astype(np.int64),
            "cycle": first,
            "slot": stream.slots,
        }
    )
