"""Words that the link damaged: what was done to them, from both taps or from the receiver alone.

What the link did to words between the sender's tx_deq and the receiver's rx_enq, as hypotheses.

Both taps are compared word by word and lane by lane; which hypothesis becomes a name is decided by
the fault files, which also read the lanes' own registers.

What a receiver's own recording says of a damaged packet, when nothing of the sender may be read.

Only what a CRC or an exact repeat confirms is believed: a shifted byte phase that makes every later
CRC right when undone, one share of a word that repeats, flipped bits that satisfy the CRC.

Findings on words that the link changed, from both taps or from the receiver's rx_enq alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.contract import Evidence, Finding, Ground, Row
from freezeframe.analyzers.crc.lone_payload import Flip, crc32_words, find_flips
from freezeframe.analyzers.diagnosis.lanes import (
    Lag,
    Mode,
    Phase,
    find_lag,
    find_phase,
    join,
    phases_of,
    shares,
    unshift_phase,
)
from freezeframe.analyzers.evidence import (
    Place,
    cause_evidence,
    good_elsewhere,
    neighbourhood,
    place_of_pair,
    word_label,
)
from freezeframe.analyzers.facts import LINK, Facts, LinkWords, Unplaced
from freezeframe.analyzers.streams import HEADS, Packet, Stream
from freezeframe.analyzers.taps.align import Edit, Op
from freezeframe.analyzers.taps.tap_diff import PacketPair, SegmentDiff
from freezeframe.capture.registers.layouts import Kind
from freezeframe.decoders.trace.encode import header_crc

_MOST_CUTS = 8  # places between damaged packets that are tried; of more the first and the last
PERSISTS_WORDS = 4
"""A shifted phase must explain this many differing words to the end of the recording; or fewer, with many bits."""
_FEW_WORDS, _FEW_KNOWN, _FEW_TURNED = 2, 32, 12
"""A card that freezes at once, and sends nothing else, has only the rest of one packet to tell by. Two shares of which
32 bits are as a phase says agree with one of 18 phases by chance in fewer than one of 2 ** 27 cases; with twelve bits
turned over they are no flipped bits either."""


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

    ``lags`` and ``phases`` by lane: the hypothesis that explains all differences of that lane; ``late_phases``: those
    that came so late that the words behind them are too few to tell a phase by.
    ``bonded``: lanes of the link; ``lanes``: those that differ.
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
    late_phases: dict[int, Phase]
    hidden: bool
    bonded: int

    @property
    def direction(self) -> str:
        return self.diff.direction

    @property
    def stream(self) -> Stream:
        """The words at the receiver's rx_enq."""
        return self.diff.down

    def rows(self, begin: int, end: int) -> tuple[Row, ...]:
        """Return some compared words, as far as there are, upstream and downstream as rows of evidence."""
        rows = []
        for i in range(max(begin, 0), min(end, len(self.words.up))):
            shown = self.at(i)
            rows.append(self.diff.up.row(int(self.words.up_at[i]), shown.label))
            rows.append(self.diff.down.row(shown.position, shown.label, int(self.words.up[i])))
        return tuple(rows)

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
        """Every difference is in HEAD words."""
        kinds = self.diff.down.kind[self.words.down_at[self.differ]]
        return bool((kinds == Kind.HEAD).all())


def link_damages(facts: Facts) -> Iterator[LinkDamage]:
    """Yield the damage of every link that shows any; of two causes one after the other each with its own packets."""
    for sender, receiver, stretch, diff in facts.differences():
        if stretch != LINK or not diff.differing:
            continue
        words = facts.link_words(diff)
        hidden = any(case.stream is diff.down for case in facts.unplaced)
        of = partial(_damage, sender, receiver, diff, hidden=hidden, bonded=facts.view.roles.lanes)
        whole = of(words)
        if not whole.differ.size:
            continue
        yield from ([whole] if _explained(whole) else _two_causes(whole, of) or [whole])


