"""A card's receive path in Python, with faults: frames through a MAC's tap, a FIFO and the tap behind it.

What the taps would hold is written by the model of tests/decoders/tap, from docs/card-map.md alone. It shares no
code with the decoders and analyses it tests.
"""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from freezeframe.capture.card.elaborated import ElaboratedCard, elaborate
from freezeframe.capture.card.reading import parse_card
from freezeframe.capture.card.recording import (
    CardRecording,
    Feature,
    RecordedClock,
    RecordedTap,
    Toggle,
)
from freezeframe.capture.card.shipped import shipped_cards
from tests.decoders.tap.model import Beat, TapModel, frame_beats

SHAPES = {"ethernet-axis-64": 64, "ethernet-axis-512": 512, "ethernet-8": 8}

FAULTS = {
    "bad-fcs": "bad-on-arrival",
    "runt": "runt",
    "fifo-drop": "packet-dropped",
    "beat-omitted": "beat-omitted",
    "beat-duplicated": "beat-duplicated",
    "bits-flipped": "bits-altered",
    "lanes-crossed": "bytes-rotated",
    "tlast-lost": "packets-joined",
    "swapped": "packets-reordered",
    "stall": "stalled",
    "gap": "gap-in-packet",
}
"""What is done to the card, and the general name of it."""

LONGEST, JUMBO = 1518, 9018
"""Bytes of the longest frame of Ethernet, and of one with a payload of 9,000."""

_GAP_CAUSE = '\n[cause.rx_gap]\ncheck = "gap"\ntap = "rx_in"\n'
_STALL_CYCLES = 10_000  # of the cause rx_stuck in the shipped files


def cannot(shape: str, fault: str) -> str:
    """Return why a fault cannot exist on a card; empty where it can."""
    if fault == "lanes-crossed" and SHAPES[shape] == 8:
        return "a stream of one byte has no lanes that could be crossed"
    return ""


def card_of(shape: str, longest: int = LONGEST) -> ElaboratedCard:
    """Return the shipped card; the cause that forbids a gap in a frame is added to its file, and longer frames."""
    text = shipped_cards()[shape].read_text() + _GAP_CAUSE
    if longest > LONGEST:
        text = text.replace('is = "ethernet"', f'is = "ethernet"\nlongest_B = {longest}')
    return elaborate(parse_card(text))


@dataclass(frozen=True, slots=True)
class Truth:
    """What was done: the fault's general name, the cycles at rx_in of the frames it hit, and the beats
    of which one was hit (several where their bytes are alike).
    """

    name: str = ""
    begins: tuple[int, ...] = ()
    beats: tuple[int, ...] = ()
    tap: str = ""


@dataclass(slots=True)
class _Frame:
    data: bytes
    begin: int = 0  # at rx_in
    gaps: dict[int, int] = field(default_factory=dict)
    bad: bool = False
    out: bytes | None = None  # what leaves the FIFO; None: nothing


def frame(chance: random.Random, number: int, length: int) -> bytes:
    """Return an Ethernet frame of so many bytes, FCS included: IPv4 and UDP, or a bare type."""
    body = bytes.fromhex("020000000001 020000000002")
    if length >= 64:
        total = length - 18
        body += struct.pack(">HBBHHHBBH4s4s", 0x0800, 0x45, 0, total, number & 0xFFFF, 0, 64, 17, 0,
                            bytes((10, 0, 0, 1)), bytes((10, 0, 0, 2)))  # fmt: skip
        body += struct.pack(">HHHH", 4000, 5000, total - 20, 0)
    else:
        body += b"\x88\xb5"
    body = body[: length - 4]
    body += chance.randbytes(length - 4 - len(body))
    return body + struct.pack("<I", zlib.crc32(body))


