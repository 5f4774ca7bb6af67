"""Slips of both lanes at once, and clock-drift, which they show.

What a receiver says of its lanes: slips of both at once, and whether it corrects for the clocks.

Its synchronization FIFOs are written and read together, so that one that runs empty or full does so with the other:
a slip of one lane alone is another fault. A word that was repeated or lost on the link is then one that both lanes
repeated or lost.

Source: docs/formats.md section 3, "Bonding"; section 4, LINK underflow and overflow.

clock-drift: the receiver does not correct for the difference between the two link clocks.

Its synchronization FIFOs empty or fill by a word in every so many cycles; then both lanes repeat their last half
and lag by a word until the packet ends, or lose one and run ahead. A receiver that ends the packet where the line
does has it with a word more or less; one that counts has the right length, and not the last word or an idle one. What
distinguishes it: both lanes at once, again and again at the same interval, and no idle was ever inserted or removed.
One lane alone is sync-fifo-empty; a word more or less after a FIFO is word-duplicated or word-omitted.

Source: docs/formats.md section 3, "Bonding"; section 4, LINK underflow and overflow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from freezeframe.analyzers.contract import Evidence, Finding, Ground, Row
from freezeframe.analyzers.evidence import (
    cause_evidence,
    neighbourhood,
    place_of_pair,
    word_label,
    word_text,
)
from freezeframe.analyzers.facts import LINK, Facts
from freezeframe.analyzers.streams import EventLog
from freezeframe.analyzers.taps.align import Edit, Op, align
from freezeframe.analyzers.taps.tap_diff import PacketPair, SegmentDiff
from freezeframe.capture.card.roles import EVENT_LOG
from freezeframe.capture.registers.layouts import Kind

_EVENT_CYCLES = 4
"""Events of two lanes may be stamped so many cycles apart, of more in proportion: the log takes one a cycle."""


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


def slips_of(facts: Facts, receiver: str) -> Slips | None:
    """Return the slips of both lanes that a card recorded; None without a log of them."""
    log = facts.view.logs.get(receiver)
    if log is None or not log.recorded(Kind.LINK):
        return None
    best = Slips(log, "underflow", (), 0)
    for kind in ("underflow", "overflow"):
        at = log.select(Kind.LINK.name, kind)
        bonded = facts.view.roles.lanes
        lanes = [at[log.value[at] == lane] for lane in range(bonded)]
        together = []
        for position in lanes[0].tolist():
            near = [np.abs(log.cycle[lane] - log.cycle[position]) for lane in lanes[1:]]
            if all((cycles <= bonded * _EVENT_CYCLES // 2).any() for cycles in near):
                together.append(position)
        alone = len(at) - bonded * len(together)
        if len(together) > len(best.positions):
            best = Slips(log, kind, tuple(together), alone)
        elif not best.positions:
            best = Slips(log, best.kind, (), best.alone + alone)
    return best


_IDLES = ("idles-inserted", "idles-removed")


def corrects_clock(facts: Facts, receiver: str) -> bool:
    """Return whether the receiver is known to insert or remove idles: then it corrects its clock."""
    counts = [facts.view.count(receiver, counts) for counts in _IDLES]
    return any(counts)


def lanes_slipped(facts: Facts, receiver: str) -> bool:
    """Return whether the lanes' own counts say that all slipped equally often."""
    for name in ("underflows", "overflows"):
        counts = {
            facts.view.value(receiver, f"frozen.lane.{name}", lane)
            for lane in range(facts.view.roles.lanes)
        }
        if len(counts) == 1 and all(counts):
            return True
    return False


def drifts(facts: Facts, receiver: str) -> bool:
    """Return whether a receiver's lanes slipped together and it does not correct for that."""
    if corrects_clock(facts, receiver):
        return False
    slips = slips_of(facts, receiver)
    return (slips is not None and bool(slips.positions)) or lanes_slipped(facts, receiver)


CLOCK_DRIFT = "clock-drift"
_SHOWN = 6


@dataclass(frozen=True, slots=True)
class _Slipped:
    """A packet that both lanes slipped in: word lists agree with one word repeated (or lost) at ``at``.

    ``edit``: the word more or less, where the packet has another length downstream.
    """

    diff: SegmentDiff
    pair: PacketPair
    at: int
    repeated: bool
    edit: Edit | None = None

    @property
    def position(self) -> int:
        """Stream position of the first word that is not in its place, or of the last where none follows."""
        return min(self.pair.down.start + self.at, self.pair.down.end - 1)

    @property
    def word(self) -> int | None:
        """Payload index of the word that came twice or not at all; None where it is none, or not certain."""
        packet = self.pair.down
        if self.edit is not None:
            span = self.pair.payload_index(self.edit)
            return span[0] if span is not None and self.edit.certain else None
        words = packet.end - packet.start - int(packet.has_tail)
        return self.at - packet.heads if packet.heads <= self.at < words else None

    @property
    def where(self) -> str:
        """What that word is, as far as it is known."""
        if self.edit is not None and self.word is None:
            span = self.pair.payload_index(self.edit)
            if span is not None:
                return word_text(None, span)
        return word_label(self.diff.down, self.pair.down, self.position)


