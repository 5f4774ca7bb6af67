"""Which stretches of time a recording covers, and why it does not cover the others.

A recording is made of memories that reach back differently far. What one of them does not reach is not known: it
must not look like a time in which nothing happened. Whatever is drawn or exported of a memory carries its coverage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from freezeframe.capture.card.roles import EVENT_LOG
from freezeframe.capture.folder import DeviceCapture, MemoryImage
from freezeframe.capture.registers.layouts import DOMAIN_NAMES, Domain, Kind
from freezeframe.capture.time_text import format_ps
from freezeframe.capture.timebase import TimeBase

if TYPE_CHECKING:
    import pandas as pd  # formats that write no table do without

Int64 = npt.NDArray[np.int64]

EVER_PS = 1 << 62
"""Before and after every time of a recording: where a hole has no begin or no end."""

SAMPLER = "sampler"
MOST_CYCLES = 1 << 61  # 731 years at 100 MHz: a counter above that was not read right
"""Names the throughput sampler of a device among its memories: ``A.sampler``."""

_WORDS = (Kind.HEAD, Kind.BODY, Kind.TAIL)
_FIRST_VALID = 1


class Hole(NamedTuple):
    """A stretch ``[t0_ps, t1_ps)`` of which nothing was recorded, and why."""

    t0_ps: int
    t1_ps: int
    reason: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """What is known of a track: everything but its ``holes``, which rise and do not overlap."""

    holes: tuple[Hole, ...] = ()

    @classmethod
    def between(cls, t0_ps: int, t1_ps: int, before: str, after: str) -> Coverage:
        """Return a coverage of ``[t0_ps, t1_ps)`` alone."""
        return cls((Hole(-EVER_PS, t0_ps, before), Hole(max(t0_ps, t1_ps), EVER_PS, after)))

    @classmethod
    def nothing(cls, reason: str) -> Coverage:
        """Return a coverage of no time at all."""
        return cls((Hole(-EVER_PS, EVER_PS, reason),))

    def ranges(self) -> Iterator[tuple[int, int]]:
        """Yield the half-open stretches that are covered."""
        edges = [-EVER_PS, *(t for hole in self.holes for t in hole[:2]), EVER_PS]
        for begin, end in zip(edges[::2], edges[1::2], strict=True):
            if begin < end:
                yield begin, end

    def covered(self, t0_ps: int, t1_ps: int) -> Iterator[tuple[int, int]]:
        """Yield the covered parts of a range of time."""
        for begin, end in self.ranges():
            if begin < t1_ps and end > t0_ps:
                yield max(begin, t0_ps), min(end, t1_ps)

    def within(self, t0_ps: int, t1_ps: int) -> Iterator[Hole]:
        """Yield the holes in a range of time, cut to it."""
        for hole in self.holes:
            if hole.t0_ps < t1_ps and hole.t1_ps > t0_ps:
                yield Hole(max(hole.t0_ps, t0_ps), min(hole.t1_ps, t1_ps), hole.reason)

    def reason_at(self, t_ps: int) -> str:
        """Return why nothing is known of a time; empty where it is covered."""
        return next((h.reason for h in self.holes if h.t0_ps <= t_ps < h.t1_ps), "")

    def less(self, holes: Iterable[Hole]) -> Coverage:
        """Return what is left when these are not covered either; the reason that was there first stays."""
        return Coverage(tuple(_joined([*self.holes, *holes])))

    def or_else(self, other: Coverage) -> Coverage:
        """Return what one of two covers: hatched stays what neither does."""
        return Coverage(
            tuple(
                Hole(max(a.t0_ps, b.t0_ps), min(a.t1_ps, b.t1_ps), a.reason)
                for a in self.holes
                for b in other.holes
                if a.t0_ps < b.t1_ps and b.t0_ps < a.t1_ps
            )
        )

    def shifted(self, by_ps: int) -> Coverage:
        """Return the same with all times later by so much."""

        def moved(t_ps: int) -> int:
            return t_ps if abs(t_ps) == EVER_PS else t_ps + by_ps

        return Coverage(tuple(Hole(moved(a), moved(b), why) for a, b, why in self.holes))


def _joined(holes: Sequence[Hole]) -> Iterator[Hole]:
    """Yield holes in order; where several are at one time, the one named first."""
    edges = sorted({t for hole in holes for t in hole[:2]})
    last: Hole | None = None
    for begin, end in pairwise(edges):
        why = next((h.reason for h in holes if h.t0_ps <= begin and end <= h.t1_ps), None)
        if why is None:
            continue
        if last is not None and last.t1_ps == begin and last.reason == why:
            last = last._replace(t1_ps=end)
            continue
        if last is not None:
            yield last
        last = Hole(begin, end, why)
    if last is not None:
        yield last


Parts = tuple[Mapping[str, Coverage], Mapping[str, int]]
"""Coverage by source, and the kinds that a memory took, one bit each; a source is missing where that was not read."""


@dataclass(frozen=True, eq=False)
class Coverages:
    """What the memories of a capture cover, by source (``A.tx_enq``, ``A.event_log``); kinds of record apart.

    It is worked out when it is first asked for: what draws nothing needs none.
    """

    work_out: Callable[[], Parts] = lambda: ({}, {})

    @classmethod
    def known(
        cls, memories: Mapping[str, Coverage], kinds: Mapping[str, int] | None = None
    ) -> Coverages:
        """Return what is worked out already."""
        return cls(lambda: (memories, kinds or {}))

    @cached_property
    def parts(self) -> Parts:
        """Coverage and kinds by source."""
        return self.work_out()

    @property
    def memories(self) -> Mapping[str, Coverage]:
        """The coverage of each memory."""
        return self.parts[0]

    def of(self, source: str, *kinds: Kind) -> Coverage:
        """Return the coverage of a memory for these kinds of record; of one that is not known, everything."""
        taken = self.parts[1].get(source)
        off = [kind.name for kind in kinds if taken is not None and not taken >> kind & 1]
        if off:
            return Coverage.nothing(f"kind switched off: {', '.join(off)}")
        return self.memories.get(source, Coverage())

    def words(self, source: str) -> Coverage:
        """Return the coverage of the words of a tap."""
        return self.of(source, *_WORDS)

    def log(self, device: str, *kinds: Kind) -> Coverage:
        """Return the coverage of a device's events of these kinds."""
        return self.of(f"{device}.{EVENT_LOG}", *kinds)

    def extent_ps(self) -> tuple[int, int]:
        """Return the range from the first to the last time that any memory covers; ``(0, 0)`` for none."""
        edges = [t for one in self.memories.values() for ends in one.ranges() for t in ends]
        known = [t for t in edges if abs(t) != EVER_PS]
        return min(known, default=0), max(known, default=0)

    def all_of(self, sources: Iterable[str]) -> Coverage:
        """Return what all of these cover at once."""
        covered = Coverage()
        for source in sources:
            covered = covered.less(self.of(source).holes)
        return covered


