"""A message whose CRC is wrong, and what is known of it: the parts that every hypothesis uses.

Source: `forensics` says what an explanation is worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from freezeframe.analyzers.contract import plain_fields
from freezeframe.decoders.crc import Crc, bit_effects, prefixes

SHOWN = 16
"""Places listed of an explanation; all are counted."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the message, and what: ``byte`` counts from 0, ``bits`` are (byte, bit) pairs that flipped.

    ``byte`` is the message's length for a bit of the CRC itself, and None where there is no place.
    """

    byte: int | None
    text: str
    bits: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """One kind of damage that makes the CRC right.

    Attributes:
        kind: ``one-bit``, ``two-bits-one-word``, ``two-bits``, ``burst``, ``byte-swap``, ``half-swap``, ``word-swap``,
            ``order``, ``word-repeated``, ``word-put-in``, ``word-lost-equal``, ``word-lost``, ``cut``, ``extended``,
            ``wrong-crc``, ``neighbour``, ``crc-itself``.
        text: in a sentence.
        fits: how many hypotheses of this kind make the CRC right.
        tested: how many were tried.
        by_chance: how many would fit a message with random damage, ``tested / 2^width``.
        places: where, the first 16.
        length_change_B: bytes by which the message is longer than it was sent; 0 for damage in place.
    """

    kind: str
    text: str
    fits: int
    tested: int
    by_chance: float
    places: tuple[Place, ...]
    length_change_B: int = 0

    @property
    def certain(self) -> bool:
        """One place only, and chance explains less than one message in a thousand so."""
        return self.fits == 1 and self.by_chance < 1e-3

    def to_json(self) -> dict[str, Any]:
        values = plain_fields(self)
        del values["length_change_B"]
        return values


class Message:
    """A message and what several tests need of it, computed once."""

    def __init__(
        self,
        data: bytes,
        received: int,
        crc: Crc,
        word_B: int,
        neighbours: tuple[tuple[str, bytes], ...],
    ) -> None:
        self.data, self.received, self.crc, self.word_B = data, received, crc, word_B
        self.neighbours = neighbours
        self.bytes = np.frombuffer(data, np.uint8)
        self.registers = prefixes(crc, data)
        self.target = crc.register(received)
        self.syndrome = int(self.registers[-1]) ^ self.target
        # Row i is the message's byte i: the table by bytes after it, turned round.
        self.effects = bit_effects(crc, max(len(data), 1))[: len(data)][::-1]
        self.chance = 0.5**crc.width

    def explanation(
        self,
        kind: str,
        text: str,
        tested: int,
        places: Sequence[Place],
        fits: int | None = None,
        change_B: int = 0,
    ) -> Explanation:
        count = len(places) if fits is None else fits
        return Explanation(
            kind, text, count, tested, tested * self.chance, tuple(places[:SHOWN]), change_B
        )
