"""What every fault is: hooks in the stages of one card, which take hold of a run at a time drawn by its seed.

A sends to B: faults act on that direction only. Everything random about a fault comes from its own generator,
so that it does not disturb what the hosts do.

Source: docs/faults.md; each fault's file says what it does.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from freezeframe.emulator.hooks import Hooks
from freezeframe.emulator.ports import Site
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.traffic import Plan
from freezeframe.emulator.truth import Injection

A, B = 0, 1
"""The card that sends in the faulty direction, and the one that receives."""

DIRECTION = "A->B"

US = 1_000_000  # picoseconds

# From the start of a run to the first chance of an injection.
_EARLIEST_PS, _LATEST_PS = 5 * US, 250 * US


class Fault(Hooks):
    """No fault: a clean run. Subclasses override the hooks they act on, and strike from `not_before_ps` on.

    Attributes:
        card: the card it sits in, known after `shape`; None: in none.
        site: that card.
        after_ps: from the start of a run to the begin of the fault, where that was asked for; None: as the seed draws
            it, and from the start of the run on for a fault that is always there.
        evident_ps: for a fault that no hardware check finds: when its symptom had time to show, known once
            it has struck; a host may freeze from then on. A clean run has nothing to show.
    """

    name = "none"
    card: int | None = None
    lasting = False
    """Whether it is there from the beginning and strikes when what it needs has come together."""
    silent = False
    """Whether no check of the hardware finds this fault, so that only the host freezes."""
    in_switch = False
    """Whether it is in the switch between the cards: its hooks act there, and it is told as of the card that sends."""
    no_begin = ""
    """Why it cannot begin at a time that is asked for; empty for one that can."""
    in_idle = ""
    """What it does while nothing moves, so that idle stretches after its begin are simulated; empty for nothing."""
    site: Site

    def __init__(self) -> None:
        self.draw = random.Random(0)
        self.not_before_ps = 0
        self.after_ps: int | None = None
        self.evident_ps: int | None = None
        self._tell: Callable[[Injection], None] = lambda injection: None

    def link_ppb(self, card: int, ppb: int, seed: int) -> int:
        """Return the deviation of a card's link clock; asked once, at power-up, before `begin`."""
        return ppb

    def begin(self, seed: int, run: int, now_ps: int, tell: Callable[[Injection], None]) -> None:
        """Get ready for a run: after power-up, and after each re-arm of a frozen pair."""
        self.draw = random.Random(f"{seed}/{run}/{self.name}")
        self.done = False
        self.evident_ps = None
        # Spread evenly over the orders of magnitude: memories that have wrapped and memories that have not.
        ratio = _LATEST_PS / _EARLIEST_PS
        self.not_before_ps = now_ps + int(_EARLIEST_PS * ratio ** self.draw.random())
        if self.after_ps is not None:
            self.not_before_ps = now_ps + self.after_ps
        self._tell = tell
        self.prepare()

    def prepare(self) -> None:
        """Draw what decides this run."""

    def shape(self, plan: Plan, profile: Profile) -> None:
        """Arrange what the hosts do so that the symptom comes."""

    def hooks(self, site: Site) -> Hooks:
        """Return what this fault does in a card's stages."""
        if site.index != self.card:
            return Hooks()
        self.site = site
        return self

    def ready(self) -> bool:
        """Return whether the fault may strike now."""
        return not self.done and self.site.time.now_ps >= self.not_before_ps

    @property
    def each(self) -> Sequence[Fault]:
        """The faults that it consists of: itself."""
        return (self,)

    @property
    def begun(self) -> bool:
        """Whether the time of a fault has come that is there from the start of a run if nothing else is said."""
        return self.after_ps is None or self.site.time.now_ps >= self.not_before_ps

    def link_edge_ps(self, words: int) -> int:
        """Return the time at which the link has moved so many words on from now."""
        link = self.site.link
        return link.edge_ps(link.cycle_at(self.site.time.now_ps) + words)

    def strike(
        self,
        tap: str | None = None,
        flow: int | None = None,
        packet: int | None = None,
        word: int | None = None,
        t_ps: int | None = None,
        device: str | None = None,
        **detail: object,
    ) -> None:
        """Note the injection for the truth file; it has happened now, and at the fault's card, unless ``t_ps`` and
        ``device`` say when and where.
        """
        self.done = True
        at = self.site.time.now_ps if t_ps is None else t_ps
        self._tell(
            Injection(
                self.name, self.site.generation, device or self.site.name, tap, DIRECTION, flow, packet,
                word, at, detail,
            )
        )  # fmt: skip

    def show_within(self, least_us: int, most_us: int) -> None:
        """A fault that no check finds has struck: let it show for a while."""
        self.evident_ps = self.site.time.now_ps + self.draw.randrange(least_us * US, most_us * US)
