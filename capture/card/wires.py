"""The wires of a card that its file names: each a port of the device's top, of one width and one clock."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from freezeframe.capture.card.elaborated import state_bits
from freezeframe.capture.card.tables import CardFile


class NamedWire(NamedTuple):
    """A wire where a table names it; ``clock`` is empty for that of the registers."""

    table: str
    name: str
    wire: str
    bits: int
    clock: str


def wires_of(card: CardFile) -> Iterator[NamedWire]:
    """Yield every wire, as often as it is named, in the order of the tables; none of a card of C hooks alone."""
    if not card.tap:
        return iter(())
    return (named for named in _named(card) if named.wire)


def _named(card: CardFile) -> Iterator[NamedWire]:
    for name, cause in card.cause.items():
        yield NamedWire("cause", name, cause.wire, 1, cause.clock)
    for name, counter in card.counter.items():
        yield NamedWire("counter", name, counter.wire, 1, counter.clock)
    for name, bank in card.bank.items():
        yield NamedWire("bank", name, bank.wire, bank.bits, bank.clock)
    for name, event in card.event.items():
        yield NamedWire("event", name, event.wire, 1, event.clock)
        yield NamedWire("event", name, event.value, event.bits, event.clock)
    for name, states in card.states.items():
        yield NamedWire("states", name, states.wire, state_bits(len(states.names)), states.clock)
