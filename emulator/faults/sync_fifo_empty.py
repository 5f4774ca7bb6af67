"""sync-fifo-empty: one lane's synchronization FIFO is read while empty, once, after the first word of a packet.

Its last share of a word repeats, and every later one of the packet comes one word late, until the lanes are realigned
in the idle after the packet; the last share is lost there.
"""

from __future__ import annotations

from functools import partial

from freezeframe.emulator.faults.base import B, Fault
from freezeframe.emulator.faults.lanes import late_from
from freezeframe.emulator.memory import Words
from freezeframe.emulator.packet import header_in


class SyncFifoEmpty(Fault):
    """One lane repeats its share of a word and lags."""

    name = "sync-fifo-empty"
    card = B

    def arriving(self, words: Words) -> Words:
        if not self.ready():
            return words
        header = header_in(words)
        lanes = self.site.lanes.count
        lane = self.draw.randrange(lanes)
        place = self.draw.randrange(1, len(words))
        late = late_from(words, lane, place, lanes)
        # A share may repeat itself anyway (empty payloads); then nobody could tell, and the next packet is hit.
        if not header.length or late[place] == words[place]:
            return words
        self.strike(
            "rx_enq", header.flow, header.seq, header.payload_word(place), self.link_edge_ps(place),
            lane=lane, place=place,
        )  # fmt: skip
        slip = partial(self.site.lanes.slip, lane, underflow=True)
        self.site.time.at(self.link_edge_ps(place + 1), slip)
        return late
