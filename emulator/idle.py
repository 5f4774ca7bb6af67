"""Idle stretches of a pair are skipped, exactly: what comes of them is as if each event had been simulated.

Between two things that happen (a message is posted, a word moves, a wait is over) a card does three things by itself,
at equal distances: it samples its throughput, copies its counters, and corrects its clock by an idle. While nothing
moves, each sample and each copy is the same as the one before, and each correction makes the same records. So all but
the last few before the next thing that happens are done at once. The last few are simulated, so that events at one
moment come in the order in which they always do, and both banks of counters are those of their own times.

What is not known here to repeat is not skipped: anything else that waits for a time, as a fault that slips lanes at
its own interval, ends the stretch.
"""

from __future__ import annotations

from collections.abc import Sequence

from freezeframe.emulator.beat import NEVER_PS, Beat, Calendar
from freezeframe.emulator.nic import Nic

_KEPT = 3
"""Beats before the next event that are simulated: both banks of counters, and one for the order of events."""

_WORTH, _WORTH_LOGGED = 8, 32
"""Beats that are worth to be skipped; of corrections more, as the records of many at once take longer to be made."""

_LONGEST_PS = (
    3600 * 10**12
)  # skipped at once: what the clocks' arithmetic of 64 bits holds, and half of it again

_LAST_PS = (1 << 63) - 2 * _LONGEST_PS
"""Up to then, 106 days after power-up, idle stretches are skipped; what comes later is simulated."""


def skip_idle(calendar: Calendar, nics: Sequence[Nic], until_ps: int) -> int:
    """Skip what both cards do by themselves up to the next event, or ``until_ps``.

    Returns:
        The time before which nothing more is worth skipping: the next event's, or ``until_ps``; far away after 106
        days.
    """
    now_ps = int(calendar.now)
    if now_ps > _LAST_PS:
        return NEVER_PS
    beats = [beat for nic in nics for beat in _beats(nic)]
    end_ps = min(
        until_ps, now_ps + _LONGEST_PS, calendar.earliest_but([b.event for b in beats if b.event])
    )
    if all(beat.before(end_ps) - _KEPT < _WORTH for beat in beats):
        return end_ps
    if not all(nic.idle for nic in nics):
        return now_ps + 1
    return min(_skip(nic, beats, end_ps) for nic in nics)


def _beats(nic: Nic) -> list[Beat]:
    beats = [nic.sampler.beat, nic.snapshots.beat]
    if (
        nic.recording.log.memory.sound
    ):  # else a correction is an event like any other: its records may make it strike
        beats.append(nic.rx_link.beat)
    return [beat for beat in beats if beat is not None and beat.event]


def _skip(nic: Nic, beats: Sequence[Beat], end_ps: int) -> int:
    """Skip what one card does before ``end_ps``; return when there is more to skip, at the latest then."""
    sampled, copied, corrected = nic.sampler.beat, nic.snapshots.beat, nic.rx_link.beat
    if sampled is not None and sampled in beats:
        samples = sampled.before(end_ps) - _KEPT
        nic.sampler.skip(samples if samples >= _WORTH else 0)
    if copied is not None and copied in beats:
        copies = copied.before(end_ps) - _KEPT
        nic.snapshots.skip(copies if copies >= _WORTH else 0)
    if corrected is not None and corrected in beats:
        # No correction may be counted before the copy of a time before it is made.
        copied_ps = end_ps if copied is None else min(end_ps, copied.next_ps)
        wanted, before = corrected.before(end_ps) - _KEPT, corrected.before(copied_ps)
        corrections = min(wanted, before)
        nic.rx_link.skip(corrections if corrections >= _WORTH_LOGGED else 0)
        if before < wanted and wanted >= _WORTH_LOGGED:
            return copied_ps
    return end_ps
