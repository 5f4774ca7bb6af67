"""A connection to the peer under test: what is said on it is kept, and what comes is put into words."""

from __future__ import annotations

import itertools
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from freezeframe.emulator.iwarp.conform.outcome import FailedError, UnclearError
from freezeframe.emulator.iwarp.errors import PeerGoneError, PeerSilentError
from freezeframe.emulator.iwarp.fpdu import Fpdu
from freezeframe.emulator.iwarp.layout import (
    READ_QUEUE,
    Opcode,
    ReadRequest,
    Segment,
    terminate_cause,
)
from freezeframe.emulator.iwarp.raw import RawPeer

OPENED, SENT, CAME, ENDED, RESET, CLOSED = "opened", "sent", "came", "ended", "reset", "closed"


@dataclass(frozen=True, slots=True)
class Said:
    """Something on the wire. `kind`: OPENED, SENT or CAME with octets, ENDED (its FIN), RESET, CLOSED (our end)."""

    t_ns: int
    kind: str
    octets: bytes = b""


@dataclass(slots=True)
class Record:
    """All that passed on one connection. Addresses: ours, the peer's; `opener` is True where we connected."""

    ours: tuple[str, int]
    theirs: tuple[str, int]
    opener: bool
    said: list[Said] = field(default_factory=list)
    note: str = ""

    def add(self, kind: str, octets: bytes = b"") -> None:
        self.said.append(Said(time.time_ns(), kind, octets))


class RecordedSocket:
    """A socket whose octets are written down as they pass."""

    def __init__(self, connected: socket.socket, record: Record) -> None:
        self._socket, self._record = connected, record
        record.add(OPENED)

    def sendall(self, octets: bytes) -> None:
        self._record.add(SENT, bytes(octets))
        self._socket.sendall(octets)

    def recv(self, most: int) -> bytes:
        try:
            got = self._socket.recv(most)
        except TimeoutError:
            raise
        except OSError:
            self._record.add(RESET)
            raise
        self._record.add(CAME if got else ENDED, got)
        return got

    def close(self) -> None:
        self._record.add(CLOSED)
        self._socket.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._socket, name)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the peer did. `kind`: terminate, response, closed, reset, cut (closed inside an FPDU), silent."""

    kind: str
    fpdu: Fpdu | None = None
    segment: Segment | None = None

    @property
    def cause(self) -> tuple[int, int, int] | None:
        if self.kind != "terminate" or self.segment is None:
            return None
        try:
            return terminate_cause(self.segment.payload)
        except ValueError:
            return None

    def __str__(self) -> str:
        if self.kind == "terminate":
            return "Terminate " + (say(self.cause) if self.cause else "that is cut")
        return {
            "response": "answered a Read behind it, as if all were right",
            "closed": "closed without a Terminate",
            "reset": "reset the connection without a Terminate",
            "cut": "closed inside an FPDU",
            "silent": "silence",
        }[self.kind]


def say(cause: tuple[int, int, int]) -> str:
    """Return a Terminate's cause as (layer, type, code)."""
    return f"({cause[0]}, {cause[1]}, {cause[2]:#04x})"


