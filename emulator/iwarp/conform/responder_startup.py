"""1xx: how a responder begins. Source: RFC 5044, 7.1; RFC 6581; RFC 5044, appendix C."""

from __future__ import annotations

import struct
import time
from functools import partial
from typing import Any

from freezeframe.emulator.iwarp.conform.link import Link, say
from freezeframe.emulator.iwarp.conform.outcome import RESPONDER, FailedError, UnclearError
from freezeframe.emulator.iwarp.conform.requirement import requirement
from freezeframe.emulator.iwarp.conform.trial import Trial
from freezeframe.emulator.iwarp.layout import Opcode, Segment
from freezeframe.emulator.iwarp.startup import (
    READ,
    REPLY_KEY,
    REQUEST_KEY,
    SEND,
    ULP_NEGOTIATES,
    WRITE,
    Enhanced,
    StartupFrame,
)

_FORMS = {SEND: "Send", WRITE: "RDMA Write", READ: "RDMA Read"}


def closes(link: Link, limit_s: float | None = None) -> str:
    """See that the peer ends the connection and says no MPA frame nor anything else before.

    Raises:
        FailedError: it says something, or does not close.
    """
    before = len(link.record.said)
    if not link.gone(limit_s):
        raise FailedError("the connection stays open")
    came = b"".join(s.octets for s in link.record.said[before:] if s.kind == "came")
    if came:
        raise FailedError(f"answered with {len(came)} octets: {came[:20].hex(' ')}")
    return "closed without an answer"


def _refused(trial: Trial, octets: bytes) -> str:
    """See that the peer closes upon octets in place of a Request."""
    link = trial.link()
    link.send(octets, counted=False)
    return closes(link)


def startup_head(
    key: bytes = REQUEST_KEY, flags: int = 0x40, revision: int = 1, length: int = 0
) -> bytes:
    """Return the first 20 octets of an MPA frame, right or wrong."""
    return key + struct.pack(">BBH", flags, revision, length)


def in_pieces(link: Link, octets: bytes) -> None:
    """Send an MPA frame octet by octet."""
    for octet in octets:
        link.send(bytes([octet]), counted=False)
        time.sleep(0.002)


def _asked(trial: Trial, **changed: Any) -> tuple[Link, StartupFrame]:
    """Send a Request on a new connection; return that and what comes in answer."""
    link = trial.link()
    trial.ask(link, **changed)
    return link, trial.frame(link)


@requirement(
    101,
    "RFC 5044, 7.1.1",
    "a valid Request is answered by a Reply, with its key",
    "a Request of revision 1 is sent; a Reply must come",
    RESPONDER,
)
def _reply(trial: Trial) -> str:
    _, reply = _asked(trial)
    if not reply.is_reply:
        raise FailedError("answered by a Request")
    return f"a Reply, revision {reply.revision}"


@requirement(
    102,
    "RFC 5044, 7.1.1",
    "the Reply has the revision of the Request",
    "a Request of revision 1 is sent; the Reply must say 1",
    RESPONDER,
)
def _revision(trial: Trial) -> str:
    _, reply = _asked(trial)
    if reply.revision != 1:
        raise FailedError(f"the Reply says revision {reply.revision}")
    return "revision 1"


@requirement(
    103,
    "RFC 5044, 7.1.1",
    "reserved bits of the Reply are 0",
    "a Request is sent; the Reply's reserved bits must be 0",
    RESPONDER,
)
def _reserved_sent(trial: Trial) -> str:
    _, reply = _asked(trial)
    if reply.reserved:
        raise FailedError(f"reserved bits {reply.reserved:#04x}")
    return "reserved bits 0"


@requirement(
    104,
    "RFC 5044, 7.1.1",
    "512 octets of private data are taken",
    "a Request with 512 octets is sent; a Reply must come, and FPDUs pass",
    RESPONDER,
)
def _private(trial: Trial) -> str:
    return trial.open(private_data=bytes(range(256)) * 2).alive()


@requirement(
    105,
    "RFC 5044, 7.1.1",
    "reserved bits of the Request are not checked",
    "a Request with all reserved bits set is sent; a Reply must come, and FPDUs pass",
    RESPONDER,
)
def _reserved(trial: Trial) -> str:
    link = trial.link()
    link.send(startup_head(flags=0x5F), counted=False)
    reply = trial.frame(link)
    link.negotiated(markers_out=reply.markers, markers_in=False, crc=True)
    return link.alive()


@requirement(
    106,
    "RFC 5044, 7.1.2",
    "a Request may come in pieces",
    "a Request is sent octet by octet; a Reply must come",
    RESPONDER,
)
def _pieces(trial: Trial) -> str:
    link = trial.link()
    in_pieces(link, StartupFrame(False, b"in pieces").to_bytes())
    if not trial.frame(link).is_reply:
        raise FailedError("answered by a Request")
    return "a Reply"


