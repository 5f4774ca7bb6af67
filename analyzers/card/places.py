"""When a packet passed a tap, its record as a row of evidence, and which stretches of time a tap's memory covers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.contract import Row
from freezeframe.capture.card.elaborated import ElaboratedTap
from freezeframe.capture.card.recording import CardRecording
from freezeframe.capture.time_text import format_ps
from freezeframe.capture.timebase import TimeBase
from freezeframe.decoders.tap.checked import CheckedStream
from freezeframe.decoders.trace.coverage import Coverage, Hole

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Places:
    """The recording of one card on its time base."""

    recording: CardRecording
    times: TimeBase

    def times_ps(self, tap: ElaboratedTap, cycles: Int64) -> tuple[Int64, Int64]:
        """Return when cycles of a tap's clock began and how far off that may be, -1 where it is not known."""
        return self.times.times_ps(self.recording.device, tap.clock.name, cycles)

    def at(self, end: CheckedStream, packet: int) -> tuple[int | None, int | None]:
        """Return when a packet began at a tap, and how far off that may be; None where it is not known."""
        columns = end.stream.packets
        slack = int(columns.begin_slack[packet])
        if slack < 0:
            return None, None
        t_ps, unc_ps = self.times_ps(end.tap, columns.begin[packet : packet + 1])
        if unc_ps[0] < 0:
            return int(t_ps[0]), -1
        clock = self.times.clocks[self.recording.device, end.tap.clock.name]
        return int(t_ps[0]), int(unc_ps[0]) + slack * int(clock.ps_per_cycle)

    def lead_ps(self, first: CheckedStream, i: int, second: CheckedStream, j: int) -> int | None:
        """Return how much earlier packet ``j`` is at the second tap than ``i`` at the first, at least.

        None where nobody knows.
        """
        (a, unc_a), (b, unc_b) = self.at(first, i), self.at(second, j)
        if a is None or b is None or unc_a is None or unc_b is None:
            return None
        if self.same_clock(first, second):
            slack = first.stream.packets.begin_slack[i], second.stream.packets.begin_slack[j]
            return None if any(slack) else a - b
        return a - b - unc_a - unc_b if min(unc_a, unc_b) >= 0 else None

    def same_clock(self, first: CheckedStream, second: CheckedStream) -> bool:
        """Tell whether one counter dates both taps, so that the difference of two times has no uncertainty."""
        return first.tap.clock == second.tap.clock

    def row(self, end: CheckedStream, packet: int, label: str, *, last: bool = False) -> Row:
        """Return the packet's first record, or its last one, as a row of evidence."""
        stream, columns = end.stream, end.stream.packets
        record = int(columns.end_row[packet]) - 1 if last else int(columns.first_row[packet])
        return Row(
            "words",
            f"{self.recording.device}.{end.tap.name}",
            f"{label}, its last word" if last else label,
            value=int(stream.records.columns.data[record]) & (1 << 64) - 1,
            row=record,
            slot=int(stream.slots[record]),
            cycle=int((columns.end if last else columns.begin)[packet]),
            t_ps=self.at(end, packet)[0],
        )


def tap_coverage(card: Places, end: CheckedStream) -> Coverage:
    """Return what the memory of a tap covers, and why not the rest."""
    stream = end.stream
    if stream.span is None:
        return Coverage.nothing("nothing in the memory has a time")
    records = stream.records
    shift = end.tap.latency_cycles
    t_ps, _ = card.times_ps(end.tap, np.array(stream.span, np.int64))
    first, last = int(t_ps[0]), int(t_ps[1])
    before = (
        f"overwritten before {format_ps(first)}: the memory wrapped"
        if stream.recorded.wrapped
        else f"nothing says that it recorded before {format_ps(first)}"
    )
    holes = []
    cycles = records.dated.cycle - shift
    for at in np.flatnonzero(records.missing).tolist():
        if not at:
            continue
        edges, _ = card.times_ps(end.tap, cycles[at - 1 : at + 1])
        if edges[0] + 1 < edges[1]:
            why = f"{int(records.missing[at])} records not read"
            holes.append(Hole(int(edges[0]) + 1, int(edges[1]), why))
    closed = f"recording closed at {format_ps(last)}"
    return Coverage.between(first, last + 1, before, closed).less(holes)
