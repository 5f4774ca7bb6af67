"""SPI flash: literal SPI transfers in, commands out; sigrok-cli reads the same."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.parts.spiflash import SPIFLASH
from freezeframe.decoders.parts.spiflash_code import spiflash_texts
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import decode_file
from freezeframe.decoders.serial.spi import SPI
from freezeframe.decoders.serial.spi_encode import SpiTransfer, encode_transfers
from tests.campaign.seeds import seeds
from tests.decoders.parts.spi_sent import spi_transfers
from tests.decoders.pieces import assert_same_in_pieces, decoded, rows_of
from tests.decoders.serial.sigrok_reference import sigrok_annotations

Row = dict[str, Any]
REGISTRY = Registry({"spi": SPI, "spiflash": SPIFLASH})
WREN = "06"


def decode(table: pa.Table, **options: Any) -> list[Row]:
    return rows_of(SPIFLASH, table, **options)[0]


def commands(*texts: str, **options: Any) -> list[tuple[str, int, str, str]]:
    """Return (op, address, data in hex, error) of each row."""
    rows = decode(spi_transfers(*texts), **options)
    return [(r["op"], r["address"], (r["memory"] or b"").hex(), r["error"]) for r in rows]


def errors(*texts: str, **options: int) -> list[str]:
    return [error for _, _, _, error in commands(*texts, **options) if error]


def test_a_read_has_the_address_that_was_sent_and_the_data_that_came() -> None:
    assert commands("03 012345 0000/00000000 abcd", "0b 000010 00 0000/00000000 00 1234") == [
        ("READ", 0x012345, "abcd", ""),
        ("FAST_READ", 0x10, "1234", ""),
    ]


def test_a_row_says_all_about_a_command() -> None:
    # Two samples of 100 ns a half period: idle 4, selected 4, then 40 bits of 4, idle 4.
    assert decode(spi_transfers("03 012345 00/00000000 ab"))[0] == {
        "t_ps": 400_000,
        "source": "flash",
        "kind": "operation",
        "t_end_ps": 17_200_000,
        "error": "",
        "op": "READ",
        "opcode": 3,
        "address": 0x012345,
        "address_bytes": 3,
        "length_B": 1,
        "memory": b"\xab",
        "value": -1,
        "polls": -1,
        "busy_ps": -1,
        "transfer": 0,
        "sample": 4,
        "end_sample": 172,
    }


@pytest.mark.parametrize(
    ("text", "op", "value"),
    [
        ("9f 000000/00 c22015", "RDID", 0xC22015),
        ("9f 0000/00 c220", "RDID", -1),
        ("05 0000/00 0302", "RDSR", 0x02),
        ("35 00/00 40", "RDSR2", 0x40),
        ("15 00/00 60", "RDSR3", 0x60),
        ("90 000000 0000/00000000 c214", "REMS", 0xC214),
        # An odd address: the device first, then the manufacturer.
        ("90 000001 0000/00000000 14c2", "REMS", 0xC214),
        ("ab 000000 00/00000000 14", "RDP", 0x14),
        ("ab", "RDP", -1),
        ("01 1c", "WRSR", 0x1C),
    ],
)
def test_a_register_command_has_its_value(text: str, op: str, value: int) -> None:
    row = decode(spi_transfers(text))[0]
    assert (row["op"], row["value"], row["error"]) == (op, value, "")


def test_data_on_two_lines_is_put_together_from_mosi_and_miso() -> None:
    # 0xa5 is 10 10 01 01 as (IO1, IO0): IO1 1100, IO0 0011; 0x3c is 00 11 11 00: 0110, 0110.
    assert commands("3b 000100 00 36/00000000 00 c6") == [("DREAD", 0x100, "a53c", "")]
    # All after the opcode: address a53ca5, mode byte 3c, data a5 3c.
    assert commands("bb 36 36 36/00 c6 c6 c6") == [("2READ", 0xA53CA5, "a53c", "")]


def test_data_on_four_lines_is_counted_but_not_told() -> None:
    rows = decode(spi_transfers("6b 000100 00 1122", "eb 112233445566"))
    assert [(r["op"], r["address"], r["length_B"], r["memory"]) for r in rows] == [
        ("QREAD", 0x100, 8, None),
        # 6 B of one line are 24 of four: 3 address, 3 mode and dummy.
        ("4READ", -1, 18, None),
    ]
    rows = decode(spi_transfers(WREN, "32 000100 1122"))
    assert (rows[1]["address"], rows[1]["length_B"], rows[1]["memory"]) == (0x100, 8, None)


def test_the_address_mode_changes_the_length_of_addresses() -> None:
    assert commands("b7", "03 01020304 00/0000000000 55", "13 01020304 00/0000000000 66") == [
        ("EN4B", -1, "", ""),
        ("READ", 0x01020304, "55", ""),
        ("READ4", 0x01020304, "66", ""),
    ]
    assert commands("e9", "03 010203 00/00000000 77", address_bytes=4)[1][1:3] == (0x010203, "77")
    assert commands("03 01020304 00/0000000000 55", address_bytes=4)[0][1:3] == (0x01020304, "55")
    # 66 99 resets it.
    assert commands("b7", "66", "99", "03 010203 00/00000000 77")[3][1:3] == (0x010203, "77")


def test_the_time_of_a_program_is_that_until_the_status_says_ready() -> None:
    rows = decode(
        spi_transfers(WREN, "02 000000 aa", "05 00/00 03", "05 0000/00 0300", "05 00/00 00")
    )
    assert [(r["op"], r["polls"]) for r in rows] == [
        ("WREN", -1),
        ("PP", -1),
        ("RDSR", 1),
        ("RDSR", 2),
        ("RDSR", 2),
    ]
    program, ready = rows[1], rows[3]
    # The last byte of the status ends half a bit, of 400 ns, before the deselect.
    assert ready["busy_ps"] == ready["t_end_ps"] - 200_000 - program["t_end_ps"]
    assert [r["busy_ps"] for r in rows[:3]] == [-1, -1, -1]


@pytest.mark.parametrize(
    ("texts", "want"),
    [
        (["04", "02 000000 aa"], ["not-enabled"]),
        (["04", "20 001000"], ["not-enabled"]),
        (["04", "c7"], ["not-enabled"]),
        # Nobody knows the latch at the beginning of a capture, and a status tells it.
        (["02 000000 aa"], []),
        (["05 00/00 00", "02 000000 aa"], ["not-enabled"]),
        (["05 00/00 02", "02 000000 aa"], []),
        # The latch falls with the program.
        ([WREN, "02 000000 aa", "05 00/00 00", "02 000000 aa"], ["not-enabled"]),
        # Write enable for volatile status is for the status only.
        (["04", "50", "01 00"], []),
        (["04", "50", "02 000000 aa"], ["not-enabled"]),
        ([WREN, "d8 010000", "05 00/00 03", "03 000000 00"], ["while-busy"]),
        ([WREN, "d8 010000", "05 00/00 03", "05 00/00 00", "03 000000 00"], []),
        # It may have been ready all the same, so this is said once.
        ([WREN, "d8 010000", "05 00/00 03", "06", "02 000000 aa"], ["while-busy"]),
        ([WREN, "d8 010001"], ["unaligned"]),
        ([WREN, "52 018000"], []),
        ([WREN, "20 000800"], ["unaligned"]),
        ([WREN, "02 0000fe aabb"], []),
        ([WREN, "02 0000fe aabbcc"], ["page-wrap"]),
        ([WREN, "02 0000"], ["bad-length"]),
        ([WREN, "02 000000"], ["bad-length"]),
        (["06 00"], ["bad-length"]),
        ([WREN, "20 000000 00"], ["bad-length"]),
        (["03 0000"], ["bad-length"]),
        (["b9", "03 000000 00"], ["in-power-down"]),
        (["b9", "ab", "03 000000 00"], []),
        (["99"], ["reset-not-enabled"]),
        (["66", "05 00/00 00", "99"], ["reset-not-enabled"]),
        (["fe 00"], ["unknown-opcode"]),
    ],
)
def test_what_the_part_would_not_do_is_an_error(texts: list[str], want: list[str]) -> None:
    assert errors(*texts) == want


def test_a_command_that_is_not_done_changes_nothing() -> None:
    # A write enable with a byte too many does not enable.
    assert errors("04", "06 00", "02 000000 aa") == ["bad-length", "not-enabled"]


def test_the_size_of_a_page_is_an_option() -> None:
    assert errors(WREN, "02 00003f aabb", page_b=64) == ["page-wrap"]


def test_a_command_that_the_capture_cuts_is_an_error_and_does_nothing() -> None:
    table = spi_transfers("b7", "03 010203 00/00000000 77").to_pylist()
    table[0]["whole"] = False
    rows = decode(pa.Table.from_pylist(table))
    assert [(r["error"], r["address"]) for r in rows] == [
        ("", -1),
        ("cut-operation", -1),
        ("", 0x010203),
    ]


def test_other_selects_are_ignored_when_it_is_said_so() -> None:
    rows = spi_transfers("06", "04").to_pylist()
    rows[0]["select"] = 1
    assert [r["op"] for r in decode(pa.Table.from_pylist(rows), select=1)] == ["WREN"]


def test_each_chip_select_has_a_part_of_its_own() -> None:
    rows = spi_transfers("04", "06", "02 000000 aa", "02 000000 bb").to_pylist()
    for row, select in zip(rows, (0, 1, 0, 1), strict=True):
        row["select"] = select
    got = [(r["source"], r["op"], r["error"]) for r in decode(pa.Table.from_pylist(rows))]
    assert got == [
        ("flash", "WRDI", ""),
        ("flash1", "WREN", ""),
        ("flash", "PP", ""),
        ("flash", "PP", "not-enabled"),
        ("flash1", "PP", ""),
    ]


def test_words_that_are_no_bytes_are_refused() -> None:
    edges = encode_transfers([SpiTransfer([0x1FF], [0])], samplerate_hz=10_000_000, word_bits=9)
    edges = edges.select(["CLK", "MISO", "MOSI", "CS", None, None, None])
    table = decoded(SPI, edges, word_bits=9)["spi.transfers"]
    with pytest.raises(InputError, match="spiflash: a word of 0x1ff on mosi is longer than 8 bits"):
        decode(table)


def test_a_command_is_put_into_words() -> None:
    rows = decode(
        spi_transfers("03 012345 0000/00000000 abcd", "05 00/00 1e", "9f 000000/00 c22015", "fe")
    )
    assert [spiflash_texts(row).normal for row in rows] == [
        "READ 0x012345, 2 B: ab cd",
        "RDSR = 0x1e (write enabled, block protection 0x7)",
        "RDID = c22015",
        "0xfe",
        "unknown-opcode",
    ]
    assert (
        spiflash_texts(rows[-1]).long
        == "0xfe: unknown-opcode: no command with this opcode is known"
    )


@pytest.mark.parametrize("seed", range(20))
def test_noise_gives_rows_and_never_raises_in_pieces_of_any_size(seed: int) -> None:
    rng = random.Random(seed)
    texts = [
        bytes(rng.choice(TOLD) if not n else rng.randrange(256) for n in range(rng.randint(1, 9)))
        for _ in range(60)
    ]
    table = spi_transfers(*(text.hex() + "/" + rng.randbytes(len(text)).hex() for text in texts))
    made = assert_same_in_pieces(SPIFLASH, table, range(0, len(table), 7))
    whole = made["spiflash"].to_pylist()
    assert sum(row["kind"] == "operation" for row in whole) == 60
    for row in whole:
        assert spiflash_texts(row).long


# The other reader: sigrok-cli on the same file. What it says of the commands it knows, in our words.

TOLD = [0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0B, 0x20, 0x60, 0x90, 0x9F, 0xAB, 0xBB, 0xC7, 0xFE]


def random_command(rng: random.Random) -> SpiTransfer:
    address = rng.randbytes(3)
    data = rng.randbytes(rng.randint(1, 20))
    status = bytes([rng.choice((0, 2, 3, 0x9C))])
    mosi, miso = rng.choice(
        [
            (b"\x06", b""),
            (b"\x04", b""),
            (b"\xc7", b""),
            (b"\x60", b""),
            (b"\x9f\0\0\0", b"\0\xc2\x20\x15"),
            (b"\x05\0", b"\0" + status),
            (b"\x03" + address + bytes(len(data)), bytes(4) + data),
            (b"\x0b" + address + bytes(1 + len(data)), bytes(5) + data),
            (b"\x02" + address + data, b""),
            (b"\x20" + address, b""),
            (b"\x90\0\0\0\0\0", b"\0\0\0\0\xc2\x15"),
            (b"\x90\0\0\1\0\0", b"\0\0\0\0\x15\xc2"),
            (b"\xab\0\0\0\0", b"\0\0\0\0\x15"),
            (b"\xbb" + address + b"\0" + data, b"\0" + rng.randbytes(len(data) + 4)),
        ]
    )
    return SpiTransfer(mosi, miso.ljust(len(mosi), b"\0")[: len(mosi)])


SAYS = {"FAST_READ": "FAST/READ", "RDP": "RDP/RES"}
Said = tuple[int, str]  # the first sample of the command or its part, and the text


def as_sigrok_says_it(row: Row) -> list[Said]:
    """Put a command into the values that sigrok gives: name, address, data, identification."""
    op, begin = row["op"], row["sample"]
    name = SAYS.get(op, op) if row["opcode"] != 0xC7 else "CE2"
    said = [f"command {name}"]
    if row["address"] >= 0:
        said.append(f"address {row['address']:06x}")
    if op in ("READ", "FAST_READ", "2READ", "PP"):
        said.append(f"data {row['address']:06x} {row['length_B']} {row['memory'].hex(' ')}")
    if op == "RDID":
        maker, kind, device = row["value"].to_bytes(3, "big")
        said += [f"maker {maker:02x}", f"kind {kind:02x}", f"device {device:02x}"]
    if op == "REMS":
        maker, device = row["value"].to_bytes(2, "big")
        said += [f"maker {maker:02x}", f"device {device:02x}"]
    return [(begin, text) for text in said]


PATTERNS = {
    r"Command: .* \((\S+)\)": "command",
    r"Address: 0x([0-9a-f]{6})": "address",
    r".* \(addr 0x([0-9a-f]{6}), (\d+) bytes\): ([0-9a-f ]+)": "data",
    r"Manufacturer ID: 0x([0-9a-f]{2})": "maker",
    r"Memory type: 0x([0-9a-f]{2})": "kind",
    r"Device ID: 0x([0-9a-f]{2})": "device",
}


@pytest.mark.parametrize("seed", seeds(12))
def test_generated_commands_are_those_that_sigrok_gives(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    sent = [random_command(rng) for _ in range(50)]
    path = tmp_path / "bus.sr"
    write_sr(encode_transfers(sent, samplerate_hz=10_000_000), path)
    rows = decode_file(path, ["spi+spiflash"], registry=REGISTRY)[0].table.to_pylist()
    rows = [row for row in rows if row["kind"] == "operation"]
    assert len(rows) == 50
    decoder = "spi:clk=CLK:miso=MISO:mosi=MOSI:cs=CS,spiflash:chip=macronix_mx25l1605d"
    theirs: Counter[Said] = Counter()
    for annotation in sigrok_annotations(path, decoder, "spiflash=fields:commands"):
        # An annotation belongs to the command in which it begins.
        begin = max(row["sample"] for row in rows if row["sample"] <= annotation.begin)
        for pattern, what in PATTERNS.items():
            match = re.fullmatch(pattern, annotation.text.strip())
            if match:
                theirs[begin, " ".join((what, *match.groups())).rstrip()] += 1
    # Sigrok says a command once at its first byte, and some of them once more at their end.
    ours = {said for row in rows for said in as_sigrok_says_it(row)}
    assert ours == set(theirs)


def at45(*texts: str) -> list[tuple[str, int, str, str]]:
    return commands(*texts, family="at45", page_b=264)


def test_an_address_of_dataflash_is_a_page_and_a_byte_of_9_bits() -> None:
    # Page 3, byte 5: 3 << 9 | 5 = 000605h; byte 3 * 264 + 5 of the memory.
    assert at45(
        "d2 000605 00000000 0000/0000000000000000 abcd",
        "0b 000605 00 00/0000000000 ee",
        "84 000605 1234",
        "83 000600",
        "81 000600",
    ) == [
        ("PAGE_READ", 797, "abcd", ""),
        ("ARRAY_READ", 797, "ee", ""),
        ("BUFFER1_WRITE", 5, "1234", ""),
        ("BUFFER1_TO_PAGE", 792, "", ""),
        ("PAGE_ERASE", 792, "", ""),
    ]


def test_dataflash_is_ready_when_bit_7_of_its_status_is_1() -> None:
    table = spi_transfers("82 000600 aa", "d7 0000/00 2cac", "d7 00/00 2c", "03 000000 00")
    rows = decode(table, family="at45", page_b=264)
    assert [(r["op"], r["value"], r["polls"], r["error"]) for r in rows] == [
        ("PAGE_PROGRAM1", -1, -1, ""),
        ("STATUS", 0xAC, 1, ""),
        ("STATUS", 0x2C, 2, ""),
        ("ARRAY_READ", -1, -1, ""),
        ("ARRAY_READ", -1, -1, "while-busy"),
    ]
    assert rows[1]["busy_ps"] > 0
    assert spiflash_texts(rows[1]).short == "STATUS"
    assert "0xac (ready)" in spiflash_texts(rows[1]).normal
    assert "0x2c (busy)" in spiflash_texts(rows[2]).normal


def test_dataflash_needs_no_write_enable_and_data_stay_in_the_page() -> None:
    assert [error for *_, error in at45("c7 94 80 9a", "82 000706 01 02 03", "06")] == [
        "",
        "",
        "page-wrap",
        "",
        "unknown-opcode",
    ]
