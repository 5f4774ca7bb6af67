"""4xx: RDMAP messages. Source: RFC 5040, 4 to 7."""

from __future__ import annotations

import struct

from freezeframe.emulator.iwarp.conform.link import Link
from freezeframe.emulator.iwarp.conform.outcome import FailedError, UnclearError
from freezeframe.emulator.iwarp.conform.requirement import refused, requirement
from freezeframe.emulator.iwarp.conform.segments import NOWHERE, pattern, read_back
from freezeframe.emulator.iwarp.conform.trial import Trial
from freezeframe.emulator.iwarp.layout import (
    ATOMIC_QUEUE,
    READ_QUEUE,
    TERMINATE_QUEUE,
    Opcode,
    ReadRequest,
    Segment,
    terminate_payload,
)

_SINK = ReadRequest(0x5EED, 64, 0, 0, 0)
_UNEXPECTED = (0, 2, 6)


refused(
    401,
    "RFC 5040, 4.1; 7.1",
    "a message of another RDMAP version is an error",
    "a Read Request of the other version is sent: Terminate (0, 2, 5)",
    lambda trial, link: link.read_request(_SINK, rdmap_version=1 - link.version),
    (0, 2, 5),
)


refused(
    402,
    "RFC 5040, 4.1; 7.1",
    "an opcode that is reserved is an error",
    "opcode 15 is sent on the queue of Reads: Terminate (0, 2, 6)",
    lambda trial, link: link.segment(15, _SINK.to_bytes(), queue=READ_QUEUE),
    _UNEXPECTED,
)


@requirement(
    403,
    "RFC 5040, 4.1",
    "reserved bits of RDMAP are not checked",
    "a Read Request with all set is sent; it must be answered",
)
def _reserved(trial: Trial) -> str:
    link = trial.open()
    link.send_segment(link.read_request(_SINK, rdmap_reserved=3))
    outcome = link.response()
    if outcome.kind != "response":
        raise FailedError(f"not accepted: {outcome}")
    return "answered"


@requirement(
    404,
    "RFC 5040, 4.5; 5.2",
    "a Read of no octets is answered by a Response of no octets, to STag and TO as asked",
    "one of an STag that was never given out is sent; its Response must come",
)
def _zero_read(trial: Trial) -> str:
    link = trial.open()
    link.send_segment(link.read_request(ReadRequest(0x1234, 77, 0, NOWHERE, 5)))
    outcome = link.response()
    if outcome.segment is None or outcome.kind != "response":
        raise FailedError(f"no Response: {outcome}")
    segment = outcome.segment
    if segment.payload or not segment.last:
        raise FailedError(f"a Response of {len(segment.payload)} octets, L {segment.last:d}")
    if (segment.stag, segment.to) != (0x1234, 77):
        raise FailedError(f"a Response to STag {segment.stag:#x}, TO {segment.to}")
    return "a Response of no octets"


@requirement(
    405,
    "RFC 5040, 5.2",
    "Reads are answered in the order in which they were asked",
    "three are sent at once; their Responses must come in that order",
)
def _order(trial: Trial) -> str:
    link = trial.open()
    sinks = [100, 200, 300]
    with link.at_once():
        for sink in sinks:
            link.ask_nothing(sink, sink)
    came: list[int] = []
    for _ in sinks:
        outcome = link.response()
        if outcome.segment is None or outcome.kind != "response":
            raise FailedError(f"{len(came)} of {len(sinks)} Responses: {outcome}")
        came.append(outcome.segment.stag)
    if came != sinks:
        raise FailedError(f"Responses to STags {came}; asked for {sinks}")
    return "in order"


refused(
    406,
    "RFC 5040, 5.2; 7.1",
    "a Read from an STag that is not valid is an error",
    "one is sent: Terminate (0, 1, 0)",
    lambda trial, link: link.read_request(ReadRequest(0x5EED, 64, 8, NOWHERE, 0)),
    (0, 1, 0),
)


@requirement(
    407,
    "RFC 5040, 5.2; 7.1",
    "a Read behind the end of a buffer is an error",
    "one that ends an octet behind the region is sent: Terminate (0, 1, 1)",
    needs="region",
)
def _source_bounds(trial: Trial) -> str:
    link = trial.open()
    region = trial.lent(8)
    behind = ReadRequest(0x5EED, 64, 8, region.stag, region.to + region.length - 7)
    return link.refuses(link.read_request(behind), (0, 1, 1))


refused(
    408,
    "RFC 5040, 5.2; 7.1",
    "a Read over the end of all offsets is an error",
    "one over 2^64 is sent: Terminate (0, 1, 4), or (0, 1, 1) where bounds are checked first",
    lambda trial, link: link.read_request(
        ReadRequest(0x5EED, 64, 8, trial.lent().stag, (1 << 64) - 4)
    ),
    (0, 1, 4),
    (0, 1, 1),
    needs="region",
)


