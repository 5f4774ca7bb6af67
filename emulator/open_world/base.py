"""What the faults of the open world have in common, and how one of them is declared.

None of them is known to the diagnosis. They take hold at the hooks of `freezeframe.emulator.hooks`, or are plugged
between two stages of a card as what the port between them asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from freezeframe.emulator.faults.base import A, B, Fault
from freezeframe.emulator.faults.shaping import keep_busy
from freezeframe.emulator.hooks import Hooks
from freezeframe.emulator.memory import Words
from freezeframe.emulator.nic import Nic
from freezeframe.emulator.packet import HEAD_WORDS, Header, header_in
from freezeframe.emulator.ports import Site
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.traffic import Plan


@dataclass(frozen=True, slots=True)
class Entry:
    """A fault that is in no list.

    Attributes:
        kind: "data" (words are damaged, lost or moved), "stall", "recorder" (what was recorded is wrong, the card is
            not), "register" (a register or counter is wrong), "host", or "none" (nothing a recording could show).
        mechanism: one sentence.
        truth: what counts as its place: the first bad tap and packet, the one that stopped, or the wrong register.
        fair: names that are true of it, beside `undetermined`: general ones, and those of the list by which its
            mechanism or what cannot be told from it is meant.
        make: makes it.
    """

    name: str
    layer: str
    kind: str
    mechanism: str
    truth: str
    fair: tuple[str, ...]
    make: Callable[[str], Unlisted]


class Unlisted(Fault):
    """A fault by the name of its entry. The host freezes when the symptom had time to show and no check has.

    Attributes:
        cards: both, when their stages exist.
        slow: how long a symptom gets, in microseconds, from the strike on.
        busy: A keeps one of its flows busy, which is ``flow``.
    """

    silent = True
    card = B
    slow = (40, 160)
    busy = False

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.cards: dict[int, Nic] = {}
        self.flow: int | None = None

    def shape(self, plan: Plan, profile: Profile) -> None:
        if self.busy:
            self.flow = keep_busy(self, plan, slow=False)

    def hooks(self, site: Site) -> Hooks:
        if isinstance(site, Nic):
            self.cards[site.index] = site
        return super().hooks(site)

    @property
    def sender(self) -> Nic:
        return self.cards[A]

    @property
    def receiver(self) -> Nic:
        return self.cards[B]

    @property
    def nic(self) -> Nic:
        """The card it sits in."""
        return self.cards[self.site.index]

    def strike(self, *place: Any, **detail: Any) -> None:
        super().strike(*place, **detail)
        if self.evident_ps is None:
            self.show_within(*self.slow)

    def takes_hold(self, goes_on: bool) -> bool:
        """Return whether it may strike now, or (``goes_on``) has struck."""
        return (self.done and goes_on) or self.ready()

    def strike_first(self, *place: Any, **detail: Any) -> None:
        """Strike, of what goes on, the first time alone."""
        if not self.done:
            self.strike(*place, **detail)

    def hit(self, tap: str, words: Words, place: int | None = None, **detail: object) -> None:
        """Strike a packet, at one of its words, where its header can be read."""
        header = header_of(words)
        if header is None:
            self.strike(tap, **detail)
            return
        word = None if place is None else header.payload_word(place)
        self.strike(tap, header.flow, header.seq, word, **detail)

    def later(self, action: Callable[[], None]) -> None:
        """Do something at the moment that was drawn."""
        self.site.time.at(max(self.site.time.now_ps, self.not_before_ps), action)


def header_of(words: Words) -> Header | None:
    """Return the header of a packet's words, None where they do not begin with a good one."""
    header = header_in(words) if len(words) >= HEAD_WORDS else None
    return header if header is not None and header.good else None
