"""XFP: bytes from the tables of INF-8077i in, fields with units out; sigrok-cli reads the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.contract import OptionValue
from freezeframe.decoders.parts.module_pages import module_texts
from freezeframe.decoders.parts.xfp import XFP
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import decode_file
from freezeframe.decoders.serial.i2c import I2C
from tests.capture.files.captures import real_capture
from tests.decoders.parts.i2c_sent import i2c_edges, i2c_transfers
from tests.decoders.parts.sfp_memory import put
from tests.decoders.pieces import rows_of
from tests.decoders.serial.sigrok_reference import sigrok_annotations

Row = dict[str, Any]
REGISTRY = Registry({"i2c": I2C, "xfp": XFP})


def decode(*texts: str, **options: OptionValue) -> list[Row]:
    return rows_of(XFP, i2c_transfers(*texts), **options)[0]


def read(address: int, data: bytes) -> list[str]:
    return [f"50w {address:02x} ~", f"50r {data.hex(' ')}"]


@pytest.mark.parametrize(
    ("address", "raw", "name", "value", "text"),
    [
        # INF-8077i, chapter 5: temperature signed 1/256 C, bias 2 uA, powers 0.1 uW.
        (96, "23c8", "temperature", 35.78125, "35.78 C"),
        (96, "f100", "temperature", -15.0, "-15.00 C"),
        (100, "7530", "TX bias", 60.0, "60.000 mA"),
        (102, "1388", "TX power", 0.5, "0.5000 mW (-3.01 dBm)"),
        (104, "55dc", "RX power", 2.198, "2.1980 mW (3.42 dBm)"),
        (2, "5000", "temperature high alarm", 80.0, "80.00 C"),
        (40, "0119", "RX power low warning", 0.0281, "0.0281 mW (-15.51 dBm)"),
        (80, "0080", "alarm latched flags", 0x0080, "RX power high"),
        (
            84,
            "a200",
            "status latched flags",
            0xA200,
            "TX not ready, TX CDR not locked, module not ready",
        ),
        (
            110,
            "8220",
            "general control and status",
            0x8220,
            "TX disabled, RX LOS, TX CDR not locked",
        ),
        (74, "ff38", "wavelength error", -1.0, "-1.000 nm"),
        (
            147,
            "49",
            "device technology",
            0x49,
            "1310 nm DFB, active wavelength control, "
            "uncooled transmitter, PIN detector, transmitter tunable",
        ),
        (129, "58", "extended identifier", 0x58, "power level 2, CDR, CLEI code"),
        (129, "30", "extended identifier", 0x30, "power level 1, no CDR"),
        (194, "48", "maximum current", None, "5 V 0.20 A, 3.3 V 0.80 A"),
        (186, "6658", "wavelength", 1310.0, "1310.00 nm"),
        (143, "96", "length OM3", 300.0, "300 m"),
        (143, "ff", "length OM3", None, "over 508 m"),
    ],
)
def test_a_field_has_its_unit(
    address: int, raw: str, name: str, value: float | None, text: str
) -> None:
    fields = decode(*read(address, bytes.fromhex(raw)))
    assert (fields[0]["name"], fields[0]["text"]) == (name, text)
    assert fields[0]["value"] == (None if value is None else pytest.approx(value))


@pytest.mark.parametrize(
    ("kinds", "raw", "value", "text"),
    [
        (0x70, "8151", 3.3105, "3.3105 V (3.3 V supply voltage)"),
        (0x40, "1e80", 30.5, "30.50 C (laser temperature)"),
        (0x30, "ff9c", -10.0, "-10.0 mA (TEC current)"),
        (0x90, "cb20", -5.2, "-5.2000 V (-5.2 V supply voltage)"),
        (0x00, "1234", None, "1234 (not implemented)"),
        (0x20, "1234", None, "1234 (reserved)"),
    ],
)
def test_an_auxiliary_measurement_is_what_table_1_says(
    kinds: int, raw: str, value: float | None, text: str
) -> None:
    measured = read(106, bytes.fromhex(raw))
    fields = decode(*measured, *read(222, bytes([kinds])), *measured)
    assert fields[0]["text"] == f"{raw} (byte 222 says of what)"
    assert fields[2]["text"] == text
    assert fields[2]["value"] == (None if value is None else pytest.approx(value))


def test_the_upper_half_is_the_table_that_is_selected() -> None:
    fields = decode(
        *read(130, b"\x07"), "50w 7f 02", *read(130, b"\x07"), "50w 7f 01", "50w 80", "50r 06"
    )
    assert [(row["page"], row["name"], row["text"]) for row in fields] == [
        ("table 01h", "connector", "LC"),
        ("lower", "table select", "02"),
        ("lower", "table select", "01"),
        ("table 01h", "identifier", "XFP"),
    ]
    assert decode(*read(130, b"\x07"), table=-1) == []


def memory() -> bytes:
    """Return the lower memory and table 01h of a module that does not exist."""
    made = bytearray(256)
    made[0] = 0x06
    put(made, 2, bytes.fromhex("5000 f100 4b00 f600"))
    put(made, 26, bytes.fromhex("3de8 04ea 2710 07cb 4576 0064 372d 0119"))
    put(made, 80, bytes.fromhex("0080 0080 a200"))
    put(made, 96, bytes.fromhex("23c8 0000 7530 1388 55dc 8151 0000 8220"))
    made[127] = 0x01
    put(made, 128, bytes([0x06, 0x58, 0x07, 0x44]))
    put(made, 139, bytes([0x80, 100, 108, 10, 0, 0, 0, 0, 0x48]))
    put(made, 148, b"EXAMPLE OPTICS  \xf0\x02\x00\x5eEX-XFP-10G-LR   A1")
    put(made, 186, (1310 * 20).to_bytes(2, "big") + (20 * 200).to_bytes(2, "big") + b"\x46")
    made[191] = sum(made[128:191]) & 0xFF
    put(made, 192, bytes([125, 150, 0x08, 0x00]) + b"SN0123456789    240229B7")
    put(made, 220, bytes([0x08, 0x60, 0x70]))
    made[223] = sum(made[192:223]) & 0xFF
    return bytes(made)


@pytest.mark.parametrize(("address", "name"), [(150, "CC_BASE"), (200, "CC_EXT")])
def test_a_checksum_that_does_not_fit_is_an_error(address: int, name: str) -> None:
    good = decode("50w 00 ~", f"50r {memory().hex(' ')}")
    assert [row["error"] for row in good if row["error"]] == []
    wrong = bytearray(memory())
    wrong[address] ^= 1
    fields = decode("50w 00 ~", f"50r {wrong.hex(' ')}")
    errors = [(row["name"], row["error"]) for row in fields if row["error"] == "bad-checksum"]
    assert errors == [(name, "bad-checksum")]


# The other reader: sigrok-cli on the same file. It names what it knows differently; where its value
# is another, docs/decoders-parts.md says why.


def sigrok_number(row: Row) -> str:
    return f"{row['value']:.{1 if row['unit'] == 'C' else 2}f} {row['unit']}"


# Our name: sigrok's, and its text from our row.
SAME: dict[str, tuple[str, Callable[[Row], str]]] = {
    "identifier": ("Module identifier", lambda row: row["text"]),
    "general control and status": ("General Control/Status", lambda row: as_gcs(row["text"])),
    "connector": ("Connector", lambda row: row["text"]),
    "transceiver compliance": ("Transceiver compliance", lambda row: row["text"]),
    "minimum rate": ("Minimum bit rate", lambda row: f"{row['value']:.3f} GB/s"),
    "maximum rate": ("Maximum bit rate", lambda row: f"{row['value']:.3f} GB/s"),
    "length single mode": ("Link length (SMF)", lambda row: row["text"]),
    "vendor name": ("Vendor", lambda row: row["text"]),
    "CDR support": ("CDR support", lambda row: row["text"].replace(" Gb/s", "Gb/s")),
    "vendor OUI": ("Vendor OUI", lambda row: row["text"]),
    "vendor part number": ("Vendor part number", lambda row: row["text"]),
    "vendor revision": ("Vendor revision", lambda row: row["text"]),
    "wavelength": ("Wavelength", lambda row: f"{row['value']:.0f} nm"),
    "wavelength tolerance": ("Wavelength tolerance", lambda row: f"{row['value']:.1f} nm"),
    "maximum case temperature": ("Maximum case temperature", lambda row: row["text"]),
    "maximum power": ("Max power dissipation", lambda row: f"{row['value']:.3f} W"),
    "maximum power when powered down": (
        "Max power dissipation (powered down)",
        lambda row: f"{row['value']:.3f} W",
    ),
    "vendor serial number": ("Vendor serial number", lambda row: row["text"]),
    "date code": ("Manufacturing date", lambda row: row["text"]),
    "temperature": ("Module temperature", lambda row: f"{row['value']:.1f} C"),
    "TX power": ("Measured TX output power", lambda row: f"{row['value']:.2f} mW"),
    "RX power": ("Measured RX input power", lambda row: f"{row['value']:.2f} mW"),
} | {
    f"{ours} {end}": (f"{theirs} {end}", sigrok_number)
    for ours, theirs in (
        ("temperature", "Temp"),
        ("TX power", "TX power"),
        ("RX power", "RX power"),
    )
    for end in ("high alarm", "low alarm", "high warning", "low warning")
}


def as_gcs(text: str) -> str:
    words = {
        "TX disabled": "TX disable",
        "module not ready": "MOD_NR",
        "powered down": "P_Down",
        "RX LOS": "RX_LOS",
        "TX not ready": "TX_NR",
        "TX CDR not locked": "TX_CDR not locked",
    }
    return ", ".join(words.get(part, part) for part in text.split(", "))


def assert_equal(path: Path, fields: list[Row]) -> None:
    theirs = [
        tuple(annotation.text.split(": ", 1))
        for annotation in sigrok_annotations(
            path, "i2c:scl=SCL:sda=SDA,xfp", "xfp=fieldnames-and-values"
        )
    ]
    ours = [
        (SAME[row["name"]][0], SAME[row["name"]][1](row))
        for row in fields
        # It says nothing of thresholds and values of 0.
        if row["name"] in SAME and row["error"] == "" and any(row["raw"])
    ]
    names = {name for name, _ in SAME.values()}
    assert ours == [pair for pair in theirs if pair[0] in names]
    assert len(ours) > 25


def test_the_real_capture_gives_the_values_that_sigrok_gives() -> None:
    path = real_capture("xfp.sr")
    made = {d.name: d.table.to_pylist() for d in decode_file(path, ["i2c+xfp"], registry=REGISTRY)}
    fields = made["i2c+xfp.fields"]
    assert [row["error"] for row in fields if row["error"]] == []
    assert [row["text"] for row in fields if row["name"].startswith("CC_")] == [
        "0x8c (good)",
        "0x8c (good)",
    ]
    # The first byte is read from where the counter stands, and only sigrok takes that for 0.
    first = made["i2c+xfp.transactions"][0]
    assert (first["address"], first["memory"]) == (-1, b"\x06")
    assert_equal(path, [row_of_the_first_byte(), *fields])
    assert module_texts(fields[-2]).normal == "CC_EXT: 0x8c (good)"


def row_of_the_first_byte() -> Row:
    return decode("50w 00 ~", "50r 06")[0]


def test_a_generated_module_gives_the_values_that_sigrok_gives(tmp_path: Path) -> None:
    path = tmp_path / "xfp.sr"
    write_sr(i2c_edges("50w 00 ~", f"50r {memory().hex(' ')}"), path)
    made = {d.name: d.table.to_pylist() for d in decode_file(path, ["i2c+xfp"], registry=REGISTRY)}
    assert_equal(path, made["i2c+xfp.fields"])


def test_values_that_sigrok_gives_otherwise_are_ours_on_purpose(tmp_path: Path) -> None:
    # docs/decoders-parts.md, "Beside sigrok".
    made = bytearray(memory())
    put(made, 18, bytes.fromhex("c350"))
    made[139] = 0x90
    put(made, 222, b"\x70")
    path = tmp_path / "xfp.sr"
    write_sr(i2c_edges("50w 80 ~", f"50r {made[128:].hex(' ')}"), path)
    # From address 80h on, and sigrok takes the first byte for number 0.
    theirs = sigrok_annotations(path, "i2c:scl=SCL:sda=SDA,xfp", "xfp=fieldnames-and-values")
    assert [a.text for a in theirs if a.text.startswith(("Vendor part", "Temp high alarm"))] != []
    assert "Vendor part number: EX-XFP-10G-LR" not in [a.text for a in theirs]
    path = tmp_path / "whole.sr"
    write_sr(i2c_edges("50w 00 ~", f"50r {made.hex(' ')}", "50w 6a ~", "50r 81 51"), path)
    theirs = sigrok_annotations(path, "i2c:scl=SCL:sda=SDA,xfp", "xfp=fieldnames-and-values")
    said = [annotation.text for annotation in theirs]
    tables = {d.name: d.table for d in decode_file(path, ["i2c+xfp"], registry=REGISTRY)}
    fields = tables["i2c+xfp.fields"].to_pylist()
    ours = [row["text"] for row in fields if row["kind"] == "field"]
    for theirs_text, our_text in (
        ("Bias high alarm: 0.1 mA", "100.000 mA"),
        ("Serial encoding support: 64B/66B", "64B/66B, NRZ"),
        ("AUX 1 measurement: 33105", "3.3105 V (3.3 V supply voltage)"),
    ):
        assert theirs_text in said
        assert our_text in ours
