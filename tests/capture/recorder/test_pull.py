"""The verified pull: the exact memory, or a statement of what is missing; never a wrong word."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from freezeframe.capture.errors import (
    BusError,
    DeviceUnknownError,
    InputError,
    RecorderStateError,
    TargetError,
)
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder import plan, state
from freezeframe.capture.recorder.pull import Progress, pull
from freezeframe.capture.registers import names
from freezeframe.capture.registers.map_table import REGISTERS
from freezeframe.capture.targets.base import Words
from tests.capture.recorder.fake_recorder import MEMORIES, BadWay, FakeRecorder


def assert_exact(folder: Path, recorder: FakeRecorder) -> None:
    """Every word in the capture is the device's; every slot is either there or in a gap."""
    capture = CaptureFolder.open(folder)
    assert [device.index for device in capture.devices] == list(range(recorder.devices))
    for device in capture.devices:
        for name, memory in device.memories.items():
            true = np.frombuffer(recorder.records(device.index, name), np.uint8).reshape(-1, 9)
            read = memory.read_mask()
            assert np.array_equal(memory.records[read], true[read])
            assert not memory.records[~read].any()
        for address, value in device.registers:
            assert value == recorder.words[device.index, address // 4], hex(address)


def gaps(folder: Path) -> dict[str, list[tuple[int, int]]]:
    return {
        f"{device.name}.{name}": [(gap.first_slot, gap.slots) for gap in memory.gaps]
        for device in CaptureFolder.open(folder).devices
        for name, memory in device.memories.items()
        if memory.gaps
    }


def test_a_clean_pull_is_the_exact_content_of_every_memory_of_every_device(tmp_path: Path) -> None:
    recorder = FakeRecorder(depth=600)  # 256 + 256 + a last chunk of 88 records
    report = pull(recorder, tmp_path / "x.ff")
    assert report.complete
    assert (report.devices, report.lost, report.retries, report.outages) == (("A", "B"), (), 0, 0)
    assert_exact(report.path, recorder)
    capture = CaptureFolder.open(report.path)
    for device in capture.devices:
        assert list(device.memories) == list(MEMORIES)
        for memory in device.memories.values():
            assert memory.records.shape == (600, 9)
            assert (memory.write_ptr, memory.wrapped, memory.gaps) == (17, True, [])


def test_a_pull_writes_nothing_to_the_device(tmp_path: Path) -> None:
    recorder = FakeRecorder()
    pull(recorder, tmp_path / "x.ff")
    assert recorder.writes == []


def test_the_samples_written_since_arm_are_kept_in_slot_order(tmp_path: Path) -> None:
    recorder = FakeRecorder(sampler_depth=64)
    recorder.set(1, "sampler.status", 0)  # B has written 10 samples and not wrapped
    capture = CaptureFolder.open(pull(recorder, tmp_path / "x.ff").path)
    at = names.window("samples").address // 4
    a, b = (device.samples for device in capture.devices)
    assert a is not None
    assert b is not None
    assert np.array_equal(a, recorder.words[0, at : at + 128].reshape(64, 2))
    assert np.array_equal(b[:10], recorder.words[1, at : at + 20].reshape(10, 2))
    assert not b[10:].any()


def test_every_register_that_stands_still_is_kept_and_no_other(tmp_path: Path) -> None:
    recorder = FakeRecorder()
    image = CaptureFolder.open(pull(recorder, tmp_path / "x.ff").path).devices[0].registers
    kept = {names.describe(address).split("[")[0] for address, _ in image}
    live = {"id.bus_errors", "id.bus_error_addr", "ctl.snapshot_seq", "ctl.index"}
    live |= {"provoke.inject_count"}
    for register in REGISTERS:
        wanted = "r" in register.access and not register.skip_dump and register.name not in live
        wanted &= not register.name.startswith("snapshot.")
        assert (register.name in kept) == wanted, register.name
    assert image.value("frozen_flow.sent", 7) is not None
    assert image.value("frozen_flow.sent", 8) is None  # the device has 8 flows


def test_a_recorder_that_still_runs_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(RecorderStateError, match=r"device A is armed, not frozen\. .*--freeze"):
        pull(FakeRecorder(frozen=False), tmp_path / "x.ff")
    assert list(tmp_path.iterdir()) == []


def test_one_frozen_device_beside_one_that_runs_is_refused_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "_SETTLE_S", 0.02)
    recorder = FakeRecorder()
    recorder.set(1, "ctl.state", 1)
    with pytest.raises(RecorderStateError, match="device B is armed"):
        pull(recorder, tmp_path / "x.ff")


