"""Streams that are legal except for exactly one breach: a function for each rule, by its name in the decoder's table.

Each says what a receiver by the RFCs answers (layer, error type, code; None: nothing), and which other rules a decoder
may name at the same FPDU or behind it, because what follows cannot be right any more.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.decoders.iwarp import octets as o
from tests.decoders.iwarp.make import OCTETS_B, captured, endpoints, interleaved, packed, packing_of
from tests.decoders.iwarp.packets import ACK, Capture, Packet
from tests.decoders.iwarp.talk import UNLIMITED, Talk, draw
from tests.decoders.iwarp.truth import Breach, Truth

Answer = tuple[int, int, int] | None
SPACE = 1 << 64


@dataclass(frozen=True, slots=True)
class Kind:
    """How a rule is broken. `commit` breaks it and returns the breach; `fixed`: what the conversation must be like."""

    commit: Callable[[Talk], Breach]
    answer: Answer
    followers: tuple[str, ...]
    starts: bool  # in the MPA frames: `commit` opens the conversation itself
    fixed: dict[str, Any]


KINDS: dict[str, Kind] = {}
_ENHANCED: dict[str, Any] = {"starts": True, "revision": 2, "enhanced": True}
_PLAIN: dict[str, Any] = {"enhanced": False, "peer_to_peer": False}


def _rule(
    name: str, answer: Answer, *followers: str, starts: bool = False, **fixed: Any
) -> Callable[[Callable[[Talk], Breach]], Callable[[Talk], Breach]]:
    def enter(commit: Callable[[Talk], Breach]) -> Callable[[Talk], Breach]:
        KINDS[name] = Kind(commit, answer, followers, starts, fixed)
        return commit

    return enter


def _side(talk: Talk) -> int:
    return talk.rng.choice([side for side in (0, 1) if talk.may_send[side] and not talk.over[side]])


def _at(talk: Talk, fpdu: int) -> Breach:
    found = talk.truth.fpdus[fpdu]
    return Breach("", talk.number, found.side, found.header, fpdu)


def _in_frame(talk: Talk, side: int, position: int) -> Breach:
    return Breach("", talk.number, side, position)


def _control(talk: Talk, f: dict[str, Any], tagged: bool) -> tuple[int, int]:
    """Return both control octets of a segment, with the versions that it is to say."""
    ddp, rdmap = talk.control(f["last"], f["opcode"], tagged)
    if f["version"] is not None:
        ddp = ddp & ~3 | f["version"]
    if f["rdmap"] is not None:
        rdmap = rdmap & 0x3F | f["rdmap"] << 6
    return ddp, rdmap


def _send_segment(talk: Talk, side: int, payload: bytes, **changed: Any) -> bytes:
    """Return a Send of one segment, with some fields changed; MSN is counted."""
    f = dict[str, Any](last=True, opcode=o.SEND, queue=0, mo=0, ulp=0, version=None, rdmap=None)
    f["msn"] = talk.msn[side][changed.get("queue", 0) & 3]
    f |= changed
    control = _control(talk, f, False)
    if f["last"] and f["queue"] < 4:
        talk.msn[side][f["queue"]] = (talk.msn[side][f["queue"]] + 1) & 0xFFFFFFFF
    return o.untagged_segment(control, f["ulp"], f["queue"], f["msn"], f["mo"], payload)


def _write_segment(talk: Talk, payload: bytes, **changed: Any) -> bytes:
    """Return a Write of one segment, with some fields changed."""
    stag = talk.stag()
    f = dict[str, Any](last=True, opcode=o.WRITE, stag=stag, to=4096, version=None, rdmap=None)
    f |= changed
    return o.tagged_segment(_control(talk, f, True), f["stag"], f["to"], payload)


def _either_segment(talk: Talk, side: int) -> bytes:
    if talk.rng.random() < 0.5:
        return _send_segment(talk, side, _some(talk, 0))
    return _write_segment(talk, _some(talk, 0))


def _emitted(
    talk: Talk, side: int, segment: bytes, waits: bool | None = None, **how: Any
) -> Breach:
    return _at(talk, talk.emit(side, segment, waits, **how))


def _sent(talk: Talk, side: int, payload: bytes, **changed: Any) -> Breach:
    return _emitted(talk, side, _send_segment(talk, side, payload, **changed))


def _written(talk: Talk, side: int, payload: bytes, **changed: Any) -> Breach:
    return _emitted(talk, side, _write_segment(talk, payload, **changed))


def _asked(talk: Talk, side: int, payload: bytes, opcode: int = o.READ_REQUEST) -> Breach:
    segment = _send_segment(talk, side, payload, opcode=opcode, queue=1)
    return _emitted(talk, side, segment, True)


def _requested(talk: Talk, **changed: Any) -> Breach:
    return _in_frame(talk, talk.first, talk.request(**changed))


def _replied(talk: Talk, **changed: Any) -> Breach:
    return _in_frame(talk, 1 - talk.first, talk.reply(**changed))


def _some(talk: Talk, least: int = 1, most: int = 400) -> bytes:
    return talk.rng.randbytes(talk.rng.randint(least, most))


def _wrong_version(talk: Talk) -> int:
    right = 0 if talk.shape.revision == 0 else 1
    return talk.rng.choice([version for version in range(4) if version != right])


# MPA frames

_CLOSED = (2, 0, 4)


@_rule("mpa-key", _CLOSED, starts=True)
def _mpa_key(talk: Talk) -> Breach:
    def spoilt(key: bytes) -> bytes:
        at = talk.rng.randrange(12, 16)
        return key[:at] + bytes([key[at] ^ 1 << talk.rng.randrange(8)]) + key[at + 1 :]

    if (
        not talk.senders[talk.first].data and talk.rng.random() < 0.3
    ):  # else nobody can tell that it was to be one
        return _requested(talk, key=spoilt(o.REQUEST_KEY))
    talk.request()
    return _replied(talk, key=spoilt(o.REPLY_KEY))


def _request_or_reply(talk: Talk, **changed: Any) -> Breach:
    """Say a wrong Request, or a right one and a wrong Reply."""
    if talk.rng.random() < 0.5:
        return _requested(talk, **changed)
    talk.request()
    return _replied(talk, **changed)


@_rule("mpa-private-data-length", _CLOSED, starts=True)
def _mpa_private_data_length(talk: Talk) -> Breach:
    length = talk.rng.choice(
        (513, talk.rng.randint(513, 1500), talk.rng.randint(513, 65535), 65535)
    )
    private = talk.private(0)[:4] + talk.rng.randbytes(
        talk.rng.choice((0, min(length, 1500)) if length < 1600 else (0, 600))
    )
    return _request_or_reply(talk, private=private, pd_length=length)


@_rule("mpa-revision", _CLOSED, "mpa-enhanced-mismatch", starts=True)
def _mpa_revision(talk: Talk) -> Breach:
    if talk.rng.random() < 0.4:
        return _requested(talk, revision=talk.rng.randint(3, 255))
    talk.request()
    other = talk.rng.choice([r for r in (0, 1, 2, 3, 200) if r != talk.shape.revision])
    return _replied(talk, revision=other)


@_rule("mpa-two-requests", _CLOSED, starts=True)
def _mpa_two_requests(talk: Talk) -> Breach:
    talk.request()
    position = talk.frame(
        1 - talk.first, o.REQUEST_KEY, talk.flags(1, False), talk.private(1), waits=True
    )
    return _in_frame(talk, 1 - talk.first, position)


@_rule("mpa-two-replies", _CLOSED, starts=True)
def _mpa_two_replies(talk: Talk) -> Breach:
    side = talk.rng.randrange(2)
    return _in_frame(
        talk, side, talk.frame(side, o.REPLY_KEY, talk.flags(1, True), talk.private(1))
    )


@_rule("mpa-responder-first", _CLOSED, starts=True, peer_to_peer=False)
def _mpa_responder_first(talk: Talk) -> Breach:
    talk.request()
    talk.reply()
    side = 1 - talk.first
    fpdu = talk.emit(side, _either_segment(talk, side), False)
    talk.may_send[side] = True
    talk.shape.messages += 1
    talk.ready()
    return _at(talk, fpdu)


@_rule("mpa-initiator-early", _CLOSED, starts=True, **_PLAIN)
def _mpa_initiator_early(talk: Talk) -> Breach:
    talk.request()
    talk.agree()
    fpdu = talk.emit(talk.first, _send_segment(talk, talk.first, _some(talk, 0)), False)
    talk.reply()
    return _at(talk, fpdu)


@_rule("mpa-enhanced-mismatch", _CLOSED, starts=True, revision=2)
def _mpa_enhanced_mismatch(talk: Talk) -> Breach:
    flags = talk.flags(0, False)
    talk.request(flags=flags)
    flags = talk.flags(1, True) ^ o.ENHANCED
    return _replied(talk, flags=flags, private=talk.private(1) or bytes(4))


@_rule("mpa-enhanced-short", _CLOSED, **_ENHANCED)
def _mpa_enhanced_short(talk: Talk) -> Breach:
    return _request_or_reply(talk, private=talk.rng.randbytes(talk.rng.randrange(4)))


def _controls(a: int, bits: int, ird: int, order: int) -> bytes:
    return o.enhanced(a << 15 | (bits & 4) << 12 | ird, (bits & 3) << 14 | order)


@_rule("mpa-model-mismatch", (2, 0, 7), "mpa-no-rtr-offered", "mpa-rtr-not-offered", **_ENHANCED)
def _mpa_model_mismatch(talk: Talk) -> Breach:
    asked = talk.rng.randrange(2)
    talk.request(private=_controls(asked, 7 * asked, 4, 4))
    return _replied(talk, private=_controls(1 - asked, 7 * (1 - asked), 4, 4))


@_rule("mpa-no-rtr-offered", (2, 0, 7), "mpa-rtr-not-offered", "mpa-rtr-missing", **_ENHANCED)
def _mpa_no_rtr_offered(talk: Talk) -> Breach:
    if talk.rng.random() < 0.5:
        return _requested(talk, private=_controls(1, 0, 4, 4))
    talk.request(private=_controls(1, talk.rng.randint(1, 7), 4, 4))
    return _replied(talk, private=_controls(1, 0, 4, 4))


@_rule("mpa-rtr-not-offered", (2, 0, 7), "mpa-rtr-missing", **_ENHANCED)
def _mpa_rtr_not_offered(talk: Talk) -> Breach:
    offered = talk.rng.randint(1, 6)
    taken = talk.rng.choice([bits for bits in range(1, 8) if not bits & offered])
    talk.request(private=_controls(1, offered, 4, 4))
    return _replied(talk, private=_controls(1, taken, 4, 4))


@_rule("mpa-rtr-missing", (2, 0, 7), **_ENHANCED, peer_to_peer=True)
def _mpa_rtr_missing(talk: Talk) -> Breach:
    talk.request()
    talk.reply()
    agreed = talk.shape.rtr[1]
    side = talk.first
    wrong = [
        lambda: _send_segment(talk, side, _some(talk)),
        lambda: _write_segment(talk, _some(talk)),
    ]
    if not agreed & 4:
        wrong.append(lambda: _send_segment(talk, side, b""))
    if not agreed & 2:
        wrong.append(lambda: _write_segment(talk, b""))
    return _emitted(talk, side, talk.rng.choice(wrong)(), True)


@_rule("mpa-ord-over-ird", (2, 0, 6), **_ENHANCED)
def _mpa_ord_over_ird(talk: Talk) -> Breach:
    a = int(talk.shape.peer_to_peer)
    ird = talk.rng.randint(0, 100)
    order = talk.rng.choice((ird + 1, talk.rng.randint(ird + 1, UNLIMITED - 1)))
    talk.request(private=_controls(a, 7 * a, ird, 1))
    return _replied(talk, private=_controls(a, 7 * a, 16, order))


# MPA, FPDUs


@_rule("mpa-crc", (2, 0, 2), revision=1, wants_crc=(True, False))
def _mpa_crc(talk: Talk) -> Breach:
    side = _side(talk)
    fpdu = talk.emit(side, _either_segment(talk, side), crc_xor=1)
    found, sender = talk.truth.fpdus[fpdu], talk.senders[side]
    right = found.crc_right
    swapped = int.from_bytes(right.to_bytes(4, "big"), "little")
    wrong = [
        value
        for value in (right ^ 1 << talk.rng.randrange(32), talk.rng.randrange(1 << 32), 0, swapped)
        if value != right
    ]
    found.crc = talk.rng.choice(wrong)
    sender.data[-4:] = found.crc.to_bytes(4, "little")
    return _at(talk, fpdu)


@_rule("mpa-marker", (2, 0, 3), revision=1, wants_markers=(True, True))
def _mpa_marker(talk: Talk) -> Breach:
    side = _side(talk)
    segment = _write_segment(talk, talk.rng.randbytes(talk.rng.randint(520, 3000)))
    marker = talk.rng.randrange(len(segment) // 512)
    return _emitted(talk, side, segment, pointer_xor=(marker, 4 * talk.rng.randrange(1, 1 << 14)))


@_rule("mpa-length", (2, 0, 3), "mpa-marker")  # pointers of 16 bits do not reach back that far
def _mpa_length(talk: Talk) -> Breach:
    side = _side(talk)
    choice = talk.rng.randrange(3)
    if choice == 0:
        segment = _write_segment(talk, b"")[: talk.rng.randint(2, 13)]
    elif choice == 1:
        segment = _send_segment(talk, side, b"")[: talk.rng.randint(14, 17)]
    else:
        segment = _write_segment(talk, talk.rng.randbytes(talk.rng.randint(64_769, 65_535) - 14))
    return _emitted(talk, side, segment)


@_rule("mpa-pad", None)
def _mpa_pad(talk: Talk) -> Breach:
    side = _side(talk)
    segment = _write_segment(
        talk, talk.rng.randbytes(4 * talk.rng.randrange(100) + talk.rng.choice((1, 2, 3)))
    )
    pad = bytearray(-(2 + len(segment)) % 4)
    if not pad:
        segment += b"x"
        pad = bytearray(-(2 + len(segment)) % 4)
    pad[talk.rng.randrange(len(pad))] = talk.rng.randint(1, 255)
    return _emitted(talk, side, segment, pad=bytes(pad))


@_rule("mpa-cut", (2, 0, 1))
def _mpa_cut(talk: Talk) -> Breach:
    side = _side(talk)
    fpdu = talk.emit(side, _write_segment(talk, _some(talk)))
    found, sender = talk.truth.fpdus.pop(), talk.senders[side]
    del fpdu
    left = talk.rng.randint(1, found.end - found.begin - 1)
    del sender.data[len(sender.data) - (found.end - found.begin) + left :]
    s, begin, _, waits = talk.steps[-1]
    talk.steps[-1] = (s, begin, begin + left, waits)
    talk.over[0] = talk.over[1] = True
    return Breach("", talk.number, side, found.header)


# DDP


@_rule("ddp-version-tagged", (1, 1, 4))
def _ddp_version_tagged(talk: Talk) -> Breach:
    return _written(talk, _side(talk), _some(talk, 0), version=_wrong_version(talk))


@_rule("ddp-version-untagged", (1, 2, 6))
def _ddp_version_untagged(talk: Talk) -> Breach:
    side = _side(talk)
    return _sent(talk, side, _some(talk, 0), version=_wrong_version(talk))


@_rule("ddp-queue", (1, 2, 1), "rdmap-queue")
def _ddp_queue(talk: Talk) -> Breach:
    side = _side(talk)
    queue = talk.rng.choice((4, talk.rng.randrange(4, 1 << 32), 0xFFFFFFFF))
    return _sent(talk, side, _some(talk, 0), queue=queue, msn=1)


@_rule("ddp-msn", (1, 2, 3))
def _ddp_msn(talk: Talk) -> Breach:
    side = _side(talk)
    step = talk.rng.choice((1, 2, -1, talk.rng.randrange(1, 1 << 32)))
    msn = (talk.msn[side][0] + step) & 0xFFFFFFFF
    return _sent(talk, side, _some(talk, 0), msn=msn)


@_rule("ddp-mo", (1, 2, 4))
def _ddp_mo(talk: Talk) -> Breach:
    side = _side(talk)
    first = _some(talk)
    if talk.rng.random() < 0.5:
        return _sent(talk, side, first, mo=talk.rng.randrange(1, 1 << 24))
    talk.emit(side, _send_segment(talk, side, first, last=False))
    wrong = talk.rng.choice((0, len(first) + 1, len(first) - 1, talk.rng.randrange(500, 1 << 24)))
    return _sent(talk, side, _some(talk), mo=wrong)


@_rule("ddp-to-wrap", (1, 1, 3))
def _ddp_to_wrap(talk: Talk) -> Breach:
    data = _some(talk, 2)
    to = SPACE - talk.rng.randint(1, len(data) - 1)
    return _written(talk, _side(talk), data, to=to)


def _second_write(talk: Talk, **changed: Any) -> Breach:
    side, stag, to, data = _side(talk), talk.stag(), talk.rng.randrange(1 << 40), _some(talk)
    talk.emit(side, _write_segment(talk, data, last=False, stag=stag, to=to))
    second = {
        "stag": stag ^ changed.get("stag_xor", 0),
        "to": to + len(data) + changed.get("to_step", 0),
    }
    opcode = changed.get("opcode", o.WRITE)
    return _written(talk, side, _some(talk), opcode=opcode, **second)


@_rule("ddp-to", (1, 1, 1))
def _ddp_to(talk: Talk) -> Breach:
    return _second_write(talk, to_step=talk.rng.choice((1, 4, talk.rng.randrange(1, 1 << 40))))


@_rule("ddp-stag-changes", (1, 1, 0))
def _ddp_stag_changes(talk: Talk) -> Breach:
    return _second_write(talk, stag_xor=talk.rng.randrange(1, 1 << 32))


@_rule("ddp-interleaved", (1, 2, 3), "ddp-msn", "ddp-mo")
def _ddp_interleaved(talk: Talk) -> Breach:
    side = _side(talk)
    talk.emit(side, _send_segment(talk, side, _some(talk), last=False))
    talk.msn[side][0] = (talk.msn[side][0] + 1) & 0xFFFFFFFF
    return _sent(talk, side, _some(talk, 0))


@_rule(
    "ddp-message-length",
    (1, 2, 4),
    starts=True,
    midstream=True,
    wants_markers=(False, False),
    revision=1,
    wants_crc=(True, True),
)
def _ddp_message_length(talk: Talk) -> Breach:
    talk.open()
    for side in (0, 1, 0, 1):
        talk.write(side)
    side = talk.rng.randrange(2)
    first, second = _some(talk), _some(talk)
    at = (1 << 32) - len(first) - talk.rng.randint(1, len(second))
    msn = talk.rng.randrange(1 << 32)
    talk.emit(side, _send_segment(talk, side, first, last=False, mo=at, msn=msn))
    return _sent(talk, side, second, mo=(at + len(first)) & 0xFFFFFFFF, msn=msn)


# RDMAP


@_rule("rdmap-version", (0, 2, 5))
def _rdmap_version(talk: Talk) -> Breach:
    side, wrong = _side(talk), _wrong_version(talk)
    if talk.rng.random() < 0.5:
        return _written(talk, side, _some(talk, 0), rdmap=wrong)
    return _sent(talk, side, _some(talk, 0), rdmap=wrong)


@_rule("rdmap-opcode", (0, 2, 6), "ddp-msn")
def _rdmap_opcode(talk: Talk) -> Breach:
    side, opcode = _side(talk), talk.rng.randint(12, 15)
    if talk.rng.random() < 0.3:
        return _written(talk, side, _some(talk, 0), opcode=opcode)
    return _sent(talk, side, _some(talk, 0), opcode=opcode)


@_rule("rdmap-opcode-changes", (0, 2, 6), "rdmap-response-unasked")
def _rdmap_opcode_changes(talk: Talk) -> Breach:
    if talk.rng.random() < 0.3:
        return _second_write(talk, opcode=o.READ_RESPONSE)
    side, first = _side(talk), _some(talk)
    talk.emit(side, _send_segment(talk, side, first, last=False))
    opcode = talk.rng.choice((o.SEND_INV, o.SEND_SE, o.SEND_SE_INV))
    return _sent(talk, side, _some(talk), mo=len(first), opcode=opcode)


@_rule("rdmap-tagged", (0, 2, 6), "rdmap-queue", "rdmap-response-unasked", "ddp-msn")
def _rdmap_tagged(talk: Talk) -> Breach:
    side = _side(talk)
    if talk.rng.random() < 0.5:
        opcode = talk.rng.choice((o.SEND, o.SEND_INV, o.SEND_SE, o.SEND_SE_INV))
        return _written(talk, side, _some(talk, 0), opcode=opcode)
    return _sent(talk, side, _some(talk, 0), opcode=o.WRITE)


@_rule("rdmap-queue", (0, 2, 6), "rdmap-read-request", "rdmap-response-unasked", "ddp-msn")
def _rdmap_queue(talk: Talk) -> Breach:
    side = _side(talk)
    opcode, queue = talk.rng.choice(
        (
            (o.SEND, 1),
            (o.SEND_SE, 1),
            (o.SEND, 2),
            (o.SEND, 3),
            (o.READ_REQUEST, 0),
            (o.READ_REQUEST, 3),
        )
    )
    payload = o.read_request(1, 2, 3, 4, 5) if opcode == o.READ_REQUEST else _some(talk, 0)
    return _sent(talk, side, payload, opcode=opcode, queue=queue)


def _with_room(talk: Talk) -> int:
    """Return a side that may ask, with nothing outstanding."""
    talk.settle()
    return talk.rng.choice(
        [s for s in (0, 1) if talk.may_send[s] and not talk.over[s] and talk.limit(s)]
    )


@_rule("rdmap-read-request", (0, 2, 0xFF), **_PLAIN)
def _rdmap_read_request(talk: Talk) -> Breach:
    side = _with_room(talk)
    right = o.read_request(7, 4096, 100, 9, 4096)
    payload = (
        right[: talk.rng.randrange(28)] if talk.rng.random() < 0.5 else right + _some(talk, 1, 40)
    )
    return _asked(talk, side, payload)


def _read_that_wraps(talk: Talk, source: bool) -> Breach:
    side = _with_room(talk)
    size = talk.rng.randint(2, 1 << 31)
    wrong, right = SPACE - talk.rng.randint(1, size - 1), talk.rng.randrange(1 << 40)
    payload = o.read_request(7, right if source else wrong, size, 9, wrong if source else right)
    return _asked(talk, side, payload)


@_rule("rdmap-read-source-wrap", (0, 1, 4), **_PLAIN)
def _rdmap_read_source_wrap(talk: Talk) -> Breach:
    return _read_that_wraps(talk, True)


@_rule("rdmap-read-sink-wrap", (0, 1, 4), **_PLAIN)
def _rdmap_read_sink_wrap(talk: Talk) -> Breach:
    return _read_that_wraps(talk, False)


@_rule("rdmap-ord", (1, 2, 2), revision=2, enhanced=True, rtr=(7, 6), ird=(3, 2), ord=(2, 3))
def _rdmap_ord(talk: Talk) -> Breach:
    side = _with_room(talk)
    for _ in range(talk.limit(side)):
        talk.ask(side)
    return _at(talk, talk.ask(side))


@_rule("rdmap-response-unasked", (0, 2, 6), **_PLAIN)
def _rdmap_response_unasked(talk: Talk) -> Breach:
    talk.settle()
    side = _side(talk)
    if talk.rng.random() < 0.3:
        payload = talk.rng.randbytes(12)
        return _sent(talk, side, payload, opcode=o.ATOMIC_RESPONSE, queue=3)
    return _written(talk, side, _some(talk, 0), opcode=o.READ_RESPONSE)


def _answered(
    talk: Talk, least: int, change: Callable[[int, int, int], tuple[int, int, int]]
) -> Breach:
    """Ask for `least` octets or more; let the answer be to another STag, offset or length."""
    side = _with_room(talk)
    size, stag, to = (
        talk.rng.randint(least, 400),
        talk.rng.randrange(1 << 32),
        talk.rng.randrange(1 << 40),
    )
    payload = o.read_request(stag, to, size, talk.stag(), 4096)
    talk.emit(side, _send_segment(talk, side, payload, opcode=o.READ_REQUEST, queue=1), True)
    stag, to, size = change(stag, to, size)
    segment = _write_segment(
        talk, talk.rng.randbytes(size), opcode=o.READ_RESPONSE, stag=stag, to=to
    )
    return _emitted(talk, 1 - side, segment, True)


@_rule("rdmap-response-stag", (1, 1, 0), **_PLAIN)
def _rdmap_response_stag(talk: Talk) -> Breach:
    return _answered(
        talk, 1, lambda stag, to, size: (stag ^ talk.rng.randrange(1, 1 << 32), to, size)
    )


@_rule("rdmap-response-to", (1, 1, 1), **_PLAIN)
def _rdmap_response_to(talk: Talk) -> Breach:
    return _answered(
        talk, 1, lambda stag, to, size: (stag, to ^ talk.rng.randrange(1, 1 << 50), size)
    )


@_rule("rdmap-response-length", (1, 1, 1), **_PLAIN)
def _rdmap_response_length(talk: Talk) -> Breach:
    def change(stag: int, to: int, size: int) -> tuple[int, int, int]:
        sizes = [n for n in (0, size - 1, size + 1, size + 200) if n >= 0 and n != size]
        return stag, to, talk.rng.choice(sizes)

    return _answered(talk, 0, change)


@_rule("rdmap-immediate-length", (0, 2, 0xFF))
def _rdmap_immediate_length(talk: Talk) -> Breach:
    side, opcode = _side(talk), talk.rng.choice((o.IMMEDIATE, o.IMMEDIATE_SE))
    size = talk.rng.choice([n for n in range(40) if n != 8])
    return _sent(talk, side, talk.rng.randbytes(size), opcode=opcode)


@_rule("rdmap-atomic-length", (0, 2, 0xFF), **_PLAIN)
def _rdmap_atomic_length(talk: Talk) -> Breach:
    side = _with_room(talk)
    if talk.rng.random() < 0.5:
        size = talk.rng.choice([n for n in range(80) if n != 52])
        segment = _send_segment(
            talk, side, talk.rng.randbytes(size), opcode=o.ATOMIC_REQUEST, queue=1
        )
        return _emitted(talk, side, segment, True)
    talk.ask(side, atomic=True)
    size = talk.rng.choice([n for n in range(4, 30) if n != 12])
    payload = talk.asked[side][0][1].to_bytes(4, "big") + talk.rng.randbytes(size - 4)
    talk.asked[side].clear()
    segment = _send_segment(talk, 1 - side, payload, opcode=o.ATOMIC_RESPONSE, queue=3)
    return _emitted(talk, 1 - side, segment, True)


@_rule("rdmap-terminate", None)
def _rdmap_terminate(talk: Talk) -> Breach:
    side = _side(talk)
    wrong = (
        bytes([talk.rng.randint(3, 15) << 4, 0, 0, 0]),  # no such layer
        bytes([talk.rng.randint(4, 15), 0, 0, 0]),  # no such error type of RDMAP
        bytes([0x10 | talk.rng.randint(4, 15), 0, 0, 0]),  # of DDP
        bytes([0x20, talk.rng.randint(8, 255), 0, 0]),  # no such code of MPA
        bytes([0x11, talk.rng.randint(5, 255), 0, 0]),  # of tagged DDP
        b"\x01\x00\x00\x00"[: talk.rng.randrange(4)],
        b"\x11\x00\xc0\x00"
        + b"\x00\x20\xc1\x40"[: talk.rng.randrange(5)],  # says that a header follows
    )
    return _at(talk, talk.say_terminate(side, talk.rng.choice(wrong), False))


@_rule("rdmap-after-terminate", None)
def _rdmap_after_terminate(talk: Talk) -> Breach:
    side = _side(talk)
    talk.say_terminate(side, o.terminate(0, 0, 0), False)
    fpdu = talk.send(side) if talk.rng.random() < 0.5 else talk.write(side)
    return _at(talk, fpdu)


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
    if can_answer and kind.answer and kind.answer != _CLOSED and rng.random() < 0.7:
        segment, read = None, b""
        if kind.answer[0] != 2:
            segment = truth.fpdus[breach.fpdu or 0].ulpdu
            read = segment[18:46] if kind.answer[:2] == (0, 1) else b""
        talk.say_terminate(victim, o.terminate(*kind.answer, segment, read))
    return talk, rng.choice(("fin", "fin", "rst") if name != "mpa-cut" else ("fin",))


NAMES = (*KINDS, "tcp-retransmit-differs")
