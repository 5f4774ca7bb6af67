"""Ethernet frames as rows: addresses, type, payload and the verdict on the check sequence.

A decoder that has the bytes of frames gives them as `EthernetFrame` to `ethernet_table` and gets the
table of the kind ``ethernet``.

Source: IEEE 802.3-2018, 3.1 (frame), 3.2.9 (FCS); IEEE 802.1Q-2018, 9.5 (VLAN tag); RFC 826 (ARP);
RFC 791 (IPv4); RFC 792 (ICMP).
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from freezeframe.capture.code import code
from freezeframe.decoders.contract import Output, Texts

HEADER_B, FCS_B, MIN_B, MAX_B, TAG_B = 14, 4, 60, 1514, 4  # lengths without the FCS

_VLAN, _IPV4, _ARP, _IPV6 = 0x8100, 0x0800, 0x0806, 0x86DD
_ETHERTYPES = {_IPV4: "IPv4", _ARP: "ARP", _IPV6: "IPv6", 0x88CC: "LLDP", 0x8808: "MAC control"}
_MAX_LENGTH = 1500  # a type field up to here is a length (802.3 3.2.6)
_ARP_OPS = {1: "ARP request", 2: "ARP reply"}
_IP_PROTOCOLS = {1: "ICMP", 2: "IGMP", 6: "TCP", 17: "UDP"}
_ICMP_TYPES = {0: "ICMP echo reply", 3: "ICMP unreachable", 8: "ICMP echo request"}


@dataclass(frozen=True, slots=True)
class EthernetFrame:
    """One frame, from the destination address to the last byte before the check sequence.

    ``fcs`` is the check sequence where it was captured, as `frame_check` gives it. ``fcs_ok`` is a
    verdict of the hardware, for frames whose check sequence it keeps to itself. ``error`` says what
    the decoder that gives the frame knows to be wrong with it. ``checked_length`` is false for frames
    that somebody pads later.
    """

    t_ps: int
    t_end_ps: int
    direction: str
    data: bytes
    fcs: int | None = None
    fcs_ok: bool | None = None
    error: str = ""
    checked_length: bool = True


def frame_check(data: bytes) -> int:
    """Return the check sequence of a frame, as its 4 bytes read least significant first."""
    return zlib.crc32(data)


def frame_rows(frame: EthernetFrame, source: str) -> list[dict[str, Any]]:
    """Return the row of a frame, then those of the errors about it."""
    row = _row(frame, source)
    return [
        row,
        *(row | {"kind": "error", "error": error} for error in _errors(frame, row)),
    ]


def ethernet_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of `ethernet_schema` into words."""
    if row["kind"] == "error":
        error = str(row["error"])
        return Texts(
            "!",
            error,
            f"{row['direction']} frame of {row['length_B']} B: {error}: {_ERROR_TEXTS[error]}"
            f"{_seen(error, row)}",
        )
    normal = f"{row['protocol']}{_ends(row)}"
    tag = "" if row["vlan"] < 0 else f", VLAN {row['vlan']}"
    verdict = {True: ", FCS good", False: ", FCS wrong", None: ""}[row["fcs_ok"]]
    return Texts(
        str(row["protocol"]),
        normal,
        f"{row['direction']} {row['sender']} -> {row['destination']}{tag}, {row['length_B']} B: "
        f"{normal}{verdict}",
    )


def _seen(error: str, row: Mapping[str, Any]) -> str:
    """Return what a frame should have and what it has, where both are known."""
    if error == "bad-fcs" and row["fcs"] >= 0:
        return f": expected {frame_check(row['data']):#010x}, seen {row['fcs']:#010x}"
    return ""


_ERROR_TEXTS = {
    "no-header": "too short for two addresses and a type",
    "runt": f"shorter than {MIN_B} B without the FCS",
    "oversize": f"longer than {MAX_B} B ({MAX_B + TAG_B} B with a tag) without the FCS",
    "bad-fcs": "the check sequence is not that of the frame",
    "symbol-error": "the error signal was active in the frame",
    "jabber": "so long that only its beginning is kept",
    "alignment": "not whole octets, and the check sequence is wrong",
    "cut-frame": "the capture begins or ends inside the frame",
    "part-read": "only a part of the frame was read from the controller",
    "part-written": "the frame was sent with bytes that were not written in the capture",
    "unknown-bounds": "nobody told the controller in this capture where the frame lies",
    "no-status": "the bytes that were read do not begin with a receive status",
}


