"""Names of a card's parts by what they do, so that no analysis has to know what a card calls them.

A card of map 1 sends on one path and receives on another; each has a tap where packets enter its FIFO and one
where they leave it. Counters and causes are found by what they count or mean, and where.

Source: docs/card-file.md, "Meanings".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import get_args

from freezeframe.capture.card.elaborated import LOG, ElaboratedCard
from freezeframe.capture.card.tables import Means, Stretch
from freezeframe.capture.errors import InputError
from freezeframe.capture.registers.layouts import DOMAIN_NAMES
from freezeframe.capture.registers.map_forms import EXAMPLE, form_of

EVENT_LOG = LOG
"""Name of the memory of events, on every card that has one."""

MEANINGS: frozenset[str] = frozenset(get_args(get_args(Means)[0]))


@dataclass(frozen=True, slots=True)
class Way:
    """One path of a card: the tap at which packets enter its FIFO, that at which they leave it, and the FIFO.

    Attributes:
        level: wire of the bank with the words in the FIFO at the freeze; empty where there is none.
        capacity: what of the identity tells how many words it holds; empty where the device does not say.
    """

    name: str
    entry: str
    exit: str
    level: str
    capacity: str

    @property
    def taps(self) -> tuple[str, str]:
        """Both taps, in the order of a packet."""
        return self.entry, self.exit


class Roles:
    """The parts of one card.

    Attributes:
        tx: on which the card sends; rx: on which it receives.
        taps: in the order of their memories; memories: these and the event log.
        means: what each cause of the file means.
        form: what its devices have, by their map.
    """

    def __init__(self, card: ElaboratedCard) -> None:
        self.card = card
        self.taps: tuple[str, ...] = tuple(tap.name for tap in card.taps)
        self.memories: tuple[str, ...] = tuple(recorder.name for recorder in card.recorders)
        self.tx, self.rx = _ways(card)
        self.form = form_of(card.said.card.map_hash) or EXAMPLE
        self._counters: dict[tuple[str, str], str] = {}
        for name, counter in card.counters:
            for key in ((counter.counts or counter.means, tap) for tap in (counter.tap, "")):
                self._counters.setdefault(key, name)
        self._causes: dict[tuple[str, str], str] = {}
        for cause in card.causes:
            if cause.said is not None:
                for tap in (cause.said.tap, ""):
                    self._causes.setdefault((cause.said.means, tap), cause.name)
        self.means = {
            cause.name: cause.said.means for cause in card.causes if cause.said is not None
        }
        # Clock domain of each memory, as the time base calls it; the event log is in that of the register bus.
        self.domain_of = {tap.name: DOMAIN_NAMES[tap.clock.number] for tap in card.taps} | {
            EVENT_LOG: DOMAIN_NAMES[0]
        }

    @property
    def lanes(self) -> int:
        """Lanes that the link is bonded from."""
        return self.form.lanes

    @property
    def ways(self) -> tuple[Way, Way]:
        """The outgoing path, and the incoming one."""
        return self.tx, self.rx

    def way_of(self, tap: str) -> Way:
        """Return the path of a tap."""
        return self.tx if tap in self.tx.taps else self.rx

    def counter(self, counts: str, tap: str = "") -> str:
        """Return the counter that counts this, at that tap where it is named; empty where the card has none.

        Raises:
            ValueError: nothing of that kind is ever counted.
        """
        _check(counts, "packets", "words", "bytes", "bad", "waits")
        return self._counters.get((counts, tap), "")

    def cause(self, means: str, tap: str = "") -> str:
        """Return the cause of that meaning, at that tap where it is named; empty where the card has none.

        Raises:
            ValueError: no cause ever means that.
        """
        _check(means)
        return self._causes.get((means, tap), "")

    def causes(self, *means: str) -> tuple[str, ...]:
        """Return the causes of these meanings that the card has; raises as `cause`."""
        return tuple(filter(None, map(self.cause, means)))

    def unit(self, counter: str) -> str:
        """Return what a counter counts in."""
        return self.card.said.counter[counter].unit


@cache
def roles_of(card: ElaboratedCard) -> Roles:
    """Return the parts of a card of map 1.

    Raises:
        InputError: the card has no path on which it sends to the path of another one.
    """
    return Roles(card)


def _check(meaning: str, *more: str) -> None:
    if meaning not in MEANINGS and meaning not in more:
        raise ValueError(f"{meaning!r} is no meaning of docs/card-file.md")


def _ways(card: ElaboratedCard) -> tuple[Way, Way]:
    paths = card.said.path
    sends = next((name for name, path in paths.items() if path.far_end), "")
    receives = paths[sends].far_end.partition(":")[2] if sends else ""
    for name in (sends, receives):
        if name not in paths or len(paths[name].taps) != 2:
            raise InputError(
                f"card {card.name}: a card of map 1 sends on a path of two taps with far_end = "
                '"CARD:PATH", and receives on such a path'
            )
    return _way(card, sends), _way(card, receives)


def _way(card: ElaboratedCard, name: str) -> Way:
    path = card.said.path[name]
    stretch = path.stretch[0] if path.stretch else Stretch()
    level = card.said.bank[stretch.level].wire if stretch.level else ""
    return Way(name, path.taps[0], path.taps[1], level, stretch.capacity)
