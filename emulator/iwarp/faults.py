"""Faults: how each rule of MPA, DDP and RDMAP is broken, as a table of small functions by the name of the rule.

A fault strikes once, in what one end sends: in its MPA frame, or at a segment. Everything that is not the breach stays
right: markers stand where they belong and CRCs are made anew. What is left to chance follows from the seed.

``tcp-retransmit-differs`` is no fault here: what TCP sends again is the kernel's own.

Source: `decoders.iwarp.rules`, and what it cites.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from freezeframe.capture.errors import InputError
from freezeframe.capture.nearest import no_such
from freezeframe.emulator.iwarp.fpdu import build_fpdu, markers_within, padding, with_crc
from freezeframe.emulator.iwarp.layout import (
    READ_QUEUE,
    READ_REQUEST_B,
    Opcode,
    ReadRequest,
    Segment,
    terminate_payload,
)
from freezeframe.emulator.iwarp.startup import READ, SEND, WRITE, Enhanced, StartupFrame

_WRAP = 1 << 64
_M32 = 0xFFFFFFFF
_ALL_RTR = SEND | WRITE | READ


@dataclass
class Place:
    """Where a fault strikes, and what it may know of the stream up to there.

    Attributes:
        offset: octets of the segment's payload before the place asked for; -1 where none was.
        msn: the next MSN of each queue, this segment's message not counted.
        ord: reads that this end may have under way.
        markers, position: of the stream that the segment would go out in.
    """

    rng: random.Random
    offset: int = -1
    msn: list[int] = field(default_factory=lambda: [1, 1, 1, 1])
    ord: int = 16
    markers: bool = False
    position: int = 0

    def split_at(self, payload: bytes) -> int:
        """Return where to cut a payload of two octets or more."""
        return min(max(self.offset, 1), len(payload) - 1) if self.offset >= 0 else len(payload) // 2

    def other(self, value: int, *, among: range) -> int:
        """Return another value."""
        return self.rng.choice([v for v in among if v != value])


class Out(NamedTuple):
    """A ULPDU to send, and what to spoil of its FPDU.

    ``flip``: a bit of the ULPDU after the CRC was made. ``pad``: an octet in place of the first padding. ``pointer``:
    what to change in the first marker. ``keep``: so many octets of the FPDU, and then the stream ends. ``late``: it
    goes out behind the next one.
    """

    ulpdu: bytes
    flip: int | None = None
    pad: int = 0
    pointer: int = 0
    keep: int | None = None
    late: bool = False


Struck = list[Out] | None
"""What goes out in place of a segment; None where the fault cannot strike there and waits for the next."""


class Fault(NamedTuple):
    """``sender``: which end alone can commit it, by its role; empty for either."""

    frame: Callable[[StartupFrame, StartupFrame | None, Place], bytes | None] | None = None
    segment: Callable[[Segment, Place], Struck] | None = None
    sender: str = ""
    after_frame: Callable[[Place], Segment] | None = None


def fpdu_of(out: Out, position: int, *, markers: bool, crc: bool) -> bytes:
    """Return the FPDU, spoilt as told."""
    raw = bytearray(build_fpdu(out.ulpdu, position=position, markers=markers, crc=crc))

    def at(octet: int) -> int:  # of the FPDU without markers
        return octet + (4 * markers_within(position, octet + 1) if markers else 0)

    if out.pad:
        raw[at(2 + len(out.ulpdu))] = out.pad
    if out.pointer:
        marker = -position % 512
        raw[marker + 2] ^= out.pointer >> 8
        raw[marker + 3] ^= out.pointer & 0xFF
    if crc and (out.pad or out.pointer):
        raw[:] = with_crc(bytes(raw[:-4]))
    if out.flip is not None:
        raw[at(2 + out.flip // 8)] ^= 1 << out.flip % 8
    return bytes(raw if out.keep is None else raw[: out.keep])


# MPA frames. Each gets the frame, the Request that it answers (None: it is the Request), and gives octets; or None.


def _key(frame: StartupFrame, request: StartupFrame | None, place: Place) -> bytes:
    octets = bytearray(frame.to_bytes())
    octets[place.rng.randrange(16)] ^= 1 << place.rng.randrange(8)
    return bytes(octets)


def _private_data_length(frame: StartupFrame, request: StartupFrame | None, place: Place) -> bytes:
    return replace(frame, private_data=bytes(place.rng.randint(513, 1024))).to_bytes()


def _revision(frame: StartupFrame, request: StartupFrame | None, place: Place) -> bytes:
    return replace(frame, revision=place.rng.randint(3, 255)).to_bytes()


def _other_key(frame: StartupFrame, request: StartupFrame | None, place: Place) -> bytes:
    return replace(frame, is_reply=not frame.is_reply).to_bytes()


def _enhanced_mismatch(
    frame: StartupFrame, request: StartupFrame | None, place: Place
) -> bytes | None:
    if frame.revision < 2:
        return None  # the flag has no meaning there
    return replace(frame, enhanced=None if frame.enhanced else Enhanced(1, 1)).to_bytes()


def _enhanced_short(
    frame: StartupFrame, request: StartupFrame | None, place: Place
) -> bytes | None:
    if request is not None and request.revision < 2:
        return None
    octets = bytearray(replace(frame, private_data=b"", enhanced=None, revision=2).to_bytes())
    octets[16] |= 0x10
    octets[19] = place.rng.randrange(4)
    return bytes(octets) + bytes(octets[19])


def _enhanced(frame: StartupFrame, **changed: object) -> bytes | None:
    if frame.enhanced is None:
        return None
    return replace(frame, enhanced=replace(frame.enhanced, **changed)).to_bytes()  # type: ignore[arg-type]


def _model_mismatch(
    frame: StartupFrame, request: StartupFrame | None, place: Place
) -> bytes | None:
    to_peers = not (frame.enhanced and frame.enhanced.peer_to_peer)
    return _enhanced(frame, peer_to_peer=to_peers, rtr=SEND if to_peers else 0)


def _no_rtr_offered(
    frame: StartupFrame, request: StartupFrame | None, place: Place
) -> bytes | None:
    asked = request.enhanced if request else None
    if request is not None and not (asked and asked.peer_to_peer):
        return None  # in a Reply it would be the other model as well
    return _enhanced(frame, peer_to_peer=True, rtr=0)


def _rtr_not_offered(
    frame: StartupFrame, request: StartupFrame | None, place: Place
) -> bytes | None:
    asked = request.enhanced if request else None
    if not asked or not asked.peer_to_peer or asked.rtr == _ALL_RTR:
        return None
    return _enhanced(frame, rtr=_ALL_RTR)


def _ord_over_ird(frame: StartupFrame, request: StartupFrame | None, place: Place) -> bytes | None:
    asked = request.enhanced if request else None
    return _enhanced(frame, ord=asked.ird + 1) if asked and asked.ird < 0x3FFE else None


def _early(place: Place) -> Segment:
    return Segment(Opcode.WRITE, tagged=True)


# Segments.


def _changed(**fields: Callable[[Segment, Place], object]) -> Callable[[Segment, Place], Struck]:
    """Return a fault that changes fields of the segment."""

    def act(segment: Segment, place: Place) -> Struck:
        changes = {name: make(segment, place) for name, make in fields.items()}
        return [Out(replace(segment, **changes).to_bytes())]  # type: ignore[arg-type]

    return act


def _where(
    wanted: Callable[[Segment], bool], act: Callable[[Segment, Place], Struck]
) -> Callable[[Segment, Place], Struck]:
    """Return a fault that waits for a segment of some kind."""
    return lambda segment, place: act(segment, place) if wanted(segment) else None


def _tagged(segment: Segment) -> bool:
    return segment.tagged


def _untagged(segment: Segment) -> bool:
    return not segment.tagged


def _response(segment: Segment) -> bool:
    return segment.tagged and segment.opcode == Opcode.READ_RESPONSE


def _send(segment: Segment) -> bool:
    return not segment.tagged and segment.queue == 0


def _whole_send(segment: Segment) -> bool:
    return _send(segment) and segment.last and not segment.mo


def _version(segment: Segment, place: Place) -> int:
    return place.other(segment.ddp_version, among=range(4))


def _halves(segment: Segment, place: Place) -> tuple[Segment, Segment] | None:
    """Return a segment as two; None where it has not two octets."""
    if len(segment.payload) < 2:
        return None
    at = place.split_at(segment.payload)
    first = replace(segment, payload=segment.payload[:at], last=False)
    second = replace(
        segment, payload=segment.payload[at:], to=(segment.to + at) % _WRAP * segment.tagged,
        mo=(segment.mo + at) * (not segment.tagged),
    )  # fmt: skip
    return first, second


def _second_half(
    **fields: Callable[[Segment, Place], object],
) -> Callable[[Segment, Place], Struck]:
    """Return a fault that cuts the segment in two and changes the second."""

    def act(segment: Segment, place: Place) -> Struck:
        halves = _halves(segment, place)
        if halves is None:
            return None
        changed = _changed(**fields)(halves[1], place) or []
        return [Out(halves[0].to_bytes()), *changed]

    return act


def _before(make: Callable[[Segment, Place], list[Segment]]) -> Callable[[Segment, Place], Struck]:
    """Return a fault that sends segments of its own before the one that passes; after it, where MSNs ask for that."""

    def act(segment: Segment, place: Place) -> Struck:
        made = make(segment, place)
        is_request = not segment.tagged and segment.queue == READ_QUEUE
        return [Out(s.to_bytes()) for s in ([segment, *made] if is_request else [*made, segment])]

    return act


def _flip(segment: Segment, place: Place) -> Struck:
    header = len(segment.header)
    octets = len(segment.payload)
    octet = place.offset if 0 <= place.offset < octets else place.rng.randrange(max(octets, 1))
    if not octets:
        octet = -1  # the last of the header
    return [Out(segment.to_bytes(), flip=8 * (header + octet) + place.rng.randrange(8))]


def _pointer(segment: Segment, place: Place) -> Struck:
    ulpdu = segment.to_bytes()
    data_B = 2 + len(ulpdu) + padding(len(ulpdu)) + 4
    if not place.markers or not markers_within(place.position, data_B):
        return None
    return [Out(ulpdu, pointer=4 * place.rng.randrange(1, 1 << 14))]


def _short(segment: Segment, place: Place) -> Struck:
    return [Out(segment.to_bytes()[: place.rng.randint(1, 13)]), Out(segment.to_bytes())]


def _padding(segment: Segment, place: Place) -> Struck:
    ulpdu = segment.to_bytes()
    return [Out(ulpdu, pad=place.rng.randint(1, 255))] if padding(len(ulpdu)) else None


def _cut(segment: Segment, place: Place) -> Struck:
    return [Out(segment.to_bytes(), keep=place.rng.randint(1, len(segment.to_bytes())))]


def _to_wraps(segment: Segment, place: Place) -> Struck:
    if not segment.tagged or len(segment.payload) < 2:
        return None
    return _changed(to=lambda s, p: _WRAP - p.rng.randint(1, len(s.payload) - 1))(segment, place)


def _interleaved(segment: Segment, place: Place) -> Struck:
    halves = _halves(segment, place)
    if halves is None or not _send(segment):
        return None
    between = replace(segment, payload=b"between", msn=(segment.msn + 1) & _M32, mo=0, last=True)
    return [Out(s.to_bytes()) for s in (halves[0], between, halves[1])]


def _too_long(segment: Segment, place: Place) -> Struck:
    halves = _halves(segment, place)
    if halves is None or not _send(segment):
        return None
    first, second = halves
    base = (1 << 32) - len(first.payload)
    return [Out(replace(first, mo=base).to_bytes()), Out(replace(second, mo=0).to_bytes())]


def _read(place: Place, payload: bytes, opcode: int = Opcode.READ_REQUEST) -> Segment:
    msn = place.msn[1]
    place.msn[1] = (msn + 1) & _M32
    return Segment(opcode, payload, queue=1, msn=msn)


def _wrong_read(*, source: bool) -> Callable[[Segment, Place], Struck]:
    """Return a fault of a Read Request's offsets: of the one that passes, or else of one that is made up."""

    def act(segment: Segment, place: Place) -> Struck:
        passes = segment.opcode == Opcode.READ_REQUEST and len(segment.payload) == READ_REQUEST_B
        asked = ReadRequest.of(segment.payload) if passes else ReadRequest(1, 0, 16, 1, 0)
        wrong = _WRAP - place.rng.randint(1, 15)
        size = max(asked.size, 16)
        changed = asked._replace(size=size, **{"source_to" if source else "sink_to": wrong})
        if passes:
            return [Out(replace(segment, payload=changed.to_bytes()).to_bytes())]
        return [Out(s.to_bytes()) for s in (_read(place, changed.to_bytes()), segment)]

    return act