class Link(RawPeer):
    """A raw peer that keeps its record, counts what it asks, and hears what comes of it."""

    def __init__(
        self, connected: socket.socket, record: Record, limit_s: float, quiet_s: float
    ) -> None:
        super().__init__(RecordedSocket(connected, record), limit_s=limit_s)  # type: ignore[arg-type]
        self.record = record
        self.quiet_s = quiet_s
        self.version = 1
        self.heard: list[Fpdu] = []
        self._msn = {queue: itertools.count(1) for queue in range(4)}

    def segment(self, opcode: int, payload: bytes = b"", **fields: Any) -> Segment:
        """Return an untagged segment with the next MSN of its queue and the versions of this connection."""
        given = {"ddp_version": self.version, "rdmap_version": self.version} | fields
        queue = given.setdefault("queue", 0)
        if "msn" not in given:
            given["msn"] = next(self._msn[queue & 3])
        return Segment(opcode, payload, **given)

    def tagged(self, opcode: int, payload: bytes = b"", **fields: Any) -> Segment:
        """Return a tagged segment with the versions of this connection."""
        given = {"ddp_version": self.version, "rdmap_version": self.version} | fields
        return Segment(opcode, payload, tagged=True, **given)

    def read_request(self, request: ReadRequest, **fields: Any) -> Segment:
        """Return a Read Request."""
        return self.segment(Opcode.READ_REQUEST, request.to_bytes(), queue=READ_QUEUE, **fields)

    def ask_nothing(self, sink_stag: int = 0x5EED, sink_to: int = 64) -> None:
        """Send a Read Request of no octets: every peer answers it, whatever its memory is."""
        self.send_segment(self.read_request(ReadRequest(sink_stag, sink_to, 0, 0, 0)))

    def hear(self, limit_s: float, until: Callable[[Segment], bool] | None = None) -> Outcome:
        """Take what comes until the peer terminates, ends, falls silent, or says what is waited for ("response")."""
        end = time.monotonic() + limit_s
        while True:
            left = end - time.monotonic()
            if left <= 0:
                return Outcome("silent")
            self.socket.settimeout(left)
            try:
                fpdu = self.receive_fpdu()
            except PeerSilentError:
                return Outcome("silent")
            except PeerGoneError as error:
                return Outcome("cut" if error.inside else "reset")
            finally:
                self.socket.settimeout(self.limit_s)
            if fpdu is None:
                return Outcome("closed")
            self.heard.append(fpdu)
            try:
                segment = Segment.of(fpdu.ulpdu)
            except ValueError:
                continue  # judged where FPDUs are
            if segment.opcode == Opcode.TERMINATE and not segment.tagged:
                return Outcome("terminate", fpdu, segment)
            if until is not None and until(segment):
                return Outcome("response", fpdu, segment)

    def response(self, limit_s: float | None = None) -> Outcome:
        """Hear the next Read Response."""
        limit_s = self.limit_s if limit_s is None else limit_s
        return self.hear(limit_s, lambda s: s.tagged and s.opcode == Opcode.READ_RESPONSE)

    def alive(self) -> str:
        """See that the peer has taken all that was said: it answers a Read of no octets.

        Raises:
            FailedError: it does anything else.
        """
        self.ask_nothing()
        outcome = self.response()
        if outcome.kind != "response":
            raise FailedError(f"not accepted: {outcome}")
        return "accepted: a Read of no octets behind it was answered"

    def judged(self, *causes: tuple[int, int, int]) -> str:
        """See that the peer refuses what was just said, by a Terminate with one of the causes.

        Raises:
            FailedError: another cause, or it goes on as if all were right.
            UnclearError: it closed, or fell silent.
        """
        outcome = self.refusal()
        if outcome.kind != "terminate":
            raise UnclearError(str(outcome))
        if causes and outcome.cause not in causes:
            raise FailedError(f"{outcome}; expected {' or '.join(map(say, causes))}")
        return str(outcome)

    def refuses(self, segment: Segment, *causes: tuple[int, int, int]) -> str:
        """Send a segment, and see that the peer refuses it, as `judged`."""
        self.send_segment(segment)
        return self.judged(*causes)

    def refusal(self) -> Outcome:
        """Hear what the peer does about what was just said; where it does nothing, ask it for a Read.

        Raises:
            FailedError: it goes on as if all were right.
        """
        outcome = self.hear(self.quiet_s)
        if outcome.kind == "silent":
            try:
                self.ask_nothing()
            except PeerGoneError:
                return self.hear(self.limit_s)
            outcome = self.response()
        if outcome.kind == "response":
            raise FailedError(f"it {outcome}")
        return outcome

    def gone(self, limit_s: float | None = None) -> bool:
        """Return whether the peer ends the connection in time, whatever it says before; what it says is kept."""
        end = time.monotonic() + (self.limit_s if limit_s is None else limit_s)
        while (left := end - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                if not self.socket.recv(1 << 16):
                    return True
            except TimeoutError:
                return False
            except OSError:
                return True
        return False

    def says_nothing(self, when: str = "") -> None:
        """See that the peer says nothing for a second, or ends.

        Raises:
            FailedError: it does; `when` are its last words.
        """
        self.socket.settimeout(max(1.0, self.quiet_s))
        try:
            came = self.socket.recv(1 << 16)
        except OSError:
            return
        finally:
            self.socket.settimeout(self.limit_s)
        if came:
            raise FailedError(f"{len(came)} octets came{when}: {came[:20].hex(' ')}")
