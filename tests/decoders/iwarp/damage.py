"""What a capture does to packets, by seed: it loses them, cuts them, has them twice or out of order. No breach."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from tests.decoders.iwarp.packets import ACK, FIN, RST, SYN, Capture, Packet, build
from tests.decoders.iwarp.truth import Truth

Damage = Callable[[random.Random, Capture, Truth], Capture]


def _lost(rng: random.Random, capture: Capture, _truth: Truth) -> Capture:
    """Lose some packets anywhere."""
    count = len(capture.packets)
    return capture.without(rng.sample(range(1, count + 1), min(count, rng.choice((1, 1, 2, 3, 8)))))


def _burst(rng: random.Random, capture: Capture, _truth: Truth) -> Capture:
    """Lose packets that follow each other."""
    first = rng.randint(1, len(capture.packets))
    return capture.without(range(first, first + rng.randint(2, 12)))


def _late(rng: random.Random, capture: Capture, _truth: Truth) -> Capture:
    """Begin in the middle."""
    return capture.without(range(1, rng.randint(2, 1 + len(capture.packets))))


def _stopped(rng: random.Random, capture: Capture, _truth: Truth) -> Capture:
    """End before the connections do."""
    return capture.without(
        range(rng.randint(2, 1 + len(capture.packets)), len(capture.packets) + 1)
    )


def _cut(rng: random.Random, capture: Capture, _truth: Truth) -> Capture:
    """Keep so many octets of each packet and no more."""
    return replace(
        capture, snap=rng.choice((60, 68, 96, 128, rng.randint(54, 400), rng.randint(54, 1500)))
    )


def _twice(rng: random.Random, capture: Capture, _truth: Truth) -> Capture:
    """Bring some packets twice, as two ports that are mirrored do."""
    packets, share = [], rng.choice((0.1, 0.5, 1.0))
    for packet in capture.packets:
        packets += [packet] * (1 + (rng.random() < share))
    return replace(capture, packets=packets)


def _mingled(rng: random.Random, capture: Capture, _truth: Truth) -> Capture:
    """Change the order a little, as cards with several queues do."""
    far = rng.choice((1.5, 3, 6))
    places = [(n + rng.random() * far, p) for n, p in enumerate(capture.packets)]
    return replace(capture, packets=[p for _, p in sorted(places, key=lambda each: each[0])])


def _one_way(rng: random.Random, capture: Capture, _truth: Truth) -> Capture:
    """Lose all that one side of a connection sends."""
    lost = rng.choice([(p.connection, p.side) for p in capture.packets])
    kept = [p for p in capture.packets if (p.connection, p.side) != lost]
    return replace(capture, packets=kept)


def _resplit(rng: random.Random, capture: Capture, truth: Truth) -> Capture:
    """Send octets of a stream again, cut elsewhere, after some packets behind them."""
    packets = list(capture.packets)
    for _ in range(rng.randint(1, 4)):
        sent = [n for n, p in enumerate(packets) if p.data and not p.flags & (SYN | FIN | RST)]
        if not sent:
            break
        at = rng.choice(sent)
        first = packets[at]
        behind = [p for p in packets[:at] if p.data and _same(p, first) and p.end == first.position]
        octets, position = first.data, first.position
        if behind:
            octets, position = behind[-1].data + octets, behind[-1].position
        begin = rng.randrange(len(octets))
        piece = octets[begin : begin + rng.randint(1, len(octets) - begin)]
        again = Packet(
            first.connection, first.side, position + begin, ACK, piece, first.ack, t_ns=first.t_ns
        )
        again.frame = build(again, truth.connections[first.connection].ends)
        packets.insert(min(len(packets), at + rng.randint(1, 6)), again)
    return replace(capture, packets=packets)


def _same(one: Packet, other: Packet) -> bool:
    return one.connection == other.connection and one.side == other.side


DAMAGE: dict[str, Damage] = {
    "lost": _lost, "burst": _burst, "late": _late, "stopped": _stopped, "cut": _cut, "twice": _twice,
    "mingled": _mingled, "one way": _one_way, "resplit": _resplit,
}  # fmt: skip


def damaged(seed: int, capture: Capture, truth: Truth) -> tuple[str, Capture]:
    """Return which damage, and the capture with it: one kind, or several one after the other."""
    rng = random.Random(f"damage {seed}")
    names = [list(DAMAGE)[seed % len(DAMAGE)]]
    names += rng.sample(sorted(DAMAGE), rng.choice((0, 0, 1, 2)))
    for name in names:
        if capture.packets:
            capture = DAMAGE[name](rng, capture, truth)
    return " + ".join(names), capture
