"""The analysis ``throughput`` of a described card: how fast bytes passed each tap, while its memory reaches.

Bytes are those of the stream, as they passed: with preamble and FCS where the tap has them. A rate is that from the
beginning of the first packet in the memory to that of the last: of packets that come every N cycles the exact one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from freezeframe.analyzers.analysis import AnalysisResult, Figure, Series
from freezeframe.analyzers.card.view import CardView
from freezeframe.analyzers.time_alignment import alignment_notes
from freezeframe.capture.time_text import format_ps
from freezeframe.capture.timebase import PS_PER_S
from freezeframe.decoders.tap.checked import CheckedStream
from freezeframe.decoders.tap.kernels import MOST_SUM_B
from freezeframe.decoders.tap.kinds import Packet

Int64 = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_MOST_INTERVALS = 240  # of a series: a picture shows no more
_LEAST_CYCLES = 16
_M = 10**6


@dataclass(frozen=True, slots=True)
class Passed:
    """What passed a tap: the packets whose times are known, in their order.

    Attributes:
        begin, end: ``(n,)`` cycles, half-open. length_B: ``(n,)``.
        closed: the cycle after the last one that the memory covers.
        holes: cycles ``(from, to)`` of which records were not read.
    """

    begin: Int64
    end: Int64
    length_B: Int64
    closed: int
    holes: tuple[tuple[int, int], ...]

    def bytes_until(self, cycles: Int64) -> Floats:
        """Return how many bytes had passed before each cycle, those of a packet spread evenly over its cycles."""
        edges = np.stack([self.begin, self.end], axis=1).ravel()
        before = np.concatenate([[0], np.cumsum(self.length_B)])
        passed = np.stack([before[:-1], before[1:]], axis=1).ravel()
        found: Floats = np.interp(cycles, edges, passed)
        return found


def passed(end: CheckedStream) -> Passed | None:
    """Return what passed a tap; None where nothing in its memory has a time."""
    stream, columns = end.stream, end.stream.packets
    dated = np.flatnonzero((columns.begin_slack >= 0) & (columns.end_slack >= 0))
    if stream.span is None or not len(dated):
        return None
    begin = np.maximum.accumulate(columns.begin[dated])
    ends = np.maximum(columns.end[dated] + 1, begin + 1)
    ends[:-1] = np.minimum(ends[:-1], np.maximum(begin[1:], begin[:-1] + 1))
    records = stream.records
    cycle = records.dated.cycle
    holes = [
        (int(cycle[row - 1]), int(cycle[row]))
        for row in np.flatnonzero(records.missing > 0).tolist()
        if row
    ]
    void = (columns.flags & int(Packet.VOID)) != 0
    if not stream.filtered:
        holes += [(int(columns.begin[n]), int(columns.end[n]) + 1) for n in np.flatnonzero(void)]
    closed = max(stream.span[1], int(ends[-1]))
    return Passed(begin, ends, columns.length[dated], closed, tuple(holes))


def run(card: CardView) -> AnalysisResult:
    """Return the rate at each tap, its share of what the tap can carry, and its course."""
    figures: list[Figure] = []
    series: list[Series] = []
    notes: list[str] = []
    rows = []
    for end in card.streams.values():
        source = card.source(end.tap)
        if end.stream.filtered:
            notes.append(f"{source}: not every kind of word was recorded, so no rate is known")
            continue
        seen = passed(end)
        if seen is None:
            notes.append(f"{source}: nothing in its memory has a time, so no rate is known")
            continue
        mean = list(_mean(card, end, seen))
        figures += mean
        course = _course(card, end, seen)
        if card.placed(end.tap):
            series.append(course)
        most = course.value[~np.isnan(course.value)]
        if len(most):
            note = f"of intervals of {format_ps(int(course.t_ps[1] - course.t_ps[0]))}"
            label = f"{source}, fastest interval"
            figures.append(
                Figure(f"{source}.throughput.max", label, float(most.max()), "Mbit/s", note=note)
            )
        if seen.holes:
            notes.append(f"{source}: parts of its memory were not read, so its rates are too low")
        if (end.stream.packets.length >= MOST_SUM_B).any() and end.tap.said.store != "all":
            notes.append(
                f"{source}: a packet of {MOST_SUM_B:,} B or more counts as {MOST_SUM_B:,} B"
            )
        if card.placed(end.tap):
            rows.append(
                {
                    "source": source,
                    "from_ps": int(course.t_ps[0]),
                    "to_ps": int(course.t_ps[-1]),
                    "packets": len(seen.begin),
                    "bytes": int(seen.length_B.sum()),
                    "Mbit_per_s": mean[0].value,
                }
            )
    tables = {"taps": pd.DataFrame(rows)} if rows else {}
    notes += alignment_notes(card.times)
    return AnalysisResult(
        "throughput", tuple(figures), tuple(series), tables=tables, notes=tuple(notes)
    )


def _mean(card: CardView, end: CheckedStream, seen: Passed) -> Iterator[Figure]:
    source, clock = card.source(end.tap), end.tap.clock
    count = len(seen.begin) - 1
    last = int(seen.begin[-1]) if count else int(seen.end[-1])
    size_B = int(seen.length_B[:-1].sum()) if count else int(seen.length_B[0])
    cycles = last - int(seen.begin[0])
    if cycles <= 0:  # damaged records: packets in no time
        note = "the records of its packets have no time between them"
        yield Figure(
            f"{source}.throughput.mean", f"{source}, throughput", None, "Mbit/s", note=note
        )
        return
    related = card.times.clocks[card.device, clock.name]
    hz = float(PS_PER_S / related.ps_per_cycle)
    # The time base counts on the bus clock as nominal: how far that is off, and how sharply this one was measured.
    ppm = float(card.recording.clocks[0].clock.said.ppm)
    if related.relation in ("one pair", "none"):
        ppm += clock.said.ppm
    elif related.pairs is not None:
        ppm += _M / max(1, related.pairs[1] - related.pairs[0])
    rate = 8 * size_B * hz / cycles / _M
    of = (
        f"{count:,} packets, from the beginning of the first to that of the last"
        if count
        else "one packet"
    )
    note = f"{size_B:,} B in {cycles:,} cycles of {clock.name}: {of}"
    yield Figure(
        f"{source}.throughput.mean", f"{source}, throughput", rate, "Mbit/s", rate * ppm / _M, note
    )
    limit = end.tap.said.bits * hz / _M
    note = f"of {limit:,.1f} Mbit/s: {end.tap.said.bits} bits in each cycle"
    yield Figure(
        f"{source}.throughput.share",
        f"{source}, share of the stream",
        100 * rate / limit,
        "%",
        note=note,
    )
    if count:
        label, often = f"{source}, packets", count * hz / cycles
        yield Figure(f"{source}.packets.rate", label, often, "1/s", often * ppm / _M)
    idle = seen.closed - int(seen.end[-1])
    t_ps, _ = card.times_ps(end.tap, np.array([seen.end[-1], seen.closed], np.int64))
    label = f"{source}, from its last beat to the end of the recording"
    yield Figure(
        f"{source}.silent",
        label,
        int(t_ps[1] - t_ps[0]),
        "ps",
        note=f"{idle:,} cycles of {clock.name}",
    )


def _course(card: CardView, end: CheckedStream, seen: Passed) -> Series:
    """Return the rate over time; where records were not read it is not known."""
    source = card.source(end.tap)
    first, last = int(seen.begin[0]), int(seen.end[-1])
    count = max(1, min(_MOST_INTERVALS, (last - first) // _LEAST_CYCLES))
    edges = first + (last - first) * np.arange(count + 1, dtype=np.int64) // count
    if seen.closed > last:  # one more: it may be a thousand times longer than the traffic
        edges = np.append(edges, np.int64(seen.closed))
    t_ps, _ = card.times_ps(end.tap, edges)
    lasted_s = np.maximum(np.diff(t_ps), 1) / PS_PER_S
    rate = 8 * np.diff(seen.bytes_until(edges)) / lasted_s / _M
    for begin, stop in seen.holes:
        rate[(edges[1:] > begin) & (edges[:-1] < stop)] = np.nan
    hz = float(PS_PER_S / card.times.clocks[card.device, end.tap.clock.name].ps_per_cycle)
    return Series(
        f"{source}.throughput", f"{source}, throughput", "Mbit/s", t_ps, np.append(rate, rate[-1]),
        limit=end.tap.said.bits * hz / _M, limit_label=f"{end.tap.said.bits} bits each cycle", rests_on=(source,),
    )  # fmt: skip
