"""Every interval that is stated holds the truth, with crystals up to 1,000 ppm: the emulator knows the truth.

The card's file says how far its clocks may be off, or a qualification has measured them; without either a file that
promises 100 ppm is wrong about such a card, and the intervals with it.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from freezeframe.analyzers.bringup.crystals import rates_by_master
from freezeframe.analyzers.throughput.analysis_code import run as throughput
from freezeframe.analyzers.time_alignment import Moments, span_uncertainty_ps
from freezeframe.analyzers.view import CaptureView, with_crystals
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.qualification import Qualification
from freezeframe.capture.recorder.control import arm_all, freeze
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.registers.access import open_devices
from freezeframe.capture.timebase import DomainClock, TimeBase
from freezeframe.emulator.clocks import Clock
from freezeframe.emulator.target import EmulatorTarget
from tests.analyzers.emulated import varied_profile

US = 1_000_000
S = 10**12
FORTH = Path(__file__).parents[2] / "firmware-hooks" / "cards" / "forth.toml"
SEEDS = range(8)


@dataclass(frozen=True)
class Recorded:
    """A recording of a pair, and one that lasted long enough to measure its clocks; ``clocks``: the true ones."""

    folder: CaptureFolder
    long: CaptureFolder
    clocks: dict[tuple[str, str], Clock]

    def true_ps(self, device: str, domain: str, cycle: int) -> Fraction:
        """Return when a cycle begins, by the master's clock as if that ran at its nominal rate."""
        clock, master = self.clocks[device, domain], self.clocks["A", "bus"]
        at_fs = clock.phase_fs + cycle * clock.period_fs - master.phase_fs
        return Fraction(at_fs, master.period_fs) * Fraction(S, master.hz)


