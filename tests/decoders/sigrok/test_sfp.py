"""Our decoder ``sfp`` inside sigrok-cli gives what the native one gives on the same file."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.parts.module_pages import module_texts
from freezeframe.decoders.parts.sfp import SFP
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import decode_file
from freezeframe.decoders.serial.i2c import I2C
from tests.decoders.parts.i2c_sent import i2c_edges
from tests.decoders.parts.sfp_memory import diagnostics, identification
from tests.decoders.serial.sigrok_reference import sigrok_annotations

REGISTRY = Registry({"i2c": I2C, "sfp": SFP})
FOLDER = Path(__file__).parents[3] / "decoders" / "sigrok"


def read(device: int, address: int, data: bytes) -> list[str]:
    return [f"{device:02x}w {address:02x} ~", f"{device:02x}r {data.hex(' ')}"]


def both(path: Path, rows: str) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Return (first sample, text) of fields, as the native decoder and sigrok's say them."""
    made = {d.name: d.table.to_pylist() for d in decode_file(path, ["i2c+sfp"], registry=REGISTRY)}
    if rows == "field":
        ours = [
            (row["sample"], f"{row['name']}: {row['text']}")
            for row in made["i2c+sfp.fields"]
            if row["kind"] == "field"
        ]
    else:
        ours = [
            (row["sample"], f"{row['name']}: {row['error']}")
            for row in made["i2c+sfp.fields"]
            if row["kind"] == "error"
        ]
    theirs = sigrok_annotations(path, "i2c:scl=SCL:sda=SDA,sfp", f"sfp={rows}")
    return ours, [(annotation.begin, annotation.text) for annotation in theirs]


@pytest.fixture(autouse=True)
def _our_decoders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGROKDECODE_DIR", str(FOLDER))


def test_both_pages_of_a_module_have_the_same_fields(tmp_path: Path) -> None:
    path = tmp_path / "sfp.sr"
    texts = [*read(0x50, 0, identification()[:128]), *read(0x51, 0, diagnostics()[:128])]
    write_sr(i2c_edges(*texts), path)
    ours, theirs = both(path, "field")
    assert len(ours) > 70
    assert ours == theirs
    assert (ours[0][1], ours[-1][1]) == ("identifier: SFP", "page select: 00")


def test_wrong_checksums_are_warnings(tmp_path: Path) -> None:
    path = tmp_path / "sfp.sr"
    wrong = bytearray(identification()[:128])
    wrong[20] = 1
    write_sr(i2c_edges(*read(0x50, 0, bytes(wrong))), path)
    ours, theirs = both(path, "warning")
    assert [text for _, text in ours] == ["vendor name: not-ascii", "CC_BASE: bad-checksum"]
    assert ours == theirs


@pytest.mark.parametrize("seed", range(6))
def test_any_accesses_give_the_same_fields(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    texts: list[str] = []
    for _ in range(25):
        device, address = rng.choice((0x50, 0x51)), rng.randrange(110)
        data = rng.randbytes(rng.randint(8, 40))
        texts += rng.choice(
            [
                read(device, address, data),
                [f"{device:02x}r {data.hex(' ')}"],
                [f"{device:02x}w {address:02x} {data[:4].hex(' ')}"],
                [f"{device:02x}w {address:02x} aa!"],
                [f"{device:02x}w!"],
                ["48w 00 11"],
            ]
        )
    path = tmp_path / "sfp.sr"
    write_sr(i2c_edges(*texts), path)
    ours, theirs = both(path, "field")
    assert len(ours) > 10
    assert ours == theirs


def test_accesses_are_told_with_their_page(tmp_path: Path) -> None:
    path = tmp_path / "sfp.sr"
    write_sr(i2c_edges("51w 7f 02", *read(0x51, 200, b"\xab\xcd"), "50r 03", "50w!"), path)
    theirs = sigrok_annotations(path, "i2c:scl=SCL:sda=SDA,sfp", "sfp=access:warning")
    assert [annotation.text for annotation in theirs] == [
        "write A2h byte 127: 02",
        "read A2h page 02h byte 200: ab cd",
        "read ?: 03",
        "A0h: nothing answers",
    ]
    made = {d.name: d.table.to_pylist() for d in decode_file(path, ["i2c+sfp"], registry=REGISTRY)}
    said = [module_texts(row).normal for row in made["i2c+sfp.transactions"]]
    assert said[:3] == [annotation.text for annotation in theirs[:3]]
