"""What the keys of ``[trigger]`` say of each other."""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.capture.card.tables import CardFile, Trigger


def problems_of_trigger(card: CardFile) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield where and what: parts of the trigger that do not belong together."""
    said = card.trigger
    if said != Trigger() and card.card.map == 1:
        yield ("trigger",), "trigger: the trigger of map = 1 is as it is (docs/trigger.md)"
    if said.steps:
        return
    if said.terms > 1:
        yield ("trigger", "terms"), f"trigger: {said.terms} terms need steps = 1, 2 or 3"
    if said.pin:
        yield ("trigger", "pin"), "trigger: a pin needs steps = 1, 2 or 3"
