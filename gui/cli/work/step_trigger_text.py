"""A trigger of several terms and steps, as it was read back from a card: as text and as JSON."""

from __future__ import annotations

from typing import Any

from freezeframe.capture.card.trigger_steps import TERM_NAMES, Mode, StepTrigger, when_text
from freezeframe.capture.recorder.card_trigger import kinds_at
from freezeframe.gui.cli.output import hex_word, table


def card_kind_names(tap: str, kinds: int) -> list[str]:
    """Return the names of the kinds in a mask that a record of a card's tap can have."""
    return [name for name, kind in kinds_at(tap).items() if kinds >> kind & 1]


def step_trigger_document(trigger: StepTrigger) -> dict[str, Any]:
    """Return it as JSON values."""
    return {
        "enabled": trigger.enabled,
        "terms": [
            {
                "name": name,
                "tap": term.tap,
                "value": hex_word(term.value),
                "mask": hex_word(term.mask),
                "kinds": card_kind_names(term.tap, term.kinds),
            }
            for name, term in zip(TERM_NAMES, trigger.terms, strict=False)
        ],
        "steps": [
            {
                "when": when_text(step.when, len(trigger.terms)),
                "count": step.count,
                "timer": None if step.mode is Mode.ANY else step.mode.text,
                "timer_cycles": None if step.mode is Mode.ANY else trigger.timer_cycles,
            }
            for step in trigger.steps
        ],
        "pin": trigger.pin or None,
    }


def step_trigger_text(name: str, trigger: StepTrigger) -> str:
    """Return it as lines."""
    pin = [f"{name}: also fires on a {trigger.pin} edge of the pin"] if trigger.pin else []
    if not trigger.enabled:
        return "\n".join([f"{name}: trigger off", *pin])
    rows = [
        (
            term_name,
            term.tap,
            "|".join(card_kind_names(term.tap, term.kinds)) or "none: never matches",
            hex_word(term.value),
            hex_word(term.mask),
        )
        for term_name, term in zip(TERM_NAMES, trigger.terms, strict=False)
    ]
    steps = [
        f"step {number}: {step_words(trigger, number)}" for number in range(len(trigger.steps))
    ]
    return "\n".join(
        [
            f"{name}: trigger of {len(steps)} step{'s' * (len(steps) > 1)}",
            table(("term", "tap", "kinds", "value", "mask"), rows),
            *steps,
            *pin,
        ]
    )


def step_words(trigger: StepTrigger, number: int) -> str:
    """Return a step in words: ``3 words like b, within 500 cycles of step 0``."""
    step = trigger.steps[number]
    when = when_text(step.when, len(trigger.terms))
    words = f"a word like {when}" if step.count == 1 else f"{step.count:,} words like {when}"
    since = f"step {number - 1}" if number else "the arm"
    cycles = f"{trigger.timer_cycles:,} bus cycles"
    return {
        Mode.ANY: words,
        Mode.WITHIN: f"{words}, within {cycles} of {since}",
        Mode.AFTER: f"{words}, more than {cycles} after {since}",
        Mode.NOT_WITHIN: f"{cycles} after {since} without {words}",
    }[step.mode]
