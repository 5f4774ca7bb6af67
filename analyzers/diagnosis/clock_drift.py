"""clock-drift: the receiver does not correct for the difference between the two link clocks.

Its synchronization FIFOs empty or fill by a word in every so many cycles; then both lanes repeat their last half
and lag by a word until the packet ends, or lose one and run ahead. What tells it: both lanes at once, again and
again at the same interval, and no idle was ever inserted or removed. One lane alone is sync-fifo-empty.

Source: docs/formats.md section 3, "Bonding"; section 4, LINK underflow and overflow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from freezeframe.analyzers.contract import Evidence, Finding, Row
from freezeframe.analyzers.diagnosis.facts import LINK, Facts
from freezeframe.analyzers.diagnosis.place import cause_evidence, place_of_pair, word_label
from freezeframe.analyzers.streams import EventLog
from freezeframe.analyzers.taps.tap_diff import PacketPair, SegmentDiff
from freezeframe.capture.registers.layouts import Kind

__all__ = ["NAME", "Slips", "diagnose", "slips_of"]

NAME = "clock-drift"
_EVENT_CYCLES = 4
"""Events of both lanes may be stamped so many cycles apart: the log takes one a cycle."""

_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Slips:
    """Slips of both lanes at once in one card's log: positions of the first lane's event of each."""

    log: EventLog
    kind: str  # "underflow" or "overflow"
    positions: tuple[int, ...]
    alone: int  # slips of one lane only

    @property
    def interval_cycles(self) -> int | None:
        """The least distance of two slips; None with fewer than two."""
        cycles = self.log.cycle[list(self.positions)]
        return int(np.diff(cycles).min()) if len(cycles) > 1 else None

    @property
    def regular(self) -> bool:
        """All distances are multiples of the least one, within a few cycles."""
        least = self.interval_cycles
        if least is None or least < 100:
            return False
        distances = np.diff(self.log.cycle[list(self.positions)])
        off = np.abs(distances - np.round(distances / least) * least)
        return bool((off <= np.maximum(8, distances // 100)).all())


@dataclass(frozen=True, slots=True)
class _Slipped:
    """A packet that both lanes slipped in: word lists agree with one word repeated (or lost) at ``at``."""

    diff: SegmentDiff
    pair: PacketPair
    at: int
    repeated: bool


def slips_of(facts: Facts, receiver: str) -> Slips | None:
    """Return the slips of both lanes that a card recorded; None without a log of them."""
    log = facts.view.logs.get(receiver)
    if log is None or not log.recorded(Kind.LINK):
        return None
    best = Slips(log, "underflow", (), 0)
    for kind in ("underflow", "overflow"):
        at = log.select(Kind.LINK.name, kind)
        lanes = [at[log.value[at] == lane] for lane in (0, 1)]
        both = []
        for position in lanes[0].tolist():
            near = np.abs(log.cycle[lanes[1]] - log.cycle[position]) <= _EVENT_CYCLES
            if near.any():
                both.append(position)
        alone = len(at) - 2 * len(both)
        if len(both) > len(best.positions):
            best = Slips(log, kind, tuple(both), alone)
        elif not best.positions:
            best = Slips(log, best.kind, (), best.alone + alone)
    return best


def diagnose(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for every link on which both lanes slipped together."""
    for sender, receiver in facts.view.directions:
        slips = slips_of(facts, receiver)
        slipped = _slipped(facts.diff(sender, receiver, LINK))
        if _corrects(facts, receiver):
            continue
        if slipped is not None and (
            slips is None or slips.positions or _lanes_slipped(facts, receiver)
        ):
            yield _finding(facts, sender, receiver, slips, slipped)
        elif slips is not None and len(slips.positions) >= 2 and slips.regular and not slips.alone:
            yield _finding(facts, sender, receiver, slips, None)


def _corrects(facts: Facts, receiver: str) -> bool:
    """Return whether the receiver is known to insert or remove idles: then it corrects its clock."""
    counts = [facts.view.counter(receiver, name) for name in ("idles_inserted", "idles_removed")]
    return any(counts)


def _lanes_slipped(facts: Facts, receiver: str) -> bool:
    """Return whether the lanes' own counts say that both slipped equally often."""
    for name in ("underflows", "overflows"):
        counts = [facts.view.value(receiver, f"frozen.lane.{name}", lane) for lane in (0, 1)]
        if counts[0] and counts[0] == counts[1]:
            return True
    return False


