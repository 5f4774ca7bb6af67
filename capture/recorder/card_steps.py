"""The trigger of several terms and steps, written to a card that is described by a file, and read back.

Source: docs/card-map.md, section 1; docs/trigger.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from freezeframe.capture.card.device import CardDevice
from freezeframe.capture.card.elaborated import ElaboratedTap
from freezeframe.capture.card.recording import Feature
from freezeframe.capture.card.tables import Trigger as Built
from freezeframe.capture.card.trigger_steps import (
    TERM_NAMES,
    Mode,
    StepTrigger,
    TapTerm,
    registers_of,
    trigger_of,
    when_text,
)
from freezeframe.capture.errors import InputError, TargetError
from freezeframe.capture.recorder.card_trigger import refuse_impossible
from freezeframe.capture.recorder.trigger import write_back


def has_steps(device: CardDevice) -> bool:
    """Return whether the card was built with steps."""
    return Feature.TRIGGER_STEPS in device.identity.built and device.map.has("trigger.shape")


def set_step_trigger(device: CardDevice, trigger: StepTrigger) -> None:
    """Write a trigger, off while it is written, and read it back.

    Raises:
        InputError: more than the card was built with, or a step that no word can reach; nothing is written.
        TargetError: the device does not take it.
    """
    built = _built(device)
    recorders = device.found.card.recorders
    taps = [tap.name for tap in recorders]
    _refuse(trigger, built, recorders, device.found.card.name)
    clear_step_trigger(device)
    spare = [TapTerm(kinds=0, tap=taps[0])] * (built.terms - len(trigger.terms))
    whole = replace(trigger, terms=(*trigger.terms, *spare))
    for (name, *indices), word in registers_of(whole, device.found.card):
        write_back(device, word, str(name), *map(int, indices))
    if trigger.steps:
        write_back(device, device.read("trigger.config", 0) | 1, "trigger.config", 0)


def clear_step_trigger(device: CardDevice) -> None:
    """Switch the trigger and its pin off.

    Raises:
        TargetError: the device does not take it.
    """
    write_back(device, device.read("trigger.config", 0) & ~1, "trigger.config", 0)
    if device.found.card.said.trigger.pin:
        write_back(device, 0, "trigger.pin")


def read_step_trigger(device: CardDevice) -> StepTrigger:
    """Return the trigger as it stands in the device."""
    _built(device)
    found = trigger_of(device.read, device.found.card)
    if found is None:
        raise TypeError("a register that was read has no value")
    return found


def _built(device: CardDevice) -> Built:
    """Return what the device says it was built with.

    Raises:
        TargetError: it is not what its card says.
    """
    said = device.found.card.said.trigger
    parts = {
        name: device.field("trigger.shape", name)
        for name in ("terms", "steps", "count_bits", "timer_bits", "pin")
    }
    for name, here in parts.items():
        if here != int(getattr(said, name)):
            raise TargetError(
                f"{device.target.url}: device {device.name}: its trigger says {name} {here}, its card "
                f"{device.found.card.name} has {int(getattr(said, name))}; the device contradicts itself"
            )
    return said


def _refuse(
    trigger: StepTrigger, built: Built, recorders: Sequence[ElaboratedTap], card: str
) -> None:
    taps = [tap.name for tap in recorders]
    for what, wanted, there in (
        ("term", len(trigger.terms), built.terms),
        ("step", len(trigger.steps), built.steps),
    ):
        if wanted > there:
            raise InputError(
                f"{wanted} {what}s: card {card} was built with {there} ([trigger] {what}s)"
            )
    for term in trigger.terms:
        if term.tap not in taps:
            raise InputError(f"tap {term.tap!r}: there is {', '.join(taps)}")
        refuse_impossible(term, recorders[taps.index(term.tap)])
    if trigger.pin and not built.pin:
        raise InputError(f"card {card} was built without a pin ([trigger] pin)")
    timed = any(step.mode is not Mode.ANY for step in trigger.steps)
    if timed and not built.timer_bits:
        raise InputError(f"card {card} was built without a timer ([trigger] timer_bits)")
    if timed and trigger.timer_cycles >> built.timer_bits:
        raise InputError(
            f"{trigger.timer_cycles:,} cycles: the timer of card {card} has {built.timer_bits} bits"
        )
    possible = list(trigger.possible())
    for number, step in enumerate(trigger.steps):
        if step.count < 1 or (step.count > 1 and step.count >> built.count_bits):
            bits = f"has {built.count_bits} bits" if built.count_bits else "was not built"
            raise InputError(
                f"step {number}: count {step.count:,}: a count of card {card} {bits}, 1 at least"
            )
        text = when_text(step.when, len(trigger.terms))
        if not any(step.when >> terms & 1 for _, terms in possible):
            raise InputError(
                f"step {number}: {text}: no word can be so, for a word is of one tap: "
                f"{_places(trigger)}; say it in steps behind each other"
            )
        if step.when & 1 and len(trigger.taps) > 1:
            raise InputError(
                f"step {number}: {text}: also true of a word that is like no term, of any of the taps "
                f"{', '.join(trigger.taps)}; join each 'not' by 'and' to a term of its tap"
            )


def _places(trigger: StepTrigger) -> str:
    return ", ".join(f"{TERM_NAMES[n]} is at {term.tap}" for n, term in enumerate(trigger.terms))
