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
    from freezeframe.capture.counters.contract import CounterSource, Sample

__all__ = ["Law", "LawWatch", "laws_of"]

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


def laws_of(source: CounterSource) -> list[Law]:
    """Return the laws of a source. Only cards have some: what a driver counts, and when, is its own affair."""
    depths = getattr(source, "depths_words", None)
    if depths is None:
        return []
    devices = dict.fromkeys(key.partition(".")[0] for key in source.counters)
    return [
        Law(
            f"{device} {name}", (f"{device}.{into}",), (f"{device}.{out}",), 0, depths(device)[fifo]
        )
        for device in devices
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
                found[law.name] = (
                    f"in minus out is {balance:,}, not {law.least:,} to {law.most:,}: "
                    + ("more came out than went in" if balance < law.least else "some were lost")
                )
        self._before = {
            key: values[key] for law in self.laws for key in law.into + law.out_of if key in values
        }
        return found
