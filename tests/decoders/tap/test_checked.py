"""Packets of a tap by their format: columns of headers and verdicts, from literal bytes."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from freezeframe.capture.card.recording import RecordedTap
from freezeframe.decoders.crc_catalogue import CATALOGUE
from freezeframe.decoders.tap.checked import BAD, GOOD, UNKNOWN, CheckedStream, Wrong, check_packets
from freezeframe.decoders.tap.crcs import wrong_crcs
from freezeframe.decoders.tap.stream import decode_tap
from tests.decoders.tap.model import TapModel, frame_beats
from tests.decoders.tap.one_tap import KEEP, one_tap

UDP = bytes.fromhex(
    "020000000001 020000000002 8100 0064 0800"
    "4500 002e 1234 0000 40 11 0000 0a000001 0a000002"
    "0fa0 1388 001a 0000"
) + bytes(18)
TCP6 = bytes.fromhex(
    "020000000001 020000000002 86dd 60000000 0014 06 40"
    "20010db8000000000000000000000001 20010db8000000000000000000000002"
    "01bb c000 11223344 55667788 5012 0000 0000 0000"
)  # fmt: skip
ARP = bytes.fromhex("ffffffffffff 020000000001 0806 0001 0800 06 04 0002") + bytes(38)


def with_fcs(data: bytes) -> bytes:
    return data + zlib.crc32(data).to_bytes(4, "little")


def checked(
    packets: list[bytes], form: str, *, bad: tuple[int, ...] = (), tap: str = ""
) -> CheckedStream:
    card = one_tap(form, KEEP + tap)
    model = TapModel(8)
    cycle = 20
    for number, data in enumerate(packets):
        model.feed(frame_beats(data, cycle, 8, bad=number in bad))
        cycle += 300 + len(data)
    lanes, pointer, wrapped, _ = model.memories(2048, cycle)
    return check_packets(
        card.said, decode_tap(RecordedTap(card.taps[0], tuple(lanes), pointer, wrapped))
    )


def test_headers_of_ethernet_ip_udp_tcp_and_arp_are_columns() -> None:
    found = checked([with_fcs(data) for data in (UDP, TCP6, ARP)], 'is = "ethernet"')
    columns = {name: column.tolist() for name, column in found.columns.items()}
    assert found.verdict.tolist() == [GOOD] * 3
    assert columns["dst"] == [0x020000000001, 0x020000000001, 0xFFFFFFFFFFFF]
    assert columns["vlan"] == [100, -1, -1]
    assert columns["ethertype"] == [0x0800, 0x86DD, 0x0806]
    assert columns["ip_version"] == [4, 6, -1]
    assert columns["ip_id"] == [0x1234, -1, -1]
    assert columns["ip_protocol"] == [17, 6, -1]
    assert columns["ip_src"] == [0x0A000001, 0x20010DB800000000, -1]
    assert columns["ip_dst_low"] == [-1, 2, -1]
    assert (columns["src_port"], columns["dst_port"]) == ([4000, 443, -1], [5000, 0xC000, -1])
    assert columns["tcp_seq"] == [-1, 0x11223344, -1]
    assert columns["tcp_flags"] == [-1, 0x12, -1]
    assert columns["arp_operation"] == [-1, -1, 2]


def test_a_wrong_fcs_a_runt_and_a_giant_are_bad_each_for_its_reason() -> None:
    good = with_fcs(UDP)
    packets = [good, good[:-1] + b"\0", with_fcs(UDP[:40]), with_fcs(UDP + bytes(1600)), b"", b"\1"]
    found = checked(packets, 'is = "ethernet"')
    assert [Wrong(w) for w in found.wrong.tolist()] == [
        Wrong(0),
        Wrong.CRC,
        Wrong.RUNT,
        Wrong.GIANT,
        Wrong.RUNT | Wrong.CRC,
        Wrong.RUNT | Wrong.CRC,
    ]
    assert found.verdict.tolist() == [GOOD, BAD, BAD, BAD, BAD, BAD]


def test_a_longest_frame_of_the_card_file_makes_jumbo_frames_good() -> None:
    jumbo = with_fcs(UDP + bytes(8000))
    assert checked([jumbo], 'is = "ethernet"\nlongest_B = 9018').verdict.tolist() == [GOOD]


def test_without_an_fcs_a_frame_is_judged_by_its_user_bit_or_not_at_all() -> None:
    user = "user = { bits = 1, bad_frame = 0 }"
    found = checked([UDP, UDP], 'is = "ethernet"\nfcs = "user-bit"', bad=(1,), tap=user)
    assert found.verdict.tolist() == [GOOD, BAD] and Wrong(int(found.wrong[1])) == Wrong.USER
    assert checked([UDP], 'is = "ethernet"\nfcs = "stripped"').verdict.tolist() == [UNKNOWN]


def test_a_preamble_stands_before_the_frame_and_is_missed_where_it_does_not() -> None:
    framed = bytes.fromhex("555555555555 55d5") + with_fcs(UDP)
    found = checked([framed, with_fcs(UDP)], 'is = "ethernet"\npreamble = true')
    assert found.verdict.tolist() == [GOOD, BAD]
    assert found.content(0) == with_fcs(UDP)
    assert Wrong(int(found.wrong[1])) == Wrong.PREAMBLE


FIELDS = """\
is = "fields"
length = "size"
length_plus_B = 8
[format.f.field.magic]
at_bit = 0
bits = 12
constant = 0xABC
[format.f.field.size]
at_bit = 16
bits = 16
order = "little"
[format.f.check.end]
at = -4
end = -4
crc = "CRC-32/ISCSI"
order = "little"
"""


def test_own_fields_constants_lengths_and_a_crc_of_the_catalogue_are_checked() -> None:
    def packet(magic: int, size: int, body: bytes) -> bytes:
        head = (magic << 4).to_bytes(2, "big") + size.to_bytes(2, "little") + body
        return head + CATALOGUE["CRC-32/ISCSI"].of(head).to_bytes(4, "little")

    right = packet(0xABC, 5, b"hello")
    packets = [
        right,
        packet(0xABD, 5, b"hello"),
        packet(0xABC, 6, b"hello"),
        right[:-1] + b"\0",
        b"\xab",
    ]
    found = checked(packets, FIELDS)
    assert [Wrong(w) for w in found.wrong.tolist()] == [
        Wrong(0),
        Wrong.CONSTANT,
        Wrong.LENGTH,
        Wrong.CRC,
        Wrong.CONSTANT | Wrong.LENGTH | Wrong.CRC,
    ]
    assert found.columns["magic"].tolist()[:2] == [0xABC, 0xABD]
    assert found.columns["size"].tolist() == [5, 5, 6, 5, -1]


def test_a_crc_that_nobody_knows_is_not_asked() -> None:
    form = FIELDS.replace("CRC-32/ISCSI", "CRC-32/NONE")
    found = checked([b"\xab\xc0\5\0hello...."], form)
    assert "no CRC 'CRC-32/NONE' in the catalogue" in found.unasked[0]


def test_a_packet_of_the_link_is_checked_by_its_header_payload_and_length() -> None:
    # docs/formats.md section 3, golden bytes: RDMA_WRITE, flow 3, seq 7, payload 1, 2
    words = ["010302000700c530", "0010000000000000", "0100000000000000", "0200000000000000"]
    packet = bytes.fromhex("".join(words) + "b9ddf60000000000")
    flipped = packet[:16] + b"\2" + packet[17:]
    found = checked([packet, flipped, packet[:24] + packet[32:], packet[:8]], 'is = "link"')
    assert found.verdict.tolist() == [GOOD, BAD, BAD, BAD]
    assert found.columns["flow"].tolist() == [3, 3, 3, -1]
    assert Wrong(int(found.wrong[1])) == Wrong.CRC
    assert Wrong(int(found.wrong[2])) == Wrong.CRC | Wrong.LENGTH
    assert wrong_crcs(found, 0) == []
    (payload,) = wrong_crcs(found, 1)
    assert payload.found == 0xF6DDB9
    assert payload.expected == zlib.crc32(flipped[16:32])
    assert wrong_crcs(found, 3) == []  # shorter than a header and a tail


def test_the_crcs_that_do_not_fit_are_told_as_they_stand_and_as_the_bytes_give_them() -> None:
    frame = with_fcs(ARP)
    found = checked([frame, frame[:-1] + b"\0"], 'is = "ethernet"')
    good = zlib.crc32(ARP)
    assert wrong_crcs(found, 0) == []
    (fcs,) = wrong_crcs(found, 1)
    assert (fcs.bits, fcs.found, fcs.expected) == (32, good & 0xFFFFFF, good)
    assert fcs.text == f"FCS {good & 0xFFFFFF:#010x}, its bytes give {good:#010x}"
    head = bytes.fromhex("abc00500") + b"hello"
    own = checked([head + b"\1\2\3\4", b"\xab"], FIELDS)
    (end,) = wrong_crcs(own, 0)
    assert (end.name, end.found) == ("end", 0x04030201)
    assert end.expected == CATALOGUE["CRC-32/ISCSI"].of(head)
    assert wrong_crcs(own, 1) == []


@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("CRC-8/SMBUS", 0xF4),
        ("CRC-8/AUTOSAR", 0xDF),
        ("CRC-8/MAXIM-DOW", 0xA1),
        ("CRC-16/ARC", 0xBB3D),
        ("CRC-16/MODBUS", 0x4B37),
        ("CRC-16/XMODEM", 0x31C3),
        ("CRC-16/KERMIT", 0x2189),
        ("CRC-16/IBM-SDLC", 0x906E),
        ("CRC-16/IBM-3740", 0x29B1),
        ("CRC-24/OPENPGP", 0x21CF02),
        ("CRC-32/BZIP2", 0xFC891918),
        ("CRC-32/MPEG-2", 0x0376E6E7),
        ("CRC-32/CKSUM", 0x765E7680),
        ("CRC-32/ISCSI", 0xE3069283),
        ("CRC-32/ISO-HDLC", 0xCBF43926),
        ("CRC-64/XZ", 0x995DC9BBDF1939FA),
        ("CRC-64/ECMA-182", 0x6C40DF5F0B497347),
    ],
)
def test_the_catalogue_gives_the_check_value_of_the_nine_digits(name: str, check: int) -> None:
    assert CATALOGUE[name].of(b"123456789") == check


def test_the_first_bytes_of_a_frame_have_its_headers_and_its_summary_the_verdict() -> None:
    data = with_fcs(UDP)  # 68 bytes: the first 16 are kept, the digest is over 72
    card = one_tap('is = "ethernet"', KEEP + "store = { first_bytes = 16 }")
    digest = zlib.crc32(data.ljust(72, b"\0"))
    words = [int.from_bytes(data[:8], "little"), int.from_bytes(data[8:16], "little")]
    rows = [(words[0], 1, 15), (words[1], 2, 1), (digest | len(data) << 32 | 8 << 48, 8, 10)]
    rows += [(1, 13, 3), (40, 15, 1)]
    text = b"".join((d | (k | t << 4) << 64).to_bytes(9, "little") for d, k, t in rows)
    memory = np.frombuffer(text, np.uint8).reshape(-1, 9)
    stream = decode_tap(RecordedTap(card.taps[0], (memory,), len(rows), wrapped=False))
    found = check_packets(card.said, stream)
    assert found.verdict.tolist() == [GOOD]
    assert found.content(0) == data[:16] and stream.packets.length.tolist() == [68]
    assert found.columns["dst"].tolist() == [0x020000000001]
