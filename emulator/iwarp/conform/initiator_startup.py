"""15x and 16x: how an initiator begins. Source: RFC 5044, 7.1; RFC 6581."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from freezeframe.emulator.iwarp.conform.link import Link, say
from freezeframe.emulator.iwarp.conform.outcome import INITIATOR, FailedError, UnclearError
from freezeframe.emulator.iwarp.conform.requirement import requirement
from freezeframe.emulator.iwarp.conform.responder_startup import closes, in_pieces, startup_head
from freezeframe.emulator.iwarp.conform.trial import Trial
from freezeframe.emulator.iwarp.layout import Opcode, Segment
from freezeframe.emulator.iwarp.startup import (
    READ,
    REPLY_KEY,
    REQUEST_KEY,
    SEND,
    ULP_NEGOTIATES,
    WRITE,
    StartupFrame,
)


def _asked(trial: Trial) -> tuple[Link, StartupFrame]:
    """Return a connection on which the peer has sent its Request."""
    link = trial.link()
    request = trial.frame(link)
    if request.is_reply:
        raise FailedError("a Reply came in place of a Request")
    return link, request


def _answer(trial: Trial, link: Link, request: StartupFrame, **changed: Any) -> None:
    """Answer a Request with the Reply that suits it, but for what is changed."""
    link.send_frame(replace(trial.fit(request), **changed))
    link.negotiated(markers_out=request.markers, markers_in=False, crc=True)


def _answered(trial: Trial, **changed: Any) -> Link:
    """Return a connection on which the peer's Request has got its Reply, with some fields changed."""
    link, request = _asked(trial)
    _answer(trial, link, request, **changed)
    return link


def _first(link: Link) -> Segment:
    """Return the peer's first segment.

    Raises:
        FailedError: it ends the connection. UnclearError: nothing comes.
    """
    outcome = link.hear(link.limit_s, lambda _: True)
    if outcome.kind in ("closed", "reset", "cut"):
        raise FailedError(f"its first FPDU was awaited: {outcome}")
    if outcome.segment is None:
        raise UnclearError(f"its first FPDU was awaited: {outcome}")
    return outcome.segment


def _refuses(link: Link, *causes: tuple[int, int, int]) -> str:
    """See that the peer ends the connection, with one of the Terminates or none, and sends no other FPDU."""
    outcome = link.hear(link.limit_s, lambda _: True)
    if outcome.kind == "response":
        raise FailedError("goes on and sends an FPDU")
    if outcome.kind == "silent":
        raise FailedError("the connection stays open")
    if outcome.cause is not None and outcome.cause not in causes:
        raise FailedError(f"{outcome}; expected {' or '.join(map(say, causes)) or 'no Terminate'}")
    return str(outcome)


def _raw(trial: Trial, octets: bytes) -> str:
    """Answer the Request with octets; see that the peer closes."""
    link, _ = _asked(trial)
    link.send(octets, counted=False)
    return closes(link)


@requirement(
    151,
    "RFC 5044, 7.1.1",
    "an initiator begins with a Request: key, revision, private data as it must be",
    "the peer connects; its first octets must be a Request",
    INITIATOR,
)
def _request(trial: Trial) -> str:
    _, request = _asked(trial)
    if request.revision > 2:
        raise FailedError(f"revision {request.revision}")
    return f"a Request, revision {request.revision}"


@requirement(
    152,
    "RFC 5044, 7.1.1",
    "reserved bits of the Request are 0",
    "the peer connects; its reserved bits must be 0",
    INITIATOR,
)
def _reserved_sent(trial: Trial) -> str:
    _, request = _asked(trial)
    if request.reserved or request.reject:
        raise FailedError(f"reserved bits {request.reserved:#04x}, R {request.reject:d}")
    return "reserved bits 0"


@requirement(
    153,
    "RFC 5044, 7.1.2",
    "an initiator sends no FPDU before the Reply",
    "the Request is not answered for a second; nothing must come",
    INITIATOR,
)
def _waits(trial: Trial) -> str:
    link, _ = _asked(trial)
    link.says_nothing(" before the Reply")
    return "silence"


@requirement(
    154,
    "RFC 5044, 7.1.1",
    "after a Reply that rejects no FPDU is sent",
    "the Reply rejects; no FPDU must come",
    INITIATOR,
)
def _rejected(trial: Trial) -> str:
    _answered(trial, reject=True).says_nothing()
    return "no FPDU"


@requirement(
    155,
    "RFC 5044, 7.1.2",
    "a Reply with a wrong key ends the connection",
    "a Reply with a wrong key is sent; the peer must close",
    INITIATOR,
)
def _key(trial: Trial) -> str:
    return _raw(trial, startup_head(b"MPA ID Rep Fram\xe5"))


@requirement(
    156,
    "RFC 5044, 7.1.1",
    "a Reply of another revision ends the connection",
    "a Reply of revision 200 is sent; the peer must close",
    INITIATOR,
)
def _revision(trial: Trial) -> str:
    return _raw(trial, startup_head(REPLY_KEY, revision=200))


