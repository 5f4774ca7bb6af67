"""A card behind a real UDP socket that freezes by itself and can be switched off and on, and knows what it lost."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from freezeframe.capture.errors import TargetTimeout
from freezeframe.capture.registers import names
from freezeframe.capture.targets.base import Words
from tests.capture.recorder.fake_recorder import ARMED, FROZEN, FakeRecorder
from tests.capture.serving import serving


@dataclass(frozen=True)
class Gone:
    """A frozen recording that was armed over (by a write), or that power took."""

    nonce: int
    generation: int
    by_power: bool


@dataclass
class FreezingCard(FakeRecorder):
    """One device. All accesses come from the server's thread; ``power_cycle`` is asked for and done there."""

    seed: int = 1
    gone: list[Gone] = field(default_factory=list)

    def __init__(self, seed: int) -> None:
        FakeRecorder.__init__(self, devices=1, depth=64, sampler_depth=0, frozen=False, seed=seed)
        self.random = random.Random(seed)
        self.gone = []
        self.frozen_ever: list[tuple[int, int]] = []
        self.away_until_s = 0.0
        self.asked_power = threading.Event()
        self.set(0, "ctl.causes", 0)
        self._freezes_at_s = time.monotonic() + self._pause_s()

    def _pause_s(self) -> float:
        return self.random.uniform(0.0, 0.12)

    @property
    def key(self) -> tuple[int, int]:
        return self.get(0, "id.boot_nonce"), self.get(0, "ctl.generation")

    def run_on(self) -> None:
        """Let time pass: freeze when it is due, lose the power when that was asked."""
        now_s = time.monotonic()
        if self.asked_power.is_set():
            self.asked_power.clear()
            self._power_cycle(now_s)
        state = self.get(0, "ctl.state") & 3
        if state == ARMED and now_s >= self._freezes_at_s:
            self.set(0, "ctl.state", FROZEN | 0x1F << 8)
            self.set(0, "ctl.causes", 1 << 3)
            self.set(0, "ctl.cause_cycle_lo", self.random.getrandbits(32))
            self.frozen_ever.append(self.key)

    def _power_cycle(self, now_s: float) -> None:
        if self.get(0, "ctl.state") & 3 == FROZEN:
            self.gone.append(Gone(*self.key, by_power=True))
        self.set(0, "id.boot_nonce", self.random.getrandbits(32))
        self.set(0, "ctl.generation", 1)
        self.set(0, "ctl.state", ARMED)
        self.set(0, "ctl.causes", 0)
        self.away_until_s = now_s + self.random.uniform(0.0, 0.1)
        self._freezes_at_s = now_s + self._pause_s()

    def read(self, addresses: Words | Sequence[int]) -> Words:
        self.run_on()
        if time.monotonic() < self.away_until_s:
            raise TargetTimeout("card: no power")
        return super().read(addresses)

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        self.run_on()
        if time.monotonic() < self.away_until_s:
            return
        before, frozen = self.key, self.get(0, "ctl.state") & 3 == FROZEN
        super().write(address, words)
        if address == names.offset("ctl.arm") and self.key != before:
            if frozen:
                self.gone.append(Gone(*before, by_power=False))
            self._freezes_at_s = time.monotonic() + self._pause_s()


def served(card: FreezingCard) -> AbstractContextManager[str]:
    """Answer Etherbone for a card, whose time passes between the datagrams; gives the URL."""
    return serving(card, card.run_on, 0.002)
