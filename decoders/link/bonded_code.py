"""Two 8b/10b lanes joined to the 64-bit words of the link, with what happened on the lanes.

Source: docs/formats.md section 3.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.files.edges import PS_PER_S, Edges, samples_to_ps
from freezeframe.decoders.columns import name_type, names, one_name, row_schema, table
from freezeframe.decoders.contract import OptionValues, Texts
from freezeframe.decoders.link.bonding_kernels import (
    MOST_SKEW_COLUMNS,
    WORD_ERRORS,
    WORD_KINDS,
    first_pair,
    join_lanes,
    last_word,
    new_bond_state,
)
from freezeframe.decoders.link.column_kernels import (
    BONDING_CODES,
    NOT_BONDED,
    columns,
    new_column_state,
)
from freezeframe.decoders.link.event_rows import event_texts
from freezeframe.decoders.link.lane import Lane
from freezeframe.decoders.link.lane_events import EventQueue, event_table
from freezeframe.decoders.link.lane_rows import EVENT, EVENT_CODES, FIRST_ERROR

_EVER = 1 << 62  # a sample after all others
_MOST_HELD = 8192  # columns that wait for the first pair of align columns
_BOTH = -1


def word_schema() -> pa.Schema:
    """Return the columns of the words that cross the link, in order.

    ``kind`` is ``HEAD``, ``BODY``, ``TAIL``, ``CREDIT``, ``STRAY`` (in no packet) or ``error``, and then
    ``error`` says which (`WORD_ERROR_TEXTS`). ``first``: the first word of its packet. ``data`` is a bit
    pattern; bit i of ``bad`` says that byte i of it was not received. ``t_ps`` is where the word begins
    on lane 0, known to ``t_unc_ps``.
    """
    return row_schema(
        {
            "t_unc_ps": pa.int64(),
            "error": name_type(),
            "first": pa.bool_(),
            "data": pa.int64(),
            "bad": pa.int16(),
            "sample": pa.int64(),
        }
    )


def decode_bonded(
    edges: Edges, options: OptionValues, state: BondedState, last: bool
) -> dict[str, pa.Table]:
    """Decode a piece of a capture; ``edges`` has both lanes and their clock, which may be absent.

    Raises:
        InputError: the bit rate leaves fewer than 2.5 samples a bit.
    """
    for number, half in enumerate(state.halves):
        half.feed(number, edges, state.events, last)
    words = state.join(edges.end_sample, last)
    taken = state.events.take(None if last else state.horizon())
    source = _source(edges)
    codes = (*EVENT_CODES, *BONDING_CODES)
    errors = (*EVENT_CODES[FIRST_ERROR:], "slip", *BONDING_CODES[4:])
    return {
        "bonded.words": _word_table(words, edges),
        "bonded.lane_events": event_table(
            taken, codes, errors, (*edges.channels[:2], source), edges.samplerate_hz
        ),
    }


def word_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of either table into words."""
    if "data" not in row:
        return event_texts(row)
    if row["kind"] == "error":
        error = str(row["error"])
        return Texts("!", error, f"{row['source']}: {error}: {WORD_ERROR_TEXTS[error]}")
    data = f"{row['data'] & (1 << 64) - 1:016x}"
    bad = f", bytes not received: mask {row['bad']:02x}" if row["bad"] else ""
    return Texts(
        str(row["kind"]), f"{row['kind']} {data}", f"{row['source']}: {row['kind']} {data}{bad}"
    )


WORD_ERROR_TEXTS = {
    "no-end": "the packet stopped without a control column that ends it",
    "no-start": "the end of a packet that did not begin",
    "no-credit": "a credit word was announced and did not come",
    "short-packet": "the packet has fewer than three words",
    "cut-packet": "the capture ends inside the packet",
}


class _Columns(NamedTuple):
    """Columns of a lane, as column_kernels.columns fills them."""

    sample: npt.NDArray[np.int64]
    span: npt.NDArray[np.int64]
    half: npt.NDArray[np.uint32]
    what: npt.NDArray[np.uint16]

    @classmethod
    def empty(cls, count: int) -> _Columns:
        return cls._make(
            np.empty(count, kind) for kind in (np.int64, np.int64, np.uint32, np.uint16)
        )

    def cut(self, begin: int, end: int | None = None) -> _Columns:
        return _Columns._make(column[begin:end] for column in self)


class _Words(NamedTuple):
    """Words, as bonding_kernels.join_lanes fills them."""

    sample: npt.NDArray[np.int64]
    data: npt.NDArray[np.uint64]
    bad: npt.NDArray[np.uint8]
    kind: npt.NDArray[np.uint8]
    error: npt.NDArray[np.uint8]
    first: npt.NDArray[np.bool_]

    @classmethod
    def empty(cls, count: int) -> _Words:
        kinds = (np.int64, np.uint64, np.uint8, np.uint8, np.uint8, np.bool_)
        return cls._make(np.empty(count, kind) for kind in kinds)


