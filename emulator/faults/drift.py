"""clock-drift: B's clock correction is off, and the link clocks of A and B differ.

B neither inserts nor removes idles, so its two synchronization FIFOs fill or empty by a word in every 1 / (relative
difference) cycles. When they are empty, both lanes repeat their last half and lag by a word until the packet
ends; when they are full, both lose a half and run ahead. Between packets the same slip hits idle symbols and does
no harm. A's and B's clocks stay within what a good crystal may do (100 ppm each).
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np

from freezeframe.emulator.faults.base import Fault, is_b
from freezeframe.emulator.faults.lanes import IDLE_BYTE
from freezeframe.emulator.memory import Words
from freezeframe.emulator.packet import HEAD_WORDS, header_of
from freezeframe.emulator.stages import Process

if TYPE_CHECKING:
    from freezeframe.emulator.nic import Nic

__all__ = ["ClockDrift"]

_PPB = (40_000, 100_000)  # of each of the two clocks, in opposite directions
_IDLE_WORD = int.from_bytes(bytes([IDLE_BYTE] * 8), "little")


class ClockDrift(Fault):
    """Both lanes slip together, again and again, at the interval that the clocks' difference gives."""

    name = "clock-drift"
    lasting = True

    def __init__(self) -> None:
        super().__init__()
        self._first = 0  # link cycle of B in which the first slip comes
        self._every = 0  # cycles from slip to slip; 0: B hears no other clock
        self._underflow = False

    def link_ppb(self, card: int, ppb: int, seed: int) -> int:
        draw = random.Random(f"{seed}/{self.name}/clocks")
        offsets = [draw.randint(*_PPB), -draw.randint(*_PPB)]
        draw.shuffle(offsets)
        return offsets[card]

    def corrects_clock(self, nic: Nic) -> bool:
        return not is_b(nic)

    def started(self, nic: Nic) -> None:
        if not is_b(nic):
            return
        own_fs, far_fs = nic.link.period_fs, nic.peer.link.period_fs
        self._every = far_fs // abs(own_fs - far_fs) if own_fs != far_fs else 0
        self._underflow = own_fs < far_fs  # B reads faster than A writes
        self._first = nic.link.cycle_at(max(self.not_before_ps, nic.now_ps))
        if self._every:
            nic.process(self._slips(nic))

    def arriving(self, words: Words, nic: Nic) -> Words:
        if not is_b(nic) or not self._every:
            return words
        cycle = nic.link.cycle_at(nic.now_ps)
        number = max(0, -(-(cycle + 1 - self._first) // self._every))
        place = self._first + number * self._every - cycle
        if place >= len(words):
            return words
        slipped = self._slipped(words, place)
        if not self.done:
            self.done = True
            header = header_of(int(words[0]), int(words[1]))
            word = place - HEAD_WORDS
            self.tell(
                nic, "rx_enq", header.flow, header.seq, word if 0 <= word < header.length else None,
                nic.link.edge_ps(cycle + place), place=place,
                what="repeated" if self._underflow else "lost", every_cycles=self._every,
            )  # fmt: skip
        return slipped

    def _slipped(self, words: Words, place: int) -> Words:
        slipped = words.copy()
        if self._underflow:
            slipped[place:] = words[place - 1 : -1]
        else:
            slipped[place:-1] = words[place + 1 :]
            slipped[-1] = np.uint64(_IDLE_WORD)
        return slipped

    def _slips(self, nic: Nic) -> Process:
        """Count the slips in both lanes; they come whether or not a packet is there."""
        level = 0 if self._underflow else 2 * nic.profile.link_sync_fill_halves
        cycle = self._first
        while True:
            yield nic.env.timeout(max(0, nic.link.edge_ps(cycle + 1) - nic.now_ps))
            nic.rx_link.sync_levels = [level, level]
            for lane in (0, 1):
                nic.rx_link.slip(lane, self._underflow)
            cycle += self._every
