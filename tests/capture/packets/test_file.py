"""Reading pcap and pcapng: every byte order, clock and block, in chunks and through pipes, and what is damaged."""

from __future__ import annotations

import gzip
import io
import random
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.packets.block import Interface
from freezeframe.capture.packets.file import PacketFile, open_packets
from freezeframe.capture.packets.recognise import is_packets
from tests.capture.packets import build

T_NS = 1_700_000_000_123_456_789
Row = tuple[int, bytes, int, int]


class Trickle(io.RawIOBase):
    """A source that gives a few bytes at a time."""

    def __init__(self, data: bytes, most: int) -> None:
        self._data, self._most = data, most

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        part, self._data = (
            self._data[: min(self._most, len(buffer))],
            self._data[min(self._most, len(buffer)) :],
        )
        buffer[: len(part)] = part
        return len(part)


def opened(data: bytes, chunk_B: int = 1 << 20, most: int = 1 << 30) -> PacketFile:
    return PacketFile(Trickle(data, most), "x", len(data), chunk_B=chunk_B)


def packets(file: PacketFile) -> list[Row]:
    """Return time in ps, bytes, bytes on the wire and interface of each packet."""
    rows: list[Row] = []
    for block in file:
        assert block.first == len(rows) + 1
        rows += [
            (
                int(block.t_ps[i]),
                block.packet(i),
                int(block.wire_B[i]),
                int(block.interface[i]),
            )
            for i in range(len(block))
        ]
    return rows


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("nano", [False, True])
def test_a_pcap_of_either_byte_order_and_clock(order: str, nano: bool) -> None:
    file = opened(
        build.pcap(
            [(T_NS, b"abc"), (T_NS + 2_000_000_000, b""), (T_NS - 1000, b"defgh")],
            order=order,
            nano=nano,
            snap=4,
        )
    )
    assert packets(file) == [
        (0, b"abc", 3, 0),
        (2_000_000_000_000, b"", 0, 0),
        (-1_000_000, b"defg", 5, 0),
    ]
    assert file.epoch_ns == (T_NS if nano else T_NS - 789)
    assert file.interfaces == [Interface(1, "", 4)]
    assert file.notes == []


def test_the_linktype_field_says_how_long_the_check_sequence_is() -> None:
    file = opened(build.pcap([], linktype=1 | 1 << 26 | 2 << 28))
    assert file.interfaces == [Interface(1, "", 262144, 4)]


@pytest.mark.parametrize("order", ["<", ">"])
def test_pcapng_with_sections_interfaces_clocks_and_all_blocks_of_packets(order: str) -> None:
    def option(kind: int, value: bytes) -> bytes:
        return build.ng_option(kind, value, order)

    def interface(*options: bytes, linktype: int = 1, snap: int = 0) -> bytes:
        return build.ng_interface(linktype, snap, options, order)

    second = 1_700_000_000
    ps = build.ng_packet(5, b"early", interface=2, order=order)
    flags = [option(1, b"a comment"), option(2, struct.pack(f"{order}I", 0x0100_0080))]
    file = opened(
        build.ng_section(order)
        + interface(option(2, b"eth0"), snap=4)
        + interface(option(9, b"\x09"), option(13, b"\x04"), linktype=113)
        + interface(option(9, b"\x0c"), option(14, struct.pack(f"{order}q", second)))
        + interface(option(9, b"\x94"))  # 2^-20 s
        + build.ng_block(4, b"names that are skipped", order)
        + build.ng_packet(second * 10**6, b"abcde", wire=9, order=order, options=flags)
        + build.ng_packet((second + 1) * 10**9 + 7, b"x", interface=1, order=order)
        + ps
        + build.ng_packet((second << 20) + (1 << 19), b"half", interface=3, order=order)
        + build.ng_block(3, struct.pack(f"{order}I", 6) + b"simp", order)
        + build.ng_block(
            2,
            struct.pack(f"{order}HHIIII", 0, 3, *divmod(second * 10**6 + 1, 1 << 32), 3, 3)
            + b"old\0",
            order,
        )
        + build.ng_section("<" if order == ">" else ">")
        + build.ng_interface(101, order="<" if order == ">" else ">")
        + build.ng_packet(second * 10**6, b"last", order="<" if order == ">" else ">")
    )
    assert packets(file) == [
        (0, b"abcde", 9, 0),
        (1_000_000_007_000, b"x", 1, 1),
        (5, b"early", 5, 2),
        (500_000_000_000, b"half", 4, 3),
        (500_000_000_000, b"simp", 6, 0),
        (1_000_000, b"old", 3, 0),
        (0, b"last", 4, 4),
    ]
    assert file.epoch_ns == second * 10**9
    assert file.notes == []
    assert file.interfaces == [
        Interface(1, "eth0", 4),
        Interface(113, "", 0, 4),
        Interface(1),
        Interface(1),
        Interface(101),
    ]


