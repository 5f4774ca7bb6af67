"""The words that fired a card's trigger, found again in its memories by the cycles that the trigger kept.

A trigger of steps keeps each step's word in registers; one of a single term has fired in the cycle before the cause of
its tap's clock (docs/trigger.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from freezeframe.analyzers.card.places import Places
from freezeframe.capture.card.recording import RecordedTap
from freezeframe.capture.card.trigger_steps import (
    TERM_NAMES,
    Mode,
    StepTrigger,
    StepWord,
    TapTerm,
    when_text,
)
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.tap.checked import CheckedStream
from freezeframe.decoders.tap.event_log import LogKind
from freezeframe.decoders.tap.kinds import TapKind
from freezeframe.decoders.tap.stream import Workspace, tap_records

_TRIGGER = 1 << 1
_MARKS = (int(TapKind.MARK), int(TapKind.TIME))
_LOW = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class FiredPart:
    """A step that was reached, or what else fired.

    Attributes:
        what: ``step``, ``pin`` or ``outside``.
        step: its number; None for the others.
        tap: of the word; "" where a time was over.
        terms: names of the terms that the word is like.
        kind, data, cycle, packet: of the word, its record's cycle in the clock of its tap; None where it is not in the
            memory.
    """

    what: str
    text: str
    step: int | None = None
    tap: str = ""
    terms: tuple[str, ...] = ()
    kind: str | None = None
    data: str | None = None
    cycle: int | None = None
    t_ps: int | None = None
    packet: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)


def fired_parts(card: Places, streams: dict[str, CheckedStream]) -> list[FiredPart]:
    """Return what fired a card's trigger, step by step; or how far it had come; nothing where it was off."""
    recording = card.recording
    trigger, state = recording.trigger, recording.fired
    if trigger is None:
        return []
    caused = bool((recording.causes or 0) & _TRIGGER)
    if state is None:  # one term, at one tap: no register keeps its word
        return [_alone(card, streams, trigger)] if caused and trigger.enabled else []
    parts = []
    if caused and "pin" in state.by:
        parts.append(FiredPart("pin", f"a {trigger.pin or 'changed'} edge of the pin trigger_pin"))
    if caused and "outside" in state.by:
        parts.append(FiredPart("outside", "trigger_in, from the card itself"))
    fired = caused and "steps" in state.by
    if fired or (trigger.enabled and state.words):
        parts += _steps(card, streams, trigger, state.words)
        if not fired:
            left = len(trigger.steps) - len(state.words)
            text = (
                f"the trigger had {left} of {len(trigger.steps)} steps before it: it did not fire"
            )
            parts.append(FiredPart("step", text, len(state.words)))
    if state.lost and parts:
        text = "more words came at once than the trigger has room for: a step may have missed one"
        parts.append(FiredPart("step", text))
    return parts


def _steps(
    card: Places,
    streams: dict[str, CheckedStream],
    trigger: StepTrigger,
    words: tuple[StepWord, ...],
) -> Iterator[FiredPart]:
    for number, word in enumerate(words[: len(trigger.steps)]):
        step = trigger.steps[number]
        if not word.tap:
            bus = card.recording.clocks[0].clock.name
            cycle = _whole(word.cycle_low, card.recording.cause_cycle)
            t_ps = _time(card, bus, cycle)
            text = (
                f"step {number}: {trigger.timer_cycles:,} bus cycles without "
                f"{_count(step.count)} like {when_text(step.when, len(trigger.terms))}, {_at(cycle, t_ps)}"
            )
            yield FiredPart("step", text, number, cycle=cycle, t_ps=t_ps)
            continue
        which = tuple(name for n, name in enumerate(TERM_NAMES) if word.terms >> n & 1)
        like = f"like {', '.join(which)}" if which else "like no term"
        last = f", the last of {step.count:,}" if step.count > 1 else ""
        when = f"step {number}{_timed(trigger, number)}"
        terms = [term for n, term in enumerate(trigger.terms) if word.terms >> n & 1]
        yield _found(
            card, streams, word.tap, word.cycle_low, terms, (when, f"{like}{last}", number, which)
        )