def run_card(
    shape: str, fault: str, seed: int, longest: int = LONGEST
) -> tuple[CardRecording, Truth]:
    """Return the recording of a card with one fault, or ``none``, and the truth; ``longest``: bytes of a frame."""
    chance = random.Random(f"{shape} {fault} {seed}")
    width = SHAPES[shape] // 8
    count = 160 if width == 64 else 50
    pause = chance.choice([1, 12, 12, 40])
    frames = _traffic(chance, count, longest, alike=fault == "none" and seed % 20 == 0)
    hit = count - chance.randint(6, 9)  # so late that the memories hold it
    beats = _strike(chance, frames, fault, hit, width, longest)
    _arrive(chance, frames, width, pause)
    stall = chance.random() < 0.5 if fault == "stall" else None
    beats_in = [
        b for f in frames for b in frame_beats(f.data, f.begin, width, bad=f.bad, gaps=f.gaps)
    ]
    beats_out, left = _leave(chance, frames, width, swap=hit if fault == "swapped" else -1)
    closed = left[min(len(left) - 1, len(left) - chance.randint(1, 3))] + chance.randint(0, 30)
    causes, since = 1, 5
    if stall is not None:
        stuck = left[len(left) - chance.randint(4, 7)] - chance.randint(0, 10)
        beats_out = [b for b in beats_out if b.cycle <= stuck]
        if stall:
            closed, causes = stuck + _STALL_CYCLES + 40, 1 << 4  # rx_stuck
        else:
            closed = max(b.cycle for b in beats_in) + chance.randint(40_000, 80_000)
    elif fault == "bad-fcs":
        causes = 1 << 3
    card = card_of(shape, longest)
    recording = _record(chance, card, beats_in, beats_out, closed, causes, since)
    begins: tuple[int, ...] = (frames[hit].begin,)
    if fault == "swapped":
        begins += (frames[hit + 1].begin,)
    name = FAULTS.get(fault, "")
    truth = Truth(
        name, begins if name and stall is None else (), beats, "rx_out" if stall is not None else ""
    )
    dropped = sum(f.out is None for f in frames if f.begin < closed)
    counters = {
        "rx_in_packets": sum(b.last for b in beats_in if b.cycle < closed),
        "rx_out_packets": sum(b.last for b in beats_out if b.cycle < closed),
        "rx_dropped": dropped if chance.random() < 0.7 or fault != "fifo-drop" else 0,
    }
    return replace(recording, counters=counters), truth


def _traffic(chance: random.Random, count: int, longest: int, *, alike: bool) -> list[_Frame]:
    sizes = chance.choice([(64, 128), (64, longest), (300, 900), (700, 1100)])
    if longest > LONGEST:
        sizes = chance.choice([(64, longest), (4097, longest), (longest, longest)])
    if alike:
        same = frame(chance, 1, sizes[0])
        return [_Frame(same, out=same) for _ in range(count)]
    made = [frame(chance, n, chance.randint(*sizes)) for n in range(count)]
    if chance.random() < 0.3:  # some that are equal, as pause frames are
        again = frame(chance, 9999, 64)
        for n in range(0, count, 5):
            made[n] = again
    return [_Frame(data, out=data) for data in made]


