"""Several faults in one run, each with its own random numbers and its own truth.

Every place is offered to each of them in turn. One that has not struck is only offered a packet that no other has
touched, so that what it tells of the packet is true. Those that strike at a moment get their chance once the first has
struck, shortly after, so that they can strike before it freezes the cards; the truth says whether they did.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from freezeframe.emulator.credit import Flow
from freezeframe.emulator.faults.base import Fault, Uncounted
from freezeframe.emulator.memory import Kinds, Words
from freezeframe.emulator.packet import Packet
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.traffic import Message, Plan
from freezeframe.emulator.truth import Injection

if TYPE_CHECKING:
    from freezeframe.emulator.dma import Descriptor
    from freezeframe.emulator.incoming import Incoming, Reading
    from freezeframe.emulator.nic import Nic

__all__ = ["Together"]

_LATEST_PS = 2_000_000  # from the first fault's strike to the chance of another
_NEVER_PS = 1 << 62
_PATIENCE_PS = 300_000_000  # for a fault that only the host can freeze
_LONG_PATIENCE_PS = 5_000_000_000  # for one that freezes by itself


class Together(Fault):
    """Faults in the order in which they get their chance."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self._faults = tuple(faults)
        super().__init__()
        self.name = "+".join(fault.name for fault in faults)
        self.silent = all(fault.silent for fault in faults)

    @property
    def evident_ps(self) -> int | None:  # follows from the faults
        """When every one has had time to show; one that never comes, because of another, is not waited for long."""
        known = [fault.evident_ps for fault in self._faults if fault.evident_ps is not None]
        if not known:
            return None
        if len(known) == len(self._faults):
            return max(known)
        return min(known) + (_PATIENCE_PS if self.silent else _LONG_PATIENCE_PS)

    @evident_ps.setter
    def evident_ps(self, t_ps: int | None) -> None:
        """Each fault keeps its own."""

    def begin(self, seed: int, run: int, now_ps: int, tell: Callable[[Injection], None]) -> None:
        draw = random.Random(f"{seed}/{run}/{self.name}")
        first, *later = self._faults

        def struck(injection: Injection) -> None:
            tell(injection)
            for fault in later:
                if fault.not_before_ps == _NEVER_PS:
                    fault.not_before_ps = injection.t_ps + draw.randrange(_LATEST_PS)

        first.begin(seed, run, now_ps, struck)
        for fault in later:
            fault.begin(seed, run, now_ps, tell)
            if not fault.lasting:
                fault.not_before_ps = _NEVER_PS

    def link_ppb(self, card: int, ppb: int, seed: int) -> int:
        for fault in self._faults:
            ppb = fault.link_ppb(card, ppb, seed)
        return ppb

    def started(self, nic: Nic) -> None:
        for fault in self._faults:
            fault.started(nic)

    def shape(self, plan: Plan, profile: Profile) -> None:
        for fault in reversed(self._faults):  # the first has the last word, so that it strikes
            fault.shape(plan, profile)

    def leaving(self, packet: Packet, nic: Nic) -> tuple[Words, Kinds]:
        for fault in self._faults:
            words, kinds = fault.leaving(packet, nic)
            if words is not packet.words:
                return words, kinds
        return packet.words, packet.kinds

    def arriving(self, words: Words, nic: Nic) -> Words:
        seen = words
        # Those that have struck and last come last: the packet that another tells of must be whole.
        for fault in sorted(self._faults, key=lambda fault: fault.done):
            if fault.done or seen is words:
                seen = fault.arriving(seen, nic)
        return seen

    def reading(self, incoming: Incoming, nic: Nic) -> Reading | None:
        for fault in self._faults:
            found = fault.reading(incoming, nic)
            if found is not None:
                return found
        return None

    def credit_leaving(self, word: int, flow: Flow, nic: Nic) -> int | None:
        left: int | None = word
        for fault in self._faults:
            if left is None or (left != word and not fault.done):
                break
            left = fault.credit_leaving(left, flow, nic)
        return left

    def credit_arriving(self, word: int, nic: Nic) -> int:
        for fault in self._faults:
            word = fault.credit_arriving(word, nic)
        return word

    def start_limit(self, flow: int, share: int, nic: Nic) -> int:
        for fault in self._faults:
            share = fault.start_limit(flow, share, nic)
        return share

    def fits(self, flow: Flow, packet: Packet, nic: Nic) -> bool:
        # Each of them has to see the packet, also when one has said yes.
        answers = [fault.fits(flow, packet, nic) for fault in self._faults]
        return any(answers)

    def credit_unit(self, flow: int, unit: int, nic: Nic) -> int:
        for fault in self._faults:
            unit = fault.credit_unit(flow, unit, nic)
        return unit

    def blocked(self, flow: Flow, nic: Nic) -> None:
        for fault in self._faults:
            fault.blocked(flow, nic)

    def uncounted(self, nic: Nic, flow: Flow, sending: bool) -> Uncounted:
        both = [fault.uncounted(nic, flow, sending) for fault in self._faults]
        return max(first for first, _ in both), max(last for _, last in both)

    def corrects_clock(self, nic: Nic) -> bool:
        return all(fault.corrects_clock(nic) for fault in self._faults)

    def resumed(self, words: int, rest: int, descriptor: Descriptor, nic: Nic) -> int:
        for fault in self._faults:
            skipped = fault.resumed(words, rest, descriptor, nic)
            if skipped:
                return skipped
        return 0

    def masks(self, nic: Nic) -> bool:
        return all(fault.masks(nic) for fault in self._faults)

    def enabling_ps(self, nic: Nic) -> int:
        return max(fault.enabling_ps(nic) for fault in self._faults)

    def looks_again(self, nic: Nic) -> bool:
        return all(fault.looks_again(nic) for fault in self._faults)

    def raised(self, nic: Nic) -> None:
        for fault in self._faults:
            fault.raised(nic)

    def posts(self, nic: Nic, message: Message) -> None:
        for fault in self._faults:
            fault.posts(nic, message)
