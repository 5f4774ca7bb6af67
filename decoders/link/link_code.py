"""The link's packets and credits, from the words of two bonded lanes.

Source: docs/formats.md sections 3, 3.1 and 8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.registers.layouts import CREDIT, HEADER
from freezeframe.decoders.columns import (
    codes_of,
    name_type,
    names,
    one_name,
    row_schema,
    table,
    verdicts,
)
from freezeframe.decoders.contract import OptionValues, Texts
from freezeframe.decoders.link import packet_kernels as kernels
from freezeframe.decoders.link.bonded_code import WORD_ERROR_TEXTS
from freezeframe.decoders.link.bonding_kernels import WORD_ERRORS, WORD_KINDS
from freezeframe.decoders.link.packet_kernels import LINK_ERRORS, new_packet_state
from freezeframe.decoders.trace.schema import PACKET_KINDS, UNKNOWN_KIND, field_of


def link_word_schema() -> pa.Schema:
    """Return the columns of words: as `words` of docs/formats.md section 8, with ``bad`` of `bonded.words`."""
    return row_schema(
        {
            "t_unc_ps": pa.int64(),
            "data": pa.int64(),
            "bad": pa.int16(),
            "packet": pa.int64(),
            "word": pa.int32(),
        }
    )


def packet_schema() -> pa.Schema:
    """Return the columns of packets: as `packets` of docs/formats.md section 8, in the order of their end.

    A packet that ended without a TAIL has ``length_ok`` false; ``whole`` is false where the capture cuts it.
    """
    return row_schema(
        {
            "t_end_ps": pa.int64(),
            "t_unc_ps": pa.int64(),
            "direction": name_type(),
            "flow": pa.int16(),
            "seq": pa.int32(),
            "length": pa.int16(),
            "body_words": pa.int32(),
            "flags": pa.int16(),
            "dest": pa.int64(),
            "header_ok": pa.bool_(),
            "payload_ok": pa.bool_(),
            "length_ok": pa.bool_(),
            "whole": pa.bool_(),
            "first_row": pa.int64(),
            "end_row": pa.int64(),
        }
    )


def credit_schema() -> pa.Schema:
    """Return the columns of credits: ``freed`` in words, cumulative, wrapped as in the credit word.

    ``kind`` is ``credit``, or ``error`` where parity or CRC do not hold.
    """
    return row_schema(
        {
            "flow": pa.int16(),
            "freed": pa.int32(),
            "flags": pa.int16(),
            "parity_ok": pa.bool_(),
            "crc_ok": pa.bool_(),
        }
    )


def error_schema() -> pa.Schema:
    """Return the columns of what is wrong, in the order in which it was known (`_ERROR_TEXTS`).

    ``flow`` and ``packet`` (a row of ``link.packets``) are -1 where there is none, and so are
    ``expected`` and ``seen``: the CRC of what came and the one that came with it, the parity bit of a
    credit, the sequence number, or the words of a payload by its header and as they came.
    """
    return row_schema(
        {
            "code": name_type(),
            "flow": pa.int16(),
            "packet": pa.int64(),
            "value": pa.int64(),
            "expected": pa.int64(),
            "seen": pa.int64(),
        }
    )


def decode_link(
    words: pa.Table, options: OptionValues, state: LinkState, last: bool
) -> dict[str, pa.Table]:
    """Decode a piece of the table `bonded.words`."""
    n = len(words)
    columns = (
        words.column("t_ps").to_numpy(),
        words.column("data").to_numpy().view(np.uint64),
        codes_of(words.column("kind"), WORD_KINDS),
        codes_of(words.column("error"), WORD_ERRORS),
        words.column("first").to_numpy(),
    )
    places = tuple(np.empty(n, np.int64) for _ in range(3))
    rows = (
        np.zeros(n + 1, kernels.PACKET_ROW),
        np.zeros(n + 1, kernels.CREDIT_ROW),
        np.zeros(5 * n + 1, kernels.ERROR_ROW),
    )
    count, *counts = kernels.packets(columns, state.packets, last, places, rows)
    packets, credits, errors = (records[:m] for records, m in zip(rows, counts, strict=True))
    if n:
        state.source = words.column("source")[0].as_py()
        state.t_unc_ps = words.column("t_unc_ps")[0].as_py()
    return {
        "link.packets": _packet_table(packets, state, options.text("direction")),
        "link.credits": _credit_table(credits, state.source),
        "link.errors": _error_table(errors, state.source),
        "link.words": _word_table(words, [place[:count] for place in places]),
    }


def link_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of any of the tables into words."""
    if "code" in row:
        code = str(row["code"])
        long = _ERROR_TEXTS[code].format(value=row["value"])
        where = f"flow {row['flow']}: " if row["flow"] >= 0 else ""
        return Texts("!", code, f"{row['source']}: {where}{code}: {long}{_expected_and_seen(row)}")
    if "freed" in row:
        bad = [name for name in ("parity", "crc") if not row[f"{name}_ok"]]
        normal = f"credit {row['freed']} flow {row['flow']}" + _wrong(bad)
        return Texts("C", normal, f"{row['source']}: {normal} (words freed so far)")
    if "seq" in row:
        bad = [name for name in ("header", "payload", "length") if row[f"{name}_ok"] is False]
        normal = f"{row['kind']} #{row['seq']} flow {row['flow']}" + _wrong(bad)
        long = f"{row['source']}: {normal}: {row['body_words']} words to {row['dest'] & (1 << 64) - 1:#x}"
        return Texts(f"#{row['seq']}", normal, long + ("" if row["whole"] else ", cut"))
    data = f"{row['kind']} {row['data'] & (1 << 64) - 1:016x}"
    return Texts(str(row["kind"]), data, f"{row['source']}: {data}")


