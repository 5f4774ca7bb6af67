"""Devices of map 1: which card they are, and their registers under the names of that card.

The places are those of firmware-hooks/registers/freezeframe.rdl; a card file of map 1 names what stands in them:
taps, counters and causes in its order. A register of the bank has the name of its wire.

Source: docs/card-map.md, "Map 1".
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from freezeframe.capture.card.elaborated import ElaboratedCard, elaborate
from freezeframe.capture.card.extending import EXTENDS
from freezeframe.capture.card.finding import FoundCard, known_files
from freezeframe.capture.card.reading import read_card
from freezeframe.capture.card.roles import Roles, roles_of
from freezeframe.capture.errors import DeviceUnknownError, InputError
from freezeframe.capture.registers.identity import Identity
from freezeframe.capture.registers.layouts import CAUSE_NAMES, DOMAIN_NAMES, MEMORY_NAMES
from freezeframe.capture.registers.map_forms import (
    counters_for,
    form_of,
    known_maps,
    registers_for,
)
from freezeframe.capture.registers.map_table import MAP_HASH
from freezeframe.capture.registers.names import MAP_1
from freezeframe.capture.registers.register_map import CounterInfo, RegisterMap

MAP = 1
_TAPS = MEMORY_NAMES[:-1]
_BANKS = ("snapshot", "frozen_counters")
_KEY = "map_hash"
_CAPACITIES = tuple(name for name in Identity.__slots__ if name.endswith("x_fifo"))


@cache
def card_of_map(map_hash: int = MAP_HASH) -> FoundCard:
    """Return the card whose devices state this map, of those that ship and the user's; names decide nothing.

    Raises:
        DeviceUnknownError: no known card lists it.
    """
    for path in known_files():
        text = path.read_text("utf-8", "replace")
        if _KEY not in text and EXTENDS not in text:
            continue  # most cards are of map 2, and reading one takes some milliseconds
        try:
            card = elaborate(read_card(path))
        except InputError:
            continue  # of the user's; `card check` says what is wrong with it
        if card.map == MAP and card.said.card.map_hash == map_hash:
            return _fitting(card, path)
    raise DeviceUnknownError(
        f"register map {map_hash:08x}: no known card lists it; this program knows {known_maps()}: "
        "use the Freezeframe release that the device was built with"
    )


def map_1_card_of_file(path: Path, map_hash: int, device: str) -> FoundCard:
    """Return the card of a file that was named for a device of map 1.

    Raises:
        InputError: it cannot be read, or is not a card of that map; both hashes are named.
    """
    card = elaborate(read_card(path))
    if card.map != MAP or card.said.card.map_hash != map_hash:
        raise InputError(
            f"{path}: card {card.name} is of map {card.map}, map_hash {card.said.card.map_hash:#010x}; {device} has "
            f"map 1 with hash {map_hash:#010x}: give a card file with map = 1 and that map_hash, or leave ?card= out"
        )
    return _fitting(card, path)


def _fitting(card: ElaboratedCard, path: Path) -> FoundCard:
    check_map_1(card, str(path))
    return FoundCard(card, card.text, str(path))


def check_map_1(card: ElaboratedCard, where: str) -> Roles:
    """Return the parts of a card of map 1, whose number and order are those of the map.

    Raises:
        InputError: they are not; the first that differs is named.
    """
    if form_of(card.said.card.map_hash) is None:
        raise InputError(
            f"{where}: map_hash {card.said.card.map_hash:#010x} is no form of map 1; this program knows {known_maps()}"
        )
    roles = roles_of(card)
    counters = counters_for(roles.form)
    for what, has, room in (
        ("taps", len(card.taps), len(_TAPS)),
        ("clocks", len(card.clocks), len(DOMAIN_NAMES)),
        ("causes", len(card.causes), len(CAUSE_NAMES)),
        ("counters", len(card.counters), len(counters)),
    ):
        if has != room:
            raise InputError(f"{where}: has {has} {what}, and map 1 has {room}; name each of them")
    for way in roles.ways:
        if way.capacity not in _CAPACITIES or not way.level:
            raise InputError(
                f"{where}: path {way.name}: map 1 tells the words in its FIFO and how many it holds: give its stretch "
                f"level = a register of the bank, and capacity = {' or '.join(_CAPACITIES)}"
            )
    if (*roles.tx.taps, *roles.rx.taps) != roles.taps:
        raise InputError(
            f"{where}: map 1 has the taps of the outgoing path first, then those of the incoming one; "
            f"here they are {', '.join(roles.taps)}"
        )
    return roles


@cache
def register_map_of(card: ElaboratedCard) -> RegisterMap:
    """Return the registers of map 1 under the names of a card."""
    form = roles_of(card).form
    counters = dict(zip(counters_for(form), (name for name, _ in card.counters), strict=True))
    taps = dict(zip(_TAPS, (tap.name for tap in card.taps), strict=True))

    def renamed(name: str) -> str:
        first, *rest = name.split(".")
        return ".".join((first, counters[rest[0]], *rest[1:])) if first in _BANKS else name

    windows = [
        replace(window, name=f"trace_{taps.get(window.name[6:], window.name[6:])}")
        if window.name.startswith("trace_")
        else window
        for window in MAP_1.windows
    ]
    return RegisterMap(
        [replace(register, name=renamed(register.name)) for register in registers_for(form)],
        windows,
        {name: CounterInfo(counter.unit, counter.doc) for name, counter in card.counters},
        MAP_1.size_B,
    )
