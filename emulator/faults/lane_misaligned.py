"""lane-misaligned: from some word on, one lane has lost 1 to 3 bytes, and stays so, for every packet and credit after.

Each share of the lane begins that many bytes further down its stream: the upper bytes of its own, then the first ones
of the next; of four lanes, whose shares have two bytes, two lost bytes are a slip by a whole word. Nothing realigns
bytes. After the last word of a packet the stream goes on with idle symbols.
"""

from __future__ import annotations

import numpy as np

from freezeframe.emulator.faults.base import B, Fault
from freezeframe.emulator.faults.lanes import slipped_from
from freezeframe.emulator.memory import Words
from freezeframe.emulator.packet import header_in
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.traffic import Plan

_MOST_LOST_B = 3


class LaneMisaligned(Fault):
    """One lane loses bytes and stays so."""

    name = "lane-misaligned"
    card = B

    def shape(self, plan: Plan, profile: Profile) -> None:
        self._lanes = profile.link_lanes
        self._lane = self.draw.randrange(self._lanes)
        self._lost_B = self.draw.randint(1, _MOST_LOST_B)

    def arriving(self, words: Words) -> Words:
        if self.done:
            return slipped_from(words, self._lane, 0, self._lost_B, self._lanes)
        # A good packet comes first: a lane that was wrong from its training on has no first bad word.
        if not self.ready() or not self.site.received:
            return words
        header = header_in(words)
        place = self.draw.randrange(len(words))
        slipped = slipped_from(words, self._lane, place, self._lost_B, self._lanes)
        if not header.length or slipped[place] == words[place]:
            return words
        self.strike(
            "rx_enq", header.flow, header.seq, header.payload_word(place), self.link_edge_ps(place),
            lane=self._lane, lost_B=self._lost_B, place=place,
        )  # fmt: skip
        return slipped

    def credit_arriving(self, word: int) -> int:
        if not self.done:
            return word
        alone = np.array([word], dtype=np.uint64)
        return int(slipped_from(alone, self._lane, 0, self._lost_B, self._lanes)[0])
