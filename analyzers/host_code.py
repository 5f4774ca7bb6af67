"""Did the interrupt handler run: each interrupt of a card beside what its computer's trace says of it.

Which entry of the handler belongs to which interrupt is the order by which the two clocks were related: one to one.
Where the trace lost lines, or does not reach so far, nothing is concluded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from freezeframe.analyzers.analysis import AnalysisResult, Figure, Intervals
from freezeframe.analyzers.result_parts import (
    IntervalRow,
    distribution_figures,
    interval_track,
    joined_notes,
)
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.registers.layouts import Kind
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.host.table import HostEvents, host_events

RAN, NEVER, UNKNOWN = "ran", "never", "unknown"
_PATIENCE_PS, _PATIENCE = 100_000_000, 10
"""How long a trace must go on after an interrupt, at least and in longest latencies, for its silence to count."""


@dataclass(frozen=True, slots=True)
class InterruptRow:
    """One interrupt: when it was raised, and what became of it (``ran``, ``never``, ``unknown``).

    ``row`` is that of the table ``events``, ``host_row`` that of ``host`` (-1: none).
    """

    t_ps: int
    outcome: str
    entered_ps: int
    left_ps: int
    unc_ps: int
    row: int
    host_row: int


def handled(
    events: pd.DataFrame, host: pd.DataFrame, device: str, irq: int, ahead: int
) -> list[InterruptRow]:
    """Return what became of each interrupt of a card.

    Args:
        events: table ``events`` of the capture.
        host: table ``host``, its clock related.
        irq, ahead: the line of the card, and by how many handler entries the trace is ahead of the log.
    """
    wanted = (
        (events["device"] == device)
        & (events["kind"] == Kind.IRQ.name)
        & (events["code"] == "raised")
        & (events["t_unc_ps"] >= 0)
    )
    raised = events[wanted.to_numpy()]
    of_card = host[(host["device"] == device).to_numpy()]
    entries = of_card[(of_card["kind"] == "irq_handler_entry") & (of_card["irq"] == irq)]
    exits = of_card[(of_card["kind"] == "irq_handler_exit") & (of_card["irq"] == irq)]
    lost = of_card[of_card["kind"] == "lost"]["t_ps"].to_numpy()
    timed = of_card[of_card["t_unc_ps"] >= 0]["t_ps"].to_numpy()
    entered, left, unc = (
        entries["t_ps"].to_numpy(), exits["t_ps"].to_numpy(), entries["t_unc_ps"].to_numpy()
    )  # fmt: skip
    interrupts: list[InterruptRow] = []
    for number, (row, t_ps) in enumerate(
        zip(raised.index.tolist(), raised["t_ps"].tolist(), strict=True)
    ):
        at = number + ahead
        if 0 <= at < len(entries):
            after = int(np.searchsorted(left, entered[at]))
            left_ps = int(left[after]) if after < len(left) else -1
            interrupts.append(
                InterruptRow(
                    t_ps, RAN, int(entered[at]), left_ps, int(unc[at]), row, int(entries.index[at])
                )
            )
            continue
        # Silence means something only where the trace went on for long, and lost nothing.
        longest = max(
            (
                interrupt.entered_ps - interrupt.t_ps
                for interrupt in interrupts
                if interrupt.outcome == RAN
            ),
            default=0,
        )
        patience = max(_PATIENCE_PS, _PATIENCE * longest)
        went_on = at >= len(entries) and len(timed) > 0 and timed[-1] - t_ps > patience
        never = went_on and not (lost >= t_ps - patience).any()
        interrupts.append(InterruptRow(t_ps, NEVER if never else UNKNOWN, -1, -1, -1, row, -1))
    return interrupts


def run(view: CaptureView) -> AnalysisResult:
    if not view.folder.host:
        return AnalysisResult(
            "host",
            notes=(
                "the capture holds no trace of a host; pull with --host-trace FILE (trace-cmd report, "
                "ftrace or dmesg)",
            ),
        )
    host = host_events(view.folder, view.trace)
    figures: list[Figure] = []
    tracks: list[Intervals] = []
    tables = {"host": host.table}
    notes = list(host.notes)
    for device, clock in host.clocks.items():
        if clock.relation is None:
            figures.append(
                Figure(f"{device}.interrupts.handled", "handlers that ran", None, note=clock.note)
            )
            continue
        rows = handled(view.trace.events, host.table, device, clock.irq, clock.ahead)
        tables[f"interrupts.{device}"] = pd.DataFrame(rows, columns=list(InterruptRow.__slots__))
        figures += _figures(device, rows)
        tracks.append(_track(device, clock.irq, rows))
        notes += _silent(device, rows)
    tracks += _messages(host)
    return AnalysisResult(
        "host", tuple(figures), (), tuple(tracks), (), tables, joined_notes(notes)
    )


def _figures(device: str, rows: list[InterruptRow]) -> list[Figure]:
    counts = {
        outcome: sum(row.outcome == outcome for row in rows) for outcome in (RAN, NEVER, UNKNOWN)
    }
    ran = [row for row in rows if row.outcome == RAN]
    lag = np.array([row.entered_ps - row.t_ps for row in ran], np.int64)
    unc = max((row.unc_ps for row in ran), default=0)
    return [
        Figure(f"{device}.interrupts", f"{device}: interrupts raised", len(rows)),
        Figure(f"{device}.interrupts.handled", f"{device}: handlers that ran", counts[RAN]),
        Figure(f"{device}.interrupts.never", f"{device}: interrupts without a handler", counts[NEVER]),
        Figure(
            f"{device}.interrupts.unknown",
            f"{device}: of which the trace says nothing",
            counts[UNKNOWN],
        ),
        *distribution_figures(
            f"{device}.entry", f"{device}: from the interrupt to its handler", lag, "ps", unc,
            "the host's trace has no handler of this card" if not ran else "",
        ),
    ]  # fmt: skip


def _track(device: str, irq: int, rows: list[InterruptRow]) -> Intervals:
    intervals: list[IntervalRow] = []
    for row in rows:
        if row.outcome == RAN:
            end_ps = row.left_ps if row.left_ps >= 0 else row.entered_ps
            intervals.append(
                (
                    row.entered_ps,
                    end_ps,
                    "handler",
                    f"irq {irq} handler",
                    -1,
                    False,
                    row.left_ps < 0,
                )
            )
        else:
            what = "no handler ran" if row.outcome == NEVER else "trace says nothing"
            intervals.append((row.t_ps, row.t_ps + 1, row.outcome, what, -1, False, False))
    intervals.sort()
    return interval_track(
        f"{device}.handlers", f"{device}: interrupt handlers of the host", intervals
    )


def _messages(host: HostEvents) -> list[Intervals]:
    messages = host.table[
        (host.table["kind"] == "message").to_numpy() & (host.table["t_unc_ps"] >= 0)
    ]
    if not len(messages):
        return []
    rows: list[IntervalRow] = [
        (t_ps, t_ps + 1, "message", text, -1, False, False)
        for t_ps, text in zip(messages["t_ps"].tolist(), messages["text"].tolist(), strict=True)
    ]
    return [interval_track("host.messages", "messages of the host's kernel", rows)]


def _silent(device: str, rows: list[InterruptRow]) -> list[str]:
    never = [row for row in rows if row.outcome == NEVER]
    if not never:
        return []
    return [
        f"{device}: {len(never)} of {len(rows)} interrupts had no handler; the first was raised at "
        f"{format_ps(never[0].t_ps)} (row {never[0].row} of events)"
    ]


"""Needs a capture that was pulled with ``--host-trace``."""
