"""One card of an emulated pair as a target of its own, as in a computer of its own.

The link and the wire that carries a freeze from card to card are there as ever. What differs is what a
card says of itself: it is the only device of its target, and the master of its own time line.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freezeframe.capture.registers.map_table import MAP_SIZE
from freezeframe.capture.targets.base import Words
from freezeframe.emulator.target import EmulatorTarget


class CardTarget:
    """The window of one card, at address 0. Closing it leaves the pair to the other one."""

    def __init__(self, pair: EmulatorTarget, index: int) -> None:
        self._pair = pair
        self._index = index

    @property
    def url(self) -> str:
        """The URL of the pair; a card alone cannot be opened by a URL."""
        return self._pair.url

    def read(self, addresses: Words | Sequence[int]) -> Words:
        """Return the word at each address of this card; outside its map 0xFFFFFFFF."""
        own = np.asarray(addresses, dtype=np.int64)
        # An address outside must not reach the other card: it goes where the pair has none.
        return self._pair.read(np.where(own < MAP_SIZE, own + self._index * MAP_SIZE, 2 * MAP_SIZE))

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        """Write words to consecutive addresses of this card; those outside its map are refused."""
        room = max(0, (MAP_SIZE - address) // 4)
        if room:
            self._pair.write(address + self._index * MAP_SIZE, words[:room])
        if len(words) > room:
            self._pair.write(2 * MAP_SIZE, words[room:])

    def close(self) -> None:
        """Leave the pair as it is; its owner closes it."""


def cards_apart(pair: EmulatorTarget) -> tuple[CardTarget, CardTarget]:
    """Return both cards of a pair with ``apart``, as targets.

    Raises:
        ValueError: its cards say that they belong together.
    """
    if not pair.pair.apart:
        raise ValueError("the pair was not made with apart=True")
    return CardTarget(pair, 0), CardTarget(pair, 1)
