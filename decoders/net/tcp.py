"""TCP connections of packets as a table, and what went wrong on them as another.

Source: RFC 9293.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from freezeframe.capture.code import code
from freezeframe.decoders.contract import PACKETS, Decoder, Output, Texts

_end_text = code("freezeframe.decoders.net.addresses:end_text")
_WAYS = ("there", "back")


def tcp_texts(row: Mapping[str, Any]) -> Texts:
    """Put a connection or an event into words."""
    ends = " -> ".join(
        _end_text(row[address], row[port])
        for address, port in (("src", "src_port"), ("dst", "dst_port"))
    )
    if "opened" in row:
        return _connection(row, ends)
    kind = str(row["error"] or row["kind"])
    length, at = row["length_B"], row["position"]
    about = {
        "retransmission": f"{length} B sent again at byte {at}",
        "differs": f"{length} B sent again at byte {at} with other content",
        "gap": f"{length} B missing at byte {at}",
        "reset": f"reset at byte {at}",
        "given-up": "not followed any more: more than 65,536 others came after it",
    }[kind]
    normal = f"#{row['packet']} connection {row['connection']} {ends}: {about}"
    return Texts(kind, normal, normal)


def _connection(row: Mapping[str, Any], ends: str) -> Texts:
    ways = []
    for way in _WAYS:
        rate = row[f"rate_{way}_bps"]
        cut_B = row[f"cut_{way}_B"]
        carried = f"{row[f'stream_{way}_B'] + cut_B} B in {row[f'packets_{way}']} packets"
        parts = [carried + (f", {cut_B} B of them not captured" if cut_B else "")]
        parts += [f"{rate / 1e6:.3g} Mbit/s"] if rate >= 0 else []
        for name, what in (
            ("repeated", "again"),
            ("early", "early"),
            ("gaps", "gaps"),
            ("different", "with other bytes"),
        ):
            count = row[f"{name}_{way}"]
            parts += [f"{count} {what}"] if count else []
        ways.append(f"{way} " + ", ".join(parts))
    rtt = "" if row["handshake_ps"] < 0 else f", round trip {row['handshake_ps'] / 1e9:.3g} ms"
    normal = f"#{row['connection']} {ends}: {'; '.join(ways)}; {row['ended']}{rtt}"
    return Texts(ends, normal, normal)


TCP = Decoder(
    id="tcp",
    name="TCP connections",
    doc="TCP connections of packets: bytes, rates, retransmissions, gaps, resets, each way",
    consumes=PACKETS,
    produces=(
        Output(
            "tcp.connections",
            code("freezeframe.decoders.net.tcp_code:connection_schema"),
            "a row for each connection",
        ),
        Output(
            "tcp.events",
            code("freezeframe.decoders.net.tcp_code:event_rows_schema"),
            "retransmissions, gaps, resets, and retransmissions with other bytes",
        ),
    ),
    decode=code("freezeframe.decoders.net.tcp_code:decode_tcp"),
    left=code("freezeframe.decoders.net.tcp_code:tcp_left"),
    new_state=code("freezeframe.decoders.net.tcp_code:new_tcp"),
    texts=tcp_texts,
)
