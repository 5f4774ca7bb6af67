"""Cycle numbers, crossings, and counts that know when each word happened."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freezeframe.emulator.clocks import Clock
from freezeframe.emulator.tally import Tally


@given(
    st.sampled_from((100_000_000, 78_125_000, 156_250_000, 33_333_333)),
    st.integers(-100_000, 100_000),
    st.integers(0, 10**10),
    st.integers(0, 10**12),
)
def test_a_cycle_begins_at_its_edge_and_the_one_before_ends_there(
    hz: int, ppb: int, phase_fs: int, cycle: int
) -> None:
    clock = Clock("x", hz, ppb, phase_fs)
    edge = clock.edge_ps(cycle)
    assert clock.cycle_at(edge) == cycle
    assert clock.cycle_at(edge - 1) == cycle - 1


def test_nominal_periods_are_exact() -> None:
    assert Clock("bus", 100_000_000).edge_ps(7) == 70_000
    assert Clock("link", 78_125_000).edge_ps(10**9) == 12_800 * 10**9


def test_100_ppm_are_100_cycles_in_a_million() -> None:
    fast = Clock("x", 100_000_000, ppb=100_000)
    assert fast.cycle_at(10_000 * 1_000_000) == pytest.approx(1_000_100, abs=1)


@given(st.integers(0, 10**9), st.integers(0, 12_800_000))
def test_a_change_is_seen_two_to_three_own_cycles_later(t_ps: int, phase_fs: int) -> None:
    clock = Clock("x", 78_125_000, 0, phase_fs)
    late_fs = clock.phase_fs + clock.crossed(t_ps) * clock.period_fs - t_ps * 1000
    rounding_fs = 1000  # times are whole picoseconds
    assert 2 * clock.period_fs - rounding_fs < late_fs < 3 * clock.period_fs + rounding_fs


def test_a_tally_counts_to_the_word_within_a_run() -> None:
    tally = Tally()
    tally.add(10, 5)
    tally.add(20, 1)
    assert [tally.at(c) for c in (9, 10, 12, 14, 19, 20, 99)] == [0, 1, 3, 5, 5, 6, 6]


def test_a_cut_takes_back_what_was_to_come() -> None:
    tally = Tally()
    tally.add(10, 5)
    tally.add(20, 3)
    tally.cut(11)
    assert (tally.entered, tally.at(100)) == (2, 2)


def test_when_a_word_happens_is_known_once_it_is_entered() -> None:
    tally = Tally()
    tally.add(10, 5)
    tally.add(20, 3)
    assert [tally.when(n) for n in (1, 5, 6, 8, 9)] == [10, 14, 20, 22, None]
    assert tally.at(14) == 5
    assert tally.when(2) == -1  # over: the run is no longer kept