def _expected_and_seen(row: Mapping[str, Any]) -> str:
    """Return what was expected and what was seen, where both are known."""
    if row["seen"] < 0:
        return ""
    digits = {"bad-header": 4, "bad-payload": 8, "bad-credit": 4}.get(row["code"])
    form = "d" if digits is None else f"#0{digits + 2}x"
    return f": expected {row['expected']:{form}}, seen {row['seen']:{form}}"


_ERROR_TEXTS = {
    **WORD_ERROR_TEXTS,
    "bad-header": "the CRC of the header does not hold",
    "bad-payload": "the CRC of the payload does not hold",
    "bad-length": "the payload has {value} words, not as many as the header says",
    "sequence": "{value} sequence numbers were passed over (modulo 65536)",
    "bad-parity": "the parity of the credit does not hold",
    "bad-credit": "the CRC of the credit does not hold",
    "stray-words": "{value} words outside of any packet",
}


class LinkState:
    """The kernel's state, and what all rows of the words below have in common."""

    def __init__(self, options: OptionValues) -> None:
        self.packets = new_packet_state()
        self.source = ""
        self.t_unc_ps = 0


def _wrong(names: Sequence[str]) -> str:
    return f", bad {' and '.join(names)}" if names else ""


def _packet_table(rows: npt.NDArray[np.void], state: LinkState, direction: str) -> pa.Table:
    header = rows["header"].astype(np.int64)
    field = {
        name: np.where(rows["heads"] > 0, field_of(HEADER, name, header), -1)
        for name in ("type", "flow", "seq", "length", "flags")
    }
    kind = field.pop("type")
    known = (kind >= 1) & (kind < len(PACKET_KINDS))
    dest = rows["address"].view(np.int64) if len(rows) else np.empty(0, np.int64)
    return table(
        packet_schema(),
        {
            "t_ps": rows["t_ps"],
            "source": one_name(state.source, len(rows)),
            "kind": names(
                np.where(known, kind - 1, PACKET_KINDS.index(UNKNOWN_KIND)), PACKET_KINDS
            ),
            "t_end_ps": rows["t_end_ps"],
            "t_unc_ps": np.full(len(rows), state.t_unc_ps),
            "direction": one_name(direction, len(rows)),
            "body_words": rows["body_words"],
            **field,
            "dest": np.where(rows["heads"] > 1, dest, -1),
            **{name: verdicts(rows[name]) for name in ("header_ok", "payload_ok", "length_ok")},
            "whole": rows["whole"] == 1,
            "first_row": rows["first_row"],
            "end_row": rows["end_row"],
        },
    )


def _credit_table(rows: npt.NDArray[np.void], source: str) -> pa.Table:
    word = rows["word"].astype(np.int64)
    bad = (rows["parity_ok"] == 0) | (rows["crc_ok"] == 0)
    return table(
        credit_schema(),
        {
            "t_ps": rows["t_ps"],
            "source": one_name(source, len(rows)),
            "kind": names(bad.astype(np.int32), ("credit", "error")),
            **{name: field_of(CREDIT, name, word) for name in ("flow", "freed", "flags")},
            "parity_ok": rows["parity_ok"] == 1,
            "crc_ok": rows["crc_ok"] == 1,
        },
    )


def _error_table(rows: npt.NDArray[np.void], source: str) -> pa.Table:
    return table(
        error_schema(),
        {
            "t_ps": rows["t_ps"],
            "source": one_name(source, len(rows)),
            "kind": one_name("error", len(rows)),
            "code": names(rows["code"], LINK_ERRORS),
            **{name: rows[name] for name in ("flow", "packet", "value", "expected", "seen")},
        },
    )


def _word_table(words: pa.Table, places: Sequence[npt.NDArray[np.int64]]) -> pa.Table:
    numbers, packet, index = places
    kept = words if len(numbers) == len(words) else words.take(numbers)
    columns = {
        name: kept.column(name) for name in ("t_ps", "source", "kind", "t_unc_ps", "data", "bad")
    }
    return table(link_word_schema(), {**columns, "packet": packet, "word": index})
