"""The memories of a described card's recorder: words of a tap and entries of the log as records, in their cycles.

Of taps those of whole 64-bit words (``keep = "none"``, ``store = "all"``, the plain recorder).

Source: docs/card-map.md, sections 5 and 6; docs/formats.md section 2.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from freezeframe.capture.card.elaborated import ElaboratedTap
from freezeframe.capture.card.recording import RecordedTap
from freezeframe.decoders.tap.event_log import LogKind
from freezeframe.decoders.tap.kinds import TapKind

_LONGEST_STEP = 14  # cycles; after more a TIME stands between two records
_NEVER_STORED = 15  # step of a record that none was before, or TIME's own
_RECORD_B = 9


@dataclass(slots=True)
class CardMemory:
    """A ring of records in one clock; fed in the order of the cycles."""

    tap: ElaboratedTap
    stored: int = 0
    offered: int = 0
    _ring: deque[bytes] = field(default_factory=deque)
    _previous: int | None = None

    def store(self, cycle: int, kind: int, data: int) -> None:
        """Keep a record that is written in a cycle; two never are in one."""
        if self._previous is not None and cycle <= self._previous:
            raise ValueError(
                f"{self.tap.name}: a record in cycle {cycle} behind one in {self._previous}"
            )
        step = _NEVER_STORED
        if self._previous is not None:
            if cycle - self._previous > _LONGEST_STEP:
                self._previous += _LONGEST_STEP
                self._put(self._previous, int(TapKind.TIME), _LONGEST_STEP)
            step = min(_NEVER_STORED, cycle - self._previous)
        self._put(data, kind, step)
        self._previous = cycle

    def close(self, cycle: int, causes: int, since: int) -> RecordedTap:
        """Return the memory as it stands after closing in a cycle, with its MARK and its time."""
        previous = 0 if self._previous is None else self._previous
        if cycle - previous > _LONGEST_STEP:
            previous += _LONGEST_STEP
            self._put(previous, int(TapKind.TIME), _LONGEST_STEP)
        mark = causes & 0xFFFF | since << 16 | (causes >> 16) << 56
        self._put(mark, int(TapKind.MARK), min(_NEVER_STORED, cycle - previous))
        self._put(cycle + 1, int(TapKind.TIME), 1)
        depth = self.tap.said.depth
        memory = np.zeros((depth, _RECORD_B), np.uint8)
        kept = np.frombuffer(b"".join(self._ring), np.uint8).reshape(-1, _RECORD_B)
        memory[np.arange(self.stored - len(kept), self.stored) % depth] = kept
        return RecordedTap(
            self.tap, (memory,), self.stored % depth, self.stored >= depth,
            stored=self.stored, offered=self.offered,
        )  # fmt: skip

    def _put(self, data: int, kind: int, step: int) -> None:
        self._ring.append((data | (kind | step << 4) << 64).to_bytes(_RECORD_B, "little"))
        self.stored += 1
        if len(self._ring) > self.tap.said.depth:
            self._ring.popleft()


class TapMemory(CardMemory):
    """The memory of a tap of 64 bits."""

    def packet(self, begin: int, data: bytes) -> None:
        """Take a packet whose words, 8 bytes each, stand in the cycles from ``begin`` on."""
        if len(data) % 8 or len(data) < 8:
            raise ValueError(f"{self.tap.name}: a packet of {len(data)} B; whole words of 8 B")
        words = len(data) // 8
        for n in range(words):
            kind = TapKind.TAIL if n == words - 1 else TapKind.HEAD if n == 0 else TapKind.BODY
            self.offered += 1
            word = int.from_bytes(data[8 * n : 8 * n + 8], "little")
            self.store(begin + n + self.tap.latency_cycles, int(kind), word)


class LogMemory(CardMemory):
    """The event log: entries wait for their turn, one a cycle, and have the cycle of their wire in them."""

    def entry(self, cycle: int, source: int, kind: LogKind, value: int, close: int) -> bool:
        """Log what a source's wire did in a cycle; return whether it came to be written before the closing."""
        at = cycle + 1
        first = at + 1
        if self._previous is not None:
            first = max(first, self._previous + 1)
        if first >= close:
            return False
        self.offered += 1
        self.store(first, int(kind), value | (at & 0xFFFF) << 40 | source << 56)
        return True
