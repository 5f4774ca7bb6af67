"""SFP: pages written from the tables of SFF-8472 in, fields with units out."""

from __future__ import annotations

import random
import struct
from typing import Any

import pytest

from freezeframe.decoders.contract import OptionValue
from freezeframe.decoders.parts.module_pages import module_texts
from freezeframe.decoders.parts.sfp import SFP
from tests.decoders.parts.i2c_sent import i2c_transfers
from tests.decoders.parts.sfp_memory import diagnostics, identification, put
from tests.decoders.pieces import cut, rows_of

Row = dict[str, Any]


def decode(*texts: str, **options: OptionValue) -> list[list[Row]]:
    """Return the fields and the transactions."""
    return rows_of(SFP, i2c_transfers(*texts), **options)


def read(device: int, address: int, data: bytes) -> list[str]:
    """Return the transfers of a read of ``data`` from an address."""
    return [f"{device:02x}w {address:02x} ~", f"{device:02x}r {data.hex(' ')}"]


def pages(a0: bytes, a2: bytes) -> list[str]:
    return [*read(0x50, 0, a0[:128]), *read(0x51, 0, a2[:128])]


def texts_of(rows: list[Row]) -> dict[str, str]:
    return {row["name"]: row["text"] for row in rows if row["kind"] == "field"}


def test_the_identification_page_is_read_field_by_field() -> None:
    fields, _ = decode(*read(0x50, 0, identification()[:128]))
    assert texts_of(fields) == {
        "identifier": "SFP",
        "extended identifier": "defined by the two-wire ID only",
        "connector": "LC",
        "transceiver compliance": "10GBASE-SR, 1000BASE-SX",
        "encoding": "64B/66B",
        "nominal rate": "10300 MBd",
        "rate identifier": "unspecified",
        "length single mode": "not supported",
        "length single mode, fine": "not supported",
        "length OM2": "80 m",
        "length OM1": "30 m",
        "length OM4, or 1/10 of copper": "not supported",
        "length OM3": "300 m",
        "vendor name": "EXAMPLE OPTICS",
        "extended compliance": "unspecified",
        "vendor OUI": "02-00-5E",
        "vendor part number": "EX-SFP-10G-SR",
        "vendor revision": "A1",
        "wavelength": "850 nm",
        "fibre channel speed 2": "00",
        "CC_BASE": f"{identification()[63]:#04x} (good)",
        "options": "TX_DISABLE, TX_FAULT, LOS",
        "upper rate margin": "0 %",
        "lower rate margin": "0 %",
        "vendor serial number": "SN0123456789",
        "date code": "2024-02-29 lot B7",
        "diagnostic monitoring type": "diagnostics, internal calibration, average RX power",
        "enhanced options": "alarm and warning flags, soft TX_DISABLE",
        "SFF-8472 compliance": "11.3",
        "CC_EXT": f"{identification()[95]:#04x} (good)",
        "vendor specific": " ".join(["00"] * 32),
    }
    assert [row["address"] for row in fields] == sorted(row["address"] for row in fields)


def test_a_row_says_where_a_field_is_its_bytes_and_its_place() -> None:
    fields, transactions = decode(*read(0x51, 96, bytes.fromhex("1940")))
    # Its place is that of its bytes: 18 bits of 8 samples, 1 us each.
    assert fields == [
        {
            "t_ps": fields[0]["sample"] * 1_000_000,
            "source": "SFP",
            "kind": "field",
            "t_end_ps": fields[0]["end_sample"] * 1_000_000,
            "error": "",
            "op": "read",
            "page": "A2h",
            "address": 96,
            "length_B": 2,
            "name": "temperature",
            "raw": b"\x19\x40",
            "value": 25.25,
            "unit": "C",
            "text": "25.25 C",
            "calibration": "assumed",
            "limit": "",
            "reads": 1,
            "sample": fields[0]["sample"],
            "end_sample": fields[0]["end_sample"],
        }
    ]
    assert fields[0]["end_sample"] - fields[0]["sample"] == 18 * 8
    assert [(t["op"], t["page"], t["address"], t["memory"]) for t in transactions] == [
        ("read", "A2h", 96, b"\x19\x40")
    ]


