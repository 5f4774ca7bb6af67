"""Levels, ramps and silences of a rate."""

from __future__ import annotations

import numpy as np

from freezeframe.analyzers.throughput.shape import levels, ramps, silences


def noisy(*parts: tuple[int, float], sigma: float = 5.0, seed: int = 1) -> np.ndarray:
    generator = np.random.default_rng(seed)
    mean = np.concatenate([np.full(n, value) for n, value in parts])
    return mean + generator.normal(0, sigma, len(mean))


def test_a_steady_rate_is_one_level_whatever_its_noise() -> None:
    for seed in range(200):
        assert len(levels(noisy((300, 400.0), sigma=30, seed=seed))) == 1, seed


def test_a_step_parts_two_levels_where_it_is() -> None:
    found = levels(noisy((60, 500.0), (40, 200.0)))
    assert [(level.start, level.end) for level in found] == [(0, 60), (60, 100)]
    assert abs(found[0].mean - 500) < 3
    assert abs(found[1].mean - 200) < 3
    assert ramps(found) == []


def test_a_climb_over_many_levels_is_a_ramp_and_a_step_is_none() -> None:
    rate = np.concatenate([np.zeros(50), np.linspace(0, 500, 60), np.full(50, 500.0)])
    generator = np.random.default_rng(3)
    found = ramps(levels(rate + generator.normal(0, 3, len(rate))))
    assert len(found) == 1
    assert found[0].rises
    assert found[0].high - found[0].low > 400
    falling = ramps(levels((rate + generator.normal(0, 3, len(rate)))[::-1]))
    assert [ramp.rises for ramp in falling] == [False]


def test_nothing_and_one_value_have_no_change() -> None:
    assert levels(np.empty(0)) == []
    (one,) = levels(np.array([7.0]))
    assert (one.start, one.end, one.mean) == (0, 1, 7.0)
    assert len(levels(np.full(500, 3.0))) == 1


def test_a_silence_is_as_long_as_asked_and_ends_where_words_are_not_known() -> None:
    words = np.array([0, 0, 5, 0, 0, 0, -1, 0, 0, 0, 0], np.int64)
    assert silences(words, 3) == [(3, 6), (7, 11)]
    assert silences(words, 2) == [(0, 2), (3, 6), (7, 11)]
    assert silences(np.empty(0, np.int64), 1) == []
