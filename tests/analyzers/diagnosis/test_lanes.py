"""Halves of words on the two lanes: lag after a repeat, and a shifted byte phase."""

from __future__ import annotations

import numpy as np
import pytest

from freezeframe.analyzers.diagnosis.lanes import (
    Mode,
    find_lag,
    find_phase,
    join,
    phases_of,
    share_name,
    shares,
    shift_phase,
    unshift_phase,
)
from tests.analyzers.bench_pair import Pair
from tests.analyzers.conftest import Explain

U32 = np.ndarray[tuple[int], np.dtype[np.uint32]]


def lane(*values: int) -> U32:
    return np.array(values, np.uint32)


def joined(n: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.array([i > 0 for i in range(n)])


def random_lane(n: int, seed: int = 5) -> U32:
    return np.random.default_rng(seed).integers(0, 1 << 32, n, dtype=np.uint32)


def test_lane_0_carries_the_even_bytes_first_byte_least_significant() -> None:
    words = np.array([0x0706050403020100], np.uint64)
    assert shares(words, 0, 2).tolist() == [0x06040200]
    assert shares(words, 1, 2).tolist() == [0x07050301]
    assert join([shares(words, lane, 2) for lane in (0, 1)]).tolist() == words.tolist()


def test_of_four_lanes_each_carries_every_fourth_byte() -> None:
    words = np.array([0x0706050403020100, 0x1716151413121110], np.uint64)
    assert shares(words, 0, 4).tolist() == [0x0400, 0x1410]
    assert shares(words, 3, 4).tolist() == [0x0703, 0x1713]
    assert join([shares(words, lane, 4) for lane in range(4)]).tolist() == words.tolist()
    assert share_name(2) == "32-bit half"
    assert share_name(4) == "16-bit share"


def test_two_bytes_early_on_a_lane_of_four_is_a_slip_by_a_whole_word() -> None:
    up = np.array([0x2211, 0x4433, 0x6655, 0x8877], np.uint16)
    shifted, known = shift_phase(up, joined(4), "early", 2)
    assert shifted[:3].tolist() == [0x4433, 0x6655, 0x8877]
    assert known.tolist() == [0xFFFF, 0xFFFF, 0xFFFF, 0]
    assert shift_phase(up, joined(4), "early", 3)[0][:2].tolist() == [0x5544, 0x7766]
    assert shift_phase(up, joined(4), "late", 3)[1].tolist() == [0, 0xFF00, 0xFFFF, 0xFFFF]


def test_a_byte_that_three_words_do_not_join_is_not_known() -> None:
    up = np.array([0x2211, 0x4433, 0x6655], np.uint16)
    apart = np.array([False, False, True])
    assert shift_phase(up, apart, "early", 2)[1].tolist() == [0, 0xFFFF, 0]


@pytest.mark.parametrize(("mode", "k"), phases_of(4))
def test_every_wrong_phase_of_a_lane_of_four_is_found_and_undone(mode: Mode, k: int) -> None:
    up = np.random.default_rng(3).integers(0, 1 << 16, 40, dtype=np.uint16)
    wrong, _ = shift_phase(up, joined(40), mode, k)
    phase = find_phase(up[:-2], np.concatenate([up[:9], wrong[9:-2]]), joined(38))
    assert phase is not None
    assert (phase.start, phase.mode, phase.shift) == (9, mode, k)
    assert unshift_phase(wrong, mode, k)[2:-2].tolist() == up[2:-2].tolist()


def test_a_half_that_repeats_and_lags_until_realignment_is_a_lag() -> None:
    up = lane(10, 11, 12, 13, 14, 15, 16)
    down = lane(10, 11, 11, 12, 13, 15, 16)
    lag = find_lag(up, down, joined(7))
    assert lag is not None
    assert (lag.start, lag.end, lag.first, lag.repeats) == (2, 5, 2, 1)


def test_a_lane_that_underflows_twice_lags_by_two() -> None:
    up = lane(10, 11, 12, 13, 14, 15)
    down = lane(10, 10, 11, 11, 12, 13)
    lag = find_lag(up, down, joined(6))
    assert lag is not None
    assert (lag.start, lag.repeats) == (1, 2)


def test_a_repeat_of_equal_halves_may_have_begun_earlier() -> None:
    up = lane(10, 11, 11, 11, 12, 13)
    down = lane(10, 11, 11, 11, 11, 12)
    lag = find_lag(up, down, joined(6))
    assert lag is not None
    assert (lag.start, lag.first) == (4, 2)


def test_an_altered_half_is_no_lag() -> None:
    up = lane(10, 11, 12, 13)
    assert find_lag(up, lane(10, 11, 99, 13), joined(4)) is None


def test_a_lag_that_something_else_follows_explains_nothing() -> None:
    up = lane(10, 11, 12, 13, 14, 15)
    assert find_lag(up, lane(10, 11, 11, 12, 77, 15), joined(6)) is None


def test_words_that_were_not_recorded_lend_no_half() -> None:
    up = lane(10, 11, 12, 13)
    apart = np.array([False, True, False, True])
    assert find_lag(up, lane(10, 11, 11, 12), apart) is None


@pytest.mark.parametrize(("mode", "k"), phases_of(2))
def test_a_shifted_phase_is_found_from_its_first_word(mode: Mode, k: int) -> None:
    up = random_lane(40)
    wrong, _ = shift_phase(up, joined(40), mode, k)
    down = np.concatenate([up[:17], wrong[17:]])
    phase = find_phase(up[:-1], down[:-1], joined(39))
    assert phase is not None
    assert (phase.start, phase.first, phase.mode, phase.shift) == (17, 17, mode, k)


def test_bytes_rotate_within_the_half() -> None:
    shifted, known = shift_phase(lane(0x44332211), joined(1), "rotated", 1)
    assert (shifted.tolist(), known.tolist()) == ([0x33221144], [0xFFFFFFFF])


def test_late_bytes_come_from_the_half_before() -> None:
    shifted, known = shift_phase(lane(0x44332211, 0x88776655), joined(2), "late", 1)
    assert shifted.tolist()[1] == 0x77665544
    assert known.tolist() == [0xFFFFFF00, 0xFFFFFFFF]


@pytest.mark.parametrize(("mode", "k"), phases_of(2))
def test_undoing_a_phase_gives_what_was_sent_but_at_one_end(mode: Mode, k: int) -> None:
    up = random_lane(12)
    wrong, _ = shift_phase(up, joined(12), mode, k)
    assert unshift_phase(wrong, mode, k)[1:-1].tolist() == up[1:-1].tolist()


def test_damage_that_ends_is_no_phase() -> None:
    up = random_lane(30)
    wrong, _ = shift_phase(up, joined(30), "rotated", 2)
    down = np.concatenate([up[:5], wrong[5:20], up[20:]])
    assert find_phase(up, down, joined(30)) is None


def test_a_lane_that_slips_in_the_last_word_recorded_is_among_what_may_have_been(
    explained: Explain,
) -> None:
    """Three bytes early on lane 0 (faults.md, lane-misaligned): one byte of the tail is as sent."""
    pair = Pair(causes={"A": ["host"], "B": ["pay-crc"]})
    last = pair.traffic(8)[-1]
    kind, tail = last.rx_enq[-1]
    slipped = tail & 0xFF00FF00FF00FF00 | tail >> 48 & 0xFF | 0x00BC00BC00BC0000
    last.rx_enq[-1] = (kind, slipped)
    last.rx_deq[-1] = (kind, slipped)
    (finding, *_) = explained(pair).findings
    assert (finding.diagnosis, finding.tap) == ("undetermined", "rx_enq")
    assert finding.candidates == ("lane-misaligned", "payload-bit-flip")