def _damage(
    sender: str, receiver: str, diff: SegmentDiff, words: LinkWords, *, hidden: bool, bonded: int
) -> LinkDamage:
    # Between packets the line is idle: a shifted phase borrows bytes that no tap recorded.
    inside = words.joined & (np.diff(words.pair, prepend=-1) == 0)
    lanes, lags = [], {}
    phases: dict[int, Phase] = {}
    late_phases: dict[int, Phase] = {}
    for lane in range(bonded):
        up, down = shares(words.up, lane, bonded), shares(words.down, lane, bonded)
        if np.array_equal(up, down):
            continue
        lanes.append(lane)
        lag = find_lag(up, down, words.joined)
        if lag is not None:
            lags[lane] = lag
        phase = find_phase(up, down, inside)
        if phase is not None:
            few = not _persists(int((up != down).sum()), phase)
            (late_phases if few else phases)[lane] = phase
    differ = np.flatnonzero(words.up != words.down)
    return LinkDamage(
        sender,
        receiver,
        diff,
        words,
        differ,
        tuple(lanes),
        lags,
        phases,
        late_phases,
        hidden,
        bonded,
    )


def _persists(differing: int, phase: Phase) -> bool:
    """Tell whether enough words differ, all as a phase says, for it to be named."""
    if differing >= PERSISTS_WORDS:
        return True
    told = phase.known >= _FEW_KNOWN and phase.turned >= _FEW_TURNED
    return differing >= _FEW_WORDS and told


def _explained(damage: LinkDamage, *, to_the_end: bool = True) -> bool:
    """Tell whether one word alone differs, or one lane in one way; a phase stays to the end of the recording."""
    if damage.differ.size == 1:
        return True
    lane = damage.lanes[0] if len(damage.lanes) == 1 else None
    return lane in damage.lags or (to_the_end and lane in damage.phases)


def _two_causes(whole: LinkDamage, of: Callable[[LinkWords], LinkDamage]) -> list[LinkDamage]:
    """Return the damage in two parts, split between two packets, of which each is explained by itself; or nothing.

    Two single words that changed in the same bit are rather one thing that changes that bit.
    """
    pairs = np.unique(whole.words.pair[whole.differ])
    cuts = pairs[1:] if len(pairs) <= _MOST_CUTS else pairs[[1, -1]]
    for cut in cuts.tolist():
        parts = [
            of(_part(whole.words, whole.words.pair < cut)),
            of(_part(whole.words, whole.words.pair >= cut)),
        ]
        single = [
            int(p.words.up[p.differ[0]] ^ p.words.down[p.differ[0]])
            for p in parts
            if p.differ.size == 1
        ]
        if len(single) == len(parts) and single[0] & single[1]:
            continue
        if _explained(parts[0], to_the_end=False) and _explained(parts[1]):
            return parts
    return []


def _part(words: LinkWords, chosen: npt.NDArray[np.bool_]) -> LinkWords:
    return LinkWords(
        *(
            getattr(words, name)[chosen]
            for name in ("up", "down", "up_at", "down_at", "joined", "pair")
        )
    )


_RX_ENQ = 2
_MASK16 = 0xFFFF


@dataclass(frozen=True, slots=True)
class LonePhase:
    """A byte phase that, undone on one lane from a word on, makes the CRCs right.

    ``places``: stream positions ``[first, end)`` it may have begun at. ``checks``: CRCs that became
    right by it (a header counts one, a payload one).
    """

    lane: int
    mode: Mode
    shift: int
    places: tuple[int, int]
    checks: int


