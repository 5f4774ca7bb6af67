"""What our listener does for whoever connects, and what a client measures with it: round trips, and throughput.

Both ends say in their private data where the other may write: 16 octets, `Hello`. Any other initiator may connect too:
it has its Sends sent back.
"""

from __future__ import annotations

import struct
import time
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from freezeframe.emulator.iwarp.completion import Completion, CompletionQueue
from freezeframe.emulator.iwarp.ddp_kernels import REMOTE_ATOMIC, REMOTE_READ, REMOTE_WRITE
from freezeframe.emulator.iwarp.errors import PeerClosedError
from freezeframe.emulator.iwarp.memory import ProtectionDomain
from freezeframe.emulator.iwarp.mpa import Options
from freezeframe.emulator.iwarp.verbs import QueuePair, connect

RECEIVES = 32
WINDOW = 16
"""Reads under way in `stream`. Writes need no such bound: posting waits while the socket is full."""
LIST_B, MOST_LISTED = 1 << 22, 256
"""Writes are posted in lists of so many octets, or messages."""
_HELLO = struct.Struct(">4sIQ")
_ECHO, _WRITE_BACK = b"FFiS", b"FFiW"


@dataclass(frozen=True, slots=True)
class Hello:
    """Memory that the other end may read and write; ``writes_back``: it wants its Writes answered by Writes."""

    stag: int
    length: int
    writes_back: bool = False

    def to_bytes(self) -> bytes:
        return _HELLO.pack(_WRITE_BACK if self.writes_back else _ECHO, self.stag, self.length)

    @classmethod
    def of(cls, private_data: bytes) -> Hello | None:
        """Return what private data says; None where it is not of this kind."""
        if len(private_data) != _HELLO.size or private_data[:4] not in (_ECHO, _WRITE_BACK):
            return None
        kind, stag, length = _HELLO.unpack(private_data)
        return cls(stag, length, kind == _WRITE_BACK)


class Service:
    """One connection of a listener: Sends are sent back, Writes are answered where that is asked for."""

    def __init__(self, memory_B: int, receive_B: int) -> None:
        self.domain, self.completions = ProtectionDomain(), CompletionQueue()
        self.region = self.domain.register(memory_B, REMOTE_READ | REMOTE_WRITE | REMOTE_ATOMIC)
        self.counts = {"receives": 0, "octets received": 0, "writes answered": 0}
        self._receive_B = receive_B
        self._buffers = self.domain.register(RECEIVES * receive_B)

    @property
    def hello(self) -> bytes:
        """The private data for the Reply."""
        return Hello(self.region.stag, self.region.length).to_bytes()

    def run(self, pair: QueuePair) -> None:
        """Serve until the peer closes; what came is counted in `counts`.

        Raises:
            IwarpError: the connection ended otherwise.
        """
        theirs = Hello.of(pair.agreed.private_data)
        if theirs is not None and theirs.writes_back:
            pair.tell_writes()
        counts = self.counts
        for number in range(RECEIVES):
            self._post(pair, number)
        # The peer may close at any time: while one waits, or while it is answered.
        with suppress(PeerClosedError), pair:
            while True:
                done = self.completions.wait(None)
                if done.kind == "receive":
                    pair.post_send(
                        self._buffers, done.id * self._receive_B, done.length, id=done.id
                    )
                    counts["receives"] += 1
                    counts["octets received"] += done.length
                elif done.kind == "send":
                    self._post(pair, done.id)
                elif done.kind == "written" and theirs is not None:
                    length = min(done.length, theirs.length, self.region.length)
                    pair.post_write(self.region, 0, length, stag=theirs.stag, to=0, signaled=False)
                    counts["writes answered"] += 1

    def _post(self, pair: QueuePair, number: int) -> None:
        pair.post_receive(self._buffers, number * self._receive_B, self._receive_B, id=number)


class Client:
    """A connection to a `Service`, and memory on both sides."""

    def __init__(
        self, host: str, port: int, options: Options, memory_B: int, *, writes_back: bool = False
    ) -> None:
        """Connect.

        Raises:
            IwarpError: that does not come about.
        """
        self.domain, self.completions = ProtectionDomain(), CompletionQueue()
        self.region = self.domain.register(memory_B, REMOTE_READ | REMOTE_WRITE | REMOTE_ATOMIC)
        hello = Hello(self.region.stag, memory_B, writes_back)
        self._answers = self.domain.register(1 << 16)
        options = replace(options, private_data=options.private_data or hello.to_bytes())
        self.pair = connect(host, port, self.domain, self.completions, options)
        self.theirs = Hello.of(self.pair.agreed.private_data)
        if writes_back:
            self.pair.tell_writes()

    def wait(self, kind: str, limit_s: float = 10.0) -> Completion:
        """Return the next completion of a kind; others are passed over. Errors as of `CompletionQueue.wait`."""
        while True:
            done = self.completions.wait(limit_s)
            if done.kind == kind:
                return done

    def ping(self, size: int, *, write: bool) -> int:
        """Send ``size`` octets and have them sent back; return the nanoseconds until they were here again."""
        if write:
            if self.theirs is None:
                raise RuntimeError("the peer has not said which memory it lends")
            start = time.perf_counter_ns()
            self.pair.post_write(self.region, 0, size, stag=self.theirs.stag, to=0, signaled=False)
            self.wait("written")
        else:
            self.pair.post_receive(self.region, 0, size)
            start = time.perf_counter_ns()
            self.pair.post_send(self.region, 0, size)
            self.wait("receive")
        return time.perf_counter_ns() - start

    def stream(self, size: int, count: int, *, read: bool = False) -> int:
        """Write (or read) ``size`` octets ``count`` times, and have the end confirmed; return the nanoseconds."""
        if self.theirs is None:
            raise RuntimeError("the peer has not said which memory it lends")
        slots = max(min(self.region.length, self.theirs.length) // max(size, 1), 1)
        stag, region = self.theirs.stag, self.region
        start = time.perf_counter_ns()
        if read:
            for number in range(count):
                at = number % slots * size
                if number >= WINDOW:
                    self.wait("read")
                self.pair.post_read(region, at, size, stag=stag, to=at)
        else:
            step = min(max(LIST_B // max(size, 1), 1), MOST_LISTED)
            for first in range(0, count, step):
                places = np.arange(first, min(first + step, count)) % slots * size
                parts = np.stack((places, np.full(len(places), size), places), axis=1)
                self.pair.post_writes(region, parts, stag=stag, signaled=False)
        for _ in range(min(count, WINDOW) if read else 0):
            self.wait("read")
        self.pair.post_receive(self._answers)
        self.pair.post_send(self.region, 0, min(4, self.region.length))
        self.wait("receive")
        return time.perf_counter_ns() - start
