"""The table of packets, column by column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.packets.block import LINKTYPES, PacketBlock
from freezeframe.decoders import columns
from freezeframe.decoders.contract import OptionValues
from freezeframe.decoders.net import checksum_kernels as checks
from freezeframe.decoders.net import header_kernels as headers
from freezeframe.decoders.net.addresses import address_codes

Int64 = npt.NDArray[np.int64]

_ERRORS = ("", "no-header", "bad-ip", "bad-fcs", "link-error", "bad-ip-checksum", "bad-checksum")
_SUMS = ("", "wrong", "good", "offloaded", "none")
_DIRECTIONS = ("", "in", "out")
_ETHERTYPES = {
    0x0800: "IPv4", 0x86DD: "IPv6", 0x0806: "ARP", 0x88CC: "LLDP", 0x8808: "MAC control", 0x88F7: "PTP"
}  # fmt: skip
_PROTOCOLS = {
    1: "ICMP", 2: "IGMP", 6: "TCP", 17: "UDP", 47: "GRE", 50: "ESP", 58: "ICMPv6", 89: "OSPF", 132: "SCTP"
}  # fmt: skip
_FLAG_CRC = 1 << 24  # of epb_flags; above it other errors of the link


def packet_schema() -> pa.Schema:
    """Return the columns of packets.

    ``kind`` is ``packet`` or ``error``, and then ``error`` says which; an error stands after its packet and repeats
    its values. ``source`` is the interface. ``length_B`` is what was captured of ``wire_B`` bytes. Addresses are
    texts, ``""`` where there is none; numbers are then -1. ``ip_checksum`` and ``checksum`` (of TCP, UDP or ICMP) are
    ``good``, ``wrong``, ``offloaded``: left to the card that sends it, ``none``, or ``""`` where the packet is cut or
    a fragment. ``fcs`` and ``fcs_ok`` where the file has the check sequence. ``data`` is null unless it was asked for.
    """
    return columns.event_schema(
        {
            "number": pa.int64(),
            "direction": columns.name_type(),
            "length_B": pa.int64(),
            "wire_B": pa.int64(),
            "destination": columns.name_type(),
            "sender": columns.name_type(),
            "vlan": pa.int16(),
            "vlan_inner": pa.int16(),
            "ethertype": pa.int32(),
            "protocol": columns.name_type(),
            "ip_src": columns.name_type(),
            "ip_dst": columns.name_type(),
            "ip_protocol": pa.int16(),
            "ip_ttl": pa.int16(),
            "ip_id": pa.int32(),
            "ip_length": pa.int32(),
            "fragment": pa.bool_(),
            "src_port": pa.int32(),
            "dst_port": pa.int32(),
            "tcp_seq": pa.int64(),
            "tcp_ack": pa.int64(),
            "tcp_flags": pa.int16(),
            "tcp_window": pa.int32(),
            "icmp_type": pa.int16(),
            "icmp_code": pa.int16(),
            "payload_B": pa.int64(),
            "ip_checksum": columns.name_type(),
            "checksum": columns.name_type(),
            "fcs": pa.int64(),
            "fcs_ok": pa.bool_(),
            "data": pa.binary(),
        }
    )


def decode_packets(
    block: PacketBlock, options: OptionValues, _state: object, _last: bool
) -> pa.Table:
    """Return the packets of a block, each followed by what is wrong with it."""
    count = len(block)
    if not count:
        return pa.Table.from_batches([], packet_schema())
    fcs_B = _fcs_B(block)
    # Of a packet that was cut the check sequence is what was cut.
    own_B = np.where(
        block.length == block.wire_B, block.length - np.maximum(fcs_B, 0), block.length
    )
    own_B = np.maximum(own_B, 0)  # fmt: skip
    head = np.full((len(headers.COLUMNS), count), -1, np.int64)
    headers.parse_headers(block.buffer, block.offset, own_B, block.linktype, head)
    more = np.full((len(checks.MORE_COLUMNS), count), -1, np.int64)
    checks.check_packets(
        block.buffer, block.offset, block.length, own_B, block.wire_B, block.linktype, fcs_B, head, more
    )  # fmt: skip
    of = dict(zip(headers.COLUMNS, head, strict=True)) | dict(
        zip(checks.MORE_COLUMNS, more, strict=True)
    )
    direction = np.maximum(more[checks.DIRECTION], 0)
    if block.flags is not None:
        said = block.flags & 3
        direction = np.where((said == checks.IN) | (said == checks.OUT), said, direction)
    _judge_offload(more, direction)
    errors = _errors(block, own_B, head, more)
    row, error = _rows(errors)
    version = of["ip_version"]
    made = {
        "t_ps": block.t_ps,
        "t_end_ps": block.t_ps,
        "number": block.first + np.arange(count),
        "length_B": block.length,
        "wire_B": block.wire_B,
        **{name: of[name] for name in packet_schema().names if name in of and name != "fcs_ok"},
        "fragment": of["fragment"] == 1,
    }
    named = {
        "source": _named(block.interface.astype(np.int64), lambda place: _source(block, place)),
        "direction": (direction, _DIRECTIONS),
        "destination": _named(of["dst"], _mac),
        "sender": _named(of["src"], _mac),
        "protocol": protocol_codes(of),
        "ip_src": address_codes(version, of["ip_src"], of["ip_src_low"]),
        "ip_dst": address_codes(version, of["ip_dst"], of["ip_dst_low"]),
        "ip_checksum": (more[checks.IP_SUM] + 1, _SUMS),
        "checksum": (more[checks.SUM] + 1, _SUMS),
    }
    whole = len(row) == count
    table: dict[str, Any] = {
        name: column if whole else column[row] for name, column in made.items()
    }
    for name, (codes, texts) in named.items():
        table[name] = columns.names(codes if whole else codes[row], texts, checked=False)
    table["kind"] = columns.names((error > 0).astype(np.int32), ("packet", "error"), checked=False)
    table["error"] = columns.names(error, _ERRORS, checked=False)
    table["fcs_ok"] = columns.verdicts(more[checks.FCS_OK][row])
    table["data"] = (
        pa.array([block.packet(int(i)) for i in row], pa.binary())
        if options.flag("data")
        else pa.nulls(len(row), pa.binary())
    )
    return columns.table(packet_schema(), table)


def _fcs_B(block: PacketBlock) -> Int64:
    """Return how many bytes of check sequence each packet ends with, -1 where nobody says."""
    known = np.array([each.fcs_B for each in block.interfaces] or [-1], np.int64)
    fcs_B = known[block.interface]
    if block.flags is None:
        return fcs_B
    said = block.flags >> 5 & 15
    return np.where(said > 0, said, fcs_B)


def _judge_offload(more: Int64, direction: Int64) -> None:
    """A wrong sum of what this machine sends is not wrong yet; a zero that came in is."""
    for row in (checks.IP_SUM, checks.SUM):
        sums = more[row]
        sums[(sums == checks.WRONG) & (direction == checks.OUT)] = checks.OFFLOADED
    zero = (more[checks.IP_SUM] == checks.OFFLOADED) & (direction == checks.IN)
    more[checks.IP_SUM][zero] = checks.WRONG


def _errors(
    block: PacketBlock, own_B: Int64, head: Int64, more: Int64
) -> list[npt.NDArray[np.bool_]]:
    """Return where each of the errors is, in their order."""
    known = np.isin(block.linktype, list(LINKTYPES))
    is_whole = block.length == block.wire_B
    ethertype = head[headers.ETHERTYPE]
    is_ip = (ethertype == 0x0800) | (ethertype == 0x86DD)
    l3 = np.maximum(head[headers.L3], 0)
    room = own_B - l3 >= np.where(ethertype == 0x0800, 20, 40)
    flags = np.zeros(len(block), np.int64) if block.flags is None else block.flags
    return [
        known & (head[headers.L3] < 0) & is_whole,
        is_ip & (head[headers.IP_VERSION] < 0) & (room | is_whole),
        (more[checks.FCS_OK] == 0) | ((flags & _FLAG_CRC) != 0),
        flags >> 25 != 0,
        more[checks.IP_SUM] == checks.WRONG,
        more[checks.SUM] == checks.WRONG,
    ]


def _rows(errors: list[npt.NDArray[np.bool_]]) -> tuple[Int64, Int64]:
    """Return for each row of the table its packet and its error, 0 for the packet itself."""
    count = len(errors[0])
    if not any(each.any() for each in errors):
        return np.arange(count), np.zeros(count, np.int64)
    packet = [np.arange(count)] + [np.flatnonzero(each) for each in errors]
    error = np.repeat(np.arange(len(packet)), [len(each) for each in packet])
    row = np.concatenate(packet)
    order = np.lexsort((error, row))
    return row[order], error[order]


def _named(values: Int64, text: Callable[[int], str]) -> tuple[Int64, tuple[str, ...]]:
    """Return codes and texts of numbers of which many are the same; ``""`` for those below 0."""
    different, codes = np.unique(values, return_inverse=True)
    return codes, tuple("" if value < 0 else text(value) for value in different.tolist())


def _source(block: PacketBlock, place: int) -> str:
    name = block.interfaces[place].name if place < len(block.interfaces) else ""
    return name or f"interface {place}"


def _mac(value: int) -> str:
    return value.to_bytes(6, "big").hex(":")


def protocol_codes(of: dict[str, Int64]) -> tuple[Int64, tuple[str, ...]]:
    """Return for each packet the place of its protocol in the texts behind, from the columns of its headers."""
    ip, arp = of["ip_protocol"], of["arp_operation"]
    kind, llc = of["ethertype"], of["llc_length"]
    key = np.where(ip >= 0, 1 << 20 | ip, np.where(arp >= 0, 2 << 20 | arp, kind))
    key = np.where(llc >= 0, 3 << 20, np.where(key < 0, 4 << 20, key))
    return _named(key, _protocol)


def _protocol(key: int) -> str:
    group, value = key >> 20, key & 0xFFFFF
    if group == 1:
        return _PROTOCOLS.get(value, f"IP protocol {value}")
    if group == 2:
        return {1: "ARP request", 2: "ARP reply"}.get(value, f"ARP operation {value}")
    if group == 3:
        return "802.3 length"
    return "?" if group == 4 else _ETHERTYPES.get(value, f"{value:#06x}")
