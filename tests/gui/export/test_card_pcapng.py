"""Frames of a described card's tap as tshark reads them from the export, and as our own columns have them."""

from __future__ import annotations

import ipaddress
import random
import struct
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from freezeframe.capture.card.elaborated import ElaboratedCard
from freezeframe.capture.card.recording import RecordedTap
from freezeframe.capture.recorder.pull import pull
from freezeframe.decoders.tap.checked import check_packets
from freezeframe.decoders.tap.stream import decode_tap
from freezeframe.emulator.card_image import CardImage, empty_recording
from tests.decoders.tap.model import TapModel, frame_beats
from tests.decoders.tap.one_tap import KEEP, one_tap
from tests.gui.cli import run_inside
from tests.gui.export.material import tool

MACS = bytes.fromhex("020000000001 020000000002")


def recorded(
    card: ElaboratedCard, packets: Sequence[bytes], *, bad: tuple[int, ...] = (), cut: bool = False
) -> RecordedTap:
    """Return a memory of these packets; with ``cut`` it begins and ends in the middle of one."""
    tap = card.taps[0]
    store = tap.said.store
    kept = store if isinstance(store, str) else store.first_bytes
    model, cycle = TapModel(8, store=kept), 50
    for number, data in enumerate(packets):
        beats = frame_beats(data, cycle, 8, bad=number in bad)
        model.feed(beats)
        cycle = beats[-1].cycle + 13
    # A cut one loses its first three words, and is frozen three words before its end.
    lanes, pointer, wrapped, stored = model.memories(
        tap.said.depth, cycle - 13 - 2 if cut else cycle
    )
    assert not wrapped
    if cut:
        lanes[0][: pointer - 3] = lanes[0][3:pointer]
        pointer -= 3
    return RecordedTap(tap, tuple(lanes), pointer, wrapped, stored=stored, offered=stored)


def exported(tmp_path: Path, card: ElaboratedCard, tap: RecordedTap) -> Path:
    capture, place = tmp_path / "x.ff", tmp_path / "x.pcapng"
    pull(CardImage([replace(empty_recording(card), taps={"t": tap}, causes=1)]), capture)
    done = run_inside("export", str(capture), "--to", "pcapng", "-o", str(place))
    assert done.code == 0, done.err
    return place


def tshark(path: Path, *fields: str) -> list[list[str]]:
    wanted = [part for field in fields for part in ("-e", field)]
    plain = ["eth.check_fcs:TRUE", "ip.defragment:FALSE", "ipv6.defragment:FALSE"]
    plain += ["tcp.relative_sequence_numbers:FALSE", "tcp.desegment_tcp_streams:FALSE"]
    options = [part for each in plain for part in ("-o", each)]
    shown = ["-T", "fields", "-E", "separator=|", "-E", "occurrence=a", "-E", "aggregator=,"]
    return [
        row.split("|") for row in tool("tshark", "-r", path, *options, *shown, *wanted).splitlines()
    ]


def with_fcs(data: bytes) -> bytes:
    return data + zlib.crc32(data).to_bytes(4, "little")


# Frames, each by its own builder: nothing here is shared with the decoder.


def ipv4(payload: bytes, protocol: int, *, options: bytes = b"", flags: int = 0) -> bytes:
    size = 20 + len(options) + len(payload)
    head = struct.pack(
        ">BBHHHBBH", 0x45 + len(options) // 4, 0, size, 0x1234, flags, 64, protocol, 0
    )
    return b"\x08\x00" + head + bytes((10, 0, 0, 1, 10, 0, 0, 2)) + options + payload


def ipv6(payload: bytes, following: int) -> bytes:
    head = struct.pack(">IHBB", 0x60000000, len(payload), following, 64)
    ends = bytes.fromhex("20010db8000000010000000000000001 fe800000000000020000000000000002")
    return b"\x86\xdd" + head + ends + payload


def udp(payload: bytes = b"abcdefgh") -> bytes:
    return struct.pack(">HHHH", 4000, 5000, 8 + len(payload), 0) + payload


def tcp(options: bytes = b"", payload: bytes = b"xyz") -> bytes:
    words = 5 + len(options) // 4
    head = struct.pack(">HHIIBBHHH", 443, 50000, 0xFFFFFFF0, 7, words << 4, 0x18, 1000, 0, 0)
    return head + options + payload


def tag(kind: int, number: int) -> bytes:
    return struct.pack(">HH", kind, 0xA000 | number)


