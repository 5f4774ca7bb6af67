"""Which stretches of time a recording covers, and why not the others."""

from __future__ import annotations

import numpy as np
import pytest

from freezeframe.capture.folder import CaptureFolder, Gap, MemoryImage
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.registers.layouts import Kind
from freezeframe.decoders.trace import coverage as module
from freezeframe.decoders.trace.coverage import EVER_PS, Coverage, Hole
from freezeframe.decoders.trace.decode import decode_capture
from freezeframe.emulator.target import EmulatorTarget


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> CaptureFolder:
    """The capture of a saturated pair whose tx memories have wrapped."""
    path = tmp_path_factory.mktemp("coverage") / "c.ff"
    target = EmulatorTarget(profile="forth", fault="word-omitted", seed=2)
    target.run_until_frozen(20_000_000_000)
    pull(target, path, freeze=True)
    target.close()
    return CaptureFolder.open(path)


def test_holes_join_and_the_reason_named_first_stays() -> None:
    covered = Coverage.between(10, 90, "before", "after").less(
        [Hole(30, 40, "gap"), Hole(35, 50, "lost"), Hole(85, 95, "late")]
    )
    assert covered.holes == (
        Hole(-EVER_PS, 10, "before"),
        Hole(30, 40, "gap"),
        Hole(40, 50, "lost"),
        Hole(85, 90, "late"),
        Hole(90, EVER_PS, "after"),
    )
    assert list(covered.ranges()) == [(10, 30), (50, 85)]
    assert list(covered.covered(20, 60)) == [(20, 30), (50, 60)]
    assert list(covered.covered(31, 50)) == []
    assert list(covered.within(36, 41)) == [Hole(36, 40, "gap"), Hole(40, 41, "lost")]
    assert [covered.reason_at(t) for t in (9, 10, 45, 90)] == ["before", "", "lost", "after"]


def test_an_offset_moves_holes_and_leaves_ever_where_it_is() -> None:
    moved = Coverage.between(10, 90, "b", "a").shifted(1_000)
    assert moved.holes == (Hole(-EVER_PS, 1_010, "b"), Hole(1_090, EVER_PS, "a"))


def test_of_two_what_neither_covers_stays_a_hole() -> None:
    one, other = Coverage.between(10, 50, "b", "a"), Coverage.between(40, 90, "c", "d")
    assert one.or_else(other).holes == (Hole(-EVER_PS, 10, "b"), Hole(90, EVER_PS, "a"))


def _memory(wrapped: bool, gaps: list[Gap]) -> MemoryImage:
    return MemoryImage("tx_enq", np.zeros((8, 9), np.uint8), 3, wrapped, gaps)


def test_a_gap_of_a_wrapped_memory_lies_between_the_records_beside_it() -> None:
    # Slots 3 to 7, then 0 to 2; 5 and 6 were not read.
    slots = np.array([0, 1, 2, 3, 4, 7], np.int64)
    times = np.array([600, 700, 800, 100, 200, 500], np.int64)
    covered = module._covered(_memory(True, [Gap(5, 2, "bus error")]), (slots, times), 0)
    assert covered.holes == (
        Hole(-EVER_PS, 100, "overwritten before 100 ps: the memory wrapped"),
        Hole(201, 500, "2 records not read: bus error"),
        Hole(801, EVER_PS, "recording closed at 800 ps"),
    )


def test_a_gap_at_the_oldest_record_reaches_back_for_ever() -> None:
    slots, times = np.array([5, 6], np.int64), np.array([300, 400], np.int64)
    covered = module._covered(_memory(True, [Gap(3, 2, "timeout")]), (slots, times), None)
    assert covered.holes[0] == Hole(-EVER_PS, 300, "2 records not read: timeout")


def test_a_memory_that_did_not_wrap_covers_from_the_arm_on_though_its_first_record_is_later() -> (
    None
):
    slots, times = np.array([0, 1, 2], np.int64), np.array([700, 800, 900], np.int64)
    covered = module._covered(_memory(False, []), (slots, times), 40)
    assert list(covered.ranges()) == [(40, 901)]


def test_each_memory_of_a_capture_reaches_from_its_oldest_record_to_its_close(
    capture: CaptureFolder,
) -> None:
    trace = decode_capture(capture)
    wrapped = 0
    for device in capture.devices:
        for name, memory in device.memories.items():
            source = f"{device.name}.{name}"
            tables = (trace.words, trace.events)
            times = [t for f in tables for t in f["t_ps"][f["source"] == source].tolist()]
            ((begin, end),) = trace.coverage.of(source).ranges()
            assert end == max(times) + 1
            if memory.wrapped:
                wrapped += 1
                assert begin == min(times)
                assert "wrapped" in trace.coverage.of(source).reason_at(begin - 1)
            else:
                assert begin <= min(times)
    assert wrapped == 4


def test_a_kind_that_was_switched_off_covers_nothing(capture: CaptureFolder) -> None:
    trace = decode_capture(capture)
    log = trace.coverage.memories["A.event_log"]
    off = module.Coverages.known({"A.event_log": log}, {"A.event_log": 0xFFFF & ~(1 << 4)})
    assert off.log("A", Kind.CREDIT).holes == (
        Hole(-EVER_PS, EVER_PS, "kind switched off: CREDIT"),
    )
    assert off.log("A", Kind.PRESSURE) == log
