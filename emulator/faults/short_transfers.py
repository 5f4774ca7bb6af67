"""short-transfers: A's host writes its queue pointers as messages of their own.

Most messages are of one word or two, to one address or two. Every device does what it should; the bus and the link
carry mostly overhead. No check finds that: the host freezes. It has struck when the first of them leaves A.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from freezeframe.emulator.faults.base import Fault, is_a
from freezeframe.emulator.memory import Kinds, Words
from freezeframe.emulator.packet import HEAD_WORDS, Packet
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.traffic import Message, Plan, Updates
from freezeframe.emulator.truth import Injection

if TYPE_CHECKING:
    from freezeframe.emulator.nic import Nic

__all__ = ["ShortTransfers"]

_US = 1_000_000  # picoseconds


class ShortTransfers(Fault):
    """Queue pointers between the messages, and more of them than of those."""

    name = "short-transfers"
    silent = True

    def begin(self, seed: int, run: int, now_ps: int, tell: Callable[[Injection], None]) -> None:
        super().begin(seed, run, now_ps, tell)
        self._needed = self.draw.randint(120, 200)  # messages, until it shows
        self._seen = 0

    def shape(self, plan: Plan, profile: Profile) -> None:
        draw = self.draw
        addresses = tuple(draw.getrandbits(32) & ~7 for _ in range(draw.choice((1, 2))))
        plan.sending[0].updates = Updates(draw.uniform(0.7, 0.92), addresses)
        plan.receiving[1].stops = []

    def posts(self, nic: Nic, message: Message) -> None:
        if not is_a(nic):
            return
        self._seen += 1
        if self._seen == self._needed:
            self.evident_ps = nic.now_ps + self.draw.randrange(1 * _US, 20 * _US)

    def leaving(self, packet: Packet, nic: Nic) -> tuple[Words, Kinds]:
        updates = nic.host.sending.updates if is_a(nic) else None
        if self.done or updates is None or len(packet.words) < HEAD_WORDS:
            return packet.words, packet.kinds
        if int(packet.words[HEAD_WORDS - 1]) in updates.addresses:
            self.done = True
            self.tell(nic, None, None, None, None, nic.now_ps, addresses=list(updates.addresses))
        return packet.words, packet.kinds
