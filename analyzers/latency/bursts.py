"""Messages that a host posts together, in one burst of a write-combining buffer, measured as one.

Messages belong to one burst when the first store of each comes before the one before it was posted. A burst
meets an event when its last message does; it begins with the first store of its first message.

Source: FORTH paper, section 2.6 and figure 4 (b): two 8-byte messages with write combining.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.analysis import Figure
from freezeframe.analyzers.latency.messages import Messages
from freezeframe.analyzers.latency.phases import Phase, PhaseTable
from freezeframe.analyzers.time_alignment import Moments, span_uncertainty_ps
from freezeframe.capture.timebase import TimeBase

Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

_FIRST, _POSTED = "begun", "posted"
_PS_PER_NS = 1000


@dataclass(frozen=True, eq=False, slots=True)
class Bursts:
    """Bursts of one size: for each event the row in ``messages`` that decides it, ``(bursts,)``."""

    size: int
    messages: Messages
    row: dict[str, Int64]

    def moments(self, event: str) -> Moments:
        """Return when the bursts met an event."""
        stage = self.messages.events.index(event)
        source, rows = self.messages.sources[stage], self.row[event]
        return Moments(
            source.device,
            source.domain,
            self.messages.t_ps[rows, stage],
            self.messages.t_unc_ps[rows, stage],
        )


def bursts_of(messages: Messages, complete: Bool) -> list[Bursts]:
    """Return the bursts of two or more messages, by size; only those whose messages are all complete.

    Empty where the host's stores were not recorded.
    """
    if _FIRST not in messages.events or _POSTED not in messages.events:
        return []
    first, posted = messages.events.index(_FIRST), messages.events.index(_POSTED)
    seen = messages.seen[:, first] & messages.seen[:, posted]
    rows = np.flatnonzero(seen)
    if len(rows) < 2:
        return []
    t_ps = messages.t_ps
    rows = rows[np.argsort(t_ps[rows, first], kind="stable")]
    apart = t_ps[rows[1:], first] >= t_ps[rows[:-1], posted]
    groups = [group for group in np.split(rows, np.flatnonzero(apart) + 1) if len(group) > 1]
    groups = [group for group in groups if complete[group].all()]
    bursts = []
    for size in sorted({len(group) for group in groups}):
        members = np.array([group for group in groups if len(group) == size])
        row = {}
        for stage, event in enumerate(messages.events):
            times = t_ps[members, stage]
            at = times.argmin(axis=1) if event == _FIRST else times.argmax(axis=1)
            row[event] = members[np.arange(len(members)), at]
        bursts.append(Bursts(size, messages, row))
    return bursts


def burst_figures(
    direction: str, table: PhaseTable, bursts: Bursts, timebase: TimeBase, *, whole: bool
) -> list[Figure]:
    """Return mean and share of each phase of the bursts of one size.

    ``whole``: the table is the way from end to end, so that it has a sum and shares of it.
    """
    all_of_it = Phase("whole", table.events[0], table.events[-1])
    name, label = f"{direction}.burst.{bursts.size}", f"{direction} bursts of {bursts.size}"
    figures = [Figure(f"{name}.count", f"{label} messages", len(bursts.row[table.events[0]]))]
    total_ps, total_unc_ps = _mean(bursts, all_of_it, timebase)
    for phase in (*([all_of_it] if whole else []), *table.phases):
        mean_ps, unc_ps = _mean(bursts, phase, timebase)
        if unc_ps is None:
            continue
        figures.append(
            Figure(
                f"{name}.{phase.name}.mean", f"{label}, {phase.name}, mean", mean_ps / _PS_PER_NS,
                "ns", unc_ps / _PS_PER_NS, f"{phase.begin} to {phase.end} of the last message",
            )
        )  # fmt: skip
        if whole and phase is not all_of_it and total_unc_ps is not None and total_ps > 0:
            share = mean_ps / total_ps
            around = (unc_ps + share * total_unc_ps) / total_ps
            figures.append(
                Figure(
                    f"{name}.{phase.name}.share", f"{label}, {phase.name}, share of the whole",
                    100 * share, "%", 100 * around,
                )
            )  # fmt: skip
    return figures


def _mean(bursts: Bursts, phase: Phase, timebase: TimeBase) -> tuple[float, float | None]:
    """Return mean and its error (of one sign for all, so it does not average out); None unknown."""
    begin, end = bursts.moments(phase.begin), bursts.moments(phase.end)
    error_ps = span_uncertainty_ps(timebase, begin, end)
    known = bool((error_ps >= 0).all())
    return float((end.t_ps - begin.t_ps).mean()), float(error_ps.mean()) if known else None
