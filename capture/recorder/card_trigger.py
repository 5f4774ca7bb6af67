"""The trigger of a card that is described by a file: one term on the first 64 bits of a tap, or on a record of its log.

Source: docs/card-map.md, section 1 (trigger) and sections 5 and 6 (kinds).
"""

from __future__ import annotations

from freezeframe.capture.card.device import CardDevice
from freezeframe.capture.card.elaborated import LOG, ElaboratedTap
from freezeframe.capture.card.recording import Feature
from freezeframe.capture.errors import InputError
from freezeframe.capture.recorder.trigger import (
    Trigger,
    clear_trigger,
    parse_data,
    write_back,
)
from freezeframe.capture.registers.trigger_term import ALL_KINDS, PARTS, Term

WORD_KINDS = {
    "HEAD": 1,
    "BODY": 2,
    "TAIL": 3,
    "PART": 4,
    "END": 5,
    "PART_USER": 6,
    "END_USER": 7,
    "BODY_USER": 10,
    "TAIL_USER": 11,
}
LOG_KINDS = {"STATE": 8, "EVENT": 12, "LOSS": 14}
_KINDS = {**WORD_KINDS, **LOG_KINDS}
_TERM_BITS = 64


def kinds_at(tap: str) -> dict[str, int]:
    """Return the kinds of record at a tap, or in the event log, by name."""
    return LOG_KINDS if tap == LOG else WORD_KINDS


def parse_card_term(text: str) -> Term:
    """Return the term of ``kind=END_USER|TAIL_USER,data=0x1000/0xffff``; byte 0 is the least significant.

    Raises:
        InputError: an unknown name, or a value that is none.
    """
    term = Term()
    for part in text.split(","):
        name, _, given = part.strip().partition("=")
        if name == "data":
            value, mask = parse_data(text, given)
            term = Term(value & mask, mask, term.kinds)
        elif name == "kind":
            kinds = 0
            for kind in given.split("|"):
                if kind.strip().upper() not in _KINDS:
                    raise InputError(
                        f"term {text!r}: kind {kind.strip()!r}; at a tap there is {', '.join(WORD_KINDS)}, "
                        f"in the event log {', '.join(LOG_KINDS)}"
                    )
                kinds |= 1 << _KINDS[kind.strip().upper()]
            term = Term(term.value, term.mask, kinds)
        else:
            raise InputError(
                f"term {text!r}: {part.strip()!r}: of a card that is described by a file there is "
                "kind=NAME and data=VALUE/MASK"
            )
    return term


def refuse_impossible(term: Term, tap: ElaboratedTap) -> None:
    """Refuse a term that no record at a tap, or in the event log, can be like.

    Raises:
        InputError: the kinds that it asks for are of the other, or bits that the tap does not have are to be set.
    """
    there = kinds_at(tap.name)
    if term.kinds != ALL_KINDS and not any(term.kinds >> kind & 1 for kind in there.values()):
        asked = "|".join(name for name, kind in _KINDS.items() if term.kinds >> kind & 1)
        raise InputError(f"kind={asked}: never at {tap.name}; there is {', '.join(there)}")
    bits = _TERM_BITS if tap.name == LOG or tap.said.store != "all" else tap.said.bits
    if bits < _TERM_BITS and (high := (term.value & term.mask) >> bits):
        raise InputError(
            f"data={term.value:#x}/{term.mask:#x}: {tap.name} has {bits} bits, and {high << bits:#x} is above them"
        )


def set_card_trigger(device: CardDevice, tap: str, term: Term) -> None:
    """Write a trigger, off while it is written, and read it back.

    Raises:
        InputError: the card has no such tap, no record there can be so, or it was built without a trigger; nothing is
            written.
        TargetError: the device does not take it.
    """
    _must_have(device)
    recorders = device.found.card.recorders
    taps = {each.name: each.number for each in recorders}
    if tap not in taps:
        raise InputError(f"tap {tap!r}: there is {', '.join(taps)}")
    refuse_impossible(term, recorders[taps[tap]])
    clear_trigger(device)
    for part, word in zip(PARTS, term.words(), strict=True):
        write_back(device, word, f"trigger.{part}")
    write_back(device, taps[tap] << 8 | 1, "trigger.config")


def read_card_trigger(device: CardDevice) -> Trigger:
    """Return the trigger as it stands in the device.

    Raises:
        InputError: the card was built without one.
    """
    _must_have(device)
    config, low, high, mask_low, mask_high, kinds = device.read_many(
        ["trigger.config", *(f"trigger.{part}" for part in PARTS)]
    )
    taps = device.found.card.recorders
    number = config >> 8 & 0x3F
    tap = taps[number].name if number < len(taps) else f"tap {number}"
    term = Term(low | high << 32, mask_low | mask_high << 32, kinds & ALL_KINDS)
    return Trigger(tap, (term,), enabled=bool(config & 1))


def _must_have(device: CardDevice) -> None:
    if Feature.TRIGGER not in device.identity.built:
        raise InputError(
            f"{device.target.url}: device {device.name} ({device.found.card.name}) was built without a trigger"
        )
