"""An independent model of a recorder: words with their cycles in, 9-byte records out.

Written from docs/formats.md section 2 and nothing else; shares no code with encoders or decoders.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

HEAD, BODY, TAIL, CREDIT, DESC, NOTE, IRQ, STATE, PRESSURE, LINK = range(1, 11)
USER, MARK, LOSS, TIME = 12, 13, 14, 15


@dataclass(frozen=True)
class Stored:
    """One record as the model stored it, with the cycle it really belongs to."""

    cycle: int
    kind: int
    data: int
    dt: int

    @property
    def raw(self) -> bytes:
        return self.data.to_bytes(8, "little") + bytes([self.kind | self.dt << 4])


def record_stream(
    words: Iterable[tuple[int, int, int]], arm_cycle: int, close_cycle: int, causes: int = 1
) -> list[Stored]:
    """Return every record since arm, MARK and TIME of the closing included.

    ``words`` are ``(cycle, kind, data)`` in order, from ``arm_cycle`` on and before ``close_cycle``; several of
    one cycle are an event log's.
    """
    stored: list[Stored] = []
    last = None  # cycle of the previous stored record

    def store(cycle: int, kind: int, data: int) -> None:
        nonlocal last
        dt = 15 if last is None else min(15, cycle - last)
        stored.append(Stored(cycle, kind, data, dt))
        last = cycle

    def idle_until(cycle: int) -> None:
        """Rule 2: one TIME after 14 cycles without a record, unless a record comes in that cycle."""
        if last is not None and stored[-1].kind != TIME and cycle > last + 14:
            store(last + 14, TIME, last + 14)

    for cycle, kind, data in words:
        assert arm_cycle <= cycle < close_cycle
        idle_until(cycle)
        store(cycle, kind, data)
    idle_until(close_cycle)
    store(close_cycle, MARK, causes | 5 << 16)
    store(close_cycle + 1, TIME, close_cycle + 1)
    return stored


def memory_of(stored: list[Stored], depth: int) -> tuple[bytes, int, bool]:
    """Return the bytes of a memory of ``depth`` slots, its write pointer, and whether it wrapped."""
    slots = [bytes(9)] * depth
    for number, record in enumerate(stored):
        slots[number % depth] = record.raw
    return b"".join(slots), len(stored) % depth, len(stored) >= depth