@requirement(
    107,
    "RFC 5044, 7.1.2",
    "a wrong key ends the connection",
    "a Request with a wrong key is sent; the peer must close, and not reply",
    RESPONDER,
)
def _key(trial: Trial) -> str:
    return _refused(trial, startup_head(key=b"MPA ID Req Fram\xe5"))


@requirement(
    108,
    "RFC 5044, 7.1.2",
    "a responder sends no FPDU before it has received one",
    "after the Reply nothing is sent; nothing must come",
    RESPONDER,
)
def _waits(trial: Trial) -> str:
    link = trial.open()
    link.says_nothing(" before any FPDU was sent")
    return "silence"


@requirement(
    109,
    "RFC 5044, 7.1.1",
    "a revision that is not known ends the connection",
    "a Request of revision 200 is sent; the peer must close, and not reply",
    RESPONDER,
)
def _unknown_revision(trial: Trial) -> str:
    return _refused(trial, startup_head(revision=200))


@requirement(
    110,
    "RFC 5044, 7.1.1",
    "PD_Length above 512 ends the connection",
    "a Request with PD_Length 513 is sent; the peer must close, and not reply",
    RESPONDER,
)
def _too_much_private(trial: Trial) -> str:
    return _refused(trial, startup_head(length=513) + bytes(513))


@requirement(
    111,
    "RFC 5044, 7.1.2",
    "a Reply without a Request ends the connection",
    "a Reply is sent in place of a Request; the peer must close, and not reply",
    RESPONDER,
)
def _two_replies(trial: Trial) -> str:
    return _refused(trial, startup_head(key=REPLY_KEY))


@requirement(
    112,
    "RFC 5044, 7.1.2",
    "a peer that says nothing is not waited for without end",
    "nothing is sent; the peer should close within --patience",
    RESPONDER,
)
def _silent(trial: Trial) -> str:
    return closes(trial.link(), trial.subject.patience_s)


@requirement(
    113,
    "RFC 5044, 7.1.2",
    "a Request that does not end is not waited for without end",
    "half a Request is sent; the peer should close within --patience",
    RESPONDER,
)
def _half(trial: Trial) -> str:
    link = trial.link()
    link.send(startup_head()[:11], counted=False)
    return closes(link, trial.subject.patience_s)


@requirement(
    114,
    "RFC 5044, 7.1.1",
    "CRC is on, but by request of an administrator",
    "a Request without C is sent; the Reply must have C",
    RESPONDER,
)
def _crc_on(trial: Trial) -> str:
    _, reply = _asked(trial, crc=False)
    if not reply.crc:
        raise FailedError("C is 0 in the Reply")
    return "C is 1 in the Reply"


@requirement(
    115,
    "RFC 6581, 6",
    "a Request without enhanced data gets a Reply without",
    "a Request of revision 2 without S is sent; the Reply must have no S",
    RESPONDER,
)
def _not_enhanced(trial: Trial) -> str:
    try:
        _, reply = _asked(trial, revision=2)
    except FailedError as error:
        raise UnclearError(f"revision 2 is not taken: {error}") from error
    if reply.enhanced is not None:
        raise FailedError("the Reply has S")
    return "no S in the Reply"


def _enhanced(trial: Trial, ours: Enhanced) -> tuple[Link, Enhanced]:
    """Ask with enhanced data; return the link and the Reply's.

    Raises:
        UnclearError: the peer does not know RFC 6581.
    """
    try:
        link, reply = _asked(trial, revision=2, enhanced=ours)
    except FailedError as error:
        raise UnclearError(f"no answer to enhanced data: {error}") from error
    if reply.enhanced is None:
        raise FailedError("the Reply has no enhanced data")
    link.negotiated(markers_out=reply.markers, markers_in=False, crc=True)
    return link, reply.enhanced


@requirement(
    116,
    "RFC 6581, 6",
    "a Request with enhanced data gets a Reply with it",
    "a Request of revision 2 with S is sent; the Reply must have S",
    RESPONDER,
)
def _is_enhanced(trial: Trial) -> str:
    _, theirs = _enhanced(trial, Enhanced(4, 4))
    return f"IRD {theirs.ird}, ORD {theirs.ord}"


@requirement(
    117,
    "RFC 6581, 9.1",
    "the Reply's ORD is not above the Request's IRD",
    "a Request with IRD 1 is sent; the Reply's ORD must be 1 at most",
    RESPONDER,
)
def _ord(trial: Trial) -> str:
    _, theirs = _enhanced(trial, Enhanced(1, 1))
    if theirs.ord > 1:
        raise FailedError(f"ORD {theirs.ord} against an IRD of 1")
    return f"ORD {theirs.ord}"