def test_a_freeze_on_its_way_to_the_other_device_is_waited_for(tmp_path: Path) -> None:
    recorder = FakeRecorder()
    recorder.set(1, "ctl.state", 2)
    way = BadWay(recorder)
    way.before = lambda reads: recorder.set(1, "ctl.state", 3) if reads > 40 else None
    assert pull(way, tmp_path / "x.ff").complete


def test_a_running_recorder_is_frozen_when_asked(tmp_path: Path) -> None:
    recorder = FakeRecorder(frozen=False)
    report = pull(recorder, tmp_path / "x.ff", freeze=True)
    assert report.complete
    assert recorder.writes == [(0x0000_010C, [0x465A_0001]), (0x0100_010C, [0x465A_0001])]
    manifest = json.loads((report.path / "manifest.json").read_text())
    assert manifest["devices"][0]["causes"] == ["host"]
    assert_exact(report.path, recorder)


def test_a_word_altered_on_its_way_is_read_again(tmp_path: Path) -> None:
    recorder = FakeRecorder()
    way = BadWay(recorder, seed=3)
    way.flip_share = 0.0002
    report = pull(way, tmp_path / "x.ff")
    assert report.complete
    assert report.retries > 0
    assert_exact(report.path, recorder)


def test_registers_altered_on_their_way_are_never_believed(tmp_path: Path) -> None:
    recorder = FakeRecorder()
    way = BadWay(recorder, seed=5)

    def flip_registers(addresses: Words, words: Words) -> None:
        if len(words) > 100:  # every reading of the register image has some damage
            for at in way.random.sample(range(len(words)), 5):
                if addresses[at] & 0xFFFFFF < 0x4000:
                    words[at] ^= np.uint32(1 << way.random.randrange(32))

    way.alter = flip_registers
    report = pull(way, tmp_path / "x.ff")
    assert report.complete
    assert_exact(report.path, recorder)


def test_a_chunk_whose_crc_never_matches_is_a_stated_gap(tmp_path: Path) -> None:
    recorder = FakeRecorder(depth=600)
    recorder.window(0, "rx_enq")[300, 0] ^= 1  # a bit of the memory flipped after the CRC was made
    report = pull(recorder, tmp_path / "x.ff")
    assert not report.complete
    assert gaps(report.path) == {"A.rx_enq": [(256, 256)]}
    assert report.lost == (
        "A.rx_enq: slots 256..511 (256) could not be read: CRC-32 did not match in 10 readings",
    )
    assert_exact(report.path, recorder)


def test_a_wrong_entry_of_the_crc_table_costs_its_chunk_and_no_other(tmp_path: Path) -> None:
    recorder = FakeRecorder(depth=600)
    at = names.window("crc_table").address // 4 + 4 * 64 + 2
    recorder.words[1, at] ^= 1 << 31
    report = pull(recorder, tmp_path / "x.ff")
    assert gaps(report.path) == {"B.event_log": [(512, 88)]}


def test_bits_that_no_crc_covers_must_be_zero(tmp_path: Path) -> None:
    recorder = FakeRecorder()
    recorder.window(0, "tx_enq")[0, 3] = 1
    recorder.window(0, "tx_deq")[255, 2] |= 0x100
    report = pull(recorder, tmp_path / "x.ff")
    assert gaps(report.path) == {"A.tx_enq": [(0, 256)], "A.tx_deq": [(0, 256)]}


def test_a_crc_table_that_is_still_being_made_is_waited_for(tmp_path: Path) -> None:
    recorder = FakeRecorder(depth=600)
    true = recorder.words.copy()
    table = names.window("crc_table").address // 4
    way = BadWay(recorder)

    def compute(reads: int) -> None:
        done = min(3, reads // 20)
        for memory in range(5):
            recorder.set(0, "memory.status", 1 | done << 16, memory)
            span = slice(table + 64 * memory, table + 64 * memory + 3)
            recorder.words[0, span] = 0
            ready = slice(span.start, span.start + done)
            recorder.words[0, ready] = true[0, ready]

    way.before = compute
    report = pull(way, tmp_path / "x.ff")
    assert report.complete
    assert_exact(report.path, recorder)


def test_chunks_without_a_crc_are_gaps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "_CRC_STALL_S", 0.02)
    recorder = FakeRecorder(depth=600)
    recorder.set(0, "memory.status", 1 | 1 << 16, 2)
    report = pull(recorder, tmp_path / "x.ff")
    assert gaps(report.path) == {"A.rx_enq": [(256, 344)]}
    assert report.lost[0].endswith("the device has not computed its CRC")


