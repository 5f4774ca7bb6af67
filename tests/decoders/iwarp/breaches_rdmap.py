"""Breaches of RDMAP: a function for each rule, by its name in the decoder's table."""

from __future__ import annotations

from collections.abc import Callable

from tests.decoders.iwarp import octets as o
from tests.decoders.iwarp.breaking import (
    PLAIN,
    SPACE,
    Kinds,
    asked,
    at_of,
    emitted,
    second_write,
    send_segment,
    sent,
    side_of,
    some,
    write_segment,
    written,
    wrong_version,
)
from tests.decoders.iwarp.talk import Talk
from tests.decoders.iwarp.truth import Breach

KINDS = Kinds()


@KINDS.rule("rdmap-version", (0, 2, 5))
def _rdmap_version(talk: Talk) -> Breach:
    side, wrong = side_of(talk), wrong_version(talk)
    if talk.rng.random() < 0.5:
        return written(talk, side, some(talk, 0), rdmap=wrong)
    return sent(talk, side, some(talk, 0), rdmap=wrong)


@KINDS.rule("rdmap-opcode", (0, 2, 6), "ddp-msn")
def _rdmap_opcode(talk: Talk) -> Breach:
    side, opcode = side_of(talk), talk.rng.randint(12, 15)
    if talk.rng.random() < 0.3:
        return written(talk, side, some(talk, 0), opcode=opcode)
    return sent(talk, side, some(talk, 0), opcode=opcode)


@KINDS.rule("rdmap-opcode-changes", (0, 2, 6), "rdmap-response-unasked")
def _rdmap_opcode_changes(talk: Talk) -> Breach:
    if talk.rng.random() < 0.3:
        return second_write(talk, opcode=o.READ_RESPONSE)
    side, first = side_of(talk), some(talk)
    talk.emit(side, send_segment(talk, side, first, last=False))
    opcode = talk.rng.choice((o.SEND_INV, o.SEND_SE, o.SEND_SE_INV))
    return sent(talk, side, some(talk), mo=len(first), opcode=opcode)


@KINDS.rule("rdmap-tagged", (0, 2, 6), "rdmap-queue", "rdmap-response-unasked", "ddp-msn")
def _rdmap_tagged(talk: Talk) -> Breach:
    side = side_of(talk)
    if talk.rng.random() < 0.5:
        opcode = talk.rng.choice((o.SEND, o.SEND_INV, o.SEND_SE, o.SEND_SE_INV))
        return written(talk, side, some(talk, 0), opcode=opcode)
    return sent(talk, side, some(talk, 0), opcode=o.WRITE)


@KINDS.rule("rdmap-queue", (0, 2, 6), "rdmap-read-request", "rdmap-response-unasked", "ddp-msn")
def _rdmap_queue(talk: Talk) -> Breach:
    side = side_of(talk)
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
    payload = o.read_request(1, 2, 3, 4, 5) if opcode == o.READ_REQUEST else some(talk, 0)
    return sent(talk, side, payload, opcode=opcode, queue=queue)


def _with_room(talk: Talk) -> int:
    """Return a side that may ask, with nothing outstanding."""
    talk.settle()
    return talk.rng.choice(
        [s for s in (0, 1) if talk.may_send[s] and not talk.over[s] and talk.limit(s)]
    )


@KINDS.rule("rdmap-read-request", (0, 2, 0xFF), **PLAIN)
def _rdmap_read_request(talk: Talk) -> Breach:
    side = _with_room(talk)
    right = o.read_request(7, 4096, 100, 9, 4096)
    payload = (
        right[: talk.rng.randrange(28)] if talk.rng.random() < 0.5 else right + some(talk, 1, 40)
    )
    return asked(talk, side, payload)


def _read_that_wraps(talk: Talk, source: bool) -> Breach:
    side = _with_room(talk)
    size = talk.rng.randint(2, 1 << 31)
    wrong, right = SPACE - talk.rng.randint(1, size - 1), talk.rng.randrange(1 << 40)
    payload = o.read_request(7, right if source else wrong, size, 9, wrong if source else right)
    return asked(talk, side, payload)


@KINDS.rule("rdmap-read-source-wrap", (0, 1, 4), **PLAIN)
def _rdmap_read_source_wrap(talk: Talk) -> Breach:
    return _read_that_wraps(talk, True)


