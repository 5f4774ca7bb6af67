"""Cycles of every domain on one axis of picoseconds, with the uncertainty; docs/formats.md, 6."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freezeframe.capture.card.elaborated import elaborate
from freezeframe.capture.card.map_1 import card_of_map
from freezeframe.capture.card.reading import parse_card
from freezeframe.capture.errors import CaptureFormatError
from freezeframe.capture.folder import DeviceCapture, RegisterImage
from freezeframe.capture.timebase import (
    UNKNOWN_PS,
    TimeBase,
    cycles_to_ps,
)
from tests.capture.folder.samples import IDENTITY

FORTH = Path(__file__).parents[2] / "firmware-hooks" / "cards" / "forth.toml"
PERIOD = 4096
BUS_HZ, LINK_HZ = 100_000_000, 78_125_000
Pair = tuple[int, int]


def device(
    index: int,
    *,
    master: bool = False,
    bus: tuple[Pair | None, Pair | None] = (None, None),
    link: tuple[Pair | None, Pair | None] = (None, None),
    freeze_cycle: int = 0,
) -> DeviceCapture:
    """Return a device with (number, own cycle) of first and last toggle in each domain."""
    values: dict[str | tuple[str | int, ...], int] = {
        "frozen.freeze_cycle_lo": freeze_cycle & 0xFFFFFFFF,
        "frozen.freeze_cycle_hi": freeze_cycle >> 32,
    }
    for domain, pairs in enumerate((bus, link)):
        values["pair.status", domain] = sum(1 << i for i, pair in enumerate(pairs) if pair)
        for which, pair in zip(("first", "last"), pairs, strict=True):
            number, cycle = pair or (0, 0)
            values[f"pair.{which}_number", domain] = number & 0xFFFFFFFF
            values[f"pair.{which}_lo", domain] = cycle & 0xFFFFFFFF
            values[f"pair.{which}_hi", domain] = cycle >> 32
    identity = replace(IDENTITY, devices_time_master=int(master), devices_index=index)
    return DeviceCapture(index, index << 24, identity, RegisterImage.from_values(values), {})


class Clock:
    """A domain's true clock, exact: cycle c begins at ``phase_s + c / rate_hz`` of the master."""

    def __init__(self, nominal_hz: int, ppm: int, phase_s: Fraction) -> None:
        self.rate_hz = Fraction(nominal_hz) * (1_000_000 + ppm) / 1_000_000
        self.phase_s = phase_s

    def begin_s(self, cycle: int) -> Fraction:
        return self.phase_s + cycle / self.rate_hz

    def latches(self, number: int) -> int:
        """Return the own cycle latched for a toggle: two flip-flops after the edge that sees it."""
        toggle_s = Fraction(number * PERIOD, BUS_HZ)
        return math.ceil((toggle_s - self.phase_s) * self.rate_hz) + 2


def times(base: TimeBase, name: str, domain: str, cycles: list[int]) -> list[tuple[int, int]]:
    t_ps, u_ps = base.times_ps(name, domain, np.array(cycles, np.int64))
    assert t_ps.dtype == u_ps.dtype == np.int64
    return list(zip(t_ps.tolist(), u_ps.tolist(), strict=True))


def test_a_cycle_of_the_master_is_exact() -> None:
    base = TimeBase.from_devices([device(0, master=True)])
    assert times(base, "A", "bus", [0, 1, 4096, 10**9]) == [
        (0, 0),
        (10_000, 0),
        (40_960_000, 0),
        (10**13, 0),
    ]


def test_cycles_become_picoseconds_rounded_down() -> None:
    assert cycles_to_ps(np.array([1], np.int64), 78_125_000).tolist() == [12_800]
    assert cycles_to_ps(np.array([1], np.int64), 156_250_001).tolist() == [6_399]
    assert cycles_to_ps(np.array([2], np.int64), 3).tolist() == [666_666_666_666]


