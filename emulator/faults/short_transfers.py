"""short-transfers: A's host writes its queue pointers as messages of their own.

Most messages are of one word or two, to one address or two. Every device does what it should; the bus and the link
carry mostly overhead. No check finds that: the host freezes. It has struck when the first of them leaves A.
"""

from __future__ import annotations

from freezeframe.emulator.credit import Flow
from freezeframe.emulator.faults.base import A, Fault
from freezeframe.emulator.memory import Kinds, Words
from freezeframe.emulator.packet import HEAD_WORDS, Packet
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.traffic import Plan, Updates

_MESSAGES = (120, 200)  # until it shows
_SHARE = (0.7, 0.92)  # of the pointers among all messages


class ShortTransfers(Fault):
    """Queue pointers between the messages, and more of them than of those."""

    name = "short-transfers"
    card = A
    silent = True

    def prepare(self) -> None:
        self._needed = self.draw.randint(*_MESSAGES)
        self._seen = 0

    def shape(self, plan: Plan, profile: Profile) -> None:
        draw = self.draw
        self._addresses = tuple(draw.getrandbits(32) & ~7 for _ in range(draw.choice((1, 2))))
        self._sending = plan.sending[0]
        self._updates = Updates(draw.uniform(*_SHARE), self._addresses)
        if self.after_ps is None:
            self._sending.updates = self._updates
        plan.receiving[1].stops = []

    def started(self) -> None:
        if self.after_ps is not None:
            self.site.time.at(self.not_before_ps, self._begins)

    def _begins(self) -> None:
        self._sending.updates = self._updates

    def posts(self) -> None:
        if not self.begun:
            return
        self._seen += 1
        if self._seen == self._needed:
            self.show_within(1, 20)

    def leaving(self, packet: Packet, flow: Flow) -> tuple[Words, Kinds]:
        words = packet.words
        if not self.done and len(words) >= HEAD_WORDS and int(words[1]) in self._addresses:
            self.strike(addresses=list(self._addresses))
        return words, packet.kinds
