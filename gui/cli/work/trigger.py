"""``freezeframe trigger``: what a card freezes on, set, and shown as it is read back from the card."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from freezeframe.capture.recorder.control import arm_all
from freezeframe.capture.recorder.trigger import (
    Trigger,
    clear_trigger,
    kind_names,
    parse_term,
    read_trigger,
    set_trigger,
)
from freezeframe.capture.registers.access import device_of
from freezeframe.gui.cli.output import emit_json, hex_word, table
from freezeframe.gui.cli.work.session import open_session


def trigger(
    target: str,
    name: str,
    tap: str | None,
    terms: Sequence[str],
    count: int,
    limit_cycles: int,
    *,
    edge: bool,
    off: bool,
    arm: bool,
    json: bool,
    log: Path | None,
) -> None:
    """Set the trigger of a device where a tap is given, or switch it off, and print it; then arm all devices.

    Raises:
        InputError: a term cannot be read, or there is no device of that name.
    """
    wanted = None
    if tap is not None:
        wanted = Trigger(tap, tuple(map(parse_term, terms)), count, limit_cycles, edge)
    with open_session(target, log) as devices:
        device = device_of(devices, name)
        if off:
            clear_trigger(device)
        elif wanted is not None:
            set_trigger(device, wanted)
        read_back = read_trigger(device)
        if not json:
            print(_text(name, read_back))
        if arm:
            arm_all(devices)
    if json:
        emit_json({"target": target, "device": name, **_document(read_back), "armed": arm})
    elif arm:
        print("armed")


def _document(trigger: Trigger) -> dict[str, Any]:
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
                "kinds": list(kind_names(term.kinds)),
            }
            for term in trigger.terms
        ],
    }


def _text(name: str, trigger: Trigger) -> str:
    if not trigger.enabled:
        return f"{name}: trigger off"
    rows = [
        (
            number,
            "|".join(kind_names(term.kinds)) or "none: never matches",
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
