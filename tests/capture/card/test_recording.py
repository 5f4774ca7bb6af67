"""A card's recording: the order of slots, what was not read, and shapes that no card can have."""

from __future__ import annotations

import numpy as np
import pytest

from freezeframe.capture.card.elaborated import elaborate
from freezeframe.capture.card.reading import parse_card
from freezeframe.capture.card.recording import CardRecording, Feature, RecordedClock, RecordedTap
from tests.capture.card.test_elaborated import WIDE
from tests.capture.card.test_reading import MAC

_CARD = elaborate(parse_card(WIDE))
_SLOW = _CARD.tap("slow")


def _lane(slots: int = 4) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    return np.zeros((slots, 9), np.uint8)


def test_a_wrapped_memory_begins_at_its_pointer_and_another_ends_there() -> None:
    assert RecordedTap(_SLOW, (_lane(),), 3, wrapped=False).slots_in_order().tolist() == [0, 1, 2]
    assert RecordedTap(_SLOW, (_lane(),), 3, wrapped=True).slots_in_order().tolist() == [3, 0, 1, 2]


def test_what_was_not_read_is_told_for_each_lane() -> None:
    wide = RecordedTap(
        _CARD.tap("in"), (_lane(),) * 8, 4, wrapped=False, gaps=((),) * 7 + ((range(1, 3),),)
    )
    assert wide.unread(0).tolist() == [False] * 4
    assert wide.unread(7).tolist() == [False, True, True, False]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: RecordedTap(_CARD.tap("in"), (_lane(),), 0, wrapped=False), "in: 1 memories; the card has 8"),
        (lambda: RecordedTap(_SLOW, (_lane(),), 5, wrapped=False), r"slow: write_ptr 5 is outside 0\.\.4"),
        (lambda: RecordedTap(_SLOW, (_lane()[:, :8],), 0, wrapped=False), r"slow: a memory of shape \(4, 8\)"),
        (
            lambda: RecordedTap(_SLOW, (_lane(),), 0, wrapped=False, gaps=((range(3, 5),),)),
            r"slow: a gap of slots 3\.\.4 is outside it",
        ),
    ],
)  # fmt: skip
def test_a_shape_that_no_card_can_have_is_refused(make: object, says: str) -> None:
    assert callable(make)
    with pytest.raises(ValueError, match=says):
        make()


def test_causes_have_the_names_of_the_card_file_behind_the_three_of_every_card() -> None:
    card = elaborate(parse_card(MAC))
    clocks = [RecordedClock(clock, clock.said.hz) for clock in card.clocks]
    names = [cause.name for cause in card.causes]
    recording = CardRecording(card, {}, clocks, features=Feature(0x204), causes=0b1001)
    assert recording.cause_names == ("host", names[3])
    assert Feature.ROM in recording.features and Feature.BANK not in recording.features