def test_a_register_that_never_reads_the_same_twice_is_left_out_and_named(tmp_path: Path) -> None:
    recorder = FakeRecorder()
    way = BadWay(recorder)
    where = names.offset("frozen.lane.underflows", 1)
    seen: Counter[int] = Counter()

    def unsteady(addresses: Words, words: Words) -> None:
        for at in np.flatnonzero(addresses == where):
            seen[where] += 1
            words[at] = seen[where]

    way.alter = unsteady
    report = pull(way, tmp_path / "x.ff")
    assert report.lost == ("A: 1 registers could not be read: frozen.lane.underflows[1]",)
    device = CaptureFolder.open(report.path).devices[0]
    assert device.registers.value("frozen.lane.underflows", 1) is None
    assert device.registers.value("frozen.lane.underflows", 0) is not None


def test_without_a_write_pointer_nothing_is_kept(tmp_path: Path) -> None:
    way = BadWay(FakeRecorder())
    where = names.offset("memory.write_ptr", 3)
    numbers = iter(range(1_000_000))

    def unsteady(addresses: Words, words: Words) -> None:
        for at in np.flatnonzero(addresses == where):
            words[at] = next(numbers)

    way.alter = unsteady
    with pytest.raises(TargetError, match=r"memory\.write_ptr\[3\] never read the same twice"):
        pull(way, tmp_path / "x.ff")
    assert list(tmp_path.iterdir()) == []


def test_a_register_that_answers_an_error_is_left_out_and_named(tmp_path: Path) -> None:
    recorder = FakeRecorder()
    recorder.readable[recorder.at("frozen.dma_remaining")] = False
    report = pull(recorder, tmp_path / "x.ff")
    assert report.lost == (
        "A: 1 registers could not be read: frozen.dma_remaining",
        "B: 1 registers could not be read: frozen.dma_remaining",
    )
    assert_exact(report.path, recorder)


def test_an_error_answer_in_a_window_costs_its_chunk_and_no_other(tmp_path: Path) -> None:
    recorder = FakeRecorder(depth=600)
    recorder.readable[names.window("trace_tx_deq").address // 4 + 4 * 40] = False
    report = pull(recorder, tmp_path / "x.ff")
    assert gaps(report.path) == {"A.tx_deq": [(0, 256)], "B.tx_deq": [(0, 256)]}
    assert report.lost[0].endswith("the device answered with an error in 10 readings")
    assert_exact(report.path, recorder)


@pytest.mark.parametrize(
    ("words", "device", "register", "value", "error", "said"),
    [
        (100, 0, "id.boot_nonce", 0x66, TargetError, "device A was restarted"),
        (2000, 1, "ctl.generation", 2, RecorderStateError, r"device B was armed again .*1 before, 2 now"),
        (2000, 0, "ctl.state", 1, RecorderStateError, "is armed and was frozen, with the same gen"),
    ],
    ids=["restarted before the registers are read", "armed", "no longer frozen"],
)  # fmt: skip
def test_what_becomes_another_recording_during_the_pull_keeps_nothing(
    tmp_path: Path,
    words: int,
    device: int,
    register: str,
    value: int,
    error: type[TargetError],
    said: str,
) -> None:
    recorder = FakeRecorder()
    way = BadWay(recorder)

    def changes(addresses: Words, read: Words) -> None:
        if len(read) > words:
            recorder.set(device, register, value)

    way.alter = changes
    with pytest.raises(error, match=said):
        pull(way, tmp_path / "x.ff")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("id.tap_depth", 16385, r"tx_enq has 16385 records, and the map has room for 1\.\.16384"),
        ("id.tap_depth", 0, r"tx_enq has 0 records"),
        ("id.chunk", 0, r"a chunk of 0 records"),
        ("id.chunk", 4, r"the CRC table has 64 entries for a memory"),
        ("id.sampler_depth", 5000, r"the sampler has 5000 slots"),
    ],
)
def test_a_device_whose_sizes_do_not_fit_its_map_is_refused(
    tmp_path: Path, name: str, value: int, said: str
) -> None:
    recorder = FakeRecorder()
    recorder.set(0, name, value)
    with pytest.raises(DeviceUnknownError, match=said):
        pull(recorder, tmp_path / "x.ff")
    assert list(tmp_path.iterdir()) == []


def test_a_write_pointer_outside_its_memory_is_refused(tmp_path: Path) -> None:
    recorder = FakeRecorder(depth=600)
    recorder.set(0, "memory.write_ptr", 601, 1)
    with pytest.raises(TargetError, match="tx_deq has 600 slots and its write pointer is at 601"):
        pull(recorder, tmp_path / "x.ff")


