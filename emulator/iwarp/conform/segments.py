"""3xx: DDP segments. Source: RFC 5041, 4 to 7."""

from __future__ import annotations

import hashlib

from freezeframe.emulator.iwarp.conform.link import Link
from freezeframe.emulator.iwarp.conform.outcome import FailedError, UnclearError
from freezeframe.emulator.iwarp.conform.requirement import refused, requirement
from freezeframe.emulator.iwarp.conform.trial import Region, Trial
from freezeframe.emulator.iwarp.layout import READ_QUEUE, Opcode, ReadRequest, Segment

NOWHERE = 0xDEADBEEF
"""An STag that no peer is likely to have given out."""
_SINK = ReadRequest(0x5EED, 64, 0, 0, 0).to_bytes()


def pattern(size: int, name: str) -> bytes:
    """Return octets that stand nowhere else, the same for the same name."""
    return hashlib.shake_256(name.encode()).digest(size)


def read_back(link: Link, region: Region, offset: int, size: int) -> bytes:
    """Return octets of the peer's region, by a Read.

    Raises:
        FailedError: it is not answered as it must be.
    """
    link.send_segment(
        link.read_request(ReadRequest(0x5EED, 4096, size, region.stag, region.to + offset))
    )
    octets = b""
    while True:
        outcome = link.response()
        if outcome.segment is None or outcome.kind != "response":
            raise FailedError(f"a Read was not answered: {outcome}")
        segment = outcome.segment
        if (segment.stag, segment.to) != (0x5EED, 4096 + len(octets)):
            raise FailedError(
                f"a Read Response to STag {segment.stag:#x}, TO {segment.to}; asked for 0x5eed, {4096 + len(octets)}"
            )
        octets += segment.payload
        if segment.last:
            return octets


def _write(link: Link, region: Region, offset: int, octets: bytes, **fields: bool) -> Segment:
    return link.tagged(
        Opcode.WRITE, octets, stag=region.stag, to=(region.to + offset) % (1 << 64), **fields
    )


def _zero_read(link: Link, **fields: int) -> Segment:
    return link.segment(Opcode.READ_REQUEST, _SINK, **({"queue": READ_QUEUE} | fields))


refused(
    301,
    "RFC 5041, 4.3; 7",
    "an untagged segment of another DDP version is an error",
    "one of the other version is sent: Terminate (1, 2, 6)",
    lambda trial, link: _zero_read(link, ddp_version=1 - link.version),
    (1, 2, 6),
)


refused(
    302,
    "RFC 5041, 4.2; 7",
    "a tagged segment of another DDP version is an error",
    "one of the other version is sent: Terminate (1, 1, 4)",
    lambda trial, link: link.tagged(Opcode.WRITE, ddp_version=1 - link.version),
    (1, 1, 4),
)


refused(
    303,
    "RFC 5041, 4.3; 7",
    "a queue that does not exist is an error",
    "a segment on queue 77 is sent: Terminate (1, 2, 1)",
    lambda trial, link: link.segment(Opcode.SEND, b"data", queue=77, msn=1),
    (1, 2, 1),
)


refused(
    304,
    "RFC 5041, 4.3; 7",
    "an MSN out of the range of buffers is an error",
    "a Read Request far ahead is sent: Terminate (1, 2, 3), or no buffer (1, 2, 2)",
    lambda trial, link: _zero_read(link, msn=0x40000001),
    (1, 2, 3),
    (1, 2, 2),
)


refused(
    305,
    "RFC 5041, 4.3; 7",
    "an MO that is not the next one is an error",
    "a Read Request with MO 4 is sent: Terminate (1, 2, 4)",
    lambda trial, link: _zero_read(link, mo=4),
    (1, 2, 4),
)


refused(
    306,
    "RFC 5041, 4.3; 7",
    "a message too long for its buffer is an error",
    "a Read Request of 1,024 octets is sent: (1, 2, 5), or RDMAP's (0, 2, 0xff)",
    lambda trial, link: link.segment(Opcode.READ_REQUEST, _SINK + bytes(996), queue=READ_QUEUE),
    (1, 2, 5),
    (0, 2, 0xFF),
)


@requirement(
    307,
    "RFC 5041, 4.1",
    "reserved bits of DDP are not checked",
    "a Read Request with all set is sent; it must be answered",
)
def _reserved(trial: Trial) -> str:
    link = trial.open()
    link.send_segment(_zero_read(link, reserved=15, invalidates=0x12345678))
    return link.alive()


refused(
    308,
    "RFC 5041, 5.2; 7",
    "an STag that is not valid is an error",
    "a Write to an STag that was never given out is sent: Terminate (1, 1, 0)",
    lambda trial, link: link.tagged(Opcode.WRITE, b"data", stag=NOWHERE, to=4096),
    (1, 1, 0),
)


@requirement(
    309,
    "RFC 5041, 5.2",
    "STag and TO of a tagged message of no octets are not checked",
    "such a Write to an STag that was never given out is sent; it must be taken",
)
def _zero_tagged(trial: Trial) -> str:
    link = trial.open()
    link.send_segment(link.tagged(Opcode.WRITE, stag=NOWHERE, to=(1 << 64) - 1))
    return link.alive()


