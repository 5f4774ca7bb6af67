"""What the hosts of an emulated pair do, decided by a seed: load, sizes, flows, notifications, and when they
do not receive.

A plan is made before a run and faults may reshape it, so that a fault that needs a busy link or a slow
receiver meets one.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from freezeframe.capture.errors import InputError
from freezeframe.capture.registers.layouts import PacketFlag, PacketType
from freezeframe.capture.time_text import parse_time
from freezeframe.emulator.memory import Words
from freezeframe.emulator.profile import Profile

_US = 1_000_000  # picoseconds

# (share of 1-8 words, share of about 64 words, share of whole messages)
_MIXES = (
    (0.34, 0.33, 0.33),
    (0.6, 0.3, 0.1),
    (0.2, 0.6, 0.2),
    (0.1, 0.3, 0.6),
    (0.9, 0.05, 0.05),
    (0.05, 0.05, 0.9),
)
MEAN_GAPS_PS = {"light": 25 * _US, "medium": 6 * _US, "saturating": 0}
"""Mean gap between two postings of a host, by load."""

LOADS = tuple(MEAN_GAPS_PS)

SPARSE_PS = 2 * MEAN_GAPS_PS["light"]
"""From this mean gap on a host's traffic is sparse: a flow can only be kept busy for the length of a burst."""

_LONGEST_GAP_PS = 3600 * 10**12

WAIT = -1
"""In the place of a gap: until fewer requests than the window are unanswered."""


def mean_gap_ps(load: str) -> int:
    """Return the mean gap between two postings of a host: of a load by name, or given as a time, ``100ms``.

    Raises:
        InputError: neither, or a gap that is 0 or above an hour.
    """
    if load in MEAN_GAPS_PS:
        return MEAN_GAPS_PS[load]
    try:
        gap_ps = parse_time("load", load)
    except InputError:
        gap_ps = 0
    if not 0 < gap_ps <= _LONGEST_GAP_PS:
        raise InputError(
            f"load {load!r} does not exist; there are {', '.join(LOADS)}, or a mean gap between two messages, above 0 "
            "and up to 1h, as 100ms"
        )
    return gap_ps


