"""What a card logged up to its cause, and its histograms, as lines beside the findings: nothing rests on them."""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.capture.card.recording import CardRecording
from freezeframe.capture.time_text import format_ps
from freezeframe.capture.timebase import TimeBase
from freezeframe.decoders.tap.event_log import UNKNOWN, EventLog, Logged, entry_text, row_of

_MOST_EVENTS = 8
_LAST_BIN = 15


def logged_lines(recording: CardRecording, times: TimeBase, log: EventLog) -> list[str]:
    """Return where each state machine stood at the cause, the last events before it, and what the log lost.

    Without a cause that was read, up to the log's end.
    """
    if recording.log is None:
        return []
    cause_ps = None
    if recording.cause_cycle is not None:
        cause_ps = times.instant_ps(
            recording.device, recording.card.clocks[0].name, recording.cause_cycle
        )
    return [*_machines(recording, log, cause_ps), *_events(log, cause_ps), *_lost(log)]


def histogram_lines(recording: CardRecording) -> list[str]:
    """Return a line for each histogram: its bins that are not empty."""
    lines = []
    for name, bins in recording.histograms.items():
        said = recording.card.said.histogram[name]
        unit = "B" if said.of == "lengths" else "cycles"
        told = "; ".join(f"{_bin(n)}: {count:,}" for n, count in enumerate(bins) if count)
        lines.append(f"{name}, {said.of} at {said.tap} in {unit}: {told or 'no packet'}")
    return lines


def _machines(recording: CardRecording, log: EventLog, cause_ps: int | None) -> Iterator[str]:
    for source in recording.card.sources:
        if not source.states:
            continue
        mine = [e for e in log.entries if e.kind == "state" and e.name == source.name]
        before = [e for e in mine if _is_before(e, cause_ps)]
        if not mine:
            yield f"{source.name}: its state is not in the log"
            continue
        state = before[-1].state if before else mine[0].was
        changes = [e for e in before if e.was != e.state]
        if changes:
            since = f"since {_ago(changes[-1], cause_ps)}, from {changes[-1].was}"
        else:
            since = "since before the log begins"
        yield f"{source.name} in {state}, {since}"


def _events(log: EventLog, cause_ps: int | None) -> Iterator[str]:
    events = [e for e in log.entries if e.kind == "event" and _is_before(e, cause_ps)]
    for event in events[-_MOST_EVENTS:]:
        yield f"{entry_text(row_of(event))}, {_ago(event, cause_ps)}"
    if len(events) > _MOST_EVENTS:
        yield f"{len(events) - _MOST_EVENTS:,} events before these"


def _lost(log: EventLog) -> Iterator[str]:
    lost: dict[str, int] = {}
    for entry in log.entries:
        if entry.kind == "lost":
            lost[entry.name] = lost.get(entry.name, 0) + entry.value
    for name, count in lost.items():
        yield f"{name}: {count:,} came too fast to be recorded"


def _is_before(entry: Logged, cause_ps: int | None) -> bool:
    return cause_ps is None or entry.t_ps <= cause_ps


def _ago(entry: Logged, cause_ps: int | None) -> str:
    known = "" if UNKNOWN not in (entry.t_unc_ps, entry.cycle) else "about "
    if cause_ps is None:
        return f"at {known}{format_ps(entry.t_ps)}"
    return f"{known}{format_ps(cause_ps - entry.t_ps)} before the cause"


def _bin(number: int) -> str:
    if number < 2:
        return str(number)
    low = 1 << number - 1
    return f"{low:,} and more" if number == _LAST_BIN else f"{low:,}-{2 * low - 1:,}"