def _alone(card: Places, streams: dict[str, CheckedStream], trigger: StepTrigger) -> FiredPart:
    """Return the word of the one term: of the cycle before the cause in the clock of its tap."""
    (term,) = trigger.terms
    stream = streams.get(term.tap)
    cause = None
    if (
        stream is not None
        and stream.stream.mark is not None
        and stream.stream.mark.causes & _TRIGGER
    ):
        cause = stream.stream.cause_cycle
        cause = None if cause is None else cause + stream.tap.latency_cycles
    elif term.tap in card.recording.recorders:
        tap = card.recording.recorders[term.tap].tap
        cause = card.recording.cause_cycle if tap.clock.number == 0 else None
    if cause is None:
        return FiredPart(
            "step", f"{term.tap}: a word like the term; which one is not known", 0, term.tap
        )
    return _found(
        card, streams, term.tap, cause - 1 & _LOW, [term], ("", "like the term", 0, ("a",))
    )


def _found(
    card: Places,
    streams: dict[str, CheckedStream],
    name: str,
    cycle_low: int,
    terms: list[TapTerm],
    told: tuple[str, str, int, tuple[str, ...]],
) -> FiredPart:
    """Return the word of a tap with these low bits of a cycle, where its memory still has it."""
    when, like, number, which = told
    begin = f"{when}: {card.recording.device}.{name}" if when else f"{card.recording.device}.{name}"
    recorded = card.recording.recorders.get(name)
    row = None if recorded is None else _row(recorded, cycle_low, terms)
    if recorded is None or row is None:
        text = f"{begin}: a word {like}; it is not in the memory any more"
        return FiredPart("step", text, number, name, which)
    records = tap_records(recorded, Workspace())
    kind, bits = int(records.columns.kind[row]), int(records.columns.data[row]) & (1 << 64) - 1
    cycle = int(records.dated.cycle[row])
    t_ps = _time(card, recorded.tap.clock.name, cycle - recorded.tap.latency_cycles)
    packet = _packet(streams.get(name), row)
    kinds = LogKind if card.recording.log is recorded else TapKind
    named = kinds(kind).name if kind in list(kinds) else f"kind {kind}"
    data = f"0x{bits:016x}"
    place = "" if packet is None else f", packet {packet}"
    text = f"{begin}: {named} {data}{place}, {_at(cycle, t_ps)}: {like}"
    return FiredPart("step", text, number, name, which, named, data, cycle, t_ps, packet)


def _row(recorded: RecordedTap, cycle_low: int, terms: list[TapTerm]) -> int | None:
    records = tap_records(recorded, Workspace())
    kind, data = records.columns.kind, records.columns.data
    at = (records.dated.cycle & _LOW) == cycle_low
    for row in np.flatnonzero(at & ~np.isin(kind, _MARKS)).tolist():
        if all(term.fits(int(kind[row]), int(data[row]) & (1 << 64) - 1) for term in terms):
            return int(row)
    return None


def _packet(stream: CheckedStream | None, row: int) -> int | None:
    if stream is None:
        return None
    packets = stream.stream.packets
    held = np.flatnonzero((packets.first_row <= row) & (packets.end_row > row))
    return int(held[0]) if len(held) else None


def _whole(low: int, cause: int | None) -> int | None:
    """Return the latest cycle with these low bits that is not after the cause."""
    return None if cause is None else cause - (cause - low & _LOW)


def _time(card: Places, clock: str, cycle: int | None) -> int | None:
    if cycle is None:
        return None
    times, uncertain = card.times.times_ps(
        card.recording.device, clock, np.array([cycle], np.int64)
    )
    return None if uncertain[0] < 0 else int(times[0])


def _at(cycle: int | None, t_ps: int | None) -> str:
    if cycle is None:
        return "in a cycle that is not known"
    return f"cycle {cycle:,}" + ("" if t_ps is None else f", {format_ps(t_ps)}")


def _count(count: int) -> str:
    return "a word" if count == 1 else f"{count:,} words"


def _timed(trigger: StepTrigger, number: int) -> str:
    mode = trigger.steps[number].mode
    if mode is Mode.ANY:
        return ""
    since = f"step {number - 1}" if number else "the arm"
    return f" ({mode.text.replace('-', ' ')} {trigger.timer_cycles:,} bus cycles of {since})"
