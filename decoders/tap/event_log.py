"""The event log of a card: what its events, its state machines and its recorder told, by the names of the card file.

A record tells the low bits of its source's own cycle; the record's own, of the register bus, says which such cycle is
meant. So an entry has the exact cycle of its wire however long it waited for its turn.

Whatever stands in the records, nothing raises: what cannot be is a row of kind ``error``.

Source: docs/card-map.md section 6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import pyarrow as pa

from freezeframe.capture.card.elaborated import ElaboratedSource
from freezeframe.capture.card.recording import CardRecording, RecordedTap
from freezeframe.capture.timebase import PS_PER_S, UNKNOWN_PS, TimeBase
from freezeframe.decoders.tap.stream import Workspace, problems_of, tap_records
from freezeframe.decoders.trace.kernels import DATED
from freezeframe.decoders.trace.memory import Problem

UNKNOWN = -1
"""A cycle or a value that is not known."""

_AT_BITS = 16
_MOST_LOST = 0xFFFF
_LATENCY_CYCLES = 1  # of a source: its register
_PLACES = 8  # of a source's FIFO
_CROSSING_CYCLES = (
    8  # of the register bus and of the source's clock: synchronizers and registers, with room
)
_INTEGERS = ("t_ps", "t_unc_ps", "cycle", "value")
_COLUMNS = (
    "t_ps", "t_unc_ps", "source", "kind", "name", "clock", "cycle", "value", "was", "state", "error",
)  # fmt: skip


class LogKind(IntEnum):
    """What a record of the event log is."""

    STATE = 8
    EVENT = 12
    MARK = 13
    LOSS = 14
    TIME = 15


_TOLD = {LogKind.STATE: "state", LogKind.EVENT: "event", LogKind.LOSS: "lost"}


@dataclass(frozen=True, slots=True)
class Logged:
    """One entry of the log.

    Attributes:
        t_ps, t_unc_ps: as `TimeBase.times_ps` gives them.
        kind: ``event``, ``state``, ``lost`` or ``error``.
        name: of the event or the state machine.
        cycle: of the wire, in the source's clock; UNKNOWN where that cannot be told.
        value: that was logged with an event, the number of a state, how many entries were lost; UNKNOWN: none.
        was, state: of a state machine, by name where it has one; the same where it only tells where it stands.
        error: what is wrong with the record.
    """

    t_ps: int
    t_unc_ps: int
    kind: str
    name: str
    clock: str
    cycle: int
    value: int = UNKNOWN
    was: str = ""
    state: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class EventLog:
    """The entries of a card's event log, first in time first, and what is wrong with the recording of them."""

    entries: tuple[Logged, ...]
    problems: tuple[Problem, ...]


def decode_log(recording: CardRecording, times: TimeBase) -> EventLog:
    """Return what the event log holds; nothing for a card without one, or where it was not read."""
    if recording.log is None:
        return EventLog((), ())
    records = tap_records(recording.log, Workspace())
    columns, dated = records.columns, records.dated
    clocks = _Clocks(recording, times)
    entries = [
        clocks.entry(int(data) & (1 << 64) - 1, int(kind), int(cycle), bool(flags & DATED))
        for data, kind, cycle, flags in zip(columns.data, columns.kind, dated.cycle, dated.flags, strict=True)
        if kind not in (LogKind.MARK, LogKind.TIME)
    ]  # fmt: skip
    entries.sort(key=lambda entry: entry.t_ps)
    problems = _problems(recording.log, records, one_a_cycle=not recording.card.of_hooks)
    return EventLog(tuple(entries), tuple(problems))


def log_table(recording: CardRecording, log: EventLog) -> pa.Table:
    """Return the entries as a table."""
    source = f"{recording.device}.{recording.log.tap.name}" if recording.log else ""
    rows = [{**row_of(entry), "source": source} for entry in log.entries]
    kinds = {name: pa.int64() if name in _INTEGERS else pa.string() for name in _COLUMNS}
    return pa.table(
        {name: pa.array([row[name] for row in rows], kind) for name, kind in kinds.items()}
    )


def row_of(entry: Logged) -> dict[str, Any]:
    """Return an entry as a row of that table, without its source."""
    return asdict(entry)


def entry_text(row: Mapping[str, Any]) -> str:
    """Return a row of that table in words."""
    name, kind, value = row["name"], row["kind"], row["value"]
    if kind == "event":
        return name if value == UNKNOWN else f"{name} {value:#x}"
    if kind == "state":
        stands = row["was"] == row["state"]
        return f"{name} {'in' if stands else row['was'] + ' ->'} {row['state']}"
    if kind == "lost":
        more = " or more" if value == _MOST_LOST else ""
        return f"{name}: {value:,}{more} lost before the next one"
    return str(row["error"])