def test_the_flags_of_a_packet_are_kept() -> None:
    flags = build.ng_option(2, struct.pack("<I", 0x0100_0080))
    file = opened(
        build.ng_section()
        + build.ng_interface()
        + build.ng_packet(0, b"abc", options=[flags])
        + build.ng_packet(0, b"abcd")
    )
    block = next(iter(file))
    assert block.flags is not None
    assert block.flags.tolist() == [0x0100_0080, 0]


def test_a_block_that_is_larger_than_memory_for_it_is_stepped_over() -> None:
    file = opened(
        build.ng_section()
        + build.ng_interface()
        + build.ng_block(0xBAD, bytes(1_000_000))
        + build.ng_packet(0, b"behind"),
        chunk_B=1 << 19,
    )
    assert [row[1] for row in packets(file)] == [b"behind"]
    assert file.notes == []


def test_chunks_and_pipes_of_any_size_give_the_same_packets() -> None:
    chance = random.Random(3)
    sent = [
        (T_NS + 1000 * n, chance.randbytes(chance.choice((0, 60, 1500, 9000)))) for n in range(400)
    ]
    for most, chunk_B, count in ((1, 1 << 20, 20), (7001, 600_000, 400), (1 << 30, 700_001, 400)):
        data = build.pcap(sent[:count])
        ng = (
            build.ng_section()
            + build.ng_interface()
            + b"".join(build.ng_packet(t_ns // 1000, each) for t_ns, each in sent[:count])
        )
        whole = packets(opened(data))
        assert [row[1] for row in whole] == [each for _, each in sent[:count]]
        assert packets(opened(data, chunk_B, most)) == whole
        assert packets(opened(ng, chunk_B, most)) == whole


def test_a_packed_file_and_its_recognition(tmp_path: Path) -> None:
    data = build.pcap([(T_NS, b"abc")])
    for name, content in (
        ("a.pcap", data),
        ("a.pcap.gz", gzip.compress(data)),
        ("ng", build.ng_section() + build.ng_interface() + build.ng_packet(1, b"abc")),
    ):
        (tmp_path / name).write_bytes(content)
        assert is_packets(tmp_path / name)
        with open_packets(tmp_path / name) as file:
            assert [row[1] for row in packets(file)] == [b"abc"]
    for name, content in (("empty", b""), ("x.vcd", b"$date"), ("z.gz", gzip.compress(b"$date"))):
        (tmp_path / name).write_bytes(content)
        assert not is_packets(tmp_path / name)
    assert not is_packets(tmp_path)
    with pytest.raises(InputError, match="cannot be read: No such file"):
        open_packets(tmp_path / "none")


def test_a_packed_file_that_is_cut_or_damaged_is_read_up_to_there(tmp_path: Path) -> None:
    sent = [random.Random(n).randbytes(1400) for n in range(300)]
    packed = gzip.compress(build.pcap([(T_NS, each) for each in sent]))
    damaged = bytearray(packed)
    damaged[-6] ^= 1  # of the sum at the end
    cases = (
        (packed[:200_000], 130, "cannot be read on: what is packed ends early; it was cut short"),
        (bytes(damaged), 250, "cannot be read on: what is packed is damaged: "),
    )
    for data, least, note in cases:
        (tmp_path / "x.pcap.gz").write_bytes(data)
        with open_packets(tmp_path / "x.pcap.gz") as file:
            rows = packets(file)
        assert least <= len(rows) < 300
        assert [row[1] for row in rows] == sent[: len(rows)]
        assert note in file.notes[0]


def test_members_of_gzip_one_behind_the_other_are_one_file(tmp_path: Path) -> None:
    data = build.pcap([(T_NS, b"abc"), (T_NS, b"defg")])
    parts = gzip.compress(data[:30]) + gzip.compress(data[30:50]) + bytes(700)
    (tmp_path / "x").write_bytes(parts + gzip.compress(data[50:]) + bytes(512))
    with open_packets(tmp_path / "x") as file:
        assert [row[1] for row in packets(file)] == [b"abc", b"defg"]
    assert file.notes == []


@pytest.mark.parametrize("most", [1 << 30, 7])
def test_a_pcap_behind_another_is_read_on_and_its_header_is_no_packet(most: int) -> None:
    first, second = build.pcap([(T_NS, b"abc")]), build.pcap([(T_NS + 1000, b"defg")], nano=True)
    file = opened(first + second, most=most)
    assert [(row[0], row[1]) for row in packets(file)] == [(0, b"abc"), (1_789_000, b"defg")]
    assert file.notes == []


def test_a_pcap_of_another_link_type_behind_another_ends_it_with_a_note() -> None:
    first, other = build.pcap([(T_NS, b"abc")]), build.pcap([(T_NS, b"defg")], linktype=113)
    file = opened(first + other)
    assert [row[1] for row in packets(file)] == [b"abc"]
    assert file.notes == [
        "x: byte 43 (0x2b), behind packet 1: another pcap begins, of another link type; it is not read: "
        "mergecap puts them together"
    ]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "x: neither pcap nor pcapng (it is empty)"),
        (
            b"$date\n\0\0\0\0",
            "x: neither pcap nor pcapng (it begins with 24 64 61 74 65 0a 00 00)",
        ),
        (
            gzip.compress(build.pcap([]), mtime=0),
            "x: packed by gzip, which is read of a file, or of a pipe behind gzip -dc",
        ),
        (
            bytes.fromhex("34cdb2a1") + bytes(20),
            "x: a modified pcap (magic a1b2cd34), whose records have fields of their own; convert it: "
            "editcap -F pcap FILE NEW",
        ),
        (build.pcap([])[:20], "x: ends 20 B into its header of 24 B"),
        (
            struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 1, 0, 0, 0, 1),
            "x: pcap of version 2.1; 2.3 and later 2.x are read",
        ),
    ],
)
def test_what_is_no_pcap_is_refused_in_one_line(data: bytes, message: str) -> None:
    with pytest.raises(CaptureFormatError) as error:
        opened(data)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (build.ng_section()[:8] + b"abcd" + bytes(16), "x: no byte order of a section is 61 62 63 64"),
        (
            build.ng_section().replace(b"\1\0\0\0\xff", b"\2\0\0\0\xff"),
            "x: pcapng of version 2.0; 1.x is read",
        ),
    ],
)  # fmt: skip
def test_a_first_section_that_is_wrong_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(CaptureFormatError) as error:
        packets(opened(data))
    assert str(error.value) == message