def recorded(seed: int, path: Path, profile: str, card: Path) -> Recorded:
    """Record a pair for a time that spans two orders of magnitude: no toggle of the time line, one, or many."""
    draw = random.Random(seed)
    target = EmulatorTarget(profile, seed=seed, load="light", access_ps=US)
    devices = open_devices(target, card=card)
    folders = []
    for span_ps in (3000 * US, int(20 * US * 40 ** draw.random())):
        arm_all(devices)
        target.advance(span_ps)
        for device in devices:
            freeze(device)
        assert target.run_until_frozen(10**11)
        place = path / f"{seed}-{span_ps}.ff"
        pull(target, place, card=card)
        folders.append(CaptureFolder.open(place))
    clocks = {
        (nic.name, name): getattr(nic.clocks, name)
        for nic in target.pair.nics
        for name in ("bus", "link")
    }
    return Recorded(folders[1], folders[0], clocks)


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a pair whose crystals are up to 1,000 ppm off, and whose time line toggles seldom."""
    place = tmp_path_factory.mktemp("intervals") / "far.toml"
    return varied_profile(place, deviation_ppm=1000, sync_period_cycles=16384)


@pytest.fixture(scope="module")
def by_file(tmp_path_factory: pytest.TempPathFactory, profile: str) -> list[Recorded]:
    """Return recordings of cards whose file says that their clocks may be 1,000 ppm off."""
    path = tmp_path_factory.mktemp("described")
    card = path / "far.toml"
    card.write_text(FORTH.read_text().replace("ppm = 100\n", "ppm = 1000\n"))
    return [recorded(seed, path, profile, card) for seed in SEEDS]


@pytest.fixture(scope="module")
def by_qualification(by_file: list[Recorded]) -> list[Recorded]:
    """Return the same, qualified by the long recording."""
    made = {"what": "qualified", "when": "2026-11-26T17:20:00+00:00"}
    return [
        replace(
            each,
            folder=with_crystals(each.folder, Qualification(made, "emu:", (), tuple(rates), ())),
        )
        for each in by_file
        for rates in (rates_by_master(each.long)[0],)
    ]


@pytest.fixture(params=["by_file", "by_qualification"])
def recordings(request: pytest.FixtureRequest) -> list[Recorded]:
    found: list[Recorded] = request.getfixturevalue(request.param)
    return found


def asked_cycles(each: Recorded, device: str, domain: str) -> list[int]:
    """Return cycles before, in and behind a recording."""
    frozen = each.folder.device(device).registers.value64("frozen.freeze_cycle_")
    assert frozen is not None
    clock, bus = each.clocks[device, domain], each.clocks[device, "bus"]
    end = clock.cycle_at(bus.edge_ps(frozen))
    return [end - back for back in (60_000, 20_000, 5_000, 1, -3_000)]


def test_the_time_of_every_clock_domain_lies_in_its_interval(recordings: list[Recorded]) -> None:
    held, relations = Counter[bool](), Counter[str]()
    for each in recordings:
        base = TimeBase.from_folder(each.folder)
        for (device, domain), clock in base.clocks.items():
            cycles = asked_cycles(each, device, domain)
            t_ps, unc_ps = base.times_ps(device, domain, np.array(cycles, np.int64))
            for cycle, t, unc in zip(cycles, t_ps.tolist(), unc_ps.tolist(), strict=True):
                if unc >= 0:
                    held[abs(t - each.true_ps(device, domain, cycle)) <= unc] += 1
                    relations[clock.relation] += 1
    assert held[False] == 0
    assert held[True] >= 40
    assert {"master", "one pair", "two pairs"} <= set(relations)


def test_a_span_within_one_clock_domain_lies_in_its_interval(recordings: list[Recorded]) -> None:
    held = Counter[bool]()
    for each in recordings:
        base = TimeBase.from_folder(each.folder)
        for device, domain in base.clocks:
            cycles = np.array(asked_cycles(each, device, domain), np.int64)
            if base.clocks[device, domain].relation == "none":
                continue
            moments = Moments(device, domain, *base.times_ps(device, domain, cycles))
            first = Moments(device, domain, moments.t_ps[[0] * 5], moments.t_unc_ps[[0] * 5])
            unc_ps = span_uncertainty_ps(base, first, moments)
            at = partial(each.true_ps, device, domain)
            for cycle, t, unc in zip(
                cycles.tolist(),
                (moments.t_ps - moments.t_ps[0]).tolist(),
                unc_ps.tolist(),
                strict=True,
            ):
                held[abs(t - (at(cycle) - at(int(cycles[0])))) <= unc] += 1
    assert held[False] == 0
    assert held[True] >= 40


def test_a_qualified_rate_lies_in_its_interval(by_file: list[Recorded]) -> None:
    held = Counter[bool]()
    for each in by_file:
        master = each.clocks["A", "bus"]
        for rate in rates_by_master(each.long)[0]:
            clock = each.clocks[rate.device, rate.clock]
            true = (Fraction(master.period_fs * master.hz, clock.period_fs * clock.hz) - 1) * 10**9
            held[abs(rate.ppb - true) <= rate.unc_ppb] += 1
    assert (held[False], held[True]) == (0, 3 * len(SEEDS))


def test_a_rate_in_seconds_lies_in_its_interval(by_file: list[Recorded]) -> None:
    """A mean of samples is counted in cycles of the card's own bus clock, that of a trace in the master's time."""
    held = Counter[bool]()
    for each in by_file:
        for figure in throughput(CaptureView(each.long)).figures:
            device, what = figure.name.partition(".")[0], figure.name.rpartition(".")[2]
            if what not in ("mean", "traced") or figure.value is None or figure.uncertainty is None:
                continue
            clock = each.clocks[device if what == "mean" else "A", "bus"]
            true = figure.value * (S * 1000 / (clock.period_fs * clock.hz))
            held[abs(figure.value - true) <= figure.uncertainty] += 1
    assert held[False] == 0
    assert held[True] >= 40


def test_a_file_that_promises_too_much_is_made_good_by_a_qualification(
    by_file: list[Recorded],
) -> None:
    """One toggle, and a tolerance of 100 ppm each: the crystal that was measured moves the time, and narrows it."""
    moved = 0
    for each in by_file:
        rates = rates_by_master(each.long)[0]
        made = {"what": "qualified", "when": "2026-11-26T17:20:00+00:00"}
        plain = TimeBase.from_folder(each.folder)
        base = TimeBase.from_folder(
            with_crystals(each.folder, Qualification(made, "emu:", (), tuple(rates), ()))
        )
        for (device, domain), clock in plain.clocks.items():
            if clock.relation == "one pair":
                cycles = np.array(asked_cycles(each, device, domain)[:1], np.int64)
                before, after = (
                    int(b.times_ps(device, domain, cycles)[1][0]) for b in (plain, base)
                )
                moved += after < before
    assert moved > 0


def test_a_rate_that_one_period_measured_may_be_further_off_than_any_crystal() -> None:
    """4,097 cycles in a period of 4,096: the clock may run at its nominal rate, 244 ppm beside the measured one."""
    rate = Fraction(10_000 * 4096, 4097)
    clock = DomainClock("A", "link", "two pairs", 100_000_000, rate, 0, 0, pairs=(0, 4097))
    base = TimeBase({("A", "link"): clock}, ())
    t_ps = np.array([0, int(100_000 * rate)], np.int64)
    known = np.zeros(1, np.int64)
    unc_ps = span_uncertainty_ps(
        base, Moments("A", "link", t_ps[:1], known), Moments("A", "link", t_ps[1:], known)
    )
    assert 100_000 * 10_000 - int(t_ps[1]) == 244_082
    assert int(unc_ps[0]) >= 244_082
