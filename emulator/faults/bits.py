"""payload-bit-flip and header-corrupted: bits of one word change on the link from A to B, once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from freezeframe.emulator.faults.base import Fault, is_b
from freezeframe.emulator.memory import Words
from freezeframe.emulator.packet import HEAD_WORDS, header_of

if TYPE_CHECKING:
    from freezeframe.emulator.nic import Nic

__all__ = ["HeaderCorrupted", "PayloadBitFlip"]


class PayloadBitFlip(Fault):
    """One or two bits of one payload word."""

    name = "payload-bit-flip"

    def arriving(self, words: Words, nic: Nic) -> Words:
        if not is_b(nic) or not self.ready(nic):
            return words
        header = header_of(int(words[0]), int(words[1]))
        if not header.length:
            return words
        word = self.draw.randrange(header.length)
        bits = sorted(self.draw.sample(range(64), self.draw.choice((1, 2))))
        self.done = True
        at = nic.link.cycle_at(nic.now_ps) + HEAD_WORDS + word
        self.tell(nic, "rx_enq", header.flow, header.seq, word, nic.link.edge_ps(at), bits=bits)
        return _flipped(words, HEAD_WORDS + word, bits)


class HeaderCorrupted(Fault):
    """One to eight bits of one of the two header words."""

    name = "header-corrupted"

    def arriving(self, words: Words, nic: Nic) -> Words:
        # A good neighbour is part of the fault's meaning, so the first packet of a run is left alone.
        if not is_b(nic) or not self.ready(nic) or not nic.rx_link.next_seq:
            return words
        header = header_of(int(words[0]), int(words[1]))
        while True:
            place = self.draw.randrange(HEAD_WORDS)
            bits = sorted(self.draw.sample(range(64), self.draw.randint(1, 8)))
            flipped = _flipped(words, place, bits)
            # One pattern in 65,536 passes the CRC-16 and would be no fault that hardware could see.
            if not header_of(int(flipped[0]), int(flipped[1])).good:
                break
        self.done = True
        at = nic.link.edge_ps(nic.link.cycle_at(nic.now_ps) + place)
        self.tell(nic, "rx_enq", header.flow, header.seq, None, at, header_word=place, bits=bits)
        return flipped


def _flipped(words: Words, place: int, bits: list[int]) -> Words:
    flipped = words.copy()
    flipped[place] ^= np.uint64(sum(1 << bit for bit in bits))
    return flipped
