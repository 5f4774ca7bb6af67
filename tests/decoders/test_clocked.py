"""The clocked stage: the same clocks from edges, from samples and from any mix of both."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.samples import Samples
from freezeframe.decoders.clocked import MARK, STILL, Clocked, clocking

RATE_HZ = 1000
SEEDS = 200
BOTH, ALONE = int(MARK), int(MARK | STILL)  # a marked line changes with the clock, or without it


def samples_of(levels: list[int], channels: int) -> Samples:
    names = tuple(f"c{channel}" for channel in range(channels))
    data = np.array(levels, dtype=np.uint8)
    return Samples(data, names, tuple(range(channels)), RATE_HZ, 0)


def clocks_of(pieces: list[Edges | Samples], how: npt.NDArray[np.void]) -> list[tuple[int, int]]:
    stage = Clocked()
    return [
        clock
        for piece in pieces
        for part in stage.parts(piece, how)
        for clock in zip(part.sample.tolist(), part.low.tolist(), strict=True)
    ]


@pytest.mark.parametrize(
    ("how", "clocks"),
    [
        ({}, [(1, 0b001), (3, 0b011)]),
        ({"falling": True}, [(2, 0b010), (4, 0b010)]),
        ({"both": True}, [(1, 0b001), (2, 0b010), (3, 0b011), (4, 0b010)]),
        ({"before": True}, [(1, 0b000), (3, 0b010)]),
        ({"marked": 4}, [(0, ALONE), (1, 1), (3, 3), (5, 6 | ALONE), (6, 3 | BOTH)]),
        ({"marked": 4, "gated": True}, [(0, ALONE), (1, 1), (3, 3), (6, 3 | BOTH)]),
    ],
    ids=["rising", "falling", "both", "before", "marked", "gated"],
)
def test_each_active_edge_gives_the_levels_of_all_lines(
    how: dict[str, Any], clocks: list[tuple[int, int]]
) -> None:
    levels = [0b000, 0b001, 0b010, 0b011, 0b010, 0b110, 0b011]
    if "marked" not in how:
        levels = levels[:5]
    samples = samples_of(levels, 3)
    assert clocks_of([samples], clocking(1, **how)) == clocks
    assert clocks_of([samples.edges()], clocking(1, **how)) == clocks


@dataclass
class Rule:
    """Which changes of random lines count, read from the words of `clocking`, sample by sample."""

    channels: int
    watch: int
    how: dict[str, Any] = field(default_factory=dict)

    def clocks(self, levels: list[int]) -> list[tuple[int, int]]:
        marked = self.how.get("marked", 0)
        clocks = [(0, levels[0] | ALONE)] if marked else []
        for sample, (last, now) in enumerate(pairwise(levels), start=1):
            changed = last ^ now
            active = changed & self.watch
            if not self.how.get("both"):
                active &= ~now if self.how.get("falling") else now
            moved = changed & marked
            if self.how.get("gated") and not now & self.watch:
                moved = 0
            if active or moved:
                mark = (BOTH if changed & self.watch else ALONE) if moved else 0
                clocks.append((sample, (last if self.how.get("before") else now) | mark))
        return clocks


def random_rule(rng: random.Random) -> Rule:
    channels = rng.randrange(1, 9)
    if rng.random() < 0.2:
        return Rule(channels, (1 << channels) - 1, {"both": True})
    clock = 1 << rng.randrange(channels)
    how: dict[str, Any] = {name: rng.random() < 0.3 for name in ("falling", "both", "before")}
    if rng.random() < 0.5:
        how["marked"] = rng.randrange(1 << channels) & ~clock
        how["gated"] = rng.random() < 0.4
    return Rule(channels, clock, how)


def test_clocks_do_not_depend_on_the_form_and_the_ends_of_pieces() -> None:
    for seed in range(SEEDS):
        rng = random.Random(seed)
        rule = random_rule(rng)
        longest = rng.choice((1, 3, 100))
        levels: list[int] = []
        for _ in range(rng.randrange(1, 200)):
            levels += [rng.randrange(1 << rule.channels)] * rng.randrange(1, longest + 1)
        whole = samples_of(levels, rule.channels)
        cuts = sorted(rng.randrange(len(whole) + 1) for _ in range(rng.choice((0, 1, 4))))
        pieces: list[Edges | Samples] = []
        for first, stop in zip([0, *cuts], [*cuts, len(whole)], strict=True):
            piece = whole.cut(first, stop)
            pieces.append(piece.edges() if rng.random() < 0.5 else piece)
        assert clocks_of(pieces, clocking(rule.watch, **rule.how)) == rule.clocks(levels), seed


def test_a_line_that_is_no_probe_stays_low_and_gives_no_clock() -> None:
    samples = samples_of([0, 1, 0, 1], 1).select([None, "c0"])
    assert clocks_of([samples], clocking(1)) == []
    assert clocks_of([samples], clocking(2)) == [(1, 2), (3, 2)]
