"""The generator itself: the octets of the RFCs' examples, what it says of its streams, and tshark's reading of them."""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from freezeframe.decoders.iwarp.rules import NOTE, RULES
from tests.decoders.iwarp import octets
from tests.decoders.iwarp.breaches import KINDS, NAMES, break_stream
from tests.decoders.iwarp.make import make_stream
from tests.decoders.iwarp.sender import Sender
from tests.decoders.iwarp.tshark import TSHARK, expected_row, read_rows


def test_the_crc_is_that_of_iscsi() -> None:
    assert octets.crc32c(b"123456789") == 0xE3069283
    assert octets.crc32c(bytes(32)) == 0x8A9136AA


def test_the_fpdu_of_figure_5_of_rfc_5044_comes_out_octet_by_octet() -> None:
    sender = Sender()
    sender.markers = True
    segment = octets.untagged_segment((0x41, 0x43), 0, 0, 1, 0, bytes(24))
    sender.fpdu(segment)
    assert (
        sender.data.hex()
        == "00000000" + "002a" + "4143" + "00000000" * 2 + "00000001" + "00000000" * 7 + "52239983"
    )


def test_a_marker_stands_every_512_octets_and_points_to_the_header_of_its_fpdu() -> None:
    sender = Sender()
    sender.raw(b"MPA")
    sender.markers = True
    placed = [sender.fpdu(bytes(length)) for length in (502, 506, 1500)]
    assert [(p.begin, p.header, p.end, p.markers) for p in placed] == [
        (3, 7, 515, 1),  # ends where the next marker stands, which belongs to the next one
        (515, 519, 1035, 2),  # its second one stands before its CRC
        (1035, 1035, 2551, 2),
    ]
    stream = sender.data[3:]
    pointers = [struct.unpack_from(">HH", stream, at) for at in range(0, len(stream), 512)]
    assert pointers == [(0, 0), (0, 0), (0, 508), (0, 504), (0, 1016)]


def test_a_seed_gives_the_same_capture_again() -> None:
    first, second = make_stream(7), make_stream(7)
    assert first[0].pcap() == second[0].pcap()
    assert first[1].fpdus == second[1].fpdus


def test_every_fpdu_of_a_capture_is_whole_in_it() -> None:
    for seed in range(10):
        capture, truth = make_stream(seed)
        assert all(0 < fpdu.packet <= len(capture.packets) for fpdu in truth.fpdus)


def test_every_rule_that_can_be_broken_has_its_breach_and_the_answer_of_the_rfc() -> None:
    breakable = {rule.name: rule.terminate for rule in RULES if rule.severity != NOTE}
    assert set(NAMES) == set(breakable)
    for name, kind in KINDS.items():
        assert kind.answer == breakable[name], name


@pytest.mark.parametrize("name", NAMES)
def test_a_breach_stands_in_its_capture_once(name: str) -> None:
    _, truth = break_stream(name, 3)
    (breach,) = truth.breaches
    assert breach.rule == name
    assert breach.fpdu is None or truth.fpdus[breach.fpdu].header == breach.position


@pytest.mark.skipif(not TSHARK, reason="no tshark")
@pytest.mark.parametrize("first", [0, 10])
def test_tshark_reads_the_same_fpdus_where_it_can(first: int, tmp_path: Path) -> None:
    """Without markers, FPDUs that begin with 20 octets in a segment, MPA frames in segments of their own."""
    path = tmp_path / "x.pcap"
    for seed in range(first, first + 10):
        calm = bool(
            seed % 2
        )  # out of order tshark counts an FPDU to the packet that fills the hole
        fixed: dict[str, Any] = {
            "reject": False,
            "streaming_B": (0, 0),
            "wants_markers": (False, False),
        }
        capture, truth = make_stream(seed, calm=calm, for_tshark=True, **fixed)
        capture.linktype = 1
        path.write_bytes(capture.pcap())
        wanted = [expected_row(f, truth.connections[f.connection].ends) for f in truth.fpdus]
        found = read_rows(path)
        if not calm:
            wanted = [replace(row, packet=0) for row in wanted]
            found = [replace(row, packet=0) for row in found]
        assert Counter(found) == Counter(wanted), seed
