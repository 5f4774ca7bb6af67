"""How a stream is broken: the kinds of breaches of a layer, and segments that are legal but for what is changed.

Each kind says what a receiver by the RFCs answers (layer, error type, code; None: nothing), and which other rules a
decoder may name at the same FPDU or behind it, because what follows cannot be right any more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.decoders.iwarp import octets as o
from tests.decoders.iwarp.talk import Talk
from tests.decoders.iwarp.truth import Breach

Answer = tuple[int, int, int] | None
Commit = Callable[[Talk], Breach]
SPACE = 1 << 64
CLOSED = (2, 0, 4)
"""Invalid MPA Request or Reply frame (RFC 5044, 8): the connection ends, and no Terminate is sent."""
PLAIN: dict[str, Any] = {"enhanced": False, "peer_to_peer": False}


@dataclass(frozen=True, slots=True)
class Kind:
    """How a rule is broken. `commit` breaks it and returns the breach; `fixed`: what the conversation must be like."""

    commit: Commit
    answer: Answer
    followers: tuple[str, ...]
    starts: bool  # in the MPA frames: `commit` opens the conversation itself
    fixed: dict[str, Any]


class Kinds(dict[str, Kind]):
    """The kinds of a layer, by the names of the rules they break."""

    def rule(
        self, name: str, answer: Answer, *followers: str, starts: bool = False, **fixed: Any
    ) -> Callable[[Commit], Commit]:
        """Enter a function as what breaks a rule."""

        def enter(commit: Commit) -> Commit:
            self[name] = Kind(commit, answer, followers, starts, fixed)
            return commit

        return enter


def side_of(talk: Talk) -> int:
    return talk.rng.choice([side for side in (0, 1) if talk.may_send[side] and not talk.over[side]])


def at_of(talk: Talk, fpdu: int) -> Breach:
    found = talk.truth.fpdus[fpdu]
    return Breach("", talk.number, found.side, found.header, fpdu)


def in_frame(talk: Talk, side: int, position: int) -> Breach:
    return Breach("", talk.number, side, position)


def _control(talk: Talk, f: dict[str, Any], tagged: bool) -> tuple[int, int]:
    """Return both control octets of a segment, with the versions that it is to say."""
    ddp, rdmap = talk.control(f["last"], f["opcode"], tagged)
    if f["version"] is not None:
        ddp = ddp & ~3 | f["version"]
    if f["rdmap"] is not None:
        rdmap = rdmap & 0x3F | f["rdmap"] << 6
    return ddp, rdmap


def send_segment(talk: Talk, side: int, payload: bytes, **changed: Any) -> bytes:
    """Return a Send of one segment, with some fields changed; MSN is counted."""
    f = dict[str, Any](last=True, opcode=o.SEND, queue=0, mo=0, ulp=0, version=None, rdmap=None)
    f["msn"] = talk.msn[side][changed.get("queue", 0) & 3]
    f |= changed
    control = _control(talk, f, False)
    if f["last"] and f["queue"] < 4:
        talk.msn[side][f["queue"]] = (talk.msn[side][f["queue"]] + 1) & 0xFFFFFFFF
    return o.untagged_segment(control, f["ulp"], f["queue"], f["msn"], f["mo"], payload)


def write_segment(talk: Talk, payload: bytes, **changed: Any) -> bytes:
    """Return a Write of one segment, with some fields changed."""
    stag = talk.stag()
    f = dict[str, Any](last=True, opcode=o.WRITE, stag=stag, to=4096, version=None, rdmap=None)
    f |= changed
    return o.tagged_segment(_control(talk, f, True), f["stag"], f["to"], payload)


def either_segment(talk: Talk, side: int) -> bytes:
    if talk.rng.random() < 0.5:
        return send_segment(talk, side, some(talk, 0))
    return write_segment(talk, some(talk, 0))


def emitted(talk: Talk, side: int, segment: bytes, waits: bool | None = None, **how: Any) -> Breach:
    return at_of(talk, talk.emit(side, segment, waits, **how))


def sent(talk: Talk, side: int, payload: bytes, **changed: Any) -> Breach:
    return emitted(talk, side, send_segment(talk, side, payload, **changed))


def written(talk: Talk, side: int, payload: bytes, **changed: Any) -> Breach:
    return emitted(talk, side, write_segment(talk, payload, **changed))


def asked(talk: Talk, side: int, payload: bytes, opcode: int = o.READ_REQUEST) -> Breach:
    segment = send_segment(talk, side, payload, opcode=opcode, queue=1)
    return emitted(talk, side, segment, True)


def some(talk: Talk, least: int = 1, most: int = 400) -> bytes:
    return talk.rng.randbytes(talk.rng.randint(least, most))


def wrong_version(talk: Talk) -> int:
    right = 0 if talk.shape.revision == 0 else 1
    return talk.rng.choice([version for version in range(4) if version != right])


def second_write(talk: Talk, **changed: Any) -> Breach:
    side, stag, to, data = side_of(talk), talk.stag(), talk.rng.randrange(1 << 40), some(talk)
    talk.emit(side, write_segment(talk, data, last=False, stag=stag, to=to))
    second = {
        "stag": stag ^ changed.get("stag_xor", 0),
        "to": to + len(data) + changed.get("to_step", 0),
    }
    opcode = changed.get("opcode", o.WRITE)
    return written(talk, side, some(talk), opcode=opcode, **second)
