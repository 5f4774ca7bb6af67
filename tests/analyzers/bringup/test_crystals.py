"""The clock of a card by that of its host: an interval that holds the truth, or a sentence."""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast

import pytest

from freezeframe.analyzers.bringup.crystals import SnapshotClock
from freezeframe.capture.registers.access import Device

HZ = 100_000_000
US, MS, S = 10**6, 10**9, 10**12


@dataclass
class Wire:
    """A card whose snapshots are read over a way that takes some time either way; its own cycles begin anywhere."""

    ppb: int
    seed: int
    least_ps: int = 20 * US
    most_ps: int = 200 * US
    now_ps: int = 0
    log2: int = 14

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)
        self.begun = self.draw.randrange(1 << 40)
        self.target = self
        self.name = "A"
        self.identity = SimpleNamespace(clk_bus=HZ)

    def read(self, name: str, *indices: int) -> int:
        if name == "ctl.snapshot_log2":
            return self.log2
        assert name == "ctl.snapshot_seq"
        self.now_ps += self.draw.randint(self.least_ps, self.most_ps)
        cycle = self.begun + self.now_ps * Fraction(HZ * (10**9 + self.ppb), 10**9 * S)
        self.now_ps += self.draw.randint(self.least_ps, self.most_ps)
        return int(cycle) >> self.log2 & 0xFFFFFFFF

    def watched(self, span_ps: int, pause_ps: int = 20 * MS) -> SnapshotClock:
        clock = SnapshotClock(cast(Device, cast(Any, self)))
        while self.now_ps < span_ps:
            clock.look()
            self.now_ps += pause_ps
        return clock


@pytest.mark.parametrize("seed", range(40))
def test_the_interval_holds_the_true_rate_up_to_1000_ppm_whatever_the_way_takes(seed: int) -> None:
    draw = random.Random(seed)
    ppb = draw.randint(-1_000_000, 1_000_000)
    rate, why = Wire(ppb, seed).watched(draw.randint(2, 10) * S).rate("A")
    assert rate is not None, why
    assert (rate.device, rate.clock, rate.by) == ("A", "bus", "host")
    assert abs(rate.ppb - ppb) <= rate.unc_ppb


def test_ten_seconds_over_a_local_network_are_enough_for_a_few_tens_of_ppm() -> None:
    rate, _ = Wire(37_000, 1).watched(10 * S).rate("A")
    assert rate is not None
    assert rate.unc_ppb < 40_000


def test_the_number_of_a_snapshot_may_wrap_meanwhile() -> None:
    card = Wire(-250_000, 3)
    card.begun = (1 << 46) - HZ
    rate, why = card.watched(4 * S).rate("A")
    assert rate is not None, why
    assert abs(rate.ppb + 250_000) <= rate.unc_ppb


def test_a_card_whose_time_is_not_the_host_s_is_told_and_has_no_rate() -> None:
    rate, why = Wire(-999_500_000, 4).watched(2000 * S, 10 * S).rate("A")
    assert rate is None
    assert why == (
        "A.bus by the host's clock: it runs at 0.0005 of that: a simulated card, or one whose clock is not the "
        "100,000,000 Hz that it states"
    )


def test_too_few_snapshots_say_nothing() -> None:
    rate, why = Wire(0, 5).watched(MS // 2, US).rate("A")
    assert (rate, why) == (None, "A.bus by the host's clock: 2 snapshots are too few")
