"""The ladder of bring-up: each stage catches what it is for, says what it saw, and puts the card back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from freezeframe.analyzers import contract
from freezeframe.analyzers.bringup import ladder, recording
from freezeframe.analyzers.bringup.evidence import Evidence
from freezeframe.analyzers.bringup.failure import Failure
from freezeframe.analyzers.bringup.ladder import StageResult, climb
from freezeframe.analyzers.contract import Finding
from freezeframe.analyzers.explain import Explanation, explain
from freezeframe.capture.custody.ledger import GIVEN_UP, KEPT, Ledger
from freezeframe.capture.errors import ForeignRecordingError, RecorderStateError
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.control import arm_all
from freezeframe.capture.recorder.state import read_state
from freezeframe.capture.registers.access import Device, open_devices
from freezeframe.capture.registers.map_table import WINDOWS
from freezeframe.capture.targets.base import Target, Words
from freezeframe.emulator.target import EmulatorTarget
from tests.capture.recorder.fake_recorder import BadWay

BUFFER = next(window.address for window in WINDOWS if window.name == "inject_buffer")
TERM_VALUE_LO = 0x0000_0180
US = 1_000_000


class Wrong(BadWay):
    """A target interface with one thing wrong on the way of writes or reads."""

    def __init__(
        self,
        inner: Target,
        write: Callable[[int, list[int]], tuple[int, list[int]]] = lambda address, words: (
            address,
            words,
        ),
        read: Callable[[Words, Words], Words] = lambda addresses, words: words,
    ) -> None:
        super().__init__(inner)
        self._write, self._read = write, read

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        super().write(*self._write(address, [int(word) for word in words]))

    def read(self, addresses: Words | Sequence[int]) -> Words:
        asked = np.asarray(addresses, dtype=np.uint32)
        return self._read(asked, super().read(asked))


def outcome(target: Target) -> dict[str, StageResult]:
    return {result.stage: result for result in climb(open_devices(target), discard=True)}


def quiet(seed: int, fault: str = "none") -> EmulatorTarget:
    """Return a pair whose hosts send little of their own, and whose registers answer within 5 us."""
    return EmulatorTarget(fault=fault, seed=seed, load="light", access_ps=5 * US)


def test_a_sound_pair_passes_all_stages_but_the_switch_s_and_is_left_as_it_was_and_armed() -> None:
    devices = open_devices(quiet(3))
    devices[0].write("trigger.term.value_lo", 0x1234, 1)
    devices[1].target.write(devices[1].window("inject_buffer") + 8, [0x5678])
    results = climb(devices)
    passed = dict.fromkeys(("interface", "host-dma", "loopback", "pair"), "passed")
    assert {result.stage: result.outcome for result in results} == passed | {"switch": "not run"}, [
        result.seen for result in results
    ]
    assert results[-1].seen == "no switch is named (--switch)"
    for device in devices:
        assert device.field("ctl.state", "state") == 1
        assert device.read("provoke.link") == 0
        assert device.field("provoke.traffic", "enable") == 0
    assert devices[0].read("trigger.term.value_lo", 1) == 0x1234
    assert devices[1].read_words([devices[1].window("inject_buffer") + 8]).tolist() == [0x5678]


def test_a_frozen_card_is_refused_and_nothing_is_written() -> None:
    target = EmulatorTarget(seed=3)
    devices = open_devices(target)
    devices[0].write("ctl.freeze", 0x465A << 16 | 1)
    assert target.run_until_frozen(5000 * US)
    with pytest.raises(RecorderStateError, match="this host has not kept it; it would be lost"):
        climb(devices)
    assert [device.read("ctl.generation") for device in devices] == [1, 1]


def test_every_arm_of_the_ladder_names_what_it_gives_up_and_is_written_down() -> None:
    devices = open_devices(quiet(3))
    climb(devices)
    nonce, last = devices[0].read("id.boot_nonce"), devices[0].read("ctl.generation")
    ledger = Ledger()
    gone = [e["parsed"][0].generation for e in ledger.acts(nonce) if e["what"] == GIVEN_UP]
    assert last > 4
    assert gone == list(range(1, last))
    assert {e["by"] for e in ledger.acts(nonce) if e["what"] != KEPT} == {"selftest"}


def test_what_another_program_armed_during_a_test_stands_and_is_no_failure_of_the_card(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    devices = open_devices(quiet(3))
    plain = ladder.STAGES[0]

    def disturbed(devices: Sequence[Device], arms: Evidence) -> Iterator[str]:
        yield from plain.run(devices, arms)
        arm_all(devices)  # somebody else

    monkeypatch.setattr(
        ladder, "STAGES", (ladder.Stage("interface", "", disturbed), *ladder.STAGES[1:])
    )
    with pytest.raises(ForeignRecordingError, match="which this test armed: another program"):
        climb(devices)
    assert [device.read("ctl.generation") for device in devices] == [3, 3]
    assert [device.field("provoke.traffic", "enable") for device in devices] == [0, 0]


def stuck_bit(address: int, words: list[int]) -> tuple[int, list[int]]:
    return address, [word & ~(1 << 13) for word in words]


def address_line_stuck(address: int, words: list[int]) -> tuple[int, list[int]]:
    return (address & ~0x200 if BUFFER <= address % 0x1000000 < BUFFER + 8192 else address), words


def test_a_data_line_stuck_at_0_is_told_with_register_and_bit() -> None:
    results = outcome(Wrong(quiet(17), write=only_terms(stuck_bit)))
    assert results["interface"].outcome == "failed"
    assert "trigger.term.value_lo" in results["interface"].seen
    assert (
        "reads 0x00000000, written 0x00002000 (bits 0x00002000 differ)" in results["interface"].seen
    )
    assert [results[name].outcome for name in ("host-dma", "loopback", "pair")] == ["not run"] * 3


def only_terms(
    change: Callable[[int, list[int]], tuple[int, list[int]]],
) -> Callable[[int, list[int]], tuple[int, list[int]]]:
    from freezeframe.capture.registers import names

    terms = {
        names.offset(f"trigger.term.{part}", n) for part in ("value_lo", "mask_hi") for n in (0, 1)
    }
    return lambda address, words: change(address, words) if address in terms else (address, words)


def test_an_address_line_that_is_stuck_shows_in_the_inject_buffer() -> None:
    results = outcome(Wrong(quiet(17), write=address_line_stuck))
    assert results["interface"].outcome == "failed"
    assert "A: inject_buffer[" in results["interface"].seen
    assert "of 2048 words differ" in results["interface"].seen


def test_errors_that_are_not_answered_are_told() -> None:
    def silent(addresses: Words, words: Words) -> Words:
        return np.where(addresses == 0x00FF_FFFC, np.uint32(0), words)

    results = outcome(Wrong(quiet(17), read=silent))
    assert results["interface"].outcome == "failed"
    assert results["interface"].seen.startswith(
        "A: the read of 0x00fffffc, outside the map, gave 0x00000000 and no error"
    )


@pytest.mark.parametrize(
    "fault", ["word-omitted", "sync-fifo-empty", "header-corrupted", "credit-start-too-large"]
)
def test_a_fault_on_the_way_fails_a_stage_above_the_interface_and_is_named(fault: str) -> None:
    results = outcome(quiet(1, fault))
    assert results["interface"].outcome == "passed"
    failed = [result for result in results.values() if result.outcome == "failed"]
    assert len(failed) == 1
    assert failed[0].seen.startswith(fault)


def test_a_target_with_one_card_has_no_pair_to_test(monkeypatch: pytest.MonkeyPatch) -> None:
    stages = [stage for stage in ladder.STAGES if stage.name in ("interface", "pair")]
    monkeypatch.setattr(ladder, "STAGES", stages)
    results = climb(open_devices(quiet(3))[:1])
    assert [(result.stage, result.outcome, result.seen) for result in results] == [
        ("interface", "passed", ""),
        ("pair", "not run", "the target has one device"),
    ]


@pytest.mark.parametrize("candidates", [("credit-lost", "none"), ("credit-lost",)])
def test_a_finding_that_fits_a_card_in_order_fails_no_stage_and_any_other_does(
    monkeypatch: pytest.MonkeyPatch, candidates: tuple[str, ...]
) -> None:
    def explained(folder: CaptureFolder) -> Explanation:
        plain = explain(folder)
        stall = Finding(
            "undetermined",
            "waited",
            "A",
            candidates=candidates,
            evidence=(contract.Evidence("seen"),),
        )
        return Explanation([*plain.findings, stall], plain.notes, plain.trace, plain.reaches)

    monkeypatch.setattr(recording, "explain", explained)
    devices = open_devices(quiet(0))
    arms = Evidence([devices], by="test")
    with recording.under_traffic(devices, arms, loop=False):
        if "none" in candidates:
            assert recording.record(devices, arms, "rx_deq").explanation.findings
        else:
            with pytest.raises(Failure, match="undetermined"):
                recording.record(devices, arms, "rx_deq")


def test_what_a_card_counts_until_it_is_frozen_is_not_of_the_next_recording() -> None:
    """As where packets are on their way while the card triggers: it counts them, and then its links are held."""
    devices = open_devices(quiet(3))
    devices[0].write("ctl.freeze", 0x465A << 16 | 1)
    assert read_state(devices[0]).state == "triggered"
    before = recording.counts_before(devices)
    assert [read_state(device).state for device in devices] == ["frozen", "frozen"]
    assert before == {device.name: device.counters().values for device in devices}
