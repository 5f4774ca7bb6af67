"""Captures of legal conversations, by seed."""

from __future__ import annotations

import random
from ipaddress import IPv4Address, IPv6Address
from typing import Any

from tests.decoders.iwarp.packets import (
    Capture,
    Endpoints,
    Packet,
    Packing,
    acknowledge,
    build,
    closed,
    cut,
    disorder,
    opened,
)
from tests.decoders.iwarp.talk import Talk, draw
from tests.decoders.iwarp.truth import Truth, complete

OCTETS_B = 4000  # the most that goes out octet by octet


def endpoints(rng: random.Random, number: int) -> Endpoints:
    """Return random addresses; ports are those of no other connection of the capture."""
    if rng.random() < 0.6:
        net = 10 << 24 | rng.randrange(256) << 16 | number % 250 << 8
        ip: tuple[IPv4Address | IPv6Address, ...] = (IPv4Address(net + 1), IPv4Address(net + 2))
    else:
        ip = tuple(
            IPv6Address((0x20010DB8 << 96) + rng.randrange(1 << 40) * 4 + host) for host in (1, 2)
        )
    ports = (20_000 + number % 30_000, rng.randint(50_001, 65_535))
    isn = tuple(
        rng.choice((rng.randrange(1 << 32), 0xFFFFFFFF - rng.randrange(3000))) for _ in "ab"
    )
    vlan = rng.choice(((), (), (), (7,), (100, 7)))
    swapped = rng.random() < 0.5
    return Endpoints(
        ip,
        (ports[1], ports[0]) if swapped else ports,
        isn,  # type: ignore[arg-type]
        vlan,
        rng.random() < 0.5,
        rng.random() < 0.1,
    )


def packing_of(
    rng: random.Random, total_B: int, calm: bool = False, for_tshark: bool = False
) -> Packing:
    """Return a random packing; `calm`: without retransmissions and disorder."""
    hows = ["aligned", "several", "straddle"]
    if total_B <= OCTETS_B and not for_tshark:
        hows.append("octets")
    mss = rng.choice((536, 1448, 1460, 8948, 65_000))
    rough = not calm and rng.random() < 0.4
    return Packing(
        rng.choice(hows), mss, 0.08 * rough, 0.08 * rough, rng.choice((0.0, 0.1, 0.5)), for_tshark
    )


def packed(
    talk: Talk, packing: Packing, rng: random.Random, ending: str | None = None
) -> list[Packet]:
    """Return the packets of a finished conversation."""
    start = talk.connection.start
    data = [bytes(sender.data) for sender in talk.senders]
    begun = [sender.start for sender in talk.senders]
    packets = disorder(cut(talk.steps, data, start, packing, rng, begun), packing, rng)
    if talk.connection.syn_seen:
        packets = opened(packets, start)
    how = rng.choice(("fin", "fin", "rst", "open")) if ending is None else ending
    packets = closed(packets, [sender.end for sender in talk.senders], how, rng)
    packets = acknowledge(packets, start, rng, packing.bare_acks)
    for packet in packets:
        packet.connection = talk.number
    return packets


def interleaved(flows: list[list[Packet]], rng: random.Random) -> list[Packet]:
    """Return the packets of all connections in one order, each connection's own kept."""
    turns = [number for number, flow in enumerate(flows) for _ in flow]
    rng.shuffle(turns)
    sources = [iter(flow) for flow in flows]
    return [next(sources[number]) for number in turns]


def captured(
    packets: list[Packet], truth: Truth, rng: random.Random, linktype: int | None = None
) -> Capture:
    """Return the capture of these packets, with frames and times, and set in truth what completes what."""
    capture = Capture(packets, rng.choice("<>"), rng.random() < 0.7)
    if all(not c.ends.vlan for c in truth.connections):
        capture.linktype = rng.choice((1, 1, 1, 101, 113)) if linktype is None else linktype
    t_ns = rng.randrange(10**9, 1_900_000_000 * 10**9)
    for packet in packets:
        packet.t_ns = t_ns
        packet.frame = build(packet, truth.connections[packet.connection].ends)
        t_ns += rng.choice((0, 1_000, rng.randrange(50_000), rng.randrange(5_000_000)))
    complete(capture, truth)
    return capture


def make_stream(
    seed: int,
    connections: int | None = None,
    calm: bool = False,
    for_tshark: bool = False,
    packing: Packing | None = None,
    **fixed: Any,
) -> tuple[Capture, Truth]:
    """Return a capture of legal conversations and what is in it.

    `fixed`: fields of Shape that are not random; `calm`: nothing is sent twice or out of order.
    """
    rng = random.Random(f"legal {seed}")
    truth = Truth()
    flows: list[list[Packet]] = []
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6)) if connections is None else connections):
        talk = Talk(rng, draw(rng, **fixed), truth, endpoints(rng, len(flows)))
        talk.whole()
        total = sum(len(sender.data) for sender in talk.senders)
        flows.append(packed(talk, packing or packing_of(rng, total, calm, for_tshark), rng))
    return captured(interleaved(flows, rng), truth, rng), truth


def merged(parts: list[tuple[Capture, Truth]]) -> tuple[Capture, Truth]:
    """Return captures one after the other as one of Ethernet, all addresses made different; the parts are used up."""
    whole, said = Capture(), Truth()
    for capture, truth in parts:
        shift = len(said.connections)
        for number, connection in enumerate(truth.connections, shift):
            ends = connection.ends
            first = (10 << 24 if ends.ip[0].version == 4 else 0x20010DB8 << 96) + 4 * number
            ends.ip = tuple(type(ip)(first + host) for host, ip in enumerate(ends.ip, 1))
        for packet in capture.packets:
            packet.connection += shift
            packet.frame = build(packet, truth.connections[packet.connection - shift].ends)
        for fpdu in truth.fpdus:
            fpdu.connection += shift
        whole.packets += capture.packets
        said.connections += truth.connections
        said.fpdus += truth.fpdus
    complete(whole, said)
    return whole, said