def _many_reads(segment: Segment, place: Place) -> list[Segment]:
    return [_read(place, ReadRequest(0, 0, 0, 0, 0).to_bytes()) for _ in range(place.ord + 1)]


def _terminate(payload: bytes) -> Callable[[Segment, Place], list[Segment]]:
    return lambda segment, place: [Segment(Opcode.TERMINATE, payload, queue=2, msn=place.msn[2])]


def _response_length(segment: Segment, place: Place) -> Struck:
    if not _response(segment) or not segment.last:
        return None
    longer = segment.payload + bytes(place.rng.randint(1, 64))
    return [Out(replace(segment, payload=longer).to_bytes())]


def _ready(segment: Segment, place: Place) -> Struck:
    """The first FPDU of an initiator of the peer-to-peer model becomes a Write that is not empty."""
    return [Out(Segment(Opcode.WRITE, b"\0", tagged=True).to_bytes())]


def _unasked(segment: Segment, place: Place) -> list[Segment]:
    return [Segment(Opcode.READ_RESPONSE, b"unasked", tagged=True, stag=1)]


def _short_atomic(segment: Segment, place: Place) -> list[Segment]:
    return [_read(place, bytes(place.rng.randrange(52)), Opcode.ATOMIC_REQUEST)]


def _other_stag(segment: Segment, place: Place) -> int:
    return segment.stag ^ place.rng.randint(1, _M32)


