"""Match events to messages and sum up how long each phase took: one object for a capture or an archive.

`PhaseAnalyzer` takes events as columns and keeps counts, sums, extremes, histograms and the slowest
messages. Cutting the recording anywhere, and merging neighbours in any grouping, gives the same result.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.latency.kernels import (
    BEGAN_BEFORE,
    BINS,
    COMPLETE,
    COUNTS,
    INCOMPLETE,
    NEGATIVE,
    STILL_OPEN,
    OpenMessages,
    Slowest,
    Totals,
    bin_edges,
    close_all,
    join,
    match,
)
from freezeframe.analyzers.latency.phases import PhaseTable

Int64 = npt.NDArray[np.int64]

_HUGE = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False, slots=True)
class EventBatch:
    """A stretch of events; those of one key in the order in which they happened.

    Attributes:
        t_ps: ``(n,)`` int64.
        key: ``(n,)`` int32, from 0 on; which message. A key may come again.
        stage: ``(n,)`` uint8, index of the event in the phase table.
    """

    t_ps: Int64
    key: npt.NDArray[np.int32]
    stage: npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class PhaseStats:
    """How long a phase took, over all complete messages; picoseconds.

    Percentiles come from a histogram whose bins are at most 1/128 of their value wide: ``p50_ps`` and
    the others are right to ``resolution`` of themselves. Count, mean, min and max are exact.
    """

    name: str
    count: int
    sum_ps: int
    min_ps: int
    max_ps: int
    histogram: tuple[tuple[int, int, int], ...] = field(repr=False)
    """(from, to, messages), half-open, only bins that hold one."""

    resolution = 1 / 256

    @property
    def mean_ps(self) -> float:
        return self.sum_ps / self.count

    def percentile_ps(self, percent: float) -> int:
        """Return the duration that ``percent`` of the messages do not exceed (nearest rank)."""
        if not 0 <= percent <= 100:
            raise ValueError(f"percentile {percent}: it must be 0..100")
        rank = max(1, -(-self.count * percent // 100))
        reached = 0
        for low, high, messages in self.histogram:
            reached += messages
            if reached >= rank:
                return min(self.max_ps, max(self.min_ps, (low + high - 1) // 2))
        return self.max_ps


@dataclass(frozen=True, slots=True)
class SlowMessage:
    """One of the slowest: its key, and when it met each event."""

    key: int
    whole_ps: int
    t_ps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PhaseResult:
    """What is known of all messages of a recording.

    Attributes:
        complete: met every event.
        incomplete: over, and lacked one or more; ``missing`` counts them by event.
        began_before, still_open: cut by the ends of the recording.
        negative: phases that came out below 0, for the clocks at their ends are not aligned better.
        phases, whole: None of a phase without a complete message.
    """

    complete: int
    incomplete: int
    began_before: int
    still_open: int
    negative: int
    missing: dict[str, int]
    phases: tuple[PhaseStats, ...]
    whole: PhaseStats | None
    slowest: tuple[SlowMessage, ...]


class PhaseState:
    """What `PhaseAnalyzer` carries from one stretch to the next."""

    def __init__(self, stages: int, phases: int, keys: int, slowest: int) -> None:
        self.keys = OpenMessages(
            np.zeros((keys, stages), np.int64),
            np.zeros(keys, np.int32),
            np.zeros((keys, stages), np.int64),
            np.zeros(keys, np.int32),
        )
        self.totals = Totals(
            np.zeros(COUNTS + stages, np.int64),
            np.zeros(phases + 1, np.int64),
            np.full(phases + 1, _HUGE, np.int64),
            np.full(phases + 1, -_HUGE, np.int64),
            np.zeros((phases + 1, BINS), np.int64),
        )
        self.slow = Slowest(
            np.zeros((slowest, stages), np.int64),
            np.full(slowest, -_HUGE, np.int64),
            np.full(slowest, -1, np.int64),
        )

    def copy(self) -> PhaseState:
        """Return another state with the same content."""
        return deepcopy(self)


class PhaseAnalyzer:
    """Phases of messages over events, as a phase table declares them.

    ``step`` takes the next stretch, ``merge`` joins states of neighbouring stretches in order.
    """

    def __init__(self, table: PhaseTable, *, keys: int = 1 << 16, slowest: int = 16) -> None:
        """Make an analyzer.

        Args:
            keys: how many different keys there are.
            slowest: how many of the slowest messages are kept.
        Raises:
            ValueError: one of them is below 1.
        """
        if keys < 1 or slowest < 1:
            raise ValueError(f"keys {keys} and slowest {slowest} must be 1 or more")
        self.table = table
        self._keys, self._slowest = keys, slowest
        self._phases = np.array(
            [(table.events.index(p.begin), table.events.index(p.end)) for p in table.phases],
            np.int64,
        )

    def init(self) -> PhaseState:
        """Return the state of nothing."""
        stages = len(self.table.events)
        return PhaseState(stages, len(self._phases), self._keys, self._slowest)

    def step(self, state: PhaseState, batch: EventBatch) -> PhaseState:
        """Take a stretch into the state, which is altered.

        Raises:
            ValueError: columns of different lengths, or a key or stage that there is not.
        """
        n = len(batch.t_ps)
        if len(batch.key) != n or len(batch.stage) != n:
            raise ValueError(
                f"columns of {n}, {len(batch.key)} and {len(batch.stage)} events; one length is needed"
            )
        taken = match(
            np.ascontiguousarray(batch.t_ps, np.int64),
            np.ascontiguousarray(batch.key, np.int32),
            np.ascontiguousarray(batch.stage, np.uint8),
            self._phases, state.keys, state.totals, state.slow,
        )  # fmt: skip
        if taken < n:
            raise ValueError(
                f"event {taken}: key {int(batch.key[taken])}, stage {int(batch.stage[taken])}; there "
                f"are keys 0..{self._keys - 1} and stages 0..{len(self.table.events) - 1}"
            )
        return state

    def merge(self, states: Sequence[PhaseState]) -> PhaseState:
        """Return the state of neighbouring stretches, given in order; they are not altered."""
        if not states:
            return self.init()
        joined = states[0].copy()
        for later in states[1:]:
            join(self._phases, joined.keys, later.keys, joined.totals, joined.slow)
            self._add(joined, later)
        return joined

    def finish(self, state: PhaseState) -> PhaseResult:
        """Return what the state amounts to; it is not altered."""
        counts = state.totals.counts.copy()
        close_all(state.keys, counts)
        numbers = counts.tolist()
        names = [phase.name for phase in self.table.phases]
        stats = [_stats(name, i, state) for i, name in enumerate([*names, "whole"])]
        complete = numbers[COMPLETE]
        slow = state.slow
        return PhaseResult(
            complete=complete,
            incomplete=numbers[INCOMPLETE],
            began_before=numbers[BEGAN_BEFORE],
            still_open=numbers[STILL_OPEN],
            negative=numbers[NEGATIVE],
            missing=dict(zip(self.table.events, numbers[COUNTS:], strict=True)),
            phases=tuple(stats[:-1]) if complete else (),
            whole=stats[-1] if complete else None,
            slowest=tuple(
                SlowMessage(key, whole, tuple(times))
                for key, whole, times in zip(
                    slow.key.tolist(), slow.whole.tolist(), slow.times.tolist(), strict=True
                )
                if key >= 0
            ),
        )

    @staticmethod
    def _add(state: PhaseState, later: PhaseState) -> None:
        totals, more = state.totals, later.totals
        np.add(totals.counts, more.counts, out=totals.counts)
        np.add(totals.sums, more.sums, out=totals.sums)
        np.add(totals.histogram, more.histogram, out=totals.histogram)
        np.minimum(totals.least, more.least, out=totals.least)
        np.maximum(totals.most, more.most, out=totals.most)
        both = [np.concatenate([a, b]) for a, b in zip(state.slow, later.slow, strict=True)]
        # Longest first, then the earlier, then the lower key: as the kernel keeps them.
        order = np.lexsort((both[2], both[0][:, 0], -both[1]))[: len(state.slow.whole)]
        for mine, all_ in zip(state.slow, both, strict=True):
            mine[:] = all_[order]


def _stats(name: str, phase: int, state: PhaseState) -> PhaseStats:
    totals = state.totals
    bins = np.flatnonzero(totals.histogram[phase])
    low, high = bin_edges(bins)
    return PhaseStats(
        name,
        int(totals.counts[COMPLETE]),
        int(totals.sums[phase]),
        int(totals.least[phase]),
        int(totals.most[phase]),
        tuple(
            zip(low.tolist(), high.tolist(), totals.histogram[phase, bins].tolist(), strict=True)
        ),
    )
