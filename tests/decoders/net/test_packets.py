"""The table of packets: rows from known bytes, checks of every kind, and tshark's fields of the same files."""

from __future__ import annotations

import random
import shutil
import struct
import subprocess
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.capture.packets.block import Interface
from freezeframe.decoders.net.packets import ETHERNET_PACKETS
from freezeframe.decoders.net.packets_code import decode_packets
from freezeframe.decoders.run import decode_file
from tests.capture.packets import build
from tests.decoders.net.test_tcp_streams import block

TSHARK = shutil.which("tshark")
A, B = ("10.0.0.1", 4000), ("10.0.0.2", 80)
A6, B6 = ("2001:db8::1", 4000), ("2001:db8::2", 80)


def table(tmp_path: Path, data: bytes, spec: str = "ethernet") -> list[dict[str, Any]]:
    path = tmp_path / "x.pcap"
    path.write_bytes(data)
    (decoded,) = decode_file(path, [spec])
    return list(decoded.table.to_pylist())


def test_a_packet_has_the_fields_of_all_its_headers(tmp_path: Path) -> None:
    frame = build.ethernet(
        build.tcp(A, B, 7, b"hello", ack=9, flags=build.ACK | build.PSH), vlans=(5, 6)
    )
    (row,) = table(tmp_path, build.pcap([(0, frame)]), "ethernet:data=yes")
    assert row == {
        "t_ps": 0, "source": "interface 0", "kind": "packet", "t_end_ps": 0, "error": "", "number": 1, "direction": "",
        "length_B": 67, "wire_B": 67, "destination": "02:00:00:00:00:01", "sender": "02:00:00:00:00:02", "vlan": 5,
        "vlan_inner": 6, "ethertype": 0x0800, "protocol": "TCP", "ip_src": "10.0.0.1", "ip_dst": "10.0.0.2",
        "ip_protocol": 6, "ip_ttl": 64, "ip_id": 7, "ip_length": 45, "fragment": False, "src_port": 4000,
        "dst_port": 80, "tcp_seq": 7, "tcp_ack": 9, "tcp_flags": 24, "tcp_window": 1000, "icmp_type": -1,
        "icmp_code": -1, "payload_B": 5, "ip_checksum": "good", "checksum": "good", "fcs": -1, "fcs_ok": None,
        "data": frame,
    }  # fmt: skip
    assert ETHERNET_PACKETS.texts is not None
    assert ETHERNET_PACKETS.texts(row).long == (
        "#1 10.0.0.1:4000 -> 10.0.0.2:80: TCP PA seq 7 ack 9, 5 B of data, 67 B, VLAN 5"
    )


def altered(packet: bytes, at: int, value: bytes) -> bytes:
    return packet[:at] + value + packet[at + len(value) :]


def partial(packet: bytes) -> bytes:
    """Return the packet with the sum of its pseudo-header alone, as a host leaves it to its card."""
    pseudo = packet[12:20] + struct.pack(">II", len(packet) - 20, 6)
    return altered(packet, 36, struct.pack(">H", ~build.checksum(pseudo) & 0xFFFF))


GOOD = build.tcp(A, B, 7, b"hello")
UDP = build.ipv4(A[0], B[0], 17, struct.pack(">HHHH", 5, 6, 10, 0) + b"ab")


@pytest.mark.parametrize(
    ("packet", "sums", "errors"),
    [
        (GOOD, ("good", "good"), []),
        (altered(GOOD, 41, b"X"), ("good", "wrong"), ["bad-checksum"]),
        (altered(GOOD, 8, b"\1"), ("wrong", "good"), ["bad-ip-checksum"]),
        (partial(GOOD), ("good", "offloaded"), []),
        (altered(partial(GOOD), 10, b"\0\0"), ("offloaded", "offloaded"), []),
        (UDP, ("good", "none"), []),
        (build.tcp(A6, B6, 7, b"hello"), ("", "good"), []),
        (altered(build.tcp(A6, B6, 7, b"hello"), 61, b"X"), ("", "wrong"), ["bad-checksum"]),
        (build.ipv4(A[0], B[0], 6, GOOD[20:36], fragment=0x2000), ("good", ""), []),
        (altered(GOOD, 0, b"\x65"), ("", ""), ["bad-ip"]),
    ],
)
def test_checksums_are_judged(
    tmp_path: Path, packet: bytes, sums: tuple[str, str], errors: list[str]
) -> None:
    kind = 0x86DD if packet[0] == 0x60 else 0x0800
    first, *others = table(tmp_path, build.pcap([(0, build.ethernet(packet, ethertype=kind))]))
    assert (first["ip_checksum"], first["checksum"]) == sums
    assert [row["error"] for row in others] == errors
    assert [row["number"] for row in others] == [1] * len(errors)


