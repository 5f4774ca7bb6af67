"""EEPROM on I2C: literal transfers in, operations out; sigrok-cli reads the same."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.contract import OptionValue
from freezeframe.decoders.parts.eeprom import EEPROM
from freezeframe.decoders.parts.eeprom_code import eeprom_texts
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import decode_file
from freezeframe.decoders.serial.i2c import I2C
from tests.campaign.seeds import seeds
from tests.capture.files.captures import real_capture
from tests.decoders.parts.i2c_sent import i2c_edges, i2c_transfers
from tests.decoders.pieces import assert_same_in_pieces, rows_of
from tests.decoders.serial.sigrok_reference import sigrok_annotations

Row = dict[str, Any]
REGISTRY = Registry({"i2c": I2C, "eeprom": EEPROM})


def decode(table: pa.Table, **options: OptionValue) -> list[Row]:
    return rows_of(EEPROM, table, **({"address_bytes": 1} | options))[0]


def operations(*texts: str, **options: OptionValue) -> list[tuple[str, int, str, str]]:
    """Return (op, address, data in hex, error) of each row."""
    rows = decode(i2c_transfers(*texts), **options)
    return [(r["op"], r["address"], r["memory"].hex(), r["error"]) for r in rows]


def test_a_write_of_one_byte_and_of_more_have_the_address_that_was_sent() -> None:
    assert operations("50w 12 aa", "50w 20 aa bb cc") == [
        ("byte-write", 0x12, "aa", ""),
        ("page-write", 0x20, "aabbcc", ""),
    ]


def test_a_random_read_is_a_write_of_the_address_and_a_read_after_a_repeated_start() -> None:
    assert operations("50w 12 ~", "50r aa", "50w 12 ~", "50r aa bb") == [
        ("random-read", 0x12, "aa", ""),
        ("sequential-read", 0x12, "aabb", ""),
    ]


def test_a_current_read_goes_on_where_the_counter_stands() -> None:
    assert operations(
        "50r 01", "50w fe ~", "50r aa", "50r bb", "50r cc", "50w 03 aa", "50r dd"
    ) == [
        ("current-read", -1, "01", ""),
        ("random-read", 0xFE, "aa", ""),
        ("current-read", 0xFF, "bb", ""),
        # It wraps at the end of the memory.
        ("current-read", 0x00, "cc", ""),
        ("byte-write", 0x03, "aa", ""),
        ("current-read", 0x04, "dd", ""),
    ]


def test_an_address_that_is_sent_alone_sets_the_counter() -> None:
    assert operations("50w 12", "50r aa") == [
        ("set-address", 0x12, "", ""),
        ("current-read", 0x12, "aa", ""),
    ]
    # Without a STOP, it waits for a read that does not come.
    assert operations("50w 12 ~", "50w 34 ~", "51r aa", "50r bb") == [
        ("set-address", 0x12, "", ""),
        ("set-address", 0x34, "", ""),
        ("current-read", -1, "aa", ""),
        ("current-read", 0x34, "bb", ""),
    ]
    # The capture ends before anybody knows.
    assert [row[3] for row in operations("50w 12 ~")] == ["", "cut"]


def test_addresses_of_two_bytes_are_the_upper_byte_first() -> None:
    texts = ["50w 12 34 aa", "50w 7f ff ~", "50r aa", "50r bb"]
    assert operations(*texts, address_bytes=2, size_b=32_768) == [
        ("byte-write", 0x1234, "aa", ""),
        ("random-read", 0x7FFF, "aa", ""),
        ("current-read", 0, "bb", ""),
    ]
    assert operations("50w 12", address_bytes=2) == [
        ("set-address", -1, "", ""),
        ("set-address", -1, "", "short-address"),
    ]


@pytest.mark.parametrize(
    ("texts", "width", "shown"),
    [
        (["50w 12 34 aa", "50w 12 34 ~", "50r aa"], 2, True),
        (["50w 12 aa", "50w 12 ~", "50r aa"], 1, True),
        (
            ["51w 12 ~", "50r aa", "50w 12 34 ~", "50r aa"],
            2,
            True,
        ),  # a read of another device shows nothing
        (
            ["50w 12 aa", "50w 13", "50r bb"],
            1,
            False,
        ),  # with a STOP between, the write may have had data
        (["20w 12 34 ~", "20r aa", "50w 12 aa"], 1, False),  # no memory
        (["50w 12 34! ~", "50r aa"], 1, False),
    ],
)
def test_how_many_bytes_an_address_has_is_shown_by_a_read_after_a_repeated_start(
    texts: list[str], width: int, shown: bool
) -> None:
    first, *rows = decode(i2c_transfers(*texts), address_bytes=0)
    assert (first["kind"], first["length_B"], first["addressed"]) == ("address-bytes", width, shown)
    assert rows == decode(i2c_transfers(*texts), address_bytes=width)
    said = "so it was sent before a read" if shown else "nothing shows it; say address_bytes="
    assert eeprom_texts(first).long == f"addresses of {width} B: {said}"


def test_a_size_that_one_byte_cannot_reach_needs_two() -> None:
    rows = decode(i2c_transfers("50w 12 34 aa"), address_bytes=0, size_b=8192)
    assert [(row["kind"], row["address"]) for row in rows] == [("operation", 0x1234)]


def test_larger_devices_take_address_bits_from_the_device_address() -> None:
    # 24x16: 2 KiB, eight blocks of 256 B at 0x50 to 0x57.
    rows = decode(i2c_transfers("53w 12 aa", "50w ff ~", "50r 01", "50r 02"), size_b=2048)
    assert [(r["device"], r["address"]) for r in rows] == [
        (0x50, 0x312),
        (0x50, 0xFF),
        (0x50, 0x100),
    ]
    with pytest.raises(InputError, match="4096 B need more than 1 address B and three block bits"):
        decode(i2c_transfers("50w 00"), size_b=4096)


def test_a_write_over_the_end_of_a_page_wraps() -> None:
    rows = operations("50w 0e aa bb cc", "50w 0e ~", "50r aa bb", "50w 00 ~", "50r cc", "50r 55")
    assert rows == [
        ("page-write", 0x0E, "aabbcc", ""),
        ("page-write", 0x0E, "aabbcc", "page-wrap"),
        ("sequential-read", 0x0E, "aabb", ""),
        # cc went to the beginning of the page: no error about another value.
        ("random-read", 0x00, "cc", ""),
        ("current-read", 0x01, "55", ""),
    ]
    assert operations("50w 06 aa bb cc", page_b=8)[1][3] == "page-wrap"


def test_a_byte_that_reads_back_as_another_is_an_error() -> None:
    assert operations("50w 10 aa bb", "50w 10 ~", "50r aa bc")[2][3] == "differs"


def test_addresses_that_a_writing_device_does_not_answer_are_one_poll_with_the_time() -> None:
    rows = decode(i2c_transfers("50w 10 aa", "50w!", "50w!", "50w!", "50w 20 bb", "50w!", "50w!"))
    assert [(r["op"], r["polls"], r["error"]) for r in rows] == [
        ("byte-write", -1, ""),
        ("poll", 3, ""),
        ("byte-write", -1, ""),
        ("poll", 2, ""),
    ]
    assert rows[1]["cycle_ps"] == rows[2]["t_ps"] - rows[0]["t_end_ps"] > 0
    assert rows[3]["cycle_ps"] == -1
    # The address alone asks as well, and its answer ends the polling.
    rows = decode(i2c_transfers("50w 10 aa", "50w!", "50w", "50w!"))
    assert [(r["op"], r["polls"], r["error"]) for r in rows] == [
        ("byte-write", -1, ""),
        ("poll", 1, ""),
        ("poll", 1, ""),
        ("poll", 1, "no-answer"),
    ]


def test_a_row_says_all_about_an_operation() -> None:
    transfers = i2c_transfers("50w 12 ~", "50r aa").to_pylist()
    assert decode(i2c_transfers("50w 12 ~", "50r aa")) == [
        {
            # From the first START to the STOP of the second transfer.
            "t_ps": transfers[0]["t_ps"],
            "source": "EEPROM",
            "kind": "operation",
            "t_end_ps": transfers[1]["t_end_ps"],
            "error": "",
            "op": "random-read",
            "device": 0x50,
            "address": 0x12,
            "addressed": True,
            "length_B": 1,
            "memory": b"\xaa",
            "polls": -1,
            "cycle_ps": -1,
            "transfer": 0,
            "sample": transfers[0]["sample"],
            "end_sample": transfers[1]["end_sample"],
        }
    ]


@pytest.mark.parametrize(
    ("texts", "error"),
    [
        (["50w!"], "no-answer"),
        (["50r!"], "no-answer"),
        (["50w 10!"], "refused-address"),
        (["50w 10 aa bb!"], "refused-data"),
        (["50w 10 ~", "50r aa bb +"], "no-nak"),
        (["50w 10 aa ~", "50r bb"], "no-stop"),
    ],
)
def test_what_goes_wrong_on_the_bus_is_an_error(texts: list[str], error: str) -> None:
    assert [row[3] for row in operations(*texts) if row[3]] == [error]


def test_an_operation_that_the_capture_cuts_is_an_error() -> None:
    assert operations("50w 10 aa ~") == [
        ("byte-write", 0x10, "aa", ""),
        ("byte-write", 0x10, "aa", "cut"),
    ]


def test_other_devices_are_ignored() -> None:
    assert operations("48w 00 11", "50w 10 aa", "68r 22", "51w 01 bb", device=0x51) == [
        ("byte-write", 1, "bb", "")
    ]


def test_an_operation_is_put_into_words() -> None:
    rows = decode(i2c_transfers("50w 12 aa", "50w!", "50w 12 ~", "50r ab"))
    assert [eeprom_texts(row).normal for row in rows] == [
        "byte-write at 0x0012: aa",
        "poll, 1 not answered",
        "random-read at 0x0012: ab",
        "differs",
    ]
    assert eeprom_texts(rows[1]).long.startswith("device 0x50: poll, 1 not answered, write took ")


def random_texts(rng: random.Random, count: int, address_bytes: int = 1) -> list[str]:
    texts: list[str] = []
    for _ in range(count):
        data = rng.randbytes(rng.randint(1, 18)).hex(" ")
        address = rng.randrange(8192).to_bytes(2, "big")[-address_bytes:].hex(" ")
        texts += rng.choice(
            [
                [f"50w {address} {data}"],
                [f"50w {address} {data[:2]}"],
                [f"50w {address} ~", f"50r {data}"],
                [f"50w {address} ~", f"50r {data[:2]}"],
                [f"50r {data[:2]}"],
            ]
        )
    return texts


@pytest.mark.parametrize("seed", range(10))
def test_noise_gives_the_same_rows_in_pieces_of_any_size(seed: int) -> None:
    rng = random.Random(seed)
    texts = random_texts(rng, 40)
    rng.shuffle(texts)
    texts = [text + rng.choice(["", "", " ~"]) for text in texts]
    texts = [text if "~ ~" not in text else text[:-2] for text in texts]
    texts += rng.choices(["50w!", "50w", "50r!", "51w 00 11! 22"], k=10)
    rng.shuffle(texts)
    table = i2c_transfers(*texts)
    whole = assert_same_in_pieces(EEPROM, table, range(0, len(table), 3))["eeprom"].to_pylist()
    assert len(whole) >= 40
    assert all(eeprom_texts(row).long for row in whole)


# The other reader: sigrok-cli on the same file.

SAYS = {
    "Byte write": "byte-write",
    "Page write": "page-write",
    "Current address read": "current-read",
    "Random access read": "random-read",
    "Sequential random read": "sequential-read",
}


def assert_equal(
    path: Path, spec: str = "page_b=16,address_bytes=1", chip: str = "24aa025uid"
) -> list[Row]:
    made = decode_file(path, [f"i2c+eeprom:{spec}"], registry=REGISTRY)
    rows: list[Row] = made[0].table.to_pylist()
    theirs = []
    wraps = 0
    decoder = f"i2c:scl=SCL:sda=SDA,eeprom24xx:chip=microchip_{chip}"
    for annotation in sigrok_annotations(path, decoder, "eeprom24xx"):
        match = re.fullmatch(
            r"([A-Z][a-z ]+?)(?: \(addr=(\w+), \d+ bytes?\))?: ((?:\w\w ?)+)", annotation.text
        )
        if match and match[1] in SAYS:
            address = int(match[2], 16) if match[2] else None
            theirs.append((annotation.begin, SAYS[match[1]], address, match[3].lower()))
        wraps += "crossed page boundary" in annotation.text
    ours: list[tuple[Any, ...]] = [
        (
            row["sample"],
            row["op"],
            row["address"] if row["addressed"] else None,
            row["memory"].hex(" "),
        )
        for row in rows
        if row["kind"] == "operation"
    ]
    if "address_bytes=2" in spec:
        # Sigrok tells one byte from more by the length with the address, which it takes for one byte.
        one = {"byte-write": "page-write", "random-read": "sequential-read"}
        ours = [(begin, one.get(op, op), *rest) for begin, op, *rest in ours]
    assert ours == theirs
    assert wraps == sum(row["error"] == "page-wrap" for row in rows)
    return rows


def test_the_real_capture_gives_the_writes_that_sigrok_gives() -> None:
    rows = assert_equal(real_capture("24aa025uid_bytewrite16_6ms_delay.sr"))
    assert [(row["op"], row["address"], row["memory"]) for row in rows] == [
        ("byte-write", number, bytes([number])) for number in range(16)
    ]


@pytest.mark.parametrize("seed", seeds(10))
def test_generated_operations_are_those_that_sigrok_gives(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "bus.sr"
    write_sr(i2c_edges(*random_texts(random.Random(seed), 25)), path)
    assert len(assert_equal(path)) >= 25


@pytest.mark.parametrize("seed", range(5))
def test_generated_operations_with_addresses_of_two_bytes_are_those_too(
    seed: int, tmp_path: Path
) -> None:
    path = tmp_path / "bus.sr"
    write_sr(i2c_edges(*random_texts(random.Random(seed), 25, address_bytes=2)), path)
    rows = assert_equal(path, "address_bytes=2,size_b=8192,page_b=32", "24aa64")
    assert len(rows) >= 25
