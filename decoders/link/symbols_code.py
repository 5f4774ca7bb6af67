"""8b/10b: one serial lane to symbols, with comma alignment, disparity and code errors.

Source: IEEE 802.3-2018 36.2.4 and 36.2.5.2.6; ANSI X3.230 (FC-PH) clause 11.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from freezeframe.capture.files.edges import Edges, samples_to_ps
from freezeframe.decoders.columns import name_type, names, one_name, row_schema, table
from freezeframe.decoders.contract import OptionValues, Texts
from freezeframe.decoders.link.code_8b10b import CODE_ERROR, ERROR_LSB, POSITIVE, K, group_name
from freezeframe.decoders.link.event_rows import event_texts
from freezeframe.decoders.link.lane import Lane, Symbols
from freezeframe.decoders.link.lane_events import EventQueue, event_table
from freezeframe.decoders.link.lane_rows import EVENT_CODES, FIRST_ERROR, SYNCED

SYMBOL_ERRORS = ("", "disparity", "code")


def symbol_schema() -> pa.Schema:
    """Return the columns of symbols, one row for each ten bits from the first comma on.

    ``kind`` is ``data``, ``control`` or ``error``, and then ``error`` is ``disparity`` (a group that
    the other running disparity has; its value stands) or ``code`` (a group of neither; ``symbol`` is
    "" and ``byte`` -1). ``rd`` is the running disparity after it, 1 or -1; ``group`` the bits as
    received, abcdei fghj with a as bit 9. ``synced``: the lane was in synchronization at its end.
    """
    return row_schema(
        {
            "error": name_type(),
            "symbol": name_type(),
            "byte": pa.int16(),
            "k": pa.bool_(),
            "rd": pa.int8(),
            "synced": pa.bool_(),
            "group": pa.int16(),
            "sample": pa.int64(),
        }
    )


def decode_8b10b(
    edges: Edges, options: OptionValues, state: SymbolState, last: bool
) -> dict[str, pa.Table]:
    """Decode a piece of a capture; ``edges`` has the lane and its clock, which may be absent.

    Raises:
        InputError: the bit rate leaves fewer than 2.5 samples a bit.
    """
    found, events = state.lane.feed(edges, last)
    state.events.add(0, events)
    taken = state.events.take(None if last else state.lane.horizon)
    sources = (edges.channels[0],)
    return {
        "8b10b.symbols": _symbol_table(found, edges),
        "8b10b.events": event_table(
            taken, EVENT_CODES, EVENT_CODES[FIRST_ERROR:], sources, edges.samplerate_hz
        ),
    }


def symbol_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of either table into words."""
    if "group" not in row:
        return event_texts(row)
    rd = "+" if row["rd"] > 0 else "-"
    group = f"{row['group']:010b}"
    bits = f"{group[:6]} {group[6:]}"
    if row["error"] == "code":
        return Texts("!", f"code error {bits}", f"{row['source']}: {bits} is no 8b/10b group")
    value = f"{row['symbol']} 0x{row['byte']:02x}"
    if row["error"] == "disparity":
        where = f"{row['source']}: {value} ({bits}): not at this running disparity"
        return Texts("!", f"{value} disparity error", where)
    return Texts(str(row["symbol"]), value, f"{row['source']}: {value} ({bits}), RD{rd}")


class SymbolState:
    def __init__(self, options: OptionValues) -> None:
        self.lane = Lane("8b10b", options, 0, 1)
        self.events = EventQueue()


def _symbol_table(found: Symbols, edges: Edges) -> pa.Table:
    entry = found.entry
    error = (entry >> ERROR_LSB & 3).astype(np.int32)
    place = (entry & (K | 0xFF)).astype(np.int32)
    no_code = error == CODE_ERROR
    control = entry & K != 0
    return table(
        symbol_schema(),
        {
            "t_ps": samples_to_ps(found.sample, edges.samplerate_hz),
            "source": one_name(edges.channels[0], len(entry)),
            "kind": names(np.where(error != 0, 2, control), ("data", "control", "error")),
            "error": names(error, SYMBOL_ERRORS),
            "symbol": names(np.where(no_code, 2 * K, place), _group_names()),
            "byte": np.where(no_code, -1, place & 0xFF).astype(np.int16),
            "k": control,
            "rd": np.where(entry & POSITIVE, 1, -1).astype(np.int8),
            "synced": entry & SYNCED != 0,
            "group": found.group,
            "sample": found.sample,
        },
    )


@cache
def _group_names() -> tuple[str, ...]:
    """Return the names of data 0..255, of control 0..255, and "" for a group that has none."""
    return (*(group_name(number & 0xFF, number >= K) for number in range(2 * K)), "")
