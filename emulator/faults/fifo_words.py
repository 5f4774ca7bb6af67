"""word-omitted and word-duplicated: one 64-bit payload word lost or read twice at a FIFO.

word-omitted: the write enable of one word is lost, so the word passes the tap before the FIFO and not the one
after it. word-duplicated: the read pointer is held for one cycle, so the word comes out twice: it has happened when
the second copy leaves, while an omission has happened when the word arrived. The seed chooses A's outgoing FIFO or
B's incoming FIFO, the packet and the word.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from freezeframe.emulator.faults.base import Fault, is_a, is_b
from freezeframe.emulator.incoming import Incoming, Reading, misread
from freezeframe.emulator.memory import Kinds, Words
from freezeframe.emulator.packet import HEAD_WORDS, Packet, header_of
from freezeframe.emulator.truth import Injection

if TYPE_CHECKING:
    from freezeframe.emulator.nic import Nic

__all__ = ["WordDuplicated", "WordOmitted"]


class _OneWord(Fault):
    what = ""
    missing = 0  # words the FIFO holds less than the taps make believe
    second = 0  # 1: the word that gives the fault away is the second copy

    def begin(self, seed: int, run: int, now_ps: int, tell: Callable[[Injection], None]) -> None:
        super().begin(seed, run, now_ps, tell)
        self.outgoing = self.draw.random() < 0.5

    def leaving(self, packet: Packet, nic: Nic) -> tuple[Words, Kinds]:
        flow = nic.flow(packet.flow)
        # One word too many must not overflow B: that would be another symptom than the one asked for.
        room = flow.free() > packet.room
        if not (self.outgoing and is_a(nic) and self.ready(nic) and packet.length and room):
            return packet.words, packet.kinds
        word = self.draw.randrange(packet.length)
        self.done = True
        nic.tx_fifo.adjust(self.missing)
        seen = word + self.second
        at = nic.link.edge_ps(nic.link.cycle_at(nic.now_ps) + HEAD_WORDS + seen)
        self.tell(nic, "tx_deq", packet.flow, packet.seq, seen, at, fifo="outgoing")
        return misread(packet.words, packet.kinds, (self.what, HEAD_WORDS + word))

    def reading(self, incoming: Incoming, nic: Nic) -> Reading | None:
        if self.outgoing or not is_b(nic) or not self.ready(nic):
            return None
        words = incoming.words
        header = header_of(int(words[0]), int(words[1])) if len(words) > HEAD_WORDS else None
        if header is None or not header.good or not header.length or not incoming.over:
            return None
        word = self.draw.randrange(header.length)
        self.done = True
        seen = word + self.second

        def strikes(t_ps: int) -> None:
            nic.rx_fifo.adjust(self.missing)
            self.tell(nic, "rx_deq", header.flow, header.seq, seen, t_ps, fifo="incoming")

        if self.second:
            incoming.when_left = (HEAD_WORDS + seen, strikes)
        else:
            strikes(nic.link.edge_ps(incoming.cycle_of(HEAD_WORDS + word)))
        return self.what, HEAD_WORDS + word


class WordOmitted(_OneWord):
    """One word's write enable is lost."""

    name = "word-omitted"
    what = "omitted"
    missing = 1


class WordDuplicated(_OneWord):
    """The read pointer is held for one cycle."""

    name = "word-duplicated"
    what = "repeated"
    missing = -1
    second = 1
