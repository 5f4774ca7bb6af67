"""What the link did to words between the sender's tx_deq and the receiver's rx_enq, as hypotheses.

Both taps are compared word by word and lane by lane; which hypothesis becomes a name is decided by
the fault files, which also read the lanes' own registers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.diagnosis.lanes import LANES, Lag, Phase, find_lag, find_phase, halves
from freezeframe.analyzers.diagnosis.place import word_label
from freezeframe.analyzers.facts import LINK, Facts, LinkWords
from freezeframe.analyzers.taps.tap_diff import PacketPair, SegmentDiff
from freezeframe.capture.registers.layouts import Kind

__all__ = ["LinkDamage", "WordAt", "link_damages"]

_PERSISTS_WORDS = 4
"""A shifted phase must explain this many differing words to the end of the recording."""


@dataclass(frozen=True, slots=True)
class WordAt:
    """A compared word: its pair, its stream position downstream, and its payload index (or None)."""

    pair: PacketPair
    position: int
    word: int | None
    label: str


@dataclass(frozen=True, eq=False)
class LinkDamage:
    """Everything that differs on one link.

    ``lags`` and ``phases`` by lane: the hypothesis that explains all differences of that lane.
    ``hidden``: another packet is bad downstream whose words upstream were not recorded, so the first
    difference that is seen need not be the first there was.
    """

    sender: str
    receiver: str
    diff: SegmentDiff
    words: LinkWords
    differ: npt.NDArray[np.int64]
    lanes: tuple[int, ...]
    lags: dict[int, Lag]
    phases: dict[int, Phase]
    hidden: bool

    @property
    def direction(self) -> str:
        return self.diff.direction

    def at(self, index: int) -> WordAt:
        """Return which word of which packet a compared word is."""
        pair = self.diff.pairs[int(self.words.pair[index])]
        position = int(self.words.down_at[index])
        packet = pair.down
        inside = packet.start + packet.heads <= position
        body = self.diff.down.kind[position] == Kind.BODY
        word: int | None = None
        if inside and body:
            first = packet.start + packet.heads
            if not packet.cut_start or packet.heads:
                word = position - first
            elif pair.up.has_head:
                word = int(self.words.up_at[index]) - pair.up.start - pair.up.heads
        return WordAt(pair, position, word, word_label(self.diff.down, packet, position))

    def bits(self, index: int) -> int:
        """Return how many bits of a compared word differ."""
        return int(self.words.up[index] ^ self.words.down[index]).bit_count()

    @property
    def header_words(self) -> bool:
        """Every difference stands in HEAD words."""
        kinds = self.diff.down.kind[self.words.down_at[self.differ]]
        return bool((kinds == Kind.HEAD).all())


def link_damages(facts: Facts) -> Iterator[LinkDamage]:
    """Yield the damage of every link that shows any."""
    for sender, receiver, stretch, diff in facts.differences():
        if stretch != LINK or not diff.differing:
            continue
        words = facts.link_words(diff)
        differ = np.flatnonzero(words.up != words.down)
        if not differ.size:
            continue
        # Between packets the line is idle: a shifted phase borrows bytes that no tap recorded.
        inside = words.joined & (np.diff(words.pair, prepend=-1) == 0)
        lanes, lags, phases = [], {}, {}
        for lane in LANES:
            up, down = halves(words.up, lane), halves(words.down, lane)
            if np.array_equal(up, down):
                continue
            lanes.append(lane)
            lag = find_lag(up, down, words.joined)
            if lag is not None:
                lags[lane] = lag
            phase = find_phase(up, down, inside)
            if phase is not None and int((up != down).sum()) >= _PERSISTS_WORDS:
                phases[lane] = phase
        yield LinkDamage(
            sender,
            receiver,
            diff,
            words,
            differ,
            tuple(lanes),
            lags,
            phases,
            hidden=any(case.stream is diff.down for case in facts.unplaced),
        )
