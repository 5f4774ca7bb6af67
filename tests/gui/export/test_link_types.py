"""Buses with a link type of their own: the bytes of each packet, and what tshark reads in the file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from freezeframe.decoders.run import Decoded
from freezeframe.decoders.serial.can_code import can_schema
from freezeframe.decoders.serial.i2c_code import transfer_schema
from freezeframe.decoders.serial.uart_code import uart_schema
from freezeframe.gui.export.link_types import frames_of
from freezeframe.gui.export.material import Material
from freezeframe.gui.export.pcapng import write_pcapng
from tests.gui.export.test_pcapng import tshark

US = 10**6


def framed(name: str, *rows: dict[str, Any]) -> list[tuple[int, str]]:
    """Return link type and bytes of each packet."""
    make = frames_of(name)
    assert make is not None
    given: Iterator[Any] = iter(rows)
    return [(made.linktype, made.data.hex(" ")) for made in make(given)]


def filled(schema: pa.Schema, **values: Any) -> dict[str, Any]:
    """Return a row of a table: what is not given is -1, null or empty."""
    row: dict[str, Any] = {}
    for field in schema:
        number = pa.types.is_integer(field.type)
        row[field.name] = (
            -1 if number else "" if field.name in ("kind", "source", "error") else None
        )
    return row | {"t_ps": 0, "t_end_ps": 0} | values


def can(**values: Any) -> dict[str, Any]:
    given = {
        "kind": "frame",
        "source": "CAN",
        "extended": False,
        "fd": False,
        "brs": False,
        "esi": False,
    }
    return filled(can_schema(), **(given | values))  # fmt: skip


def i2c(**values: Any) -> dict[str, Any]:
    given = {"kind": "transfer", "source": "SDA", "ten_bit": False, "read": False, "data": b""}
    return filled(transfer_schema(), **(given | values))


def uart(t_us: int, data: int, **values: Any) -> dict[str, Any]:
    given = {"kind": "frame", "source": "RX", "t_ps": t_us * US, "t_end_ps": (t_us + 10) * US}
    return filled(uart_schema(), data=data, **(given | values))


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        # identifier, big-endian, length, flags of CAN FD, two reserved bytes
        (can(id=0x123, dlc=2, data=b"\xaa\xbb"), "00 00 01 23 02 00 00 00 aa bb"),
        (can(id=0x14611234, extended=True, dlc=0, data=b""), "94 61 12 34 00 00 00 00"),
        (can(kind="remote", id=0x123, dlc=8, data=b""), "40 00 01 23 08 00 00 00"),
        (can(id=1, fd=True, brs=True, esi=True, dlc=9, data=bytes(12)), "00 00 00 01 0c 07 00 00" + " 00" * 12),
        (can(kind="error", error="bad-stuffing", id=-1), "20 00 00 08 08 00 00 00 00 00 04 00 00 00 00 00"),
    ],
)  # fmt: skip
def test_a_can_frame_is_that_of_socketcan(row: dict[str, Any], expected: str) -> None:
    assert framed("can", row) == [(227, expected)]


def test_an_error_about_a_can_frame_is_no_packet_of_its_own() -> None:
    frame = can(t_ps=5, id=0x123, dlc=0, data=b"")
    assert len(framed("can", frame, frame | {"kind": "error", "error": "bad-crc"})) == 1
    assert framed("can", can(kind="bitrate"), can(kind="overload")) == []


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (i2c(address=0x50, data=b"\x12\xaa"), "00 00 00 00 00 a0 12 aa"),
        (i2c(address=0x50, read=True, data=b"\xff"), "00 00 00 00 00 a1 ff"),
        (i2c(address=0x2A5, ten_bit=True, data=b"\x01"), "00 00 00 00 00 f4 a5 01"),
        (i2c(address=0x2A5, ten_bit=True, read=True, data=b"\x01"), "00 00 00 00 00 f5 01"),
    ],
)
def test_an_i2c_transfer_is_its_bytes_after_five_of_linux(
    row: dict[str, Any], expected: str
) -> None:
    assert framed("spi+i2c.transfers#2", row) == [(209, expected)]


def test_characters_between_silences_are_one_packet_and_errors_are_events() -> None:
    rows = [
        uart(1_500_000, 0x41), uart(1_500_010, 0x42), uart(1_500_045, 0x43),  # 25 us: no silence of 3.5 characters
        uart(1_500_091, 0x44), uart(1_500_091, 0x44, kind="error", error="bad-stop"), uart(1_500_101, 0x45),
    ]  # fmt: skip
    assert framed("uart", *rows) == [
        (250, "00 00 00 01 00 07 a1 20 02 00 00 00 41 42 43"),
        (250, "00 00 00 01 00 07 a1 7b 02 00 00 00 44"),
        (250, "00 00 00 01 00 07 a1 7b 07 00 00 00"),
        (250, "00 00 00 01 00 07 a1 85 02 00 00 00 45"),
    ]


def test_tables_of_other_decoders_have_no_link_type() -> None:
    assert frames_of("spi") is None
    assert frames_of("i2c+eeprom") is None


def test_tshark_reads_them_with_their_comments(tmp_path: Path) -> None:
    frame = can(t_ps=7 * US, id=0x123, dlc=2, data=b"\xaa\xbb")
    frames = [frame, frame | {"kind": "error", "error": "bad-crc"}]
    tables = [
        Decoded("can", pa.Table.from_pylist(frames, schema=can_schema())),
        Decoded("i2c.transfers", pa.Table.from_pylist([i2c(address=0x50, data=b"\x12")], schema=transfer_schema())),
        Decoded("uart", pa.Table.from_pylist([uart(9, 0x41), uart(19, 0x42)], schema=uart_schema())),
    ]  # fmt: skip
    wrote = write_pcapng(Material(Path("a.sr"), tables=tables), tmp_path / "x.pcapng")
    assert wrote.counts == {
        "packets of can": 1,
        "packets of i2c.transfers": 1,
        "packets of uart": 1,
    }
    fields = (
        "_ws.col.Protocol",
        "can.id",
        "i2c.addr",
        "rtacser.eventtype",
        "data.data",
        "frame.comment",
    )
    assert tshark(tmp_path / "x.pcapng", *fields) == [
        ["I2C Write", "", "0x50", "", "a012", ""],
        ["CAN", "291", "", "", "aabb", "error: bad-crc"],
        ["RTAC Serial", "", "", "0x02", "4142", ""],
    ]
