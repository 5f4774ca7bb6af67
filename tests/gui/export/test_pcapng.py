"""pcapng: golden bytes of the blocks, and what tshark reads in them."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from freezeframe.capture.errors import InputError
from freezeframe.decoders.net.ethernet import EthernetFrame, frame_check
from freezeframe.decoders.net.ethernet_code import ethernet_table
from freezeframe.decoders.parts.enc28j60 import ENC28J60
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import Decoded
from freezeframe.decoders.serial.spi import SPI
from freezeframe.gui.export.material import Material
from freezeframe.gui.export.pcapng import write_pcapng
from freezeframe.gui.export.run import export_file
from tests.capture.files.captures import real_capture
from tests.gui.export.material import GOLDEN_PACKET, golden_recording, recording, samples, small
from tests.gui.export.material import tool as run_tool

# An ARP request of 60 bytes: who has 10.0.0.2? Tell 10.0.0.1.
ARP = bytes.fromhex(
    "ffffffffffff 020000000001 0806 0001 0800 06 04 0001 020000000001 0a000001 000000000000 0a000002"
) + bytes(18)


def tshark(path: Path, *fields: str) -> list[list[str]]:
    """Return these fields of every packet."""
    wanted = [part for field in fields for part in ("-e", field)]
    checked = ("-o", "eth.check_fcs:TRUE", "-T", "fields", "-E", "separator=|")
    lines = run_tool("tshark", "-r", path, *checked, *wanted).splitlines()
    return [line.split("|") for line in lines]


def frames(*made: EthernetFrame) -> Material:
    return Material(Path("nic.sr"), tables=[Decoded("mac.ethernet", ethernet_table(made, "MAC"))])


def test_a_file_is_a_section_an_interface_and_the_packets_to_the_byte(tmp_path: Path) -> None:
    frame = EthernetFrame((2**32 + 5) * 1000 + 999, 0, "sent", ARP)
    write_pcapng(frames(frame), tmp_path / "x.pcapng")
    raw = (tmp_path / "x.pcapng").read_bytes()
    blocks = []
    while raw:
        kind, length = struct.unpack_from("<II", raw)
        assert length % 4 == 0
        assert raw[length - 4 : length] == raw[4:8]
        blocks.append((kind, raw[8 : length - 4]))
        raw = raw[length:]
    assert [kind for kind, _ in blocks] == [0x0A0D0D0A, 1, 6]
    assert blocks[0][1].startswith(bytes.fromhex("4d3c2b1a 0100 0000 ffffffffffffffff"))
    # link type 1, a limit of 262,144 B, if_name MAC, if_description, if_tsresol 10^-9, if_fcslen 0, end
    assert blocks[1][1] == (
        bytes.fromhex("0100 0000 00000400 0200 0300") + b"MAC\0"
        b"\3\0\x0c\0mac.ethernet" + bytes.fromhex("0900 0100 09000000 0d00 0100 00000000 00000000")
    )
    # interface 0, 2^32 + 5 ns, 60 of 60 B; flags: outbound
    head = bytes.fromhex("00000000 01000000 05000000 3c000000 3c000000")
    assert blocks[2][1] == head + ARP + bytes.fromhex("0200 0400 02000000 00000000")


def test_tshark_reads_frames_with_their_time_direction_and_check(tmp_path: Path) -> None:
    good = EthernetFrame(3_000_000_001_999, 0, "received", ARP, fcs=frame_check(ARP))
    bad = EthernetFrame(3_000_000_002_000, 0, "received", ARP, fcs=frame_check(ARP) ^ 1)
    none = EthernetFrame(4_000_000_000_000, 0, "sent", ARP)
    wrote = write_pcapng(frames(none, good, bad), tmp_path / "x.pcapng")
    assert wrote.counts == {"packets of mac.ethernet": 3}
    seen = tshark(
        tmp_path / "x.pcapng",
        *("frame.time_epoch", "frame.interface_name", "frame.p2p_dir", "frame.len"),
        *("eth.fcs.status", "arp.dst.proto_ipv4", "frame.comment"),
    )
    assert seen == [
        ["3.000000001", "MAC", "1", "64", "1", "10.0.0.2", ""],
        ["3.000000002", "MAC", "1", "64", "0", "10.0.0.2", "error: bad-fcs"],
        ["4.000000000", "MAC", "0", "60", "", "10.0.0.2", ""],
    ]


def test_the_two_pings_of_a_real_controller_are_icmp_in_tshark(tmp_path: Path) -> None:
    out = tmp_path / "ping.pcapng"
    export_file(
        real_capture("enc28j60-init-and-ping.sr"),
        "pcapng",
        out,
        specs=["spi+enc28j60"],
        registry=Registry({"spi": SPI, "enc28j60": ENC28J60}),
    )
    seen = tshark(out, "_ws.col.Protocol", "icmp.type", "icmp.seq", "ip.src", "frame.p2p_dir")
    assert seen == [
        ["ICMP", "8", "44534", "10.0.88.100", "1"],
        ["ICMP", "0", "44534", "10.0.0.206", "0"],
        ["ICMP", "8", "44535", "10.0.88.100", "1"],
        ["ICMP", "0", "44535", "10.0.0.206", "0"],
    ]
    received = tshark(out, "eth.fcs.status", "icmp.checksum.status")
    assert received == [["1", "1"], ["", "1"], ["1", "1"], ["", "1"]]


def test_a_link_packet_is_what_follows_and_the_words_least_significant_byte_first(
    tmp_path: Path,
) -> None:
    wrote = write_pcapng(golden_recording(), tmp_path / "x.pcapng")
    assert wrote.counts == {"packets of trace.packets": 1}
    assert wrote.notes == ["no packets, so not in the file: trace.events, trace.intervals"]
    ((time, name, protocols, comment, data),) = tshark(
        tmp_path / "x.pcapng",
        *("frame.time_epoch", "frame.interface_name", "frame.protocols", "frame.comment"),
        "data.data",
    )
    # layout 1; header, payload, length good and whole; 1 TAIL, 2 HEAD, 2 BODY
    assert bytes.fromhex(data) == bytes.fromhex("01 55 0100 02000000 02000000") + GOLDEN_PACKET
    assert (time, name) == ("0.000000001", "A.tx_enq")
    assert protocols.startswith("user_dlt")
    assert comment == "RDMA_WRITE #7 flow 3 A->B, t_ps 1999 +- 0"


@pytest.mark.parametrize(
    ("changes", "verdicts", "says"),
    [
        ({"header_ok": False}, 0x56, "header wrong"),
        ({"payload_ok": False, "length_ok": None}, 0x49, "payload wrong"),
        ({"whole": False, "length_ok": False}, 0x25, "length wrong, cut by the end"),
    ],
    ids=["header", "payload", "length-and-cut"],
)
def test_the_verdicts_on_a_link_packet_are_in_its_second_byte(
    tmp_path: Path, changes: dict[str, Any], verdicts: int, says: str
) -> None:
    write_pcapng(golden_recording(**changes), tmp_path / "x.pcapng")
    ((comment, data),) = tshark(tmp_path / "x.pcapng", "frame.comment", "data.data")
    assert bytes.fromhex(data)[1] == verdicts
    assert says in comment


def test_packets_of_taps_are_in_order_of_time_with_an_interface_each(tmp_path: Path) -> None:
    def packet(source: str, t_ps: int) -> dict[str, Any]:
        numbers = {"flow": 1, "seq": 0, "length": 0, "body_words": 0, "first_row": 0, "end_row": 0}
        row = {"t_ps": t_ps, "t_end_ps": t_ps, "source": source, "kind": "RDMA_WRITE"}
        return row | numbers

    material = recording(packets=[packet("A.tx_enq", 9_000), packet("B.rx_enq", 2_000)])
    write_pcapng(material, tmp_path / "x.pcapng")
    assert tshark(tmp_path / "x.pcapng", "frame.interface_name", "frame.len") == [
        ["B.rx_enq", "12"],
        ["A.tx_enq", "12"],
    ]


def test_bytes_of_any_decoder_are_packets_of_their_own_type(tmp_path: Path) -> None:
    rows = [
        {"t_ps": 1_000, "source": "X", "kind": "block", "data": b"\1\2\3", "error": ""},
        {"t_ps": 1_000, "source": "X", "kind": "error", "data": b"\1\2\3", "error": "cut"},
        {"t_ps": 2_000, "source": "X", "kind": "error", "data": b"", "error": "lost"},
    ]
    material = Material(Path("x.sr"), tables=[Decoded("x", pa.Table.from_pylist(rows))])
    wrote = write_pcapng(material, tmp_path / "x.pcapng")
    assert wrote.counts == {"packets of x": 2}
    assert tshark(tmp_path / "x.pcapng", "data.data", "frame.comment")[0] == [
        "010203",
        "error: cut",
    ]


def test_a_packet_longer_than_wireshark_takes_is_cut_and_said_so(tmp_path: Path) -> None:
    wrote = write_pcapng(
        frames(EthernetFrame(0, 0, "sent", ARP + bytes(300_000))), tmp_path / "x.pcapng"
    )
    assert wrote.notes == ["packets longer than 262144 B, which were cut to that: 1"]
    ((captured, length),) = tshark(tmp_path / "x.pcapng", "frame.cap_len", "frame.len")
    assert (captured, length) == ("262144", "300060")


@pytest.mark.parametrize(
    ("material", "says"),
    [
        (samples(small()), "samples have no packets; name a decoder"),
        (
            Material(Path("made.sr"), tables=golden_recording().tables[2:]),
            "there are no bytes of packets in",
        ),
    ],
    ids=["samples", "tables"],
)
def test_without_packets_there_is_no_file(tmp_path: Path, material: Material, says: str) -> None:
    with pytest.raises(InputError, match=f"nothing to export as pcapng: {says}"):
        write_pcapng(material, tmp_path / "x.pcapng")
    assert list(tmp_path.iterdir()) == []
