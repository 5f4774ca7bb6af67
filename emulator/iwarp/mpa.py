"""MPA: the two ends agree (startup), and then FPDUs pass over the socket in both directions, independently.

Source: RFC 5044, 7; RFC 6581 (enhanced connection setup); RFC 5044, appendix C (revision 0: the RDMA Consortium's).
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import socket
import struct
from dataclasses import dataclass

import numpy as np

from freezeframe.emulator.iwarp import mpa_receive, mpa_send
from freezeframe.emulator.iwarp.errors import (
    PeerGoneError,
    PeerSilentError,
    RejectedError,
    StartupError,
)
from freezeframe.emulator.iwarp.faults import Order
from freezeframe.emulator.iwarp.quirks import NONE, Quirks
from freezeframe.emulator.iwarp.startup import (
    HEADER_B,
    READ,
    SEND,
    ULP_NEGOTIATES,
    WRITE,
    Enhanced,
    StartupFrame,
    read_frame,
)

LEAST_MULPDU_B, MOST_MULPDU_B = 128, 64_768
_LOOKS = 32  # at the length of TCP's segments


@dataclass(frozen=True, slots=True)
class Options:
    """What one end offers.

    Attributes:
        markers: it wants to receive them; it sends them where the peer wants them.
        crc: False switches the CRC off, where the peer does too.
        revision: of the Request; the highest that a responder takes. 2 has enhanced data, 0 is the RDMA Consortium's.
        ird, ord: reads that it serves at once, and that it sends at once.
        peer_to_peer: either end may send first once the initiator has said that it is ready (revision 2).
        rtr: the messages with which that may be said: SEND, WRITE, READ.
        private_data: for the peer's user, 512 octets at most, of which enhanced data takes 4.
        startup_s: limit for the whole of the other's MPA frame. stall_s: limit for an FPDU to go on, either way.
        mulpdu_B: the longest ULPDU to send; 0: what fits a TCP segment.
        faults, seed: rules to break in what this end sends (`faults`); what they leave to chance follows from the seed.
        quirks: what this end does wrong as a receiver (`quirks`); none but to test who tests it.
        posts_wait: posting waits while the socket is full, for ``stall_s`` at most; False where that is not wanted, as
            in asyncio.
    """

    markers: bool = False
    crc: bool = True
    revision: int = 2
    ird: int = 16
    ord: int = 16
    peer_to_peer: bool = False
    rtr: int = SEND | WRITE | READ
    private_data: bytes = b""
    startup_s: float = 10.0
    stall_s: float = 10.0
    mulpdu_B: int = 0
    posts_wait: bool = True
    faults: tuple[Order, ...] = ()
    seed: int = 1
    quirks: Quirks = NONE

    @property
    def enhanced(self) -> Enhanced | None:
        if self.revision < 2:
            return None
        return Enhanced(self.ird, self.ord, self.peer_to_peer, self.rtr * self.peer_to_peer)


@dataclass(frozen=True, slots=True)
class Negotiated:
    """What both ends agreed on; ``version`` of DDP and RDMAP; ``private_data`` is the peer's."""

    initiator: bool
    markers_out: bool
    markers_in: bool
    crc: bool
    revision: int
    ird: int
    ord: int
    rtr: int
    private_data: bytes

    @property
    def version(self) -> int:
        return 1 if self.revision else 0


def _send_frame(connected: socket.socket, frame: StartupFrame, limit_s: float) -> None:
    connected.settimeout(limit_s)
    try:
        connected.sendall(frame.to_bytes())
    except TimeoutError:
        raise PeerSilentError(f"takes no MPA frame within {limit_s:g} s") from None
    except OSError as error:
        raise PeerGoneError(f"the connection broke: {error.strerror}") from error


def initiate(connected: socket.socket, options: Options) -> Negotiated:
    """Send a Request and await the Reply.

    Raises:
        RejectedError: the Reply rejects.
        StartupError: it is none, or does not fit the Request.
        PeerGoneError, PeerSilentError: it did not come.
    """
    sent = StartupFrame(
        False, options.private_data, options.markers, options.crc, False, options.revision,
        options.enhanced, "reserved-sent" in options.quirks,
    )  # fmt: skip
    _send_frame(connected, sent, options.startup_s)
    came = _taken(connected, options)
    if came is not None and came.reject:
        raise RejectedError(f"rejected: private data {came.private_data!r}", came.private_data)
    try:
        if came is not None:
            return _agree(sent, came, options)
    except StartupError as error:
        if error.rule not in options.quirks.accepts:
            raise
    return Negotiated(
        True, False, options.markers, True, options.revision, options.ird, options.ord, 0, b""
    )  # fmt: skip


