"""Traffic through a random card, with one fault on one of its stretches, as its taps would hold it.

Written from docs/card-map.md and docs/card-file.md alone; it shares no code with the decoders and analyses it tests.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from freezeframe.capture.card.elaborated import ElaboratedClock, ElaboratedTap
from freezeframe.capture.card.recording import (
    CardRecording,
    Feature,
    RecordedClock,
    RecordedTap,
    Toggle,
)
from tests.campaign.card_model import FAULTS, Truth, crossed, flipped, frame
from tests.campaign.geometry import Geometry, geometry
from tests.decoders.tap.model import Beat, TapModel, frame_beats

_PREAMBLE = bytes.fromhex("55555555555555d5")
_PERIOD = 4096  # bus cycles between two toggles of the time line
_COUNT = 34
_BUS_PS = 10_000


def cannot(fault: str, card: Geometry, stage: int) -> str:
    """Return why a fault cannot exist on a stretch of a card, or not be seen; empty where it can."""
    if fault in ("bad-fcs", "runt") and not card.checked:
        return "nothing is checked at its first tap"
    if fault == "bad-fcs" and card.summed and card.path and _preamble(card):
        return "a digest over the preamble"
    if card.summed and fault in (
        "beat-omitted",
        "beat-duplicated",
        "bits-flipped",
        "lanes-crossed",
        "tlast-lost",
        "gap",
    ):
        return "its taps keep digests alone"
    if fault == "lanes-crossed" and card.bits(stage) == 8:
        return "one lane"
    if fault == "stall" and not card.related:
        return "two clocks without a common time"
    return ""


def _preamble(card: Geometry) -> bool:
    return card.card.tap(card.path[0]).said.format == "pre"


@dataclass(slots=True)
class _Packet:
    """A frame on its way: its bytes now, None where it is gone, and when its last beat passed."""

    data: bytes
    ready_ps: int = 0
    gone: bool = False
    joined: bytes = b""  # what follows it without an end between them
    gap: dict[int, int] | None = None


class _Clock:
    """A clock domain: its own cycle at a time, with an offset and a rate that is not quite nominal."""

    def __init__(self, chance: random.Random, hz: int, *, exact: bool) -> None:
        off = Fraction(chance.randint(-80, 80), 1_000_000)
        self.period = Fraction(10**12, hz) * (1 if exact else 1 + off)
        self.begin = 0 if exact else chance.randint(0, 5000)

    def cycle(self, t_ps: int | Fraction) -> int:
        """Return the first cycle that begins at a time or later."""
        return int(-(-Fraction(t_ps) // self.period)) + self.begin

    def ps(self, cycle: int) -> int:
        return int((cycle - self.begin) * self.period)


def run_random(seed: int, fault: str) -> tuple[CardRecording, Truth, str] | str:
    """Return a recording with the fault, the truth, and the tap that counts its packets; or why there is none."""
    card = geometry(seed)
    chance = random.Random(f"random {seed} {fault}")
    stage = chance.randrange(len(card.path) - 1)
    why = cannot(fault, card, 0 if fault in ("bad-fcs", "runt", "gap") else stage)
    if why:
        return why
    at = card.path[stage]
    clocks = {c.name: _Clock(chance, c.said.hz, exact=c.name == "bus") for c in card.card.clocks}
    hit = _COUNT - chance.randint(8, 11)
    packets = _sent(chance, card, hit, fault)
    beats: dict[str, list[Beat]] = {}
    begins: dict[str, list[int]] = {}
    hit_beats: tuple[int, ...] = ()
    stuck_ps = None
    for n, name in enumerate(card.path):
        tap = card.card.tap(name)
        if n and n - 1 in card.strips:
            for p in packets:
                p.data = p.data[:-4]
        if n and n - 1 == stage:
            hit_beats = _strike(chance, card, packets, hit, fault, stage)
        lazy = chance.choice([0.0, 0.0, 0.05]) if n else 0.0
        beats[name], begins[name] = _pass(chance, clocks[tap.clock.name], tap, packets, lazy)
        if fault == "stall" and n - 1 == stage:
            stuck_ps = packets[hit].ready_ps
        if stuck_ps is not None:
            clock = clocks[tap.clock.name]
            beats[name] = [b for b in beats[name] if clock.ps(b.cycle) <= stuck_ps]
    ends = [p.ready_ps for p in packets if not p.gone]
    closed_ps = ends[-chance.randint(1, 3)] + chance.randint(0, 300_000)
    if stuck_ps is not None:
        closed_ps = max(ends) + 200_000_000 + chance.randint(0, 100_000_000)
    _other_path(chance, card, clocks, beats, closed_ps)
    counters = {}
    taps = {}
    for tap in card.card.taps:
        closed = clocks[tap.clock.name].cycle(closed_ps)
        taps[tap.name] = _recorded(tap, beats[tap.name], closed)
        counters[f"{tap.name}_packets"] = sum(b.last and b.cycle < closed for b in beats[tap.name])
    for n in range(len(card.path) - 1):
        lost = fault == "fifo-drop" and n == stage and chance.random() < 0.6
        counters[f"drops{n}"] = int(lost)
    counters = {name: counters.get(name, 0) for name in card.card.said.counter}
    recorded = [
        _clock_seen(chance, c, clocks[c.name], closed_ps, related=card.related)
        for c in card.card.clocks
    ]
    causes = 1
    built = Feature.COUNTERS | Feature.TIME_PAIRS
    recording = CardRecording(
        card.card, taps, recorded, built, causes=causes, cause_cycle=closed_ps // _BUS_PS,
        sync_period=_PERIOD, counters=counters,
    )  # fmt: skip
    name = FAULTS.get(fault, "")
    if fault in ("bad-fcs", "runt", "gap"):
        at = card.path[0]
    hits = (hit, hit + 1) if fault == "swapped" else (hit,)
    places = tuple(begins[at][n] for n in hits) if name and fault != "stall" else ()
    told = card.path[stage + 1] if fault == "stall" else ""
    return recording, Truth(name, places, hit_beats, told), at


def _sent(chance: random.Random, card: Geometry, hit: int, fault: str) -> list[_Packet]:
    low, high = card.sizes
    # As slow as the narrowest tap can take it.
    slowest = min(
        card.card.tap(name).said.bits * card.card.tap(name).clock.said.hz for name in card.path
    )
    made = []
    again = frame(chance, 9999, low) if chance.random() < 0.3 else b""
    t_ps = 2_000_000
    stage = card.card.tap(card.path[0])
    for n in range(_COUNT):
        size = chance.randint(low, high)
        if n in (hit, hit + 1):
            widest = max(card.bits(k) for k in range(len(card.path))) // 8
            size = chance.randint(max(low, 6 * widest), max(high, 9 * widest))
        data = frame(chance, n, size)
        if again and n % 5 == 0 and n not in (hit, hit + 1):
            data = again
        gap = None
        if n == hit and fault == "bad-fcs":
            data = flipped(chance, data, chance.randint(1, 3), 0, len(data))
        if n == hit and fault == "runt":
            data = frame(chance, n, chance.randint(24, 60))
        if n == hit and fault == "gap":
            count = -(-len(data) // stage.stream_bytes)
            gap = {chance.randrange(1, count): chance.randint(1, 40)}
        data = _PREAMBLE + data if _preamble(card) else data
        made.append(_Packet(data, t_ps, gap=gap))
        wire_ps = len(data) * 8 * 10**12 // slowest
        t_ps += int(wire_ps * chance.uniform(1.4, 2.2)) + chance.choice([50_000, 200_000])
    return made


def _strike(
    chance: random.Random, card: Geometry, packets: list[_Packet], hit: int, fault: str, stage: int
) -> tuple[int, ...]:
    """Do a fault to the frame ``hit`` on a stretch; return the beats of which one was hit."""
    it = packets[hit]
    data, width = it.data, card.bits(stage) // 8
    beats = -(-len(data) // width)
    if fault == "fifo-drop":
        it.gone = True
    elif fault in ("beat-omitted", "beat-duplicated"):
        beat = chance.randrange(1, beats - 1)
        kept = 1 if fault == "beat-omitted" else 0
        made = [
            data[: (n + 1 - kept) * width] + data[(n + kept) * width :] for n in range(beats - 1)
        ]
        it.data = made[beat]
        return tuple(n for n, out in enumerate(made) if out == made[beat])
    elif fault == "bits-flipped":
        beat = chance.randrange(beats)
        it.data = flipped(chance, data, chance.randint(1, 3), beat * width, (beat + 1) * width)
        return (beat,)
    elif fault == "lanes-crossed":
        first, second = chance.sample(range(width), 2)
        for p in packets[hit : chance.choice([hit + 1, len(packets)])]:
            p.data = crossed(p.data, width, first, second)
    elif fault == "tlast-lost":
        follower = packets[hit + 1]
        it.joined, follower.gone = follower.data, True
        it.ready_ps = follower.ready_ps
        return (beats - 1,)
    elif fault == "swapped":
        after = packets[hit + 1]
        after.ready_ps = max(it.ready_ps, after.ready_ps)
        it.ready_ps = after.ready_ps
        packets[hit], packets[hit + 1] = after, it
    return ()


def _pass(
    chance: random.Random,
    clock: _Clock,
    tap: ElaboratedTap,
    packets: Sequence[_Packet],
    lazy: float,
) -> tuple[list[Beat], list[int]]:
    """Return the beats at a tap and where each packet began; every packet is there whole before it goes on."""
    width = tap.stream_bytes
    free = 0
    beats: list[Beat] = []
    begins = []
    for p in packets:
        begin = max(free, clock.cycle(p.ready_ps) + chance.randint(1, 4))
        begins.append(begin)
        if p.gone:
            continue
        size = -(-len(p.data) // width)
        gaps = p.gap or {k: chance.randint(1, 6) for k in range(1, size) if chance.random() < lazy}
        p.gap = None
        made = frame_beats(p.data, begin, width, gaps=gaps)
        if p.joined:
            made[-1] = replace(made[-1], last=False)
            made += frame_beats(p.joined, made[-1].cycle + 1, width)
            p.data, p.joined = p.data + p.joined, b""
        beats += made
        free = made[-1].cycle + (4 if tap.said.store != "all" else 1)
        p.ready_ps = clock.ps(made[-1].cycle + 1)
    return beats, begins


def _other_path(
    chance: random.Random,
    card: Geometry,
    clocks: dict[str, _Clock],
    beats: dict[str, list[Beat]],
    closed_ps: int,
) -> None:
    """Put healthy frames on the other path, where the card has one."""
    if "q" not in card.card.said.path:
        return
    packets = [
        _Packet(frame(chance, 500 + n, chance.randint(64, 200)), closed_ps - (22 - n) * 3_000_000)
        for n in range(20)
    ]
    packets = [p for p in packets if p.ready_ps > 0]
    for name in card.card.said.path["q"].taps:
        tap = card.card.tap(name)
        beats[name], _ = _pass(chance, clocks[tap.clock.name], tap, packets, 0.0)


def _recorded(tap: ElaboratedTap, beats: Sequence[Beat], closed: int) -> RecordedTap:
    store = tap.said.store
    model = TapModel(
        tap.stream_bytes,
        latency=tap.latency_cycles,
        loose=tap.said.time == "loose",
        store=store if isinstance(store, str) else store.first_bytes,
    )
    model.feed(beats)
    lanes, pointer, wrapped, stored = model.memories(tap.said.depth, closed)
    return RecordedTap(tap, tuple(lanes), pointer, wrapped, stored=stored, offered=len(beats))


def _clock_seen(
    chance: random.Random, clock: ElaboratedClock, runs: _Clock, closed_ps: int, *, related: bool
) -> RecordedClock:
    hz = clock.said.hz
    if not related and clock.name != "bus":
        return RecordedClock(clock, hz)

    def seen(number: int) -> Toggle:
        late = 0 if clock.name == "bus" else 2
        return Toggle(number, runs.cycle(number * _PERIOD * _BUS_PS) + late)

    last = max(1, closed_ps // (_PERIOD * _BUS_PS))
    return RecordedClock(clock, hz, seen(0), seen(last))