@dataclass(frozen=True, eq=False)
class LoneDamage:
    """The bad packets of one direction at the receiver's rx_enq, ``bad[0]`` the first; ``bonded``: the link's lanes."""

    sender: str
    receiver: str
    stream: Stream
    bad: tuple[Packet, ...]
    bonded: int

    @property
    def first(self) -> Packet:
        return self.bad[0]

    @property
    def direction(self) -> str:
        return f"{self.sender}->{self.receiver}"

    @property
    def alone(self) -> bool:
        """Only one packet is bad, and the recording goes on after it."""
        return len(self.bad) == 1

    @cached_property
    def expected_seq(self) -> int | None:
        """Sequence number of the first bad packet by its neighbours; None when they do not say."""
        packets, i = self.stream.packets, self.first.index
        candidates = set()
        if i and packets[i - 1].header_ok and packets[i - 1].seq is not None:
            candidates.add(((packets[i - 1].seq or 0) + 1) & _MASK16)
        if i + 1 < len(packets) and packets[i + 1].header_ok and packets[i + 1].seq is not None:
            candidates.add(((packets[i + 1].seq or 0) - 1) & _MASK16)
        return candidates.pop() if len(candidates) == 1 else None

    @cached_property
    def flips(self) -> list[Flip]:
        """Flips that make the payload CRC of the first bad packet right, its length being right."""
        tail = self.stream.tail(self.first)
        if tail is None or self.first.payload_ok is not False or self.first.length_ok is not True:
            return []
        return find_flips(self.stream.payload(self.first), tail)

    @cached_property
    def repeats(self) -> list[tuple[int, int]]:
        """Places ``(lane, position)`` of the first bad packet where one lane alone repeats its share."""
        packet, stream = self.first, self.stream
        begin = max(packet.start - 1, 0)
        words = stream.data[begin : packet.end]
        again = [self._again(words, lane) for lane in range(self.bonded)]
        places = []
        for lane in range(self.bonded):
            # All shares equal is a whole word twice, which a lane cannot do.
            others = np.any([a for k, a in enumerate(again) if k != lane], axis=0)
            at = np.flatnonzero(again[lane] & ~others) + begin + 1
            places += [(lane, int(i)) for i in at if packet.start < i and not self._plain(int(i))]
        return places

    def _again(self, words: npt.NDArray[np.uint64], lane: int) -> npt.NDArray[np.bool_]:
        of_lane = shares(words, lane, self.bonded)
        return np.equal(of_lane[1:], of_lane[:-1])

    def _plain(self, position: int) -> bool:
        """Two HEAD words, or the TAIL, have zero bytes of their own: a repeat there says nothing."""
        packet = self.first
        return position < packet.start + packet.heads or (
            packet.has_tail and position == packet.end - 1
        )

    @cached_property
    def phase(self) -> LonePhase | None:
        """The one byte phase that makes the first bad packet and all later ones right."""
        phases = [
            phase
            for lane in range(self.bonded)
            for mode, shift in phases_of(self.bonded)
            if (phase := self._phase(lane, mode, shift)) is not None
        ]
        if not phases:
            return None
        best = max(phases, key=lambda phase: phase.checks)
        others = [p for p in phases if p is not best and p.checks == best.checks]
        return None if others else best

    def _phase(self, lane: int, mode: Mode, shift: int) -> LonePhase | None:
        stream, packet = self.stream, self.first
        undone = _undone(stream.data[packet.start :], lane, self.bonded, mode, shift)
        checks = 0
        for later in stream.packets[packet.index + 1 :]:
            begin = later.start - packet.start
            verdicts = _checks(undone[begin : begin + later.end - later.start], later, mode)
            if False in verdicts:
                return None
            checks += len(verdicts)
        if mode != "rotated":
            # The first word lost bytes that nothing recorded, so its own packet checks nothing.
            return (
                LonePhase(lane, mode, shift, (packet.start, packet.end), checks) if checks else None
            )
        words = stream.words(packet)
        places = [
            at
            for at in range(len(words))
            if False not in _checks(np.concatenate([words[:at], undone[at : len(words)]]), packet)
        ]
        own = len(_checks(words, packet))
        if not places or places != list(range(places[0], places[-1] + 1)):
            return None
        if checks + own < 2 and not packet.has_tail:
            return None  # sixteen bits of one header are too few for this many hypotheses
        first = packet.start + places[0]
        return LonePhase(lane, mode, shift, (first, first + len(places)), checks + own)


