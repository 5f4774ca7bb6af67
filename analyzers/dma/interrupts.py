"""What a card's event log says of completions and interrupts: how many of each, storms, interrupts that never came.

A healthy driver masks the line when its handler begins, takes every completion, enables the line and looks once
more; the card raises the line at once while completions wait and the line is enabled. After the line was enabled
nothing of what came before matters but what waits then: the log is judged in rounds, from one enabling to the next.

Source: docs/formats.md section 4; FORTH paper, section 4.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from freezeframe.capture.card.roles import EVENT_LOG
from freezeframe.capture.registers.layouts import Kind
from freezeframe.decoders.trace.decode import Trace

DMA_KINDS = (Kind.DESC, Kind.NOTE, Kind.IRQ, Kind.STATE)
"""What the event log must record for all of this to be known."""

_KEPT = frozenset(kind.name for kind in (*DMA_KINDS, Kind.LOSS))


class LogRow(NamedTuple):
    """One event of an event log: its row in the table of events, time, and content."""

    row: int
    t_ps: int
    cycle: int
    kind: str
    code: str
    flow: int
    value: int


def device_rows(trace: Trace, device: str) -> list[LogRow]:
    """Return the rows of a device's event log that DMA is judged by, in the order of the log."""
    events = trace.events
    kind = events["kind"].astype(str).to_numpy()
    wanted = (events["source"] == f"{device}.{EVENT_LOG}").to_numpy() & np.isin(kind, list(_KEPT))
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
    return list(map(LogRow._make, columns))


_NOTE, _IRQ, _LOSS = Kind.NOTE.name, Kind.IRQ.name, Kind.LOSS.name
_LINE_CYCLES = 1
"""What the line may take longer from the enabling to an interrupt than from a completion."""

_RAISE_CYCLES = 1
"""From a completion to the interrupt that it raises at once: none in the emulator, one in the example card."""

_WAIT_CYCLES = 4
"""A card that raises the line later than this after a completion has missed it."""


@dataclass(frozen=True, slots=True)
class Lost:
    """A completion waited and the line was enabled, but it was not raised.

    ``cause`` is the event that should have raised it; ``raised`` the one that did in the end, None where
    the recording ends before.
    """

    cause: LogRow
    raised: LogRow | None


@dataclass(frozen=True, slots=True)
class Round:
    """What came between two times that the line was enabled.

    Attributes:
        completions, local, raised: remote notifications, local ones, interrupts.
        for_local: interrupts that only a local notification can have raised.
        again: interrupts that came although the one before was not masked, while two or more waited.
        response_cycles: from each first interrupt to its handler.
        fruitless: its handler ran, nothing was notified, and as many completions are counted as before.
        certain: no event was lost, so that what is missing did not happen.
    """

    completions: int
    local: int
    raised: int
    for_local: int
    again: tuple[LogRow, ...]
    lost: tuple[Lost, ...]
    response_cycles: tuple[int, ...]
    fruitless: bool
    certain: bool


@dataclass(frozen=True, slots=True)
class Interrupts:
    """The sum over a recording. ``completions`` are what the card interrupts for: remote notifications, and
    local ones (``with_local``) where interrupts came for them.
    """

    completions: int
    with_local: bool
    raised: int
    again: tuple[LogRow, ...]
    lost: tuple[Lost, ...]
    response_cycles: tuple[int, ...]
    fruitless: int

    @property
    def per_completion(self) -> float | None:
        """Interrupts a completion; None without a completion."""
        return self.raised / self.completions if self.completions else None


