"""2xx: FPDUs. Source: RFC 5044, 4 and 8."""

from __future__ import annotations

import struct
import time

from freezeframe.emulator.iwarp.conform.link import Link
from freezeframe.emulator.iwarp.conform.outcome import RESPONDER, FailedError, UnclearError
from freezeframe.emulator.iwarp.conform.requirement import requirement
from freezeframe.emulator.iwarp.conform.trial import Trial
from freezeframe.emulator.iwarp.errors import PeerGoneError
from freezeframe.emulator.iwarp.fpdu import build_fpdu, with_crc
from freezeframe.emulator.iwarp.layout import Opcode, ReadRequest

_LONG_B = 2999  # the last segment of so many has padding


def _empty_write(link: Link) -> bytes:
    return link.tagged(Opcode.WRITE, stag=0x5EED, to=64).to_bytes()


def _fpdu(link: Link, most_B: int | None = None) -> bytes:
    """Return the next FPDU, with a Write of no octets, or with so much of it."""
    return build_fpdu(
        _empty_write(link)[:most_B],
        position=link.position,
        markers=link.markers_out,
        crc=link.crc_out,
    )


def _refuses_wrong_crc(link: Link) -> str:
    fpdu = bytearray(_fpdu(link))
    fpdu[-1] ^= 0x40
    link.send(bytes(fpdu))
    return link.judged((2, 0, 2))


def _heard(link: Link, trial: Trial) -> None:
    """Let the peer say something of length where it lends memory, else the answer to a Read of no octets."""
    region = trial.region
    if region is not None:
        size = min(_LONG_B, region.length)
        link.send_segment(link.read_request(ReadRequest(0x5EED, 64, size, region.stag, region.to)))
        outcome = link.hear(
            link.limit_s, lambda s: s.tagged and s.last and s.opcode == Opcode.READ_RESPONSE
        )
    else:
        link.ask_nothing()
        outcome = link.response()
    if outcome.kind != "response":
        raise FailedError(f"a Read was not answered: {outcome}")


@requirement(
    201,
    "RFC 5044, 4.4",
    "the CRC of an FPDU is that of its octets, least significant first",
    "a Read is asked for; the CRCs of what comes must be right",
)
def _crc_sent(trial: Trial) -> str:
    link = trial.open()
    _heard(link, trial)
    for fpdu in link.heard:
        if not fpdu.crc_right:
            raise FailedError(f"CRC {fpdu.crc_is:#010x}, expected {fpdu.crc_expected:#010x}")
    return f"right in {len(link.heard)} FPDUs"


@requirement(
    202,
    "RFC 5044, 4.3; 7.1.1",
    "who is asked for markers sends them, and they point to the FPDU's header",
    "markers are asked for, then a Read; they must stand every 512 octets and be right",
)
def _markers_sent(trial: Trial) -> str:
    link = trial.open(markers=True)
    _heard(link, trial)
    seen = 0
    for fpdu in link.heard:
        seen += len(fpdu.pointers)
        if not fpdu.crc_right or not fpdu.markers_right:
            raise FailedError(
                f"an FPDU at position {fpdu.position} is not whole, or its markers point elsewhere"
            )
    return f"{seen} markers in {len(link.heard)} FPDUs, all right"


@requirement(
    203,
    "RFC 5044, 4.3",
    "who is not asked for markers sends none",
    "no markers are asked for; FPDUs must come without",
)
def _no_markers(trial: Trial) -> str:
    link = trial.open()
    _heard(link, trial)
    return f"{len(link.heard)} FPDUs without markers"


@requirement(
    204,
    "RFC 5044, 4.1",
    "padding is zero",
    "a Read is asked for; the padding of what comes must be zero",
)
def _pad(trial: Trial) -> str:
    link = trial.open()
    _heard(link, trial)
    padded = [fpdu for fpdu in link.heard if fpdu.pad]
    for fpdu in padded:
        if any(fpdu.pad):
            raise FailedError(f"padding {fpdu.pad.hex(' ')}")
    if not padded:
        return "no FPDU that came has padding"
    return f"zero in {len(padded)} FPDUs"


@requirement(
    205,
    "RFC 5044, 4.4; 8",
    "an FPDU with a wrong CRC is an error",
    "one is sent: Terminate (2, 0, 2), or silence of hardware that drops it",
)
def _crc_wrong(trial: Trial) -> str:
    return _refuses_wrong_crc(trial.open())