def clock_drifts(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for every link on which both lanes slipped together."""
    for sender, receiver in facts.view.directions:
        slips = slips_of(facts, receiver)
        slipped = _slipped(facts.diff(sender, receiver, LINK))
        if corrects_clock(facts, receiver):
            continue
        if slipped is not None and (
            slips is None or slips.positions or lanes_slipped(facts, receiver)
        ):
            yield _finding(facts, sender, receiver, slips, slipped)
        elif slips is not None and len(slips.positions) >= 2 and slips.regular and not slips.alone:
            yield _finding(facts, sender, receiver, slips, None)


def _slipped(diff: SegmentDiff | None) -> _Slipped | None:
    """Return the first packet whose words are those before it with one repeated, or one lost."""
    for pair in () if diff is None else diff.differing:
        if diff is None:
            continue
        edit = _moving(diff, pair)
        if edit is not None:
            return _Slipped(diff, pair, edit.down, edit.op is Op.DUPLICATED, edit)
        if pair.up.end - pair.up.start != pair.down.end - pair.down.start:
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


def _moving(diff: SegmentDiff, pair: PacketPair) -> Edit | None:
    """Return the one word that the packet has twice, or lacks, downstream; None where that does not explain it.

    The kinds of the words follow from where the line ends the packet, so that the word that becomes its last one is
    a TAIL: only the data say which word it was.
    """
    up, down, edits = pair.up, pair.down, pair.edits
    if not (up.cut_start or up.cut_end or down.cut_start or down.cut_end):
        words = np.concatenate([diff.up.words(up), diff.down.words(down)])
        _, numbers = np.unique(words, return_inverse=True)
        ids = numbers.astype(np.int64).reshape(-1)
        count = up.end - up.start
        if abs(len(ids) - 2 * count) != 1:
            return None
        edits = align(ids[:count], ids[count:]).edits
    edit = edits[0] if len(edits) == 1 else None
    return edit if edit is not None and edit.op in (Op.DUPLICATED, Op.OMITTED) else None


def _finding(
    facts: Facts, sender: str, receiver: str, slips: Slips | None, slipped: _Slipped | None
) -> Finding:
    flow = packet = word = t_ps = unc_ps = None
    evidence: list[Evidence] = []
    lanes = "both lanes" if facts.view.roles.lanes == 2 else f"all {facts.view.roles.lanes} lanes"
    text = f"{lanes.capitalize()} into {receiver} slipped by a word in one cycle"
    if slipped is not None:
        place, diff = place_of_pair(slipped.pair), slipped.diff
        flow, packet = place.flow, place.packet
        word, where = slipped.word, slipped.where
        t_ps, unc_ps = diff.down.when(slipped.position)
        what = "repeated it and lag" if slipped.repeated else "lost one and run ahead"
        text += f" at {where} of packet {packet} ({diff.direction}, flow {flow}): they {what} to its end"
        evidence.append(
            Evidence(
                f"{diff.up.source} and {diff.down.source} have the same words, from {where} on moved by "
                f"one {'back' if slipped.repeated else 'forward'}.",
                receiver,
                slipped.diff.down.tap,
                _around(slipped),
            )
        )
    sure = Ground.CONFIRMED
    if slips is not None and slips.positions:
        every = slips.interval_cycles
        again = "" if every is None else f", {every} cycles apart where they were nearest"
        rows = tuple(slips.log.row(at, f"{lanes}: {slips.kind}") for at in slips.positions[:_SHOWN])
        if t_ps is None:
            t_ps, unc_ps = slips.log.when(slips.positions[0])
        evidence.append(
            Evidence(
                f"{receiver}'s log has {len(slips.positions)} slips of {lanes} at once{again}.",
                receiver,
                EVENT_LOG,
                rows,
            )
        )
        sure = Ground.COMPARED if slipped is not None else Ground.INFERRED
    idle = [facts.view.count_row(receiver, counts) for counts in _IDLES]
    evidence.append(
        Evidence(
            f"{receiver} never inserted or removed an idle: it does not correct for the clocks.",
            receiver,
            rows=tuple(row for row in idle if row.value is not None),
        )
    )
    return Finding(
        diagnosis=CLOCK_DRIFT,
        text=(
            f"{text}. {receiver} inserts and removes no idles, so every difference of the two link clocks "
            f"adds up until its synchronization FIFOs run empty or full, {lanes.split(maxsplit=1)[0]} at once."
        ),
        device=receiver,
        tap=facts.view.roles.rx.entry,
        direction=f"{sender}->{receiver}",
        flow=flow,
        packet=packet,
        word=word,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        ground=sure,
        evidence=(*evidence, *cause_evidence(facts, receiver)),
    )


def _around(slipped: _Slipped) -> tuple[Row, ...]:
    pair, diff = slipped.pair, slipped.diff
    if slipped.edit is not None:
        return neighbourhood(diff, pair, slipped.edit)
    rows: list[Row] = []
    last = pair.down.end - pair.down.start
    for i in range(max(slipped.at - 1, 0), min(slipped.at + 3, last)):
        above, below = pair.up.start + i, pair.down.start + i
        label = word_label(diff.down, pair.down, below)
        rows.append(diff.up.row(above, label))
        rows.append(diff.down.row(below, label, int(diff.up.data[above])))
    return tuple(rows)