@requirement(
    310,
    "RFC 5041, 5.2; 7",
    "octets behind the end of a buffer are an error",
    "a Write that ends one octet behind the region is sent: Terminate (1, 1, 1)",
    needs="region",
)
def _behind(trial: Trial) -> str:
    link = trial.open()
    region = trial.lent(4)
    return link.refuses(_write(link, region, region.length - 3, b"over"), (1, 1, 1))


@requirement(
    311,
    "RFC 5041, 5.2; 7",
    "octets before the beginning of a buffer are an error",
    "a Write that begins 4 octets before the region is sent: Terminate (1, 1, 1), or (1, 1, 3) where it wraps",
    needs="region",
)
def _before(trial: Trial) -> str:
    link = trial.open()
    region = trial.lent(8)
    wrong = _write(link, region, -4, b"underrun")
    return link.refuses(wrong, (1, 1, 1), *([(1, 1, 3)] if region.to < 4 else []))


refused(
    312,
    "RFC 5041, 5.2; 7",
    "a segment over the end of all offsets is an error",
    "a Write over 2^64 is sent: Terminate (1, 1, 3), or (1, 1, 1) where bounds are checked first",
    lambda trial, link: link.tagged(
        Opcode.WRITE, b"wrapping", stag=trial.lent().stag, to=(1 << 64) - 4
    ),
    (1, 1, 3),
    (1, 1, 1),
    needs="region",
)


@requirement(
    313,
    "RFC 5041, 7",
    "nothing of a segment that is refused is placed",
    "a Write half inside the region is sent; a new connection must read what stood there before",
    needs="region",
)
def _not_placed(trial: Trial) -> str:
    link = trial.open()
    region = trial.lent(64)
    before = pattern(32, "before")
    link.send_segment(_write(link, region, region.length - 32, before))
    link.alive()
    link.send_segment(_write(link, region, region.length - 32, pattern(64, "refused")))
    outcome = link.refusal()
    link.socket.close()
    fresh = trial.open()
    if trial.lent(64).stag != region.stag:
        raise UnclearError("it lends other memory to each connection")
    came = read_back(fresh, trial.lent(64), region.length - 32, 32)
    if came != before:
        raise FailedError(f"octets of a refused Write were placed ({outcome})")
    return f"{outcome}; the region is as before"


@requirement(
    314,
    "RFC 5041, 5.1; RFC 5040, 5.1",
    "what is written stands where it was written to",
    "a Write in five segments is sent, then read back",
    needs="region",
)
def _placed(trial: Trial) -> str:
    link = trial.open()
    size = min(trial.lent(64).length, 5000)
    region, octets, at = trial.lent(64), pattern(size, "placed"), 0
    while at < size:
        step = min(1 + size // 5, size - at)
        link.send_segment(_write(link, region, at, octets[at : at + step], last=at + step == size))
        at += step
    came = read_back(link, region, 0, size)
    if came != octets:
        raise FailedError(f"{len(came)} octets came back, and not those that were written")
    return f"{size} octets came back as written"


@requirement(
    315,
    "RFC 5041, 5.1",
    "an untagged message may come in segments",
    "a Send in three segments is sent; it must be taken",
    needs="receives",
)
def _segments(trial: Trial) -> str:
    link = trial.open()
    room = trial.room_B(3)
    third = min(room // 3, 500)
    for at in range(3):
        link.send_segment(
            link.segment(Opcode.SEND, bytes(third), msn=1, mo=at * third, last=at == 2)
        )
    return link.alive()


@requirement(
    316,
    "RFC 5041, 4.3; 7",
    "the MSN of a Send is the next one",
    "a Send far ahead is sent: Terminate (1, 2, 3), or no buffer (1, 2, 2)",
    needs="receives",
)
def _send_msn(trial: Trial) -> str:
    link = trial.open()
    trial.room_B(4)
    wrong = link.segment(Opcode.SEND, b"data", msn=0x40000001)
    return link.refuses(wrong, (1, 2, 3), (1, 2, 2))


@requirement(
    317,
    "RFC 5041, 4.3; 7",
    "segments of a Send follow one another",
    "its second segment leaves four octets out: Terminate (1, 2, 4)",
    needs="receives",
)
def _send_mo(trial: Trial) -> str:
    link = trial.open()
    trial.room_B(12)
    link.send_segment(link.segment(Opcode.SEND, b"data", msn=1, last=False))
    return link.refuses(link.segment(Opcode.SEND, b"data", msn=1, mo=8), (1, 2, 4))


@requirement(
    318,
    "RFC 5041, 4.3; 7",
    "a Send longer than its buffer is an error",
    "one longer by an octet is sent: Terminate (1, 2, 5)",
    needs="receives",
)
def _send_long(trial: Trial) -> str:
    link = trial.open()
    octets, at = bytes(trial.room_B() + 1), 0
    while at < len(octets):
        step = min(1024, len(octets) - at)
        link.send_segment(
            link.segment(
                Opcode.SEND, octets[at : at + step], msn=1, mo=at, last=at + step == len(octets)
            )
        )
        at += step
    return link.judged((1, 2, 5))
