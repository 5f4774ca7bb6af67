"""Work through an event log in pieces between anchors, so that any cut of the log gives the same result.

An anchor is an event after which nothing of what came before matters but the anchor itself: a descriptor is
done, the interrupt line is enabled. What lies between two anchors is judged whole; what lies before the first
and after the last of a segment is kept until its other part comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from freezeframe.capture.registers.layouts import Kind
from freezeframe.decoders.trace.trace import Trace

__all__ = ["DMA_KINDS", "Anchored", "AnchoredState", "LogRow", "Pieces", "device_rows"]

DMA_KINDS = (Kind.DESC, Kind.NOTE, Kind.IRQ, Kind.STATE)
"""What the event log must record for all of this to be told."""

_KEPT = frozenset(kind.name for kind in (*DMA_KINDS, Kind.LOSS))


Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class LogRow:
    """One event of an event log: its row in the table of events, time, and content."""

    row: int
    t_ps: int
    cycle: int
    kind: str
    code: str
    flow: int
    value: int


Judge = Callable[[Sequence[LogRow]], Item]


@dataclass(slots=True)
class AnchoredState(Generic[Item]):
    """Rows up to the first anchor, what was judged between anchors, rows from the last anchor on.

    Without an anchor all rows are in ``front``.
    """

    front: list[LogRow] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    back: list[LogRow] | None = None


@dataclass(frozen=True, slots=True)
class Pieces(Generic[Item]):
    """A whole log: the rows up to the first anchor, the judged pieces, the rows from the last anchor on.

    ``front`` ends with the first anchor and ``back`` begins with the last; without an anchor ``back``
    is empty.
    """

    front: tuple[LogRow, ...]
    items: tuple[Item, ...]
    back: tuple[LogRow, ...]


class Anchored(Generic[Item]):
    """An analyzer over log rows: ``judge`` gets the rows of a piece, from one anchor to the next, both there."""

    def __init__(self, name: str, is_anchor: Callable[[LogRow], bool], judge: Judge[Item]) -> None:
        self.name = name
        self._is_anchor = is_anchor
        self._judge = judge

    def init(self) -> AnchoredState[Item]:
        """Return the state of nothing."""
        return AnchoredState()

    def step(self, state: AnchoredState[Item], batch: Iterable[LogRow]) -> AnchoredState[Item]:
        """Take the next rows into the state, which is altered."""
        for row in batch:
            rows = state.front if state.back is None else state.back
            rows.append(row)
            if self._is_anchor(row):
                if state.back is not None:
                    state.items.append(self._judge(state.back))
                state.back = [row]
        return state

    def merge(self, states: Sequence[AnchoredState[Item]]) -> AnchoredState[Item]:
        """Return the state of neighbouring stretches, given in order; they are not altered."""
        joined: AnchoredState[Item] = AnchoredState()
        for later in states:
            # A front holds at most one anchor, its last row: stepping through it joins the pieces.
            self.step(joined, later.front)
            if later.back is not None:
                joined.items += later.items
                joined.back = list(later.back)
        return joined

    def finish(self, state: AnchoredState[Item]) -> Pieces[Item]:
        """Return the pieces; the state is not altered."""
        return Pieces(tuple(state.front), tuple(state.items), tuple(state.back or ()))


def device_rows(trace: Trace, device: str) -> list[LogRow]:
    """Return the rows of a device's event log that DMA is judged by, in the order of the log."""
    events = trace.events
    kind = events["kind"].astype(str).to_numpy()
    wanted = (events["source"] == f"{device}.event_log").to_numpy() & np.isin(kind, list(_KEPT))
    at = np.flatnonzero(wanted)
    chosen = events.iloc[at]
    columns = zip(
        at.tolist(),
        chosen["t_ps"].tolist(),
        chosen["cycle"].tolist(),
        kind[at].tolist(),
        chosen["code"].tolist(),
        chosen["flow"].tolist(),
        chosen["value"].tolist(),
        strict=True,
    )
    return [LogRow(*row) for row in columns]
