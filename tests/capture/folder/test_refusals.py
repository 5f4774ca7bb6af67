"""A folder that is not what was pulled is refused in one line: which file, and what to do."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from freezeframe.capture.errors import CaptureFormatError, CaptureVersionError
from freezeframe.capture.folder import CaptureFolder, Gap, RegisterImage
from freezeframe.capture.folder.salvage import salvage
from freezeframe.capture.registers.map_table import MAP_HASH
from tests.capture.folder.samples import a_device, write

Manifest = dict[str, Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "x.ff", a_device(0), a_device(1, [Gap(0, 256, "lost")]))


def refused(folder: Path) -> str:
    with pytest.raises(CaptureFormatError) as caught:
        CaptureFolder.open(folder)
    message = str(caught.value)
    assert "\n" not in message
    assert caught.value.exit_code == 2
    return message


def resign(folder: Path, change: Callable[[Manifest], object]) -> None:
    """Change the manifest and give it a digest that fits, as a program with an error would."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    manifest.pop("digest", None)
    canonical = json.dumps(manifest, sort_keys=True, separators=(",", ":")).encode()
    manifest["digest"] = hashlib.sha256(canonical).hexdigest()
    path.write_text(json.dumps(manifest))


def test_a_missing_raw_file_is_named(folder: Path) -> None:
    (folder / "raw/B.tx_enq.rec").unlink()
    message = refused(folder)
    assert "raw/B.tx_enq.rec: missing; 5400 B were pulled" in message
    assert "pull again" in message


def test_a_cut_raw_file_is_named_with_both_sizes(folder: Path) -> None:
    path = folder / "raw/A.tx_enq.rec"
    path.write_bytes(path.read_bytes()[:-1])
    assert "raw/A.tx_enq.rec: cut: 5399 B, and 5400 B were pulled" in refused(folder)


def test_a_raw_file_that_has_grown_is_named(folder: Path) -> None:
    path = folder / "raw/A.samples.bin"
    path.write_bytes(path.read_bytes() + b"x")
    assert "raw/A.samples.bin: longer than it was: 33 B, and 32 B" in refused(folder)


@pytest.mark.parametrize("name", ["A.tx_enq.rec", "B.event_log.rec", "A.registers.bin"])
def test_one_altered_bit_is_noticed(folder: Path, name: str) -> None:
    path = folder / "raw" / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x10
    path.write_bytes(data)
    where = {
        "A.tx_enq.rec": "in chunk 1 (records 256..511) of 3",
        "B.event_log.rec": "in chunk 0 (records 0..255) of 2",
        "A.registers.bin": "in chunk 0 (bytes 0..",
    }
    assert f"raw/{name}: altered {where[name]}" in refused(folder)


def test_a_file_that_was_not_pulled_is_not_taken_for_evidence(folder: Path) -> None:
    (folder / "raw/A.rx_enq.rec").write_bytes(bytes(9))
    assert "raw/A.rx_enq.rec: is not in the manifest" in refused(folder)


def test_a_link_in_place_of_a_raw_file_is_refused(folder: Path, tmp_path: Path) -> None:
    path = folder / "raw/A.tx_enq.rec"
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert "raw/A.tx_enq.rec: is not a regular file" in refused(folder)


def test_an_altered_manifest_is_noticed(folder: Path) -> None:
    path = folder / "manifest.json"
    path.write_text(path.read_text().replace('"pay-crc"', '"hdr-crc"'))
    assert "manifest.json: altered: its digest says" in refused(folder)