@pytest.mark.parametrize(
    ("address", "raw", "name", "value", "text"),
    [
        # 9.2: temperature signed, 1/256 C; Vcc 100 uV; bias 2 uA; powers 0.1 uW.
        (96, "1940", "temperature", 25.25, "25.25 C"),
        (96, "e680", "temperature", -25.5, "-25.50 C"),
        (98, "80e8", "Vcc", 3.3, "3.3000 V"),
        (100, "0bb8", "TX bias", 6.0, "6.000 mA"),
        (102, "1388", "TX power", 0.5, "0.5000 mW (-3.01 dBm)"),
        (104, "2710", "RX power", 1.0, "1.0000 mW (0.00 dBm)"),
        (104, "0000", "RX power", 0.0, "0.0000 mW (no light)"),
        (104, "ffff", "RX power", 6.5535, "6.5535 mW (8.16 dBm)"),
        (0, "5500", "temperature high alarm", 85.0, "85.00 C"),
        (38, "0064", "RX power low warning", 0.01, "0.0100 mW (-20.00 dBm)"),
        (110, "86", "status and control", 0x86, "TX disabled, TX fault, RX LOS"),
        (112, "8040", "alarm flags", 0x8040, "temperature high, RX power low"),
        (116, "0180", "warning flags", 0x0180, "TX power low, RX power high"),
    ],
)
def test_a_diagnostic_has_its_unit(
    address: int, raw: str, name: str, value: float, text: str
) -> None:
    fields, _ = decode(*read(0x51, address, bytes.fromhex(raw)))
    assert [(row["name"], row["value"], row["text"]) for row in fields] == [
        (name, pytest.approx(value), text)
    ]


def test_external_calibration_uses_the_constants_of_the_module() -> None:
    # 9.3: slope 8.8 fixed point, offset signed; RX power a polynomial with single-precision factors.
    a2 = bytearray(diagnostics())
    put(a2, 56, struct.pack(">5f", 0, 0, 1e-3, 2.0, -50.0))
    for at, slope, offset in (
        (76, 0x0200, -10),
        (80, 0x0180, 20),
        (84, 0x0100, 256),
        (88, 0x0080, 5),
    ):
        put(a2, at, struct.pack(">Hh", slope, offset))
    put(a2, 96, struct.pack(">hHHHH", -256, 1000, 1000, 1000, 1000))
    fields, _ = decode(*pages(identification(monitoring=0x58), bytes(a2)))
    values = {row["name"]: row["value"] for row in fields if row["calibration"] == "external"}
    assert values["temperature"] == pytest.approx(0.0)  # (1 * -256 + 256) / 256
    assert values["Vcc"] == pytest.approx((0.5 * 1000 + 5) * 1e-4)
    assert values["TX bias"] == pytest.approx((2 * 1000 - 10) * 2e-3)
    assert values["TX power"] == pytest.approx((1.5 * 1000 + 20) * 1e-4)
    assert values["RX power"] == pytest.approx((1e-3 * 1000**2 + 2 * 1000 - 50) * 1e-4)
    # A threshold that is read before its constants has no value yet.
    early = next(row for row in fields if row["name"] == "temperature high alarm")
    assert (early["value"], early["text"]) == (None, "4b00, calibration constants are not known")


def test_internal_calibration_is_assumed_until_byte_92_says_so() -> None:
    value = read(0x51, 98, b"\x80\xe8")
    fields, _ = decode(*value, *read(0x50, 92, b"\x68"), *value, *read(0x50, 92, b"\x58"), *value)
    assert [row["calibration"] for row in fields if row["name"] == "Vcc"] == [
        "assumed",
        "internal",
        "external",
    ]


def test_a_measurement_that_violates_a_threshold_says_which() -> None:
    temperatures = {  # thresholds 75, -5, 70, 0 C
        "4b01": "high-alarm",
        "4b00": "high-warning",
        "4600": "",
        "ff00": "low-warning",
        "fa00": "low-alarm",
    }
    measured = [part for raw in temperatures for part in read(0x51, 96, bytes.fromhex(raw))]
    fields, _ = decode(*read(0x51, 0, diagnostics()[:96]), *measured)
    limits = [row["limit"] for row in fields if row["name"] == "temperature"]
    assert limits == list(temperatures.values())
    assert module_texts(fields[-1]).normal == "temperature: -6.00 C, under its low-alarm threshold"


@pytest.mark.parametrize(("page", "address"), [(0, 40), (0, 70), (1, 10)])
def test_a_checksum_that_does_not_fit_is_an_error(page: int, address: int) -> None:
    both = [bytearray(identification()), bytearray(diagnostics())]
    both[page][address] ^= 1
    fields, _ = decode(*pages(bytes(both[0]), bytes(both[1])))
    wrong = {(0, 40): "CC_BASE", (0, 70): "CC_EXT", (1, 10): "CC_DMI"}[page, address]
    assert [(row["name"], row["error"]) for row in fields if row["kind"] == "error"] == [
        (wrong, "bad-checksum")
    ]
    assert "should be" in texts_of(fields)[wrong]


def test_a_checksum_over_bytes_that_were_not_read_has_no_verdict() -> None:
    fields, _ = decode(*read(0x50, 63, b"\x12"))
    assert [row["text"] for row in fields] == ["0x12 (bytes 0..62 are not all known)"]


def test_a_field_that_is_read_in_pieces_is_given_when_it_is_whole() -> None:
    name = b"EXAMPLE OPTICS  "
    fields, transactions = decode(
        *read(0x50, 20, name[:7]), *read(0x51, 0, b"\0"), *read(0x50, 27, name[7:])
    )
    assert [(row["name"], row["text"], row["reads"]) for row in fields] == [
        ("vendor name", "EXAMPLE OPTICS", 2)
    ]
    assert len(transactions) == 3
    # Byte by byte, with the counter of the device going on by itself.
    fields, _ = decode("51w 60 ~", "51r 19", "51r 40")
    assert [(row["name"], row["value"], row["reads"]) for row in fields] == [
        ("temperature", 25.25, 2)
    ]