def coverages(
    devices: Sequence[DeviceCapture], words: pd.DataFrame, events: pd.DataFrame, timebase: TimeBase
) -> Parts:
    """Return what each memory of some devices covers, for `Coverages`.

    Args:
        words, events: the tables of the capture (docs/formats.md section 8).
    """
    times = _times(words)
    for source, (slot, t_ps) in _times(events).items():
        there = times.get(source, (slot[:0], t_ps[:0]))
        times[source] = np.concatenate([there[0], slot]), np.concatenate([there[1], t_ps])
    lost = _lost(events)
    found: dict[str, Coverage] = {}
    kinds: dict[str, int] = {}
    for device in devices:
        mine = {name: times.get(f"{device.name}.{name}") for name in device.roles.memories}
        armed_ps = _armed_ps(device, timebase, [t for t in mine.values() if t is not None])
        one = next(iter(device.memories.values())) if len(device.memories) == 1 else None
        for number, name in enumerate(device.roles.memories):
            source = f"{device.name}.{name}"
            # With one memory for a selected tap, the memory's name may be another than the tap's.
            memory = device.memories.get(name) or (one if mine[name] is not None else None)
            taken = device.registers.value("ctl.kinds", number)
            if taken is not None:
                kinds[source] = taken
            found[source] = (
                Coverage.nothing("memory not pulled")
                if memory is None
                else _covered(memory, mine[name], armed_ps).less(lost.get(source, ()))
            )
        found[f"{device.name}.{SAMPLER}"] = _sampled(device, timebase)
    return found, kinds


def _times(table: pd.DataFrame) -> dict[str, tuple[Int64, Int64]]:
    """Return slot and time of the rows of each source."""
    if not len(table):
        return {}
    slot, t_ps = table["slot"].to_numpy(np.int64), table["t_ps"].to_numpy(np.int64)
    codes = table["source"].cat.codes.to_numpy()
    names = table["source"].cat.categories
    return {
        str(names[code]): (slot[codes == code], t_ps[codes == code])
        for code in np.unique(codes)
        if code >= 0
    }


def _armed_ps(
    device: DeviceCapture, timebase: TimeBase, times: Sequence[tuple[Int64, Int64]]
) -> int | None:
    """Return the earliest time at which a device is known to have recorded; None where nothing says so."""
    known = [int(t_ps.min()) for _, t_ps in times if len(t_ps)]
    bus = DOMAIN_NAMES[Domain.BUS]
    first = device.registers.value64("pair.first_", int(Domain.BUS))
    status = device.registers.value("pair.status", int(Domain.BUS)) or 0
    if first is not None and status & _FIRST_VALID and (device.name, bus) in timebase.clocks:
        known.append(int(timebase.times_ps(device.name, bus, np.array([first], np.int64))[0][0]))
    return min(known, default=None)