ICMP = bytes.fromhex("0800 0000 0001 0002") + bytes(16)
ARP = bytes.fromhex("0806 0001 0800 06 04 0002 020000000001 0a000001 020000000002 0a000002")
FRAMES = {
    "udp": ipv4(udp(), 17),
    "udp padded, so short that its ports would be read in the padding": ipv4(b"", 17),
    "udp, two bytes of it": ipv4(b"\x0f\xa0", 17),
    "tcp": ipv4(tcp(), 6),
    "tcp with options": ipv4(tcp(bytes.fromhex("020405b4 01030307")), 6),
    "icmp": ipv4(ICMP, 1),
    "ip with options": ipv4(udp(), 17, options=bytes.fromhex("94040000 01010100")),
    "first fragment": ipv4(udp(bytes(24)), 17, flags=0x2000),
    "later fragment": ipv4(udp(bytes(24)), 17, flags=0x0004),
    "igmp": ipv4(bytes.fromhex("16000000 e0000001"), 2),
    "one tag": tag(0x8100, 100) + ipv4(udp(), 17),
    "two tags": tag(0x88A8, 100) + tag(0x8100, 200) + ipv4(tcp(), 6),
    "two tags of the old kind": tag(0x9100, 5) + tag(0x8100, 6) + ARP,
    "udp on ipv6": ipv6(udp(), 17),
    "tcp on ipv6": ipv6(tcp(), 6),
    "icmp on ipv6": ipv6(bytes.fromhex("8000 0000 0001 0002") + bytes(8), 58),
    "hop by hop": ipv6(bytes.fromhex("11 00 0502 0000 0100") + udp(), 0),
    "routing and destination options": ipv6(
        bytes.fromhex("3c 02 04 00 00000000") + bytes(16) + bytes.fromhex("06 00 0104 00000000") + tcp(), 43
    ),
    "first fragment on ipv6": ipv6(bytes.fromhex("11 00 0001 00000009") + udp(), 44),
    "later fragment on ipv6": ipv6(bytes.fromhex("11 00 0009 00000009") + udp(), 44),
    "authentication header": ipv6(bytes.fromhex("11 04 0000 00000001 00000002") + bytes(12) + udp(), 51),
    "arp": ARP,
    "llc": struct.pack(">H", 38) + bytes.fromhex("424203") + bytes(35),
    "an unknown type": b"\x88\xb5" + bytes(range(50)),
}  # fmt: skip
FIELDS = (
    "eth.dst", "eth.src", "vlan.id", "ieee8021ad.id", "eth.type", "eth.len", "ip.version", "ipv6.version", "ip.proto",
    "ip.id", "ip.len", "ipv6.plen", "ip.src", "ip.dst", "ipv6.src", "ipv6.dst", "udp.srcport", "udp.dstport",
    "tcp.srcport", "tcp.dstport", "tcp.seq", "tcp.flags", "icmp.type", "icmp.code", "icmpv6.type", "icmpv6.code",
    "arp.opcode", "eth.fcs.status", "frame.len", "frame.cap_len",
)  # fmt: skip


def number(text: str, base: int = 0) -> int:
    return int(text, base) if text else -1


def address(text: str) -> int:
    """Return an IPv4 address, or the upper half of an IPv6 one as the pattern of a signed number."""
    if not text:
        return -1
    value = ipaddress.ip_address(text)
    upper = int(value) >> 64 if value.version == 6 else int(value)
    return upper - (1 << 64) * (upper >> 63)


def of_tshark(row: dict[str, str]) -> dict[str, int]:
    """Return what tshark says in our columns."""
    tags = [part for name in ("ieee8021ad.id", "vlan.id") for part in row[name].split(",") if part]
    types = row["eth.type"].split(",")
    return {
        "dst": int(row["eth.dst"].replace(":", ""), 16),
        "src": int(row["eth.src"].replace(":", ""), 16),
        "vlan": number(tags[0]) if tags else -1,
        "vlan_inner": number(tags[1]) if len(tags) > 1 else -1,
        "llc_length": number(row["eth.len"]),
        "ip_version": number(row["ip.version"] or row["ipv6.version"]),
        "ip_id": number(row["ip.id"]),
        "ip_length": number(row["ip.len"] or row["ipv6.plen"]),
        "ip_src": address(row["ip.src"] or row["ipv6.src"]),
        "ip_dst": address(row["ip.dst"] or row["ipv6.dst"]),
        "src_port": number(row["udp.srcport"] or row["tcp.srcport"]),
        "dst_port": number(row["udp.dstport"] or row["tcp.dstport"]),
        "tcp_seq": number(row["tcp.seq"]),
        "tcp_flags": number(row["tcp.flags"]),
        "icmp_type": number(row["icmp.type"] or row["icmpv6.type"]),
        "icmp_code": number(row["icmp.code"] or row["icmpv6.code"]),
        "arp_operation": number(row["arp.opcode"]),
        **({"ip_protocol": number(row["ip.proto"])} if row["ip.proto"] else {}),
        **({"ethertype": number(types[0])} if not tags and types[0] else {}),
    }


