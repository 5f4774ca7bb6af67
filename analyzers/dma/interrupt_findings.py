"""interrupt-storm and interrupt-lost: the card's interrupt line and its driver do not fit together.

- interrupt-storm: the handler does not mask the line while it runs, so that every further completion
  interrupts it once more. What tells it: an interrupt that comes before the one before it was masked, while two
  or more completions wait.
- interrupt-lost: a completion came between the handler's last look and its enabling of the line, and nothing
  raised the line again. What tells it: the line is enabled, a completion waits, and no interrupt comes.

A completion that waits because the line is masked is a driver at work, and healthy.

Source: docs/formats.md section 4; FORTH paper, section 4.1.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from freezeframe.analyzers.contract import Evidence, Finding, Row
from freezeframe.analyzers.dma.chunks import LogRow
from freezeframe.analyzers.dma.interrupts import Interrupts, Lost, interrupts_in_log
from freezeframe.analyzers.streams import EventLog
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.registers.layouts import Kind

__all__ = ["LOST", "STORM", "diagnose"]

STORM, LOST = "interrupt-storm", "interrupt-lost"
_NEEDED = 2
"""Interrupts on top of one that was not masked. For a single one the mask may be what was not recorded."""

_NEVER_MASKED = 3
"""Runs of the handler, none of which masked the line: with a single such interrupt that says the same."""

_SHOWN = 8


def diagnose(view: CaptureView) -> Iterator[Finding]:
    """Yield a finding for every card whose interrupts and completions contradict each other."""
    for device in view.names:
        log = view.logs[device]
        if log.gaps or not log.recorded(Kind.IRQ, Kind.NOTE):
            continue
        told = interrupts_in_log(view.trace, device)
        if len(told.again) >= _NEEDED or (told.again and _never_masks(log)):
            yield _storm(view, device, told)
        if told.lost:
            yield _lost(view, device, told.lost[0])


def _never_masks(log: EventLog) -> bool:
    """Return whether the handler ran and not once masked the line, and nothing was lost that could say it did."""
    ran, masked = log.select(Kind.IRQ.name, "enabled"), log.select(Kind.IRQ.name, "masked")
    return len(ran) >= _NEVER_MASKED and not len(masked) and not len(log.select(Kind.LOSS.name))


def _storm(view: CaptureView, device: str, told: Interrupts) -> Finding:
    rows = tuple(
        _row(device, row, f"interrupt raised, {row.value} completions waiting")
        for row in told.again[:_SHOWN]
    )
    ratio = told.per_completion
    many = "1 interrupt" if len(told.again) == 1 else f"{len(told.again)} interrupts"
    each = "" if ratio is None else f", {ratio:.2f} each"
    return Finding(
        diagnosis=STORM,
        text=(
            f"{device} raised {many} while the handler of the one before had not "
            f"masked the line and two or more completions waited ({told.raised} interrupts for "
            f"{told.completions} completions{each}): the driver does not mask the line while it runs."
        ),
        device=device,
        direction=_into(view, device),
        t_ps=told.again[0].t_ps,
        t_uncertainty_ps=_uncertainty(view, device, told.again[0].row),
        confidence=0.95 if len(told.again) >= _NEEDED else 0.85,
        evidence=(
            Evidence("Interrupts on top of one that was not masked.", device, "event_log", rows),
            Evidence(
                "The interrupt line at freeze.",
                device,
                rows=(
                    view.register_row(device, "frozen.interrupt_mask"),
                    view.register_row(device, "frozen.completions_waiting"),
                ),
            ),
        ),
    )


def _lost(view: CaptureView, device: str, lost: Lost) -> Finding:
    note = _waiting(view, device, lost)
    rows = [_row(device, lost.cause, _meaning(lost.cause))]
    if note is not None:
        rows.insert(0, view.logs[device].row(note, "completion that waits"))
    if lost.raised is None:
        after = "none came in the rest of the recording"
    else:
        rows.append(_row(device, lost.raised, "the next interrupt"))
        after = f"the next came {lost.raised.cycle - lost.cause.cycle:,} bus cycles later"
    log = view.logs[device]
    seq = None if note is None else int(log.value[note])
    flow = None if note is None else int(log.flow[note])
    what = "A completion" if seq is None else f"The completion of packet {seq} (flow {flow})"
    return Finding(
        diagnosis=LOST,
        text=(
            f"{what} waited at {device} with the interrupt line enabled, and no interrupt was raised: "
            f"{after}. It came between the handler's last look and the enabling of the line, and the "
            "driver did not look again."
        ),
        device=device,
        direction=_into(view, device),
        flow=flow,
        packet=seq,
        t_ps=lost.cause.t_ps,
        t_uncertainty_ps=_uncertainty(view, device, lost.cause.row),
        confidence=0.95,
        evidence=(
            Evidence(
                f"Completions waiting: {lost.cause.value or 1}. The line was enabled, and {after}.",
                device,
                "event_log",
                tuple(rows),
            ),
        ),
    )


def _waiting(view: CaptureView, device: str, lost: Lost) -> int | None:
    """Return the position in the log of the notification that waited first; None where it was not recorded.

    How many waited is known best where the next interrupt was raised: a notification written in the cycle of
    the enabling is counted there, and stands in the log behind it.
    """
    log = view.logs[device]
    notes = log.select(Kind.NOTE.name, "remote")
    if lost.raised is not None:
        waiting, before = lost.raised.value, notes[log.rows[notes] < lost.raised.row]
    elif lost.cause.kind == Kind.NOTE.name:
        waiting, before = 1, notes[log.rows[notes] <= lost.cause.row]
    else:
        waiting, before = lost.cause.value, notes[log.cycle[notes] <= lost.cause.cycle]
    return int(before[-waiting]) if 0 < waiting <= len(before) else None


def _meaning(cause: LogRow) -> str:
    if cause.kind == Kind.NOTE.name:
        return "notification written, line enabled"
    many = "completion" if cause.value == 1 else "completions"
    return f"line enabled, {cause.value} {many} waiting"


def _row(device: str, row: LogRow, label: str) -> Row:
    return Row(
        "events",
        f"{device}.event_log",
        label,
        row.value,
        row=row.row,
        cycle=row.cycle,
        t_ps=row.t_ps,
    )


def _into(view: CaptureView, device: str) -> str | None:
    """Return the direction whose receiver this is; None where the other end is not known."""
    peer = view.peer(device)
    return None if peer is None else f"{peer}->{device}"


def _uncertainty(view: CaptureView, device: str, row: int) -> int | None:
    log = view.logs[device]
    at = np.flatnonzero(log.rows == row)
    unc_ps = int(log.t_unc_ps[at[0]]) if len(at) else -1
    return None if unc_ps < 0 else unc_ps