def test_damage_is_noted_and_all_before_it_is_kept() -> None:
    good = build.pcap([(T_NS, b"abc"), (T_NS, b"defg")])
    ng = build.ng_section() + build.ng_interface() + build.ng_packet(0, b"abc")
    cases = [
        (good[:-1], 1, "byte 43 (0x2b), behind packet 1: the file ends 19 B into a record; it was cut short"),
        (
            good + struct.pack("<IIII", 0, 0, 300_000, 300_000) + bytes(300_000),
            2,
            "byte 63 (0x3f), behind packet 2: a record of 300,000 B, more than the 262,144 B that one can have; "
            "the file is damaged from there on",
        ),
        (ng + b"\6\0\0\0\x11\0\0\0" + bytes(40), 1,
         "byte 84 (0x54), behind packet 1: a record whose length of 17 B does not fit what it holds; "
         "the file is damaged from there on"),
        (ng + build.ng_packet(0, b"abc", interface=1), 1,
         "byte 84 (0x54), behind packet 1: the packet is of an interface that the file has not described"),
        (ng + ng[:20], 1, "byte 84 (0x54), behind packet 1: the file ends 20 B into the header of a section"),
        (ng + build.ng_block(5, bytes(2_000_000))[:-9], 1,
         "byte 2,000,087 (0x1e84d7), behind packet 1: the file ends inside a block; it was cut short"),
    ]  # fmt: skip
    for data, count, note in cases:
        file = opened(data)
        assert len(packets(file)) == count
        assert file.notes == [f"x: {note}"]


@settings(max_examples=100)
@given(st.integers(0, 1 << 40), st.booleans())
def test_no_damage_makes_it_fail_or_read_what_is_not_there(seed: int, ng: bool) -> None:
    chance = random.Random(seed)
    sent = [(T_NS + n, chance.randbytes(chance.randrange(80))) for n in range(30)]
    if ng:
        options = [build.ng_option(2, b"\1\0\0\0"), build.ng_option(1, b"hello")]
        data = bytearray(
            build.ng_section() + build.ng_interface(options=[build.ng_option(9, b"\x09")])
        )
        for t_ns, each in sent:
            data += build.ng_packet(t_ns, each, options=options[: chance.randrange(3)])
    else:
        data = bytearray(build.pcap(sent, nano=True))
    kind = chance.randrange(3)
    if kind == 0:
        del data[chance.randrange(len(data)) :]
    elif kind == 1:
        for _ in range(chance.randrange(1, 9)):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    else:
        a, b = sorted(chance.randrange(len(data)) for _ in range(2))
        data[a:b] = data[chance.randrange(len(data)) :][: chance.randrange(200)]
    try:
        rows = packets(opened(bytes(data), 600_000))
    except CaptureFormatError:
        return
    assert sum(len(row[1]) for row in rows) <= len(data)
