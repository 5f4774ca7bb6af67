"""The words of a card's recording as its trigger of steps would see them, in the order of the register bus."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from freezeframe.capture.card.recording import CardRecording, RecordedTap
from freezeframe.capture.card.time_base import card_time_base
from freezeframe.capture.card.trigger_steps import ReadRegister, StepTrigger, trigger_of
from freezeframe.capture.timebase import TimeBase
from freezeframe.decoders.tap.stream import Workspace, tap_records
from freezeframe.emulator.card_trigger import LATENCY_CYCLES, StepMachine, TakenWord, played

_NO_WORDS = (13, 15)  # MARK, TIME


def play_recording(recording: CardRecording, read: ReadRegister) -> StepMachine | None:
    """Return what the trigger in a device's registers makes of a recording; None where it is off.

    The recording's first word comes in the cycle behind the arm.
    """
    trigger = trigger_of(read, recording.card)
    if trigger is None or not trigger.enabled:
        return None
    times = card_time_base(recording)
    words = sorted(
        word
        for tap in recording.recorders.values()
        for word in _words(recording, times, tap, trigger)
    )
    if not words:
        return StepMachine(trigger, 0)
    until = recording.cause_cycle or words[-1][0]
    return played(trigger, words[0][0] - 1, words, max(until, words[-1][0]))


def _words(
    recording: CardRecording, times: TimeBase, tap: RecordedTap, trigger: StepTrigger
) -> Iterator[tuple[int, TakenWord]]:
    """Give the words of a tap that some step looks for, each with the bus cycle in which it can be taken."""
    mine = [
        (1 << n, term) for n, term in enumerate(trigger.terms) if term.tap == tap.tap.name
    ]  # fmt: skip
    if not mine:
        return
    device, bus = recording.device, recording.clocks[0].clock.name
    records = tap_records(tap, Workspace())
    columns, cycles = records.columns, records.dated.cycle
    own = times.clocks[device, tap.tap.clock.name]
    per_cycle = times.clocks[device, bus].ps_per_cycle
    for data, kind, cycle in zip(
        columns.data.astype(np.uint64).tolist(), columns.kind.tolist(), cycles.tolist(), strict=True
    ):
        if kind in _NO_WORDS:
            continue
        terms = sum(bit for bit, term in mine if term.fits(kind, data))
        if any(step.when >> terms & 1 for step in trigger.steps):
            at = int(own.instant_ps(cycle) // per_cycle) + LATENCY_CYCLES
            yield at, TakenWord(tap.tap.number, terms, cycle)
