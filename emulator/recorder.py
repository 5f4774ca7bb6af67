"""A tap's trace recorder as a model that knows cycles only: what is fed in is what the memory holds, bit for bit.

Nothing of the simulation is in here, so the same stimulus can be given to the RTL and both memories compared.
Records may be fed ahead of time: what counts is committed by `advance` in the order of cycles, and a cause
may still come for any cycle that is not committed.

Source: docs/formats.md section 2, rules 1 to 7.
"""

from __future__ import annotations

from collections import deque
from copy import copy
from dataclasses import dataclass

import numpy as np

from freezeframe.capture.registers.layouts import (
    MARK_CAUSES_LSB,
    MARK_SINCE_CYCLES_LSB,
    MARK_SINCE_CYCLES_MASK,
    Kind,
)
from freezeframe.emulator.memory import Kinds, Memory, Words

ALL_KINDS = 0xFFFF
_TAP_KINDS = 1 << Kind.HEAD | 1 << Kind.BODY | 1 << Kind.TAIL
_WORD = (1 << 64) - 1
_KEPT_RUNS = 64
"""Runs remembered while closed, so that an arm in the middle of a run records its rest."""


def mark_data(causes: int, since_cycles: int) -> int:
    """Return the data of a MARK; cycles beyond the field stay at its largest value."""
    since = min(since_cycles, MARK_SINCE_CYCLES_MASK)
    return causes << MARK_CAUSES_LSB | since << MARK_SINCE_CYCLES_LSB


@dataclass(slots=True)
class _Clockwork:
    """What rules 1, 2, 4 and 5 need to know: numbers only, so that it can be copied and run ahead."""

    drain: int
    previous: int | None = None  # cycle of the previous stored record
    timed: bool = True  # the previous record is TIME (or there is none): no TIME is due
    cause_cycle: int | None = None
    left: int = 0  # of post
    drains: int = 0  # times post has dropped because drain cycles went by
    shut: int | None = None  # the cycle in which post reached 0

    def time_due(self) -> int | None:
        """Return the cycle that gets a TIME if no record comes before or in it."""
        return None if self.timed or self.previous is None else self.previous + 14

    def idle(self, until: int) -> int | None:
        """Let cycles up to ``until`` pass without a word. Return the cycle of the TIME that this makes, if any.

        Call again after a TIME: nothing more comes of it, and the clockwork stands at ``until`` or is shut.
        """
        time = self.time_due()
        if time is not None and time > until:
            time = None
        if self.cause_cycle is not None and self.shut is None:
            self._drain(self.cause_cycle, until if time is None else time - 1)
            if self.shut is not None and time is not None and time > self.shut:
                time = None
        if self.shut is not None:
            return time if time is not None and time <= self.shut else None
        if time is not None:
            self.store(time, 1)
            self.timed = True
            self.idle(until)
        return time

    def _drain(self, cause: int, until: int) -> None:
        if self.left == 0 and until >= cause:
            self.shut = cause  # post was 0 from the beginning
            return
        passed = (until - cause) // self.drain - self.drains
        if passed <= 0:
            return
        if passed >= self.left:
            self.shut = cause + self.drain * (self.drains + self.left)
            self.drains += self.left
            self.left = 0
        else:
            self.drains += passed
            self.left -= passed

    def store(self, first: int, count: int) -> int:
        """Take ``count`` records of consecutive cycles; cycles before ``first`` have passed. Return how many
        are taken.
        """
        taken = self._spend(first, count)
        if taken:
            self.previous = first + taken - 1
            self.timed = False
        return taken

    def _spend(self, first: int, count: int) -> int:
        cause, last = self.cause_cycle, first + count - 1
        if cause is None or last <= cause:
            return count
        if self.left == 0:
            self.shut = cause
            return max(0, cause - first + 1)
        cycle = max(first, cause + 1)
        while True:
            drop = cause + self.drain * (self.drains + 1)
            zero = cycle + self.left - 1
            if zero <= min(last, drop - 1):
                self.left, self.shut = 0, zero
                return zero - first + 1
            if last < drop:
                self.left -= last - cycle + 1
                return count
            self.left -= drop - cycle + 2  # the records up to this cycle, and the drop itself
            self.drains += 1
            if self.left <= 0:
                self.left, self.shut = 0, drop
                return drop - first + 1
            cycle = drop + 1
            if cycle > last:
                return count