class Entropy:
    """A source of random 64-bit words, drawn in bulk."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator
        self._pool: Words = np.empty(0, dtype=np.uint64)

    def take(self, count: int) -> Words:
        """Return ``(count,)`` fresh words."""
        if count > len(self._pool):
            size = max(1 << 14, count)
            self._pool = self._generator.integers(0, 1 << 64, size, dtype=np.uint64)
        taken, self._pool = self._pool[:count], self._pool[count:]
        return taken


@dataclass(frozen=True, slots=True)
class Message:
    """What one descriptor sends. ``words`` is the content of host memory at ``source``."""

    type: int
    flags: int
    flow: int
    source: int
    dest: int
    words: Words


@dataclass(frozen=True, slots=True)
class Updates:
    """Queue pointers written as separate messages of one word or two: a share of all messages."""

    share: float
    addresses: tuple[int, ...]


@dataclass(slots=True)
class Sending:
    """How one host sends.

    Attributes:
        load: "light", "medium", "saturating" or a gap, as "100ms"; ``gap_ps`` is its mean gap between postings.
        burst: messages that are posted together; the gaps between bursts are as much longer.
        mix: shares of short, middle and whole messages.
        flows: flows used, with weights.
        local, remote: shares of messages with a local, a remote notification.
        special: share of packets that are no RDMA write (notification, interrupt).
        start_ps: from the start of the run to the first posting.
        updates: small messages to fixed addresses between the others.
        window: requests that may be unanswered; 0: nothing is answered.
        by_clock: the gaps of `messages` are times since ``start_ps``; 0 is together with the one before.
    """

    random: random.Random
    entropy: Entropy
    message_words: int
    load: str = "medium"
    gap_ps: int = MEAN_GAPS_PS["medium"]
    burst: int = 1
    mix: tuple[float, float, float] = _MIXES[0]
    flows: tuple[int, ...] = (0,)
    weights: tuple[float, ...] = (1.0,)
    local: float = 0.2
    remote: float = 0.3
    special: float = 0.02
    start_ps: int = 0
    updates: Updates | None = None
    window: int = 0
    by_clock: bool = False

    def messages(self) -> Iterator[tuple[int, Message]]:
        """Yield the gap before each posting in picoseconds, and the message, for ever."""
        draw = self.random
        number = 0
        while True:
            gap_ps = 0
            if self.gap_ps and number % self.burst == 0:
                gap_ps = int(draw.expovariate(1.0) * self.gap_ps) * self.burst
            number += 1
            flow = draw.choices(self.flows, self.weights)[0]
            flags = PacketFlag.NOTIFY_LOCAL * (draw.random() < self.local)
            flags |= PacketFlag.NOTIFY_REMOTE * (draw.random() < self.remote)
            kind, length = int(PacketType.RDMA_WRITE), self._length()
            if draw.random() < self.special:
                kind = draw.choice((PacketType.NOTIFICATION, PacketType.INTERRUPT))
                length = draw.choice((0, 0, 1))
            source, dest = draw.getrandbits(40) & ~7, draw.getrandbits(32) & ~7
            if self.updates is not None and draw.random() < self.updates.share:
                kind, length = int(PacketType.RDMA_WRITE), draw.choice((1, 1, 1, 2))
                dest = draw.choice(self.updates.addresses)
            yield (
                gap_ps,
                Message(kind, int(flags), flow, source, dest, self.entropy.take(length)),
            )

    def answer(self, seq: int, flow: int) -> Sequence[Message]:
        """Return what is sent in answer to a message that was received with a notification."""
        return ()

    def _length(self) -> int:
        draw = self.random
        size = draw.choices((0, 1, 2), self.mix)[0]
        length = (draw.randint(1, 8), draw.randint(48, 80), self.message_words)[size]
        return min(length, self.message_words)


@dataclass(slots=True)
class Receiving:
    """How one host receives: ``stops`` are (start, length) from the start of the run; a slow one pauses after
    each burst.
    """

    stops: list[tuple[int, int]] = field(default_factory=list)
    pause_cycles: int = 0


@dataclass(slots=True)
class Plan:
    """What both hosts do in one run; index 0 is A.

    Attributes:
        load: the load that was asked for, for both; None when the seed has chosen one for each.
        busy: flows of A that faults want kept busy.
    """

    sending: tuple[Sending, Sending]
    receiving: tuple[Receiving, Receiving]
    load: str | None = None
    busy: list[int] = field(default_factory=list)


def make_plan(profile: Profile, seed: int, run: int, fault: str, load: str | None = None) -> Plan:
    """Decide what both hosts do.

    Args:
        run: 0 after power-up, one more after each re-arm of a frozen pair.
        fault: with a fault no host stops for as long as the credit stall limit, so that the fault is what freezes.
        load: as `mean_gap_ps` takes it, for both hosts; None: each has its own, by the seed.
    """
    sending, receiving = [], []
    limit_ps = profile.trace_stall_limit_cycles * 10**12 // profile.clocks_link_hz
    for side in ("A", "B"):
        draw = random.Random(f"{seed}/{run}/{side}/traffic")
        words = np.random.default_rng([seed, run, ord(side)])
        drawn = draw.choices(LOADS, (0.25, 0.35, 0.4))[0]
        chosen = drawn if load is None else load
        others = draw.sample(range(1, profile.flows_count), profile.flows_active - 1)
        flows = (0, *others)
        sending.append(
            Sending(
                draw,
                Entropy(words),
                profile.fifo_message_words,
                load=chosen,
                gap_ps=mean_gap_ps(chosen),
                mix=draw.choice(_MIXES),
                flows=flows,
                weights=tuple(draw.uniform(0.2, 1.0) for _ in flows),
                local=draw.choice((0.0, 0.2, 0.5)),
                remote=draw.choice((0.05, 0.3, 1.0)),
                start_ps=draw.randrange(1 * _US, 8 * _US),
            )
        )
        receiving.append(Receiving(_stops(draw, limit_ps, fault == "none")))
    return Plan((sending[0], sending[1]), (receiving[0], receiving[1]), load)


def _stops(draw: random.Random, limit_ps: int, may_be_long: bool) -> list[tuple[int, int]]:
    """Return when a host does not receive: mostly never, sometimes shortly, in clean runs also beyond the
    stall limit.
    """
    stops = []
    if draw.random() < 0.4:
        for _ in range(draw.randint(1, 3)):
            stops.append((draw.randrange(10 * _US, 300 * _US), draw.randrange(2 * _US, 60 * _US)))
    if draw.random() < 0.25 and may_be_long and limit_ps:
        stops.append((draw.randrange(10 * _US, 80 * _US), int(limit_ps * draw.uniform(1.1, 3.0))))
    return sorted(stops)
