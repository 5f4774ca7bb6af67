"""The laws of a card, own and derived, against its counters at the freeze.

A counter holds what it was when the memories of its clock closed. Where a law has counters of several clocks, what may
have passed between their closings breaks no law.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freezeframe.capture.card.elaborated import ElaboratedLaw
from freezeframe.capture.card.recording import CardRecording, Feature, RecordedTap
from freezeframe.capture.card.sequences import PEER
from freezeframe.capture.card.time_base import card_time_base
from freezeframe.decoders.tap.kinds import TapKind

_LATE_CYCLES = (
    8  # from a beat to its counter, and from a memory's last record to the closing of its clock
)


@dataclass(frozen=True, slots=True)
class LawVerdict:
    """What the counters say of a law: ``holds`` is None where one of them was not read, or where they do not decide."""

    law: ElaboratedLaw
    value: int | None
    holds: bool | None
    text: str


def check_laws(recording: CardRecording, far: CardRecording | None = None) -> list[LawVerdict]:
    """Return the verdict on each law of the card.

    Args:
        far: the card at the other end, for laws of scope ``link``.
    """
    built = _built(recording)
    if far is not None:
        built |= {PEER + name: value for name, value in _built(far).items()}
    return [_checked(law, built, recording) for law in recording.card.laws]


def _built(recording: CardRecording) -> dict[str, int]:
    return {
        **(recording.counters if Feature.COUNTERS in recording.features else {}),
        **(recording.bank if Feature.BANK in recording.features else {}),
    }


def _checked(law: ElaboratedLaw, values: dict[str, int], recording: CardRecording) -> LawVerdict:
    absent = [name for name in (*law.plus, *law.minus) if name not in values]
    if absent:
        why = "was not built or not read"
        if all(name.startswith(PEER) for name in absent):
            why = "needs the card at the other end in the capture"
        return LawVerdict(law, None, None, f"law {law.name}: {', '.join(absent)} {why}")
    value = sum(values[name] for name in law.plus) - sum(values[name] for name in law.minus)
    holds = (law.least is None or value >= law.least) and (law.most is None or value <= law.most)
    terms = " + ".join(f"{name} {values[name]:,}" for name in law.plus)
    terms += "".join(f" - {name} {values[name]:,}" for name in law.minus)
    bounds = [f"at least {law.least:,}"] if law.least is not None else []
    bounds += [f"at most {law.most:,}"] if law.most is not None else []
    text = f"law {law.name}: {terms} = {value:,}; must be {' and '.join(bounds)}"
    if holds:
        return LawVerdict(law, value, holds, text)
    beyond = max((law.least or 0) - value, value - (law.most if law.most is not None else value))
    passed = _passed(law, recording)
    if passed is not None and beyond > passed:
        return LawVerdict(law, value, holds, text)
    so_many = "how much" if passed is None else f"up to {passed:,}"
    text += f"; its counters are of several clocks, and {so_many} may have passed between their closings"
    return LawVerdict(law, value, None, text + (" is not known" if passed is None else ""))


def _passed(law: ElaboratedLaw, recording: CardRecording) -> int | None:
    """Return how much may have been counted between the closings of a law's clocks; None where that is not known.

    At most a beat a cycle passes, of whatever is counted; bytes as many as a beat has.
    """
    card, counters = recording.card, dict(recording.card.counters)
    said = [counters[name] for name in (*law.plus, *law.minus) if name in counters]
    clocks = {card.tap(c.tap).clock.name if c.tap else c.clock or card.clocks[0].name for c in said}
    if len(clocks) < 2:
        return 0
    times = card_time_base(recording)
    instants: list[int] = []
    for clock in clocks:
        closed = [
            c for c in map(_closed, recording.taps.values()) if c is not None and c[0] == clock
        ]
        if not closed:
            return None
        cycle = np.array([max(at for _, at in closed)], np.int64)
        t_ps, unc_ps = times.times_ps(recording.device, clock, cycle)
        if unc_ps[0] < 0:
            return None
        instants += [int(t_ps[0] - unc_ps[0]), int(t_ps[0] + unc_ps[0])]
    fastest = min(times.clocks[recording.device, clock].ps_per_cycle for clock in clocks)
    cycles = int((max(instants) - min(instants)) / fastest) + _LATE_CYCLES
    beat = max((card.tap(c.tap).stream_bytes for c in said if c.counts == "bytes"), default=1)
    return cycles * beat


def _closed(recorded: RecordedTap) -> tuple[str, int] | None:
    """Return a tap's clock and the cycle in which its memory closed; None where the newest record does not say it."""
    newest = recorded.lanes[0][recorded.write_ptr - 1]
    if newest[8] & 0xF != TapKind.TIME:
        return None
    return recorded.tap.clock.name, int.from_bytes(newest[:8].tobytes(), "little")