class Recorder:
    """One tap memory: at most one word a cycle, nothing lost.

    Attributes:
        kinds: bit mask of the kinds that are recorded; change it after `advance` to the cycle before.
        post: records stored after a cause, taken when the cause comes.
        offered: words let through by ``kinds`` up to the committed cycle.
    """

    def __init__(self, depth: int, drain_cycles: int = 1024) -> None:
        self.memory = Memory(depth)
        self.kinds = ALL_KINDS
        self.post = 64
        self.offered = 0
        self.armed = False
        self.causes = 0
        self._work = _Clockwork(drain_cycles)
        self._pending: deque[tuple[int, Kinds, Words]] = deque()
        self._committed = -1
        self._end: int | None = None  # the cycle of the closing TIME
        self._armed_at = -1

    @property
    def waiting(self) -> int:
        """Runs that were fed and are not committed."""
        return len(self._pending)

    @property
    def lost(self) -> int:
        """Words offered and not stored: a tap loses none."""
        return 0

    @property
    def cause_cycle(self) -> int | None:
        """The cycle of the first cause since arm."""
        return self._work.cause_cycle

    def arm(self, cycle: int) -> None:
        """Clear pointer and causes; record what comes after ``cycle``."""
        self.advance(cycle)
        self._committed = self._armed_at = cycle
        self._work = _Clockwork(self._work.drain)
        self.memory.clear()
        self.offered = 0
        self.causes = 0
        self.armed = True
        self._end = None
        while self._pending and self._pending[0][0] <= cycle:
            first, kinds, data = self._pending.popleft()
            if first + len(data) - 1 > cycle:
                gone = cycle + 1 - first
                self._pending.appendleft((cycle + 1, kinds[gone:], data[gone:]))

    def feed(self, cycle: int, kind: int, data: int) -> None:
        """Offer the word of the tap register in ``cycle``."""
        self.feed_run(cycle, np.array([kind], np.uint8), np.array([data & _WORD], np.uint64))

    def feed_run(self, cycle: int, kinds: Kinds, data: Words) -> None:
        """Offer words of consecutive cycles, the first in ``cycle``. The arrays must not change afterwards.

        Words up to the cycle of the last arm are not recorded.

        Raises:
            ValueError: the cycle is committed already, or a word was fed for it.
        """
        if cycle <= self._armed_at:  # the arm's cycle may be a few ahead of what is fed
            kinds, data = kinds[self._armed_at + 1 - cycle :], data[self._armed_at + 1 - cycle :]
            cycle = self._armed_at + 1
        if not len(data):
            return
        if cycle <= self._committed:
            raise ValueError(
                f"a word of cycle {cycle} comes late: cycle {self._committed} is committed"
            )
        if self._pending:
            first, _, before = self._pending[-1]
            if cycle < first + len(before):
                raise ValueError(
                    f"a word of cycle {cycle}, but one of cycle {first + len(before) - 1} was fed before"
                )
        self._pending.append((cycle, kinds, data))
        if (not self.armed or self._end is not None) and len(self._pending) > _KEPT_RUNS:
            self._pending.popleft()

    def cause(self, cycle: int, causes: int) -> None:
        """Note causes of ``cycle``: the first cycle with a cause latches all causes of that cycle, later ones nothing.

        Raises:
            ValueError: the cycle is committed already.
        """
        if not self.armed or not causes:
            return
        first = self._work.cause_cycle
        if first is None or cycle < first:
            if cycle <= self._committed:
                raise ValueError(
                    f"a cause of cycle {cycle} comes late: {self._committed} is committed"
                )
            self._work.cause_cycle = cycle
            self._work.left = self.post
            self.causes = causes
        elif cycle == first:
            self.causes |= causes

    def cut(self, cycle: int) -> None:
        """Take back what was fed for cycles after ``cycle``: it never happened."""
        while self._pending and self._pending[-1][0] + len(self._pending[-1][2]) - 1 > cycle:
            first, kinds, data = self._pending.pop()
            if first <= cycle:
                keep = cycle + 1 - first
                self._pending.append((first, kinds[:keep], data[:keep]))

    def advance(self, cycle: int) -> None:
        """Commit every cycle up to ``cycle``: no word and no first cause may come for them any more."""
        if cycle <= self._committed:
            return
        if self.armed and self._end is None:
            self._commit(cycle)
        self._committed = cycle

    def closes_at(self) -> int | None:
        """Return the first cycle in which the memory is closed, if nothing is fed that is not fed yet.

        More words can only make it earlier. None without a cause.
        """
        if not self.armed or self._work.cause_cycle is None:
            return None
        if self._end is not None:
            return self._end + 1
        work = copy(self._work)
        for first, kinds, _ in self._pending:
            for start, length in self._let_through(kinds):
                if work.shut is None:
                    work.idle(first + start - 1)
                if work.shut is None:
                    work.store(first + start, length)
        if work.shut is None and work.cause_cycle is not None:
            work.idle(work.cause_cycle + work.drain * (work.drains + work.left))
        return None if work.shut is None else work.shut + 3

    def _let_through(self, kinds: Kinds) -> list[tuple[int, int]]:
        """Return ``(start, length)`` of the stretches of words whose kinds are recorded."""
        if self.kinds & _TAP_KINDS == _TAP_KINDS:
            return [(0, len(kinds))]
        wanted = (self.kinds >> kinds.astype(np.int64)) & 1
        edges = np.flatnonzero(np.diff(wanted, prepend=0, append=0))
        return [(int(a), int(b - a)) for a, b in zip(edges[::2], edges[1::2], strict=True)]

    def _commit(self, until: int) -> None:
        work = self._work
        while self._pending and self._pending[0][0] <= until and work.shut is None:
            first, kinds, data = self._pending.popleft()
            if first + len(data) - 1 > until:
                cut = until + 1 - first
                self._pending.appendleft((until + 1, kinds[cut:], data[cut:]))
                kinds, data = kinds[:cut], data[:cut]
            for start, length in self._let_through(kinds):
                self._idle(first + start - 1)
                if work.shut is None:
                    before = work.previous
                    taken = work.store(first + start, length)
                    if taken:
                        self.offered += taken
                        dt = 15 if before is None else min(15, first + start - before)
                        self.memory.put_run(
                            dt, kinds[start : start + taken], data[start : start + taken]
                        )
        self._idle(until)
        if work.shut is not None and work.cause_cycle is not None:
            self._close(until, work.shut + 1, work.cause_cycle)

    def _idle(self, until: int) -> None:
        if self._work.shut is None:
            time = self._work.idle(until)
            if time is not None:
                self.memory.put([(14, Kind.TIME, time)])

    def _close(self, until: int, mark: int, cause: int) -> None:
        if self._committed < mark <= until:
            previous = self._work.previous
            dt = 15 if previous is None else min(15, mark - previous)
            self.memory.put([(dt, Kind.MARK, mark_data(self.causes, mark - cause))])
        if self._committed < mark + 1 <= until:
            self.memory.put([(1, Kind.TIME, mark + 1)])
            self._end = mark + 1