@requirement(
    206,
    "RFC 5044, 7.1.1",
    "CRC is in force in both directions if one end asks for it",
    "no CRC is asked for; where the peer asks for it, an FPDU with a wrong one is refused",
    RESPONDER,
)
def _crc_of_one(trial: Trial) -> str:
    link = trial.open(crc=False)
    if trial.reply is not None and not trial.reply.crc:
        raise UnclearError("the peer does not ask for it either")
    link.send_segment(_empty_write(link))  # the first one is right
    return _refuses_wrong_crc(link)


@requirement(
    207,
    "RFC 5044, 4.3; 8",
    "a marker that does not point to the FPDU's header is an error, where markers are checked",
    "where the peer asks for markers one is sent wrong: Terminate (2, 0, 3)",
)
def _marker_wrong(trial: Trial) -> str:
    link = trial.open()
    if not link.markers_out:
        raise UnclearError("the peer asks for no markers")
    link.send(_marked(link, 0, 64))
    outcome = link.hear(link.quiet_s)
    if outcome.kind == "silent":
        raise UnclearError("not refused; a receiver need not check markers")
    if outcome.kind == "terminate" and outcome.cause != (2, 0, 3):
        raise FailedError(f"{outcome}; expected (2, 0, 0x03)")
    return str(outcome)


def _marked(link: Link, reserved: int, pointer_xor: int) -> bytes:
    """Return FPDUs up to the next with a marker, its fields changed and the CRC right over them."""
    ulpdu, before = _empty_write(link), b""
    while True:  # until one has a marker
        position = link.position + len(before)
        fpdu = bytearray(build_fpdu(ulpdu, position=position, markers=True))
        if -position % 512 < len(fpdu) - 4:
            break
        before += fpdu
    at = -position % 512
    said, pointer = struct.unpack_from(">HH", fpdu, at)
    struct.pack_into(">HH", fpdu, at, said | reserved, pointer ^ pointer_xor)
    return before + with_crc(bytes(fpdu[:-4]))


@requirement(
    208,
    "RFC 5044, 4.3",
    "reserved bits of a marker are not checked",
    "where the peer asks for markers one is sent with all set; it must be taken",
)
def _marker_reserved(trial: Trial) -> str:
    link = trial.open()
    if not link.markers_out:
        raise UnclearError("the peer asks for no markers")
    link.send(_marked(link, 0xFFFF, 3))
    return link.alive()


@requirement(
    209,
    "RFC 5044, 5",
    "an FPDU may come in any pieces",
    "one is sent octet by octet; it must be taken",
)
def _pieces(trial: Trial) -> str:
    link = trial.open()
    for octet in _fpdu(link):
        link.send(bytes([octet]))
        time.sleep(0.002)
    return link.alive()


@requirement(
    210,
    "RFC 5044, 5",
    "several FPDUs may come at once",
    "twenty are sent at once; they must be taken",
)
def _several(trial: Trial) -> str:
    link = trial.open()
    with link.at_once():
        for _ in range(20):
            link.send_segment(_empty_write(link))
    return link.alive()


@requirement(
    211,
    "RFC 5044, 4.1; 8",
    "a ULPDU too short for a DDP header is an error",
    "one of 6 octets is sent; it must be refused",
)
def _short(trial: Trial) -> str:
    link = trial.open()
    link.send(_fpdu(link, 6))
    outcome = link.refusal()
    if outcome.kind == "silent":
        raise UnclearError("silence")
    if outcome.cause is not None and outcome.cause[0] == 0:
        raise FailedError(f"{outcome}: it never reached RDMAP")
    return str(outcome)


@requirement(
    212,
    "RFC 5044, 8",
    "a connection that ends inside an FPDU is over, and others live on",
    "half an FPDU is sent and the stream ended; the peer must close, and take a new one",
)
def _cut(trial: Trial) -> str:
    link = trial.open()
    octets = _fpdu(link)
    link.send(octets[: len(octets) // 2])
    link.end()
    if not link.gone():
        raise FailedError("the connection stays open")
    return f"closed; a new one: {trial.open().alive()}"


@requirement(
    213,
    "RFC 5044, 4.1",
    "an FPDU of the greatest length is taken",
    "a Write of a ULPDU of 64,768 octets, or as long as the region, is sent; it must be taken",
    needs="region",
)
def _longest(trial: Trial) -> str:
    link = trial.open()
    region = trial.lent()
    size = min(64_768 - 14, region.length)
    write = link.tagged(Opcode.WRITE, bytes(size), stag=region.stag, to=region.to)
    try:
        link.send_segment(write)
    except PeerGoneError as error:
        raise FailedError(f"not taken: {error}") from error
    return f"{size + 14} octets {link.alive()}"
