"""The trigger of a card: words of its registers made from what a user says, written, and read back.

Source: register file ``trigger``; docs/trigger.md has the truth table of what the registers do.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from freezeframe.capture.errors import InputError, TargetError
from freezeframe.capture.folder.content import DeviceCapture
from freezeframe.capture.registers.access import Device, Recorder
from freezeframe.capture.registers.layouts import HEADER, Kind, PacketType
from freezeframe.capture.registers.trigger_term import ALL_KINDS, PARTS, Term

_WORD = (1 << 64) - 1
_TRIES = 8
_PAUSE_S = 0.002
_MOST_WORDS = 512  # of a packet: docs/formats.md, section 3
NO_RANGES: Mapping[str, range] = MappingProxyType({})
_ANY_BITS = "data=VALUE/MASK takes any bits, as of a header that is damaged"


@dataclass(frozen=True, slots=True)
class Trigger:
    """What a trigger waits for: one term, or a first and then ``count`` matches of a second within ``limit_cycles``."""

    tap: str
    terms: tuple[Term, ...]
    count: int = 1
    limit_cycles: int = 0
    edge: bool = False
    enabled: bool = True


def term_of(device: Device, text: str) -> Term:
    """Return the term of a text for a device, as `parse_term`, whose card says which values a header can have.

    Raises:
        InputError: as `parse_term`, or no header of the card has such a value.
    """
    ranges = {"flow": range(device.identity.flows_count), "length": range(_MOST_WORDS + 1)}
    return parse_term(text, ranges, device.found.card.name)


def parse_term(text: str, ranges: Mapping[str, range] = NO_RANGES, card: str = "") -> Term:
    """Return the term of ``kind=HEAD|TAIL,data=0x1000/0xffff,flow=3,type=RDMA_WRITE``.

    ``data`` is value/mask (without a mask every bit counts); a field of the packet's header (docs/formats.md section 3)
    is a number, of ``type`` also a name, and means a HEAD word unless ``kind`` says otherwise.

    Args:
        ranges: the values that a field can have in a header of the ``card``; of a type those are that have a name.
    Raises:
        InputError: an unknown name, a value that is none, does not fit or is in no header, or two that contradict
            each other.
    """
    kinds, value, mask, header = None, 0, 0, False
    for part in text.split(","):
        name, equals, given = part.strip().partition("=")
        if not equals:
            raise InputError(f"term {text!r}: {part.strip()!r} is not NAME=VALUE")
        if name == "kind":
            kinds = sum({1 << _kind(text, kind) for kind in given.split("|")})
            continue
        if name == "data":
            part_value, part_mask = parse_data(text, given)
        else:
            part_value, part_mask = _field(text, name, given, ranges.get(name), card)
            header = True
        if (part_value ^ value) & part_mask & mask:
            raise InputError(f"term {text!r}: {part.strip()!r} contradicts what stands before it")
        value |= part_value & part_mask
        mask |= part_mask
    if kinds is None:
        kinds = 1 << Kind.HEAD if header else ALL_KINDS
    return Term(value, mask, kinds)


def set_trigger(device: Device, trigger: Trigger) -> None:
    """Write a trigger, off while it is written, and read it back.

    Raises:
        InputError: no such tap, not one or two terms, or a number out of range; nothing is written.
        TargetError: the device does not take it.
    """
    taps = device.roles.taps
    if trigger.tap not in taps:
        raise InputError(f"tap {trigger.tap!r}: there is {', '.join(taps)}")
    if not 1 <= len(trigger.terms) <= 2:
        raise InputError(f"{len(trigger.terms)} terms: a trigger has one or two")
    for name, number in (("count", trigger.count), ("limit", trigger.limit_cycles)):
        if not 0 <= number < 1 << 32:
            raise InputError(f"{name} {number}: does not fit 32 bits")
    clear_trigger(device)
    for number, term in enumerate((*trigger.terms, Term(kinds=0))[:2]):
        for part, word in zip(PARTS, term.words(), strict=True):
            write_back(device, word, f"trigger.term.{part}", number)
    write_back(device, trigger.count, "trigger.count")
    write_back(device, trigger.limit_cycles, "trigger.limit")
    word = taps.index(trigger.tap) << 4 | trigger.edge << 8 | (len(trigger.terms) == 2) << 9
    write_back(device, word | 1, "trigger.config")


def clear_trigger(device: Recorder) -> None:
    """Switch the trigger off.

    Raises:
        TargetError: the device does not take it.
    """
    write_back(device, device.read("trigger.config") & ~1, "trigger.config")


def read_trigger(device: Device) -> Trigger:
    """Return the trigger as it stands in the device."""
    numbers = device.read_many(["trigger.config", "trigger.count", "trigger.limit"])
    terms = [
        device.read_many([(f"trigger.term.{part}", number) for part in PARTS])
        for number in _term_numbers(numbers[0])
    ]
    return _trigger(device.roles.taps, numbers, terms)


def recorded_trigger(device: DeviceCapture) -> Trigger | None:
    """Return the trigger as it stood in a device that was pulled; None where a register of it was not read."""
    registers = device.registers
    numbers = [registers.value(f"trigger.{name}") for name in ("config", "count", "limit")]
    if numbers[0] is None:
        return None
    terms = [
        [registers.value(f"trigger.term.{part}", number) for part in PARTS]
        for number in _term_numbers(numbers[0])
    ]
    if None in numbers or any(None in term for term in terms):
        return None
    known = [[int(word or 0) for word in each] for each in (numbers, *terms)]
    return _trigger(device.roles.taps, known[0], known[1:])


def _term_numbers(config: int) -> tuple[int, ...]:
    return (0, 1) if config >> 9 & 1 else (0,)


def _trigger(
    taps: Sequence[str], numbers: Sequence[int], terms: Sequence[Sequence[int]]
) -> Trigger:
    config, count, limit = numbers
    made = [
        Term(low | high << 32, mask_low | mask_high << 32, kinds)
        for low, high, mask_low, mask_high, kinds in terms
    ]
    tap = taps[min(config >> 4 & 7, len(taps) - 1)]
    return Trigger(tap, tuple(made), max(1, count), limit, bool(config >> 8 & 1), bool(config & 1))


def write_back(device: Recorder, word: int, name: str, *indices: int) -> None:
    """Write a register until it reads as it was written.

    Raises:
        TargetError: it does not.
    """
    for _ in range(_TRIES):
        device.write(name, word, *indices)
        if device.read(name, *indices) == word:
            return
        time.sleep(_PAUSE_S)
    raise TargetError(
        f"{device.target.url}: device {device.name} did not take {name} in {_TRIES} writes; it answers reads, so are "
        "writes blocked on the way, or has this build no such trigger?"
    )


def _kind(text: str, name: str) -> int:
    try:
        return Kind[name.strip().upper()]
    except KeyError:
        known = "HEAD, BODY, TAIL"
        raise InputError(
            f"term {text!r}: kind {name.strip()!r}; at a tap there is {known}"
        ) from None


def _field(text: str, name: str, given: str, possible: range | None, card: str) -> tuple[int, int]:
    if name not in HEADER.fields:
        known = ", ".join(("kind", "data", *HEADER.fields))
        raise InputError(f"term {text!r}: {name!r} is unknown; there is {known}")
    lsb, width = HEADER.fields[name]
    number: int
    if name == "type" and given.strip().upper() in PacketType.__members__:
        number = PacketType[given.strip().upper()]
    else:
        number = _number(text, given)
    if number >> width:
        raise InputError(f"term {text!r}: {name} {number} does not fit {width} bits")
    if name == "type" and card and number not in set(PacketType):
        named = ", ".join(f"{each.name} ({each.value})" for each in PacketType)
        raise InputError(
            f"term {text!r}: no packet of card {card} is of type {number}; there is {named}; {_ANY_BITS}"
        )
    if possible is not None and number not in possible:
        raise InputError(
            f"term {text!r}: {name} {number} is in no header of card {card}: {possible.start} to {possible.stop - 1}; "
            f"{_ANY_BITS}"
        )
    return number << lsb, ((1 << width) - 1) << lsb


def parse_data(text: str, given: str) -> tuple[int, int]:
    """Return value and mask of ``0x1000/0xffff``; without a mask every bit counts.

    Raises:
        InputError: one is no number of 64 bits; the message names the term ``text``.
    """
    wanted, slash, bits = given.partition("/")
    return _number(text, wanted), _number(text, bits) if slash else _WORD


def _number(text: str, given: str) -> int:
    try:
        number = int(given.strip(), 0)
    except ValueError:
        raise InputError(f"term {text!r}: {given.strip()!r} is not a number") from None
    if not 0 <= number <= _WORD:
        raise InputError(f"term {text!r}: {given.strip()} does not fit 64 bits")
    return number


def kind_names(kinds: int) -> Sequence[str]:
    """Return the names of the kinds in a mask that can cross a tap."""
    return [kind.name for kind in (Kind.HEAD, Kind.BODY, Kind.TAIL) if kinds >> kind & 1]
