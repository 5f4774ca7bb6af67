"""What a call costs the thread it runs in, whatever else the machine does meanwhile.

A call is longer than the time of the processor it takes when its thread sleeps in between: for a lock, the
interpreter's among them, or a file. The clock alone would also count the time for which other programs, or
other guests of the same host, had the cores; so what the clock says beyond the processor's time counts only
where the kernel saw the thread go to sleep by itself, and less the time that it stood ready.

Source: Linux, Documentation/scheduler/sched-stats.rst, "/proc/<pid>/schedstat"; getrusage(2), ru_nvcsw.
"""

from __future__ import annotations

import resource
import time
from dataclasses import dataclass
from pathlib import Path

_SCHEDSTAT = Path("/proc/thread-self/schedstat")


@dataclass(frozen=True, slots=True)
class Moment:
    """Clocks of this thread, nanoseconds: of the wall, of the processor, ready without one; and its sleeps."""

    wall_ns: int
    cpu_ns: int
    ready_ns: int
    sleeps: int

    @classmethod
    def now(cls) -> Moment:
        """Read the clocks of the thread that calls."""
        ready_ns = int(_SCHEDSTAT.read_text().split()[1])
        sleeps = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
        return cls(time.perf_counter_ns(), time.thread_time_ns(), ready_ns, sleeps)


def spent_s(begin: Moment, end: Moment) -> float:
    """Return what the thread worked and slept between two moments of it, seconds."""
    worked_ns = end.cpu_ns - begin.cpu_ns
    if end.sleeps == begin.sleeps:
        return worked_ns / 1e9
    slept_ns = (end.wall_ns - begin.wall_ns) - (end.ready_ns - begin.ready_ns) - worked_ns
    return (worked_ns + max(slept_ns, 0)) / 1e9
