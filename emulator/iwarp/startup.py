"""The MPA frames with which a connection begins, as bytes and as fields.

Source: RFC 5044, 7.1.1; RFC 6581, 6 and 9 (enhanced data); RFC 5044, appendix C (revision 0).
"""

from __future__ import annotations

import socket
import struct
import time
from dataclasses import dataclass

from freezeframe.emulator.iwarp.errors import PeerGoneError, PeerSilentError, StartupError

REQUEST_KEY = b"MPA ID Req Frame"
REPLY_KEY = b"MPA ID Rep Frame"
HEADER_B = 20
MOST_PRIVATE_B = 512
MARKERS, CRC, REJECT, ENHANCED = 0x80, 0x40, 0x20, 0x10
ULP_NEGOTIATES = 0x3FFF
"""IRD or ORD that leaves the number to the users of the connection."""
SEND, WRITE, READ = 1, 2, 4
"""Ready-to-receive messages of the peer-to-peer model, as bits of `Enhanced.rtr`."""

_HEADER = struct.Struct(">16sBBH")
_ENHANCED = struct.Struct(">HH")


@dataclass(frozen=True, slots=True)
class Enhanced:
    """Enhanced data: reads outstanding that this end takes (``ird``) and wants to send (``ord``), and its model.

    ``rtr``: of the messages SEND, WRITE, READ (of no length), those with which the initiator may begin where
    ``peer_to_peer`` is set.
    """

    ird: int
    ord: int
    peer_to_peer: bool = False
    rtr: int = 0

    def to_bytes(self) -> bytes:
        first = self.ird & 0x3FFF | self.peer_to_peer << 15 | bool(self.rtr & SEND) << 14
        second = self.ord & 0x3FFF | bool(self.rtr & WRITE) << 15 | bool(self.rtr & READ) << 14
        return _ENHANCED.pack(first, second)

    @classmethod
    def of(cls, data: bytes) -> Enhanced:
        first, second = _ENHANCED.unpack(data)
        rtr = SEND * (first >> 14 & 1) | WRITE * (second >> 15) | READ * (second >> 14 & 1)
        return cls(first & 0x3FFF, second & 0x3FFF, bool(first >> 15), rtr)


@dataclass(frozen=True, slots=True)
class StartupFrame:
    """A Request, or a Reply. ``markers``: what its sender wants to receive; ``reserved``: the low bits of the flags."""

    is_reply: bool
    private_data: bytes = b""
    markers: bool = False
    crc: bool = True
    reject: bool = False
    revision: int = 1
    enhanced: Enhanced | None = None
    reserved: int = 0
    key: bytes = b""  # only where it is to be a wrong one

    def to_bytes(self) -> bytes:
        """Return the frame; nothing is checked, so that wrong ones can be sent too."""
        flags = self.reserved & 0x0F | MARKERS * self.markers | CRC * self.crc
        flags |= REJECT * self.reject | ENHANCED * (self.enhanced is not None)
        data = (self.enhanced.to_bytes() if self.enhanced else b"") + self.private_data
        key = self.key or (REPLY_KEY if self.is_reply else REQUEST_KEY)
        return _HEADER.pack(key, flags, self.revision, len(data)) + data


def private_length(header: bytes) -> int:
    """Return how many octets follow the 20 of a frame's header.

    Raises:
        StartupError: the key is none of the two, or there are more octets than allowed.
    """
    key, _, _, length = _HEADER.unpack(header)
    if key not in (REQUEST_KEY, REPLY_KEY):
        raise StartupError(f"no MPA frame: its key is {key!r}", "mpa-key")
    if length > MOST_PRIVATE_B:
        raise StartupError(
            f"an MPA frame with {length} octets of private data; {MOST_PRIVATE_B} are allowed",
            "mpa-private-data-length",
        )
    return int(length)


def parse_frame(data: bytes) -> StartupFrame:
    """Return the fields of a whole frame.

    Raises:
        StartupError: as `private_length`, or enhanced data is cut.
    """
    length = private_length(data[:HEADER_B])
    key, flags, revision, _ = _HEADER.unpack_from(data)
    private = data[HEADER_B : HEADER_B + length]
    enhanced = None
    if flags & ENHANCED and revision >= 2:  # before RFC 6581 the bit is a reserved one
        if length < _ENHANCED.size:
            raise StartupError(
                f"an MPA frame with flag S and {length} octets of private data: "
                f"enhanced data has {_ENHANCED.size}",
                "mpa-enhanced-short",
            )
        enhanced, private = Enhanced.of(private[:4]), private[4:]
    return StartupFrame(
        key == REPLY_KEY, private, bool(flags & MARKERS), bool(flags & CRC), bool(flags & REJECT),
        revision, enhanced, flags & (0x0F if enhanced else 0x1F),
    )  # fmt: skip


def read_frame(connected: socket.socket, limit_s: float) -> StartupFrame:
    """Return the next MPA frame that comes.

    Raises:
        StartupError: what comes is none.
        PeerGoneError: the connection ended before.
        PeerSilentError: it is not there in time, all of it.
    """
    end = time.monotonic() + limit_s
    header = _exactly(connected, HEADER_B, end, limit_s)
    rest = _exactly(connected, private_length(header), end, limit_s)
    return parse_frame(header + rest)


def _exactly(connected: socket.socket, size: int, end: float, limit_s: float) -> bytes:
    got = b""
    while len(got) < size:
        left = end - time.monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            connected.settimeout(left)
            data = connected.recv(size - len(got))
        except TimeoutError:
            raise PeerSilentError(
                f"no MPA frame within {limit_s:g} s: {len(got)} of {size} octets came"
            ) from None
        except OSError as error:
            raise PeerGoneError(f"the connection broke: {error.strerror}") from error
        if not data:
            raise PeerGoneError(
                f"ended after {len(got)} of {size} octets of an MPA frame", inside=bool(got)
            )
        got += data
    return got
