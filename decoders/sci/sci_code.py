"""Join the words of a back-side link to SCI packets; whatever stands on the lines, nothing raises.

A packet begins with the mark and says how long it is. Where a word that should begin one has no mark, words are left
out up to the next that has one, and told as one row of kind ``error``.

Source: `freezeframe.decoders.sci.layout`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from freezeframe.decoders.columns import codes_of, sampled_schema
from freezeframe.decoders.contract import OptionValues, Texts
from freezeframe.decoders.sci import layout

_NAMES = {code: name for name, code in layout.COMMANDS.items()}
_QUEUES = {code: name for name, code in layout.QUEUES.items()}
_STATUS = {code: name for name, code in layout.STATUS.items()}
_LONGEST_B = layout.LEAST_B + max(layout.BODY_B.values())
_NUMBERS = ("target_node", "source_node", "tag", "transaction", "start", "end", "address", "buffer")


@cache
def packet_schema() -> pa.Schema:
    """Return the columns of packets, in the order of their end.

    ``command`` is its name, or its code in hexadecimal digits; ``status`` is empty but for responses; ``body`` are the
    valid bytes, between the pointers; ``data`` all bytes with the wrapper. ``kind`` is ``packet`` or ``error``, and
    ``error`` says everything that is wrong. A number of a packet that ends before it is -1.
    """
    return sampled_schema(
        {
            "queue": pa.string(),
            "command": pa.string(),
            **{name: pa.int64() for name in _NUMBERS},
            "status": pa.string(),
            "wire_B": pa.int64(),
            "body": pa.binary(),
            "data": pa.binary(),
        }
    )


@dataclass(slots=True)
class PacketState:
    """The words of the packet that has not ended, each with its four times, and whether a beginning is looked for."""

    options: OptionValues
    words: list[tuple[bytes, tuple[int, int, int, int]]] = field(default_factory=list)
    lost: bool = False


def decode_packets(
    table: pa.Table, options: OptionValues, state: PacketState, last: bool
) -> pa.Table:
    """Join items of `parallel.items`, of 64 lines, to packets."""
    items = codes_of(table.column("kind"), ("item",)) == 0
    values = table.column("value").to_numpy()[items].astype(np.int64)
    names = ("t_ps", "t_end_ps", "sample", "end_sample")
    times = [table.column(name).to_numpy()[items].tolist() for name in names]
    order = "<u8" if options.text("first_byte") == "low" else ">u8"
    raw = values.view(np.uint64).astype(order).tobytes()
    rows: list[dict[str, Any]] = []
    for number, when in enumerate(zip(*times, strict=True)):
        _take(state, raw[8 * number : 8 * number + 8], when, rows)
    if last and state.words:
        rows.append(
            _row(state.words, "no beginning" if state.lost else "cut by the end of the capture")
        )
        state.words = []
    return pa.Table.from_pylist(rows, schema=packet_schema())


def _take(
    state: PacketState, word: bytes, when: tuple[int, int, int, int], rows: list[dict[str, Any]]
) -> None:
    begins = word[0] == layout.MARK
    if not state.words or state.lost:
        if state.lost and begins:
            rows.append(_row(state.words, "no beginning"))
            state.words = []
        state.lost = not begins
    state.words.append((word, when))
    if state.lost:
        return
    head = state.words[0][0]
    size_B = layout.value_of(head, "sci_bytes") + layout.WRAP_HEAD_B + layout.WRAP_TAIL_B
    if size_B % layout.WORD_B or not layout.LEAST_B <= size_B <= _LONGEST_B:
        rows.append(_row(state.words, f"says {size_B} B, which no packet has"))
        state.words, state.lost = [], False
    elif len(state.words) * layout.WORD_B == size_B:
        rows.append(_row(state.words, ""))
        state.words = []


def _row(words: list[tuple[bytes, tuple[int, int, int, int]]], error: str) -> dict[str, Any]:
    data = b"".join(word for word, _ in words)
    problems = [error] if error else layout.problems_of(data)
    row: dict[str, Any] = {
        "t_ps": words[0][1][0],
        "t_end_ps": words[-1][1][1],
        "source": "SCI",
        "kind": "error" if problems else "packet",
        "error": "; ".join(problems),
        **fields_of(b"" if error == "no beginning" else data),
        "wire_B": len(data),
        "data": data,
        "sample": words[0][1][2],
        "end_sample": words[-1][1][3],
    }
    return row


def fields_of(data: bytes) -> dict[str, Any]:
    """Return queue, command, numbers, status and body of a packet's bytes, as far as they are there."""

    def value(name: str) -> int:
        place = layout.FIELDS[name]
        return layout.value_of(data, name) if 8 * len(data) >= place.at_bit + place.bits else -1

    code = value("command")
    command = _NAMES.get(code, f"{code:#04x}") if code >= 0 else ""
    found: dict[str, Any] = {name: value(name) for name in _NUMBERS}
    start, end = found["start"], found["end"]
    size_B = layout.BODY_B.get(command, 0)
    body = data[layout.BODY_AT : layout.BODY_AT + size_B]
    status = value("status")
    return {
        "queue": _QUEUES.get(value("queue"), ""),
        "command": command,
        **found,
        "status": _STATUS.get(status, str(status)) if command.startswith("response") and status >= 0 else "",
        "body": body[4 * start : 4 * end] if size_B else b"",
    }  # fmt: skip


def packet_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of `packet_schema` into words."""
    name = row["command"] or "?"
    route = (
        "" if row["target_node"] < 0 else f"id {row['transaction']} to {row['target_node']:#06x}"
    )
    detail = row["status"] or (
        f"{len(row['body'])} B at {row['address']:#x}" if row["body"] else ""
    )
    wrong = f"  ({row['error']})" if row["error"] else ""
    normal = f"{name} {route} {detail}".rstrip() + wrong
    return Texts(name, normal, f"{normal}  [{row['queue']}, {row['wire_B']} B]")