def test_a_wrong_sum_of_what_this_machine_sends_is_left_to_its_card(tmp_path: Path) -> None:
    wrong = build.ethernet(altered(altered(GOOD, 41, b"X"), 10, b"\0\0"))
    for said, sums, errors in ((2, "offloaded", []), (1, "wrong", ["bad-ip-checksum", "bad-checksum"])):  # fmt: skip
        flags = build.ng_option(2, struct.pack("<I", said))
        first, *others = table(
            tmp_path,
            build.ng_section() + build.ng_interface() + build.ng_packet(0, wrong, options=[flags]),
        )
        assert first["direction"] == ("in", "out")[said - 1]
        assert (first["ip_checksum"], first["checksum"]) == (sums, sums)
        assert [row["error"] for row in others] == errors


def test_the_check_sequence_is_judged_where_the_file_says_that_it_is_there(tmp_path: Path) -> None:
    frame = build.ethernet(GOOD)
    fcs = zlib.crc32(frame)
    good = frame + fcs.to_bytes(4, "little")
    packets = [(0, good), (0, frame + b"1234")]
    rows = table(tmp_path, build.pcap(packets, linktype=1 | 1 << 26 | 2 << 28))
    assert [(row["fcs"], row["fcs_ok"], row["error"]) for row in rows] == [
        (fcs, True, ""),
        (0x34333231, False, ""),
        (0x34333231, False, "bad-fcs"),
    ]
    assert [row["checksum"] for row in rows] == ["good"] * 3
    assert {row["fcs_ok"] for row in table(tmp_path, build.pcap(packets))} == {None}
    for snap in (60, 59):  # 59: all but the check sequence
        cut = table(tmp_path, build.pcap(packets[:1], linktype=1 | 1 << 26 | 2 << 28, snap=snap))
        assert [(row["fcs_ok"], row["length_B"], row["wire_B"]) for row in cut] == [
            (None, snap, 63)
        ]


def test_a_packet_that_is_too_short_for_its_link_is_an_error(tmp_path: Path) -> None:
    rows = table(tmp_path, build.pcap([(0, b"abc")]))
    assert [(row["kind"], row["error"], row["protocol"]) for row in rows] == [
        ("packet", "", "?"),
        ("error", "no-header", "?"),
    ]


@settings(max_examples=40)
@given(st.integers(0, 1 << 40))
def test_no_bytes_make_it_fail(seed: int) -> None:
    chance = random.Random(seed)
    six = bytes([60, 0, 1, 4, 0, 0, 0, 0, 44, 0, 1, 4, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 1])
    packets = []
    linktype = chance.choice((0, 1, 12, 113, 147, 276))
    for _ in range(60):
        packet = chance.choice(
            (GOOD, UDP, build.tcp(A6, B6, 1, b"ab"), build.tcp(A6, B6, 1, b"ab", extensions=six, first_extension=0))
        )  # fmt: skip
        frame = bytearray(build.framed(packet, linktype))
        if linktype == 1 and chance.random() < 0.5:
            frame = bytearray(build.ethernet(packet, vlans=[1, 2]))
        for _ in range(chance.randrange(5)):
            frame[chance.randrange(len(frame))] = chance.randrange(256)
        packets.append(bytes(frame[: chance.randrange(len(frame) + 1)]))
    fields = replace(
        block(packets, linktype=linktype),
        interfaces=(Interface(linktype, "", 0, chance.choice((-1, 4))),),
    )
    made = decode_packets(fields, ETHERNET_PACKETS.option_values(), None, True)
    numbers = made["number"].to_pylist()
    assert sorted(set(numbers)) == list(range(1, 61))
    assert numbers == sorted(numbers)


def _number(text: str) -> int:
    """Return a field of tshark as a number, -1 where it is empty; of several the first."""
    first = text.split(",", maxsplit=1)[0]
    return int(first, 0) if first else -1


def _flag(text: str) -> bool:
    return text.split(",", maxsplit=1)[0] in ("1", "True")


COMPARED: Sequence[tuple[str, str, Callable[[str], Any]]] = (
    ("frame.number", "number", int),
    ("frame.len", "wire_B", int),
    ("frame.cap_len", "length_B", int),
    ("eth.dst", "destination", str),
    ("eth.src", "sender", str),
    ("ip.src", "ip_src", str),
    ("ip.dst", "ip_dst", str),
    ("ip.ttl", "ip_ttl", _number),
    ("ip.id", "ip_id", _number),
    ("tcp.seq_raw", "tcp_seq", _number),
    ("tcp.ack_raw", "tcp_ack", _number),
    ("tcp.flags", "tcp_flags", _number),
    ("tcp.window_size_value", "tcp_window", _number),
)