@given(
    st.lists(st.integers(-(1 << 48), 1 << 48), min_size=1, max_size=20),
    st.integers(66_000_000, (1 << 32) - 1),
)
def test_arrays_give_exactly_what_whole_numbers_give(cycles: list[int], clk_hz: int) -> None:
    found = cycles_to_ps(np.array(cycles, np.int64), clk_hz)
    assert found.tolist() == [cycle * 10**12 // clk_hz for cycle in cycles]


def test_a_result_beyond_int64_is_refused_and_not_wrapped() -> None:
    with pytest.raises(ValueError, match="span over 53 days"):
        cycles_to_ps(np.array([1 << 48], np.int64), 1_000_000)
    with pytest.raises(ValueError, match="clock of 0 Hz"):
        cycles_to_ps(np.array([1], np.int64), 0)


def test_two_pairs_give_offset_and_rate_of_the_link_clock() -> None:
    # The link clock is nominal, its counter began 1,000 cycles before the master's, and it latches
    # 2.5 cycles after each toggle: toggle n stands at own cycle 1000 + 3200 n + 2.5.
    a = device(0, master=True, bus=((1, 4096), (9, 36864)), link=((1, 4203), (9, 29803)))
    base = TimeBase.from_devices([a])
    clock = base.clocks["A", "link"]
    assert clock.relation == "two pairs"
    assert clock.ps_per_cycle == Fraction(12_800)
    assert clock.rate_ppb == 0
    # Toggle 1 is at 40.96 us and at own cycle 4203 - 2.5; toggle 9 at 368.64 us.
    assert [t for t, _ in times(base, "A", "link", [4203, 29803])] == [
        40_960_000 + 32_000,
        368_640_000 + 32_000,
    ]


def test_between_two_pairs_the_uncertainty_is_half_a_cycle() -> None:
    a = device(0, master=True, link=((1, 4203), (9, 29803)))
    ((_, u_ps),) = times(TimeBase.from_devices([a]), "A", "link", [10_000])
    assert 6_400 <= u_ps <= 7_000


def test_outside_the_pairs_the_uncertainty_grows_with_the_distance() -> None:
    a = device(0, master=True, link=((1, 4203), (2, 7403)))
    base = TimeBase.from_devices([a])
    found = times(base, "A", "link", [5_000, 7403 + 3200, 7403 + 6400])
    inside, one, two = (u for _, u in found)
    assert inside < 7_000
    assert 12_800 <= one - inside <= 13_000
    assert 12_800 <= two - one <= 13_000


@given(
    ppm=st.integers(-100, 100),
    phase_ps=st.integers(-(10**15), 10**15),
    days=st.sampled_from([0, 1, 300]),
    armed=st.integers(2, 50_000),
    seed=st.integers(0, 1 << 32),
)
def test_the_true_time_lies_within_the_uncertainty(
    ppm: int, phase_ps: int, days: int, armed: int, seed: int
) -> None:
    random = Random(seed)
    link = Clock(LINK_HZ, ppm, Fraction(phase_ps, 10**12) - 1000)
    first = days * 86_400 * BUS_HZ // PERIOD + random.randrange(1000)
    last = first + armed
    a = device(
        0,
        master=True,
        bus=((first, first * PERIOD), (last, last * PERIOD)),
        link=((first, link.latches(first)), (last, link.latches(last))),
        freeze_cycle=last * PERIOD + 77,
    )
    origin = first * PERIOD * 10_000
    base = TimeBase.from_devices([a]).at_origin(origin)
    start, end = link.latches(first) - 5_000, link.latches(last) + 5_000
    cycles = [random.randrange(start, end) for _ in range(20)]
    for cycle, (t_ps, u_ps) in zip(cycles, times(base, "A", "link", cycles), strict=True):
        error_ps = t_ps + origin - link.begin_s(cycle) * 10**12
        assert abs(error_ps) <= u_ps
        if armed < 5_000:  # 0.2 s: too short for the clocks to drift apart
            assert u_ps < 30_000


@given(ppm=st.integers(-100, 100), phase_ps=st.integers(0, 40_000_000), which=st.booleans())
def test_one_pair_gives_the_offset_and_the_nominal_rate_gives_the_rest(
    ppm: int, phase_ps: int, which: bool
) -> None:
    link = Clock(LINK_HZ, ppm, Fraction(phase_ps, 10**12))
    pair = (7, link.latches(7))
    pairs = (pair, None) if which else (pair, pair)
    base = TimeBase.from_devices([device(0, master=True, link=pairs)])
    assert base.clocks["A", "link"].relation == "one pair"
    assert any("A.link: saw one usable toggle" in note for note in base.notes)
    cycles = [pair[1] - 3_000, pair[1], pair[1] + 100_000]
    found = times(base, "A", "link", cycles)
    for cycle, (t_ps, u_ps) in zip(cycles, found, strict=True):
        assert abs(t_ps - link.begin_s(cycle) * 10**12) <= u_ps
    assert found[1][1] < 7_000
    # 100,000 cycles are 1.28 ms, and two clocks of 100 ppm each may differ by 256 ns in that time.
    assert 256_000 <= found[2][1] <= 270_000


@given(ppm=st.integers(-1000, 1000))
def test_a_card_that_says_its_crystals_are_worse_has_times_that_are_less_sure(ppm: int) -> None:
    found = card_of_map()
    worse = parse_card(FORTH.read_text().replace("ppm = 100\n", "ppm = 1000\n"))
    link = Clock(LINK_HZ, ppm, Fraction(0))
    pair = (7, link.latches(7))
    one = replace(
        device(0, master=True, link=(pair, None)), found=found._replace(card=elaborate(worse))
    )
    base = TimeBase.from_devices([one])
    cycle = pair[1] + 100_000
    ((t_ps, u_ps),) = times(base, "A", "link", [cycle])
    assert abs(t_ps - link.begin_s(cycle) * 10**12) <= u_ps
    assert 2_560_000 <= u_ps <= 2_600_000
    assert "within 2000 ppm of the master's" in base.notes[0]


def test_a_domain_without_a_pair_has_its_own_nominal_time_of_unknown_relation() -> None:
    base = TimeBase.from_devices([device(0, master=True), device(1)])
    assert times(base, "B", "link", [1000]) == [(12_800_000, UNKNOWN_PS)]
    assert base.clocks["B", "bus"].relation == "none"
    assert any("B.link: saw no toggle" in note for note in base.notes)


def test_without_the_master_the_other_device_still_has_one_axis() -> None:
    # B alone: bus latches toggle 5 at 20,502 and 9 at 36,886; link at 16,002 and 28,802.
    b = device(1, bus=((5, 20_502), (9, 36_886)), link=((5, 16_002), (9, 28_802)))
    base = TimeBase.from_devices([b])
    assert any("the time master is not in the capture" in note for note in base.notes)
    assert times(base, "B", "bus", [20_502])[0][0] == 5 * 40_960_000 + 25_000
    assert times(base, "B", "link", [16_002])[0][0] == 5 * 40_960_000 + 32_000


def test_the_bus_domain_of_the_other_device_is_related_by_its_own_pairs() -> None:
    a = device(0, master=True, bus=((1, 4096), (3, 12_288)))
    b = device(1, bus=((1, 1_004_098), (3, 1_012_290)))
    base = TimeBase.from_devices([a, b])
    ((t_ps, u_ps),) = times(base, "B", "bus", [1_004_098])
    assert t_ps == 40_960_000 + 25_000
    assert 5_000 <= u_ps < 5_100


def test_a_toggle_number_that_wrapped_is_told_from_the_masters_counter() -> None:
    # 2^32 toggles are 48.9 hours; the recorder was armed before the wrap and froze after it.
    first, last = (1 << 32) - 2, (1 << 32) + 3
    a = device(
        0,
        master=True,
        bus=((first, first * PERIOD), (last, last * PERIOD)),
        link=((first, 3_003), (last, 19_003)),
    )
    base = TimeBase.from_devices([a])
    assert base.clocks["A", "link"].rate_ppb == 0
    assert base.instant_ps("A", "link", 19_003) == last * 40_960_000 + 32_000


def test_an_arm_that_lasted_over_a_whole_wrap_is_told_from_the_own_counter() -> None:
    first, last = 100, 100 + (1 << 32) + 7
    cycles = (last - first) * 3_200
    a = device(
        0,
        master=True,
        bus=((first, first * PERIOD), (last, last * PERIOD)),
        link=((first, 3_003), (last, 3_003 + cycles)),
    )
    base = TimeBase.from_devices([a])
    assert base.clocks["A", "link"].rate_ppb == 0


def test_times_start_at_the_earliest_record() -> None:
    a = device(0, master=True, link=((1, 4203), (9, 29803)))
    base = TimeBase.from_devices([a])
    moved = base.starting_at([("A", "bus", 5_000), ("A", "link", 4_303), ("A", "bus", 4_999)])
    # Own cycle 4303 of the link is 100 - (-2.5) cycles of 12.8 ns after 40.96 us: 42.272 us.
    assert moved.origin_ps == 40_960_000 + 1_312_000
    assert times(moved, "A", "link", [4_303]) == [(0, times(base, "A", "link", [4_303])[0][1])]
    assert times(moved, "A", "bus", [5_000])[0][0] == 50_000_000 - 42_272_000
    assert base.starting_at([]).origin_ps == 0


def test_a_counter_that_has_run_for_years_does_not_overflow() -> None:
    year = 365 * 86_400 * BUS_HZ * 10
    number = year // PERIOD
    cycle = number * PERIOD
    a = device(0, master=True, bus=((number, cycle), (number, cycle)), freeze_cycle=cycle + 9)
    base = TimeBase.from_devices([a]).starting_at([("A", "bus", cycle)])
    assert times(base, "A", "bus", [cycle, cycle + 1, cycle - 1]) == [
        (0, 0),
        (10_000, 0),
        (-10_000, 0),
    ]


def test_a_cycle_that_no_int64_can_date_is_marked_and_raises_nothing() -> None:
    a = device(0, master=True, link=((1, 4203), (9, 29803)))
    base = TimeBase.from_devices([a])
    far = [(1 << 63) - 1, -(1 << 63)]
    for domain in ("bus", "link"):
        found = times(base, "A", domain, [*far, 5_000])
        assert [u == UNKNOWN_PS for _, u in found] == [True, True, False]
        assert found[0][0] > 1 << 61
        assert found[1][0] < -(1 << 61)


@pytest.mark.parametrize(
    ("first", "last"),
    [((1, 1), (0xFFFFFFFF, 2)), ((1, 3_200), (90, 6_400))],
    ids=["4 billion toggles in a cycle", "89 toggles in the time of one"],
)
def test_pairs_that_no_oscillator_gives_are_stated_and_the_last_is_used(
    first: Pair, last: Pair
) -> None:
    base = TimeBase.from_devices([device(0, master=True, link=(first, last))])
    assert any("A.link: its two time pairs" in n and "only the last" in n for n in base.notes)
    assert base.clocks["A", "link"].relation == "one pair"
    t_ps, _ = base.times_ps("A", "link", np.array([0, 1 << 47], np.int64))
    assert t_ps[1] > t_ps[0]


def test_pairs_that_contradict_each_other_are_stated_and_the_last_is_used() -> None:
    a = device(0, master=True, bus=((5, 5 * PERIOD), (9, 9 * PERIOD)), link=((5, 900), (9, 800)))
    base = TimeBase.from_devices([a])
    assert base.clocks["A", "link"].relation == "one pair"
    assert any("A.link: its two time pairs contradict each other" in n for n in base.notes)


def test_a_clock_far_off_its_nominal_rate_is_stated() -> None:
    link = Clock(LINK_HZ, 700, Fraction(0))
    pairs = ((10, link.latches(10)), (5_000, link.latches(5_000)))
    base = TimeBase.from_devices([device(0, master=True, link=pairs)])
    assert "A.link: runs +700 ppm off its nominal clock by the time line" in base.notes


def test_two_masters_are_stated() -> None:
    base = TimeBase.from_devices([device(0, master=True), device(1, master=True)])
    assert "A and B both say they are the time master; A is taken" in base.notes


def test_a_clock_of_zero_is_refused() -> None:
    a = device(0, master=True)
    broken = replace(a, identity=replace(a.identity, clk_link=0))
    with pytest.raises(CaptureFormatError, match=r"A\.link: the device states a clock of 0 Hz"):
        TimeBase.from_devices([broken])
    broken = replace(a, identity=replace(a.identity, clk_bus=0))
    with pytest.raises(CaptureFormatError, match="device A: states a bus clock of 0 Hz"):
        TimeBase.from_devices([broken])
    with pytest.raises(ValueError, match="at least one device"):
        TimeBase.from_devices([])


def test_a_pair_register_that_cannot_be_right_is_not_used() -> None:
    base = TimeBase.from_devices([device(0, master=True, link=((1, (1 << 63) + 5), None))])
    assert base.clocks["A", "link"].relation == "none"