def test_a_value_that_is_polled_is_given_each_time() -> None:
    fields, _ = decode(*(part for n in range(3) for part in read(0x51, 96, bytes([20 + n, 0]))))
    assert [row["value"] for row in fields] == [20, 21, 22]


def test_a_write_is_a_field_too_and_selects_the_page() -> None:
    fields, transactions = decode("51w 6e 40", "51w 7f 02", *read(0x51, 200, b"\xab"))
    assert [(row["op"], row["name"], row["text"]) for row in fields] == [
        ("write", "status and control", "soft TX disable"),
        ("write", "page select", "02"),
    ]
    assert [(t["op"], t["page"], t["address"]) for t in transactions] == [
        ("write", "A2h", 110),
        ("write", "A2h", 127),
        ("read", "A2h page 02h", 200),
    ]
    # Before anybody selected, it is page 00h, or nobody knows.
    assert decode(*read(0x51, 200, b"\xab"))[1][0]["page"] == "A2h page 00h"
    assert decode(*read(0x51, 200, b"\xab"), page=-1)[1][0]["page"] == "A2h page ?"


def test_a_read_from_a_counter_that_nobody_set_has_no_fields() -> None:
    fields, transactions = decode("50r 03 04")
    assert fields == []
    assert [(t["address"], t["page"], t["memory"]) for t in transactions] == [(-1, "", b"\x03\x04")]


def test_the_nominal_rate_of_fast_modules_is_in_byte_66() -> None:
    fields, _ = decode(*read(0x50, 66, b"\x67"), *read(0x50, 12, b"\xff"))
    assert texts_of(fields)["nominal rate"] == "25750 MBd"


def test_wrong_texts_and_dates_are_errors() -> None:
    fields, _ = decode(*read(0x50, 20, b"EXA\x01PLE".ljust(16)), *read(0x50, 84, b"24133100"))
    assert [(row["name"], row["error"]) for row in fields if row["error"]] == [
        ("vendor name", "not-ascii"),
        ("date code", "bad-date"),
    ]


@pytest.mark.parametrize(
    ("texts", "error"),
    [
        (["50w!"], "no-answer"),
        (["50w 10!"], "refused-address"),
        (["51w 7f 01!"], "refused-data"),
        (["50w 10 ~", "50r aa +"], "no-nak"),
        (["51w 7f 01 ~", "51r 00"], "no-stop"),
    ],
)
def test_what_goes_wrong_on_the_bus_is_an_error(texts: list[str], error: str) -> None:
    fields, transactions = decode(*texts)
    assert [row["error"] for row in transactions if row["error"]] == [error]
    assert all(module_texts(row).long for row in [*fields, *transactions])


@pytest.mark.parametrize("seed", range(10))
def test_any_bytes_give_rows_in_words_and_the_same_in_pieces_of_any_size(seed: int) -> None:
    rng = random.Random(seed)
    texts: list[str] = []
    for _ in range(30):
        device, address = rng.choice((0x50, 0x51)), rng.randrange(256)
        data = rng.randbytes(rng.randint(1, 60))
        texts += rng.choice(
            [
                read(device, address, data),
                [f"{device:02x}r {data.hex(' ')}"],
                [f"{device:02x}w {address:02x} {data[:4].hex(' ')}"],
                [f"{device:02x}w!"],
            ]
        )
    table = i2c_transfers(*texts)
    whole = rows_of(SFP, table)
    assert len(whole[0]) > 20
    assert all(module_texts(row).long for rows in whole for row in rows)
    # As text: a coefficient of random bytes may be no number, which equals nothing.
    assert repr(rows_of(SFP, *cut(table, range(0, len(table), 4)))) == repr(whole)


@pytest.mark.parametrize("day", [b"130229  ", b"240230  ", b"240431  ", b"241301  ", b"24 101  "])
def test_a_day_that_no_calendar_has_is_a_bad_date(day: bytes) -> None:
    """SFF-8472, 8.3: bytes 84 to 91 are year, month, day and a lot code; 2013 is no leap year."""
    fields, _ = decode(*read(0x50, 84, day))
    assert [(row["kind"], row["error"]) for row in fields] == [("field", ""), ("error", "bad-date")]


def test_a_byte_that_is_no_printable_ascii_is_shown_as_an_escape() -> None:
    fields, _ = decode(*read(0x50, 20, b"EX\x1b[31m\xe9".ljust(16)))
    named = [row for row in fields if row["name"] == "vendor name"]
    assert {row["text"] for row in named} == {r"EX\x1b[31m\xe9"}
    assert [row["error"] for row in named] == ["", "not-ascii"]
