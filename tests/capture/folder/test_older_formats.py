"""Captures of formats 1.0 and 1.1, written by the releases that wrote them, are read as format 2.0 says it."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from freezeframe.capture.card.map_1 import card_of_map
from freezeframe.capture.errors import CaptureFormatError
from freezeframe.capture.folder import CaptureFolder, CaptureWriter

GOLDEN = Path(__file__).parent / "golden"
VERSIONS = {"v1_0": [1, 0], "v1_1": [1, 1]}


@pytest.fixture(params=VERSIONS)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / f"{request.param}.ff"
    with zipfile.ZipFile(GOLDEN / f"{request.param}.zip") as archive:
        archive.extractall(folder)
    return folder


def _manifest(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "manifest.json").read_bytes())
    return found


def test_the_records_and_registers_are_the_bytes_that_were_pulled(old: Path) -> None:
    assert _manifest(old)["format"] == ["freezeframe-capture", *VERSIONS[old.stem]]
    capture = CaptureFolder.open(old)
    for device in capture.devices:
        for name, memory in device.memories.items():
            raw = (old / f"raw/{device.name}.{name}.rec").read_bytes()
            assert memory.records.tobytes() == raw
        assert (
            device.registers.to_bytes() == (old / f"raw/{device.name}.registers.bin").read_bytes()
        )
        assert device.samples is not None
        assert (
            device.samples.astype("<u4").tobytes()
            == (old / f"raw/{device.name}.samples.bin").read_bytes()
        )
    assert capture.devices[0].memories["tx_enq"].records[1].tolist() == [*range(9, 18)]


def test_its_manifest_is_one_of_format_2_and_says_what_is_not_known(old: Path) -> None:
    capture = CaptureFolder.open(old)
    said = capture.manifest
    assert said["format"] == ["freezeframe-capture", 2, 0]
    assert (said["converted_from"], said["map"]) == (VERSIONS[old.stem], 1)
    card = card_of_map().card
    assert list(said["cards"]) == [f"{card.hash:016x}"]
    assert {device["card"] for device in said["devices"]} == {f"{card.hash:016x}"}
    assert [(act["what"], act["when"], act["who"]) for act in said["history"]] == [
        ("armed", None, None), ("frozen", None, None), ("pulled", None, None),
    ]  # fmt: skip
    assert said["history"][0]["generation"]["A"] == 7
    assert said["custody"] == []
    assert len(said["raw"]["raw/A.tx_enq.rec"]["chunks"]) == 3  # 600 records
    assert said["digest"] == _manifest(old)["digest"]


def test_what_was_stated_beside_the_devices_is_kept(tmp_path: Path) -> None:
    for stem in VERSIONS:
        with zipfile.ZipFile(GOLDEN / f"{stem}.zip") as archive:
            archive.extractall(tmp_path / f"{stem}.ff")
    first, second = (CaptureFolder.open(tmp_path / f"{stem}.ff") for stem in VERSIONS)
    assert first.devices[0].memories["tx_enq"].gaps == [(256, 88, "no answer")]
    assert first.lost[0].startswith("A.tx_enq: slots 256..343 (88) could not be read: no answer")
    assert [device.target for device in second.devices] == [0, 1]
    assert second.manifest["time_pairs"] == [
        {"a": ["A", "bus", 10], "b": ["B", "bus", 20], "unc_ps": 5000}
    ]
    assert [(trace.name, trace.text) for trace in second.host] == [("trace.txt", b"1.0 irq\n")]


def test_written_again_it_is_the_same_recording_in_format_2(old: Path, tmp_path: Path) -> None:
    capture = CaptureFolder.open(old)
    writer = CaptureWriter(tmp_path / "new.ff", source=str(capture.manifest["source"]))
    for device in capture.devices:
        writer.add_device(device)
    new = writer.commit()
    assert _manifest(new)["format"] == ["freezeframe-capture", 2, 0]
    for path in sorted((old / "raw").glob("[AB].*")):
        assert (new / "raw" / path.name).read_bytes() == path.read_bytes()
    assert [p.name for p in (new / "cards").iterdir()] == [f"{card_of_map().card.hash:016x}.json"]


def test_an_altered_file_of_an_old_capture_is_refused(old: Path) -> None:
    file = old / "raw/A.tx_enq.rec"
    data = bytearray(file.read_bytes())
    data[100] ^= 1
    file.write_bytes(data)
    with pytest.raises(CaptureFormatError, match=r"A\.tx_enq\.rec: altered: SHA-256"):
        CaptureFolder.open(old)
