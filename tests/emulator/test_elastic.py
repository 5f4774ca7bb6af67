"""The synchronization FIFO between two clocks: every column by a slow model of its own, and what no run can beat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from freezeframe.capture.errors import InputError
from freezeframe.emulator.elastic import End, foretold, run_point, sure_us
from freezeframe.emulator.elastic_kernels import (
    COLUMN,
    COLUMNS,
    CORRECTED,
    FIRST,
    GROUPS,
    HIGHEST,
    LOWEST,
    SLIPS,
    run_fifo,
)
from freezeframe.emulator.profile import load_profile
from tests.emulator.reading import evidence, truth

FORTH = load_profile("forth")
MASK = (1 << 64) - 1


def _lengths(longest: int, seed: int) -> Iterator[int]:
    """Yield packet lengths 4 to ``longest``: splitmix64, as its authors print it."""
    state = seed
    while True:
        state = state + 0x9E3779B97F4A7C15 & MASK
        z = state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        yield 4 + (z ^ z >> 31) % (longest - 3)


def slow(
    drift: int, every: int, longest: int, gap: int, below: int, above: int, most: int, seed: int
) -> dict[str, int]:
    """Go through the columns one by one: what is sent in each, and what that does to the level."""
    lengths = _lengths(longest, seed)
    kinds: list[str] = []
    since = 0
    while len(kinds) < most:
        words = next(lengths)
        kinds += ["word"] * words
        since += words
        if every and since >= every:
            kinds += ["align", "skip", "correct"]
            since = 0
        else:
            kinds += ["idle"] * gap
            since += gap
    level = first = slips = corrected = groups = 0
    first = -1
    for number, kind in enumerate(kinds[:most], 1):
        level += drift
        if level > above or level < -below:
            first = number if first < 0 else first
            slips += 1
            level += -COLUMN if level > above else COLUMN
        if kind == "correct" and number < most:
            groups += 1
            if abs(level) >= COLUMN:
                level -= COLUMN if level > 0 else -COLUMN
                corrected += 1
    return {
        "first": first,
        "slips": slips,
        "corrected": corrected,
        "groups": groups,
        "level": level,
    }


def fast(*arguments: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    numbers: Any = [np.int64(argument) for argument in arguments]
    return run_fifo(*numbers)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("every", [0, 100, 1024, 5000])
@pytest.mark.parametrize("ppm", [-1000, -200, 50, 400, 20_000])
@pytest.mark.parametrize(("below", "above"), [(4, 4), (2, 1), (8, 0)])
def test_a_run_by_groups_is_the_run_by_columns(
    seed: int, every: int, ppm: int, below: int, above: int
) -> None:
    arguments = (ppm * 1000, every, 515, 1, below * COLUMN, above * COLUMN, 40_000, seed)
    told, want = fast(*arguments), slow(*arguments)
    got = {
        "first": told[FIRST],
        "slips": told[SLIPS],
        "corrected": told[CORRECTED],
        "groups": told[GROUPS],
    }
    assert got == {name: want[name] for name in got}
    assert told[COLUMNS] == 40_000
    # Conservation: what the clocks added is in the level, was corrected, or slipped.
    sign = 1 if ppm > 0 else -1
    moved = told[SLIPS] + told[CORRECTED]
    assert want["level"] == ppm * 1000 * 40_000 - sign * moved * COLUMN
    assert told[HIGHEST] <= above * COLUMN and told[LOWEST] >= -below * COLUMN


@pytest.mark.parametrize("seed", range(5))
def test_no_run_slips_before_the_clocks_have_moved_the_whole_margin(seed: int) -> None:
    draw = np.random.default_rng(seed)
    for _ in range(40):
        settings = {
            "idle_every": int(draw.integers(0, 20_000)), "ppm": int(draw.integers(1, 2_000)),
            "fill": int(draw.integers(2, 64)), "skew": int(draw.integers(0, 3)), "run_us": 20_000,
            "seed": seed,
        }  # fmt: skip
        point = run_point(FORTH, settings)
        for end in (point.empty, point.full):
            assert end.earliest_us is not None
            if end.first_us is not None:
                assert end.first_us >= end.earliest_us - 1e-9
            if end.verdict == "holds":
                assert end.slips == 0
        if sure_us(point) is None:
            assert point.verdict == "holds"


def test_without_idles_it_slips_exactly_when_the_margin_is_used_up() -> None:
    point = run_point(FORTH, {"idle_every": 0, "ppm": 200, "fill": 4})
    assert point.verdict == "both"
    column_us = 1e6 / 78_125_000
    assert point.full.first_us == pytest.approx(
        20_001 * column_us
    )  # 4 columns at 200 ppm, and the one that is over
    assert point.full.slips == point.empty.slips == (78_125_000 * 200_000 - 4 * COLUMN) // COLUMN


def test_the_margin_above_is_less_by_the_skew_of_the_lanes() -> None:
    point = run_point(FORTH, {"idle_every": 0, "ppm": 100, "fill": 4, "skew": 3})
    assert point.empty.earliest_us == pytest.approx(512)
    assert point.full.earliest_us == pytest.approx(128)


@pytest.mark.parametrize(
    ("drift", "every", "margin", "verdict"),
    [
        (0, 0, 4, "holds"),
        (200_000, 0, 4, "slips"),
        (200_000, 1024, 4, "holds"),
        (
            200_000,
            1024,
            1,
            "",
        ),  # a column and a distance's drift do not fit, which a phase may never need
        (
            200_000,
            4_700,
            4,
            "",
        ),  # 4,703 columns at least, 5,218 at most: 5,000 of them make a column
        (200_000, 4_998, 4, "slips"),
    ],
)
def test_what_follows_from_the_numbers_alone(
    drift: int, every: int, margin: int, verdict: str
) -> None:
    assert foretold(drift, every, 515, 1, margin) == verdict


def test_it_slips_as_often_as_the_pair_whose_clocks_drift() -> None:
    a, _ = evidence("clock-drift", 0, "light")
    every = truth(a)["detail"]["every_cycles"]
    slow_fs, fast_fs = sorted(nic.link.period_fs for nic in a.target.pair.nics)
    ppm = round((fast_fs - slow_fs) / slow_fs * 1e6)
    point = run_point(FORTH, {"idle_every": 0, "ppm": ppm})
    assert 78_125_000 / point.full.slips == pytest.approx(every, rel=0.01)


def test_the_same_seed_is_the_same_run_and_another_one_another() -> None:
    def end(seed: int) -> End:
        return run_point(FORTH, {"idle_every": 4_800, "ppm": 205, "seed": seed}).full

    assert end(1) == end(1)
    assert end(1) != end(2)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"idles": 3}, "idles: the map of lanes has idle_every, ppm, fill, skew, run_us, seed"),
        ({"ppm": -1}, "ppm = -1; it must be a whole number 0..100000"),
        ({"fill": 2.5}, "fill = 2.5; it must be a whole number 1..1024"),
        ({"fill": True}, "fill = True; it must be a whole number"),
        ({"fill": 2, "skew": 3}, "skew = 3 is more than fill = 2: the FIFO of the earliest lane"),
    ],
)  # fmt: skip
def test_a_wrong_setting_is_named_with_what_is_allowed(
    settings: dict[str, object], says: str
) -> None:
    with pytest.raises(InputError) as refused:
        run_point(FORTH, settings)
    assert says in str(refused.value)
