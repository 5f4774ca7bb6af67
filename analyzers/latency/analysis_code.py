"""Analysis ``latency``: how long each message took, phase by phase, across the taps of both cards.

Source: FORTH paper, section 2.6, for the phases; docs/analyzers.md says what it can and cannot tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from freezeframe.analyzers.analysis import (
    AnalysisResult,
    Figure,
    Intervals,
    Series,
)
from freezeframe.analyzers.latency.bursts import burst_figures, bursts_of
from freezeframe.analyzers.latency.match import EventBatch, PhaseAnalyzer, PhaseResult, PhaseStats
from freezeframe.analyzers.latency.messages import Messages, sightings_of
from freezeframe.analyzers.latency.phases import Phase, PhaseTable, phase_table
from freezeframe.analyzers.time_alignment import alignment_notes, span_uncertainty_ps
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.time_text import format_ps
from freezeframe.capture.timebase import TimeBase

Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

_PS_PER_NS = 1000
_PERCENTILES = (50, 90, 99)
_SLOWEST = 10
_WHOLE = "whole"


@dataclass(frozen=True, eq=False, slots=True)
class _Direction:
    """What was measured of one direction; ``partial``: why it is not the whole way, "" where it is."""

    name: str
    partial: str
    table: PhaseTable
    messages: Messages
    complete: Bool
    result: PhaseResult
    duration_ps: dict[str, Int64]  # by phase, of each complete message
    error_ps: dict[str, Int64]  # half width of each of them; -1 unknown


def latency(view: CaptureView) -> AnalysisResult:
    """Measure every direction of a capture; see `LATENCY`."""
    trace, tx, rx = view.trace, *view.roles.ways
    taps = {"tx.entry": tx.entry, "tx.exit": tx.exit, "rx.entry": rx.entry, "rx.exit": rx.exit}
    declared = phase_table("nic").called(taps)
    notes = list(alignment_notes(trace.timebase))
    measured: list[_Direction] = []
    for sender, receiver in view.directions:
        name = f"{sender}->{receiver}"
        sources, source_notes = sightings_of(view, sender, receiver)
        notes += source_notes
        if not sources:
            notes.append(f"{name}: nothing was recorded of this direction")
            continue
        table = _comparable(declared, [s.event for s in sources], name, notes)
        if table is None:
            notes.append(f"{name}: no phase can be measured: its events were not recorded")
            continue
        kept = tuple(s for s in sources if s.event in table.events)
        related, why = _related(table, Messages.of(kept), trace.timebase, name)
        notes += why
        if related is None:
            continue
        messages = Messages.of(tuple(s for s in kept if s.event in related.events))
        partial = _partial(declared, related, [s.event for s in sources])
        measured.append(_measure(name, partial, related, messages, trace.timebase))
    figures: list[Figure] = []
    for direction in measured:
        figures += _figures(direction)
        for bursts in bursts_of(direction.messages, direction.complete):
            figures += burst_figures(
                direction.name, direction.table, bursts, trace.timebase, whole=not direction.partial
            )
        if not direction.result.complete:
            notes.append(
                f"{direction.name}: no message was recorded at all of "
                f"{', '.join(direction.table.events)}"
            )
        elif direction.result.negative:
            notes.append(
                f"{direction.name}: {direction.result.negative} phases came out below 0: they are "
                "shorter than the clocks at their ends are aligned"
            )
    return AnalysisResult(
        "latency",
        figures=tuple(figures),
        series=tuple(_series(d) for d in measured if d.result.complete and not d.partial),
        intervals=tuple(_intervals(d) for d in measured if d.result.complete),
        tables=_tables(measured),
        notes=tuple(dict.fromkeys(notes)),
    )


def _comparable(
    declared: PhaseTable, recorded: list[str], name: str, notes: list[str]
) -> PhaseTable | None:
    for phase in declared.dropped(recorded):
        missing = [event for event in (phase.begin, phase.end) if event not in recorded]
        notes.append(
            f"{name}: {phase.name} cannot be told: {' and '.join(missing)} "
            f"({'; '.join(declared.meaning[event] for event in missing)}) was not recorded"
        )
    return declared.only(recorded)


def _related(
    table: PhaseTable, messages: Messages, timebase: TimeBase, name: str
) -> tuple[PhaseTable | None, list[str]]:
    """Return the table without phases between clocks that have no known relation."""
    sources = dict(zip(messages.events, messages.sources, strict=True))

    def known(phase: Phase) -> bool:
        ends = [(sources[e].device, sources[e].domain) for e in (phase.begin, phase.end)]
        return ends[0] == ends[1] or all(timebase.clocks[end].relation != "none" for end in ends)

    lost = [phase.name for phase in table.phases if not known(phase)]
    if not lost:
        return table, []
    why = [f"{name}: {', '.join(lost)} cannot be told: the clocks at the ends have no relation"]
    phases = tuple(phase for phase in table.phases if known(phase))
    if not phases:
        return None, why
    events = tuple(e for e in table.events if any(e in (p.begin, p.end) for p in phases))
    return PhaseTable(table.name, table.title, events, phases, table.meaning), why


def _partial(declared: PhaseTable, table: PhaseTable, recorded: list[str]) -> str:
    """Return why the phases of a table are not the way of a message from end to end; "" where they are."""
    ends = [
        event for event in (declared.events[0], declared.events[-1]) if event not in table.events
    ]
    if not ends:
        return ""
    missing = [event for event in ends if event not in recorded]
    if missing:
        why = f"{' and '.join(missing)} {'were' if len(missing) > 1 else 'was'} not recorded"
    else:
        why = "the clocks of the two ends have no known relation"
    return f"not measurable: {why}"


def _measure(
    name: str, partial: str, table: PhaseTable, messages: Messages, timebase: TimeBase
) -> _Direction:
    complete: Bool = np.asarray(messages.seen.all(axis=1))
    analyzer = PhaseAnalyzer(table, keys=max(1, len(messages.number)), slowest=_SLOWEST)
    # Message by message, each in the order of its way: no order between the two cards is needed.
    message, stage = np.nonzero(messages.seen)
    batch = EventBatch(
        messages.t_ps[message, stage], message.astype(np.int32), stage.astype(np.uint8)
    )
    result = analyzer.finish(analyzer.step(analyzer.init(), batch))
    whole = Phase(_WHOLE, table.events[0], table.events[-1])
    duration_ps, error_ps = {}, {}
    for phase in (*table.phases, whole):
        begin, end = (messages.moments(event, complete) for event in (phase.begin, phase.end))
        duration_ps[phase.name] = end.t_ps - begin.t_ps
        error_ps[phase.name] = span_uncertainty_ps(timebase, begin, end)
    return _Direction(name, partial, table, messages, complete, result, duration_ps, error_ps)


def _figures(direction: _Direction) -> list[Figure]:
    name, result, table = direction.name, direction.result, direction.table
    way = f"from {table.events[0]} to {table.events[-1]}"
    missing, cut = _unseen(direction.messages)
    lacking = ", ".join(f"{count} lack {event}" for event, count in missing.items() if count)
    figures = [
        Figure(f"{name}.messages.complete", f"{name} messages measured", result.complete, note=way),
        Figure(
            f"{name}.messages.incomplete", f"{name} messages with an event missing",
            sum(missing.values()), note=lacking,
        ),
        Figure(
            f"{name}.messages.cut", f"{name} messages cut by the ends of a memory", cut,
            note="one memory reaches farther back, or on, than another",
        ),
    ]  # fmt: skip
    if result.whole is None:
        return figures
    known = not direction.partial and bool((direction.error_ps[_WHOLE] >= 0).all())
    if known:
        figures += _spread(direction, result.whole, "one-way latency", way)
    else:
        figures.append(
            Figure(
                f"{name}.latency.{_WHOLE}.mean", f"{name} one-way latency, mean", None, "ns",
                note=direction.partial or "the clocks of the two ends have no known relation",
            )
        )  # fmt: skip
    for phase, stats in zip(table.phases, result.phases, strict=True):
        figures += _spread(direction, stats, phase.name, f"{phase.begin} to {phase.end}")
        if known:
            figures.append(_share(direction, stats, result.whole))
    return figures


def _unseen(messages: Messages) -> tuple[dict[str, int], int]:
    """Return messages that an event is missing of within what its memory holds, by the first such event,
    and how many others were cut by the ends of a memory.
    """
    missing = dict.fromkeys(messages.events, 0)
    cut = 0
    first, last = (
        np.array([pick(source.number) for source in messages.sources]) for pick in (np.min, np.max)
    )
    for number, seen in zip(messages.number.tolist(), messages.seen, strict=True):
        if seen.all():
            continue
        inside = np.flatnonzero(~seen & (first <= number) & (number <= last))
        if len(inside):
            missing[messages.events[inside[0]]] += 1
        else:
            cut += 1
    return missing, cut


def _spread(direction: _Direction, stats: PhaseStats, label: str, note: str) -> list[Figure]:
    """Return mean, percentiles and extremes with the error of the alignment.

    That error has the same sign for all messages, so it does not average out.
    """
    error_ps = direction.error_ps[stats.name]
    mean_ps, worst_ps = float(error_ps.mean()), int(error_ps.max())
    base, title = f"{direction.name}.latency.{stats.name}", f"{direction.name} {label}"
    figures = [
        Figure(f"{base}.mean", f"{title}, mean", _ns(stats.mean_ps), "ns", _ns(mean_ps), note)
    ]
    for percent in _PERCENTILES:
        value_ps = _percentile_ps(direction.duration_ps[stats.name], percent)
        figures.append(
            Figure(
                f"{base}.p{percent}", f"{title}, {percent} % take at most", _ns(value_ps), "ns",
                _ns(worst_ps),
            )
        )  # fmt: skip
    for end, value_ps in (("min", stats.min_ps), ("max", stats.max_ps)):
        figures.append(
            Figure(f"{base}.{end}", f"{title}, {end}", _ns(value_ps), "ns", _ns(worst_ps))
        )
    return figures


def _share(direction: _Direction, stats: PhaseStats, whole: PhaseStats) -> Figure:
    name = f"{direction.name}.latency.{stats.name}.share"
    label = f"{direction.name} {stats.name}, share of the whole"
    if whole.sum_ps <= 0:
        return Figure(name, label, None, "%", note="the whole way is not above 0")
    share = stats.sum_ps / whole.sum_ps
    error_ps = direction.error_ps[stats.name].mean() + share * direction.error_ps[_WHOLE].mean()
    return Figure(name, label, 100 * share, "%", float(100 * error_ps / whole.mean_ps))


def _series(direction: _Direction) -> Series:
    messages, chosen = direction.messages, direction.complete
    t_ps = messages.t_ps[chosen]
    order = np.argsort(t_ps[:, 0], kind="stable")
    return Series(
        f"{direction.name}.latency",
        f"{direction.name} one-way latency",
        "ns",
        t_ps[order, 0],
        ((t_ps[:, -1] - t_ps[:, 0]) / _PS_PER_NS)[order],
        step=False,
    )


def _intervals(direction: _Direction) -> Intervals:
    """Return the phases of the slowest messages, as a track."""
    rows = []
    for slow in direction.result.slowest:
        at = dict(zip(direction.table.events, slow.t_ps, strict=True))
        number = int(direction.messages.number[slow.key]) & 0xFFFF
        flow = int(direction.messages.flow[slow.key])
        for phase in direction.table.phases:
            begin, end = at[phase.begin], at[phase.end]
            text = f"packet {number}: {phase.name} {format_ps(end - begin)}"
            rows.append((begin, max(begin, end), phase.name, text, flow))
    rows.sort()
    closed = np.zeros(len(rows), np.bool_)
    return Intervals(
        f"{direction.name}.slowest",
        f"{direction.name} slowest messages",
        np.array([row[0] for row in rows], np.int64),
        np.array([row[1] for row in rows], np.int64),
        tuple(row[2] for row in rows),
        tuple(row[3] for row in rows),
        np.array([row[4] for row in rows], np.int64),
        closed,
        closed,
    )


def _tables(measured: list[_Direction]) -> dict[str, pd.DataFrame]:
    if not measured:
        return {}
    messages = pd.concat([_message_table(d) for d in measured], ignore_index=True)
    slow = pd.concat(
        [
            _message_table(d).iloc[[_place(d, s.key) for s in d.result.slowest]]
            for d in measured
            if d.result.slowest
        ]
        or [messages.iloc[:0]],
        ignore_index=True,
    )
    phases = [
        _phase_row(d, stats)
        for d in measured
        for stats in (
            *d.result.phases,
            *([d.result.whole] if d.result.whole and not d.partial else []),
        )
    ]
    return {
        "messages": messages,
        "slowest": slow,
        "phases": pd.DataFrame(phases),
        "by_length": _by_length(messages),
    }


def _place(direction: _Direction, key: int) -> int:
    """Return where a message is in the table of the complete ones."""
    return int(np.count_nonzero(direction.complete[:key]))


def _message_table(direction: _Direction) -> pd.DataFrame:
    """Return the complete messages: phases in ps, their error, and the rows of the records.

    ``whole_ps`` and its error are empty where the way was not recorded from end to end.
    """
    m, chosen = direction.messages, direction.complete
    times, rows = m.t_ps[chosen], m.row[chosen]
    partial = np.full(len(times), bool(direction.partial))
    columns: dict[str, Any] = {
        "t_ps": times[:, 0],
        "direction": np.full(int(chosen.sum()), direction.name, dtype=object),
        "seq": m.number[chosen] & 0xFFFF,
        "flow": m.flow[chosen],
        "length_words": m.length[chosen],
        "whole_ps": pd.arrays.IntegerArray(times[:, -1] - times[:, 0], partial),
        "whole_unc_ps": pd.arrays.IntegerArray(direction.error_ps[_WHOLE], partial),
    }
    for phase in direction.table.phases:
        begin, end = (m.events.index(event) for event in (phase.begin, phase.end))
        key = phase.name.replace("-", "_").lower()
        columns[f"{key}_ps"] = times[:, end] - times[:, begin]
        columns[f"{key}_unc_ps"] = direction.error_ps[phase.name]
    for stage, source in enumerate(m.sources):
        columns[f"{source.event}_{source.table}_row"] = rows[:, stage]
    return pd.DataFrame(columns)


def _phase_row(direction: _Direction, stats: PhaseStats) -> dict[str, Any]:
    error_ps = direction.error_ps[stats.name]
    return {
        "direction": direction.name,
        "phase": stats.name,
        "messages": stats.count,
        "mean_ps": round(stats.mean_ps),
        "min_ps": stats.min_ps,
        **{
            f"p{percent}_ps": _percentile_ps(direction.duration_ps[stats.name], percent)
            for percent in _PERCENTILES
        },
        "max_ps": stats.max_ps,
        "unc_ps": int(error_ps.max()),
    }


def _by_length(messages: pd.DataFrame) -> pd.DataFrame:
    rows = []
    known = messages[messages["whole_ps"].notna()]
    for (name, length), group in known.groupby(["direction", "length_words"], sort=True):
        whole = group["whole_ps"].to_numpy(np.int64)
        rows.append(
            {
                "direction": name, "length_words": length, "messages": len(whole),
                "mean_ps": round(float(whole.mean())), "min_ps": int(whole.min()),
                "max_ps": int(whole.max()),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def _percentile_ps(durations_ps: Int64, percent: int) -> int:
    """Return the duration that ``percent`` of the messages do not exceed (nearest rank), exact."""
    rank = max(1, -(-len(durations_ps) * percent // 100))
    return int(np.partition(durations_ps, rank - 1)[rank - 1])


def _ns(ps: float) -> float:
    return ps / _PS_PER_NS
