"""split-retry-mishandled: after a retry or a disconnect A's DMA goes on at the wrong word of host memory.

One to four words are left out. That happens before the CRC is made, so the CRCs of the packet are good at every tap;
only its length is not the one that the descriptor, and so the header, states.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from freezeframe.emulator.faults.base import Fault, is_a

if TYPE_CHECKING:
    from freezeframe.emulator.dma import Descriptor
    from freezeframe.emulator.nic import Nic

__all__ = ["SplitRetryMishandled"]

_MOST_WORDS = 4


class SplitRetryMishandled(Fault):
    """Words left out where a read was resumed; strikes once."""

    name = "split-retry-mishandled"

    def resumed(self, words: int, rest: int, descriptor: Descriptor, nic: Nic) -> int:
        if not is_a(nic) or not self.ready(nic) or rest < 2:
            return 0
        skipped = self.draw.randint(1, min(_MOST_WORDS, rest - 1))
        self.done = True
        self.tell(
            nic, "tx_enq", descriptor.flow, descriptor.seq, words, nic.now_ps, skipped_words=skipped
        )
        return skipped
