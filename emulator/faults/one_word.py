"""One 64-bit payload word lost or read twice at a FIFO: what word-omitted and word-duplicated have in common.

The seed chooses A's outgoing FIFO or B's incoming FIFO, the packet and the word.
"""

from __future__ import annotations

from freezeframe.emulator.credit import Flow
from freezeframe.emulator.faults.base import A, B, Fault
from freezeframe.emulator.incoming import Incoming, Reading, misread
from freezeframe.emulator.memory import Kinds, Words
from freezeframe.emulator.packet import HEAD_WORDS, Packet, header_in


class OneWord(Fault):
    """A FIFO that goes wrong by one word, once.

    Attributes:
        what: the misreading: "omitted" or "repeated".
        missing: words the FIFO holds less than the taps make believe.
        second: 1 where the word that gives the fault away is the second copy.
    """

    what = ""
    missing = 0
    second = 0

    def prepare(self) -> None:
        self.card = A if self.draw.random() < 0.5 else B

    def leaving(self, packet: Packet, flow: Flow) -> tuple[Words, Kinds]:
        # One word too many must not overflow B: that would be another symptom than the one asked for.
        room = flow.free() > packet.room
        if not (self.card == A and self.ready() and packet.length and room):
            return packet.words, packet.kinds
        word = self.draw.randrange(packet.length)
        self.site.tx_fifo.adjust(self.missing)
        seen = word + self.second
        at_ps = self.link_edge_ps(HEAD_WORDS + seen)
        self.strike("tx_deq", packet.flow, packet.seq, seen, at_ps, fifo="outgoing")
        return misread(packet.words, packet.kinds, (self.what, HEAD_WORDS + word))

    def reading(self, incoming: Incoming) -> Reading | None:
        if self.card == A or not self.ready():
            return None
        words = incoming.words
        header = header_in(words) if len(words) > HEAD_WORDS else None
        if header is None or not header.good or not header.length or not incoming.over:
            return None
        word = self.draw.randrange(header.length)
        self.done = True
        seen = word + self.second

        def strikes(t_ps: int) -> None:
            self.site.rx_fifo.adjust(self.missing)
            self.strike("rx_deq", header.flow, header.seq, seen, t_ps, fifo="incoming")

        if self.second:
            incoming.when_left = (HEAD_WORDS + seen, strikes)
        else:
            strikes(self.site.link.edge_ps(incoming.cycle_of(HEAD_WORDS + word)))
        return self.what, HEAD_WORDS + word