@requirement(
    157,
    "RFC 5044, 7.1.1",
    "PD_Length above 512 ends the connection",
    "a Reply with PD_Length 513 is sent; the peer must close",
    INITIATOR,
)
def _too_much_private(trial: Trial) -> str:
    link, request = _asked(trial)
    flags = 0x40 | 0x10 * (request.enhanced is not None)
    head = startup_head(REPLY_KEY, flags, request.revision, 513)
    link.send(head + bytes(513), counted=False)
    return closes(link)


@requirement(
    158,
    "RFC 5044, 7.1.2",
    "a Request in answer to a Request ends the connection",
    "a Request is sent in place of a Reply; the peer must close",
    INITIATOR,
)
def _two_requests(trial: Trial) -> str:
    link, request = _asked(trial)
    link.send_frame(replace(trial.fit(request), is_reply=False, key=REQUEST_KEY))
    return closes(link)


@requirement(
    159,
    "RFC 5044, 7.1.1",
    "reserved bits of the Reply are not checked",
    "a Reply with all reserved bits set is sent; FPDUs must pass",
    INITIATOR,
)
def _reserved(trial: Trial) -> str:
    link = _answered(trial, reserved=0x0F)
    _first(link)
    return link.alive()


@requirement(
    160,
    "RFC 5044, 7.1.2",
    "a Reply may come in pieces",
    "a Reply is sent octet by octet; FPDUs must pass",
    INITIATOR,
)
def _pieces(trial: Trial) -> str:
    link, request = _asked(trial)
    in_pieces(link, trial.fit(request).to_bytes())
    link.negotiated(markers_out=request.markers, markers_in=False, crc=True)
    _first(link)
    return link.alive()


@requirement(
    161,
    "RFC 5044, 7.1.1",
    "512 octets of private data are taken",
    "a Reply with as many is sent; FPDUs must pass",
    INITIATOR,
)
def _private(trial: Trial) -> str:
    link, request = _asked(trial)
    room = 508 if request.enhanced is not None else 512
    _answer(trial, link, request, private_data=bytes(room))
    _first(link)
    return link.alive()


@requirement(
    162,
    "RFC 5044, 7.1.2",
    "a Reply is not waited for without end",
    "the Request is not answered; the peer should close within --patience",
    INITIATOR,
)
def _silent(trial: Trial) -> str:
    link, _ = _asked(trial)
    return closes(link, trial.subject.patience_s)


@requirement(
    163,
    "RFC 6581, 9.1",
    "a Reply's ORD above the Request's IRD is refused",
    "such a Reply is sent: Terminate (2, 0, 6), or the end",
    INITIATOR,
)
def _ord(trial: Trial) -> str:
    link, request = _asked(trial)
    ours = trial.fit(request).enhanced
    if ours is None or request.enhanced is None:
        raise UnclearError("its Request has no enhanced data")
    if request.enhanced.ird >= ULP_NEGOTIATES - 1:
        raise UnclearError("its Request leaves the IRD open")
    _answer(trial, link, request, enhanced=replace(ours, ord=request.enhanced.ird + 1))
    return _refuses(link, (2, 0, 6))


@requirement(
    164,
    "RFC 6581, 9.1",
    "a Reply of the other model is refused",
    "the Reply's flag A is the opposite: Terminate (2, 0, 7), or the end",
    INITIATOR,
)
def _model(trial: Trial) -> str:
    link, request = _asked(trial)
    ours = trial.fit(request).enhanced
    if ours is None:
        raise UnclearError("its Request has no enhanced data")
    other = replace(ours, peer_to_peer=not ours.peer_to_peer, rtr=0 if ours.peer_to_peer else 7)
    _answer(trial, link, request, enhanced=other)
    return _refuses(link, (2, 0, 7))


@requirement(
    165,
    "RFC 6581, 6",
    "a Reply without the enhanced data of the Request is refused",
    "such a Reply is sent; the peer must end it",
    INITIATOR,
)
def _not_enhanced(trial: Trial) -> str:
    link, request = _asked(trial)
    if request.enhanced is None:
        raise UnclearError("its Request has no enhanced data")
    _answer(trial, link, request, enhanced=None)
    return _refuses(link, (2, 0, 4))


@requirement(
    166,
    "RFC 6581, 9.2",
    "a peer-to-peer initiator begins with an agreed RTR message",
    "each that it offers is taken alone; its first FPDU must be that",
    INITIATOR,
)
def _rtr(trial: Trial) -> str:
    link, request = _asked(trial)
    if request.enhanced is None or not request.enhanced.peer_to_peer:
        raise UnclearError("its Request is not of the peer-to-peer model")
    for number, (bit, opcode) in enumerate(((SEND, 3), (WRITE, 0), (READ, 1))):
        if not request.enhanced.rtr & bit:
            continue
        if number:
            link.socket.close()
            link, request = _asked(trial)
        ours = trial.fit(request).enhanced
        if ours is None:
            raise UnclearError("nothing of enhanced data fits its Request")
        _answer(trial, link, request, enhanced=replace(ours, rtr=bit))
        segment = _first(link)
        empty = not segment.payload or (
            opcode == Opcode.READ_REQUEST and segment.payload[12:16] == bytes(4)
        )
        if segment.opcode != opcode or not empty:
            raise FailedError(
                f"opcode {segment.opcode} with {len(segment.payload)} octets in place of opcode {opcode} with none"
            )
    return "its first FPDU was the agreed one"
