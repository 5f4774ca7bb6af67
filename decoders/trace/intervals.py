"""The table of intervals: when the sender of a flow was blocked for want of credit.

Source: docs/formats.md sections 4 and 8.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from freezeframe.capture.registers.layouts import Kind, PressureCode
from freezeframe.capture.timebase import UNKNOWN_PS, TimeBase
from freezeframe.decoders.trace.memory import Reading
from freezeframe.decoders.trace.schema import categories, make_frame
from freezeframe.decoders.trace.times import times_of

__all__ = ["intervals_table"]

_BEGIN, _END = PressureCode.BEGIN.name.lower(), PressureCode.END.name.lower()


class _Instant(NamedTuple):
    t_ps: int
    unc_ps: int


class _Interval(NamedTuple):
    start: _Instant
    end: _Instant
    flow: int
    open_start: bool
    open_end: bool
    source: str
    device: str


def intervals_table(
    events: pd.DataFrame, readings: Sequence[Reading], timebase: TimeBase, devices: tuple[str, ...]
) -> pd.DataFrame:
    """Return the table ``intervals``, by time: one row for each time a flow was blocked.

    A begin without its end runs to the next begin or to the end of the event log, and is open there;
    an end without its begin runs from the previous end or the beginning of the log, and is open there.
    """
    rows = [
        interval
        for reading in readings
        if reading.is_log and len(reading)
        for interval in _of_log(events, reading, timebase)
    ]
    rows.sort(key=lambda i: (i.start.t_ps, i.source, i.flow, i.end.t_ps))
    sources = categories("intervals", "source", devices)
    return make_frame(
        "intervals",
        {
            "t_ps": np.array([i.start.t_ps for i in rows], dtype=np.int64),
            "source": np.array([sources.index(i.source) for i in rows], dtype=np.int64),
            "kind": np.zeros(len(rows), dtype=np.int64),
            "t_end_ps": np.array([i.end.t_ps for i in rows], dtype=np.int64),
            "t_unc_ps": np.array([_worse(i.start, i.end) for i in rows], dtype=np.int64),
            "device": np.array([devices.index(i.device) for i in rows], dtype=np.int64),
            "flow": np.array([i.flow for i in rows], dtype=np.int64),
            "open_start": np.array([i.open_start for i in rows], dtype=np.bool_),
            "open_end": np.array([i.open_end for i in rows], dtype=np.bool_),
        },
        devices,
    )


def _of_log(events: pd.DataFrame, reading: Reading, timebase: TimeBase) -> Iterator[_Interval]:
    ends = np.array([0, len(reading) - 1], dtype=np.int64)
    t_ps, unc_ps = times_of(timebase, reading, ends)
    first, last = (_Instant(int(t), int(u)) for t, u in zip(t_ps, unc_ps, strict=True))
    names = (reading.source, reading.device)
    own = events[(events["source"] == reading.source) & (events["kind"] == Kind.PRESSURE.name)]
    blocked: dict[int, _Instant] = {}
    freed: dict[int, _Instant] = {}
    columns = (own[name].tolist() for name in ("t_ps", "t_unc_ps", "flow", "code"))
    for t, unc, flow, code in zip(*columns, strict=True):
        now = _Instant(t, unc)
        if code == _BEGIN:
            if flow in blocked:
                yield _Interval(blocked[flow], now, flow, False, True, *names)
            blocked[flow] = now
        elif code == _END:
            if flow in blocked:
                yield _Interval(blocked.pop(flow), now, flow, False, False, *names)
            else:
                yield _Interval(freed.get(flow, first), now, flow, True, False, *names)
            freed[flow] = now
    for flow, start in blocked.items():
        yield _Interval(start, last, flow, False, True, *names)


def _worse(a: _Instant, b: _Instant) -> int:
    """Return the larger uncertainty; one that is not known is larger than any."""
    unknown = UNKNOWN_PS in (a.unc_ps, b.unc_ps)
    return UNKNOWN_PS if unknown else max(a.unc_ps, b.unc_ps)
