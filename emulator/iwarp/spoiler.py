"""One direction of a connection, read octet by octet and given on, with the faults that were ordered.

What passes is taken apart into MPA frames and FPDUs and put together again: as it was, where nothing is spoilt.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from freezeframe.emulator.iwarp.errors import StartupError
from freezeframe.emulator.iwarp.faults import FAULTS, Order, Out, Place, fpdu_of
from freezeframe.emulator.iwarp.fpdu import Fpdu, FpduStream
from freezeframe.emulator.iwarp.layout import Segment
from freezeframe.emulator.iwarp.startup import (
    HEADER_B,
    ULP_NEGOTIATES,
    StartupFrame,
    parse_frame,
    private_length,
)


@dataclass
class Startup:
    """What both directions of a connection have said; each `Spoiler` enters its own."""

    request: StartupFrame | None = None
    reply: StartupFrame | None = None


@dataclass(frozen=True, slots=True)
class Strike:
    """A fault that has struck: at which message, at which octet of the stream of FPDUs (-1: in the MPA frame)."""

    name: str
    message: int
    position: int


@dataclass
class Spoiler:
    """``role``: of the end whose octets pass: ``initiator`` or ``responder``."""

    role: str
    startup: Startup
    orders: Sequence[Order] = ()
    seed: int = 1
    strikes: list[Strike] = field(default_factory=list)
    ended: bool = False
    """The stream is cut: nothing more passes."""

    def __post_init__(self) -> None:
        for order in self.orders:
            needed = FAULTS[order.name].sender
            if needed and needed != self.role:
                raise ValueError(f"{order.name} is a fault of the {needed}, not of the {self.role}")
        self._left = list(self.orders)
        self._rng = random.Random(f"{self.seed} {self.role}")
        self._held = b""
        self._stream: FpduStream | None = None
        self._foreign = False
        self._position = 0
        self._crc = True
        self._msn = [1, 1, 1, 1]
        self._message = 0
        self._messages: dict[
            int, tuple[int, int]
        ] = {}  # lane: number of the open message, octets so far
        self._begun = False
        self._late: list[Out] = []

    def feed(self, data: bytes) -> bytes:
        """Take octets and return those that pass now; what is not iWARP passes as it is."""
        if self.ended:
            return b""
        if self._foreign:
            return data
        out = b""
        self._held += data
        if not self._begun:
            try:
                out = self._frame()
            except StartupError:
                self._foreign = True
                held, self._held = self._held, b""
                return held
        if self._begun and self._stream is None and self._held:
            self._open()
        if self._stream is not None:
            held, self._held = self._held, b""
            for fpdu in self._stream.feed(held):
                waiting = len(self._late)
                out += self._pass(fpdu)
                out += self._caught_up(waiting)
        return out

    def rest(self) -> bytes:
        """Return what is held of an FPDU, or a frame, that will not become whole: its sender has ended."""
        late = self._caught_up()
        if self.ended:
            return b""
        return late + self._held + (self._stream.held if self._stream else b"")

    def _frame(self) -> bytes:
        if len(self._held) < HEADER_B:
            return b""
        size = HEADER_B + private_length(self._held[:HEADER_B])
        if len(self._held) < size:
            return b""
        frame = parse_frame(self._held)
        raw, self._held = self._held[:size], self._held[size:]
        self._begun = True
        request = None
        if frame.is_reply:
            request, self.startup.reply = self.startup.request, frame
        else:
            self.startup.request = frame
        for order in list(self._left):
            fault, place = FAULTS[order.name], Place(self._rng)
            made = fault.frame(frame, request, place) if fault.frame else None
            if made is not None:
                raw = made
            elif fault.after_frame:
                # An initiator that is early cannot know yet whether markers are wanted.
                markers = bool(request and request.markers)
                raw += self._send(Out(fault.after_frame(place).to_bytes()), markers=markers)
            else:
                continue
            self._struck(order, -1)
        return raw

    def _open(self) -> None:
        """The first octets after the frame: from the two frames follows how they are to be read."""
        request, reply = self.startup.request, self.startup.reply
        wanted = reply if self.role == "initiator" else request
        markers = bool(wanted and wanted.markers)
        self._crc = any(f is None or f.crc for f in (request, reply))
        self._stream = FpduStream(markers=markers)

    @property
    def _ord(self) -> int:
        """Reads that this end may have under way, by what was negotiated; 16 where nothing was."""
        mine, theirs = self.startup.request, self.startup.reply
        if self.role == "responder":
            mine, theirs = theirs, mine
        if not mine or not theirs or not mine.enhanced or not theirs.enhanced:
            return 16
        asked = min(mine.enhanced.ord, theirs.enhanced.ird)
        return 16 if asked == ULP_NEGOTIATES else asked

    def _pass(self, fpdu: Fpdu) -> bytes:
        if self.ended or self._stream is None:
            return b""
        try:
            segment = Segment.of(fpdu.ulpdu)
        except ValueError:
            return self._as_it_was(fpdu)
        before = self._count(segment)
        outs: list[Out] | None = None
        for order in list(self._left):
            fault = FAULTS[order.name].segment
            if fault is None or not self._is_there(order, segment, before):
                continue
            offset = order.offset - before if order.offset >= 0 else -1
            place = Place(
                self._rng, offset, self._msn, self._ord, self._stream.markers, self._position
            )
            outs = fault(segment, place)
            if outs is not None:
                self._struck(order, self._position)
                break
        if outs is None:
            return self._as_it_was(fpdu)
        return b"".join(self._send(out, markers=self._stream.markers) for out in outs)

    def _count(self, segment: Segment) -> int:
        """Count the segment to its message; return the octets of that message before it."""
        lane = -1 if segment.tagged else segment.queue
        if lane not in self._messages:
            self._message += 1
            self._messages[lane] = (self._message, 0)
        number, before = self._messages[lane]
        self._messages[lane] = (number, before + len(segment.payload))
        if segment.last:
            del self._messages[lane]
        if 0 <= lane < 4:
            self._msn[lane] = (segment.msn + 1) & 0xFFFFFFFF
        self._number = number
        return before

    def _is_there(self, order: Order, segment: Segment, before: int) -> bool:
        if self._number != order.message:
            return self._number > order.message
        return order.offset < before + max(len(segment.payload), 1) or segment.last

    def _as_it_was(self, fpdu: Fpdu) -> bytes:
        if self._position == fpdu.position or self._stream is None:
            self._position += len(fpdu.raw)
            return fpdu.raw
        return self._send(Out(fpdu.ulpdu), markers=self._stream.markers)

    def _send(self, out: Out, *, markers: bool) -> bytes:
        if self.ended:
            return b""
        if out.late:
            self._late.append(out._replace(late=False))
            return b""
        raw = fpdu_of(out, self._position, markers=markers, crc=self._crc)
        self._position += len(raw)
        self.ended = out.keep is not None
        return raw

    def _caught_up(self, count: int | None = None) -> bytes:
        """Return so many that were held back, or all."""
        late, self._late = self._late[:count], self._late[count:] if count is not None else []
        markers = self._stream is not None and self._stream.markers
        return b"".join(self._send(out, markers=markers) for out in late)

    def _struck(self, order: Order, position: int) -> None:
        self._left.remove(order)
        self.strikes.append(Strike(order.name, self._message, position))


def for_role(orders: Sequence[Order], role: str, default: str) -> list[Order]:
    """Return the orders that an end is to carry out; ``default``: the role of those that either end can."""
    return [o for o in orders if (FAULTS[o.name].sender or default) == role]
