"""Analog to logic: hysteresis, in pieces of any size."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.threshold import Threshold, Thresholder, parse_threshold

VOLTS = [1.0, 0.5, 1.4, 1.0, 0.9, 0.8, 1.0, 1.39, 3.3, math.nan, 0.81, -5.0]
LEVELS = [0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0]


@pytest.mark.parametrize("piece", [1, 2, 5, 100])
def test_between_the_thresholds_the_level_stays(piece: int) -> None:
    thresholder = Thresholder(Threshold(high_V=1.4, low_V=0.8))
    found: list[int] = []
    for at in range(0, len(VOLTS), piece):
        found += thresholder.feed(np.array(VOLTS[at : at + piece])).tolist()
    assert found == LEVELS
    assert thresholder.not_numbers == 1


def test_one_threshold_has_no_hysteresis() -> None:
    assert Thresholder(Threshold(1.5, 1.5)).feed(np.array([1.4, 1.5, 1.6])).tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("text", "name", "high_V", "low_V"),
    [
        ("1.4/0.8", "", 1.4, 0.8),
        ("A0=2", "A0", 2.0, 2.0),
        ("line=a=0.2/-0.2V", "line=a", 0.2, -0.2),
    ],
)
def test_a_threshold_is_written_with_or_without_a_channel(
    text: str, name: str, high_V: float, low_V: float
) -> None:
    assert parse_threshold(text) == (name, Threshold(high_V, low_V))


@pytest.mark.parametrize("text", ["", "A0", "A0=", "=1", "1/", "1/2/3", "nan", "inf", "1e9"])
def test_what_is_no_threshold_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=re.escape(f"threshold {text!r}: not")):
        parse_threshold(text)


def test_a_low_threshold_above_the_high_one_is_refused() -> None:
    with pytest.raises(InputError, match=r"LOW 2\.0 V is above HIGH 1\.0 V"):
        parse_threshold("1/2")
    with pytest.raises(ValueError, match="above the high one"):
        Threshold(1.0, 2.0)