def _other_to(segment: Segment, place: Place) -> int:
    return (segment.to + place.rng.randint(1, 64)) % _WRAP


def _other_send(segment: Segment, place: Place) -> int:
    return place.other(segment.opcode, among=range(3, 7))


FAULTS: dict[str, Fault] = {
    "mpa-key": Fault(frame=_key),
    "mpa-private-data-length": Fault(frame=_private_data_length),
    "mpa-revision": Fault(frame=_revision),
    "mpa-two-requests": Fault(frame=_other_key, sender="responder"),
    "mpa-two-replies": Fault(frame=_other_key, sender="initiator"),
    "mpa-responder-first": Fault(after_frame=_early, sender="responder"),
    "mpa-initiator-early": Fault(after_frame=_early, sender="initiator"),
    "mpa-enhanced-mismatch": Fault(frame=_enhanced_mismatch, sender="responder"),
    "mpa-enhanced-short": Fault(frame=_enhanced_short),
    "mpa-model-mismatch": Fault(frame=_model_mismatch, sender="responder"),
    "mpa-no-rtr-offered": Fault(frame=_no_rtr_offered),
    "mpa-rtr-not-offered": Fault(frame=_rtr_not_offered, sender="responder"),
    "mpa-rtr-missing": Fault(segment=_ready, sender="initiator"),
    "mpa-ord-over-ird": Fault(frame=_ord_over_ird, sender="responder"),
    "mpa-crc": Fault(segment=_flip),
    "mpa-marker": Fault(segment=_pointer),
    "mpa-length": Fault(segment=_short),
    "mpa-pad": Fault(segment=_padding),
    "mpa-cut": Fault(segment=_cut),
    "ddp-version-tagged": Fault(segment=_where(_tagged, _changed(ddp_version=_version))),
    "ddp-version-untagged": Fault(segment=_where(_untagged, _changed(ddp_version=_version))),
    "ddp-queue": Fault(segment=_where(_untagged, _changed(queue=lambda s, p: p.rng.randrange(4, 1 << 32)))),
    "ddp-msn": Fault(segment=_where(_untagged, _changed(msn=lambda s, p: (s.msn + p.rng.randint(1, 1 << 31)) & _M32))),
    "ddp-mo": Fault(segment=_where(_untagged, _changed(mo=lambda s, p: (s.mo + p.rng.randint(1, 1 << 16)) & _M32))),
    "ddp-to-wrap": Fault(segment=_to_wraps),
    "ddp-to": Fault(segment=_where(_tagged, _second_half(to=_other_to))),
    "ddp-stag-changes": Fault(segment=_where(_tagged, _second_half(stag=_other_stag))),
    "ddp-interleaved": Fault(segment=_interleaved),
    "ddp-message-length": Fault(segment=_too_long),
    "rdmap-version": Fault(segment=_changed(rdmap_version=lambda s, p: p.other(s.rdmap_version, among=range(4)))),
    "rdmap-opcode": Fault(segment=_changed(opcode=lambda s, p: p.rng.randint(12, 15))),
    "rdmap-opcode-changes": Fault(segment=_where(_send, _second_half(opcode=_other_send))),
    "rdmap-tagged": Fault(segment=_changed(opcode=lambda s, p: Opcode.SEND if s.tagged else Opcode.WRITE)),
    "rdmap-queue": Fault(segment=_where(_whole_send, _changed(queue=lambda s, p: 1, msn=lambda s, p: p.msn[1]))),
    "rdmap-read-request": Fault(segment=_before(lambda s, p: [_read(p, bytes(p.rng.randrange(28)))])),
    "rdmap-read-source-wrap": Fault(segment=_wrong_read(source=True)),
    "rdmap-read-sink-wrap": Fault(segment=_wrong_read(source=False)),
    "rdmap-ord": Fault(segment=_before(_many_reads)),
    "rdmap-response-unasked": Fault(segment=_before(_unasked)),
    "rdmap-response-stag": Fault(segment=_where(_response, _changed(stag=_other_stag))),
    "rdmap-response-to": Fault(segment=_where(_response, _changed(to=_other_to))),
    "rdmap-response-length": Fault(segment=_response_length),
    "rdmap-immediate-length": Fault(
        segment=_where(_whole_send, _changed(
            opcode=lambda s, p: Opcode.IMMEDIATE, payload=lambda s, p: bytes(p.other(8, among=range(17))),
        ))
    ),
    "rdmap-atomic-length": Fault(segment=_before(_short_atomic)),
    "rdmap-terminate": Fault(segment=_before(_terminate(bytes.fromhex("7f000000")))),
    "rdmap-after-terminate": Fault(segment=_before(_terminate(terminate_payload((0, 0, 0))))),
    # No rule's names: what a bad link layer between the two would do to whole FPDUs.
    "drop": Fault(segment=lambda s, p: []),
    "reorder": Fault(segment=lambda s, p: [Out(s.to_bytes(), late=True)]),
    "duplicate": Fault(segment=lambda s, p: [Out(s.to_bytes())] * 2),
}  # fmt: skip


class Order(NamedTuple):
    """A fault that was asked for: at the first place from ``message`` (counted from 1) and ``offset`` on."""

    name: str
    message: int = 1
    offset: int = -1


def parse_order(text: str) -> Order:
    """Return a fault as written: ``NAME[@MESSAGE[:OFFSET]]``.

    Raises:
        InputError: there is no such fault, or a number is none.
    """
    name, _, where = text.partition("@")
    if name not in FAULTS:
        raise InputError(f"--fault {text!r}: {no_such('fault', name, FAULTS)}")
    message, _, offset = where.partition(":")
    numbers = (message or "1", offset or "-1")
    if not all(n.removeprefix("-").isascii() and n.removeprefix("-").isdigit() for n in numbers):
        raise InputError(f"--fault {text!r}: write NAME, NAME@MESSAGE or NAME@MESSAGE:OFFSET")
    order = Order(name, int(numbers[0]), int(numbers[1]))
    if order.message < 1 or order.offset < -1 or (offset and order.offset < 0):
        raise InputError(f"--fault {text!r}: messages are counted from 1, octets from 0")
    return order
