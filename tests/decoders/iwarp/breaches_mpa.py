"""Breaches of MPA, the start-up frames and the FPDUs: a function for each rule, by its name in the decoder's table."""

from __future__ import annotations

from typing import Any

from tests.decoders.iwarp import octets as o
from tests.decoders.iwarp.breaking import (
    CLOSED,
    PLAIN,
    Kinds,
    at_of,
    either_segment,
    emitted,
    in_frame,
    send_segment,
    side_of,
    some,
    write_segment,
)
from tests.decoders.iwarp.talk import UNLIMITED, Talk
from tests.decoders.iwarp.truth import Breach

KINDS = Kinds()
_ENHANCED: dict[str, Any] = {"starts": True, "revision": 2, "enhanced": True}


def _requested(talk: Talk, **changed: Any) -> Breach:
    return in_frame(talk, talk.first, talk.request(**changed))


def _replied(talk: Talk, **changed: Any) -> Breach:
    return in_frame(talk, 1 - talk.first, talk.reply(**changed))


@KINDS.rule("mpa-key", CLOSED, starts=True)
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


@KINDS.rule("mpa-private-data-length", CLOSED, starts=True)
def _mpa_private_data_length(talk: Talk) -> Breach:
    length = talk.rng.choice(
        (513, talk.rng.randint(513, 1500), talk.rng.randint(513, 65535), 65535)
    )
    private = talk.private(0)[:4] + talk.rng.randbytes(
        talk.rng.choice((0, min(length, 1500)) if length < 1600 else (0, 600))
    )
    return _request_or_reply(talk, private=private, pd_length=length)


@KINDS.rule("mpa-revision", CLOSED, "mpa-enhanced-mismatch", starts=True)
def _mpa_revision(talk: Talk) -> Breach:
    if talk.rng.random() < 0.4:
        return _requested(talk, revision=talk.rng.randint(3, 255))
    talk.request()
    other = talk.rng.choice([r for r in (0, 1, 2, 3, 200) if r != talk.shape.revision])
    return _replied(talk, revision=other)


@KINDS.rule("mpa-two-requests", CLOSED, starts=True)
def _mpa_two_requests(talk: Talk) -> Breach:
    talk.request()
    position = talk.frame(
        1 - talk.first, o.REQUEST_KEY, talk.flags(1, False), talk.private(1), waits=True
    )
    return in_frame(talk, 1 - talk.first, position)


@KINDS.rule("mpa-two-replies", CLOSED, starts=True)
def _mpa_two_replies(talk: Talk) -> Breach:
    side = talk.rng.randrange(2)
    return in_frame(talk, side, talk.frame(side, o.REPLY_KEY, talk.flags(1, True), talk.private(1)))


@KINDS.rule("mpa-responder-first", CLOSED, starts=True, peer_to_peer=False)
def _mpa_responder_first(talk: Talk) -> Breach:
    talk.request()
    talk.reply()
    side = 1 - talk.first
    fpdu = talk.emit(side, either_segment(talk, side), False)
    talk.may_send[side] = True
    talk.shape.messages += 1
    talk.ready()
    return at_of(talk, fpdu)


@KINDS.rule("mpa-initiator-early", CLOSED, starts=True, **PLAIN)
def _mpa_initiator_early(talk: Talk) -> Breach:
    talk.request()
    talk.agree()
    fpdu = talk.emit(talk.first, send_segment(talk, talk.first, some(talk, 0)), False)
    talk.reply()
    return at_of(talk, fpdu)


@KINDS.rule("mpa-enhanced-mismatch", CLOSED, starts=True, revision=2)
def _mpa_enhanced_mismatch(talk: Talk) -> Breach:
    flags = talk.flags(0, False)
    talk.request(flags=flags)
    flags = talk.flags(1, True) ^ o.ENHANCED
    return _replied(talk, flags=flags, private=talk.private(1) or bytes(4))


@KINDS.rule("mpa-enhanced-short", CLOSED, **_ENHANCED)
def _mpa_enhanced_short(talk: Talk) -> Breach:
    return _request_or_reply(talk, private=talk.rng.randbytes(talk.rng.randrange(4)))


def _controls(a: int, bits: int, ird: int, order: int) -> bytes:
    return o.enhanced(a << 15 | (bits & 4) << 12 | ird, (bits & 3) << 14 | order)


@KINDS.rule(
    "mpa-model-mismatch", (2, 0, 7), "mpa-no-rtr-offered", "mpa-rtr-not-offered", **_ENHANCED
)
def _mpa_model_mismatch(talk: Talk) -> Breach:
    asked = talk.rng.randrange(2)
    talk.request(private=_controls(asked, 7 * asked, 4, 4))
    return _replied(talk, private=_controls(1 - asked, 7 * (1 - asked), 4, 4))


