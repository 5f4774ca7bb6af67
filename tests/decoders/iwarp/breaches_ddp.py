"""Breaches of DDP: a function for each rule, by its name in the decoder's table."""

from __future__ import annotations

from tests.decoders.iwarp.breaking import (
    SPACE,
    Kinds,
    second_write,
    send_segment,
    sent,
    side_of,
    some,
    written,
    wrong_version,
)
from tests.decoders.iwarp.talk import Talk
from tests.decoders.iwarp.truth import Breach

KINDS = Kinds()


@KINDS.rule("ddp-version-tagged", (1, 1, 4))
def _ddp_version_tagged(talk: Talk) -> Breach:
    return written(talk, side_of(talk), some(talk, 0), version=wrong_version(talk))


@KINDS.rule("ddp-version-untagged", (1, 2, 6))
def _ddp_version_untagged(talk: Talk) -> Breach:
    side = side_of(talk)
    return sent(talk, side, some(talk, 0), version=wrong_version(talk))


@KINDS.rule("ddp-queue", (1, 2, 1), "rdmap-queue")
def _ddp_queue(talk: Talk) -> Breach:
    side = side_of(talk)
    queue = talk.rng.choice((4, talk.rng.randrange(4, 1 << 32), 0xFFFFFFFF))
    return sent(talk, side, some(talk, 0), queue=queue, msn=1)


@KINDS.rule("ddp-msn", (1, 2, 3))
def _ddp_msn(talk: Talk) -> Breach:
    side = side_of(talk)
    step = talk.rng.choice((1, 2, -1, talk.rng.randrange(1, 1 << 32)))
    msn = (talk.msn[side][0] + step) & 0xFFFFFFFF
    return sent(talk, side, some(talk, 0), msn=msn)


@KINDS.rule("ddp-mo", (1, 2, 4))
def _ddp_mo(talk: Talk) -> Breach:
    side = side_of(talk)
    first = some(talk)
    if talk.rng.random() < 0.5:
        return sent(talk, side, first, mo=talk.rng.randrange(1, 1 << 24))
    talk.emit(side, send_segment(talk, side, first, last=False))
    wrong = talk.rng.choice((0, len(first) + 1, len(first) - 1, talk.rng.randrange(500, 1 << 24)))
    return sent(talk, side, some(talk), mo=wrong)


@KINDS.rule("ddp-to-wrap", (1, 1, 3))
def _ddp_to_wrap(talk: Talk) -> Breach:
    data = some(talk, 2)
    to = SPACE - talk.rng.randint(1, len(data) - 1)
    return written(talk, side_of(talk), data, to=to)


@KINDS.rule("ddp-to", (1, 1, 1))
def _ddp_to(talk: Talk) -> Breach:
    return second_write(talk, to_step=talk.rng.choice((1, 4, talk.rng.randrange(1, 1 << 40))))


@KINDS.rule("ddp-stag-changes", (1, 1, 0))
def _ddp_stag_changes(talk: Talk) -> Breach:
    return second_write(talk, stag_xor=talk.rng.randrange(1, 1 << 32))


@KINDS.rule("ddp-interleaved", (1, 2, 3), "ddp-msn", "ddp-mo")
def _ddp_interleaved(talk: Talk) -> Breach:
    side = side_of(talk)
    talk.emit(side, send_segment(talk, side, some(talk), last=False))
    talk.msn[side][0] = (talk.msn[side][0] + 1) & 0xFFFFFFFF
    return sent(talk, side, some(talk, 0))


@KINDS.rule(
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
    first, second = some(talk), some(talk)
    at = (1 << 32) - len(first) - talk.rng.randint(1, len(second))
    msn = talk.rng.randrange(1 << 32)
    talk.emit(side, send_segment(talk, side, first, last=False, mo=at, msn=msn))
    return sent(talk, side, second, mo=(at + len(first)) & 0xFFFFFFFF, msn=msn)
