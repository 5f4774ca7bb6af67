"""Ethernet frames: literal bytes in, literal addresses, types and verdicts out."""

from __future__ import annotations

import zlib
from typing import Any

import pytest

from freezeframe.decoders.net.ethernet import EthernetFrame, ethernet_texts, frame_check
from freezeframe.decoders.net.ethernet_code import ethernet_schema, ethernet_table

TO, FROM = "0180c2000001", "020000000009"
# A PAUSE frame (802.3 annex 31B), quanta 0.
PAUSE = bytes.fromhex(f"{TO}{FROM}8808 0001 0000").ljust(60, b"\0")


def rows(data: bytes, **fields: Any) -> list[dict[str, Any]]:
    frame = EthernetFrame(1_000, 2_000, "received", data, **fields)
    table = ethernet_table([frame], "eth")
    assert table.schema.equals(ethernet_schema())
    return list(table.to_pylist())


def frame(ethertype: str, payload: str = "") -> bytes:
    return bytes.fromhex(TO + FROM + ethertype + payload).ljust(60, b"\0")


def test_a_frame_gives_its_fields() -> None:
    assert rows(PAUSE) == [
        {
            "t_ps": 1_000,
            "source": "eth",
            "kind": "frame",
            "t_end_ps": 2_000,
            "error": "",
            "direction": "received",
            "destination": "01:80:c2:00:00:01",
            "sender": "02:00:00:00:00:09",
            "vlan": -1,
            "ethertype": 0x8808,
            "protocol": "MAC control",
            "length_B": 60,
            "payload": PAUSE[14:],
            "data": PAUSE,
            "fcs": -1,
            "fcs_ok": None,
        }
    ]


def test_the_check_sequence_is_that_of_the_standard() -> None:
    # 3.2.9: CRC-32; the residue over frame and check sequence is the same for every good frame.
    assert frame_check(b"123456789") == 0xCBF43926
    whole = PAUSE + frame_check(PAUSE).to_bytes(4, "little")
    assert frame_check(whole) == 0x2144DF1C


def test_a_wrong_check_sequence_is_an_error_after_the_frame() -> None:
    good = rows(PAUSE, fcs=frame_check(PAUSE))
    assert [(row["kind"], row["fcs_ok"]) for row in good] == [("frame", True)]
    bad = rows(PAUSE, fcs=frame_check(PAUSE) ^ 1)
    assert [(row["kind"], row["error"], row["fcs_ok"]) for row in bad] == [
        ("frame", "", False),
        ("error", "bad-fcs", False),
    ]


def test_a_verdict_of_the_hardware_counts_where_the_check_sequence_is_not_there() -> None:
    assert rows(PAUSE, fcs_ok=False)[1]["error"] == "bad-fcs"
    # One that was captured counts more.
    assert rows(PAUSE, fcs=frame_check(PAUSE), fcs_ok=False)[0]["fcs_ok"] is True


def test_a_tagged_frame_gives_its_vlan_and_the_type_after_the_tag() -> None:
    (row,) = rows(frame("8100", "6005 86dd 6000"))
    assert (row["vlan"], row["ethertype"], row["protocol"]) == (5, 0x86DD, "IPv6")
    assert row["payload"][:2] == b"\x60\x00"


@pytest.mark.parametrize(
    ("data", "errors"),
    [
        (b"", ["no-header"]),
        (PAUSE[:13], ["no-header"]),
        (PAUSE[:59], ["runt"]),
        (PAUSE, []),
        (PAUSE.ljust(1514, b"\0"), []),
        (PAUSE.ljust(1515, b"\0"), ["oversize"]),
        (frame("8100", "0001 0800").ljust(1518, b"\0"), []),
        (frame("8100", "0001 0800").ljust(1519, b"\0"), ["oversize"]),
    ],
)
def test_a_frame_of_a_length_that_is_not_allowed_is_an_error(
    data: bytes, errors: list[str]
) -> None:
    assert [row["error"] for row in rows(data)[1:]] == errors


def test_a_frame_that_is_padded_later_may_be_short() -> None:
    assert len(rows(PAUSE[:20], checked_length=False)) == 1


IP = "4500 0054 0001 {0} 40 {1} 0000 c0a80001 c0a80002"


@pytest.mark.parametrize(
    ("ethertype", "payload", "protocol", "text"),
    [
        (
            "0806",
            "0001 0800 06 04 0002 020000000009 c0a80001 020000000001 c0a80002",
            "ARP reply",
            "ARP reply 192.168.0.1 is at 02:00:00:00:00:09",
        ),
        ("0806", "0001 0800 06 04 0003", "ARP operation 3", "ARP operation 3"),
        (
            "0800",
            IP.format("0000", "01") + "0800 0000 1234 0007",
            "ICMP echo request",
            "ICMP echo request 192.168.0.1 -> 192.168.0.2, id 0x1234, sequence 7",
        ),
        (
            "0800",
            IP.format("0000", "01") + "0b00 0000",
            "ICMP type 11",
            "ICMP type 11 192.168.0.1 -> 192.168.0.2",
        ),
        ("0800", IP.format("0000", "11"), "UDP", "UDP 192.168.0.1 -> 192.168.0.2"),
        # The second fragment of a ping has no ICMP header.
        ("0800", IP.format("0010", "01"), "ICMP", "ICMP 192.168.0.1 -> 192.168.0.2"),
        (
            "0800",
            IP.format("0000", "2f"),
            "IPv4 protocol 47",
            "IPv4 protocol 47 192.168.0.1 -> 192.168.0.2",
        ),
        ("88b5", "", "0x88b5", "0x88b5"),
        ("0026", "", "802.3 length", "802.3 length"),
    ],
)
def test_the_protocol_is_named(ethertype: str, payload: str, protocol: str, text: str) -> None:
    (row,) = rows(frame(ethertype, payload))
    assert row["protocol"] == protocol
    assert ethernet_texts(row).normal == text


@pytest.mark.parametrize("size", range(14, 44))
def test_a_frame_that_ends_anywhere_is_put_into_words(size: int) -> None:
    for ethertype, start in (("0806", "0001080006040001"), ("0800", "4f"), ("8100", "0001")):
        data = bytes.fromhex(TO + FROM + ethertype + start).ljust(60, b"\1")[:size]
        for row in rows(data):
            assert ethernet_texts(row).long


def test_a_row_is_put_into_words() -> None:
    good, bad = rows(frame("8100", "0005 88b5"), fcs=0)
    assert ethernet_texts(good) == (
        "0x88b5",
        "0x88b5",
        "received 02:00:00:00:00:09 -> 01:80:c2:00:00:01, VLAN 5, 60 B: 0x88b5, FCS wrong",
    )
    assert ethernet_texts(bad).long == (
        "received frame of 60 B: bad-fcs: the check sequence is not that of the frame: "
        f"expected {zlib.crc32(good['data']):#010x}, seen 0x00000000"
    )