def interrupts_in(rows: Sequence[LogRow]) -> Interrupts:
    """Sum up the rows of a device's event log, its cut first and last rounds included."""
    enabled = [at for at, row in enumerate(rows) if _is_enabled(row)]
    rounds = [_judge(rows[a : b + 1], None) for a, b in pairwise(enabled)]
    # Whether the line was enabled before is not known: nothing can be missing there.
    front = rows[: enabled[0] + 1] if enabled else rows
    if front:
        rounds.append(_judge(front, None, from_enabled=False))
    if enabled:
        rounds.append(_judge(rows[enabled[-1] :], rows[-1].cycle))
    again = sorted((row for r in rounds for row in r.again), key=_place)
    lost = sorted((one for r in rounds for one in r.lost), key=lambda one: _place(one.cause))
    with_local = any(r.for_local for r in rounds)
    return Interrupts(
        sum(r.completions + r.local * with_local for r in rounds),
        with_local,
        sum(r.raised for r in rounds),
        tuple(again),
        tuple(lost),
        tuple(cycles for r in rounds for cycles in r.response_cycles),
        sum(r.fruitless for r in rounds),
    )


def _place(row: LogRow) -> tuple[int, int]:
    return row.cycle, row.row


def _is_enabled(row: LogRow) -> bool:
    return row.kind == _IRQ and row.code == "enabled"


def _judge(rows: Sequence[LogRow], end_cycle: int | None, *, from_enabled: bool = True) -> Round:
    """Judge the rows from one ``enabled`` (the first row, if ``from_enabled``) to the next or the end."""
    certain = all(row.kind != _LOSS for row in rows)
    inner = rows[1:] if from_enabled else rows
    completions = since_then = local = raised = for_local = 0
    newest_notes: dict[str, LogRow] = {}  # the newest notification of each kind
    again: list[LogRow] = []
    lost: list[Lost] = []
    response: list[int] = []
    pending: LogRow | None = None  # the interrupt that no handler has masked yet
    # What should have raised the line and has not: the enabling itself while completions wait.
    due = rows[0] if from_enabled and rows[0].value > 0 else None
    line_is_open = from_enabled
    for row in inner:
        if row.kind == _NOTE:
            newest_notes[row.code] = row
            local += row.code == "local"
            completions += row.code == "remote"
            since_then += row.code == "remote" and row.cycle - rows[0].cycle > _RAISE_CYCLES
            if row.code == "remote" and line_is_open and due is None:
                due = row
        elif row.kind == _IRQ and row.code == "raised":
            raised += 1
            near = {
                code
                for code, note in newest_notes.items()
                if row.cycle - note.cycle <= _WAIT_CYCLES
            }
            # At the enabling completions of any kind may have waited.
            at_once = not from_enabled or row.cycle - rows[0].cycle > _WAIT_CYCLES
            for_local += near == {"local"} and at_once and row.value == 1
            if pending is not None and row.value >= 2:
                again.append(row)
            # One that another completion raised does not tell of the one that was due.
            newest = newest_notes.get("remote")
            allowed = _WAIT_CYCLES
            if newest is not None and newest is not due:
                since = row.cycle - newest.cycle
                allowed = since + _LINE_CYCLES if since <= _RAISE_CYCLES else allowed
            # Nobody looks between the two: what waited at the enabling, and came since, waits here as well. What came
            # with the enabling may be counted there already.
            more = row.value - rows[0].value
            waits = not from_enabled or since_then <= more <= completions
            # A line that is raised for nothing but what was due is late at most, or its time is wrong.
            other = (
                any(note is not due and note.cycle >= due.cycle for note in newest_notes.values())
                if due
                else False
            )
            if due is not None and other and row.cycle - due.cycle > allowed and waits:
                lost.append(Lost(due, row))
            pending = row if pending is None else pending
            due, line_is_open = None, False
        elif row.kind == _IRQ and row.code == "masked":
            if pending is not None:
                response.append(row.cycle - pending.cycle)
            pending, due, line_is_open = None, None, False
    if due is not None and end_cycle is not None and end_cycle - due.cycle > _WAIT_CYCLES:
        lost.append(Lost(due, None))
    fruitless = (
        from_enabled
        and certain
        and raised > 0
        and not newest_notes
        and len(rows) > 1
        and _is_enabled(rows[-1])
        and rows[-1].value == rows[0].value > 0
    )
    return Round(
        completions,
        local,
        raised,
        for_local,
        tuple(again),
        tuple(lost) if certain else (),
        tuple(response),
        fruitless,
        certain,
    )
