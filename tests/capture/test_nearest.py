"""A name that does not exist is answered with the nearest one, or with what there is."""

from __future__ import annotations

import pytest

from freezeframe.capture.nearest import no_such

TAPS = ("rx_in", "rx_out", "TX_in")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("rx_inn", "there is no tap 'rx_inn'; did you mean rx_in?"),
        ("tx_in", "there is no tap 'tx_in'; did you mean TX_in?"),
        ("zzz", "there is no tap 'zzz'; there is rx_in, rx_out, TX_in"),
        ("", "tap is missing; there is rx_in, rx_out, TX_in"),
    ],
    ids=["mistyped", "in other letters", "like none", "empty"],
)
def test_of_a_name_that_is_not_there_the_nearest_is_offered_or_all(name: str, says: str) -> None:
    assert no_such("tap", name, TAPS) == says


def test_where_there_is_nothing_it_is_said_and_a_long_list_may_be_said_shorter() -> None:
    assert no_such("tap", "rx", {}) == "there is no tap 'rx'; there is none"
    assert no_such("tap", "zzz", TAPS, "three are described") == (
        "there is no tap 'zzz'; three are described"
    )
