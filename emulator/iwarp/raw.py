"""A peer that says whatever it is told, and shows whatever it hears: for tests of conformance, and for faults.

No state of the protocol is kept but the positions of both streams, which markers need.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from freezeframe.emulator.iwarp.errors import PeerGoneError, PeerSilentError
from freezeframe.emulator.iwarp.fpdu import Fpdu, FpduStream, build_fpdu
from freezeframe.emulator.iwarp.layout import Segment
from freezeframe.emulator.iwarp.startup import StartupFrame, read_frame

_PIECE_B = 1 << 16


class RawPeer:
    """One end of a TCP connection, octet by octet.

    Attributes:
        position: of the next octet of the outgoing stream of FPDUs.
        markers_out, crc_out: how `send_segment` frames; set by `negotiated`, or at will.
    """

    def __init__(self, connected: socket.socket, *, limit_s: float = 5.0) -> None:
        connected.settimeout(limit_s)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = connected
        self.limit_s = limit_s
        self.position = 0
        self.markers_out = False
        self.crc_out = True
        self._incoming = FpduStream(markers=False)
        self._ready: deque[Fpdu] = deque()
        self._held: bytearray | None = None  # what is to go at once

    @classmethod
    def connect(cls, host: str, port: int, *, limit_s: float = 5.0) -> RawPeer:
        """Connect to a listener.

        Raises:
            PeerGoneError: it refuses, or cannot be reached.
            PeerSilentError: it does not answer in time.
        """
        try:
            return cls(socket.create_connection((host, port), limit_s), limit_s=limit_s)
        except TimeoutError as error:
            raise PeerSilentError(
                f"{host}:{port}: no answer to SYN within {limit_s:g} s"
            ) from error
        except OSError as error:
            raise PeerGoneError(f"{host}:{port}: {error.strerror or error}") from error

    def __enter__(self) -> RawPeer:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def negotiated(self, *, markers_out: bool, markers_in: bool, crc: bool) -> None:
        """Say how both streams of FPDUs are framed; what came after the last MPA frame is kept."""
        held = self._incoming.held
        self.markers_out, self.crc_out = markers_out, crc
        self._incoming = FpduStream(markers=markers_in)
        self._ready.extend(self._incoming.feed(held))

    def send(self, octets: bytes, *, counted: bool = True) -> None:
        """Send octets as they are; ``counted``: they are of the stream of FPDUs.

        Raises:
            PeerGoneError: the connection is broken.
            PeerSilentError: they are not taken in time.
        """
        self.position += len(octets) * counted
        if self._held is not None:
            self._held += octets
            return
        try:
            self.socket.sendall(octets)
        except TimeoutError as error:
            raise PeerSilentError(f"takes nothing for {self.limit_s:g} s") from error
        except OSError as error:
            raise PeerGoneError(f"the connection broke: {error.strerror}") from error

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Give what is sent within to TCP in one piece, so that it arrives together; errors as of `send`."""
        self._held = bytearray()
        try:
            yield
        finally:
            held, self._held = self._held, None
        self.send(bytes(held), counted=False)

    def send_frame(self, frame: StartupFrame) -> None:
        """Send an MPA frame; errors as of `send`."""
        self.send(frame.to_bytes(), counted=False)

    def send_segment(self, segment: Segment | bytes) -> bytes:
        """Send a DDP segment, or any ULPDU, framed as negotiated; return the FPDU. Errors as of `send`."""
        ulpdu = segment if isinstance(segment, bytes) else segment.to_bytes()
        fpdu = build_fpdu(ulpdu, position=self.position, markers=self.markers_out, crc=self.crc_out)
        self.send(fpdu)
        return fpdu

    def receive_frame(self) -> StartupFrame:
        """Return the next MPA frame.

        Raises:
            StartupError: what came is none.
            PeerGoneError: the connection ended before.
            PeerSilentError: it did not come in time.
        """
        try:
            return read_frame(self.socket, self.limit_s)
        finally:
            self.socket.settimeout(self.limit_s)

    def receive_fpdu(self) -> Fpdu | None:
        """Return the next FPDU, right or wrong; None where the stream has ended after a whole one.

        Raises:
            PeerGoneError: it ended inside an FPDU, or broke.
            PeerSilentError: it did not come in time.
        """
        while not self._ready:
            data = self._some(_PIECE_B)
            if not data:
                held = len(self._incoming.held)
                if held:
                    raise PeerGoneError(f"ended after {held} octets of an FPDU", inside=True)
                return None
            self._ready.extend(self._incoming.feed(data))
        return self._ready.popleft()

    def end(self) -> None:
        """End the outgoing stream (FIN); what comes can still be received."""
        self.socket.shutdown(socket.SHUT_WR)

    def _some(self, most: int) -> bytes:
        try:
            return self.socket.recv(most)
        except TimeoutError as error:
            raise PeerSilentError(f"says nothing for {self.limit_s:g} s") from error
        except OSError as error:
            raise PeerGoneError(f"the connection broke: {error.strerror}") from error