@KINDS.rule("mpa-no-rtr-offered", (2, 0, 7), "mpa-rtr-not-offered", "mpa-rtr-missing", **_ENHANCED)
def _mpa_no_rtr_offered(talk: Talk) -> Breach:
    if talk.rng.random() < 0.5:
        return _requested(talk, private=_controls(1, 0, 4, 4))
    talk.request(private=_controls(1, talk.rng.randint(1, 7), 4, 4))
    return _replied(talk, private=_controls(1, 0, 4, 4))


@KINDS.rule("mpa-rtr-not-offered", (2, 0, 7), "mpa-rtr-missing", **_ENHANCED)
def _mpa_rtr_not_offered(talk: Talk) -> Breach:
    offered = talk.rng.randint(1, 6)
    taken = talk.rng.choice([bits for bits in range(1, 8) if not bits & offered])
    talk.request(private=_controls(1, offered, 4, 4))
    return _replied(talk, private=_controls(1, taken, 4, 4))


@KINDS.rule("mpa-rtr-missing", (2, 0, 7), **_ENHANCED, peer_to_peer=True)
def _mpa_rtr_missing(talk: Talk) -> Breach:
    talk.request()
    talk.reply()
    agreed = talk.shape.rtr[1]
    side = talk.first
    wrong = [
        lambda: send_segment(talk, side, some(talk)),
        lambda: write_segment(talk, some(talk)),
    ]
    if not agreed & 4:
        wrong.append(lambda: send_segment(talk, side, b""))
    if not agreed & 2:
        wrong.append(lambda: write_segment(talk, b""))
    return emitted(talk, side, talk.rng.choice(wrong)(), True)


@KINDS.rule("mpa-ord-over-ird", (2, 0, 6), **_ENHANCED)
def _mpa_ord_over_ird(talk: Talk) -> Breach:
    a = int(talk.shape.peer_to_peer)
    ird = talk.rng.randint(0, 100)
    order = talk.rng.choice((ird + 1, talk.rng.randint(ird + 1, UNLIMITED - 1)))
    talk.request(private=_controls(a, 7 * a, ird, 1))
    return _replied(talk, private=_controls(a, 7 * a, 16, order))


# MPA, FPDUs


@KINDS.rule("mpa-crc", (2, 0, 2), revision=1, wants_crc=(True, False))
def _mpa_crc(talk: Talk) -> Breach:
    side = side_of(talk)
    fpdu = talk.emit(side, either_segment(talk, side), crc_xor=1)
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
    return at_of(talk, fpdu)


@KINDS.rule("mpa-marker", (2, 0, 3), revision=1, wants_markers=(True, True))
def _mpa_marker(talk: Talk) -> Breach:
    side = side_of(talk)
    segment = write_segment(talk, talk.rng.randbytes(talk.rng.randint(520, 3000)))
    marker = talk.rng.randrange(len(segment) // 512)
    return emitted(talk, side, segment, pointer_xor=(marker, 4 * talk.rng.randrange(1, 1 << 14)))


@KINDS.rule("mpa-length", (2, 0, 3), "mpa-marker")  # pointers of 16 bits do not reach back that far
def _mpa_length(talk: Talk) -> Breach:
    side = side_of(talk)
    choice = talk.rng.randrange(3)
    if choice == 0:
        segment = write_segment(talk, b"")[: talk.rng.randint(2, 13)]
    elif choice == 1:
        segment = send_segment(talk, side, b"")[: talk.rng.randint(14, 17)]
    else:
        segment = write_segment(talk, talk.rng.randbytes(talk.rng.randint(64_769, 65_535) - 14))
    return emitted(talk, side, segment)


@KINDS.rule("mpa-pad", None)
def _mpa_pad(talk: Talk) -> Breach:
    side = side_of(talk)
    segment = write_segment(
        talk, talk.rng.randbytes(4 * talk.rng.randrange(100) + talk.rng.choice((1, 2, 3)))
    )
    pad = bytearray(-(2 + len(segment)) % 4)
    if not pad:
        segment += b"x"
        pad = bytearray(-(2 + len(segment)) % 4)
    pad[talk.rng.randrange(len(pad))] = talk.rng.randint(1, 255)
    return emitted(talk, side, segment, pad=bytes(pad))


@KINDS.rule("mpa-cut", (2, 0, 1))
def _mpa_cut(talk: Talk) -> Breach:
    side = side_of(talk)
    fpdu = talk.emit(side, write_segment(talk, some(talk)))
    found, sender = talk.truth.fpdus.pop(), talk.senders[side]
    del fpdu
    left = talk.rng.randint(1, found.end - found.begin - 1)
    del sender.data[len(sender.data) - (found.end - found.begin) + left :]
    s, begin, _, waits = talk.steps[-1]
    talk.steps[-1] = (s, begin, begin + left, waits)
    talk.over[0] = talk.over[1] = True
    return Breach("", talk.number, side, found.header)
