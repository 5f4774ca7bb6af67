"""A switch between the cards of the emulated pair: their words and credits pass the crosspoints of a profile of stages.

Card k stands at port k; the other ports are free. The link into the switch has credits of its own: a packet leaves the
card when the crosspoint has room for all of it, as far as the card has been told. The switch tells of each word that
has left, one link away, beside the words. The link out of it needs none: end to end credits hold every word back that
would not fit the receiver. What the switch counts at its ports outlives the runs of the cards.

Source: FORTH paper, sections 2.3 and 3.7; packets of any size without segmentation.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
import simpy

from freezeframe.capture.errors import InputError
from freezeframe.capture.registers.layouts import HEADER_FLOW_LSB, HEADER_FLOW_MASK
from freezeframe.decoders.trace.encode import credit_crc_ok, credit_parity_ok
from freezeframe.emulator.adapter.live import Crosspoints, Live
from freezeframe.emulator.adapter.reading import load_adapter
from freezeframe.emulator.clocks import Clock
from freezeframe.emulator.hooks import Hooks, Way
from freezeframe.emulator.memory import Kinds, Words
from freezeframe.emulator.packet import FRAME_WORDS, inspect
from freezeframe.emulator.ports import Cut, Wire
from freezeframe.emulator.profile import Profile

CARDS = 2
"""Cards at the switch, at its first ports."""

_PS_PER_S = 10**12


@dataclass(slots=True)
class Counts:
    """What a port has counted since power-up; packets and what is bad of them where their last word passed.

    ``told``: words of which the card at this port was told that they have left its crosspoints.
    """

    words_in: int = 0
    words_out: int = 0
    told: int = 0
    packets_in: int = 0
    packets_out: int = 0
    bad_in: int = 0
    bad_out: int = 0


class Watch(Protocol):
    """Whoever is told what the switch forwards."""

    def forwarded(self, flow: int, words: int, took_ps: int) -> None:
        """A packet is through."""

    def occupied(self, way: Way, words: int) -> None:
        """So many words hold a place of a crosspoint."""


class _Unwatched:
    def forwarded(self, flow: int, words: int, took_ps: int) -> None:
        return None

    def occupied(self, way: Way, words: int) -> None:
        return None


@dataclass(slots=True, eq=False)
class _Crossing:
    """A packet on its way through, or a credit, which has no kinds.

    Attributes:
        words: as they come in; ``leaving``: as they go out.
        tells: of how many of them the card is told that they have left.
        row: of the switch's tables, once it has come.
        sent: words that had left the card when it was held; -1: all.
        cut: takes words back at the receiver, once it was told of them.
    """

    words: Words
    kinds: Kinds | None
    way: Way
    first_ps: int
    leaving: Words
    leaving_kinds: Kinds | None
    tells: int
    row: int = -1
    sent: int = -1
    cut: Cut | None = None

    @property
    def whole(self) -> bool:
        return self.sent < 0

    def gone(self, words: int) -> int:
        """Return how many of so many words left the card."""
        return words if self.whole else min(self.sent, words)


class Crossbar:
    """The switch: counts that last, and empty crosspoints whenever the links come up."""

    def __init__(
        self, env: simpy.Environment, name: str, profile: Profile, watch: Watch | None = None
    ) -> None:
        """Read the profile of stages ``name``.

        Raises:
            InputError: it is no switch, or not one for the link and the packets of the cards' ``profile``.
        """
        self.switch = Crosspoints.of(load_adapter(name))
        _check_fit(self.switch, profile)
        self.env = env
        self.latency_ps = profile.link_latency_ps
        self.clock = Clock("switch", profile.clocks_link_hz)
        self.counts = [Counts() for _ in range(self.switch.ports)]
        self.watch: Watch = watch or _Unwatched()
        self.faults = Hooks()
        self.ways = [(card, port) for card in range(CARDS) for port in range(self.switch.ports)]
        self._longest = profile.fifo_message_words + FRAME_WORDS
        # A word through links of nobody: what is compiled for it is, before cards run whose hosts wait for an answer.
        spare = self._new().live
        spare.come(self.ways[0], 1, 0)
        spare.run(_PS_PER_S)
        self.links = self._new()

    def bring_up(self, faults: Hooks) -> Sequence[Port]:
        """Bring the cards' links up anew; return their ports. What is still inside drains, and arrives nowhere."""
        self.faults = faults
        self.links.up = False
        self.links = self._new()
        return self.links.ports

    def standing(self, way: Way) -> int:
        """Return how many words hold a place of a crosspoint now."""
        self.links.live.run(int(self.env.now))
        return self.links.live.standing(way)

    def _new(self) -> _Links:
        return _Links(
            self, Live(self.switch, self.ways, 2 * (self.switch.words + 2 * self._longest))
        )


