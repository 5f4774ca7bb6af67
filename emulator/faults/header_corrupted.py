"""header-corrupted: one to eight bits of one of the two header words change on the link from A to B, once."""

from __future__ import annotations

from freezeframe.emulator.faults.base import B, Fault
from freezeframe.emulator.memory import Words
from freezeframe.emulator.packet import HEAD_WORDS, flipped, header_in

_MOST_BITS = 8


class HeaderCorrupted(Fault):
    """Bits of one header word."""

    name = "header-corrupted"
    card = B

    def arriving(self, words: Words) -> Words:
        # A good neighbour is part of the fault's meaning, so the first packet of a run is left alone.
        if not self.ready() or not self.site.received:
            return words
        header = header_in(words)
        while True:
            place = self.draw.randrange(HEAD_WORDS)
            bits = sorted(self.draw.sample(range(64), self.draw.randint(1, _MOST_BITS)))
            changed = flipped(words, place, bits)
            # One pattern in 65,536 passes the CRC-16 and would be no fault that hardware could see.
            if not header_in(changed).good:
                break
        at_ps = self.link_edge_ps(place)
        self.strike("rx_enq", header.flow, header.seq, None, at_ps, header_word=place, bits=bits)
        return changed
