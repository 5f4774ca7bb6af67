"""Conservation laws: what must add up within one sample of a source, declared as data.

What goes into a FIFO is what has come out of it and what still is in it; so "in - out" lies between 0 and the
FIFO's depth. Counts of two clock domains reach a snapshot a few cycles apart: while words move, some slack is
allowed; when nothing has moved from one sample to the next, none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from freezeframe.capture.counters.contract import Sample

__all__ = ["Law", "LawWatch", "card_laws"]

_SLACK_WORDS = 64  # a dozen cycles of synchronizing, with room
_TIMES = 2  # samples in a row, with one alone a card that was just restarted would be accused


@dataclass(frozen=True, slots=True)
class Law:
    """``least <= sum(into) - sum(out_of) <= most``, all of them counters of one sample."""

    name: str
    into: tuple[str, ...]
    out_of: tuple[str, ...]
    least: int
    most: int

    def balance(self, values: Mapping[str, int]) -> int | None:
        """Return ``sum(into) - sum(out_of)``, None where a counter is not in the sample."""
        try:
            return sum(values[key] for key in self.into) - sum(values[key] for key in self.out_of)
        except KeyError:
            return None


_CARD: tuple[tuple[str, str, str, int], ...] = (  # name, in, out, which FIFO's depth
    ("outgoing FIFO, words", "tx_enq_words", "tx_deq_words", 0),
    ("outgoing FIFO, packets", "tx_enq_packets", "tx_deq_packets", 0),
    ("incoming FIFO, words", "rx_enq_words", "rx_deq_words", 1),
    ("incoming FIFO, packets", "rx_enq_packets", "rx_deq_packets", 1),
)


def card_laws(device: str, tx_fifo_words: int, rx_fifo_words: int) -> list[Law]:
    """Return the laws of one card. What a driver counts, and when, is its own affair: interfaces have none."""
    depths_words = (tx_fifo_words, rx_fifo_words)
    return [
        Law(f"{device} {name}", (f"{device}.{into}",), (f"{device}.{out}",), 0, depths_words[fifo])
        for name, into, out, fifo in _CARD
    ]


class LawWatch:
    """Whether the laws of one source hold, sample after sample."""

    def __init__(self, laws: Sequence[Law]) -> None:
        self.laws = laws
        self._before: dict[str, int] = {}
        self._times = dict.fromkeys((law.name for law in laws), 0)

    def broken(self, sample: Sample) -> dict[str, str]:
        """Return the laws that are broken, with what is wrong in words."""
        found = {}
        values = sample.values
        for law in self.laws:
            balance = law.balance(values)
            if balance is None:
                continue
            keys = law.into + law.out_of
            still = all(self._before.get(key) == values[key] for key in keys)
            slack = 0 if still else _SLACK_WORDS
            wrong = not law.least - slack <= balance <= law.most + slack
            self._times[law.name] = self._times[law.name] + 1 if wrong else 0
            if self._times[law.name] >= _TIMES:
                surplus = balance < law.least
                count = law.least - balance if surplus else balance - law.most
                found[law.name] = (
                    f"{count:,} {'more came out than went in' if surplus else 'went in and never came out'}"
                )
        self._before = {
            key: values[key] for law in self.laws for key in law.into + law.out_of if key in values
        }
        return found