def _check_fit(switch: Crosspoints, profile: Profile) -> None:
    where = switch.described.file.path
    longest = profile.fifo_message_words + FRAME_WORDS
    if switch.words < longest:
        raise InputError(
            f"{where}: pool.{switch.pool}: {switch.words} words cannot hold the longest packet of profile "
            f"{profile.name}, {longest} words; a card sends a packet when all of it has room (switch-pair has 1024)"
        )
    link_ps = _PS_PER_S / profile.clocks_link_hz
    if abs(switch.cycle_ps - link_ps) > 0.5:
        raise InputError(
            f"{where}: a word takes {switch.cycle_ps / 1000:g} ns at an output; the link of profile "
            f"{profile.name} takes {link_ps / 1000:g} ns: give it a switch of its own clock"
        )
    if switch.ports < CARDS:
        raise InputError(f"{where}: has {switch.ports} port; the cards need {CARDS}")


class _Links:
    """The links of the cards since they came up, and the crosspoints behind them."""

    def __init__(self, crossbar: Crossbar, live: Live) -> None:
        self.up = True
        self.live = live
        self.ports = [Port(crossbar, self, number) for number in range(CARDS)]


class Port:
    """A port with a card: the wire into the switch."""

    wire: Wire
    """To the receiver of the card at this port."""

    def __init__(self, crossbar: Crossbar, links: _Links, number: int) -> None:
        self.number = number
        self._bar = crossbar
        self._links = links
        self._live = links.live
        self._sent = 0  # words, since the link came up
        self._left = 0  # words that the card was told of, of packets that are forgotten
        self._inside: deque[_Crossing] = deque()

    # -- towards the card ----------------------------------------------------------------------

    def wait(self, words: int) -> simpy.Event | None:
        """Return None where the card may send so many words now, else when it should ask again."""
        bar, now = self._bar, int(self._bar.env.now)
        self._live.run(now)
        missing = self._sent - self._told(now - bar.latency_ps) + words - bar.switch.words
        if missing <= 0:
            return None
        return bar.env.timeout(missing * bar.switch.cycle_ps)  # no crosspoint is emptied faster

    def expect(self, words: Words, kinds: Kinds, first_ps: int) -> Cut:
        """A packet is on the wire into the switch."""
        return partial(self._cut, self._coming(words, kinds, first_ps))

    def expect_credit(self, word: int, at_ps: int) -> None:
        """A credit word is on the wire into the switch."""
        self._coming(np.array([word], dtype=np.uint64), None, at_ps)

    def _told(self, t_ps: int) -> int:
        """Return how many words had left the crosspoints at a time, as far as the card is told of them."""
        told = self._left
        for crossing in self._inside:
            if crossing.row >= 0:
                told += min(crossing.tells, self._live.through(crossing.row, t_ps))
        return told

    # -- through the switch --------------------------------------------------------------------

    def _coming(self, words: Words, kinds: Kinds | None, first_ps: int) -> _Crossing:
        way = self.number, 1 - self.number
        crossing = _Crossing(words, kinds, way, first_ps, words, kinds, len(words))
        self._sent += len(words)
        self._inside.append(crossing)
        self._at(first_ps, self._comes, crossing)
        return crossing

    def _at(self, t_ps: int, step: Callable[[_Crossing], None], crossing: _Crossing) -> None:
        event = self._bar.env.timeout(t_ps - self._bar.env.now)
        event.callbacks = [lambda _: step(crossing)]  # no other callback can wait for a new event

    def _when(
        self,
        asked: Callable[[int], int | None],
        step: Callable[[_Crossing], None],
        crossing: _Crossing,
    ) -> int | None:
        """Return when it was, by the switch as it is now; None: not yet, and the step is taken again in a cycle."""
        now = int(self._bar.env.now)
        self._live.run(now)
        found_ps = asked(crossing.row)
        if found_ps is None:
            self._at(now + self._bar.switch.cycle_ps, step, crossing)
        return found_ps

    def _comes(self, crossing: _Crossing) -> None:
        """The first word is there: where to, and what will come out."""
        bar, now, faults = self._bar, int(self._bar.env.now), self._bar.faults
        if crossing.kinds is not None and self._links.up:
            words, kinds = crossing.words, crossing.kinds
            crossing.way = self.number, faults.turns(words, crossing.way, bar.switch.ports)
            crossing.leaving, crossing.leaving_kinds = faults.crossing(words, kinds, crossing.way)
            crossing.tells = faults.tells(words, crossing.way)
        self._live.run(now)
        crossing.row = self._live.come(crossing.way, len(crossing.words), now)
        self._at(now + len(crossing.words) * bar.switch.cycle_ps, self._entered, crossing)
        self._at(now + bar.switch.head_ps, self._look, crossing)

    def _entered(self, crossing: _Crossing) -> None:
        counts = self._bar.counts[self.number]
        counts.words_in += crossing.gone(len(crossing.words))
        if crossing.whole:
            counts.packets_in += crossing.kinds is not None
            counts.bad_in += _bad(crossing.words, crossing.kinds)

    def _look(self, crossing: _Crossing) -> None:
        """Has its first word begun to leave the switch? Then the card there is told to expect it."""
        bar, now = self._bar, int(self._bar.env.now)
        begun = self._when(self._live.begun_ps, self._look, crossing)
        if begun is None:
            return
        end_ps = begun + len(crossing.words) * bar.switch.cycle_ps
        self._at(max(now, end_ps), self._leaves, crossing)
        if self._links.up and crossing.way[1] < CARDS:
            self._hand_on(crossing, self._links.ports[crossing.way[1]].wire, begun + bar.latency_ps)

    def _hand_on(self, crossing: _Crossing, wire: Wire, first_ps: int) -> None:
        if crossing.leaving_kinds is None:
            wire.expect_credit(int(crossing.leaving[0]), first_ps)
            return
        crossing.cut = wire.expect(crossing.leaving, crossing.leaving_kinds, first_ps)
        if not crossing.whole:
            self._cut(crossing, crossing.sent)

    def _leaves(self, crossing: _Crossing) -> None:
        """Its last word is through, or will be."""
        bar, now = self._bar, int(self._bar.env.now)
        done = self._when(self._live.done_ps, self._leaves, crossing)
        if done is None:
            return
        counts = bar.counts[crossing.way[1]]
        counts.words_out += crossing.gone(len(crossing.leaving))
        bar.counts[self.number].told += crossing.gone(crossing.tells)
        if crossing.whole:
            counts.packets_out += crossing.kinds is not None
            counts.bad_out += _bad(crossing.leaving, crossing.leaving_kinds)
            if crossing.kinds is not None:
                flow = int(crossing.words[0]) >> HEADER_FLOW_LSB & HEADER_FLOW_MASK
                bar.watch.forwarded(flow, len(crossing.leaving), done - crossing.first_ps)
        bar.watch.occupied(crossing.way, self._live.standing(crossing.way))
        self._at(now + bar.latency_ps, self._forget, crossing)

    def _forget(self, crossing: _Crossing) -> None:
        """The card has been told of all of its words."""
        self._inside.remove(crossing)
        self._left += crossing.tells
        self._live.release(crossing.row)

    def _cut(self, crossing: _Crossing, sent_words: int) -> None:
        """The card was held after ``sent_words`` words of a packet; the others never came."""
        crossing.sent = sent_words
        if crossing.cut is not None:
            crossing.cut(crossing.gone(len(crossing.leaving)))


def _bad(words: Words, kinds: Kinds | None) -> bool:
    """Return whether a check of a packet fails, or of a credit."""
    if kinds is None:
        word = int(words[0])
        return not (credit_crc_ok(word) and credit_parity_ok(word))
    return inspect(words, kinds).bad