def test_a_cut_manifest_is_noticed(folder: Path) -> None:
    path = folder / "manifest.json"
    text = path.read_text()
    # In the middle of a value, of a string, before a key: where Python's own words would be others each time.
    for left in (len(text) - 20, text.index('"pay-crc"') + 3, text.index('"format"') - 1):
        path.write_text(text[:left])
        assert (
            f"manifest.json: is not a manifest (its text ends in the middle, after {left:,} characters); "
            "it was cut or altered; copy the folder again"
        ) in refused(folder)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "does not say its format, as every manifest does; this is not a capture folder"),
        ('{"format": null}', "does not say its format, as every manifest does; this is not a"),
        (
            '{"format": ["something", 1, true]}',
            'its format is ["something", 1, true], and that of a capture is ["freezeframe-capture", 2,',
        ),
        (
            '{"a": 1,\n "b" 2}',
            "is not a manifest (no JSON from line 2, column 6 on); it was cut or",
        ),
        ("\xff", "is not a manifest (byte 0 is of no text)"),
        ("[" * 200_000, "is not a manifest (lists stand in lists too deep to be read)"),
    ],
    ids=lambda text: text[:24],
)
def test_what_is_wrong_with_a_manifest_is_said_without_words_of_python(
    folder: Path, text: str, said: str
) -> None:
    (folder / "manifest.json").write_text(text, encoding="latin-1")
    assert f"manifest.json: {said}" in refused(folder)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        '{"format": NaN}',
        '{"format": 1.5}',
        '{"a": 1, "a": 2}',
        "[" * 200_000,
        "\xff\xfe",
        '{"format": ["freezeframe-capture", 1, 0]}',
        '{"format": ["something", 1, 0]}',
        '{"format": ["freezeframe-capture", true, 0]}',
        '{"format": "freezeframe-capture"}',
    ],
    ids=lambda text: text[:24] or "empty",
)
def test_what_is_no_manifest_is_refused_in_one_line(folder: Path, text: str) -> None:
    (folder / "manifest.json").write_text(text, encoding="latin-1")
    assert "manifest.json: " in refused(folder)


def test_a_manifest_that_claims_to_be_huge_is_not_read(folder: Path) -> None:
    with (folder / "manifest.json").open("r+b") as file:
        file.truncate(1 << 30)
    assert "1073741824 B is more than a manifest can have" in refused(folder)


def test_a_newer_format_version_asks_for_an_update(folder: Path) -> None:
    resign(folder, lambda m: m.update(format=["freezeframe-capture", 3, 0]))
    with pytest.raises(CaptureVersionError, match=r"version 3\.0, this program reads 2\.0; update"):
        CaptureFolder.open(folder)
    resign(folder, lambda m: m.update(format=["freezeframe-capture", 1, 2]))
    with pytest.raises(
        CaptureVersionError, match=r"version 1\.2, this program reads 2\.0; open it"
    ):
        CaptureFolder.open(folder)


def test_an_older_format_version_names_the_program_that_wrote_it(folder: Path) -> None:
    resign(
        folder, lambda m: m.update(format=["freezeframe-capture", 0, 9], tool="freezeframe 0.0.1")
    )
    with pytest.raises(
        CaptureVersionError, match=r"version 0\.9.*wrote it \(freezeframe 0\.0\.1\)"
    ):
        CaptureFolder.open(folder)


def test_a_recording_of_another_register_map_is_refused(folder: Path) -> None:
    resign(folder, lambda m: m["devices"][0]["identity"].update(map_hash=MAP_HASH ^ 1))
    with pytest.raises(CaptureVersionError, match=f"register map {MAP_HASH ^ 1:#010x}"):
        CaptureFolder.open(folder)


def test_a_folder_without_its_raw_files_is_refused(folder: Path) -> None:
    shutil.rmtree(folder / "raw")
    assert "raw/A.event_log.rec: missing" in refused(folder)


def test_a_folder_without_its_manifest_is_damaged_and_the_copy_is_what_salvage_reads(
    folder: Path,
) -> None:
    (folder / "manifest.json").unlink()
    said = refused(folder)
    assert "manifest.json: missing; copy the folder again" in said
    assert "--salvage reads the rest" in said
    assert CaptureFolder.open(salvage(folder).place).devices
    (folder / "manifest.copy.json").unlink()
    assert "is not a capture folder (it has no manifest.json)" in refused(folder)


