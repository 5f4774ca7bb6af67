"""Completions and interrupts of a card: how many of each, storms, interrupts that never came.

A healthy driver masks the line when its handler begins, takes every completion, enables the line and looks once
more; the card raises the line at once while completions wait and the line is enabled.

Source: docs/formats.md section 4; FORTH paper, section 4.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from freezeframe.analyzers.dma.chunks import Anchored, LogRow, Pieces, device_rows
from freezeframe.capture.registers.layouts import Kind
from freezeframe.decoders.trace.trace import Trace

__all__ = [
    "Interrupts",
    "Lost",
    "Round",
    "interrupts_analyzer",
    "interrupts_in",
    "interrupts_in_log",
    "interrupts_of",
]

_NOTE, _IRQ, _LOSS = Kind.NOTE.name, Kind.IRQ.name, Kind.LOSS.name
_LINE_CYCLES = 2
"""What the line itself may take from the enabling to an interrupt."""

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


def interrupts_analyzer() -> Anchored[Round]:
    """Return the analyzer of rounds over the rows of one device's event log, LOSS included."""
    return Anchored("interrupts", _is_enabled, lambda rows: _judge(rows, None))


def interrupts_in_log(trace: Trace, device: str) -> Interrupts:
    """Sum up what a card's log says of completions and interrupts."""
    return interrupts_in(device_rows(trace, device))


def interrupts_in(rows: Sequence[LogRow]) -> Interrupts:
    """Sum up the rows of a whole log."""
    rounds = interrupts_analyzer()
    end_cycle = rows[-1].cycle if rows else 0
    return interrupts_of(rounds.finish(rounds.step(rounds.init(), rows)), end_cycle)


def interrupts_of(pieces: Pieces[Round], end_cycle: int) -> Interrupts:
    """Sum up a recording that ended in ``end_cycle``, its cut first and last rounds included."""
    rounds = [*pieces.items]
    if pieces.front:
        # Whether the line was enabled before is not known: nothing can be missing there.
        front = pieces.front
        rounds.append(_judge(front, None, from_enabled=False))
    if pieces.back:
        rounds.append(_judge(pieces.back, end_cycle))
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
    completions = local = raised = for_local = 0
    told: dict[str, LogRow] = {}  # the newest notification of each kind
    again: list[LogRow] = []
    lost: list[Lost] = []
    response: list[int] = []
    pending: LogRow | None = None  # the interrupt that no handler has masked yet
    # What should have raised the line and has not: the enabling itself while completions wait.
    due = rows[0] if from_enabled and rows[0].value > 0 else None
    line_is_open = from_enabled
    for row in inner:
        if row.kind == _NOTE:
            told[row.code] = row
            local += row.code == "local"
            completions += row.code == "remote"
            if row.code == "remote" and line_is_open and due is None:
                due = row
        elif row.kind == _IRQ and row.code == "raised":
            raised += 1
            near = {code for code, note in told.items() if row.cycle - note.cycle <= _WAIT_CYCLES}
            # At the enabling completions of any kind may have waited.
            at_once = not from_enabled or row.cycle - rows[0].cycle > _WAIT_CYCLES
            for_local += near == {"local"} and at_once and row.value == 1
            if pending is not None and row.value >= 2:
                again.append(row)
            # One that another completion raised does not tell of the one that was due.
            newest = told.get("remote")
            by_another = (
                newest is not None
                and newest is not due
                and row.cycle - newest.cycle <= _RAISE_CYCLES
            )
            allowed = _LINE_CYCLES if by_another else _WAIT_CYCLES
            if due is not None and row.cycle - due.cycle > allowed:
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
        and not told
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
