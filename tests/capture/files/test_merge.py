"""Two captures on one time base: placed as given, and offset and drift found again."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges, join
from freezeframe.capture.files.merge import Alignment, estimate, merge
from tests.capture.files.test_vcd import pairs

US = 1_000_000


def capture(
    found: list[tuple[int, int]],
    end: int,
    channels: tuple[str, ...] = ("A",),
    rate_hz: int = 1_000_000,
) -> Edges:
    return Edges(
        np.array([sample for sample, _ in found], dtype=np.int64),
        np.array([value for _, value in found], dtype=np.uint64),
        channels,
        rate_hz,
        0,
        end,
    )


def pieces(edges: Edges, *ends: int) -> list[Edges]:
    cuts = [0, *ends, edges.end_sample]
    return [
        Edges(
            edges.sample[(edges.sample >= low) & (edges.sample < high)],
            edges.value[(edges.sample >= low) & (edges.sample < high)],
            edges.channels,
            edges.samplerate_hz,
            low,
            high,
        )
        for low, high in pairwise(cuts)
    ]


FIRST = capture([(0, 0), (10, 1), (20, 0), (50, 1)], 60)
SECOND = capture([(0, 1), (4, 0), (30, 1)], 40)


@pytest.mark.parametrize("cuts", [(), (1,), (12, 13), (5, 20, 33)])
def test_the_second_is_shifted_and_holds_its_ends(cuts: tuple[int, ...]) -> None:
    placed = Alignment(15 * US)
    found = join(list(merge(pieces(FIRST, *cuts), pieces(SECOND, *cuts), placed)))
    assert found.channels == ("A", "2.A")
    assert pairs(found) == [
        (0, 0b10),
        (10, 0b11),
        (19, 0b01),
        (20, 0b00),
        (45, 0b10),
        (50, 0b11),
    ]
    assert (found.begin_sample, found.end_sample) == (0, 60)


def test_what_lies_before_the_first_is_cut_to_its_last_value() -> None:
    found = join(list(merge([FIRST], pieces(SECOND, 2, 9), Alignment(-10 * US))))
    assert pairs(found) == [(0, 0b00), (10, 0b01), (20, 0b10), (50, 0b11)]


def test_rates_and_drift_are_exact() -> None:
    second = capture([(0, 0), (1_000_000, 1)], 2_000_000, ("B",), 3_000_000)
    first = capture([(0, 0)], 1_000_000, ("A",), 1_000_000)
    found = join(list(merge([first], [second], Alignment(0, Fraction(30)))))
    # A million samples of 1/3 us, each longer by 30 ppm: 333,343.33 us.
    assert pairs(found) == [(0, 0), (333_343, 2)]


@pytest.mark.parametrize(
    ("offset_ps", "at"), [(0, 500), (41_000, 500), (-41_000, 500), (42_000, 501)]
)
def test_a_change_stands_at_the_nearest_sample_of_the_first(offset_ps: int, at: int) -> None:
    # Sample 500 at 12 MHz, in a file that has whole picoseconds: 41,666,666.67 ps, rounded down.
    second = capture([(0, 0), (41_666_666, 1)], 200_000_000, ("B",), 10**12)
    first = capture([(0, 0), (500, 1)], 1000, ("A",), 12_000_000)
    found = join(list(merge([first], pieces(second, 41_666_000, 41_666_666), Alignment(offset_ps))))
    assert pairs(found.select(["B"])) == [(0, 0), (at, 1)]


@pytest.mark.parametrize("offset", [60 * US, -40 * US])
def test_captures_that_do_not_overlap_are_refused(offset: int) -> None:
    with pytest.raises(InputError, match="they do not overlap"):
        list(merge([FIRST], [SECOND], Alignment(offset)))


def test_no_more_than_64_channels_fit() -> None:
    many = capture([(0, 0)], 60, tuple(map(str, range(64))))
    with pytest.raises(InputError, match="1 and 64 channels; at most 64 together"):
        list(merge([FIRST], [many], Alignment(0)))


@pytest.mark.parametrize("drift_ppm", [0, 80, -250])
def test_offset_and_drift_are_found_from_a_shared_signal(drift_ppm: int) -> None:
    rng = np.random.default_rng(3)
    # Times of a signal with uneven gaps, seen by two analyzers; the second begins later.
    times_us = np.cumsum(rng.integers(20, 900, 400))
    begin_us = 50_000.0
    second_us = (times_us - begin_us) / (1 + drift_ppm / 1e6)
    inside = second_us > 0
    level = np.arange(1, len(times_us) + 1) & 1

    def seen(time_us: np.ndarray, levels: np.ndarray, rate_hz: int) -> Edges:
        sample = np.rint(time_us * rate_hz / 1e6).astype(np.int64)
        first = (0, int(levels[0]) ^ 1)
        found = [first, *zip(sample.tolist(), levels.tolist(), strict=True)]
        return capture(found, int(sample[-1]) + 10, ("sync",), rate_hz)

    ours = seen(times_us, level, 10_000_000)
    theirs = seen(second_us[inside], level[inside], 25_000_000)
    found = estimate(ours, theirs, "sync")
    assert found.offset_ps == pytest.approx(begin_us * US, abs=100_000)
    assert float(found.drift_ppm) == pytest.approx(drift_ppm, abs=2)
    assert found.shared == int(inside.sum())
    assert found.worst_ps <= 200_000
    merged = join(list(merge([ours], [theirs], found)))
    both = merged.select(["sync", "2.sync"])
    # Where both are there, they differ for a sample or two at an edge, and nowhere else.
    apart = (both.value == 1) | (both.value == 2)
    after = both.sample > 50_010 * 10
    lasts = np.diff(both.sample, append=both.end_sample)
    assert lasts[apart & after].max(initial=0) <= 3


def test_a_clock_and_a_signal_nobody_shares_are_refused() -> None:
    clock = capture([(at * 5, at & 1) for at in range(100)], 500)
    with pytest.raises(InputError, match=r"A repeats: \d+ offsets fit"):
        estimate(clock, clock, "A")
    with pytest.raises(InputError, match="give the offset"):
        estimate(FIRST, SECOND, "A")
    with pytest.raises(InputError, match="no channel X; there is A"):
        estimate(FIRST, SECOND, "X")
    with pytest.raises(InputError, match="a capture has no sample"):
        list(merge([], [SECOND], Alignment(0)))


def test_time_stamps_in_coarse_steps_are_laid_over_each_other_within_a_step() -> None:
    """A table dates its rows to 1 us, another to 0.4 us; both are read as exact to 1 ps."""
    t_ps = np.cumsum(np.random.default_rng(4).integers(20 * US, 90 * US, 40))
    offset_ps = 37 * US
    both = []
    for begin_ps, step_ps in ((0, US), (offset_ps, 2 * US // 5)):
        seen = (t_ps - begin_ps) // step_ps * step_ps
        found = [(0, 0), *((int(at), 1 - number % 2) for number, at in enumerate(seen[2:]))]
        both.append(capture(found, int(seen[-1]) + US, rate_hz=10**12))
    placed = estimate(both[0], both[1], "A")
    assert abs(placed.offset_ps - offset_ps) <= placed.offset_unc_ps <= 2 * US
    assert placed.shared == 38


def test_an_offset_beyond_what_can_be_counted_is_refused() -> None:
    with pytest.raises(InputError, match="more than the 9,223,372,036,854,775,807"):
        list(merge([FIRST], [SECOND], Alignment(10**27)))


@pytest.mark.parametrize("cuts", [(), (1,), (12, 13), (5, 20, 33)])
@pytest.mark.parametrize(
    ("offset_us", "said"),
    [
        (15, ""),  # 15..55 of 0..60
        (20, ""),  # to the first's end exactly
        (-3, "begins 3 us before the first"),
        (25, "goes on after the end of the first"),
    ],
)
def test_what_of_the_second_lies_outside_the_first_is_said(
    cuts: tuple[int, ...], offset_us: int, said: str
) -> None:
    notes: list[str] = []
    join(
        list(
            merge(
                pieces(FIRST, *cuts), pieces(SECOND, *cuts), Alignment(offset_us * US), notes.append
            )
        )
    )
    if said:
        assert notes == [
            f"merge: the second capture {said}; what lies outside the first is left out"
        ]
    else:
        assert notes == []