@KINDS.rule("rdmap-read-sink-wrap", (0, 1, 4), **PLAIN)
def _rdmap_read_sink_wrap(talk: Talk) -> Breach:
    return _read_that_wraps(talk, False)


@KINDS.rule("rdmap-ord", (1, 2, 2), revision=2, enhanced=True, rtr=(7, 6), ird=(3, 2), ord=(2, 3))
def _rdmap_ord(talk: Talk) -> Breach:
    side = _with_room(talk)
    for _ in range(talk.limit(side)):
        talk.ask(side)
    return at_of(talk, talk.ask(side))


@KINDS.rule("rdmap-response-unasked", (0, 2, 6), **PLAIN)
def _rdmap_response_unasked(talk: Talk) -> Breach:
    talk.settle()
    side = side_of(talk)
    if talk.rng.random() < 0.3:
        payload = talk.rng.randbytes(12)
        return sent(talk, side, payload, opcode=o.ATOMIC_RESPONSE, queue=3)
    return written(talk, side, some(talk, 0), opcode=o.READ_RESPONSE)


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
    talk.emit(side, send_segment(talk, side, payload, opcode=o.READ_REQUEST, queue=1), True)
    stag, to, size = change(stag, to, size)
    segment = write_segment(
        talk, talk.rng.randbytes(size), opcode=o.READ_RESPONSE, stag=stag, to=to
    )
    return emitted(talk, 1 - side, segment, True)


@KINDS.rule("rdmap-response-stag", (1, 1, 0), **PLAIN)
def _rdmap_response_stag(talk: Talk) -> Breach:
    return _answered(
        talk, 1, lambda stag, to, size: (stag ^ talk.rng.randrange(1, 1 << 32), to, size)
    )


@KINDS.rule("rdmap-response-to", (1, 1, 1), **PLAIN)
def _rdmap_response_to(talk: Talk) -> Breach:
    return _answered(
        talk, 1, lambda stag, to, size: (stag, to ^ talk.rng.randrange(1, 1 << 50), size)
    )


@KINDS.rule("rdmap-response-length", (1, 1, 1), **PLAIN)
def _rdmap_response_length(talk: Talk) -> Breach:
    def change(stag: int, to: int, size: int) -> tuple[int, int, int]:
        sizes = [n for n in (0, size - 1, size + 1, size + 200) if n >= 0 and n != size]
        return stag, to, talk.rng.choice(sizes)

    return _answered(talk, 0, change)


@KINDS.rule("rdmap-immediate-length", (0, 2, 0xFF))
def _rdmap_immediate_length(talk: Talk) -> Breach:
    side, opcode = side_of(talk), talk.rng.choice((o.IMMEDIATE, o.IMMEDIATE_SE))
    size = talk.rng.choice([n for n in range(40) if n != 8])
    return sent(talk, side, talk.rng.randbytes(size), opcode=opcode)


@KINDS.rule("rdmap-atomic-length", (0, 2, 0xFF), **PLAIN)
def _rdmap_atomic_length(talk: Talk) -> Breach:
    side = _with_room(talk)
    if talk.rng.random() < 0.5:
        size = talk.rng.choice([n for n in range(80) if n != 52])
        segment = send_segment(
            talk, side, talk.rng.randbytes(size), opcode=o.ATOMIC_REQUEST, queue=1
        )
        return emitted(talk, side, segment, True)
    talk.ask(side, atomic=True)
    size = talk.rng.choice([n for n in range(4, 30) if n != 12])
    payload = talk.asked[side][0][1].to_bytes(4, "big") + talk.rng.randbytes(size - 4)
    talk.asked[side].clear()
    segment = send_segment(talk, 1 - side, payload, opcode=o.ATOMIC_RESPONSE, queue=3)
    return emitted(talk, 1 - side, segment, True)


@KINDS.rule("rdmap-terminate", None)
def _rdmap_terminate(talk: Talk) -> Breach:
    side = side_of(talk)
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
    return at_of(talk, talk.say_terminate(side, talk.rng.choice(wrong), False))


@KINDS.rule("rdmap-after-terminate", None)
def _rdmap_after_terminate(talk: Talk) -> Breach:
    side = side_of(talk)
    talk.say_terminate(side, o.terminate(0, 0, 0), False)
    fpdu = talk.send(side) if talk.rng.random() < 0.5 else talk.write(side)
    return at_of(talk, fpdu)
