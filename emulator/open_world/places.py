"""Words and packets that go wrong at one of three places: A's outgoing FIFO, the link, B's incoming FIFO."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial
from typing import TypeVar

import numpy as np

from freezeframe.capture.registers.layouts import Kind, LinkCode
from freezeframe.emulator.credit import Flow
from freezeframe.emulator.faults.base import US, A, B
from freezeframe.emulator.incoming import Incoming, Reading
from freezeframe.emulator.memory import HEAD, Kinds, Words
from freezeframe.emulator.open_world.base import Unlisted, header_of
from freezeframe.emulator.open_world.plugs import (
    Passing,
    PluggedDrain,
    PluggedTransmitter,
    PluggedWire,
)
from freezeframe.emulator.open_world.words import Change
from freezeframe.emulator.packet import FRAME_WORDS, Packet, frame_kinds

OUTGOING, LINK, INCOMING = "outgoing", "link", "incoming"
TAPS = {OUTGOING: "tx_deq", LINK: "rx_enq", INCOMING: "rx_deq"}
"""The first tap behind each place."""

_Item = TypeVar("_Item", Packet, Incoming, Passing)


class Damaged(Unlisted):
    """Words of a packet change: once, or (``lasting``) those of every packet and credit from then on."""

    def __init__(self, name: str, where: str, change: Change, goes_on: bool = False) -> None:
        super().__init__(name)
        self._where = where
        self._change = change
        self._goes_on = goes_on
        self.card = A if where == OUTGOING else B

    def prepare(self) -> None:
        self._key = self.draw.getrandbits(32)

    def started(self) -> None:
        if self._where == LINK:
            link = self.sender.tx_link
            link.wire = PluggedWire(link.wire, self._on_link)

    def leaving(self, packet: Packet, flow: Flow) -> Passing:
        if self._where != OUTGOING or flow.free() <= 2 * packet.room:
            return packet.words, packet.kinds  # more words must not overflow B as well
        words, kinds = self._damaged(packet.words, packet.kinds)
        self.site.tx_fifo.adjust(len(packet.words) - len(words))
        return words, kinds

    def reading(self, incoming: Incoming) -> Reading | None:
        words = incoming.words
        if self._where == INCOMING and incoming.over and len(words) > FRAME_WORDS:
            new, kinds = self._damaged(words, frame_kinds(len(words) - FRAME_WORDS))
            if new is not words:
                self.site.rx_fifo.adjust(len(words) - len(new))
                incoming.become(new, kinds)
        return None

    def credit_arriving(self, word: int) -> int:
        if not (self.done and self._goes_on and self._where == LINK):
            return word
        one, kind = np.array([word], np.uint64), np.array([HEAD], np.uint8)
        changed = self._change(random.Random(self._key), one, kind)
        return word if changed is None else int(changed[0][0])

    def _on_link(self, words: Words, kinds: Kinds) -> Sequence[Passing]:
        return [self._damaged(words, kinds)]

    def _damaged(self, words: Words, kinds: Kinds) -> Passing:
        if not self.takes_hold(self._goes_on) or header_of(words) is None:
            return words, kinds
        changed = self._change(random.Random(self._key), words, kinds)
        if changed is None:
            return words, kinds
        if not self.done:
            self.hit(TAPS[self._where], words, changed[2])
        return changed[0], changed[1]


class Whole(Unlisted):
    """A whole packet is lost, doubled, late (behind the next one), or joined with the next (on the link)."""

    def __init__(self, name: str, where: str, what: str) -> None:
        super().__init__(name)
        self._where = where
        self._what = what
        self.card = A if where == OUTGOING else B

    def prepare(self) -> None:
        self._waits: Words | None = None

    def started(self) -> None:
        nic = self.nic
        if self._where == LINK:
            link = self.sender.tx_link
            link.wire = PluggedWire(link.wire, self._on_link)
        elif self._where == OUTGOING:
            kept: list[Packet] = []
            nic.tx_dma.transmitter = PluggedTransmitter(
                nic.tx_dma.transmitter, lambda packet: self._passes(packet, packet.words, kept)
            )
        else:
            held: list[Incoming] = []
            nic.rx_link.drain = PluggedDrain(
                nic.rx_link.drain, lambda incoming: self._passes(incoming, incoming.words, held)
            )
        self._passing: list[Passing] = []

    def _on_link(self, words: Words, kinds: Kinds) -> Sequence[Passing]:
        kept = self._passing
        if kept and self._what == "joined":
            before, before_kinds = kept.pop()
            joint = np.concatenate([before_kinds, kinds])
            joint[2:-1] = int(Kind.BODY)
            return [(np.concatenate([before, words]), joint)]
        return self._passes((words, kinds), words, kept)

    def _passes(self, item: _Item, words: Words, kept: list[_Item]) -> list[_Item]:
        if kept:
            return [item, kept.pop()]
        header = header_of(words)
        if not self.ready() or header is None or not self.receiver.rx_link.next_seq:
            return [item]
        self.hit(TAPS[self._where], words, also=header.seq + 1 & 0xFFFF)
        missing = {"lost": len(words), "doubled": -len(words)}.get(self._what, 0)
        if self._where == OUTGOING:
            self.site.tx_fifo.adjust(missing)
        elif self._where == INCOMING:
            self.site.rx_fifo.adjust(missing)
        if self._what in ("late", "joined"):
            kept.append(item)
        return [item, item] if self._what == "doubled" else []


class Retrain(Unlisted):
    """The link loses its lock for some microseconds: what A puts on it meanwhile never arrives."""

    def __init__(self, name: str, told: bool) -> None:
        super().__init__(name)
        self._told = told

    def prepare(self) -> None:
        self._until_ps = 0
        self._lasts_ps = self.draw.randrange(2 * US, 20 * US)

    def started(self) -> None:
        link = self.sender.tx_link
        link.wire = PluggedWire(
            link.wire, self._on_link,
            lambda word: [] if self.done and self.site.time.now_ps < self._until_ps else [(0, word)],
        )  # fmt: skip

    def _on_link(self, words: Words, kinds: Kinds) -> Sequence[Passing]:
        now_ps = self.site.time.now_ps
        if not self.done and self.ready() and self.receiver.rx_link.next_seq:
            self._until_ps = now_ps + self._lasts_ps
            self.hit("rx_enq", words, lasts_ps=self._lasts_ps)
            if self._told:
                report, at = self.site.lanes.report, self.site.time.at
                for lane in range(self.site.lanes.count):
                    at(now_ps, partial(report, LinkCode.SYNC_LOST, lane))
                    at(self._until_ps, partial(report, LinkCode.SYNC_FOUND, lane))
        return [] if now_ps < self._until_ps else [(words, kinds)]


class Noise(Unlisted):
    """Noise on an idle link is taken for a packet of a few random words."""

    def prepare(self) -> None:
        count = self.draw.randint(4, 12)
        self._words = np.array([self.draw.getrandbits(64) for _ in range(count)], np.uint64)

    def started(self) -> None:
        link = self.sender.tx_link
        link.wire = PluggedWire(link.wire, self._on_link)

    def _on_link(self, words: Words, kinds: Kinds) -> Sequence[Passing]:
        if not self.ready() or not self.receiver.rx_link.next_seq:
            return [(words, kinds)]
        self.strike("rx_enq", words=len(self._words))
        return [(self._words, frame_kinds(len(self._words) - FRAME_WORDS)), (words, kinds)]
