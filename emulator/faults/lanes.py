"""sync-fifo-empty and lane-misaligned: one of B's two lanes goes wrong before the words are re-formed.

Lane 0 carries bytes 0, 2, 4, 6 of each word, lane 1 the others; a lane's four bytes are its 32-bit half of
the word, first byte least significant.

sync-fifo-empty: one lane's synchronization FIFO is read while empty. Its last half repeats, and every later half of the
packet comes one word late, until the lanes are realigned in the idle after the packet; the last half is lost there.

lane-misaligned: from some word on, one lane has lost 1 to 3 bytes, so each of its halves begins that many bytes further
down the lane's stream: the upper bytes of its own half, then the first ones of the next. It stays so, for every packet
and credit after, because nothing realigns bytes. After the last word of a packet the stream goes on with idle symbols.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from freezeframe.emulator.faults.base import Fault, is_b
from freezeframe.emulator.memory import Words
from freezeframe.emulator.packet import HEAD_WORDS, header_of
from freezeframe.emulator.truth import Injection

if TYPE_CHECKING:
    from freezeframe.emulator.nic import Nic

__all__ = ["IDLE_BYTE", "LaneMisaligned", "SyncFifoEmpty", "late_from", "slipped_from"]

IDLE_BYTE = 0xBC
"""What an idle lane carries: the comma symbol K28.5."""


def late_from(words: Words, lane: int, place: int) -> Words:
    """Return the words when the half of ``lane`` repeats at ``place`` (at least 1) and lags from there on."""
    lanes = _lanes(words)
    lanes[place:, lane] = lanes[place - 1 : -1, lane].copy()
    return _words(lanes)


def slipped_from(words: Words, lane: int, place: int, lost_B: int) -> Words:
    """Return the words when ``lane`` has lost ``lost_B`` bytes just before word ``place``."""
    lanes = _lanes(words)
    stream = lanes[place:, lane].reshape(-1)
    stream = np.concatenate([stream[lost_B:], np.full(lost_B, IDLE_BYTE, dtype=np.uint8)])
    lanes[place:, lane] = stream.reshape(-1, 4)
    return _words(lanes)


class SyncFifoEmpty(Fault):
    """One lane's synchronization FIFO runs empty once, somewhere behind the first word of a packet."""

    name = "sync-fifo-empty"

    def arriving(self, words: Words, nic: Nic) -> Words:
        if not is_b(nic) or not self.ready(nic):
            return words
        header = header_of(int(words[0]), int(words[1]))
        lane = self.draw.randrange(2)
        place = self.draw.randrange(1, len(words))
        late = late_from(words, lane, place)
        # The half may have repeated itself anyway (empty payloads); then nobody could tell, and the next packet is hit.
        if not header.length or late[place] == words[place]:
            return words
        self.done = True
        cycle = nic.link.cycle_at(nic.now_ps) + place
        word = place - HEAD_WORDS
        self.tell(
            nic, "rx_enq", header.flow, header.seq, word if 0 <= word < header.length else None,
            nic.link.edge_ps(cycle), lane=lane, place=place,
        )  # fmt: skip

        nic.at(nic.link.edge_ps(cycle + 1), lambda: nic.rx_link.slip(lane, underflow=True))
        return late


class LaneMisaligned(Fault):
    """One lane loses 1 to 3 bytes and stays so."""

    name = "lane-misaligned"

    def begin(self, seed: int, run: int, now_ps: int, tell: Callable[[Injection], None]) -> None:
        super().begin(seed, run, now_ps, tell)
        self.lane = self.draw.randrange(2)
        self.lost_B = self.draw.randint(1, 3)

    def arriving(self, words: Words, nic: Nic) -> Words:
        if not is_b(nic):
            return words
        if self.done:
            return slipped_from(words, self.lane, 0, self.lost_B)
        # A good packet comes first: a lane that was wrong from its training on has no first bad word.
        if not self.ready(nic) or not nic.rx_link.next_seq:
            return words
        header = header_of(int(words[0]), int(words[1]))
        place = self.draw.randrange(len(words))
        slipped = slipped_from(words, self.lane, place, self.lost_B)
        if not header.length or slipped[place] == words[place]:
            return words
        self.done = True
        word = place - HEAD_WORDS
        self.tell(
            nic, "rx_enq", header.flow, header.seq, word if 0 <= word < header.length else None,
            nic.link.edge_ps(nic.link.cycle_at(nic.now_ps) + place),
            lane=self.lane, lost_B=self.lost_B, place=place,
        )  # fmt: skip
        return slipped

    def credit_arriving(self, word: int, nic: Nic) -> int:
        if not is_b(nic) or not self.done:
            return word
        return int(slipped_from(np.array([word], dtype=np.uint64), self.lane, 0, self.lost_B)[0])


def _lanes(words: Words) -> np.ndarray[tuple[int, int, int], np.dtype[np.uint8]]:
    """Return ``(n, 2, 4)`` uint8: the four bytes of each lane of each word, a copy."""
    octets = words.astype("<u8").view(np.uint8).reshape(-1, 4, 2)
    return np.ascontiguousarray(octets.transpose(0, 2, 1))


def _words(lanes: np.ndarray[tuple[int, int, int], np.dtype[np.uint8]]) -> Words:
    octets = np.ascontiguousarray(lanes.transpose(0, 2, 1))
    return octets.reshape(-1).view("<u8").astype(np.uint64)
