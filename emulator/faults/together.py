"""Several faults in one run, each with its own random numbers and its own truth.

Every place is offered to each of them in turn. One that has not struck is only offered a packet that no other has
touched, so that what it tells of the packet is true. Those that strike at a moment get their chance once the first has
struck, shortly after, so that they can strike before it freezes the cards; the truth says whether they did.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from freezeframe.emulator.credit import Flow
from freezeframe.emulator.descriptor import Descriptor
from freezeframe.emulator.faults.base import Fault
from freezeframe.emulator.hooks import Completion, Hooks, Uncounted
from freezeframe.emulator.incoming import Incoming, Reading
from freezeframe.emulator.memory import Kinds, Words
from freezeframe.emulator.packet import Packet
from freezeframe.emulator.ports import Site
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.traffic import Plan
from freezeframe.emulator.truth import Injection

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
    def each(self) -> Sequence[Fault]:
        return self._faults

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
            if not fault.lasting and fault.after_ps is None:
                fault.not_before_ps = _NEVER_PS

    def link_ppb(self, card: int, ppb: int, seed: int) -> int:
        for fault in self._faults:
            ppb = fault.link_ppb(card, ppb, seed)
        return ppb

    def shape(self, plan: Plan, profile: Profile) -> None:
        for fault in reversed(self._faults):  # the first has the last word, so that it strikes
            fault.shape(plan, profile)

    def hooks(self, site: Site) -> Hooks:
        return _Several([fault.hooks(site) for fault in self._faults])


class _Several(Hooks):
    """The hooks of several faults in one card."""

    def __init__(self, hooks: Sequence[Hooks]) -> None:
        self._all = tuple(hooks)

    def started(self) -> None:
        for hooks in self._all:
            hooks.started()

    def start_limit(self, flow: int, share: int) -> int:
        for hooks in self._all:
            share = hooks.start_limit(flow, share)
        return share

    def credit_unit(self, flow: int, unit: int) -> int:
        for hooks in self._all:
            unit = hooks.credit_unit(flow, unit)
        return unit

    def fits(self, flow: Flow, words: int) -> bool:
        # Each of them has to see the packet, also when one has said yes.
        answers = [hooks.fits(flow, words) for hooks in self._all]
        return any(answers)

    def blocked(self, flow: Flow) -> None:
        for hooks in self._all:
            hooks.blocked(flow)

    def uncounted(self, flow: Flow, sending: bool) -> Uncounted:
        first, last = zip(*(hooks.uncounted(flow, sending) for hooks in self._all), strict=True)
        return max(first), max(last)

    def credit_leaving(self, word: int, flow: Flow) -> int | None:
        left: int | None = word
        for hooks in self._all:
            if left is None or (left != word and not hooks.done):
                break
            left = hooks.credit_leaving(left, flow)
        return left

    def credit_arriving(self, word: int) -> int:
        for hooks in self._all:
            word = hooks.credit_arriving(word)
        return word

    def resumed(self, words: int, rest: int, descriptor: Descriptor) -> int:
        skipped = (hooks.resumed(words, rest, descriptor) for hooks in self._all)
        return next(filter(None, skipped), 0)

    def leaving(self, packet: Packet, flow: Flow) -> tuple[Words, Kinds]:
        for hooks in self._all:
            words, kinds = hooks.leaving(packet, flow)
            if words is not packet.words:
                return words, kinds
        return packet.words, packet.kinds

    def arriving(self, words: Words) -> Words:
        seen = words
        # Those that have struck and last come last: the packet that another tells of must be whole.
        for hooks in sorted(self._all, key=lambda hooks: hooks.done):
            if hooks.done or seen is words:
                seen = hooks.arriving(seen)
        return seen

    def reading(self, incoming: Incoming) -> Reading | None:
        readings = (hooks.reading(incoming) for hooks in self._all)
        return next((reading for reading in readings if reading is not None), None)

    def corrects_clock(self) -> bool:
        return all(hooks.corrects_clock() for hooks in self._all)

    def posts(self) -> None:
        for hooks in self._all:
            hooks.posts()

    def raised(self, completions: int) -> None:
        for hooks in self._all:
            hooks.raised(completions)

    def masks(self) -> bool:
        return all(hooks.masks() for hooks in self._all)

    def enabling_ps(self) -> int:
        return max(hooks.enabling_ps() for hooks in self._all)

    def looks_again(self, waiting: Sequence[Completion]) -> bool:
        return all(hooks.looks_again(waiting) for hooks in self._all)
