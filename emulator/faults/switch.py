"""Faults of the switch between the cards, at the crosspoint from A's port to B's.

- switch-word-lost: one payload word of a packet goes into the crosspoint and does not come out.
- switch-word-altered: one or two bits of one payload word do.
- switch-credit-held: from some moment on A is not told of words that have left, so that it waits for good.
- switch-wrong-port: a packet leaves by another port: one where nobody is, or A's own.
"""

from __future__ import annotations

import numpy as np

from freezeframe.emulator.faults.base import A, B, Fault
from freezeframe.emulator.faults.shaping import keep_busy
from freezeframe.emulator.hooks import Hooks, Way
from freezeframe.emulator.memory import Kinds, Words
from freezeframe.emulator.packet import HEAD_WORDS, header_in
from freezeframe.emulator.ports import Site
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.traffic import Plan

_WORD_BITS = 64


class _InSwitch(Fault):
    """A fault at the crosspoint from A to B."""

    card = A
    in_switch = True

    def hooks(self, site: Site) -> Hooks:
        if site.index == self.card:
            self.site = site
        return Hooks()  # nothing in a card

    def _meets(self, way: Way) -> bool:
        return way == (A, B) and self.ready()

    def _strikes(
        self, words: Words, way: Way, word: int | None = None, left_by: int | None = None
    ) -> None:
        header = header_in(words)
        flow, seq = (None, None) if header is None else (header.flow, header.seq)
        went = way[1] if left_by is None else left_by
        self.strike("rx_enq", flow, seq, word, input=way[0], output=way[1], left_by=went)


class _OneWord(_InSwitch):
    """One payload word of one packet."""

    def crossing(self, words: Words, kinds: Kinds, way: Way) -> tuple[Words, Kinds]:
        header = header_in(words) if len(words) > HEAD_WORDS else None
        if not self._meets(way) or header is None or not header.length:
            return words, kinds
        word = self.draw.randrange(header.length)
        self._strikes(words, way, word)
        return self._changed(words, kinds, HEAD_WORDS + word)

    def _changed(self, words: Words, kinds: Kinds, place: int) -> tuple[Words, Kinds]:
        raise NotImplementedError


class SwitchWordLost(_OneWord):
    """One word does not come out."""

    name = "switch-word-lost"

    def _changed(self, words: Words, kinds: Kinds, place: int) -> tuple[Words, Kinds]:
        return np.delete(words, place), np.delete(kinds, place)


class SwitchWordAltered(_OneWord):
    """One word comes out with one or two bits wrong."""

    name = "switch-word-altered"

    def _changed(self, words: Words, kinds: Kinds, place: int) -> tuple[Words, Kinds]:
        bits = self.draw.sample(range(_WORD_BITS), self.draw.randint(1, 2))
        words = words.copy()
        words[place] ^= np.uint64(sum(1 << bit for bit in bits))
        return words, kinds


class SwitchCreditHeld(_InSwitch):
    """Credits of the crosspoint, from some moment on."""

    name = "switch-credit-held"

    def shape(self, plan: Plan, profile: Profile) -> None:
        keep_busy(self, plan, slow=False)

    def tells(self, words: Words, way: Way) -> int:
        if way != (A, B) or self.site.time.now_ps < self.not_before_ps:
            return len(words)
        if not self.done:
            self._strikes(words, way)
        return 0


class SwitchWrongPort(_InSwitch):
    """One packet leaves by another port."""

    name = "switch-wrong-port"

    def turns(self, words: Words, way: Way, ports: int) -> int:
        if not self._meets(way):
            return way[1]
        wrong = self.draw.choice([port for port in range(ports) if port != way[1]])
        self._strikes(words, way, left_by=wrong)
        return wrong