def lone_damages(facts: Facts) -> Iterator[LoneDamage]:
    """Yield the bad packets at every rx_enq whose sender's taps tell nothing of them."""
    groups: dict[tuple[str, str], list[Unplaced]] = {}
    for case in facts.unplaced:
        if case.tap == _RX_ENQ:
            groups.setdefault((case.sender, case.receiver), []).append(case)
    for (sender, receiver), cases in groups.items():
        bad = tuple(case.packet for case in cases)
        yield LoneDamage(sender, receiver, cases[0].stream, bad, facts.view.roles.lanes)


def _undone(
    words: npt.NDArray[np.uint64], lane: int, lanes: int, mode: Mode, shift: int
) -> npt.NDArray[np.uint64]:
    parts = [shares(words, each, lanes) for each in range(lanes)]
    parts[lane] = unshift_phase(parts[lane], mode, shift)
    return join(parts)


def _checks(words: npt.NDArray[np.uint64], packet: Packet, mode: Mode = "rotated") -> list[bool]:
    """Return the verdicts that can be had of a packet, were these its words.

    A lane whose bytes come late or early borrows some from the idle line before the header, where no
    tap records: only the payload can be checked then.
    """
    verdicts = []
    if packet.heads == HEADS and mode == "rotated":
        header = int(words[0])
        verdicts.append(header_crc(header, int(words[1])) == header >> 48)
    if packet.has_tail and packet.body_words and (packet.heads or not packet.cut_start):
        payload = words[packet.heads : packet.heads + packet.body_words]
        verdicts.append(crc32_words(payload) == int(words[-1]) & 0xFFFFFFFF)
    return verdicts


def flipped_bits(mask: int) -> str:
    """Return the numbers of the bits that are set in a mask."""
    bits = [str(bit) for bit in range(64) if mask >> bit & 1]
    return f"bit {bits[0]}" if len(bits) == 1 else f"bits {', '.join(bits)}"


def altered_word(
    facts: Facts, name: str, damage: LinkDamage, index: int, rest: str, ground: Ground
) -> Finding:
    """Return the finding on the one compared word that differs; ``rest`` says what is equal."""
    hit, up, down = damage.at(index), damage.diff.up, damage.diff.down
    place = place_of_pair(hit.pair)
    before, after = int(damage.words.up[index]), int(damage.words.down[index])
    first = int(damage.words.up_at[index]) - hit.pair.up.start
    edit = Edit(Op.ALTERED, first, hit.position - hit.pair.down.start, first)
    what = hit.label if hit.label.startswith("payload") else f"the {hit.label} word"
    text = (
        f"{flipped_bits(before ^ after).capitalize()} of {what} of packet {place.packet} "
        f"({damage.direction}, flow {place.flow}) changed on the link; {rest}."
    )
    return at_receiver(
        facts,
        name,
        damage,
        text,
        place,
        at=hit.position,
        word=hit.word,
        ground=ground,
        shown=f"{up.source} has {before:#018x}, {down.source} {after:#018x}: they differ by {before ^ after:#018x}.",
        rows=neighbourhood(damage.diff, hit.pair, edit),
        more=(good_elsewhere(damage.diff, hit.pair),),
    )


def at_receiver(
    facts: Facts,
    name: str,
    damage: LinkDamage | LoneDamage,
    text: str,
    place: Place,
    *,
    at: int,
    word: int | None,
    ground: Ground,
    shown: str,
    rows: tuple[Row, ...],
    more: tuple[Evidence, ...] = (),
) -> Finding:
    """Return a finding at a receiver's rx_enq.

    Args:
        at: stream position of the first symptom.
        shown, rows: what that tap shows.
        more: what else shows it, before why the receiver froze.
    """
    t_ps, unc_ps = damage.stream.when(at)
    return Finding(
        diagnosis=name,
        text=text,
        device=damage.receiver,
        tap=damage.stream.tap,
        direction=damage.direction,
        flow=place.flow,
        packet=place.packet,
        word=word,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        ground=ground,
        evidence=(
            Evidence(shown, damage.receiver, damage.stream.tap, rows),
            *more,
            *cause_evidence(facts, damage.receiver),
        ),
    )