def _tshark(path: Path) -> list[dict[str, str]]:
    names = [name for name, _, _ in COMPARED]
    names += ["frame.time_relative", "vlan.id", "ipv6.src", "ipv6.dst", "ipv6.hlim", "tcp.srcport"]
    names += ["tcp.dstport", "udp.srcport", "udp.dstport", "tcp.len", "udp.length", "sll.src.eth"]
    options = ["-o", "tcp.desegment_tcp_streams:false", "-o", "ip.defragment:false"]
    done = subprocess.run(
        [str(TSHARK), "-r", str(path), "-n", "-t", "r", *options, "-T", "fields", "-E", "separator=|"]
        + [word for name in names for word in ("-e", name)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return [
        dict(zip(names, line.split("|"), strict=True)) for line in done.stdout.rstrip("\n").split("\n")
    ]  # fmt: skip


def _mixed(seed: int, linktype: int) -> list[tuple[int, bytes]]:
    """Return packets of all kinds, at rising times of whole microseconds."""
    chance = random.Random(seed)
    packets, t_ns = [], 1_700_000_000_000_000_000
    for n in range(300):
        t_ns += 1000 * chance.randrange(1, 10**6)
        six = chance.random() < 0.4 and linktype != 228
        six = six or linktype == 229
        ends = [A6, B6] if six else [A, B]
        chance.shuffle(ends)
        payload = chance.randbytes(chance.randrange(300))
        if chance.random() < 0.7:
            packet = build.tcp(
                ends[0], ends[1], chance.randrange(1 << 32), payload,
                flags=chance.choice((2, 18, 16, 24, 17, 4)), ack=chance.randrange(1 << 32),
                window=chance.randrange(1 << 16), options=b"\1\1\1\0" * chance.randrange(4),
            )  # fmt: skip
        elif six:
            packet = build.tcp(
                ends[0], ends[1], n, payload,
                extensions=bytes([6, 0, 1, 4, 0, 0, 0, 0]), first_extension=0,
            )  # fmt: skip
        else:
            datagram = struct.pack(">HHHH", 5000 + n, 6000, 8 + len(payload), 0) + payload
            packet = build.ipv4(ends[0][0], ends[1][0], 17, datagram, ident=n)
        frame = build.framed(packet, linktype)
        if linktype == 1 and chance.random() < 0.3:
            frame = build.ethernet(packet, vlans=[chance.randrange(1, 4095) for _ in range(2)])
        packets.append((t_ns, frame))
    return packets


@pytest.mark.skipif(TSHARK is None, reason="tshark is not installed")
@pytest.mark.parametrize("linktype", [0, 1, 101, 108, 113, 228, 229, 276])
@pytest.mark.parametrize("snap", [262144, 70])
def test_tshark_reads_the_same_fields(tmp_path: Path, linktype: int, snap: int) -> None:
    path = tmp_path / "x.pcap"
    path.write_bytes(build.pcap(_mixed(linktype + snap, linktype), linktype=linktype, snap=snap))
    (decoded,) = decode_file(path, ["ethernet"])
    rows = [row for row in decoded.table.to_pylist() if row["kind"] == "packet"]
    theirs = _tshark(path)
    assert len(rows) == len(theirs) == 300
    for row, their in zip(rows, theirs, strict=True):
        for theirs_name, name, parsed in COMPARED:
            six = row["ip_dst"].startswith("2001")
            value = parsed(their[theirs_name])
            if theirs_name in ("ip.src", "ip.dst", "ip.ttl") and six:
                field = theirs_name.replace("ip.ttl", "ip.hlim").replace("ip.", "ipv6.")
                value = parsed(their[field])
            if theirs_name == "ip.id" and six:
                value = -1
            if name == "sender" and linktype in (113, 276):
                value = their["sll.src.eth"]
            if name.startswith("tcp_") and not _whole_header(row, snap, linktype):
                continue
            assert row[name] == value, (name, row, their)
        second, _, fraction = their["frame.time_relative"].partition(".")
        assert row["t_ps"] == int(second) * 10**12 + int(fraction) * 1000
        tags = [int(tag) for tag in their["vlan.id"].split(",") if tag]
        assert [row["vlan"], row["vlan_inner"]] == [*tags, -1, -1][:2]
        ports = [
            _number(their[f"tcp.{end}"] or their[f"udp.{end}"]) for end in ("srcport", "dstport")
        ]
        assert [row["src_port"], row["dst_port"]] == ports
        if their["tcp.len"]:
            assert row["payload_B"] == int(their["tcp.len"])
        if their["udp.length"]:
            assert row["payload_B"] == int(their["udp.length"]) - 8


def _whole_header(row: dict[str, Any], snap: int, linktype: int) -> bool:
    """Return whether 20 bytes of TCP header are inside the snap length."""
    link_B = {0: 4, 108: 4, 1: 14, 113: 16, 276: 20}.get(linktype, 0) + 4 * (
        (row["vlan"] >= 0) + (row["vlan_inner"] >= 0)
    )
    return bool(link_B + (48 if ":" in row["ip_src"] else 20) + 20 <= snap)