def _slipped(diff: SegmentDiff | None) -> _Slipped | None:
    """Return the first packet whose words are those before it with one repeated, or one lost."""
    for pair in () if diff is None else diff.differing:
        if pair.up.end - pair.up.start != pair.down.end - pair.down.start or diff is None:
            continue
        up = diff.up.data[pair.up.start : pair.up.end]
        down = diff.down.data[pair.down.start : pair.down.end]
        differ = np.flatnonzero(up != down)
        if not differ.size:
            continue
        at = int(differ[0])
        if at and np.array_equal(down[at:], up[at - 1 : -1]):
            return _Slipped(diff, pair, at, True)
        if np.array_equal(down[at:-1], up[at + 1 :]):
            return _Slipped(diff, pair, at, False)
    return None


def _finding(
    facts: Facts, sender: str, receiver: str, slips: Slips | None, slipped: _Slipped | None
) -> Finding:
    flow = packet = word = t_ps = unc_ps = None
    evidence: list[Evidence] = []
    text = f"Both lanes into {receiver} slipped by a word in one cycle"
    if slipped is not None:
        place, diff = place_of_pair(slipped.pair), slipped.diff
        flow, packet = place.flow, place.packet
        position = slipped.pair.down.start + slipped.at
        label = word_label(diff.down, slipped.pair.down, position)
        if (
            slipped.pair.down.heads
            <= slipped.at
            < len(_words(slipped)) - int(slipped.pair.down.has_tail)
        ):
            word = slipped.at - slipped.pair.down.heads
        t_ps, unc_ps = diff.down.when(position)
        what = "repeated it and lag" if slipped.repeated else "lost one and run ahead"
        text += f" at {label} of packet {packet} ({diff.direction}, flow {flow}): they {what} to its end"
        evidence.append(
            Evidence(
                f"{diff.up.source} and {diff.down.source} have the same words, from {label} on moved by "
                f"one {'back' if slipped.repeated else 'forward'}.",
                receiver,
                "rx_enq",
                _around(slipped),
            )
        )
    sure = 0.9
    if slips is not None and slips.positions:
        every = slips.interval_cycles
        again = "" if every is None else f", {every} cycles apart where they were nearest"
        rows = tuple(
            slips.log.row(at, f"both lanes: {slips.kind}") for at in slips.positions[:_SHOWN]
        )
        if t_ps is None:
            t_ps, unc_ps = slips.log.when(slips.positions[0])
        evidence.append(
            Evidence(
                f"{receiver}'s log has {len(slips.positions)} slips of both lanes at once{again}.",
                receiver,
                "event_log",
                rows,
            )
        )
        sure = 0.97 if slipped is not None else 0.85
    idle = [facts.view.counter_row(receiver, name) for name in ("idles_inserted", "idles_removed")]
    evidence.append(
        Evidence(
            f"{receiver} never inserted or removed an idle: it does not correct for the clocks.",
            receiver,
            rows=tuple(row for row in idle if row.value is not None),
        )
    )
    return Finding(
        diagnosis=NAME,
        text=(
            f"{text}. {receiver} inserts and removes no idles, so every difference of the two link clocks "
            "adds up until its synchronization FIFOs run empty or full, both at once."
        ),
        device=receiver,
        tap="rx_enq",
        direction=f"{sender}->{receiver}",
        flow=flow,
        packet=packet,
        word=word,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        confidence=sure,
        evidence=(*evidence, *cause_evidence(facts, receiver)),
    )


def _words(slipped: _Slipped) -> range:
    return range(slipped.pair.down.start, slipped.pair.down.end)


def _around(slipped: _Slipped) -> tuple[Row, ...]:
    pair, diff = slipped.pair, slipped.diff
    rows: list[Row] = []
    last = pair.down.end - pair.down.start
    for i in range(max(slipped.at - 1, 0), min(slipped.at + 3, last)):
        above, below = pair.up.start + i, pair.down.start + i
        label = word_label(diff.down, pair.down, below)
        rows.append(diff.up.row(above, label))
        rows.append(diff.down.row(below, label, int(diff.up.data[above])))
    return tuple(rows)