@pytest.mark.parametrize("form", ["present", "preamble", "stripped", "user-bit"])
def test_every_header_is_what_tshark_reads(form: str, tmp_path: Path) -> None:
    frames = [(MACS + data).ljust(60, b"\xa5") for data in FRAMES.values()]
    fcs = "present" if form == "preamble" else form
    shape = (
        f'is = "ethernet"\nfcs = "{fcs}"\npreamble = {"true" if form == "preamble" else "false"}'
    )
    sent = [with_fcs(data) if fcs == "present" else data for data in frames]
    if form == "preamble":
        sent = [b"\x55" * 7 + b"\xd5" + data for data in sent]
    user = "user = { bits = 1, bad_frame = 0 }" if fcs == "user-bit" else ""
    card = one_tap(shape, KEEP + user)
    tap = recorded(card, [sent[0], *sent])
    checked = check_packets(card.said, decode_tap(tap))
    rows = tshark(exported(tmp_path, card, tap), *FIELDS)[1:]
    assert len(rows) == len(frames)
    for n, (name, values) in enumerate(zip(FRAMES, rows, strict=True)):
        row = dict(zip(FIELDS, values, strict=True))
        ours = {column: int(each[n + 1]) for column, each in checked.columns.items()}
        theirs = of_tshark(row)
        assert {column: ours[column] for column in theirs} == theirs, name
        assert row["eth.fcs.status"] == ("1" if fcs == "present" else ""), name
        assert (
            row["frame.len"] == row["frame.cap_len"] == str(len(frames[n]) + 4 * (fcs == "present"))
        )


def test_frames_of_random_lengths_keep_their_bytes_and_the_bad_ones_have_a_comment(
    tmp_path: Path,
) -> None:
    chance = random.Random(9)
    frames = [MACS + b"\x88\xb5" + chance.randbytes(chance.randint(46, 300)) for _ in range(20)]
    sent = [with_fcs(data) for data in frames]
    sent[7] = sent[7][:-1] + bytes([sent[7][-1] ^ 1])
    sent[11] = with_fcs(MACS + b"\x88\xb5" + bytes(20))
    card = one_tap('is = "ethernet"')
    place = exported(tmp_path, card, recorded(card, sent))
    rows = tshark(place, "frame.len", "eth.fcs.status", "frame.comment")
    assert [int(row[0]) for row in rows] == [len(data) for data in sent]
    assert [n for n, row in enumerate(rows) if row[1] != "1"] == [7]
    comments = {n: row[2] for n, row in enumerate(rows) if row[2]}
    assert comments == {
        7: "error: its CRC does not match",
        11: "error: shorter than its format allows",
    }


def test_a_frame_that_the_memory_cuts_is_no_ethernet_where_its_beginning_is_gone(
    tmp_path: Path,
) -> None:
    sent = [with_fcs(MACS + ipv4(udp(bytes(60)), 17)) for _ in range(3)]
    card = one_tap('is = "ethernet"')
    place = exported(tmp_path, card, recorded(card, sent, cut=True))
    names = (
        "frame.interface_name",
        "frame.protocols",
        "eth.fcs.status",
        "udp.dstport",
        "frame.comment",
    )
    first, second, third = tshark(place, *names)
    assert "eth" not in first[1] and first[4] == "error: its beginning is not in the memory"
    assert second[2:] == ["1", "5000", ""]
    # The last one has no end, so nothing in it is taken for a check sequence.
    assert third[2:] == ["", "5000", "error: its end is not in the memory"]


def test_first_bytes_have_their_own_length_and_that_of_the_frame(tmp_path: Path) -> None:
    sent = [with_fcs(MACS + ipv4(udp(bytes(400)), 17)), with_fcs(MACS + ipv4(udp(bytes(700)), 17))]
    card = one_tap('is = "ethernet"', KEEP + "store = { first_bytes = 64 }")
    place = exported(tmp_path, card, recorded(card, sent))
    rows = tshark(place, "frame.cap_len", "frame.len", "udp.dstport", "eth.fcs.status")
    assert rows == [["64", str(len(data)), "5000", ""] for data in sent]


def test_raw_packets_and_own_fields_are_bytes_and_no_protocol_is_read_in_them(
    tmp_path: Path,
) -> None:
    sent = [with_fcs(MACS + ipv4(udp(), 17))]
    own = (
        'is = "fields"\n[format.f.field.ethertype]\nat_bit = 96\nbits = 16\nnames = { ip = 0x0800 }'
    )
    for number_of, shape in enumerate(('is = "raw"', own)):
        card = one_tap(shape)
        (tmp_path / str(number_of)).mkdir()
        place = exported(tmp_path / str(number_of), card, recorded(card, sent))
        (row,) = tshark(place, "frame.protocols", "frame.len")
        assert "eth" not in row[0] and int(row[1]) == len(sent[0])


def test_own_fields_are_said_in_the_words_of_the_card_file(tmp_path: Path) -> None:
    own = """\
is = "fields"
[format.f.field.kind]
at_bit = 0
bits = 4
names = { data = 3, credit = 4 }
[format.f.field.data]
at_bit = 4
bits = 12
[format.f.field.late]
at_bit = 4000
bits = 8
"""
    card = one_tap(own)
    capture = tmp_path / "x.ff"
    packets = [
        bytes(6),
        bytes.fromhex("3123") + bytes(14),
        bytes.fromhex("5fff"),
    ]  # no HEAD: one word
    tap = recorded(card, packets)
    pull(CardImage([replace(empty_recording(card), taps={"t": tap}, causes=1)]), capture)
    out = run_inside("decode", str(capture)).out
    assert "! #0 its beginning is not in the memory" in out
    assert "#1 16 B, kind data (3), data 291: 31 23 00" in out
    assert "#2 2 B, kind 5, data 4095: 5f ff" in out
