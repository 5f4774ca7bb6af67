"""What a tap's memory holds is what its stream carried, beat by beat; ``make campaign-taps`` is the long form."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rtl.card.random_beats import Shape, try_shape


@pytest.mark.parametrize(
    "shape",
    [
        Shape(8, "none"),
        Shape(16, "any", loose=True),
        Shape(64, "any"),
        Shape(512, "tail", fast=True),
        Shape(16, "any", first=0),
        Shape(128, "tail", first=96),
    ],
    ids=lambda shape: shape.name,
)
def test_random_beats_come_back_exactly_or_are_counted(shape: Shape, tmp_path: Path) -> None:
    counted = try_shape(shape, 12_000, 7, tmp_path)
    assert counted.recordings >= 3
    if shape.first is not None:
        assert counted.compared > counted.packets // 2
    else:
        assert shape.loose or counted.compared > counted.beats // 4
