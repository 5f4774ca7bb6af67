"""The CIM 250 of END: period of a message against an independent simulation, the exact bound, what each change buys."""

from __future__ import annotations

import math

import pytest

from freezeframe.emulator.adapter.outcome import Outcome, run_adapter
from freezeframe.emulator.adapter.reading import load_adapter
from freezeframe.emulator.adapter.what_if import sweep, worths

SIZES = (64, 256, 1024, 2048, 4096, 16384, 65536)


def run(name: str, size_B: int, depth: int) -> Outcome:
    return run_adapter(load_adapter(name, {"size_B": size_B, "depth": depth}))


def period_us(outcome: Outcome) -> float:
    """Return the time of a message once the pipeline is full: between the last message and that of half the run."""
    done = outcome.world.messages["done"]
    half = len(done) // 2
    return float(done[-1] - done[half - 1]) / (len(done) - half) / 1e6


def times_us(size_B: int) -> tuple[float, float]:
    """Return T_D and T_F by END's equations (3) and (1), written down here once more."""
    t_d = math.ceil(size_B / 256) * 1.76 + min(size_B, 4096) * 0.42 + max(0, size_B - 4096) * 0.31
    return t_d, 1350 + math.ceil(size_B / 2048) * 79.75


# Computed by another discrete simulation of the same tandem; its periods are rounded to microseconds.
@pytest.mark.parametrize(
    ("name", "depth", "periods"),
    [
        ("cim250", 1, (2738, 2819, 3147, 3584, 4538, 8910, 26399)),
        ("cim250", 2, (1458, 1539, 1867, 2282, 2808, 7180, 24669)),
        ("cim250-dual", 2, (1430, 1430, 1573, 1791, 2267, 5642, 21217)),
    ],
)
def test_the_period_is_that_of_an_independent_simulation(
    name: str, depth: int, periods: tuple[int, ...]
) -> None:
    found = [period_us(run(name, size, depth)) for size in SIZES]
    assert found == pytest.approx(periods, rel=0.002)


@pytest.mark.parametrize("size_B", SIZES)
def test_at_depth_1_the_period_is_equation_2_and_nothing_depends_on_banks(size_B: int) -> None:
    t_d, t_f = times_us(size_B)
    for name in ("cim250", "cim250-dual"):
        assert period_us(run(name, size_B, 1)) == pytest.approx(1280 + t_d + t_f, rel=1e-6)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["cim250", "cim250-fast", "cim250-dual", "cim250-both"])
def test_the_closed_bound_is_never_beaten_and_met_within_1_per_cent_where_it_is_tight(
    name: str, depth: int
) -> None:
    dual = name in ("cim250-dual", "cim250-both")
    host_us = 923 if name in ("cim250-fast", "cim250-both") else 1280
    for size in SIZES:
        t_d, t_f = times_us(size)
        bus = 0.0 if dual else t_d + t_f - 1350 / 3
        bound = max((host_us + t_d + t_f) / depth, host_us, t_d, t_f, bus)
        outcome = run(name, size, depth)
        assert outcome.bounds[0].least_ps / 1e6 / outcome.messages == pytest.approx(bound, rel=1e-9)
        assert period_us(outcome) >= bound * (1 - 1e-9)
        if depth == 1 or dual or size >= 4096:
            assert period_us(outcome) == pytest.approx(bound, rel=0.01)


def test_what_1_per_cent_buys_adds_up_to_1_per_cent_where_all_parts_are_in_one_chain() -> None:
    found = {worth.part: worth.throughput for worth in worths(run("cim250", 4096, 1))}
    chain = found["host"] + found["memory"] + found["stage fc_setup"]
    assert chain == pytest.approx(1.0, abs=0.01)
    assert found["dma"] < found["memory"]  # which Fibre Channel uses, too


def test_a_sweep_is_the_grid_of_all_its_values_in_order_and_the_same_as_single_runs() -> None:
    base = load_adapter("cim250")
    points = sweep(base, {"M_o_us": 923}, {"depth": [1, 2], "size_B": [64, 4096]})
    assert [tuple(point.settings.values()) for point in points] == [(1, 64), (1, 4096), (2, 64), (2, 4096)]  # fmt: skip
    alone = run_adapter(load_adapter("cim250-fast", {"depth": 2, "size_B": 4096}))
    assert points[3].shown == alone.shown()
