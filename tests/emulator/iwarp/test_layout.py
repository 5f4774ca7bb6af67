"""MPA frames, FPDUs and DDP segments against literal octets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freezeframe.emulator.iwarp.errors import StartupError
from freezeframe.emulator.iwarp.fpdu import FpduStream, build_fpdu, markers_within
from freezeframe.emulator.iwarp.layout import (
    Opcode,
    ReadRequest,
    Segment,
    terminate_cause,
    terminate_payload,
)
from freezeframe.emulator.iwarp.startup import (
    READ,
    SEND,
    WRITE,
    Enhanced,
    StartupFrame,
    parse_frame,
)

REQUEST, REPLY = "4d504120494420526571204672616d65", "4d504120494420526570204672616d65"


@pytest.mark.parametrize(
    ("octets", "frame"),
    [
        (f"{REQUEST} 40 01 0000", StartupFrame(False)),
        (f"{REQUEST} c0 01 0002 6869", StartupFrame(False, b"hi", markers=True)),
        (f"{REPLY} 60 01 0000", StartupFrame(True, reject=True)),
        (f"{REPLY} 80 00 0000", StartupFrame(True, markers=True, crc=False, revision=0)),
        (f"{REQUEST} 50 02 0004 8004 c010",
         StartupFrame(False, revision=2, enhanced=Enhanced(4, 16, True, WRITE | READ))),
        (f"{REPLY} 50 02 0005 7fff 0001 78",
         StartupFrame(True, b"x", revision=2, enhanced=Enhanced(0x3FFF, 1, False, SEND))),
        (f"{REQUEST} 4f 02 0000", StartupFrame(False, revision=2, reserved=15)),
    ],
)  # fmt: skip
def test_an_mpa_frame(octets: str, frame: StartupFrame) -> None:
    assert frame.to_bytes() == bytes.fromhex(octets)
    assert parse_frame(bytes.fromhex(octets)) == frame


@pytest.mark.parametrize(
    ("octets", "rule", "text"),
    [
        ("00" * 20, "mpa-key", "no MPA frame"),
        (f"{REQUEST} 40 01 0201", "mpa-private-data-length", "513 octets of private data; 512"),
        (f"{REQUEST} 50 02 0003 000000", "mpa-enhanced-short", "flag S and 3 octets"),
    ],
)
def test_a_wrong_mpa_frame_names_the_rule(octets: str, rule: str, text: str) -> None:
    with pytest.raises(StartupError, match=text) as error:
        parse_frame(bytes.fromhex(octets))
    assert error.value.rule == rule


def send(msn: int) -> bytes:
    return Segment(Opcode.SEND, bytes(24), msn=msn).to_bytes()


def test_the_two_fpdus_of_the_rfcs_figures() -> None:
    figure_5 = "00000000 002a 4143 00000000 00000000 00000001 00000000" + "00" * 24 + "52239983"
    assert build_fpdu(send(1), position=0, markers=True) == bytes.fromhex(figure_5)
    figure_6 = "002a 4143 00000000 00000000 00000002 00000000 00000014" + "00" * 24 + "84925898"
    assert build_fpdu(send(2), position=0x1EC, markers=True) == bytes.fromhex(figure_6)


def test_padding_length_and_a_crc_that_is_off() -> None:
    octets = "0013 4143 00000000 00000000 00000001 00000000 7a 000000 00000000"
    assert build_fpdu(Segment(Opcode.SEND, b"z").to_bytes(), crc=False) == bytes.fromhex(octets)
    assert build_fpdu(b"", length=65535, crc=False) == bytes.fromhex("ffff 0000 00000000")


@pytest.mark.parametrize(
    ("octets", "segment"),
    [
        ("c140 00000501 0000000000001000 616263", Segment(Opcode.WRITE, b"abc", True, True, 0x501, 0x1000)),
        ("8142 00000501 ffffffffffffffff", Segment(Opcode.READ_RESPONSE, b"", True, False, 0x501, 2**64 - 1)),
        ("4144 00000700 00000000 ffffffff 00000010",
         Segment(Opcode.SEND_INVALIDATE, msn=2**32 - 1, mo=16, invalidates=0x700)),
        ("4147 00000000 00000002 00000001 00000000", Segment(Opcode.TERMINATE, queue=2)),
        ("7f7f 00000000 00000000 00000001 00000000",
         Segment(15, ddp_version=3, rdmap_version=1, reserved=15, rdmap_reserved=3)),
    ],
)  # fmt: skip
def test_a_ddp_segment(octets: str, segment: Segment) -> None:
    assert segment.to_bytes() == bytes.fromhex(octets)
    assert Segment.of(bytes.fromhex(octets)) == segment


def test_a_read_request_and_a_terminate() -> None:
    octets = "00000001 0000000000000002 00000003 00000004 0000000000000005"
    assert ReadRequest(1, 2, 3, 4, 5).to_bytes() == bytes.fromhex(octets)
    assert ReadRequest.of(bytes.fromhex(octets)) == ReadRequest(1, 2, 3, 4, 5)
    header = Segment(Opcode.WRITE, tagged=True, stag=9).header
    payload = terminate_payload((1, 1, 0), header, length=99)
    assert payload == bytes.fromhex("1100c000 0063 c140 00000009 0000000000000000")
    assert terminate_cause(payload) == (1, 1, 0)
    assert terminate_payload((2, 0, 2)) == bytes.fromhex("20020000")


@given(
    sizes=st.lists(st.integers(1, 3000), max_size=12),
    markers=st.booleans(),
    cuts=st.integers(1, 700),
)
def test_a_stream_of_fpdus_is_read_in_any_pieces(
    sizes: list[int], markers: bool, cuts: int
) -> None:
    stream = b""
    for number, size in enumerate(sizes):
        stream += build_fpdu(bytes([number]) * size, position=len(stream), markers=markers)
    reader = FpduStream(markers=markers)
    found = [
        fpdu for at in range(0, len(stream), cuts) for fpdu in reader.feed(stream[at : at + cuts])
    ]
    assert [fpdu.ulpdu for fpdu in found] == [bytes([n]) * size for n, size in enumerate(sizes)]
    assert all(fpdu.crc_right and fpdu.markers_right for fpdu in found)
    assert b"".join(fpdu.raw for fpdu in found) == stream
    assert sum(len(fpdu.pointers) for fpdu in found) == (-(-len(stream) // 512) if markers else 0)


@given(position=st.integers(0, 2000).map(lambda word: 4 * word), data_B=st.integers(1, 70_000))
def test_markers_are_counted_as_they_stand(position: int, data_B: int) -> None:
    at, done, count = position, 0, 0
    while done < data_B:
        if at % 512 == 0:
            count, at = count + 1, at + 4
        step = min(512 - at % 512, data_B - done)
        at, done = at + step, done + step
    assert markers_within(position, data_B) == count