def _strike(
    chance: random.Random, frames: list[_Frame], fault: str, hit: int, width: int, longest: int
) -> tuple[int, ...]:
    """Do a fault to the frame ``hit``; return the beat, and others that are alike."""
    it = frames[hit]
    if fault in ("none", "stall", "swapped"):
        for n in (hit, hit + 1) if fault == "swapped" else ():
            data = frame(chance, 7000 + n, len(frames[n].data))
            frames[n] = _Frame(data, out=data)
        return ()
    # Frames of five beats and more, so that a beat has neighbours.
    length = chance.randint(max(64, 5 * width + 1), longest)
    data = frame(chance, 8000 + hit, length)
    beats = -(-len(data) // width)
    it.data = it.out = data
    if fault == "bad-fcs":
        it.data = flipped(chance, data, chance.randint(1, 3), 0, len(data))
        it.bad, it.out = True, None
    elif fault == "runt":
        it.data = frame(chance, 8000 + hit, chance.randint(18, 63))
        it.out = it.data
        if chance.random() < 0.5:
            it.data = data[: chance.randint(16, 60)]
            it.bad, it.out = True, None
    elif fault == "fifo-drop":
        it.out = None
    elif fault == "beat-omitted":
        beat = chance.randrange(beats - 1)
        made = [data[: n * width] + data[(n + 1) * width :] for n in range(beats - 1)]
        it.out = made[beat]
        return tuple(n for n, out in enumerate(made) if out == made[beat])
    elif fault == "beat-duplicated":
        beat = chance.randrange(beats - 1)
        made = [data[: (n + 1) * width] + data[n * width :] for n in range(beats - 1)]
        it.out = made[beat]
        return tuple(n for n, out in enumerate(made) if out == made[beat])
    elif fault == "bits-flipped":
        beat = chance.randrange(beats)
        it.out = flipped(chance, data, chance.randint(1, 3), beat * width, (beat + 1) * width)
        return (beat,)
    elif fault == "lanes-crossed":
        first, second = chance.sample(range(width), 2)
        last = len(frames) if chance.random() < 0.5 else hit + 1
        for n in range(hit, last):
            frames[n].out = crossed(frames[n].data, width, first, second)
    elif fault == "tlast-lost":
        follower = frames[hit + 1]
        it.out = data + follower.data
        follower.out = b""  # it left within the other
        return (beats - 1,)
    elif fault == "gap":
        it.gaps = {chance.randrange(1, beats): chance.randint(1, 40)}
        return tuple(it.gaps)
    return ()


def flipped(chance: random.Random, data: bytes, bits: int, begin: int, end: int) -> bytes:
    """Return bytes with some bits of a part of them flipped."""
    out = bytearray(data)
    places = chance.sample(range(8 * begin, 8 * min(end, len(data))), bits)
    for place in places:
        out[place // 8] ^= 1 << place % 8
    return bytes(out)


def crossed(data: bytes, width: int, first: int, second: int) -> bytes:
    """Return a packet with two lanes crossed; where only one of them is on, the other's wire says anything."""
    out = bytearray(data)
    for at in range(0, len(data), width):
        a, b = at + first, at + second
        values = [data[place] if place < len(data) else 0xEE for place in (b, a)]
        for place, value in zip((a, b), values, strict=True):
            if place < len(data):
                out[place] = value
    return bytes(out)


def _arrive(chance: random.Random, frames: Sequence[_Frame], width: int, pause: int) -> None:
    cycle = 100
    for it in frames:
        it.begin = cycle
        cycle += -(-len(it.data) // width) + sum(it.gaps.values()) + chance.randint(1, 2 * pause)


def _leave(
    chance: random.Random, frames: Sequence[_Frame], width: int, swap: int
) -> tuple[list[Beat], list[int]]:
    """Return the beats behind the FIFO and the cycle of each frame's end: store and forward, a receiver that pauses."""
    order = list(frames)
    ready = 0
    beats: list[Beat] = []
    ends = []
    if swap >= 0:
        order[swap], order[swap + 1] = order[swap + 1], order[swap]
    lazy = chance.choice([0.0, 0.02, 0.1])
    free = 0
    for n, it in enumerate(order):
        end_in = it.begin + -(-len(it.data) // width) + sum(it.gaps.values()) - 1
        ready = max(ready, end_in)
        if swap >= 0 and n in (swap, swap + 1):
            ready = max(ready, order[swap].begin + -(-len(order[swap].data) // width) - 1)
        if not it.out:
            continue
        if len(it.out) > len(it.data):
            follower = order[min(n + 1, len(order) - 1)]
            ready = max(ready, follower.begin + len(follower.data) // width + 1)
        begin = max(free, ready + 4)
        size = -(-len(it.out) // width)
        # The FIFO is small: a receiver that falls behind makes up for it.
        slow = lazy if begin < ready + 500 else 0.0
        gaps = {k: chance.randint(1, 20) for k in range(1, size) if chance.random() < slow}
        if it.out[: len(it.data)] == it.data and len(it.out) > len(it.data) and n + 1 < len(order):
            second = it.out[len(it.data) :]
            if second == order[n + 1].data:  # the end is lost: the bytes that were off stay off
                one = frame_beats(it.data, begin, width)
                one[-1] = replace(one[-1], last=False)
                two = frame_beats(second, one[-1].cycle + 1, width)
                beats += [*one, *two]
                free = two[-1].cycle + 1
                ends.append(two[-1].cycle)
                continue
        made = frame_beats(it.out, begin, width, gaps=gaps)
        beats += made
        free = made[-1].cycle + 1
        ends.append(made[-1].cycle)
    return beats, ends


def _record(
    chance: random.Random,
    card: ElaboratedCard,
    beats_in: list[Beat],
    beats_out: list[Beat],
    closed: int,
    causes: int,
    since: int,
) -> CardRecording:
    taps = {}
    for tap, beats in zip(card.taps, (beats_in, beats_out), strict=True):
        model = TapModel(tap.stream_bytes, latency=tap.latency_cycles)
        model.feed(beats)
        lanes, pointer, wrapped, stored = model.memories(tap.said.depth, closed, causes, since)
        taps[tap.name] = RecordedTap(
            tap, tuple(lanes), pointer, wrapped, stored=stored, offered=len(beats)
        )
    clocks = []
    for clock in card.clocks:
        hz = clock.said.hz

        def seen(number: int, hz: int = hz) -> Toggle:
            own = number * 4096 * hz // 100_000_000
            return Toggle(number, own if hz == 100_000_000 else own + chance.choice([2, 3]))

        last = max(1, closed * 100_000_000 // hz // 4096)
        clocks.append(RecordedClock(clock, hz, seen(0), seen(last)))
    built = Feature.COUNTERS | Feature.TIME_PAIRS | Feature.ROM
    bus_cycle = closed * 100 // 156
    return CardRecording(card, taps, clocks, built, causes=causes, cause_cycle=bus_cycle)
