"""The tables of events (event logs, and what recorders wrote into every memory) and of intervals between them.

Source: docs/formats.md sections 4 and 8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from freezeframe.capture.card.elaborated import ElaboratedCard
from freezeframe.capture.registers.layouts import (
    EVENT,
    EVENT_SOURCE_NAMES,
    LOSS,
    MARK,
    CreditCode,
    DescCode,
    IrqCode,
    Kind,
    LinkCode,
    NoteCode,
    PressureCode,
)
from freezeframe.capture.timebase import UNKNOWN_PS, TimeBase
from freezeframe.decoders.trace.memory import Mark, Reading, times_of
from freezeframe.decoders.trace.schema import (
    ERROR,
    EVENT_KINDS,
    Places,
    categories,
    column_types,
    field_of,
    joined_columns,
    make_frame,
    name_of,
)

Int64 = npt.NDArray[np.int64]
Texts = npt.NDArray[np.object_]
Rows = dict[str, npt.NDArray[np.generic]]

_CODES: dict[Kind, type[IntEnum]] = {
    Kind.DESC: DescCode,
    Kind.NOTE: NoteCode,
    Kind.IRQ: IrqCode,
    Kind.CREDIT: CreditCode,
    Kind.PRESSURE: PressureCode,
    Kind.LINK: LinkCode,
}
_WITH_FLOW = (Kind.DESC, Kind.NOTE, Kind.CREDIT, Kind.PRESSURE, Kind.USER)
_LOG_KINDS = (*_CODES, Kind.STATE, Kind.USER, Kind.LOSS)
_RECORDER = "recorder"
_BEGIN, _END = PressureCode.BEGIN.name.lower(), PressureCode.END.name.lower()
_COLUMNS = (*column_types("events"), "order")


def events_table(
    readings: Sequence[Reading],
    marks: Sequence[Sequence[Mark]],
    timebase: TimeBase,
    places: Places,
) -> pd.DataFrame:
    """Return the table ``events``, by time; rows of one time stay in the order of the recording.

    Args:
        marks: for each reading the error rows it gets.
    """
    parts = []
    for reading, marked in zip(readings, marks, strict=True):
        parts += _recorded(reading, timebase, places)
        if marked:
            parts.append(_errors(reading, marked, timebase, places))
    joined = joined_columns(_COLUMNS, parts)
    order = np.lexsort((joined["order"], joined["source"], joined["t_ps"]))
    return make_frame("events", {name: rows[order] for name, rows in joined.items()}, places)


def _recorded(reading: Reading, timebase: TimeBase, places: Places) -> list[Rows]:
    wanted = (Kind.MARK, Kind.TIME, *(_LOG_KINDS if reading.is_log else ()))
    parts: list[Rows] = []
    for kind in wanted:
        rows = np.flatnonzero(reading.columns.kind == kind)
        if len(rows):
            part = _common(reading, timebase, places, rows) | {
                "kind": np.full(len(rows), EVENT_KINDS.index(kind.name)),
                **_meaning(kind, reading.columns.data[rows], reading.roles.card),
                "order": 2 * rows + 1,
            }
            parts.append(part)
    return parts


def _errors(reading: Reading, marks: Sequence[Mark], timebase: TimeBase, places: Places) -> Rows:
    rows = np.array([mark.record for mark in marks], dtype=np.int64)
    return _common(reading, timebase, places, rows) | {
        "kind": np.full(len(rows), EVENT_KINDS.index(ERROR)),
        "slot": np.array([mark.slot for mark in marks], dtype=np.int64),
        "value": np.array([mark.value for mark in marks], dtype=np.int64),
        "code": _objects([str(mark.code) for mark in marks]),
        "flow": np.full(len(rows), -1),
        "event_source": np.full(len(rows), "", dtype=np.object_),
        "order": 2 * rows,  # what is wrong with a record stands before it
    }


def _common(reading: Reading, timebase: TimeBase, places: Places, rows: Int64) -> Rows:
    t_ps, t_unc_ps = times_of(timebase, reading, rows)
    source = categories("events", "source", places).index(reading.source)
    return {
        "t_ps": t_ps,
        "t_unc_ps": t_unc_ps,
        "cycle": reading.dated.cycle[rows],
        "slot": reading.slot[rows],
        "data": reading.columns.data[rows],
        "source": np.full(len(rows), source),
        "device": np.full(len(rows), places.devices.index(reading.device)),
    }


def _meaning(kind: Kind, data: Int64, card: ElaboratedCard) -> Rows:
    """Return code, event source, value and flow of records of one kind."""
    n = len(data)
    rows: Rows = {
        "code": np.full(n, "", dtype=np.object_),
        "event_source": np.full(n, _RECORDER, dtype=np.object_),
        "value": data,
        "flow": np.full(n, -1),
    }
    if kind is Kind.LOSS:
        rows["value"] = field_of(LOSS, "lost", data)
    elif kind is Kind.MARK:
        causes = field_of(MARK, "causes", data)
        rows["code"] = _each(
            causes, partial(_cause_text, tuple(cause.name for cause in card.causes))
        )
        rows["value"] = field_of(MARK, "since_cycles", data)
    elif kind is not Kind.TIME:
        code = field_of(EVENT, "code", data)
        source = field_of(EVENT, "source", data)
        rows["code"] = _each(code, partial(_code_text, kind, tuple(card.said.states)))
        rows["event_source"] = _each(source, lambda number: name_of(EVENT_SOURCE_NAMES, number))
        rows["value"] = field_of(EVENT, "value", data)
        if kind in _WITH_FLOW:
            rows["flow"] = field_of(EVENT, "flow", data)
    return rows


def _objects(texts: Sequence[str]) -> Texts:
    objects = np.empty(len(texts), dtype=np.object_)
    objects[:] = texts
    return objects


def _each(numbers: Int64, text: Callable[[int], str]) -> Texts:
    unique, inverse = np.unique(numbers, return_inverse=True)
    return _objects([text(number) for number in unique.tolist()])[inverse]


def _code_text(kind: Kind, machines: tuple[str, ...], number: int) -> str:
    if kind is Kind.STATE:
        return name_of(machines, number)
    if kind is Kind.USER:
        return str(number)
    names = {int(code): code.name.lower() for code in _CODES[kind]}
    return names.get(number, f"unknown-{number}")


def _cause_text(names: tuple[str, ...], causes: int) -> str:
    return "+".join(name_of(names, bit) for bit in range(causes.bit_length()) if causes >> bit & 1)


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
    events: pd.DataFrame, readings: Sequence[Reading], timebase: TimeBase, places: Places
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
    sources = categories("intervals", "source", places)
    return make_frame(
        "intervals",
        {
            "t_ps": np.array([i.start.t_ps for i in rows], dtype=np.int64),
            "source": np.array([sources.index(i.source) for i in rows], dtype=np.int64),
            "kind": np.zeros(len(rows), dtype=np.int64),
            "t_end_ps": np.array([i.end.t_ps for i in rows], dtype=np.int64),
            "t_unc_ps": np.array([_worse(i.start, i.end) for i in rows], dtype=np.int64),
            "device": np.array([places.devices.index(i.device) for i in rows], dtype=np.int64),
            "flow": np.array([i.flow for i in rows], dtype=np.int64),
            "open_start": np.array([i.open_start for i in rows], dtype=np.bool_),
            "open_end": np.array([i.open_end for i in rows], dtype=np.bool_),
        },
        places,
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