@requirement(
    409,
    "RFC 5040, 4.5; 5.2",
    "a Response has as many octets as were asked for, the right ones, to STag and offsets in turn",
    "4,000 octets, or the region, are written and read",
    needs="region",
)
def _read(trial: Trial) -> str:
    link = trial.open()
    region = trial.lent(64)
    size = min(4000, region.length)
    octets = pattern(size, "read")
    for at in range(0, size, 1000):
        piece = octets[at : at + 1000]
        link.send_segment(
            link.tagged(
                Opcode.WRITE, piece, stag=region.stag, to=region.to + at, last=at + 1000 >= size
            )
        )
    for first, count in ((0, size), (size // 3, size // 2)):
        came = read_back(link, region, first, count)
        if came != octets[first : first + count]:
            raise FailedError(f"{len(came)} octets of {count} came, or others")
    return f"{size} octets, and a part of them"


refused(
    410,
    "RFC 5040, 4.4",
    "a Read Request has 28 octets",
    "one of 27 is sent; it must be refused by a Terminate",
    lambda trial, link: link.segment(Opcode.READ_REQUEST, _SINK.to_bytes()[:27], queue=READ_QUEUE),
)


refused(
    411,
    "RFC 5040, 5.2; 7.1",
    "a Read Response that was not asked for is an error",
    "one is sent: Terminate (0, 2, 6), or (1, 1, 0)",
    lambda trial, link: link.tagged(Opcode.READ_RESPONSE, b"data", stag=NOWHERE, to=4096),
    _UNEXPECTED,
    (1, 1, 0),
)


refused(
    412,
    "RFC 5040, 4.1; 7.1",
    "a Write is tagged",
    "one is sent untagged: Terminate (0, 2, 6)",
    lambda trial, link: link.segment(Opcode.WRITE, _SINK.to_bytes(), queue=READ_QUEUE),
    _UNEXPECTED,
)


refused(
    413,
    "RFC 5040, 4.1; 7.1",
    "a Send is untagged",
    "one of no octets is sent tagged: Terminate (0, 2, 6)",
    lambda trial, link: link.tagged(Opcode.SEND),
    _UNEXPECTED,
)


refused(
    414,
    "RFC 5040, 4.1; 7.1",
    "a Read Request belongs on queue 1",
    "one is sent on queue 3: Terminate (0, 2, 6), or DDP's (1, 2, 1) or (1, 2, 2)",
    lambda trial, link: link.segment(Opcode.READ_REQUEST, _SINK.to_bytes(), queue=ATOMIC_QUEUE),
    _UNEXPECTED,
    (1, 2, 1),
    (1, 2, 2),
)


@requirement(
    415,
    "RFC 5040, 5.3; 7.1",
    "a Send cannot invalidate an STag that is not the stream's",
    "one with an STag that was never given out is sent: Terminate (0, 1, 9)",
    needs="receives",
)
def _invalidate(trial: Trial) -> str:
    link = trial.open()
    trial.room_B()
    return link.refuses(link.segment(Opcode.SEND_INVALIDATE, invalidates=NOWHERE), (0, 1, 9))


def _terminated(link: Link, segment: Segment) -> Segment:
    """Let the peer refuse a segment; return its Terminate."""
    link.send_segment(segment)
    outcome = link.refusal()
    if outcome.segment is None or outcome.kind != "terminate":
        raise UnclearError(str(outcome))
    return outcome.segment


@requirement(
    416,
    "RFC 5040, 4.8",
    "a Terminate is one segment on queue 2 with MSN 1 and MO 0, and as long as it says",
    "an error is made; the Terminate's fields must be right",
)
def _layout(trial: Trial) -> str:
    link = trial.open()
    told = _terminated(link, link.segment(Opcode.SEND, b"data", queue=77, msn=1))
    place = (told.queue, told.msn, told.mo, told.last)
    if place != (TERMINATE_QUEUE, 1, 0, True):
        raise FailedError(f"queue, MSN, MO, L are {place}")
    if len(told.payload) < 4:
        raise FailedError(f"{len(told.payload)} octets")
    if told.payload[0] >> 4 > 2:
        raise FailedError(f"layer {told.payload[0] >> 4}: there are 0, 1 and 2")
    flags = told.payload[2]
    if flags & 0x1F or told.payload[3]:
        raise FailedError(f"reserved bits {flags & 0x1F:#x} {told.payload[3]:#x}")
    if flags & 0x40 and not flags & 0x80:
        raise FailedError("a DDP header, and no length before it")
    header = (14 if told.payload[6] & 0x80 else 18) if flags & 0x40 and len(told.payload) > 6 else 0
    expected = 4 + 2 * bool(flags & 0xC0) + header + 28 * bool(flags & 0x20)
    if len(told.payload) != expected:
        raise FailedError(f"{len(told.payload)} octets; by its flags it has {expected}")
    return f"{len(told.payload)} octets, flags {flags:#04x}"


def _tells(told: Segment, segment: Segment) -> None:
    """See that a Terminate holds the length and the DDP header of the segment that was wrong."""
    octets = segment.to_bytes()
    if told.payload[2] & 0xC0 != 0xC0:
        raise FailedError(
            f"flags {told.payload[2]:#04x}: the header of the wrong segment is not told"
        )
    (length,) = struct.unpack_from(">H", told.payload, 4)
    if length != len(octets):
        raise FailedError(f"DDP segment length {length}; it had {len(octets)} octets")
    if told.payload[6 : 6 + len(segment.header)] != segment.header:
        raise FailedError(
            f"DDP header {told.payload[6 : 6 + len(segment.header)].hex(' ')} is not that of the segment"
        )


@requirement(
    417,
    "RFC 5040, 4.8; RFC 5041, 7",
    "a Terminate for an error of DDP tells the header and the length of the segment",
    "a segment on queue 77 is sent; both must stand in the Terminate",
)
def _tells_ddp(trial: Trial) -> str:
    link = trial.open()
    segment = link.segment(Opcode.SEND, b"some data", queue=77, msn=1)
    _tells(_terminated(link, segment), segment)
    return "header and length as sent"


@requirement(
    418,
    "RFC 5040, 4.8",
    "a Terminate for a Read that was refused tells its Read Request",
    "a Read from an STag never given out is sent; its 28 octets must stand in the Terminate",
)
def _tells_read(trial: Trial) -> str:
    link = trial.open()
    request = ReadRequest(0x5EED, 64, 8, NOWHERE, 0)
    segment = link.read_request(request)
    told = _terminated(link, segment)
    _tells(told, segment)
    if not told.payload[2] & 0x20 or told.payload[24:52] != request.to_bytes():
        raise FailedError(f"flags {told.payload[2]:#04x}: the Read Request is not told as sent")
    return "the Read Request as sent"


@requirement(
    419,
    "RFC 5041, 7; RFC 5040, 7",
    "after an error nothing more is delivered",
    "a wrong segment and a Read are sent at once; the Read must not be answered",
)
def _nothing_more(trial: Trial) -> str:
    link = trial.open()
    wrong = link.segment(Opcode.SEND, b"data", queue=77, msn=1)
    with link.at_once():
        link.send_segment(wrong)
        link.ask_nothing()
    outcome = link.response(max(1.0, link.quiet_s))
    if outcome.kind == "response":
        raise FailedError("the Read behind it was answered")
    if outcome.kind == "terminate":
        after = link.response(link.quiet_s)
        if after.kind == "response":
            raise FailedError("the Read behind it was answered after the Terminate")
    return str(outcome)


@requirement(
    420,
    "RFC 5040, 5.4; 7.2",
    "after its Terminate a peer sends nothing more, and closes",
    "an error is made; behind the Terminate the end must come, and nothing else",
)
def _ends(trial: Trial) -> str:
    link = trial.open()
    _terminated(link, link.segment(Opcode.SEND, b"data", queue=77, msn=1))
    outcome = link.hear(link.limit_s, lambda _: True)
    if outcome.kind in ("response", "terminate"):
        raise FailedError(
            f"opcode {outcome.segment.opcode if outcome.segment else 0} behind the Terminate"
        )
    if outcome.kind == "silent":
        raise FailedError("the connection stays open")
    return f"then {'the end' if outcome.kind == 'closed' else outcome}"


@requirement(
    421,
    "RFC 5040, 5.4; 7.2",
    "who gets a Terminate closes, and sends none",
    "a Terminate is sent; the end must come, and no Terminate",
)
def _gets_terminate(trial: Trial) -> str:
    link = trial.open()
    link.send_segment(
        link.segment(Opcode.TERMINATE, terminate_payload((0, 0, 0)), queue=TERMINATE_QUEUE)
    )
    return _only_ends(link)


def _only_ends(link: Link) -> str:
    """See that the peer ends the connection, and sends no Terminate."""
    outcome = link.hear(link.limit_s)
    if outcome.kind == "silent":
        raise FailedError("the connection stays open")
    if outcome.kind == "terminate":
        raise FailedError(str(outcome))
    return "the end"


@requirement(
    422,
    "RFC 5044, 8; RFC 5040, 6",
    "a stream that ends after a whole FPDU is answered by the end",
    "the stream is ended; the peer must end its own",
)
def _closes(trial: Trial) -> str:
    link = trial.open()
    link.alive()
    link.end()
    return _only_ends(link)


@requirement(
    423,
    "RFC 5040, 7.1",
    "an error is told by a Terminate before the end",
    "a segment on queue 77 is sent; a Terminate must come, and not the end alone",
)
def _tells_error(trial: Trial) -> str:
    link = trial.open()
    link.send_segment(link.segment(Opcode.SEND, b"data", queue=77, msn=1))
    outcome = link.refusal()
    if outcome.kind != "terminate":
        raise FailedError(str(outcome))
    return str(outcome)
