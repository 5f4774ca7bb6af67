"""split-retry-mishandled: after a retry or a disconnect A's DMA goes on at the wrong word of host memory, once.

One to four words are left out. That happens before the CRC is made, so the CRCs of the packet are good at every tap;
only its length is not the one that the descriptor, and so the header, states.
"""

from __future__ import annotations

from freezeframe.emulator.descriptor import Descriptor
from freezeframe.emulator.faults.base import A, Fault

_MOST_WORDS = 4


class SplitRetryMishandled(Fault):
    """Words left out where a read was resumed."""

    name = "split-retry-mishandled"
    card = A

    def resumed(self, words: int, rest: int, descriptor: Descriptor) -> int:
        if not self.ready() or rest < 2:
            return 0
        skipped = self.draw.randint(1, min(_MOST_WORDS, rest - 1))
        self.strike("tx_enq", descriptor.flow, descriptor.seq, words, skipped_words=skipped)
        return skipped
