"""Conservation laws of live counters: those of `law_table` whose terms a snapshot holds or that it leaves bounded.

What goes into a FIFO is what has come out of it and what still is in it; no snapshot holds the level, so "in - out"
lies between 0 and the FIFO's depth. Counts of two clock domains reach a snapshot a few cycles apart: while words
move, some slack is allowed; when nothing has moved from one sample to the next, none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from freezeframe.capture.card.roles import Roles
from freezeframe.capture.counters.contract import Law, Sample
from freezeframe.capture.counters.law_table import CardLaw, laws_of, live_bounds, split_terms

__all__ = ["Law", "LawWatch", "card_laws"]

_SLACK_WORDS = 64  # a dozen cycles of synchronizing, with room
_TIMES = 2  # samples in a row, with one alone a card that was just restarted would be accused


def card_laws(device: str, roles: Roles, capacities: Mapping[str, int]) -> list[Law]:
    """Return the laws of one card of map 1. What a driver counts, and when, is its own affair: interfaces have none.

    Args:
        capacities: words of the card's FIFOs by the names that its identity has for them.
    """
    known = {f"parameter.{name}": words for name, words in capacities.items()}
    bounds = live_bounds(roles)
    laws = (
        _live(law, device, known, bounds) for law in laws_of(roles.card) if law.scope == "device"
    )
    return [law for law in laws if law is not None]


def _live(
    law: CardLaw, device: str, known: Mapping[str, int], bounds: Mapping[str, tuple[str, str]]
) -> Law | None:
    """Return a law as live counters can be held to it: every other term gives room by what it may be."""
    into: list[str] = []
    out_of: list[str] = []
    least, most = _bound(law.least, known, bounds), _bound(law.most, known, bounds)
    if least is None or most is None:
        return None
    for sign, term in split_terms(law.balance):
        if term.startswith("counter."):
            (into if sign > 0 else out_of).append(f"{device}.{term.removeprefix('counter.')}")
        elif term in bounds:
            low, high = (_bound(text, known, bounds) for text in bounds[term])
            if low is None or high is None:
                return None
            least += low if sign < 0 else -high
            most += high if sign < 0 else -low
        else:
            return None
    return Law(f"{device} {law.name}", tuple(into), tuple(out_of), least, most)


def _bound(
    text: str, known: Mapping[str, int], bounds: Mapping[str, tuple[str, str]]
) -> int | None:
    """Return a bound as a number: of a term that no snapshot holds, the most it can be."""
    if text.startswith("-"):
        positive = _bound(text[1:], known, bounds)
        return None if positive is None else -positive
    if text in bounds:
        text = bounds[text][1]
    return known.get(text) if text in known else int(text) if text.isdecimal() else None


class LawWatch:
    """Whether the laws of one source hold, sample after sample.

    Counters run on over an arm and what they count begins anew: words that were in a FIFO are gone. So after a card's
    first generation nobody knows what a balance began with, and it is how far it moves that the bounds allow.
    """

    def __init__(self, laws: Sequence[Law]) -> None:
        self.laws = laws
        self._before: dict[str, int] = {}
        self._times = dict.fromkeys((law.name for law in laws), 0)
        self._armed: tuple[tuple[int, int], ...] | None = None  # boot nonce, generation
        self._moved: dict[str, tuple[int, int]] = {}  # law -> the least and the most it was since

    def broken(self, sample: Sample) -> dict[str, str]:
        """Return the laws that are broken, with what is wrong in words."""
        found = {}
        values = sample.values
        armed = tuple((state.nonce, state.generation) for state in sample.recorders)
        if armed != self._armed:
            self._armed = armed
            self._moved.clear()
            self._times = dict.fromkeys(self._times, 0)
        first = all(generation == 1 for _, generation in armed)
        for law in self.laws:
            balance = law.balance(values)
            if balance is None:
                continue
            keys = law.into + law.out_of
            still = all(self._before.get(key) == values[key] for key in keys)
            slack = 0 if still else _SLACK_WORDS
            least, most = law.least, law.most
            if not first:
                low, high = self._moved.get(law.name, (balance, balance))
                self._moved[law.name] = min(low, balance), max(high, balance)
                least, most = high - (law.most - law.least), low + law.most - law.least
                slack = 2 * _SLACK_WORDS  # it may have begun while words moved
            wrong = not least - slack <= balance <= most + slack
            self._times[law.name] = self._times[law.name] + 1 if wrong else 0
            if self._times[law.name] >= _TIMES:
                surplus = balance < least
                count = least - balance if surplus else balance - most
                found[law.name] = (
                    f"{count:,} {'more came out than went in' if surplus else 'went in and never came out'}"
                )
        self._before = {
            key: values[key] for law in self.laws for key in law.into + law.out_of if key in values
        }
        return found
