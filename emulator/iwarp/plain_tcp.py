"""Bare TCP by the same means, to compare with: the same threads, and the same system calls for a message.

A thread receives and hands over through a queue, as the stack's does; the other sends. A streamed message has a header
that is received by a call of its own, as whoever is told by a header where a message belongs has to; `Client` can also
leave that out, which is what a stream without messages would reach. What iWARP does beyond that is what a ratio of the
two shows.
"""

from __future__ import annotations

import queue
import socket
import struct
import threading
import time

from freezeframe.emulator.iwarp.errors import PeerGoneError, PeerSilentError

_ASK = struct.Struct(
    ">4sIIQ"
)  # what follows: PING or STRM; octets of a header, of what follows it; messages
_DONE = b"done"
HEADER_B, TRAILER_B = 16, 4
"""What a tagged segment has beside its payload: length and DDP header, and CRC (RFC 5044, 4.1; RFC 5041, 4.1)."""


def serve(connected: socket.socket) -> None:
    """Answer a `Client` until it closes."""
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with connected:
        while ask := _exactly(connected, memoryview(bytearray(_ASK.size))):
            kind, header_B, size, count = _ASK.unpack(ask)
            end = _Receiver(connected, size, count, header_B, told=kind == b"PING")
            if kind == b"PING":
                for _ in range(count):
                    connected.sendall(end.wait())
            else:
                end.wait()
                connected.sendall(_DONE)
            end.join()


class _Receiver(threading.Thread):
    """Receives messages, the header of each by itself; each is handed over (``told``), or the last alone."""

    def __init__(
        self, connected: socket.socket, size: int, count: int, header_B: int = 0, *, told: bool
    ) -> None:
        super().__init__(name="plain receive", daemon=True)
        self._connected, self._size, self._count, self._told = connected, size, count, told
        self._header = memoryview(bytearray(header_B))
        self._memory = _ring(size)
        self._queue: queue.SimpleQueue[memoryview] = queue.SimpleQueue()
        self.start()

    def run(self) -> None:
        size, slots = self._size, len(self._memory) // max(self._size, 1)
        for number in range(self._count):
            at = number % slots * size
            got = self._header
            if not got or (got := _exactly(self._connected, got)):
                got = _exactly(self._connected, self._memory[at : at + size])
            if self._told or not got or number + 1 == self._count:
                self._queue.put(got)
            if not got:
                return

    def wait(self) -> memoryview:
        try:
            got = self._queue.get(timeout=60)
        except queue.Empty:
            raise PeerSilentError("nothing came within 60 s") from None
        if not got:
            raise PeerGoneError(
                "the peer has closed the connection; a Freezeframe peer listens with --tcp, too"
            )
        return got


class Client:
    """A connection to `serve`."""

    def __init__(
        self, host: str, port: int, *, gather: bool = False, header_B: int = HEADER_B
    ) -> None:
        """Connect.

        Args:
            gather: `stream` sends by sendmsg, in the pieces of a segment, and not by sendall.
            header_B: octets before each message of `stream` that are received by a call of their own.
        """
        self._connected = socket.create_connection((host, port), 10)
        self._connected.settimeout(None)
        self._connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._gather, self._header_B = gather, header_B

    def pings(self, size: int, count: int) -> list[int]:
        """Return the nanoseconds of round trips, one after the other."""
        self._connected.sendall(_ASK.pack(b"PING", 0, size, count))
        receiver = _Receiver(self._connected, size, count, told=True)
        message, times = memoryview(bytearray(size)), []
        for _ in range(count):
            start = time.perf_counter_ns()
            self._connected.sendall(message)
            receiver.wait()
            times.append(time.perf_counter_ns() - start)
        receiver.join()
        return times

    def stream(self, size: int, count: int) -> int:
        """Send so many messages, and have the end confirmed; return the nanoseconds it took."""
        trailer_B = TRAILER_B if self._header_B else 0
        body_B = size + trailer_B
        whole = self._header_B + body_B
        before, after = bytes(self._header_B), bytes(trailer_B)
        self._connected.sendall(_ASK.pack(b"STRM", self._header_B, body_B, count))
        receiver = _Receiver(self._connected, len(_DONE), 1, told=True)
        step = (
            size if self._gather else whole
        )  # of a message that is sent whole, the header lies before it
        memory = _ring(step)
        start = time.perf_counter_ns()
        for number in range(count):
            at = number * step % len(memory) if step else 0
            message = memory[at : at + step]
            if not self._gather:
                self._connected.sendall(message)
                continue
            sent = self._connected.sendmsg([before, message, after])
            if sent < whole:  # a signal came in between
                self._connected.sendall(b"".join([before, message, after])[sent:])
        receiver.wait()
        return time.perf_counter_ns() - start

    def close(self) -> None:
        self._connected.close()


def _ring(size: int) -> memoryview:
    """Return room for messages of a size, as much as `service.Client` has: one alone would stay in the cache."""
    return memoryview(bytearray(max((1 << 20) // max(size, 1), 1) * size))


def _exactly(connected: socket.socket, memory: memoryview) -> memoryview:
    """Fill memory; return it, or nothing of it where the connection has ended."""
    got = 0
    while got < len(memory):
        size = connected.recv_into(memory[got:])
        if not size:
            return memory[:0]
        got += size
    return memory
