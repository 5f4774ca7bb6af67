"""The short form of ``make campaign-disconnects``: each kind of target vanishes within a pull."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.campaign.disconnects import AWAY, BACK, CYCLED, KINDS, one

HONEST = {
    "identical",
    "gaps stated",
    "nothing kept, and a reason",
    "the later recording, identical",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("number", "fate"), [(0, BACK), (1, CYCLED), (2, AWAY)])
def test_what_is_kept_of_a_card_that_vanished_is_identical_or_says_what_is_missing(
    kind: str, number: int, fate: str, tmp_path: Path
) -> None:
    was, ended = one(kind, number, tmp_path)
    assert was in (fate, "over before")
    assert ended in HONEST
    if fate == BACK and kind != "pci":  # a BAR may have vanished before the card was seen at all
        assert ended == "identical"