def _row(frame: EthernetFrame, source: str) -> dict[str, Any]:
    data = frame.data
    ethertype = vlan = -1
    header_B = HEADER_B
    if len(data) >= HEADER_B:
        ethertype = int.from_bytes(data[12:14], "big")
        if ethertype == _VLAN and len(data) >= HEADER_B + TAG_B:
            vlan = int.from_bytes(data[14:16], "big") & 0xFFF
            ethertype = int.from_bytes(data[16:18], "big")
            header_B += TAG_B
    payload = data[header_B:]
    fcs_ok = frame.fcs_ok if frame.fcs is None else frame.fcs == frame_check(data)
    return {
        "t_ps": frame.t_ps,
        "source": source,
        "kind": "frame",
        "t_end_ps": frame.t_end_ps,
        "error": "",
        "direction": frame.direction,
        "destination": _address(data[:6]),
        "sender": _address(data[6:12]),
        "vlan": vlan,
        "ethertype": ethertype,
        "protocol": _protocol(ethertype, payload),
        "length_B": len(data),
        "payload": payload,
        "data": data,
        "fcs": -1 if frame.fcs is None else frame.fcs,
        "fcs_ok": fcs_ok,
    }


def _errors(frame: EthernetFrame, row: Mapping[str, Any]) -> list[str]:
    errors = [frame.error] if frame.error else []
    length_B = len(frame.data)
    # A frame that is there in part has no length of its own.
    if not frame.error:
        if length_B < HEADER_B:
            errors.append("no-header")
        elif length_B < MIN_B and frame.checked_length:
            errors.append("runt")
        if length_B > MAX_B + (TAG_B if row["vlan"] >= 0 else 0):
            errors.append("oversize")
    if row["fcs_ok"] is False:
        errors.append("bad-fcs")
    return errors


def _protocol(ethertype: int, payload: bytes) -> str:
    if ethertype < 0:
        return "?"
    if ethertype <= _MAX_LENGTH:
        return "802.3 length"
    if ethertype == _ARP and len(payload) >= 8:
        operation = int.from_bytes(payload[6:8], "big")
        return _ARP_OPS.get(operation, f"ARP operation {operation}")
    if ethertype == _IPV4 and len(payload) >= 20:
        number = payload[9]
        rest = _ip_payload(payload)
        if number == 1 and rest:
            return _ICMP_TYPES.get(rest[0], f"ICMP type {rest[0]}")
        return _IP_PROTOCOLS.get(number, f"IPv4 protocol {number}")
    return _ETHERTYPES.get(ethertype, f"{ethertype:#06x}")


def _ends(row: Mapping[str, Any]) -> str:
    """Return who talks to whom about what, for the protocols that say so in their first bytes."""
    payload: bytes = row["payload"]
    if row["ethertype"] == _ARP and len(payload) >= 28:
        asks, about = _ip(payload[14:18]), _ip(payload[24:28])
        if row["protocol"] == "ARP request":
            return f" who has {about}, tell {asks}"
        return f" {asks} is at {_address(payload[8:14])}" if row["protocol"] == "ARP reply" else ""
    if row["ethertype"] == _IPV4 and len(payload) >= 20:
        ends = f" {_ip(payload[12:16])} -> {_ip(payload[16:20])}"
        rest = _ip_payload(payload)
        if "ICMP echo" in row["protocol"] and len(rest) >= 8:
            number, sequence = (int.from_bytes(rest[at : at + 2], "big") for at in (4, 6))
            ends += f", id {number:#06x}, sequence {sequence}"
        return ends
    return ""


def _ip_payload(packet: bytes) -> bytes:
    """Return what follows the IPv4 header; nothing in a fragment that is not the first."""
    if int.from_bytes(packet[6:8], "big") & 0x1FFF:
        return b""
    return packet[4 * (packet[0] & 15) :]


def _address(data: bytes) -> str:
    return data.hex(":")


def _ip(data: bytes) -> str:
    return ".".join(map(str, data))


ETHERNET = Output(
    "ethernet",
    code("freezeframe.decoders.net.ethernet_code:ethernet_schema"),
    "Ethernet frames and errors",
)
