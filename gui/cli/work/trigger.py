"""``freezeframe trigger``: what a card freezes on, set, and shown as it is read back from the card."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from freezeframe.capture.card.device import CardDevice
from freezeframe.capture.custody.giving_up import Armed, arm_over, refuse_loss
from freezeframe.capture.errors import InputError
from freezeframe.capture.recorder.card_steps import (
    clear_step_trigger,
    has_steps,
    read_step_trigger,
    set_step_trigger,
)
from freezeframe.capture.recorder.card_trigger import (
    parse_card_term,
    read_card_trigger,
    set_card_trigger,
)
from freezeframe.capture.recorder.trigger import (
    Trigger,
    clear_trigger,
    kind_names,
    read_trigger,
    set_trigger,
    term_of,
)
from freezeframe.capture.registers.access import Device, device_of
from freezeframe.gui.asked_trigger import Asked
from freezeframe.gui.cli.output import emit_json, hex_word, table
from freezeframe.gui.cli.work.given_up import given_up_document, given_up_lines
from freezeframe.gui.cli.work.session import open_recorders
from freezeframe.gui.cli.work.step_trigger_text import (
    card_kind_names,
    step_trigger_document,
    step_trigger_text,
)
from freezeframe.gui.trigger_steps import step_trigger


def trigger(
    target: str,
    name: str,
    asked: Asked,
    *,
    off: bool,
    arm: bool,
    discard: bool,
    json: bool,
    log: Path | None,
) -> None:
    """Set the trigger of a device where a tap is given, or switch it off, and print it; then arm all devices.

    Raises:
        InputError: a term cannot be read, or there is no device of that name.
        RecorderStateError: arming would lose a frozen recording that this host has not kept; nothing was written.
    """
    armed: Armed | None = None
    with open_recorders(target, log) as devices:
        device = device_of(devices, name)
        if arm:
            refuse_loss(devices, discard=discard)
        if isinstance(device, CardDevice) and has_steps(device):
            text, document = _of_steps(device, asked, off=off)
        else:
            asked.once()
            if not isinstance(device, Device | CardDevice):
                raise TypeError(f"{device.name} is a device of another map")
            text, document = _simple(device, asked, target, off=off)
        if not json:
            print(text)
            if asked.pin and not arm:
                print(f"{device.name}: the pin counts from the next arm on")
        if arm:
            armed = arm_over(devices, by="trigger --arm", discard=discard)
    if json:
        more = {} if armed is None else given_up_document(armed)
        emit_json({"target": target, "device": name, **document, "armed": arm, **more})
    elif armed is not None:
        print("armed")
        for line in given_up_lines(armed):
            print(line)


def _simple(
    device: Device | CardDevice, asked: Asked, target: str, *, off: bool
) -> tuple[str, dict[str, Any]]:
    """Set and read the trigger of one tap; return it as text and as JSON."""
    names: Callable[[int], Sequence[str]] = kind_names
    tap, terms = asked.on[0] if asked.on else None, [*asked.terms, *asked.then]
    if isinstance(device, CardDevice):
        if len(terms) > 1 or asked.count != 1 or asked.limit_cycles or asked.edge:
            raise InputError(
                f"{target}: the trigger of a card that is described by a file has one term, where it was built "
                "without steps: leave out --then, --count, --limit and --edge"
            )
        term = parse_card_term(terms[0]) if terms else None
        if off:
            clear_trigger(device)
        elif tap is not None and term is not None:
            set_card_trigger(device, tap, term)
        read_back = read_card_trigger(device)
        names = partial(card_kind_names, read_back.tap)
    else:
        if off:
            clear_trigger(device)
        elif tap is not None:
            wanted = tuple(term_of(device, text) for text in terms)
            set_trigger(device, Trigger(tap, wanted, asked.count, asked.limit_cycles, asked.edge))
        read_back = read_trigger(device)
    return _text(device.name, read_back, names), _document(read_back, names)


def _of_steps(device: CardDevice, asked: Asked, *, off: bool) -> tuple[str, dict[str, Any]]:
    """Set and read the trigger of a card with steps; return it as text and as JSON."""
    if off:
        clear_step_trigger(device)
    elif asked.anything:
        set_step_trigger(device, step_trigger(asked))
    found = read_step_trigger(device)
    return step_trigger_text(device.name, found), step_trigger_document(found)


def _document(trigger: Trigger, names: Callable[[int], Sequence[str]]) -> dict[str, Any]:
    return {
        "enabled": trigger.enabled,
        "tap": trigger.tap,
        "edge": trigger.edge,
        "count": trigger.count,
        "limit_cycles": trigger.limit_cycles,
        "terms": [
            {
                "value": hex_word(term.value),
                "mask": hex_word(term.mask),
                "kinds": list(names(term.kinds)),
            }
            for term in trigger.terms
        ],
    }


def _text(name: str, trigger: Trigger, names: Callable[[int], Sequence[str]]) -> str:
    if not trigger.enabled:
        return f"{name}: trigger off"
    rows = [
        (
            number,
            "|".join(names(term.kinds)) or "none: never matches",
            hex_word(term.value),
            hex_word(term.mask),
        )
        for number, term in enumerate(trigger.terms)
    ]
    last = len(trigger.terms) - 1
    which = "a word" if trigger.count == 1 else f"{trigger.count:,} words"
    fires = f"fires on {which} like term {last}"
    if trigger.edge:
        fires += ", of neighbours that match only on the first"
    if last:
        within = (
            f"within {trigger.limit_cycles:,} cycles of it"
            if trigger.limit_cycles
            else "however much later"
        )
        fires = f"begins with a word like term 0; {fires} {within}"
    lines = [
        f"{name}: trigger on {trigger.tap}",
        table(("term", "kinds", "value", "mask"), rows),
        fires,
    ]
    return "\n".join(lines)
