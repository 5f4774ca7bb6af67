"""payload-bit-flip: one or two bits of one payload word change on the link from A to B, once."""

from __future__ import annotations

from freezeframe.emulator.faults.base import B, Fault
from freezeframe.emulator.memory import Words
from freezeframe.emulator.packet import HEAD_WORDS, flipped, header_in

_BITS = (1, 2)  # how many change


class PayloadBitFlip(Fault):
    """Bits of one payload word."""

    name = "payload-bit-flip"
    card = B

    def arriving(self, words: Words) -> Words:
        if not self.ready():
            return words
        header = header_in(words)
        if not header.length:
            return words
        word = self.draw.randrange(header.length)
        bits = sorted(self.draw.sample(range(64), self.draw.choice(_BITS)))
        at_ps = self.link_edge_ps(HEAD_WORDS + word)
        self.strike("rx_enq", header.flow, header.seq, word, at_ps, bits=bits)
        return flipped(words, HEAD_WORDS + word, bits)