class _Clocks:
    """What turns a record into an entry: the card's clocks and sources."""

    def __init__(self, recording: CardRecording, times: TimeBase) -> None:
        self._card, self._device, self._times = recording.card, recording.device, times
        self._bus = recording.card.clocks[0].name
        # C hooks record at once, in the cycle that the program names.
        self._latency_cycles = 0 if recording.card.of_hooks else _LATENCY_CYCLES

    def entry(self, data: int, kind: int, cycle: int, exact: bool) -> Logged:
        """Return the entry of a record that stands in this cycle of the bus."""
        value, at, number = data & (1 << 40) - 1, data >> 40 & 0xFFFF, data >> 56
        told, sources = _TOLD.get(LogKind(kind)) if kind in _KINDS else None, self._card.sources
        if told is None or number >= len(sources):
            what = f"a record of kind {kind}" if told is None else f"a record of source {number}"
            return self._error(cycle, exact, f"{what}, which this log never holds")
        source = sources[number]
        if not exact:
            return self._placed(source, told, value, *self._arrival(cycle, exact), UNKNOWN)
        latest, slack, wait = self._latest(source, cycle)
        own = latest - (latest - at) % (1 << _AT_BITS)
        if wait + slack >= 1 << _AT_BITS or slack < 0:
            return self._placed(source, told, value, *self._arrival(cycle, exact), UNKNOWN)
        if latest - own > wait + slack or own < self._latency_cycles:
            text = f"{source.name}: a record says cycle {at} modulo {1 << _AT_BITS:,}, which is not just before it"
            return self._error(cycle, exact, text)
        own -= self._latency_cycles
        t_ps, unc_ps = self._times.times_ps(
            self._device, source.clock.name, np.array([own], np.int64)
        )
        return self._placed(source, told, value, int(t_ps[0]), int(unc_ps[0]), own)

    def _latest(self, source: ElaboratedSource, cycle: int) -> tuple[int, int, int]:
        """Return the latest own cycle of an entry recorded in this bus cycle, by how much that may be too late, and how
        many own cycles it may have waited; a slack below 0: how the clocks relate is not known."""
        turns = 2 * _PLACES * len(self._card.sources) + _CROSSING_CYCLES
        if source.clock.number == 0:
            return cycle, 0, turns + _CROSSING_CYCLES
        clock = self._times.clocks[self._device, source.clock.name]
        bus = self._times.clocks[self._device, self._bus]
        t_ps = self._times.instant_ps(self._device, self._bus, cycle)
        now = clock.anchor_cycle + int((t_ps - clock.anchor_ps) // clock.ps_per_cycle)
        _, unc_ps = self._times.times_ps(self._device, source.clock.name, np.array([now], np.int64))
        if clock.relation == "none" or unc_ps[0] == UNKNOWN_PS:
            return now, -1, 0
        slack = int(unc_ps[0] // clock.ps_per_cycle) + 2
        wait = int(turns * bus.ps_per_cycle // clock.ps_per_cycle) + _CROSSING_CYCLES
        return now + slack, 2 * slack, wait

    def _arrival(self, cycle: int, exact: bool) -> tuple[int, int]:
        """Return when a record was written, and how much earlier its wire may have been."""
        t_ps, _ = self._times.times_ps(self._device, self._bus, np.array([cycle], np.int64))
        turns = 2 * _PLACES * len(self._card.sources) + _CROSSING_CYCLES
        hz = min(clock.said.hz for clock in self._card.clocks)
        late_ps = (
            turns * PS_PER_S // self._card.clocks[0].said.hz + _CROSSING_CYCLES * PS_PER_S // hz
        )
        return int(t_ps[0]), late_ps if exact else UNKNOWN_PS

    def _placed(
        self, source: ElaboratedSource, kind: str, value: int, t_ps: int, unc_ps: int, cycle: int
    ) -> Logged:
        clock = source.clock.name
        if not _can_be(source, kind, value):
            text = f"{source.name}: a record of kind {kind} with {value:#x}, which it never has"
            return Logged(t_ps, unc_ps, "error", source.name, clock, cycle, error=text)
        if kind == "state":
            now, was = value & 0xFF, value >> 8
            states = [_state(source, number) for number in (was, now)]
            return Logged(t_ps, unc_ps, kind, source.name, clock, cycle, now, *states)
        if kind == "event" and not source.bits:
            value = UNKNOWN
        return Logged(t_ps, unc_ps, kind, source.name, clock, cycle, value)

    def _error(self, cycle: int, exact: bool, text: str) -> Logged:
        return Logged(*self._arrival(cycle, exact), "error", "", self._bus, UNKNOWN, error=text)


_KINDS = frozenset(map(int, LogKind))


def _can_be(source: ElaboratedSource, kind: str, value: int) -> bool:
    if kind == "lost":
        return 0 < value <= _MOST_LOST
    if kind == "event":
        return not source.states and not value >> source.bits
    most = 1 << source.bits
    return bool(source.states) and value >> 8 < most and value & 0xFF < most


def _state(source: ElaboratedSource, number: int) -> str:
    return source.states[number] if number < len(source.states) else str(number)


def _problems(log: RecordedTap, records: Any, *, one_a_cycle: bool) -> list[Problem]:
    kind, dt = records.columns.kind, records.columns.dt
    flags = records.dated.flags
    if not len(kind):
        return problems_of(log, records, set(_KINDS), 0, 0, DATED, False)
    kinds = int(np.bitwise_or.reduce(np.int64(1) << kind.astype(np.int64)))
    any_flag, all_flags = int(np.bitwise_or.reduce(flags)), int(np.bitwise_and.reduce(flags))
    twice = one_a_cycle and bool((dt == 0).any())
    return problems_of(log, records, set(_KINDS), kinds, any_flag, all_flags, twice)