def test_a_device_without_an_event_log_has_its_taps(tmp_path: Path) -> None:
    """The map: id.event_depth may be 0, id.tap_depth may not."""
    recorder = FakeRecorder()
    for index in range(2):
        recorder.set(index, "id.event_depth", 0)
    report = pull(recorder, tmp_path / "x.ff")
    assert report.complete
    capture = CaptureFolder.open(report.path)
    for device in capture.devices:
        assert list(device.memories) == ["tx_enq", "tx_deq", "rx_enq", "rx_deq"]


def test_in_select_mode_the_selected_tap_and_the_event_log_are_there(tmp_path: Path) -> None:
    recorder = FakeRecorder()
    for index in range(2):
        recorder.set(index, "id.trace", recorder.get(index, "id.trace") & ~0xF)
        recorder.set(index, "ctl.options", 2 << 4)
    capture = CaptureFolder.open(pull(recorder, tmp_path / "x.ff").path)
    assert list(capture.devices[0].memories) == ["rx_enq", "event_log"]


def test_a_bus_that_reads_all_ones_is_no_device(tmp_path: Path) -> None:
    way = BadWay(FakeRecorder())
    way.all_ones = True
    with pytest.raises(TargetError, match="all ones"):
        pull(way, tmp_path / "x.ff")
    assert list(tmp_path.iterdir()) == []


def test_words_of_all_ones_that_are_data_are_kept(tmp_path: Path) -> None:
    recorder = FakeRecorder()
    recorder.set(0, "ctl.cause_mask", 0xFFFFFFFF)
    recorder.window(0, "tx_enq")[3, 0] = 0xFFFFFFFF
    recorder.set_crc(0, 0, 0)
    report = pull(recorder, tmp_path / "x.ff")
    assert report.complete
    assert_exact(report.path, recorder)


def test_a_place_that_is_taken_is_refused_before_the_device_is_asked(tmp_path: Path) -> None:
    (tmp_path / "x.ff").mkdir()
    way = BadWay(FakeRecorder())
    with pytest.raises(InputError, match="exists already"):
        pull(way, tmp_path / "x.ff")
    assert way.reads == 0


def test_progress_rises_to_the_total_and_names_its_phase(tmp_path: Path) -> None:
    told: list[Progress] = []
    report = pull(FakeRecorder(), tmp_path / "x.ff", progress=told.append)
    done = [progress.words_done for progress in told]
    assert done == sorted(done)
    assert done[-1] == told[-1].words_total == report.words == report.words_total
    phases = list(dict.fromkeys(progress.phase for progress in told))
    assert phases == ["identity", "crc", "registers", "memories", "samples", "writing"]


def test_a_pull_asks_for_few_large_pieces(tmp_path: Path) -> None:
    way = BadWay(FakeRecorder(depth=2048, sampler_depth=1024))
    words: list[int] = []
    way.alter = lambda addresses, got: words.append(len(got))
    pull(way, tmp_path / "x.ff")
    assert sum(words) > 2 * 5 * 2048 * 4
    assert len(words) < 80


def test_two_pulls_of_one_freeze_are_the_same_to_the_byte(tmp_path: Path) -> None:
    recorder = FakeRecorder()
    one, two = (pull(recorder, tmp_path / name).path for name in ("one.ff", "two.ff"))
    names_of = [p.relative_to(one) for p in sorted(one.rglob("*")) if p.is_file()]
    assert len(names_of) == 2 * 7 + 3  # and the manifest twice, and the card's text
    manifest = names_of.pop(names_of.index(Path("manifest.json")))
    names_of.remove(Path("manifest.copy.json"))
    assert all((one / name).read_bytes() == (two / name).read_bytes() for name in names_of)
    said = [json.loads((folder / manifest).read_bytes()) for folder in (one, two)]
    for each in said:
        del each["history"], each["digest"]  # when they were pulled
    assert said[0] == said[1]


def test_what_the_recorder_itself_lost_is_stated_and_the_pull_is_still_complete(
    tmp_path: Path,
) -> None:
    recorder = FakeRecorder()
    recorder.set(1, "memory.lost", 12, 4)
    report = pull(recorder, tmp_path / "x.ff")
    assert report.complete
    assert report.lost == (
        "B.event_log: the device itself could not record 12 of what it was offered",
    )


def test_a_target_that_reports_errors_by_itself_is_not_mistaken_for_gone(tmp_path: Path) -> None:
    class Refusing(BadWay):
        def read(self, addresses: Words | Sequence[int]) -> Words:
            if len(addresses) > 2000:
                raise BusError("bad: refused")
            return super().read(addresses)

    recorder = FakeRecorder(depth=600, sampler_depth=0)
    way = Refusing(recorder)
    report = pull(way, tmp_path / "x.ff")
    assert report.complete
    assert_exact(report.path, recorder)
