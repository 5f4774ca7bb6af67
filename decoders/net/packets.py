"""Packets of a pcap, a pcapng or an interface as a table: link, IP, TCP and UDP headers, and what checks them.

Source: IEEE 802.3-2018; RFC 791, 8200, 9293, 768, 792, 4443, 826.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from freezeframe.capture.code import code
from freezeframe.decoders.contract import PACKETS, Decoder, Option, Output, Texts

_end_text = code("freezeframe.decoders.net.addresses:end_text")
_FLAGS = "FSRPAUEC"
_ERRORS = {
    "no-header": "too short for the header of its link",
    "bad-ip": "its type says IP, but no header of that version follows",
    "bad-fcs": "the check sequence is not that of the frame",
    "link-error": "the interface that captured it saw it damaged",
    "bad-ip-checksum": "the checksum of its IPv4 header is wrong",
    "bad-checksum": "the checksum of what IP carries is wrong",
}


def packet_texts(row: Mapping[str, Any]) -> Texts:
    """Put a packet into words."""
    if row["kind"] == "error":
        error = str(row["error"])
        return Texts("!", error, f"packet {row['number']}: {error}: {_ERRORS[error]}")
    protocol = str(row["protocol"])
    about = _about(row)
    cut = "" if row["length_B"] == row["wire_B"] else f", {row['length_B']} B of it captured"
    normal = f"#{row['number']} {_ends(row)}: {protocol}{about}, {row['wire_B']} B"
    tag = "" if row["vlan"] < 0 else f", VLAN {row['vlan']}"
    verdict = {True: ", FCS good", False: ", FCS wrong", None: ""}[row["fcs_ok"]]
    return Texts(protocol, normal, f"{normal}{cut}{tag}{verdict}")


def flag_letters(flags: int) -> str:
    """Return the flags of a TCP segment as letters, FIN first: ``SA``."""
    return "".join(letter for bit, letter in enumerate(_FLAGS) if flags >> bit & 1)


def _ends(row: Mapping[str, Any]) -> str:
    if row["ip_src"]:
        ends = (row["ip_src"], row["src_port"]), (row["ip_dst"], row["dst_port"])
        return " -> ".join(_end_text(*end) for end in ends)
    return f"{row['sender'] or '?'} -> {row['destination'] or '?'}"


def _about(row: Mapping[str, Any]) -> str:
    if row["tcp_flags"] < 0:
        return " fragment" if row["fragment"] else ""
    flags = int(row["tcp_flags"])
    ack = f" ack {row['tcp_ack']}" if flags & 16 and row["tcp_ack"] >= 0 else ""
    data = f", {row['payload_B']} B of data" if row["payload_B"] > 0 else ""
    return f" {flag_letters(flags)} seq {row['tcp_seq']}{ack}{data}"


ETHERNET_PACKETS = Decoder(
    id="ethernet",
    name="Packets",
    doc="Packets of a pcap, a pcapng or an interface: Ethernet, VLAN, IP, TCP, UDP headers and checks",
    consumes=PACKETS,
    produces=(
        Output(
            "ethernet.packets",
            code("freezeframe.decoders.net.packets_code:packet_schema"),
            "packets, and what is wrong with them",
        ),
    ),
    decode=code("freezeframe.decoders.net.packets_code:decode_packets"),
    options=(Option("data", False, "keep the bytes of each packet in the column data"),),
    texts=packet_texts,
)
