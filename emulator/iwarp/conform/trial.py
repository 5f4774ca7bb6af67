"""One requirement's trial: connections to the peer, in the role that it leaves us."""

from __future__ import annotations

import socket
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from freezeframe.emulator.iwarp.conform.link import Link, Record
from freezeframe.emulator.iwarp.conform.outcome import (
    INITIATOR,
    RESPONDER,
    FailedError,
    UnclearError,
)
from freezeframe.emulator.iwarp.errors import IwarpError, StartupError
from freezeframe.emulator.iwarp.service import Hello
from freezeframe.emulator.iwarp.startup import Enhanced, StartupFrame


class Region(NamedTuple):
    """Memory of the peer that may be read and written for this."""

    stag: int
    to: int
    length: int


@dataclass(slots=True)
class Subject:
    """The peer under test, and how long it is waited for.

    Attributes:
        host, port: where it listens; with `server`, which is ours, it connects.
        limit_s: for an answer. quiet_s: how long nothing must come for it to count as silence. patience_s: for the
            peer's own time limits.
        region: memory that it lends, if any; without it that which its private data tells, as of `freezeframe iwarp`.
        receive_B: octets of the buffers that it has for Sends; 0: it awaits none.
    """

    host: str = ""
    port: int = 0
    server: socket.socket | None = None
    limit_s: float = 5.0
    quiet_s: float = 0.3
    patience_s: float = 15.0
    region: Region | None = None
    receive_B: int = 0

    @property
    def role(self) -> str:
        """The peer's role in MPA."""
        return INITIATOR if self.server else RESPONDER


@dataclass(slots=True)
class Trial:
    """The connections of one requirement."""

    subject: Subject
    records: list[Record] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    region: Region | None = None
    request: StartupFrame | None = None  # of an initiator
    reply: StartupFrame | None = None  # of a responder

    def link(self) -> Link:
        """Return a new TCP connection.

        Raises:
            UnclearError: the peer refuses it, or does not connect.
        """
        subject = self.subject
        try:
            if subject.server is not None:
                subject.server.settimeout(subject.limit_s)
                connected = subject.server.accept()[0]
            else:
                connected = socket.create_connection((subject.host, subject.port), subject.limit_s)
        except OSError as error:
            how = "did not connect" if subject.server else "cannot be reached"
            raise UnclearError(f"the peer {how}: {error.strerror or error}") from error
        ours, theirs = connected.getsockname()[:2], connected.getpeername()[:2]
        record = Record(ours, theirs, subject.server is None)
        self.records.append(record)
        link = Link(connected, record, subject.limit_s, subject.quiet_s)
        self.links.append(link)
        return link

    def close(self) -> None:
        """Close all connections."""
        for link in self.links:
            link.socket.close()

    def ask(self, link: Link, **changed: Any) -> None:
        """Send a Request: revision 1, no markers, CRC on, but for what is changed."""
        link.send_frame(StartupFrame(False, **changed))

    def frame(self, link: Link) -> StartupFrame:
        """Return the peer's MPA frame.

        Raises:
            FailedError: what came is none, or nothing came.
        """
        try:
            return link.receive_frame()
        except (IwarpError, StartupError) as error:
            raise FailedError(f"no MPA frame: {error}") from error

    def fit(self, request: StartupFrame) -> StartupFrame:
        """Return the Reply that suits a Request."""
        enhanced = None
        if request.enhanced is not None:
            theirs = request.enhanced
            enhanced = Enhanced(theirs.ord, min(theirs.ird, 16), theirs.peer_to_peer, theirs.rtr)
        return StartupFrame(True, revision=request.revision, enhanced=enhanced)

    def open(self, markers: bool = False, **changed: Any) -> Link:
        """Return a connection past its startup, whose both ends may send FPDUs.

        `changed`: fields of our MPA frame. Where the peer is the initiator, its first FPDU is awaited.

        Raises:
            FailedError: the peer does not answer as it must. UnclearError: it says nothing to begin with.
        """
        link = self.link()
        if self.subject.role == RESPONDER:
            self.ask(link, markers=markers, **changed)
            theirs = self.reply = self.frame(link)
            if not theirs.is_reply:
                raise FailedError("answered by a Request")
            if theirs.reject:
                raise UnclearError("the Reply rejects the connection")
            ours_crc = changed.get("crc", True)
        else:
            theirs = self.request = self.frame(link)
            ours = replace(self.fit(theirs), markers=markers, **changed)
            link.send_frame(ours)
            ours_crc = ours.crc
        self.region = self.subject.region
        hello = Hello.of(theirs.private_data)
        if self.region is None and hello is not None:
            self.region = Region(hello.stag, 0, hello.length)
        link.version = 1 if theirs.revision else 0
        link.negotiated(markers_out=theirs.markers, markers_in=markers, crc=theirs.crc or ours_crc)
        if self.subject.role == INITIATOR:
            outcome = link.hear(self.subject.limit_s, lambda _: True)
            if outcome.kind != "response":
                raise UnclearError(f"its first FPDU was awaited: {outcome}")
        return link

    def room_B(self, least_B: int = 1) -> int:
        """Return the octets of the peer's buffers for Sends.

        Raises:
            UnclearError: it has none, or smaller ones.
        """
        if self.subject.receive_B < least_B:
            raise UnclearError("the peer is not known to await Sends: give --receive-B")
        return self.subject.receive_B

    def lent(self, least_B: int = 1) -> Region:
        """Return the region of the peer.

        Raises:
            UnclearError: it lends none, or a smaller one.
        """
        if self.region is None:
            raise UnclearError("no memory of the peer is known: give --region")
        if self.region.length < least_B:
            raise UnclearError(f"its region has {self.region.length} octets; {least_B} are needed")
        return self.region