def _covered(
    memory: MemoryImage, rows: tuple[Int64, Int64] | None, armed_ps: int | None
) -> Coverage:
    if rows is None or not len(rows[0]):
        why = memory.gaps[0].reason if memory.gaps else "the memory holds no record"
        return Coverage.nothing(f"memory not read: {why}" if memory.gaps else why)
    slots = len(memory.records)
    oldest = memory.write_ptr if memory.wrapped else 0
    age = (rows[0] - oldest) % slots
    order = np.lexsort((rows[1], age))
    age, t_ps = age[order], rows[1][order]
    first, last = int(rows[1].min()), int(rows[1].max())
    if memory.wrapped:
        before = f"overwritten before {format_ps(first)}: the memory wrapped"
    else:
        first = first if armed_ps is None else min(first, armed_ps)
        before = f"nothing says that it recorded before {format_ps(first)}"
    holes = []
    for gap in memory.gaps:
        at = (gap.first_slot - oldest) % slots
        why = f"{gap.slots} records not read: {gap.reason}"
        older, newer = t_ps[age < at], t_ps[age >= at + gap.slots]
        begin = int(older.max()) + 1 if len(older) else -EVER_PS
        holes.append(Hole(begin, int(newer.min()) if len(newer) else EVER_PS, why))
    ends = Coverage.between(first, last + 1, before, f"recording closed at {format_ps(last)}")
    # A gap at an end says more than the end of what is left.
    return Coverage(tuple(_joined([h for h in holes if h.t0_ps < h.t1_ps]))).less(ends.holes)


def _sampled(device: DeviceCapture, timebase: TimeBase) -> Coverage:
    """Return what the sampler covers: the device dates the newest sample, the others lie a period apart."""
    registers, samples = device.registers, device.samples
    pointer, period = registers.value("sampler.write_ptr"), registers.value("ctl.sample_period")
    newest = registers.value64("sampler.last_cycle_")
    bus = DOMAIN_NAMES[Domain.BUS]
    if samples is None:
        return Coverage.nothing("no sampler was pulled")
    if not period:
        return Coverage.nothing("the sampler was off")
    if pointer is None or newest is None or (device.name, bus) not in timebase.clocks:
        return Coverage.nothing("registers of the sampler were not read")
    wrapped = bool(registers.field("sampler.status", "wrapped"))
    count = len(samples) if wrapped else pointer
    if pointer > len(samples) or newest >= MOST_CYCLES:
        return Coverage.nothing("registers of the sampler were not read right")
    if count < 2 or period * (count - 1) > newest:
        return Coverage.nothing("the sampler has no two samples that can be dated")
    cycles = newest - period * np.arange(count - 1, -1, -1, dtype=np.int64)
    t_ps = timebase.times_ps(device.name, bus, cycles)[0]
    first, last = int(t_ps[0]), int(t_ps[-1])
    why = "the sampler's memory wrapped" if wrapped else "the sampler's first sample"
    holes = []
    for gap in device.sample_gaps:
        ages = (
            np.arange(gap.first_slot, gap.first_slot + gap.slots) - (pointer if wrapped else 0)
        ) % count
        for age in ages.tolist():  # beside a sample that was not read two intervals are not known
            begin, end = int(t_ps[max(age - 1, 0)]), int(t_ps[min(age + 1, count - 1)])
            holes.append(Hole(begin, end, f"samples not read: {gap.reason}"))
    ends = Coverage.between(
        first,
        last + 1,
        f"no sample before {format_ps(first)}: {why}",
        f"last sample at {format_ps(last)}",
    )
    return Coverage(tuple(_joined([h for h in holes if h.t0_ps < h.t1_ps]))).less(ends.holes)


def _lost(events: pd.DataFrame) -> dict[str, list[Hole]]:
    """Return the stretches in which events came too fast to be recorded, by source."""
    kinds = events["kind"].astype(str).to_numpy()
    found: dict[str, list[Hole]] = {}
    for row in np.flatnonzero(kinds == Kind.LOSS.name).tolist():
        source, t_ps = str(events["source"].iloc[row]), int(events["t_ps"].iloc[row])
        mine = events["t_ps"].to_numpy()[(events["source"] == source).to_numpy()]
        before = mine[mine < t_ps]
        why = f"{int(events['value'].iloc[row])} events lost: they came too fast"
        found.setdefault(source, []).append(
            Hole(int(before.max()) + 1 if len(before) else -EVER_PS, t_ps, why)
        )
    return found
