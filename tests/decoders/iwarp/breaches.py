"""Streams that are legal except for exactly one breach, with the truth of both."""

from __future__ import annotations

import random

from tests.decoders.iwarp import breaches_ddp, breaches_mpa, breaches_rdmap
from tests.decoders.iwarp import octets as o
from tests.decoders.iwarp.breaking import CLOSED, Kind
from tests.decoders.iwarp.make import OCTETS_B, captured, endpoints, interleaved, packed, packing_of
from tests.decoders.iwarp.packets import ACK, Capture, Packet
from tests.decoders.iwarp.talk import Talk, draw
from tests.decoders.iwarp.truth import Breach, Truth

KINDS: dict[str, Kind] = {**breaches_mpa.KINDS, **breaches_ddp.KINDS, **breaches_rdmap.KINDS}
NAMES = (*KINDS, "tcp-retransmit-differs")


def _differs(packets: list[Packet], number: int, rng: random.Random) -> Packet:
    """Put a retransmission with other octets behind one of the packets; return it."""
    choices = [n for n, p in enumerate(packets) if p.connection == number and len(p.data) > 1]
    at = rng.choice(choices)
    first = packets[at]
    octets = bytearray(first.data)
    octets[rng.randrange(len(octets))] ^= rng.randint(1, 255)
    again = Packet(number, first.side, first.position, ACK, bytes(octets), first.ack)
    packets.insert(at + rng.randint(1, 1 + (at + 1 < len(packets))), again)
    return again


def break_stream(name: str, seed: int) -> tuple[Capture, Truth]:
    """Return a capture that breaks rule `name` once, and the truth; other connections in it are legal."""
    rng = random.Random(f"{name} {seed}")
    truth = Truth()
    flows: list[list[Packet]] = []
    breaking = rng.randrange(rng.choice((1, 1, 2, 3)) or 1)
    count = breaking + 1 + rng.choice((0, 0, 1))
    for number in range(count):
        if number != breaking:
            talk = Talk(rng, draw(rng), truth, endpoints(rng, number))
            talk.whole()
            ending = None
        else:
            talk, ending = _broken(name, rng, truth, number)
        # A single octet sent again is a keep-alive, whatever it is.
        total = (
            OCTETS_B + 1
            if name == "tcp-retransmit-differs"
            else sum(len(s.data) for s in talk.senders)
        )
        flows.append(
            packed(talk, packing_of(rng, total, calm=name == "tcp-retransmit-differs"), rng, ending)
        )
    packets = interleaved(flows, rng)
    if name == "tcp-retransmit-differs":
        again = _differs(packets, breaking, rng)
        truth.breaches.append(Breach(name, breaking, again.side, again.position))
        truth.breaches[0].packet = next(n for n, p in enumerate(packets, 1) if p is again)
    return captured(packets, truth, rng), truth


def _broken(name: str, rng: random.Random, truth: Truth, number: int) -> tuple[Talk, str | None]:
    """Hold the conversation in which the rule is broken; return it and how it must end."""
    kind = KINDS.get(name)
    fixed = {
        "reject": False,
        "ending": "close",
        "declines": False,
        "messages": rng.randint(2, 8),
    } | (kind.fixed if kind else {})
    talk = Talk(rng, draw(rng, **fixed), truth, endpoints(rng, number))
    if kind is None:  # a matter of packets
        talk.whole()
        return talk, None
    if not kind.starts:
        talk.open()
        talk.exchange(talk.shape.messages)
    elif not talk.shape.midstream:
        talk.stream()
    breach = kind.commit(talk)
    breach.rule, breach.followers = name, kind.followers
    truth.breaches.append(breach)
    offender = breach.side
    is_frame = breach.fpdu is None
    if not is_frame and not talk.over[offender] and rng.random() < 0.3:
        talk.write(offender)  # still on its way
    victim = 1 - offender
    can_answer = not is_frame and talk.may_send[victim] and not talk.over[victim]
    if can_answer and kind.answer and kind.answer != CLOSED and rng.random() < 0.7:
        segment, read = None, b""
        if kind.answer[0] != 2:
            segment = truth.fpdus[breach.fpdu or 0].ulpdu
            read = segment[18:46] if kind.answer[:2] == (0, 1) else b""
        talk.say_terminate(victim, o.terminate(*kind.answer, segment, read))
    return talk, rng.choice(("fin", "fin", "rst") if name != "mpa-cut" else ("fin",))
