"""The phases of a card's ways: events of its log, of one value for one message, in the order that the card file gives.

Source: docs/card-file.md, ``[way.NAME]``; the matching is that of `freezeframe.analyzers.latency.match`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from freezeframe.analyzers.analysis import Figure
from freezeframe.analyzers.card.view import CardView
from freezeframe.analyzers.latency.match import EventBatch, PhaseAnalyzer, PhaseResult
from freezeframe.analyzers.latency.phases import Phase, PhaseTable
from freezeframe.capture.card.sequences import PEER, events_of
from freezeframe.capture.card.tables import Way
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.tap.event_log import decode_log

_SLOWEST = 10


def table_of(name: str, way: Way) -> PhaseTable:
    """Return a way as the matcher takes it."""
    return PhaseTable(
        name,
        way.title or name,
        events_of(way),
        tuple(Phase(p.name, p.begin, p.end) for p in way.phase),
    )


def ways_of(card: CardView) -> Iterator[tuple[PhaseTable, PhaseResult]]:
    """Yield each way of the card with what its log tells of it; nothing where the log was not read."""
    if card.recording.log is None:
        return
    logged = [(e.name, e) for e in card.log.entries]
    if (far := card.beside) is not None:
        there = decode_log(far.recording, far.times).entries
        logged += [(PEER + e.name, e) for e in there if e.t_unc_ps >= 0]
        logged.sort(key=lambda one: one[1].t_ps)
    for name, way in card.recording.card.said.way.items():
        table = table_of(name, way)
        place = {event: number for number, event in enumerate(table.events)}
        mine = [(place[n], e) for n, e in logged if e.kind == "event" and n in place]
        keys = {value: number for number, value in enumerate(sorted({e.value for _, e in mine}))}
        batch = EventBatch(
            np.array([e.t_ps for _, e in mine], np.int64),
            np.array([keys[e.value] for _, e in mine], np.int32),
            np.array([stage for stage, _ in mine], np.uint8),
        )
        matcher = PhaseAnalyzer(table, keys=max(1, len(keys)), slowest=_SLOWEST)
        yield table, matcher.finish(matcher.step(matcher.init(), batch))


def phase_figures(card: CardView) -> tuple[list[Figure], list[pd.DataFrame], list[str]]:
    """Return the mean of each phase and of the whole, a table with least and most of them, and what limits them."""
    figures: list[Figure] = []
    frames: list[pd.DataFrame] = []
    notes: list[str] = []
    for table, found in ways_of(card):
        name = f"{card.device}.{table.name}"
        figures.append(Figure(f"{name}.complete", f"{table.title}: complete", found.complete))
        cut = found.began_before + found.still_open
        if found.incomplete:
            lacking = ", ".join(
                f"{event} {count}" for event, count in found.missing.items() if count
            )
            notes.append(
                f"{name}: {found.incomplete} lack an event ({lacking}) and are not measured"
            )
        if cut:
            notes.append(f"{name}: {cut} were cut by the ends of the log")
        parts = [*found.phases, *([found.whole] if found.whole else [])]
        rows = []
        ends = [(p.begin, p.end) for p in table.phases] + [(table.events[0], table.events[-1])]
        names = [*(p.name for p in table.phases), "whole"]
        for part, key, (begin, end) in zip(parts, names, ends, strict=False):
            crosses = begin.startswith(PEER) != end.startswith(PEER)
            spread = f"{format_ps(part.min_ps)} to {format_ps(part.max_ps)}"
            note = f"{part.count:,} complete" + (f", {spread}" if part.min_ps < part.max_ps else "")
            label = f"{table.title}: {key}"
            figures.append(
                Figure(
                    f"{name}.{key}.mean",
                    label,
                    round(part.mean_ps),
                    "ps",
                    _between_cards_ps(card) if crosses else None,
                    note,
                )
            )
            row = {"way": name, "phase": key, "count": part.count, "min_ps": part.min_ps}
            rows.append({**row, "mean_ps": part.mean_ps, "max_ps": part.max_ps})
        frames.append(pd.DataFrame(rows))
    return figures, frames, notes


def _between_cards_ps(card: CardView) -> int | None:
    """Return how far off a span is that begins on this card and ends on the other one."""
    relation = (
        card.beside.times.relations.get(card.beside.recording.device) if card.beside else None
    )
    return None if relation is None else relation.offset_unc_ps
