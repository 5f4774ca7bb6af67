"""The event log as a model that knows cycles only: a FIFO before the memory, what it cannot take, and how it closes.

Order within one cycle, as the hardware has it: the oldest record leaves the FIFO; LOSS enters when one is
due; the events of the cycle enter by number of their source; TIME enters when nothing else did. Between the
first event that is lost and its LOSS no event is accepted, so a LOSS stands exactly where the gap is.

Source: docs/formats.md section 2, rules 1 to 7, above all 6.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from freezeframe.capture.registers.layouts import LOSS_LOST_MASK, Kind
from freezeframe.emulator.memory import TIME, Memory
from freezeframe.emulator.recorder import ALL_KINDS, mark_data

_Offered = tuple[int, int, int, int, int]  # cycle, source, order of offering, kind, data
_Records = list[tuple[int, int, int]]  # dt, kind, data

Cycles = Callable[[npt.NDArray[np.int64]], npt.NDArray[np.int64]]

_REST_CYCLES = 64  # between two events, beside a full FIFO: the log has come to rest


@dataclass(slots=True)
class _State:
    """Everything that decides what is stored when, but the records themselves."""

    places: int
    drain: int
    at: int = -1  # last cycle that was worked through
    level: int = 0  # records in the FIFO at the end of that cycle
    previous: int | None = None  # cycle of the previous record that entered the FIFO
    timed: bool = True
    due: int = 0  # events lost that no LOSS has reported yet
    lost: int = 0
    offered: int = 0
    cause_cycle: int | None = None
    left: int = 0
    shut: int | None = None
    end: int | None = None  # cycle of the closing TIME


class EventLog:
    """One event memory: any number of events a cycle, one record a cycle, ``stored + lost = offered`` when closed.

    Attributes:
        kinds: bit mask of the kinds that are recorded.
        post: records stored after a cause, taken when the cause comes.
    """

    def __init__(self, depth: int, places: int = 32, drain_cycles: int = 1024) -> None:
        """Make a log of ``depth`` records after a FIFO of ``places`` (even, at least 4)."""
        self.memory = Memory(depth)
        self.kinds = ALL_KINDS
        self.post = 64
        self.armed = False
        self.causes = 0
        self._state = _State(places, drain_cycles)
        self._pending: list[_Offered] = []
        self._serial = 0
        self._armed_at = -1
        self._fresh: list[tuple[int, int, int]] = []  # dt, kind, data, not yet in the memory

    @property
    def waiting(self) -> int:
        """Events that were offered and are not committed."""
        return len(self._pending)

    @property
    def offered(self) -> int:
        """Events let through by ``kinds`` up to the committed cycle."""
        return self._state.offered

    @property
    def lost(self) -> int:
        """Events offered and not stored."""
        return self._state.lost

    @property
    def cause_cycle(self) -> int | None:
        """The cycle of the first cause since arm."""
        return self._state.cause_cycle

    def arm(self, cycle: int) -> None:
        """Clear pointer, FIFO and causes; record what comes after ``cycle``."""
        self.advance(cycle)
        self.memory.clear()
        self._state = _State(self._state.places, self._state.drain, at=max(cycle, self._state.at))
        self._armed_at = self._state.at
        self.causes = 0
        self.armed = True

    def offer(self, cycle: int, source: int, kind: int, data: int) -> None:
        """Offer an event of ``cycle``. Events of one cycle enter by ``source``, those of one source as offered.

        Events up to the cycle of the last arm are not recorded.

        Raises:
            ValueError: the cycle is committed already.
        """
        if cycle <= self._armed_at:
            return
        if cycle <= self._state.at:
            raise ValueError(f"an event of cycle {cycle} comes late: {self._state.at} is committed")
        if not self.armed or self._state.shut is not None:
            return
        self._serial += 1
        heappush(self._pending, (cycle, source, self._serial, kind, data))

    def offer_often(
        self, cycles: Cycles, times: int, source: int, kind: int, data: Sequence[int]
    ) -> bool:
        """Offer the same events again and again: one of each of ``data`` in each of ``times`` cycles to come.

        Nothing else may be offered before the last of them; that one waits to be committed, the others are.

        Args:
            cycles: returns ``(n,)`` int64, the cycles of the numbers (from 0 on) that it is given.
        Returns:
            Whether it is done. If not, nothing is: when the log has to be worked through event by event, as with a
            cause, with events that no LOSS has told of yet, or none of the log's time to come to rest between them.
        """
        state = self._state
        if not self.armed or state.shut is not None:
            return True  # not recorded
        first = cycles(np.arange(min(3, times))).tolist()
        rest = state.places + _REST_CYCLES
        if len(first) < 3 or min(b - a for a, b in pairwise(first)) < rest or state.at >= first[0]:
            return False
        if state.cause_cycle is not None:
            return False
        if any(event[0] >= first[0] for event in self._pending):
            return False
        ahead, pending = copy(state), list(self._pending)
        before: _Records = []
        self._run(ahead, pending, first[0] - 1, before)
        if ahead.lost != state.lost or ahead.due or not _at_rest(ahead):
            return False  # when a loss is told of must not depend on who looks
        again: _Records = []
        for cycle, until, records in ((first[0], first[1], before), (first[1], first[2], again)):
            offered = ahead.offered
            for value in data:
                self._serial += 1
                heappush(pending, (cycle, source, self._serial, kind, value))
            self._run(ahead, pending, until - 1, records)
        if ahead.lost != state.lost or not _at_rest(ahead):
            return False
        if before:
            self.memory.put(before)
        if again:
            self.memory.put(again)
        offered = ahead.offered - offered
        self._put_again(again, first[1], cycles, times)
        last = int(cycles(np.array([times - 1]))[0])
        second_last = int(cycles(np.array([times - 2]))[0])
        ahead.offered += offered * (times - 3)
        if ahead.previous is not None and again:
            ahead.previous += second_last - first[1]
        ahead.at = last - 1
        self._state, self._pending = ahead, pending
        for value in data:
            self.offer(last, source, kind, value)
        return True

    def _put_again(self, records: _Records, cycle: int, cycles: Cycles, times: int) -> None:
        """Store once more what the second of many events, that of ``cycle``, made, for all from the third to the last
        but one.
        """
        size, repeats = len(records), times - 3
        if not size or not repeats:
            return
        seen = min(repeats, -(-self.memory.depth // size))
        at = cycles(np.arange(times - 1 - seen, times - 1))
        data = np.tile(np.array([r[2] for r in records], dtype=np.uint64), (seen, 1))
        for column, (_, made, value) in enumerate(records):
            if made == TIME:
                data[:, column] = (at + (value - cycle)).astype(np.uint64)
        meta = np.tile(np.array([made | dt << 4 for dt, made, _ in records], dtype=np.uint8), seen)
        kept = min(seen * size, self.memory.depth)
        self.memory.put_last(meta[-kept:], data.reshape(-1)[-kept:], repeats * size)

    def cause(self, cycle: int, causes: int) -> None:
        """Note causes of ``cycle``, as `Recorder.cause` does.

        Raises:
            ValueError: the cycle is committed already.
        """
        state = self._state
        if not self.armed or not causes:
            return
        if state.cause_cycle is None or cycle < state.cause_cycle:
            if cycle <= state.at:
                raise ValueError(f"a cause of cycle {cycle} comes late: {state.at} is committed")
            state.cause_cycle = cycle
            state.left = self.post
            self.causes = causes
        elif cycle == state.cause_cycle:
            self.causes |= causes

    def advance(self, cycle: int) -> None:
        """Commit every cycle up to ``cycle``."""
        if cycle <= self._state.at:
            return
        if self.armed and self._state.end is None:
            pending = self._pending
            self._run(self._state, pending, cycle, self._fresh)
            if self._fresh:
                self.memory.put(self._fresh)
                self._fresh.clear()
        if not self.armed or self._state.shut is not None:
            self._pending.clear()
        self._state.at = cycle

    def closes_at(self) -> int | None:
        """Return the first cycle in which the memory is closed, if nothing is offered that is not offered yet."""
        state = self._state
        if not self.armed or state.cause_cycle is None:
            return None
        if state.end is None:
            state = copy(state)
            self._run(state, list(self._pending), None, None)
        return None if state.end is None else state.end + 1

    def _run(
        self,
        state: _State,
        pending: list[_Offered],
        until: int | None,
        records: list[tuple[int, int, int]] | None,
    ) -> None:
        """Work through the cycles in which anything happens, up to ``until`` or (None) until the log is closed."""
        while state.end is None:
            if not pending:
                _only_drain(state, until)
            cycle = self._next(state)
            if pending and state.shut is None and (cycle is None or pending[0][0] < cycle):
                cycle = pending[0][0]
            if cycle is None or (until is not None and cycle > until):
                break
            events: list[_Offered] = []
            while pending and pending[0][0] <= cycle:
                event = heappop(pending)
                if self.kinds >> event[3] & 1:
                    events.append(event)
            self._cycle(state, cycle, events, records)
        if until is not None and state.end is None and until > state.at:
            state.level = max(0, state.level - (until - state.at))
            state.at = until

    def _next(self, s: _State) -> int | None:
        """Return the next cycle in which something happens by itself."""
        cycles = []
        if s.previous is not None and not s.timed:
            cycles.append(s.previous + 14)
        if s.shut is not None:
            cycles.append(max(s.shut, s.at + s.level) + 1)
        else:
            if s.due:
                cycles.append(s.at + max(1, s.level - s.places // 2))
            if s.cause_cycle is not None:
                gone = max(0, (s.at - s.cause_cycle) // s.drain)
                cycles.append(s.cause_cycle + s.drain * (gone + 1))
                if s.left == 0 and s.at < s.cause_cycle:
                    cycles.append(s.cause_cycle)
        cycles = [cycle for cycle in cycles if cycle > s.at]
        return min(cycles) if cycles else None

    def _cycle(
        self,
        s: _State,
        cycle: int,
        events: list[_Offered],
        records: list[tuple[int, int, int]] | None,
    ) -> None:
        empty = s.level <= cycle - s.at - 1  # the FIFO had run empty before this cycle
        s.level = max(0, s.level - (cycle - s.at))
        s.at = cycle
        entered = 0

        def enter(kind: int, data: int) -> None:
            nonlocal entered
            dt = 15 if s.previous is None else min(15, cycle - s.previous)
            if records is not None:
                records.append((dt, kind, data))
            s.previous, s.timed = cycle, kind == TIME
            s.level += 1
            entered += 1

        if s.shut is not None and s.cause_cycle is not None and empty:
            self._close(s, cycle, s.cause_cycle, records)
            return
        if s.shut is None:
            if s.due and 2 * (s.places - s.level) >= s.places:
                enter(Kind.LOSS, min(s.due, LOSS_LOST_MASK))
                s.due = 0
            for _, _, _, kind, data in events:
                if s.cause_cycle is not None and cycle > s.cause_cycle and entered >= s.left:
                    break  # `post` is reached within this cycle: acceptance is shut
                s.offered += 1
                if not s.due and s.places - s.level >= 2:
                    enter(kind, data)
                else:
                    s.due += 1
                    s.lost += 1
        if not entered and not s.timed and s.previous is not None and cycle - s.previous == 14:
            enter(TIME, cycle)
        if s.cause_cycle is None or s.shut is not None or cycle < s.cause_cycle:
            return
        if cycle > s.cause_cycle:
            s.left -= entered + ((cycle - s.cause_cycle) % s.drain == 0)
        if s.left <= 0:
            s.shut = cycle

    def _close(
        self, s: _State, cycle: int, since: int, records: list[tuple[int, int, int]] | None
    ) -> None:
        dt = 15 if s.previous is None else min(15, cycle - s.previous)
        closing = []
        if s.due:
            closing.append((dt, int(Kind.LOSS), min(s.due, LOSS_LOST_MASK)))
            cycle, dt, s.due = cycle + 1, 1, 0
        closing.append((dt, int(Kind.MARK), mark_data(self.causes, cycle - since)))
        closing.append((1, TIME, cycle + 1))
        s.end = cycle + 1
        if records is not None:
            records.extend(closing)


def _at_rest(s: _State) -> bool:
    """Return whether the next event will be recorded as if none had been for ever: FIFO empty, TIME written."""
    return not s.level and not s.due and (s.timed or s.previous is None)


def _only_drain(s: _State, until: int | None) -> None:
    """Let pass at once the drains, all but the last, before which nothing else can happen."""
    if s.cause_cycle is None or s.shut is not None or s.due or s.at < s.cause_cycle:
        return
    if s.timed or s.previous is None:
        gone = (s.at - s.cause_cycle) // s.drain
        reach = gone + s.left - 1
        if until is not None:
            reach = min(reach, (until - s.cause_cycle) // s.drain)
        if reach > gone:
            at = s.cause_cycle + s.drain * reach
            s.level = max(0, s.level - (at - s.at))
            s.left -= reach - gone
            s.at = at
