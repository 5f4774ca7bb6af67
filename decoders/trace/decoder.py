"""The declaration of the trace decoder: from a capture folder to its tables.

Source: docs/formats.md section 8.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from freezeframe.capture.code import code
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.contract import CAPTURE, Decoder, Output, Texts

_schema = code("freezeframe.decoders.trace.schema:schema")


def _texts(row: Mapping[str, Any]) -> Texts:
    kind, source = str(row["kind"]), str(row["source"])
    if "body_words" in row:
        verdicts = [
            name
            for name, column in (
                ("header", "header_ok"),
                ("payload", "payload_ok"),
                ("length", "length_ok"),
            )
            if row[column] is False
        ]
        bad = f", bad {', '.join(verdicts)}" if verdicts else ""
        seq = f"#{row['seq']}" if row["seq"] >= 0 else "#?"
        normal = f"{kind} {seq} flow {row['flow']}{bad}"
        return Texts(
            seq,
            normal,
            f"{source}: {normal}, {row['body_words']} of {row['length']} words, {row['direction']}",
        )
    if "open_start" in row:
        flow = f"flow {row['flow']}"
        length_ps = row["t_end_ps"] - row["t_ps"]
        return Texts(
            flow, f"{flow} blocked", f"{source}: {flow} blocked for {format_ps(length_ps)}"
        )
    if "code" in row:
        normal = f"{kind} {row['code']}".rstrip()
        flow = f", flow {row['flow']}" if row["flow"] >= 0 else ""
        return Texts(kind, normal, f"{source}: {normal}, value {row['value']}{flow}")
    word = f"{row['data'] & (1 << 64) - 1:016x}"
    return Texts(kind, f"{kind} {word}", f"{source}: {kind} {word} in slot {row['slot']}")


TRACE = Decoder(
    id="trace",
    name="Freezeframe trace",
    doc="Records of a capture folder: words, packets with CRC verdicts, events, back-pressure.",
    consumes=CAPTURE,
    produces=(
        Output(
            "trace.packets", partial(_schema, "packets"), "Packets at each tap, with CRC verdicts."
        ),
        Output("trace.words", partial(_schema, "words"), "Every word that was stored."),
        Output(
            "trace.events",
            partial(_schema, "events"),
            "Event logs, and what is wrong in a recording.",
        ),
        Output(
            "trace.intervals",
            partial(_schema, "intervals"),
            "When the sender of a flow was blocked.",
        ),
    ),
    decode=code("freezeframe.decoders.trace.decode:decode_tables"),
    texts=_texts,
)
