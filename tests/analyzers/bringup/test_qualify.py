"""A qualification tells what holds on a card, leaves it as it was, and an explanation then rests on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from freezeframe.analyzers.bringup.failure import Failure
from freezeframe.analyzers.bringup.qualify import qualify
from freezeframe.analyzers.explain import explain
from freezeframe.capture.errors import InputError, RecorderStateError
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.qualification import ClockRate, Qualification
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.recorder.state import read_state
from freezeframe.capture.registers.access import open_devices
from freezeframe.capture.registers.layouts import Memory
from freezeframe.emulator.bank import Bank
from freezeframe.emulator.faults import registry
from freezeframe.emulator.faults.base import B, Fault
from freezeframe.emulator.hooks import Hooks
from freezeframe.emulator.ports import Site
from freezeframe.emulator.target import EmulatorTarget
from tests.analyzers.emulated import varied_profile

US = 1_000_000
SMALL = {
    "tap_depth": 256, "event_depth": 256, "tx_words": 128, "rx_words": 512, "message_words": 64,
    "chunk_records": 64, "post": 32, "deviation_ppm": 1000,
}  # fmt: skip
BIT, LEVEL = 19, 1


class Unsound(Hooks):
    """A card whose recorder and counts are wrong from the day it was built; what crosses it is right."""

    def __init__(self, index: int) -> None:
        self.index = index

    def latches(self, bank: Bank) -> None:
        if self.index == B:
            bank.values["frozen.rx_level", ()] += LEVEL
            image = bank.images[Memory.RX_DEQ]
            assert image is not None
            image[:, BIT // 8] |= np.uint8(1 << BIT % 8)

    def counts(self, values: dict[str, int]) -> None:
        if self.index == B:
            values["payload_errors"] = 0


class BuiltSo(Fault):
    def hooks(self, site: Site) -> Hooks:
        return Unsound(site.index)


@dataclass(frozen=True)
class Case:
    target: EmulatorTarget
    found: Qualification
    lines: list[str]

    def capture(self, path: Path) -> CaptureFolder:
        """Return what the pair records from then on, pulled."""
        self.target.advance(300 * US)
        pull(self.target, path / "later.ff", freeze=True)
        return CaptureFolder.open(path / "later.ff")


def pair(profile: str, seed: int, fault: str = "none") -> EmulatorTarget:
    return EmulatorTarget(profile, fault, seed, load="light", access_ps=5 * US)


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> str:
    return varied_profile(tmp_path_factory.mktemp("qualify") / "small.toml", **SMALL)


def measured(target: EmulatorTarget) -> Case:
    lines: list[str] = []
    devices = open_devices(target)
    return Case(target, qualify([devices], seconds=0.2, discard=True, tell=lines.append), lines)


@pytest.fixture(scope="module")
def sound(profile: str) -> Case:
    return measured(pair(profile, 5))


@pytest.fixture(scope="module")
def unsound(profile: str) -> Iterator[Case]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(registry.FAULTS, "none", BuiltSo)
        yield measured(pair(profile, 6))


def test_everything_holds_on_a_sound_pair(sound: Case) -> None:
    assert sound.found.failed == ()
    asked = {(check.what, check.device) for check in sound.found.checks}
    whats = ("taps", "bits", "pointer", "count", "level", "late", "checker", "cause", "law")
    assert asked == {(what, device) for what in whats for device in "AB"}
    assert sum(check.what == "checker" for check in sound.found.checks) == 6
    assert "B: one packet with bad-length" in sound.lines


def test_how_late_a_cause_comes_is_measured_for_each_check(sound: Case) -> None:
    late = [check.value for check in sound.found.checks if check.what == "cause"]
    assert all(value is not None and 0 < value <= 64 for value in late), late


def test_the_rate_of_every_clock_by_the_master_s_lies_in_its_interval(sound: Case) -> None:
    a, b = (nic.clocks for nic in sound.target.pair.nics)
    rates = {(rate.device, rate.clock): rate for rate in sound.found.clocks}
    assert set(rates) == {("A", "link"), ("B", "bus"), ("B", "link")}
    for (device, name), rate in rates.items():
        clock = getattr({"A": a, "B": b}[device], name)
        nominal = a.bus.hz / clock.hz
        true = (a.bus.period_fs / clock.period_fs * nominal - 1) * 1e9
        assert abs(rate.ppb - true) <= rate.unc_ppb, (device, name)
        assert rate.by == "A.bus"


def test_the_cards_are_left_as_they_were_and_armed(profile: str, sound: Case) -> None:
    fresh = open_devices(pair(profile, 5))
    for was, now in zip(fresh, open_devices(sound.target), strict=True):
        assert now.field("ctl.state", "state") == 1
        for name in (
            "ctl.options",
            "ctl.cause_mask",
            "trigger.config",
            "provoke.rx_dma",
            "provoke.link",
        ):
            assert now.read(name) == was.read(name), name
        assert now.field("provoke.traffic", "enable") == 0


def test_an_explanation_says_which_qualification_it_used(sound: Case, tmp_path: Path) -> None:
    folder = sound.capture(tmp_path)
    used = explain(folder, qualified=sound.found)
    count = len(sound.found.checks)
    assert used.qualified == (
        f"The qualification of {sound.found.made['when']} (not written) was used: {count} of {count} assumptions "
        "hold on this card.",
    )
    assert explain(folder).qualified == ()


def test_what_does_not_hold_is_found_with_its_place(unsound: Case) -> None:
    failed = {(check.what, check.device, check.part): check for check in unsound.found.failed}
    assert failed["level", "B", "rx_level"].value == LEVEL
    assert failed["bits", "B", "rx_deq"].value == 1 << BIT
    assert "bit 19 is always 1" in failed["bits", "B", "rx_deq"].text
    assert failed["checker", "B", "bad-payload"].value == 0
    assert not [place for place in failed if place[1] == "A"]


def test_what_does_not_hold_is_off_with_a_sentence(unsound: Case, tmp_path: Path) -> None:
    folder = unsound.capture(tmp_path)
    without, used = explain(folder), explain(folder, qualified=unsound.found)
    assert without.findings  # a bit that is stuck in a memory is not healthy
    assert [finding.diagnosis for finding in used.findings] == []
    said = "\n".join(used.qualified)
    assert "that level says nothing of lost and repeated words." in said
    assert "that count is no witness." in said
    left_out = [
        note for note in used.notes if "its packets are not compared and not checked" in note
    ]
    assert len(left_out) == 1
    assert left_out[0].startswith("B.rx_deq: ")


def test_a_qualification_of_another_card_or_build_claims_nothing(
    sound: Case, tmp_path: Path
) -> None:
    folder = sound.capture(tmp_path)
    a, b = sound.found.devices
    other_build = replace(
        sound.found, devices=(replace(a, identity={**a.identity, "build_hash": 7}), b)
    )
    with pytest.raises(
        InputError,
        match=r"A has build_hash .* in the capture and 0x7 in it: another card or another build",
    ):
        explain(folder, qualified=other_build)
    with pytest.raises(
        InputError, match="the capture is from emu:, it is of the card at etherbone"
    ):
        explain(folder, qualified=replace(sound.found, source="etherbone://192.0.2.9"))
    with pytest.raises(InputError, match="it knows A, and the capture holds B"):
        explain(folder, qualified=replace(sound.found, devices=(a,)))


def test_another_card_of_the_same_build_is_told_by_its_clocks(sound: Case, tmp_path: Path) -> None:
    folder = sound.capture(tmp_path)
    far = [replace(rate, ppb=rate.ppb + 4_000_000) for rate in sound.found.clocks]
    with pytest.raises(
        InputError, match=r"runs .* ppm off in the capture, and was qualified at .*: another card"
    ):
        explain(folder, qualified=replace(sound.found, clocks=tuple(far)))


def test_the_host_s_clock_is_told_beside_the_answer(sound: Case, tmp_path: Path) -> None:
    by_host = ClockRate("A", "bus", "host", 37_250, 400)
    used = explain(sound.capture(tmp_path), qualified=replace(sound.found, clocks=(by_host,)))
    assert "A.bus ran +37.25 ± 0.40 ppm off its nominal clock by the host's." in used.qualified


def test_a_card_with_a_fault_is_not_qualified(profile: str) -> None:
    target = pair(profile, 1, "payload-bit-flip")
    with pytest.raises(
        Failure, match=r"the cards froze by themselves|a card is not in order"
    ) as failed:
        measured(target)
    # What it failed by stands in the cards, and nothing was armed over it.
    assert failed.value.standing
    assert {read_state(device).state for device in open_devices(target)} <= {"triggered", "frozen"}


def test_a_frozen_recording_is_refused_and_nothing_is_written(profile: str) -> None:
    target = pair(profile, 3)
    devices = open_devices(target)
    devices[0].write("ctl.freeze", 0x465A << 16 | 1)
    assert target.run_until_frozen(5000 * US)
    with pytest.raises(RecorderStateError, match="this host has not kept it; it would be lost"):
        qualify([devices], seconds=0.1)
    assert [device.read("ctl.generation") for device in devices] == [1, 1]
