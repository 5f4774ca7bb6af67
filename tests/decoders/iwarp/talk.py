"""Random iWARP conversations that are legal: two ends, what they say and what was meant."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass
from typing import Any

from tests.decoders.iwarp import octets as o
from tests.decoders.iwarp.packets import Endpoints, Step
from tests.decoders.iwarp.sender import Placed, Sender
from tests.decoders.iwarp.truth import Connection, Fpdu, Frame, Operation, Truth

TOP = (1 << 64) - 1
UNLIMITED = 0x3FFF  # in IRD and ORD: the ULP negotiates


@dataclass(slots=True)
class Shape:
    """What a conversation is like. By role: [0] of the initiator, [1] of the responder."""

    initiator: int = 0  # its side
    revision: int = 1
    wants_markers: tuple[bool, bool] = (False, False)
    wants_crc: tuple[bool, bool] = (True, True)
    reserved: bool = False  # reserved bits and fields are set at random
    private: tuple[int, int] = (0, 0)
    streaming_B: tuple[int, int] = (0, 0)  # said before the MPA frames
    reject: bool = False
    enhanced: bool = False
    peer_to_peer: bool = False
    rtr: tuple[int, int] = (7, 7)  # 4: Send, 2: Write, 1: Read
    ird: tuple[int, int] = (4, 4)
    ord: tuple[int, int] = (4, 4)
    declines: bool = False  # the initiator does where the responder's IRD is less than its ORD
    messages: int = 12
    largest_B: int = 4000  # of a message
    mulpdu_B: int = 1442
    midstream: bool = False  # the capture begins after the start
    msn: int = 1  # of a midstream conversation
    ending: str = "close"  # close, terminate
    extensions: bool = True  # RFC 7306

    @property
    def limits(self) -> tuple[int, int]:
        """Return how many reads and atomics the initiator and the responder may have outstanding."""
        if not self.enhanced:
            return 8, 8
        return min(self.ord[0], self.ird[1]), min(self.ord[1], self.ird[0])


def draw(rng: random.Random, **fixed: Any) -> Shape:
    """Return a random shape; what is fixed stays."""
    shape = Shape(initiator=int(rng.random() < 0.3))
    for name, value in fixed.items():
        if name in ("revision", "enhanced", "peer_to_peer"):
            setattr(shape, name, value)
    if "revision" not in fixed:
        shape.revision = rng.choice((0, 1, 1, 1, 2, 2))
        if shape.enhanced or shape.peer_to_peer or fixed.get("enhanced"):
            shape.revision = 2
    if shape.revision == 0:
        shape.wants_markers, shape.wants_crc = (True, True), (True, True)
    else:
        shape.wants_markers = rng.choice(
            ((False, False), (True, False), (False, True), (True, True))
        )
        shape.wants_crc = rng.choice(
            ((True, True), (True, True), (True, False), (False, True), (False, False))
        )
    if "enhanced" not in fixed:
        shape.enhanced = shape.revision == 2 and (
            rng.random() < 0.7 or fixed.get("peer_to_peer", False)
        )
    if shape.enhanced and "peer_to_peer" not in fixed:
        shape.peer_to_peer = rng.random() < 0.6
    shape.reserved = rng.random() < 0.4
    least = 4 * shape.enhanced
    shape.private = tuple(
        rng.choice((least, rng.randint(least, 64), rng.randint(least, 512), 512)) for _ in "ab"
    )  # type: ignore[assignment]
    if rng.random() < 0.3:
        shape.streaming_B = (rng.randint(0, 300), rng.randint(0, 300))
    shape.reject = rng.random() < 0.04
    offered = rng.randint(1, 7)
    taken = rng.choice([bits for bits in range(1, 8) if bits & ~offered == 0])
    shape.rtr = (offered, taken)
    ird = (rng.choice((1, 2, 4, 16, UNLIMITED)), rng.choice((1, 2, 4, 16)))
    orders = (rng.choice((0, 1, 2, 4, 16, UNLIMITED)), rng.choice((0, 1, 2, 4, 16)))
    shape.ird = (ird[0], UNLIMITED if orders[0] == UNLIMITED else ird[1])
    shape.ord = (orders[0], UNLIMITED if ird[0] == UNLIMITED else min(orders[1], ird[0]))
    if shape.peer_to_peer and shape.limits[0] == 0 and taken & 1:
        shape.ord = (1, shape.ord[1])  # a Read as RTR needs room for one
    shape.declines = rng.random() < 0.2
    shape.messages = rng.choice((0, 1, rng.randint(2, 12), rng.randint(10, 40)))
    shape.largest_B = rng.choice((40, 600, 4000, 20_000))
    shape.mulpdu_B = rng.choice((128, 200, 502, 1430, 1442, 1454, 8900, 64_768))
    shape.ending = "terminate" if rng.random() < 0.15 else "close"
    for name, value in fixed.items():
        setattr(shape, name, value)
    return shape


class Talk:
    """A conversation that grows: `open`, `exchange`, `end`; or step by step, as those who break rules do."""

    def __init__(self, rng: random.Random, shape: Shape, truth: Truth, ends: Endpoints) -> None:
        self.rng, self.shape, self.truth = rng, shape, truth
        self.number = len(truth.connections)
        self.first = shape.initiator
        self.connection = Connection(
            ends, shape.initiator, shape.revision, syn_seen=not shape.midstream
        )
        truth.connections.append(self.connection)
        truth.frames.append([])
        begins = (rng.randrange(1 << 20), rng.randrange(1 << 20)) if shape.midstream else (0, 0)
        self.senders = (Sender(begins[0]), Sender(begins[1]))
        self.connection.start = list(begins)
        self.steps: list[Step] = []
        self.msn = [dict.fromkeys(range(4), shape.msn) for _ in "ab"]
        self.asked: tuple[deque[Any], deque[Any]] = (
            deque(),
            deque(),
        )  # by side that asks: not yet answered
        self.identifier = rng.randrange(1 << 32)
        self.may_send = [shape.midstream, shape.midstream]
        self.over = [False, False]

    # What is said

    def raw(self, side: int, data: bytes, waits: bool = True) -> int:
        """Say octets; return where they begin."""
        begin, end = self.senders[side].raw(data)
        if data:
            self.steps.append((side, begin, end, waits))
        return begin

    def emit(self, side: int, ulpdu: bytes, waits: bool | None = None, **tweaks: Any) -> int:
        """Say an FPDU; return its number."""
        sender = self.senders[side]
        if waits is None:  # the first FPDU of each end follows what the other end said
            waits = sender.start is None or self.rng.random() < 0.3
        if not self.connection.crc_on and "crc" not in tweaks:
            drawn = self.rng.choice((0, self.rng.randrange(1 << 32), None))
            # Anything, but by one sender always in one way: a right sum shows that sums are made.
            tweaks["crc"] = (0, drawn or 1, None)[self.connection.ends.isn[0] % 3]
        if self.shape.reserved and self.rng.random() < 0.3 and not tweaks.keys() & {"pointer_xor"}:
            tweaks["marker_reserved"] = self.rng.randrange(1 << 16)
            tweaks["pointer_xor"] = (
                self.rng.randrange(4),
                self.rng.randrange(4),
            )  # bits that count as 0
        placed: Placed = sender.fpdu(ulpdu, **tweaks)
        self.steps.append((side, placed.begin, placed.end, waits))
        number = len(self.truth.fpdus)
        self.truth.fpdus.append(
            Fpdu(
                self.number,
                side,
                placed.begin,
                placed.header,
                placed.end,
                ulpdu,
                placed.crc,
                placed.crc_right,
                placed.markers,
            )
        )
        return number

    def control(self, last: bool, opcode: int, tagged: bool | None = None) -> tuple[int, int]:
        """Return the two control octets of a segment, with this connection's versions."""
        bits = self.rng.randrange(64) if self.shape.reserved and self.rng.random() < 0.5 else 0
        version = 0 if self.shape.revision == 0 else 1
        return o.controls(
            last, opcode in o.TAGGED if tagged is None else tagged, opcode, version, bits
        )

    def ulp(self, opcode: int, stag: int | None = None) -> int:
        """Return the 32 bits of an untagged segment for RDMAP."""
        if opcode in (o.SEND_INV, o.SEND_SE_INV):
            return self.rng.randrange(1 << 32) if stag is None else stag
        return self.rng.randrange(1 << 32) if self.shape.reserved and self.rng.random() < 0.5 else 0

    def pieces(self, size: int, header: int) -> list[tuple[int, int]]:
        """Return how a message of `size` octets is cut: (offset, length) of each segment."""
        room = self.shape.mulpdu_B - header
        if size == 0:
            return [(0, 0)]
        out, at = [], 0
        while at < size:
            length = min(room, size - at)
            if self.rng.random() < 0.15:
                length = self.rng.randint(1, length)
            out.append((at, length))
            at += length
        return out

    def untagged(
        self, side: int, opcode: int, payload: bytes, waits: bool | None = None
    ) -> tuple[int, int]:
        """Say an untagged message; return the numbers of its first and last FPDU."""
        queue = o.QUEUE_OF[opcode]
        msn, ulp = self.msn[side][queue], self.ulp(opcode)
        self.msn[side][queue] = (msn + 1) & 0xFFFFFFFF
        numbers = []
        is_send = opcode in (o.SEND, o.SEND_INV, o.SEND_SE, o.SEND_SE_INV)
        for at, length in self.pieces(len(payload), 18) if is_send else [(0, len(payload))]:
            control = self.control(at + length == len(payload), opcode)
            segment = o.untagged_segment(control, ulp, queue, msn, at, payload[at : at + length])
            numbers.append(self.emit(side, segment, waits))
        return numbers[0], numbers[-1]

    def tagged(
        self, side: int, opcode: int, stag: int, to: int, payload: bytes, waits: bool | None = None
    ) -> tuple[int, int]:
        """Say a tagged message; return the numbers of its first and last FPDU."""
        numbers = []
        for at, length in self.pieces(len(payload), 14):
            control = self.control(at + length == len(payload), opcode)
            segment = o.tagged_segment(control, stag, to + at, payload[at : at + length])
            numbers.append(self.emit(side, segment, waits))
        return numbers[0], numbers[-1]

    def operation(self, side: int, opcode: int, size: int, span: tuple[int, int]) -> Operation:
        """Note an operation."""
        operation = Operation(self.number, side, opcode, size, *span)
        self.truth.operations.append(operation)
        return operation

    # Legal messages

    def stag(self) -> int:
        return self.rng.choice((0, self.rng.randrange(1 << 32), 0xFFFFFFFF))

    def offset(self, size: int) -> int:
        """Return a tagged offset with room for `size` octets."""
        return self.rng.choice(
            (0, self.rng.randrange(1 << 20), self.rng.randint(0, TOP - size), TOP - size)
        )

    def size(self) -> int:
        largest = self.shape.largest_B
        return self.rng.choice(
            (0, 1, self.rng.randint(0, min(largest, 64)), self.rng.randint(0, largest))
        )

    def write(self, side: int, size: int | None = None) -> int:
        """Say an RDMA Write."""
        size = self.size() if size is None else size
        to = self.offset(size) if size else self.rng.choice((0, TOP))
        span = self.tagged(side, o.WRITE, self.stag(), to, self.rng.randbytes(size))
        self.operation(side, o.WRITE, size, span)
        return span[0]

    def send(self, side: int, size: int | None = None, opcode: int | None = None) -> int:
        """Say one of the Sends, or immediate data."""
        if opcode is None:
            choices = [o.SEND, o.SEND, o.SEND_INV, o.SEND_SE, o.SEND_SE_INV]
            if self.shape.extensions and size is None:
                choices += [o.IMMEDIATE, o.IMMEDIATE_SE]
            opcode = self.rng.choice(choices)
        size = self.size() if size is None else size
        if opcode in (o.IMMEDIATE, o.IMMEDIATE_SE):
            size = 8
        span = self.untagged(side, opcode, self.rng.randbytes(size))
        self.operation(side, opcode, size, span)
        return span[0]

    def limit(self, side: int) -> int:
        return self.shape.limits[0 if side == self.first else 1]

    def ask(self, side: int, size: int | None = None, atomic: bool = False) -> int:
        """Say a Read or Atomic Request."""
        if atomic:
            identifier = self.identifier
            self.identifier = (identifier + 1) & 0xFFFFFFFF
            words = tuple(self.rng.randrange(1 << 64) for _ in range(4))
            data = o.atomic_request(
                self.rng.choice((0, 2)),
                identifier,
                self.stag(),
                8 * self.rng.randrange(1 << 20),
                words,
            )
            span = self.untagged(side, o.ATOMIC_REQUEST, data, True)
            operation = self.operation(side, o.ATOMIC_REQUEST, 8, span)
            self.asked[side].append((operation, identifier, 0))
            return span[0]
        size = self.size() if size is None else size
        stag, to = self.stag(), self.offset(size)
        data = o.read_request(stag, to, size, self.stag(), self.offset(size))
        span = self.untagged(side, o.READ_REQUEST, data, True)
        operation = self.operation(side, o.READ_REQUEST, size, span)
        self.asked[side].append((operation, stag, to))
        return span[0]

    def answer(self, side: int) -> int:
        """Let the side answer the oldest request of the other."""
        operation, first, to = self.asked[1 - side].popleft()
        if operation.opcode == o.ATOMIC_REQUEST:
            data = first.to_bytes(4, "big") + self.rng.randbytes(8)
            span = self.untagged(side, o.ATOMIC_RESPONSE, data, True)
        else:
            payload = self.rng.randbytes(operation.size_B)
            span = self.tagged(side, o.READ_RESPONSE, first, to, payload, True)
        operation.response_first, operation.response_last = span
        return span[0]

    # The parts of a conversation

    def flags(self, role: int, is_reply: bool) -> int:
        """Return the flags of an MPA frame."""
        shape = self.shape
        flags = o.MARKERS * shape.wants_markers[role] | o.CRC * shape.wants_crc[role]
        flags |= o.ENHANCED * shape.enhanced | o.REJECT * (is_reply and shape.reject)
        if shape.reserved:
            flags |= self.rng.randrange(16)
            if not is_reply and self.rng.random() < 0.3:
                flags |= o.REJECT
            if shape.revision < 2 and self.rng.random() < 0.3:
                flags |= o.ENHANCED  # reserved before RFC 6581
        return flags

    def private(self, role: int) -> bytes:
        """Return the private data, enhanced data first."""
        shape = self.shape
        if not shape.enhanced:
            return self.rng.randbytes(shape.private[role])
        a, bits = shape.peer_to_peer, shape.rtr[role] if shape.peer_to_peer else 0
        if not a and shape.reserved and self.rng.random() < 0.3:
            bits = self.rng.randrange(8)  # without A they say nothing
        ird = a << 15 | (bits & 4) << 12 | shape.ird[role]
        order = (bits & 2) << 14 | (bits & 1) << 14 | shape.ord[role]
        return o.enhanced(ird, order) + self.rng.randbytes(shape.private[role] - 4)

    def frame(
        self,
        side: int,
        key: bytes,
        flags: int,
        private: bytes,
        revision: int | None = None,
        pd_length: int | None = None,
        waits: bool = True,
    ) -> int:
        """Say an MPA frame; return where it stands."""
        revision = self.shape.revision if revision is None else revision
        begin = self.raw(side, o.mpa_frame(key, flags, revision, private, pd_length), waits)
        self.truth.frames[self.number].append(
            Frame(side, key == o.REQUEST_KEY, begin, flags, revision, private)
        )
        return begin

    def stream(self) -> None:
        """Let both say what is no iWARP yet."""
        for role in self.rng.sample((0, 1), 2):
            side = self.first if role == 0 else 1 - self.first
            self.raw(side, self.rng.randbytes(self.shape.streaming_B[role]))

    def request(self, **changed: Any) -> int:
        """Let the initiator say its Request."""
        call: dict[str, Any] = {
            "flags": self.flags(0, False),
            "private": self.private(0),
            "key": o.REQUEST_KEY,
        } | changed
        return self.frame(self.first, **call)

    def reply(self, **changed: Any) -> int:
        """Let the responder say its Reply, and both take on what was agreed."""
        call: dict[str, Any] = {
            "flags": self.flags(1, True),
            "private": self.private(1),
            "key": o.REPLY_KEY,
        } | changed
        begin = self.frame(1 - self.first, **call)
        self.agree()
        return begin

    def agree(self) -> None:
        """Take on what was agreed."""
        shape, connection = self.shape, self.connection
        connection.rejected = shape.reject
        wants = shape.wants_markers
        connection.wants_markers = wants if self.first == 0 else (wants[1], wants[0])
        connection.crc_on = any(shape.wants_crc)
        self.senders[self.first].markers = wants[1]  # the responder wants to receive them
        self.senders[1 - self.first].markers = wants[0]

    def ready(self) -> int | None:
        """Let the initiator say its first FPDU, if something is to be said; return its number."""
        side, shape = self.first, self.shape
        self.may_send[side] = True
        number = None
        if shape.enhanced and shape.ird[1] < shape.ord[0] < UNLIMITED and shape.declines:
            return self.say_terminate(
                side, o.terminate(2, 0, 6)
            )  # it needs more than the responder has
        if shape.enhanced and shape.peer_to_peer:
            form = self.rng.choice([bit for bit in (4, 2, 1) if bit & shape.rtr[1]])
            if form == 4:
                number = self.send(side, 0, o.SEND)
            elif form == 2:
                number = self.write(side, 0)
            else:
                number = self.ask(side, 0)
        elif shape.messages:
            number = self.message(side)
        if number is not None:
            self._after_first()
        return number

    def _after_first(self) -> None:
        """Let the responder begin: it has seen the initiator's first FPDU."""
        side = 1 - self.first
        self.may_send[side] = True
        if self.asked[self.first]:
            self.answer(side)
        else:
            self.message(side)

    def message(self, side: int) -> int | None:
        """Let the side say some message that it may say now."""
        kind = self.rng.random()
        if kind < 0.3:
            return self.write(side)
        if kind < 0.65:
            return self.send(side)
        if len(self.asked[side]) < self.limit(side):
            return self.ask(side, atomic=self.shape.extensions and kind > 0.9)
        return self.write(side)

    def exchange(self, messages: int) -> None:
        """Let both say `messages` legal messages."""
        for _ in range(messages):
            side = self.rng.randrange(2)
            if self.over[side] or not self.may_send[side]:
                side = 1 - side
            if self.over[side] or not self.may_send[side]:
                return
            if self.asked[1 - side] and self.rng.random() < 0.5:
                self.answer(side)
            else:
                self.message(side)

    def settle(self) -> None:
        """Answer all that was asked."""
        for side in (0, 1):
            while self.asked[1 - side] and not self.over[side]:
                self.answer(side)

    def say_terminate(self, side: int, payload: bytes, waits: bool = True) -> int:
        """Let the side say a Terminate; nothing follows it."""
        span = self.untagged(side, o.TERMINATE, payload, waits)
        self.operation(side, o.TERMINATE, len(payload), span)
        self.over[side] = True
        return span[0]

    def open(self) -> None:
        """Say all up to the first FPDU of the initiator."""
        if self.shape.midstream:
            self.agree()
            self.senders[0].start, self.senders[1].start = self.senders[0].end, self.senders[1].end
            return
        self.stream()
        self.request()
        self.reply()
        if not self.shape.reject:
            self.ready()

    def whole(self) -> None:
        """Say a whole conversation."""
        self.open()
        if self.shape.reject:
            self.raw(self.first, self.rng.randbytes(self.rng.randint(0, 60)))
            return
        self.exchange(self.shape.messages)
        if self.rng.random() < 0.9:
            self.settle()
        may_end = [s for s in (0, 1) if self.may_send[s] and not self.over[s]]
        if self.shape.ending == "terminate" and may_end:
            side = self.rng.choice(may_end)
            if self.rng.random() < 0.3:
                self.half(side)
            self.say_terminate(side, o.terminate(0, 0, self.rng.randrange(256)))
            if self.may_send[1 - side] and not self.over[1 - side] and self.rng.random() < 0.5:
                self.send(1 - side)

    def half(self, side: int) -> None:
        """Begin a message whose end never comes: a Terminate cuts it off."""
        segment = o.tagged_segment(
            self.control(False, o.WRITE), self.stag(), 4096, self.rng.randbytes(100)
        )
        self.emit(side, segment)
