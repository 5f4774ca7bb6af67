"""clock-drift: B's clock correction is off, and the link clocks of A and B differ.

B neither inserts nor removes idles, so its synchronization FIFOs fill or empty by a word in every 1 / (relative
difference) cycles. When they are empty, all lanes repeat their last share and lag by a word until the packet
ends; when they are full, all lose one and run ahead. Between packets the same slip hits idle symbols and does
no harm. A's and B's clocks stay within what a good crystal may do (100 ppm each).

With a begin that is asked for, clock correction works until then; the FIFOs stand at their fill, and the first slip
comes when they have run empty or full.
"""

from __future__ import annotations

import random

import numpy as np

from freezeframe.emulator.faults.base import B, Fault
from freezeframe.emulator.faults.lanes import IDLE_BYTE
from freezeframe.emulator.memory import Words
from freezeframe.emulator.packet import header_in
from freezeframe.emulator.parts import Process
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.traffic import Plan

_PPB = (40_000, 100_000)  # of each of the two clocks, in opposite directions
_IDLE_WORD = int.from_bytes(bytes([IDLE_BYTE] * 8), "little")


class ClockDrift(Fault):
    """All lanes slip together, again and again, at the interval that the clocks' difference gives."""

    name = "clock-drift"
    card = B
    lasting = True
    in_idle = "its slips come between packets too"

    def link_ppb(self, card: int, ppb: int, seed: int) -> int:
        draw = random.Random(f"{seed}/{self.name}/clocks")
        offsets = [draw.randint(*_PPB), -draw.randint(*_PPB)]
        draw.shuffle(offsets)
        return offsets[card]

    def shape(self, plan: Plan, profile: Profile) -> None:
        self._fill_halves = profile.link_sync_fill_halves

    def corrects_clock(self) -> bool:
        return self._corrects

    def started(self) -> None:
        link, time = self.site.link, self.site.time
        own_fs, far_fs = link.period_fs, self.site.far.period_fs
        # Cycles from slip to slip; 0: B hears no other clock.
        self._every = far_fs // abs(own_fs - far_fs) if own_fs != far_fs else 0
        self._underflow = own_fs < far_fs  # B reads faster than A writes
        self._first = link.cycle_at(max(self.not_before_ps, time.now_ps))  # of the first slip
        self._corrects = self.after_ps is not None
        if self._corrects:
            time.at(
                self.not_before_ps, self._begins
            )  # an event: no correction is skipped beyond it
            self._first += self._every * self._fill_halves
        if self._every:
            time.process(self._slips())

    def _begins(self) -> None:
        self._corrects = False

    def arriving(self, words: Words) -> Words:
        if not self._every:
            return words
        cycle = self.site.link.cycle_at(self.site.time.now_ps)
        number = max(0, -(-(cycle + 1 - self._first) // self._every))
        place = self._first + number * self._every - cycle
        if place >= len(words):
            return words
        if not self.done:
            header = header_in(words)
            self.strike(
                "rx_enq", header.flow, header.seq, header.payload_word(place),
                self.link_edge_ps(place), place=place,
                what="repeated" if self._underflow else "lost", every_cycles=self._every,
            )  # fmt: skip
        return self._slipped(words, place)

    def _slipped(self, words: Words, place: int) -> Words:
        slipped = words.copy()
        if self._underflow:
            slipped[place:] = words[place - 1 : -1]
        else:
            slipped[place:-1] = words[place + 1 :]
            slipped[-1] = np.uint64(_IDLE_WORD)
        return slipped

    def _slips(self) -> Process:
        """Count the slips in all lanes; they come whether or not a packet is there."""
        time, link, lanes = self.site.time, self.site.link, self.site.lanes
        level = 0 if self._underflow else 2 * self._fill_halves
        cycle = self._first
        while True:
            yield time.env.timeout(max(0, link.edge_ps(cycle + 1) - time.now_ps))
            lanes.levels = [level] * lanes.count
            for lane in range(lanes.count):
                lanes.slip(lane, self._underflow)
            cycle += self._every
