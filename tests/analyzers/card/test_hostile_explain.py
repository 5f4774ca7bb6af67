"""Healthy cards read badly, and damaged memories: no exception, and no name that is certain."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from freezeframe.analyzers.card.explain import explain_card
from freezeframe.analyzers.contract import UNDETERMINED
from freezeframe.capture.card.recording import CardRecording, RecordedClock, RecordedTap
from tests.campaign.random_cards import run_random


def healthy(seed: int) -> CardRecording:
    made = run_random(seed, "none")
    assert not isinstance(made, str)
    return made[0]


def holed(chance: random.Random, tap: RecordedTap) -> RecordedTap:
    """Return the tap with a run of slots of some of its lanes not read."""
    depth = len(tap.lanes[0])
    lanes, gaps = [], []
    for lane in tap.lanes:
        begin = chance.randrange(depth)
        gap = range(begin, min(depth, begin + chance.randint(1, 60)))
        gaps.append((gap,) if chance.random() < 0.6 else ())
        lanes.append(lane.copy())
        if gaps[-1]:
            lanes[-1][gap.start : gap.stop] = 0
    return replace(tap, lanes=tuple(lanes), gaps=tuple(gaps))


def badly_read_tap(chance: random.Random, tap: RecordedTap) -> RecordedTap | None:
    depth = len(tap.lanes[0])
    way = chance.choice(["well", "holed", "pointer", "shorter", "kinds", "gone"])
    if way == "gone":
        return None
    if way == "holed":
        return holed(chance, tap)
    if way == "pointer":
        return replace(tap, write_ptr=chance.randint(0, depth), wrapped=chance.random() < 0.5)
    if way == "shorter" and not tap.wrapped:
        return replace(tap, write_ptr=chance.randint(0, tap.write_ptr))
    return replace(tap, kinds=chance.choice([0xFFF7, 0xA00E, 0xFFEF])) if way == "kinds" else tap


def badly_read(chance: random.Random, made: CardRecording) -> CardRecording:
    read = {name: badly_read_tap(chance, tap) for name, tap in made.taps.items()}
    taps = {name: tap for name, tap in read.items() if tap is not None}
    clocks = [
        RecordedClock(c.clock, c.hz) if c.clock.name != "bus" and chance.random() < 0.2 else c
        for c in made.clocks
    ]
    return replace(made, taps=taps, clocks=clocks, counters={})


@pytest.mark.parametrize("seed", range(8))
def test_a_healthy_card_that_is_read_badly_has_no_certain_fault(seed: int) -> None:
    made, chance = healthy(seed), random.Random(seed)
    for _ in range(4):
        found = explain_card(badly_read(chance, made))
        assert {finding.diagnosis for finding in found.findings} <= {UNDETERMINED}


@pytest.mark.parametrize("seed", range(4))
def test_whatever_bits_are_turned_in_a_memory_nothing_raises(seed: int) -> None:
    made, chance = healthy(seed), random.Random(seed)
    for _ in range(3):
        taps = {}
        for name, tap in made.taps.items():
            lanes = tuple(lane.copy() for lane in tap.lanes)
            for _ in range(chance.choice([1, 5, 60])):
                lane = chance.choice(lanes)
                lane[chance.randrange(len(lane)), chance.choice([8, 8, 8, 7, 0])] ^= (
                    1 << chance.randrange(8)
                )
            taps[name] = replace(tap, lanes=lanes)
        assert explain_card(replace(made, taps=taps)).to_json()
