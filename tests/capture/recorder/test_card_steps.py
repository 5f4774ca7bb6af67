"""A card with trigger steps from Python, and the software card that plays its recorded words when it is armed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from freezeframe.capture.card.trigger_steps import Mode, Step, StepTrigger, TapTerm
from freezeframe.capture.connection import Card, trigger
from freezeframe.capture.errors import InputError
from freezeframe.emulator.card_image import CardImage
from tests.capture.card.recorded import TEXT, card, recording
from tests.gui.cli import run_inside

STEPS = TEXT + "[trigger]\nterms = 2\nsteps = 2\npin = true\n"
# The recorded words at tap byte: HEAD in cycle 0 of rx, END_USER in 1, PART in 5, END in 6.


@pytest.fixture
def image() -> CardImage:
    return CardImage([recording(card(STEPS))])


def words_of_steps(image: CardImage) -> list[tuple[int, int]]:
    device = image.device(0)
    reached = device.get("trigger.fired") >> 4
    return [
        (device.get("trigger.step.word", n), device.get("trigger.step.cycle", n))
        for n in range(reached)
    ]


def test_one_term_is_one_step_and_then_is_the_second(image: CardImage) -> None:
    there = Card(image)
    assert not trigger(there).enabled
    assert trigger(there, "wide", "kind=HEAD,data=1/0xf", count=3) == StepTrigger(
        (TapTerm(1, 0xF, 1 << 1, "wide"),), (Step(0xAAAA, 3),)
    )
    both = trigger(there, "byte", "kind=HEAD", then="kind=PART", count=2, limit_cycles=90)
    assert both == StepTrigger(
        (TapTerm(0, 0, 1 << 1, "byte"), TapTerm(0, 0, 1 << 4, "byte")),
        (Step(0xAAAA), Step(0xCCCC, 2, Mode.WITHIN)),
        90,
    )
    assert trigger(there) == both
    assert not trigger(there, off=True).enabled


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"edge": True}, "the trigger of a card with steps has no edge"),
        ({"limit_cycles": 5}, "a limit is for the term that comes after the first"),
        ({"then": "kind=PART", "count": 1 << 16}, "step 1: count 65,536: a count of card wide has 16 bits"),
        ({"then": "kind=PART", "limit_cycles": 1 << 24}, "16,777,216 cycles: the timer of card wide has 24 bits"),
    ],
)  # fmt: skip
def test_what_such_a_card_cannot_do_is_refused_before_anything_is_written(
    asked: dict[str, object], says: str, image: CardImage
) -> None:
    before = trigger(Card(image), "byte", "kind=END")
    with pytest.raises(InputError, match=says):
        trigger(Card(image), "byte", "kind=HEAD", **asked)  # type: ignore[arg-type]
    assert trigger(Card(image)) == before


def test_the_software_card_plays_its_recorded_words_and_keeps_that_of_each_step(
    image: CardImage, tmp_path: Path
) -> None:
    there = Card(image)
    trigger(there, "byte", "kind=HEAD", then="kind=PART")
    there.arm(discard=True)
    assert there.states()["A"].state == "frozen"
    assert there.states()["A"].causes == ("trigger",)
    assert image.device(0).get("trigger.fired") == 1 | 2 << 4
    assert words_of_steps(image) == [(0 << 8 | 1, 0), (0 << 8 | 2, 5)]
    there.pull(tmp_path / "played.ff")
    told = run_inside("explain", str(tmp_path / "played.ff"), "--json")
    (device,) = json.loads(told.out)["devices"]
    assert [(one["step"], one["kind"], one["data"], one["terms"]) for one in device["fired"]] == [
        (0, "HEAD", "0x3736353433323130", ["a"]),
        (1, "PART", "0x0300000000004140", ["b"]),
    ]


def test_a_trigger_whose_last_word_was_not_recorded_stays_armed_at_its_step(
    image: CardImage,
) -> None:
    there = Card(image)
    trigger(there, "byte", "kind=END_USER", then="kind=HEAD")
    there.arm(discard=True)
    assert there.states()["A"].state == "armed"
    assert words_of_steps(image) == [(0 << 8 | 1, 1)]


def test_the_pin_of_a_software_card_fires_only_where_it_was_asked_for_at_the_arm(
    image: CardImage,
) -> None:
    there, device = Card(image), image.device(0)
    there.arm(discard=True)
    device.pin()
    assert there.states()["A"].state == "armed"
    there.device("A").write("trigger.pin", 1)
    device.pin()
    assert there.states()["A"].state == "armed"
    there.arm()
    device.pin()
    assert there.states()["A"].causes == ("trigger",)
    assert device.get("trigger.fired") == 0b010
    there.arm(discard=True)
    there.device("A").write("trigger.pin", 0)
    device.pin()
    assert there.states()["A"].state == "armed"
