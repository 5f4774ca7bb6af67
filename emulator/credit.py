"""Credit flow control of one flow in both directions of one card, in words, wrapping as the hardware's counters do.

Source: docs/formats.md section 3; papers: cumulative counts, two bits more than the receiver's buffer needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from freezeframe.emulator.tally import Tally


class Flow:
    """One flow of one card: as a sender (sent, credited, limit) and as a receiver (received, freed, reported).

    Counts of words are tallies; ``credited`` and ``reported`` are the wrapped values that credit words carry.
    """

    __slots__ = (
        "credited", "due_at", "freed", "limit", "mask", "number", "received", "reported", "sent", "unit",
    )  # fmt: skip

    def __init__(self, number: int, limit: int, credit_w: int, unit: int) -> None:
        self.number = number
        self.limit = limit
        self.mask = (1 << credit_w) - 1
        self.unit = unit
        self.sent = Tally()  # link cycles
        self.received = Tally()  # link cycles
        self.freed = Tally()  # bus cycles
        self.credited = 0
        self.reported = 0
        self.due_at = unit  # freed count at which the next credit is due

    def free(self) -> int:
        """Return the words the sender may still send, from what it has sent in all."""
        return self.limit - (self.sent.entered - self.credited & self.mask)

    def fits(self, words: int) -> bool:
        """Return whether a packet of ``words`` may start: compared modulo the counters' width."""
        return words <= self.free()

    def free_run(self, cycle: int, words: int) -> list[int]:
        """Enter a run of words freed from bus cycle ``cycle`` on. Return the cycles in which credits become due."""
        before = self.freed.entered
        self.freed.add(cycle, words)
        due = []
        while self.due_at <= before + words:
            due.append(cycle + max(0, self.due_at - before - 1))
            self.due_at += self.unit
        return due

    def cut(self, bus: int, link: int) -> None:
        """Take back what was counted for cycles after the present ones."""
        self.sent.cut(link)
        self.received.cut(link)
        self.freed.cut(bus)


class Flows:
    """The flows of one card, by number."""

    def __init__(self, flows: Sequence[Flow], outside: Flow) -> None:
        """Take the flows of the map, and one with no credit for every number outside it."""
        self._flows = tuple(flows)
        self._outside = outside

    def __iter__(self) -> Iterator[Flow]:
        return iter(self._flows)

    def __getitem__(self, number: int) -> Flow:
        """Return a flow; for a number outside the map the one with no credit."""
        return self._flows[number] if number < len(self._flows) else self._outside

    def known(self, number: int) -> Flow | None:
        """Return a flow of the map, None for a number outside it."""
        return self._flows[number] if number < len(self._flows) else None
