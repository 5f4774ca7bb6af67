"""The table of what happened on lanes: its columns, and its rows in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from freezeframe.decoders.columns import name_type, row_schema
from freezeframe.decoders.contract import Texts

EVENT_TEXTS = {
    "aligned": "symbols begin at a comma",
    "realigned": "a comma moved the symbols by {value} bits",
    "sync_found": "synchronization",
    "sync_lost": "synchronization lost",
    "glitch": "a pulse of {value} samples, less than half a bit, is left out",
    "misaligned-comma": "a comma {value} bits from where symbols begin",
    "no-signal": "the line stood still for more than 20 bits",
    "cut-symbol": "the capture ends after {value} bits of a symbol",
    "no-comma": "there was no comma, so where symbols begin is not known",
    "no-bitrate": "no bit rate fits the edges of this line; say bitrate=",
    "slip": "the lane's bytes moved by {value} of 4",
    "misplaced-control": "a comma as byte {value} of a column",
    "skew": "lane 1 is {value} samples behind lane 0",
    "idle_inserted": "{value} idle columns were inserted",
    "idle_removed": "{value} idle columns were removed",
    "lanes-disagree": "the lanes say different control columns",
    "bad-control": "a control column that the link does not have",
    "not-bonded": "no pair of alignment columns, so lanes cannot be joined: {value} columns left out",
}


def event_schema() -> pa.Schema:
    """Return the columns of lane events, in the order of time.

    ``kind`` is ``event`` or ``error``; ``code`` says which (`EVENT_TEXTS`), and with it what
    ``value`` is. ``lane`` is 0 or 1, or -1 where it is about both.
    """
    return row_schema(
        {
            "code": name_type(),
            "lane": pa.int8(),
            "value": pa.int64(),
            "sample": pa.int64(),
        }
    )


def event_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of `event_schema` into words."""
    code = str(row["code"])
    long = EVENT_TEXTS[code].format(value=row["value"])
    return Texts("!" if row["kind"] == "error" else code, code, f"{row['source']}: {code}: {long}")
