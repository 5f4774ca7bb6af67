"""The recorder's rules followed one cycle at a time, in the plainest way: an oracle that shares nothing with
the models.

Source: docs/formats.md section 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Record = tuple[int, int, int]  # dt, kind, data

MARK, LOSS, TIME = 13, 14, 15


@dataclass(frozen=True)
class Cause:
    """A cause, what to do after it, and how fast ``post`` drains."""

    cycle: int
    mask: int
    post: int
    drain: int


@dataclass(frozen=True)
class Closed:
    """What a memory holds, oldest first, and the first cycle in which it is closed."""

    records: list[Record]
    closed: int
    offered: int = 0
    lost: int = 0


def follow_tap(words: Mapping[int, tuple[int, int]], arm: int, cause: Cause) -> Closed:
    """Follow a tap; ``words`` maps a cycle to (kind, data)."""
    records: list[Record] = []
    previous, after_time, left, shut = None, True, 0, None
    cycle = arm
    while True:
        cycle += 1
        gap = 15 if previous is None else min(15, cycle - previous)
        if shut is not None:
            if cycle == shut + 1:
                records.append((gap, MARK, cause.mask | (cycle - cause.cycle) << 16))
                continue
            records.append((1, TIME, cycle))
            return Closed(records, cycle + 1)
        stored = 1
        if cycle in words:
            records.append((gap, *words[cycle]))
            previous, after_time = cycle, False
        elif previous is not None and not after_time and cycle == previous + 14:
            records.append((14, TIME, cycle))
            previous, after_time = cycle, True
        else:
            stored = 0
        if cycle == cause.cycle:
            left = cause.post
        if cycle > cause.cycle:
            left -= stored + ((cycle - cause.cycle) % cause.drain == 0)
        if cycle >= cause.cycle and left <= 0:
            shut = cycle


def follow_log(
    events: Mapping[int, Sequence[tuple[int, int, int]]], arm: int, cause: Cause, places: int
) -> Closed:
    """Follow an event log; ``events`` maps a cycle to (source, kind, data) in any order of sources."""
    memory: list[Record] = []
    level, due, lost, offered = 0, 0, 0, 0
    previous, after_time, left, shut = None, True, 0, None
    cycle = arm
    while True:
        cycle += 1
        was_empty = level == 0
        level -= not was_empty
        gap = 15 if previous is None else min(15, cycle - previous)
        if shut is not None and was_empty:
            if due:
                memory.append((gap, LOSS, due))
                cycle, gap = cycle + 1, 1
            memory.append((gap, MARK, cause.mask | (cycle - cause.cycle) << 16))
            memory.append((1, TIME, cycle + 1))
            return Closed(memory, cycle + 2, offered, lost)
        entering: list[tuple[int, int]] = []
        if shut is None:
            if due and 2 * (places - level) >= places:
                entering.append((LOSS, due))
                due = 0
            for _, kind, data in sorted(events.get(cycle, ()), key=lambda event: event[0]):
                if cycle > cause.cycle and len(entering) == left:
                    continue  # rule 4: the next `post` records and no more
                offered += 1
                if not due and places - level - len(entering) >= 2:
                    entering.append((kind, data))
                else:
                    due += 1
                    lost += 1
        if not entering and previous is not None and not after_time and cycle == previous + 14:
            entering.append((TIME, cycle))
        for number, (kind, data) in enumerate(entering):
            memory.append((gap if number == 0 else 0, kind, data))
            previous, after_time = cycle, kind == TIME
        level += len(entering)
        assert level <= places
        if cycle == cause.cycle:
            left = cause.post
        if cycle > cause.cycle:
            left -= len(entering) + ((cycle - cause.cycle) % cause.drain == 0)
        if shut is None and cycle >= cause.cycle and left <= 0:
            shut = cycle