def _taken(
    connected: socket.socket, options: Options, *, is_reply: bool = True
) -> StartupFrame | None:
    """Return the peer's MPA frame, which must be a Reply, or a Request; None for a wrong one that a quirk accepts.

    Errors as of `initiate` and `respond`.
    """
    quirks, at_once = options.quirks, HEADER_B
    if "frame-at-once" in quirks:
        connected.settimeout(options.startup_s)
        with contextlib.suppress(OSError):  # told below
            at_once = len(connected.recv(1 << 16, socket.MSG_PEEK))
    try:
        came = read_frame(connected, options.startup_s)
        if came.is_reply and not is_reply:
            raise StartupError("a Reply without a Request", "mpa-two-replies")
        if is_reply and not came.is_reply:
            raise StartupError("the Request is answered by a Request", "mpa-two-requests")
    except StartupError as error:
        if error.rule not in quirks.accepts:
            raise
        return None
    if (
        ("few-private-octets" in quirks and len(came.private_data) > 100)
        or ("reserved-bits" in quirks and came.reserved)
        or at_once < HEADER_B
    ):
        raise StartupError("a frame that this end is set up to refuse")
    return came


def _agree(sent: StartupFrame, came: StartupFrame, options: Options) -> Negotiated:
    """Return what a Request and its Reply come to.

    Raises:
        StartupError: the Reply does not fit the Request.
    """
    if came.revision != options.revision:
        raise StartupError(
            f"revision {came.revision} in the Reply, {options.revision} in the Request",
            "mpa-revision",
        )
    ird, ord_, rtr = options.ird, options.ord, 0
    if sent.enhanced is not None:
        if came.enhanced is None:
            raise StartupError("no enhanced data in the Reply", "mpa-enhanced-mismatch")
        if came.enhanced.peer_to_peer != options.peer_to_peer:
            raise StartupError("the Reply is of the other model", "mpa-model-mismatch")
        if came.enhanced.ord != ULP_NEGOTIATES and came.enhanced.ord > ird:
            raise StartupError(
                f"the Reply's ORD {came.enhanced.ord} is more than the Request's IRD {ird}",
                "mpa-ord-over-ird",
            )
        ord_ = min(ord_, came.enhanced.ird)
        if options.peer_to_peer:
            rtr = came.enhanced.rtr
            if not rtr:
                raise StartupError("the Reply takes no message as ready", "mpa-no-rtr-offered")
            if rtr & ~options.rtr:
                raise StartupError(
                    "the Reply takes messages as ready that were not offered",
                    "mpa-rtr-not-offered",
                )
    return Negotiated(
        True, came.markers, options.markers, options.crc or came.crc, options.revision, ird, ord_,
        rtr, came.private_data,
    )  # fmt: skip


def respond(connected: socket.socket, options: Options, *, reject: bool = False) -> Negotiated:
    """Await a Request and answer it.

    Args:
        reject: answer that the connection is not wanted, with the private data.
    Raises:
        StartupError: what came is no Request that can be served.
        PeerGoneError, PeerSilentError: it did not come.
    """
    came = _taken(connected, options, is_reply=False) or StartupFrame(False)
    if "no-reply" in options.quirks:
        raise StartupError("a Request that this end is set up not to answer")
    if came.revision > options.revision and "mpa-revision" not in options.quirks.accepts:
        raise StartupError(
            f"revision {came.revision} is asked for, {options.revision} is the highest served",
            "mpa-revision",
        )
    ird, ord_, rtr, enhanced = options.ird, options.ord, 0, None
    if came.enhanced is not None:
        theirs = came.enhanced
        if theirs.peer_to_peer:
            rtr = theirs.rtr & options.rtr
            if not rtr:
                raise StartupError("no message is offered as ready", "mpa-no-rtr-offered")
        ord_ = min(ord_, theirs.ird)
        left = -1 if "numbers-always" in options.quirks else ULP_NEGOTIATES  # to the users
        enhanced = Enhanced(
            left if theirs.ord == left else ird,
            left if theirs.ird == left else ord_,
            theirs.peer_to_peer,
            rtr,
        )
    rdmac = came.revision == 0  # markers and CRC are no choice there
    answer = StartupFrame(
        True, options.private_data, options.markers or rdmac, options.crc or came.crc or rdmac,
        reject, came.revision, enhanced, "reserved-sent" in options.quirks,
    )  # fmt: skip
    _send_frame(connected, answer, options.startup_s)
    return Negotiated(
        False, came.markers, answer.markers, answer.crc, came.revision, ird, ord_, rtr,
        came.private_data,
    )  # fmt: skip


