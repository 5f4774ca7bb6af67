"""Which stretches of time the memories of a described card cover."""

from __future__ import annotations

import numpy as np

from freezeframe.analyzers.card.places import Places
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.tap.checked import CheckedStream
from freezeframe.decoders.trace.coverage import Coverage, Hole


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
