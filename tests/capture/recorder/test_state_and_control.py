"""Reading a recorder's state, and the writes that arm and freeze it although writes may be lost."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import pytest

from freezeframe.capture.errors import RecorderStateError, TargetError
from freezeframe.capture.recorder.control import arm, arm_all, freeze, freeze_all, wait_for
from freezeframe.capture.recorder.state import MemoryState, read_state
from freezeframe.capture.registers.access import Device, open_devices
from freezeframe.capture.targets.base import Target, Words
from tests.capture.recorder.fake_recorder import ARMED, BadWay, FakeRecorder

ARM_2 = (0x0000_0108, [0x4152_0002])
FREEZE_1 = (0x0000_010C, [0x465A_0001])


class LossyWrites(BadWay):
    """Loses the first writes, and doubles those that come through."""

    def __init__(self, inner: Target, lost: int) -> None:
        super().__init__(inner)
        self.lost = lost
        self.tried = 0

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        self.tried += 1
        if self.tried > self.lost:
            super().write(address, words)
            super().write(address, words)


def first(target: Target) -> Device:
    return open_devices(target)[0]


def test_the_state_says_why_and_when_it_froze() -> None:
    recorder = FakeRecorder(depth=600)
    state = read_state(first(recorder))
    assert (state.device, state.state, state.causes) == ("A", "frozen", ("pay-crc",))
    assert (state.nonce, state.generation) == (0x0B000000, 1)
    assert state.cause_cycle == 0x1_0000_1388
    assert list(state.memories) == ["tx_enq", "tx_deq", "rx_enq", "rx_deq", "event_log"]
    memory = state.memories["event_log"]
    assert (memory.write_ptr, memory.wrapped, memory.closed, memory.chunks_done) == (17, 1, 1, 3)


def test_the_state_can_be_handed_to_a_machine() -> None:
    state = read_state(open_devices(FakeRecorder())[1]).to_json()
    assert state["state"] == "frozen"
    assert state["causes"] == ["cross"]
    assert state["boot_nonce"] == "0x0b000001"
    assert set(state["memories"]["tx_enq"]) == set(MemoryState.__slots__)


def test_a_cause_without_a_name_is_numbered() -> None:
    recorder = FakeRecorder()
    recorder.set(0, "ctl.causes", 1 << 0 | 1 << 15)
    assert read_state(first(recorder)).causes == ("host", "cause-15")


def test_state_and_causes_of_one_reading_belong_together() -> None:
    recorder = FakeRecorder(frozen=False)
    recorder.set(0, "ctl.causes", 0)
    way = BadWay(recorder)
    device = first(way)

    def freeze_in_the_middle(reads: int) -> None:
        if reads == start + 2:  # between the two readings that must agree
            recorder.set(0, "ctl.state", 3)
            recorder.set(0, "ctl.causes", 1 << 4)

    start = way.reads
    way.before = freeze_in_the_middle
    state = read_state(device)
    assert (state.state, state.causes) == ("frozen", ("length",))


def test_a_state_that_never_stands_still_is_an_error() -> None:
    recorder = FakeRecorder()
    way = BadWay(recorder)
    device = first(way)
    numbers = count()
    way.before = lambda reads: recorder.set(0, "ctl.generation", next(numbers))
    with pytest.raises(TargetError, match="different in each of 17 readings"):
        read_state(device)


def test_arm_writes_the_key_and_the_next_generation_once() -> None:
    recorder = FakeRecorder()
    assert arm(first(recorder)) == 2
    assert recorder.writes == [ARM_2]
    assert read_state(first(recorder)).state == "armed"


def test_an_arm_that_gets_lost_is_sent_again_and_one_that_comes_twice_arms_once() -> None:
    recorder = FakeRecorder()
    way = LossyWrites(recorder, lost=3)
    assert arm(first(way)) == 2
    assert recorder.get(0, "ctl.generation") == 2
    assert recorder.writes == [ARM_2, ARM_2]


def test_an_arm_that_never_arrives_is_an_error() -> None:
    way = LossyWrites(FakeRecorder(), lost=1000)
    with pytest.raises(TargetError, match="did not take the arm in 8 writes"):
        arm(first(way))
    assert way.tried == 8


def test_the_generation_goes_on_from_its_largest_value() -> None:
    recorder = FakeRecorder()
    recorder.set(0, "ctl.generation", 0xFFFFFFFF)

    class Wrapping(BadWay):
        def write(self, address: int, words: Sequence[int] | Words) -> None:
            assert list(words) == [0x4152_0000]
            recorder.set(0, "ctl.generation", 0)

    assert arm(first(Wrapping(recorder))) == 0


def test_another_program_that_arms_at_the_same_time_is_noticed() -> None:
    recorder = FakeRecorder()

    class Rival(BadWay):
        def write(self, address: int, words: Sequence[int] | Words) -> None:
            super().write(address, words)
            recorder.set(0, "ctl.generation", 9)

    with pytest.raises(RecorderStateError, match="from generation 1 to 9"):
        arm(first(Rival(recorder)))


def test_a_restart_while_arming_is_noticed() -> None:
    recorder = FakeRecorder()

    class Restart(BadWay):
        def write(self, address: int, words: Sequence[int] | Words) -> None:
            recorder.set(0, "id.boot_nonce", 0x12345678)

    with pytest.raises(RecorderStateError, match="device A was restarted while it was being armed"):
        arm(first(Restart(recorder)))


def test_both_devices_are_armed_before_either_is_looked_at() -> None:
    recorder = FakeRecorder()
    assert arm_all(open_devices(recorder)) == [2, 2]
    assert [address for address, _ in recorder.writes] == [0x0000_0108, 0x0100_0108]


def test_freeze_carries_the_key_and_this_generation() -> None:
    recorder = FakeRecorder(frozen=False)
    assert freeze(first(recorder)).state == "frozen"
    assert recorder.writes == [FREEZE_1]


def test_a_freeze_that_gets_lost_is_sent_again() -> None:
    recorder = FakeRecorder(frozen=False)
    assert freeze(first(LossyWrites(recorder, lost=4))).state == "frozen"


def test_a_frozen_recorder_is_not_written_to() -> None:
    recorder = FakeRecorder()
    assert freeze(first(recorder)).causes == ("pay-crc",)
    assert recorder.writes == []


def test_a_card_that_was_restarted_meanwhile_is_not_frozen_for_the_recording_that_is_gone() -> None:
    recorder = FakeRecorder()
    devices = open_devices(recorder)
    for index in range(2):
        recorder.set(index, "ctl.state", ARMED)
    recorder.set(1, "id.boot_nonce", 0x77000001)
    says = r"device B was restarted \(boot nonce 0x0b000001 before, 0x77000001 now\).*left alone"
    with pytest.raises(RecorderStateError, match=says):
        freeze_all(devices[1:])
    assert recorder.writes == []
    assert freeze(devices[1]).state != "armed"  # asked for by somebody who names no boot


def test_an_idle_recorder_cannot_be_frozen() -> None:
    recorder = FakeRecorder()
    recorder.set(0, "ctl.state", 0)
    with pytest.raises(RecorderStateError, match="idle and has recorded nothing; arm it first"):
        freeze(first(recorder))


def test_a_freeze_that_never_arrives_is_an_error() -> None:
    way = LossyWrites(FakeRecorder(frozen=False), lost=1000)
    with pytest.raises(TargetError, match="did not take the freeze in 8 writes"):
        freeze(first(way))


def test_waiting_ends_when_the_state_comes() -> None:
    recorder = FakeRecorder(frozen=False)
    way = BadWay(recorder)
    device = first(way)
    start = way.reads

    def later(reads: int) -> None:
        if reads > start + 20:
            recorder.set(0, "ctl.state", 3)

    way.before = later
    assert wait_for(device, "frozen", 5).state == "frozen"


def test_waiting_in_vain_says_what_the_recorder_is_doing() -> None:
    recorder = FakeRecorder(frozen=False)
    with pytest.raises(RecorderStateError, match=r"device A is armed, not frozen, after 0\.05 s"):
        wait_for(first(recorder), "frozen", 0.05)