def mulpdu(emss_B: int, *, markers: bool) -> int:
    """Return the longest ULPDU whose FPDU fits so many octets of a TCP segment (RFC 5044, 4.5)."""
    marks = 4 * math.ceil(emss_B / 512) if markers else 0
    return min(max(emss_B - (6 + marks + emss_B % 4), LEAST_MULPDU_B), MOST_MULPDU_B)


class MpaStream:
    """The socket of a connection past its startup, and the state of both halves, which the kernels keep."""

    def __init__(self, connected: socket.socket, agreed: Negotiated, options: Options) -> None:
        self.socket = connected
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connected.settimeout(None)
        whole = int(options.stall_s)
        limit = struct.pack("@ll", whole, int((options.stall_s - whole) * 1e6))
        for name in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            connected.setsockopt(socket.SOL_SOCKET, name, limit)
        self.looks = 0 if options.mulpdu_B else _LOOKS
        quirks = options.quirks
        markers = (agreed.markers_out or "always-markers" in quirks) and "no-markers" not in quirks
        self._markers_out = markers
        self.mulpdu_B = options.mulpdu_B
        self.look()
        # One array a kernel where it can be: each costs a tenth of a microsecond a call.
        self.out_words = np.zeros(mpa_send.WORDS, np.int64)
        self.tx = self.out_words[: mpa_send.TX_WORDS]
        self.tx[mpa_send.FD] = connected.fileno()
        self.tx[mpa_send.MARKERS] = markers
        self.tx[mpa_send.CRC] = agreed.crc and "no-crc-sent" not in quirks
        self.out_upper = self.out_words[mpa_send.UPPER : mpa_send.MESSAGE]
        self.heads = np.zeros(mpa_send.HEADS_B, np.uint8)
        self.in_words = np.zeros(mpa_receive.WORDS, np.int64)
        self.rx = self.in_words[: mpa_receive.RX_WORDS]
        self.in_upper = self.in_words[mpa_receive.UPPER : mpa_receive.MESSAGE]
        self.rx[mpa_receive.FD] = connected.fileno()
        self.rx[mpa_receive.MARKERS] = agreed.markers_in
        self.rx[mpa_receive.CRC] = agreed.crc and "no-crc-checked" not in quirks
        self.rx[mpa_receive.STRICT] = quirks.strict
        self.rx[mpa_receive.MOST_B] = 1 << 15 if "short-fpdus" in quirks else MOST_MULPDU_B
        self.memory = np.zeros(mpa_receive.MEMORY_B, np.uint8)

    def look(self) -> int:
        """Return the longest ULPDU that fits a TCP segment now; segments become longer while the window opens."""
        if self.looks:
            self.looks -= 1
            emss_B = self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
            self.mulpdu_B = mulpdu(emss_B, markers=self._markers_out)
        return self.mulpdu_B

    @property
    def inside(self) -> bool:
        """Whether an FPDU has begun to come and is not whole."""
        rx = self.rx
        return bool(rx[mpa_receive.INSIDE] or rx[mpa_receive.STAGED] < rx[mpa_receive.STAGE_END])

    def more(self, limit_s: float) -> bool:
        """Whether something more of the peer is there, or comes in time."""
        return self.inside or bool(select.select([self.socket], [], [], limit_s)[0])

    def send_error(self) -> str:
        return os.strerror(int(self.tx[mpa_send.ERRNO]))

    def receive_error(self) -> str:
        return os.strerror(int(self.rx[mpa_receive.ERRNO]))

    def end_output(self) -> None:
        """Send FIN after what has been handed over."""
        self._shut(socket.SHUT_WR)

    def abort(self) -> None:
        """End both directions: whoever waits for the socket wakes up."""
        self._shut(socket.SHUT_RDWR)

    def drain(self, limit_s: float) -> None:
        """Take and forget what still comes, until FIN or so long; else our last octets could be lost to a reset."""
        self.socket.settimeout(limit_s)
        try:
            while self.socket.recv(1 << 16):
                continue
        except OSError:
            return  # reset, or no end within the limit: there is nobody to whom it matters

    def _shut(self, how: int) -> None:
        try:
            self.socket.shutdown(how)
        except OSError:
            return  # the peer was faster