def test_a_folder_that_is_no_capture_is_refused(tmp_path: Path) -> None:
    assert "does not exist" in refused(tmp_path / "none.ff")
    assert "is not a capture folder (it has no manifest.json)" in refused(tmp_path)
    file = tmp_path / "file.ff"
    file.write_text("x")
    assert "is not a capture folder" in refused(file)


LIES: list[tuple[str, Callable[[Manifest], object], str]] = [
    ("no devices", lambda m: m.update(devices=[]), "belongs to no device"),
    ("devices are no list", lambda m: m.update(devices=3), "does not describe what is in raw/"),
    ("raw is no table", lambda m: m.update(raw=[1]), "names no raw files"),
    ("a device is no table", lambda m: m["devices"].append(5), "does not describe"),
    ("device twice", lambda m: m["devices"].append(m["devices"][0]), "'raw/A.tx_enq.rec'"),
    ("device left out", lambda m: m["devices"].pop(), "raw/B.event_log.rec belongs to no device"),
    ("wrong letter", lambda m: m["devices"][0].update(name="B"), "device 0 is called 'B', not 'A'"),
    ("index no count", lambda m: m["devices"][0].update(index=-1), "index is -1, not a count"),
    ("no identity", lambda m: m["devices"][0].pop("identity"), "'identity' is missing"),
    (
        "identity short",
        lambda m: m["devices"][0]["identity"].pop("clk_bus"),
        "'clk_bus' is missing",
    ),
    (
        "more records than bytes",
        lambda m: m["devices"][0]["memories"]["tx_enq"].update(records=1 << 40),
        "has 5400 B for 1099511627776 records",
    ),
    (
        "pointer outside",
        lambda m: m["devices"][0]["memories"]["tx_enq"].update(write_ptr=601),
        "write_ptr 601 is outside 0..600",
    ),
    (
        "gap outside",
        lambda m: m["devices"][1]["memories"]["tx_enq"]["gaps"][0].update(slots=700),
        "gap of 700 slots at 0",
    ),
    (
        "gap over data",
        lambda m: m["devices"][1]["memories"]["tx_enq"]["gaps"][0].update(slots=257),
        "are stated as not read, and hold data",
    ),
    (
        "unknown memory",
        lambda m: m["devices"][0]["memories"].update(tx_foo={}),
        "A has no trace memory 'tx_foo'",
    ),
    (
        "samples of another length",
        lambda m: m["devices"][0]["samples"].update(slots=5),
        "has 32 B for 5 samples",
    ),
    ("losses that are no list", lambda m: m.update(lost=True), "lost is no list"),
    (
        "a path out of the folder",
        lambda m: m["raw"].update({"raw/../../x": m["raw"]["raw/A.tx_enq.rec"]}),
        "'raw/../../x' is not the name, size and SHA-256 of a raw file",
    ),
    (
        "an absolute path",
        lambda m: m["raw"].update({"/etc/passwd": m["raw"]["raw/A.tx_enq.rec"]}),
        "'/etc/passwd' is not the name",
    ),
]


@pytest.mark.parametrize(
    ("change", "said"), [(c, s) for _, c, s in LIES], ids=[n for n, _, _ in LIES]
)
def test_a_manifest_that_contradicts_the_files_is_refused(
    folder: Path, change: Callable[[Manifest], object], said: str
) -> None:
    resign(folder, change)
    assert said in refused(folder)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (bytes(7), "7 B is not a multiple of 8 B"),
        (bytes(16), "pair 1: address 0x0 does not follow 0x0; addresses must ascend"),
        (b"\x02\0\0\0\0\0\0\0", "register address 0x2 is not a 32-bit multiple of 4"),
    ],
)
def test_a_register_image_with_cut_or_unsorted_pairs_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(CaptureFormatError, match=r"x\.bin: ") as caught:
        RegisterImage.from_bytes(data, "x.bin")
    assert said in str(caught.value)
