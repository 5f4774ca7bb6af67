"""The trigger unit: which word fires it."""

from __future__ import annotations

import numpy as np
import pytest

from freezeframe.emulator.trigger import Term, Trigger

HEAD, BODY, TAIL = 1, 2, 3


def watch(trigger: Trigger, words: list[tuple[int, int]], cycle: int = 100) -> int | None:
    kinds = np.array([kind for kind, _ in words], np.uint8)
    return trigger.feed(cycle, kinds, np.array([data for _, data in words], np.uint64))


def on(value: int, mask: int = 0xFF, kinds: int = 1 << BODY) -> Term:
    return Term(value, mask, kinds)


def body(*data: int) -> list[tuple[int, int]]:
    return [(BODY, d) for d in data]


@pytest.mark.parametrize(
    ("trigger", "words", "fires"),
    [
        (Trigger(True, terms=(on(0x77), Term())), body(1, 0x177, 0x77), 101),
        (Trigger(False, terms=(on(0x77), Term())), body(0x77), None),
        (Trigger(True, terms=(on(0x77, kinds=1 << TAIL), Term())), [(BODY, 0x77), (TAIL, 0x77)], 101),
        (Trigger(True, terms=(on(0, mask=0), Term())), [(HEAD, 1), (BODY, 2)], 101),
        (Trigger(True, count=3, terms=(on(7), Term())), body(7, 7, 1, 7, 7), 103),
        (Trigger(True, count=0, terms=(on(7), Term())), body(7), 100),
        (Trigger(True, edge=True, count=2, terms=(on(7), Term())), body(7, 7, 7, 1, 7), 104),
        (Trigger(True, sequence=True, terms=(on(1), on(2))), body(2, 1, 1, 2), 103),
        (Trigger(True, sequence=True, count=2, terms=(on(1), on(2))), body(1, 2, 0, 2, 2), 103),
        (Trigger(True, sequence=True, limit=2, terms=(on(1), on(2))), body(1, 0, 2), 102),
        (Trigger(True, sequence=True, limit=2, terms=(on(1), on(2))), body(1, 0, 0, 2, 2), None),
        (Trigger(True, sequence=True, limit=2, terms=(on(1), on(2))), body(1, 0, 0, 1, 2), 104),
        (Trigger(True, sequence=True, terms=(on(1), on(1))), body(1, 1), 101),
        (Trigger(True, terms=(on(1 << 63, 1 << 63), Term())), body(1, 1 << 63), 101),
    ],
    ids=[
        "level, only masked bits compared", "off", "kind must be one of the term's",
        "mask 0 matches any word of the kinds", "count", "count 0 is 1", "edge",
        "sequence, on a later word", "sequence with count", "within the limit", "past the limit",
        "past the limit it begins anew", "one word is not both terms", "bit 63",
    ],
)  # fmt: skip
def test_it_fires_on(trigger: Trigger, words: list[tuple[int, int]], fires: int | None) -> None:
    assert watch(trigger, words) == fires


def test_it_fires_once_an_arm_and_its_state_goes_on_from_run_to_run() -> None:
    trigger = Trigger(True, edge=True, count=2, terms=(on(7), Term()))
    assert watch(trigger, body(1, 7), 100) is None
    assert watch(trigger, body(7, 1, 7), 102) == 104  # its first word follows a match: no edge
    assert watch(trigger, body(1, 7, 1, 7), 105) is None
    trigger.reset()
    assert watch(trigger, body(7, 1, 7), 200) == 202