@requirement(
    118,
    "RFC 6581, 9.1",
    "the Reply has the control flag A of the Request",
    "Requests with A 0 and 1 are sent; the Replies must say the same",
    RESPONDER,
)
def _model(trial: Trial) -> str:
    for peer_to_peer in (False, True):
        _, theirs = _enhanced(trial, Enhanced(4, 4, peer_to_peer, 7 * peer_to_peer))
        if theirs.peer_to_peer != peer_to_peer:
            raise FailedError(f"A is {int(theirs.peer_to_peer)} in answer to {int(peer_to_peer)}")
    return "A as in the Request"


@requirement(
    119,
    "RFC 6581, 9.2",
    "the Reply takes one or more of the RTR messages that were offered",
    "each alone is offered; the Reply must take it, and no other",
    RESPONDER,
)
def _rtr(trial: Trial) -> str:
    for bit, name in _FORMS.items():
        _, theirs = _enhanced(trial, Enhanced(4, 4, True, bit))
        if theirs.rtr != bit:
            taken = [form for b, form in _FORMS.items() if theirs.rtr & b]
            raise FailedError(f"{name} was offered; taken: {', '.join(taken) or 'none'}")
    return "each is taken"


@requirement(
    120,
    "RFC 6581, 9.1",
    "an IRD or ORD of 0x3FFF is answered by the same",
    "a Request with 0x3FFF for both is sent; the Reply must say so too",
    RESPONDER,
)
def _unlimited(trial: Trial) -> str:
    _, theirs = _enhanced(trial, Enhanced(ULP_NEGOTIATES, ULP_NEGOTIATES))
    if (theirs.ird, theirs.ord) != (ULP_NEGOTIATES, ULP_NEGOTIATES):
        raise FailedError(f"IRD {theirs.ird:#x}, ORD {theirs.ord:#x}")
    return "0x3fff both"


@requirement(
    121,
    "RFC 6581, 9",
    "flag S with less than four octets ends the connection",
    "a Request with S and PD_Length 3 is sent; the peer must close, and not reply",
    RESPONDER,
)
def _enhanced_short(trial: Trial) -> str:
    return _refused(trial, startup_head(flags=0x50, revision=2, length=3) + bytes(3))


@requirement(
    122,
    "RFC 5044, C",
    "revision 0 is answered as revision 0, with markers and CRC, or not at all",
    "a Request of revision 0 is sent; a Reply must say 0, M and C",
    RESPONDER,
)
def _revision_0(trial: Trial) -> str:
    try:
        _, reply = _asked(trial, revision=0, markers=True)
    except FailedError:
        return "not answered"
    if reply.revision != 0 or not reply.markers or not reply.crc:
        raise FailedError(f"revision {reply.revision}, M {reply.markers:d}, C {reply.crc:d}")
    return "revision 0, markers and CRC"


@requirement(
    123,
    "RFC 6581, 9.2",
    "a first FPDU that is none of the agreed RTR messages is refused",
    "Write is agreed; a Read of no octets is sent: Terminate (2, 0, 7), or the end",
    RESPONDER,
)
def _no_rtr(trial: Trial) -> str:
    link, _ = _enhanced(trial, Enhanced(4, 4, True, WRITE))
    link.ask_nothing()
    outcome = link.refusal()
    if outcome.kind == "silent":
        raise UnclearError("silence")
    if outcome.cause not in (None, (2, 0, 7)):
        raise FailedError(f"{outcome}; expected {say((2, 0, 7))}")
    return str(outcome)


def _begun(trial: Trial, bit: int) -> str:
    """See that the peer takes an RTR message."""
    link, theirs = _enhanced(trial, Enhanced(4, 4, True, bit))
    if not theirs.rtr & bit:
        raise UnclearError(f"the peer does not take {_FORMS[bit]}")
    if bit == WRITE:
        link.send_segment(Segment(Opcode.WRITE, tagged=True))
    elif bit == SEND:
        link.send_segment(link.segment(Opcode.SEND))
    return link.alive()


for _number, _bit, _what, _then in (
    (124, WRITE, "an RDMA Write", "and sent; FPDUs must pass then"),
    (125, SEND, "a Send", "and sent; FPDUs must pass then"),
    (126, READ, "an RDMA Read", "and sent; its Response must come"),
):
    requirement(
        _number,
        "RFC 6581, 9.2",
        f"{_what} of no octets says that the initiator is ready",
        f"it is agreed {_then}",
        RESPONDER,
    )(partial(_begun, bit=_bit))
