"""A capture folder gives back what was put in; its files are as docs/formats.md section 7 says."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from freezeframe.capture.errors import InputError
from freezeframe.capture.folder import (
    CaptureFolder,
    CaptureWriter,
    DeviceCapture,
    Gap,
    MemoryImage,
    RegisterImage,
    pack_register,
)
from freezeframe.capture.registers.names import device_name
from tests.capture.folder.samples import IDENTITY, a_device, write


def test_every_memory_register_and_sample_comes_back_as_it_was_written(tmp_path: Path) -> None:
    folder = CaptureFolder.open(write(tmp_path / "x.ff", a_device(0), a_device(1)))
    assert [device.name for device in folder.devices] == ["A", "B"]
    device = folder.device("B")
    assert device.base == 0x0100_0000
    assert device.identity == IDENTITY
    assert list(device.memories) == ["tx_enq", "event_log"]
    tap = device.memories["tx_enq"]
    assert tap.records.dtype == np.uint8
    assert tap.records.tobytes() == bytes(i % 251 for i in range(5400))
    assert (tap.write_ptr, tap.wrapped, tap.gaps) == (17, True, [])
    assert device.samples is not None
    assert device.samples.tolist() == [[1, 2], [3, 4], [5, 6], [0xFFFFFFFF, 8]]
    assert device.registers.value("ctl.generation") == 7
    assert device.registers.value64("ctl.cause_cycle_") == 0x2_0000_0010
    assert device.registers.field("ctl.state", "held") == 1
    assert device.registers.value("ctl.post", 3) is None


def test_raw_files_are_the_bytes_that_formats_md_describes(tmp_path: Path) -> None:
    folder = write(tmp_path / "x.ff")
    assert sorted(p.name for p in (folder / "raw").iterdir()) == [
        "A.event_log.rec",
        "A.registers.bin",
        "A.samples.bin",
        "A.tx_enq.rec",
    ]
    assert (folder / "raw/A.tx_enq.rec").read_bytes()[:12].hex() == "000102030405060708090a0b"
    assert (folder / "raw/A.samples.bin").read_bytes().hex() == (
        "010000000200000003000000040000000500000006000000" + "ffffffff08000000"
    )
    # ctl.generation stands at 0x100, ctl.state at 0x104: (address, value), little-endian.
    assert (folder / "raw/A.registers.bin").read_bytes()[:16].hex() == (
        "00010000" + "07000000" + "04010000" + "131f0000"
    )


def test_the_manifest_says_in_words_what_was_captured(tmp_path: Path) -> None:
    folder = write(tmp_path / "x.ff", a_device(0, [Gap(256, 256, "CRC-32 did not match")]))
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["format"] == ["freezeframe-capture", 2, 0]
    assert manifest["map"] == 1
    assert manifest["source"] == "etherbone://192.0.2.1:1234"
    assert manifest["target"] == {"devices": 1, "of": 2}
    device = manifest["devices"][0]
    assert device["boot_nonce"] == "0x0b0f00d5"
    assert device["generation"] == 7
    assert device["state"] == "frozen"
    assert device["causes"] == ["pay-crc", "length"]
    assert device["cause_cycle"] == 0x2_0000_0010
    assert device["clocks"] == {
        "bus": {"clk_hz": 100_000_000, "master": True, "first": None, "last": None},
        "link": {
            "clk_hz": 78_125_000,
            "master": False,
            "first": {"number": 3, "cycle": 9600},
            "last": None,
        },
    }
    assert device["memories"]["tx_enq"]["chunks"] == 3
    assert device["memories"]["tx_enq"]["chunks_verified"] == 2
    assert device["memories"]["tx_enq"]["gaps"] == [
        {"first_slot": 256, "slots": 256, "reason": "CRC-32 did not match"}
    ]
    assert manifest["lost"] == [
        "A.tx_enq: slots 256..511 (256) could not be read: CRC-32 did not match",
        "A.event_log: the device itself could not record 5 of what it was offered",
    ]


def test_the_manifest_has_the_sha_256_of_every_raw_file_and_of_itself(tmp_path: Path) -> None:
    folder = write(tmp_path / "x.ff")
    manifest = json.loads((folder / "manifest.json").read_text())
    for name, entry in manifest["raw"].items():
        data = (folder / name).read_bytes()
        said: dict[str, object] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        size_B = 2304  # 256 records of 9 B each
        if not name.endswith(".rec"):
            size_B = said["chunk_bytes"] = 512
        chunks = [data[at : at + size_B] for at in range(0, len(data), size_B)]
        said["chunks"] = [hashlib.sha256(chunk).hexdigest() for chunk in chunks]
        assert entry == said
    digest = manifest.pop("digest")
    canonical = json.dumps(manifest, sort_keys=True, separators=(",", ":")).encode()
    assert digest == hashlib.sha256(canonical).hexdigest()


def test_the_same_devices_give_the_same_bytes(tmp_path: Path) -> None:
    one, two = write(tmp_path / "one.ff"), write(tmp_path / "two.ff")
    names = sorted(str(p.relative_to(one)) for p in one.rglob("*") if p.is_file())
    assert names == sorted(str(p.relative_to(two)) for p in two.rglob("*") if p.is_file())
    for name in names:
        assert (one / name).read_bytes() == (two / name).read_bytes()


def test_how_an_emulated_card_was_told_to_fail_stays_out_of_the_capture(tmp_path: Path) -> None:
    writer = CaptureWriter(tmp_path / "x.ff", source="emu:?fault=word-omitted&seed=7")
    writer.add_device(a_device())
    text = (writer.commit() / "manifest.json").read_text()
    assert "word-omitted" not in text
    assert json.loads(text)["source"] == "emu:"


def test_a_capture_without_sampler_has_no_samples(tmp_path: Path) -> None:
    bare = a_device()
    device = DeviceCapture(0, 0, IDENTITY, bare.registers, bare.memories)
    assert CaptureFolder.open(write(tmp_path / "x.ff", device)).devices[0].samples is None


def test_notes_and_tables_are_not_evidence(tmp_path: Path) -> None:
    folder = write(tmp_path / "x.ff")
    (folder / "notes.json").write_text('{"mark": 1}')
    (folder / "tables").mkdir()
    (folder / "tables/words.parquet").write_bytes(b"anything")
    assert CaptureFolder.open(folder).device("A").registers.value("ctl.generation") == 7


def test_the_oldest_record_of_a_wrapped_memory_is_at_its_write_pointer() -> None:
    records = np.zeros((5, 9), np.uint8)
    assert MemoryImage("tx_enq", records, 2, True).slots_in_order().tolist() == [2, 3, 4, 0, 1]
    assert MemoryImage("tx_enq", records, 2, False).slots_in_order().tolist() == [0, 1]
    assert MemoryImage("tx_enq", records, 0, False).slots_in_order().tolist() == []
    assert MemoryImage("tx_enq", records, 0, True).slots_in_order().tolist() == [0, 1, 2, 3, 4]


def test_a_gap_marks_its_slots_as_not_read() -> None:
    memory = MemoryImage("tx_enq", np.zeros((6, 9), np.uint8), 0, True, [Gap(1, 2, "why")])
    assert memory.read_mask().tolist() == [True, False, False, True, True, True]
    assert memory.verified_chunks(2) == (1, 3)


@pytest.mark.parametrize(
    ("gaps", "said"),
    [
        ([Gap(4, 2, "")], r"gap of 2 slots at 4 overlaps another or lies outside the 5 slots"),
        ([Gap(0, 2, ""), Gap(1, 1, "")], r"gap of 1 slots at 1 overlaps"),
        ([Gap(0, 0, "")], r"gap of 0 slots at 0"),
    ],
)
def test_a_gap_outside_the_memory_or_over_another_is_refused(gaps: list[Gap], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        MemoryImage("tx_enq", np.zeros((5, 9), np.uint8), 0, True, gaps)


def test_data_in_a_slot_that_was_not_read_is_refused() -> None:
    with pytest.raises(ValueError, match=r"slots 1\.\.1 are stated as not read, and hold data"):
        MemoryImage("tx_enq", np.ones((5, 9), np.uint8), 0, True, [Gap(1, 1, "")])


def test_a_write_pointer_beyond_the_memory_is_refused() -> None:
    with pytest.raises(ValueError, match=r"write_ptr 6 is outside 0\.\.5"):
        MemoryImage("tx_enq", np.zeros((5, 9), np.uint8), 6, True)


def test_registers_are_found_by_name_field_and_index() -> None:
    image = RegisterImage.from_values(
        {
            ("memory.write_ptr", 4): 1234,
            "ctl.state": pack_register("ctl.state", state=3, closed=0b10101),
            "frozen_counters.drops.lo": 7,
            "frozen_counters.drops.hi": 1,
        }
    )
    assert image.value("memory.write_ptr", 4) == 1234
    assert image.value("memory.write_ptr", 0) is None
    assert image.field("ctl.state", "closed") == 0b10101
    assert image.field("memory.status", "wrapped", 0) is None
    assert image.counters() == {"drops": 0x1_0000_0007}
    assert image.word(0x0104) == 0x1503
    assert image.value64("frozen_counters.bus_cycles.") is None


def test_a_name_or_value_that_the_map_does_not_know_is_refused() -> None:
    image = RegisterImage({})
    with pytest.raises(ValueError, match=r"ctl\.stat"):
        image.value("ctl.stat")
    with pytest.raises(ValueError, match=r"ctl\.state has no field 'shape'"):
        image.field("ctl.state", "shape")
    with pytest.raises(ValueError, match=r"ctl.state.state: 4 does not fit 2 bits \(0\.\.3\)"):
        pack_register("ctl.state", state=4)
    with pytest.raises(ValueError, match="not a 32-bit multiple of 4"):
        RegisterImage({2: 0})
    with pytest.raises(ValueError, match="does not fit 32 bits"):
        RegisterImage({4: 1 << 32})


@pytest.mark.parametrize(("index", "name"), [(0, "A"), (25, "Z"), (26, "D26"), (255, "D255")])
def test_devices_are_named_by_letters_and_then_by_numbers(index: int, name: str) -> None:
    assert device_name(index) == name


def test_a_device_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no device 'C'; the capture holds A"):
        CaptureFolder.open(write(tmp_path / "x.ff")).device("C")


def test_a_device_added_twice_is_refused(tmp_path: Path) -> None:
    writer = CaptureWriter(tmp_path / "x.ff", source="x:")
    writer.add_device(a_device())
    with pytest.raises(ValueError, match="device A"):
        writer.add_device(a_device())
    with pytest.raises(ValueError, match="without a device"):
        CaptureWriter(tmp_path / "y.ff", source="x:").commit()
    assert list(tmp_path.iterdir()) == []