class _Half:
    """One lane: its decoder, and its columns that wait for those of the other lane.

    Attributes:
        known_to: all columns that begin before this sample are there.
        taken: columns that waited once and are gone.
    """

    def __init__(self, lane: Lane) -> None:
        self.waiting = _Columns.empty(0)
        self.known_to = 0
        self.taken = 0
        self._lane = lane
        self._state = new_column_state()

    def feed(self, number: int, edges: Edges, events: EventQueue, last: bool) -> None:
        symbols, lane_events = self._lane.feed(edges, last)
        events.add(number, lane_events)
        room = _Columns.empty(len(symbols.sample) // 4 + 2)
        rows = np.zeros(2 * len(symbols.sample), dtype=EVENT)
        count, event_count = columns(
            (symbols.sample, symbols.entry), self._state, tuple(room), rows
        )
        events.add(number, rows[:event_count].copy())
        new = room.cut(0, count)
        self.waiting = _Columns._make(
            np.concatenate((getattr(self.waiting, name), getattr(new, name)))
            for name in _Columns._fields
        )
        state = self._state[0]
        begun = state["place"] > 0 and self._lane.aligned
        self.known_to = _EVER if last else int(state["sample"]) if begun else self._lane.horizon

    def drop(self, count: int) -> None:
        """Forget the first columns that wait."""
        self.waiting = self.waiting.cut(count)
        self.taken += count


@dataclass
class BondedState:
    """Two lanes, and how far they are joined."""

    halves: tuple[_Half, _Half]
    bond: npt.NDArray[np.void]
    events: EventQueue
    bonded: bool = False
    begin: int = 0  # before bonding: columns of lane 0 that have no partner

    def join(self, end_sample: int, last: bool) -> _Words:
        first, second = self.halves
        if not self.bonded:
            self._find_bond(end_sample, last)
        if not self.bonded:
            return _Words.empty(0)
        columns = len(first.waiting.sample) + len(second.waiting.sample)
        words = _Words.empty(4 * columns + 2)
        rows = np.zeros(3 * columns, dtype=EVENT)
        done0, done1, count, event_count = join_lanes(
            tuple(first.waiting),
            tuple(second.waiting),
            (first.known_to, second.known_to),
            self.bond,
            tuple(words),
            rows,
        )
        first.drop(done0)
        second.drop(done1)
        self.events.add(_BOTH, rows[:event_count].copy())
        if last:
            rest = _Words._make(column[count:] for column in words)
            count += last_word(end_sample, self.bond, tuple(rest))
        return _Words._make(column[:count] for column in words)

    def horizon(self) -> int:
        """Return the sample before which no event is still to come."""
        places, span = [], 0
        for half in self.halves:
            waiting = half.waiting
            places.append(int(waiting.sample[0]) if len(waiting.sample) else half.known_to)
            span = max(span, int(waiting.span.max()) if len(waiting.span) else 0)
        return min(places) - max(2 * MOST_SKEW_COLUMNS * span, abs(int(self.bond["skew"][0])))

    def _find_bond(self, end_sample: int, last: bool) -> None:
        """Look for the first pair of align columns, and let what is too old go."""
        first, second = self.halves
        lanes = (tuple(first.waiting), tuple(second.waiting))
        at0, at1 = first_pair(*lanes, self.begin, second.known_to)
        lost = -1
        self.bonded = at1 >= 0
        if self.bonded:
            skew = second.waiting.sample[at1] - first.waiting.sample[at0]
            self.bond["skew"] = skew
            first.drop(max(0, at0 - _MOST_HELD))
            second.drop(max(0, at1 - _MOST_HELD))
            lost = max(first.taken, second.taken)
            at = min(int(half.waiting.sample[0]) for half in self.halves)
        elif last:
            lost = max(half.taken + len(half.waiting.sample) for half in self.halves)
            at = end_sample
        else:
            sample, span = first.waiting.sample, first.waiting.span
            undecided = int(sample[at0]) if at0 < len(sample) else first.known_to
            reach = 2 * MOST_SKEW_COLUMNS * (int(span.max()) if len(span) else 0)
            partner = int(np.searchsorted(second.waiting.sample, undecided - reach))
            first.drop(max(0, at0 - _MOST_HELD))
            second.drop(max(0, partner - _MOST_HELD))
            self.begin = min(at0, _MOST_HELD)
        if lost > 0:
            event = np.zeros(1, dtype=EVENT)
            event["sample"], event["code"], event["value"] = at, NOT_BONDED, lost
            self.events.add(_BOTH, event)


def new_state(options: OptionValues) -> BondedState:
    lanes = (_Half(Lane("bonded", options, 0, 2)), _Half(Lane("bonded", options, 1, 2)))
    return BondedState(lanes, new_bond_state(), EventQueue())


def _source(edges: Edges) -> str:
    return f"{edges.channels[0]}+{edges.channels[1]}"


def _word_table(words: _Words, edges: Edges) -> pa.Table:
    count = len(words.sample)
    sample = np.maximum(words.sample, 0)
    return table(
        word_schema(),
        {
            "t_ps": samples_to_ps(sample, edges.samplerate_hz),
            "source": one_name(_source(edges), count),
            "kind": names(words.kind, WORD_KINDS),
            "t_unc_ps": np.full(count, -(-PS_PER_S // (edges.samplerate_hz or PS_PER_S))),
            "error": names(words.error, WORD_ERRORS),
            "first": words.first,
            "data": words.data.view(np.int64),
            "bad": words.bad.astype(np.int16),
            "sample": sample,
        },
    )
