"""The table ``host``: what the traces of the computers say, on the time line of the capture.

Source: docs/formats.md, section 8, table ``host``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.timebase import UNKNOWN_PS
from freezeframe.decoders.host.lines import HostLine, read_lines
from freezeframe.decoders.host.relate import HostClock, relate_host
from freezeframe.decoders.trace.decode import Trace

_FAR_PS = 1 << 62  # 53 days
_LAST_PS = (1 << 63) * 1000
_NUMBERS = ("cpu", "pid", "irq", "width", "address", "value", "line")


@dataclass(frozen=True, eq=False, slots=True)
class HostEvents:
    """The traces of a capture's hosts.

    Attributes:
        table: t_ps, source (``host.A``), kind, t_unc_ps, own_ns (the host's clock, -1 without a time),
            device, cpu, task, pid, irq, width, address, value, text, line; by t_ps,
            and in the order of their lines where the clock is not related (t_ps counts from the
            trace's first line then, t_unc_ps -1).
        clocks: by device, how the host's clock is known.
        notes: what a reader must know, a sentence each.
    """

    table: pd.DataFrame
    clocks: dict[str, HostClock]
    notes: list[str]


def host_events(folder: CaptureFolder, trace: Trace) -> HostEvents:
    """Return what the hosts of a capture saw; an empty table where it holds no trace of one."""
    parts, clocks, notes = [], {}, []
    for host in folder.host:
        lines = list(read_lines(host.text))
        clock = relate_host(lines, trace.events, host.device)
        clocks[host.device] = clock
        notes.append(f"host of {host.device} ({host.name}): {clock.note}")
        notes += _oddities(lines, host.device)
        parts.append(_frame(lines, clock, host.device))
    table = (
        pd.concat(parts, ignore_index=True) if parts else _frame([], HostClock(None, -1, ""), "")
    )
    table = table.sort_values("t_ps", kind="stable", ignore_index=True)
    return HostEvents(table, clocks, notes)


def events_alone(text: bytes, name: str) -> HostEvents:
    """Return what the trace of a host says without a capture: times count from its first line."""
    lines = list(read_lines(text))
    clock = HostClock(None, -1, "stands alone; its times count from its first line")
    return HostEvents(_frame(lines, clock, name), {name: clock}, _oddities(lines, name))


def _frame(lines: list[HostLine], clock: HostClock, device: str) -> pd.DataFrame:
    columns = {name: np.array([getattr(x, name) for x in lines], np.int64) for name in _NUMBERS}
    far = {line.line for line in _far(lines)}
    lines = [line._replace(own_ps=-1) if line.line in far else line for line in lines]
    known = np.array([line.own_ps >= 0 for line in lines], np.bool_)
    first = min((line.own_ps for line in lines if line.own_ps >= 0), default=0)
    origin = first if clock.relation is None else clock.relation.around_ps
    # A line without a time (events lost) stands where the line before it does.
    instants, last = [], first
    for line in lines:
        last = line.own_ps if line.own_ps >= 0 else last
        instants.append(last - origin)
    t_ps = np.array(instants, np.int64)
    unc_ps = np.full(len(lines), UNKNOWN_PS, np.int64)
    if clock.relation is not None:
        # In the middle of what the digits leave open.
        half_ps = np.array([-(-line.unc_ps // 2) for line in lines], np.int64)
        t_ps, more_ps = clock.relation.place_all(t_ps + half_ps, 0)
        unc_ps = np.where(known, half_ps + more_ps, UNKNOWN_PS)
    return pd.DataFrame(
        {
            "t_ps": t_ps,
            "source": [f"host.{device}"] * len(lines),
            "kind": [line.kind for line in lines],
            "t_unc_ps": unc_ps,
            "own_ns": np.array([max(line.own_ps, -1000) // 1000 for line in lines], np.int64),
            "device": [device] * len(lines),
            "task": [line.task for line in lines],
            "text": [line.text for line in lines],
            **columns,
        }
    )


def _far(lines: list[HostLine]) -> list[HostLine]:
    """Return the lines whose time int64 might not hold: as nanoseconds, or as picoseconds from the first one's."""
    timed = [line for line in lines if line.own_ps >= 0]
    first = next((line.own_ps for line in timed if line.own_ps < _LAST_PS), 0)
    return [x for x in timed if x.own_ps >= _LAST_PS or abs(x.own_ps - first) > _FAR_PS]


def _oddities(lines: list[HostLine], device: str) -> list[str]:
    notes = []
    errors = [line for line in lines if line.kind == "error"]
    if errors:
        notes.append(
            f"host of {device}: {len(errors)} lines are of no form that is known (the first is line "
            f"{errors[0].line}: {errors[0].text[:60]!r}); they stand in the table as errors"
        )
    if far := _far(lines):
        notes.append(
            f"host of {device}: {len(far)} lines are more than 53 days from the first one (line {far[0].line} "
            "is); their times are not believed, and they stand where the line before them does"
        )
    lost = [line for line in lines if line.kind == "lost"]
    if lost:
        known = sum(max(0, line.value) for line in lost)
        notes.append(
            f"host of {device}: its tracer lost events in {len(lost)} places ({known} or more): what "
            "is not in the trace may have happened all the same"
        )
    return notes
