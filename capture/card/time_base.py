"""Clocks of a card's recording on one axis: the time base of N domains, by the pairs of the time line.

Source: docs/formats.md section 6; docs/card-map.md section 1.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from freezeframe.capture.card.recording import CardRecording, RecordedClock
from freezeframe.capture.timebase import PS_PER_S, DomainClock, TimeBase

_LATE_CYCLES = Fraction(5, 2)  # 2 to 3 cycles through the two flip-flops
_NUMBERS = 1 << 32
_IMPLAUSIBLE = Fraction(1, 10)  # beyond it the pairs are wrong, not the clock


def card_time_base(recording: CardRecording) -> TimeBase:
    """Return the time base of a card; the master is its bus clock, counted from that counter's zero.

    A clock without a toggle has times of its own, whose uncertainty is not known.
    """
    bus = recording.clocks[0]
    clocks: dict[tuple[str, str], DomainClock] = {}
    notes: list[str] = []
    for clock in recording.clocks:
        related = _related(recording, clock, bus, notes)
        clocks[recording.device, clock.clock.name] = related
    return TimeBase(clocks, notes)


def _related(
    recording: CardRecording, clock: RecordedClock, bus: RecordedClock, notes: list[str]
) -> DomainClock:
    nominal = Fraction(PS_PER_S, clock.hz)
    name = clock.clock.name
    ppm = clock.clock.said.ppm
    own = DomainClock(
        recording.device, name, "none", clock.hz, nominal, 0, 0,
        tolerance_ppb=1000 * (ppm + bus.clock.said.ppm), own_ppm=ppm,
    )  # fmt: skip
    if clock is bus:
        return replace(own, relation="master")
    last = clock.last or clock.first
    if last is None:
        stood = "" if clock.alive else ": it stood still"
        notes.append(f"clock {name}: no toggle of the time line, so its times are its own{stood}")
        return own
    period = Fraction(recording.sync_period * PS_PER_S, bus.hz)
    number = last.number
    if recording.cause_cycle is not None:  # the bits above 32 that a number lacks
        near = recording.cause_cycle // recording.sync_period
        number += _NUMBERS * round(Fraction(near - number, _NUMBERS))
    rate, first = nominal, clock.first
    pairs = (last.cycle, last.cycle)
    if first is not None and first != last and last.cycle > first.cycle:
        toggles = (last.number - first.number) % _NUMBERS
        measured = period * toggles / (last.cycle - first.cycle)
        if abs(measured / nominal - 1) <= _IMPLAUSIBLE:
            rate, pairs = measured, (first.cycle, last.cycle)
        else:
            notes.append(
                f"clock {name}: its two time pairs contradict each other; the last is used"
            )
    return replace(
        own,
        relation="two pairs" if pairs[0] != pairs[1] else "one pair",
        ps_per_cycle=rate,
        anchor_cycle=last.cycle,
        anchor_ps=int((number * period + _LATE_CYCLES * rate) // 1),
        pairs=pairs,
    )
