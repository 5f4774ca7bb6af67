"""``litex://host[:port]``: registers through LiteX's ``litex_server``, and so through its bridges.

The server's byte stream carries Etherbone packets back to back, and its answers carry no id: they
are matched by order, so a stream that fell out of step is closed and opened again.

Source: docs/formats.md, section 9; LiteX 2024.12, tools/litex_server.py, tools/litex_client.py.
"""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freezeframe.capture.errors import InputError, TargetError, TargetTimeout
from freezeframe.capture.targets._checks import checked_addresses, checked_write, closed_error
from freezeframe.capture.targets._url import Option, host_and_port, parse_url
from freezeframe.capture.targets.base import Words
from freezeframe.capture.targets.etherbone_codec import (
    MAX_WORDS,
    Malformed,
    decode_reply,
    encode_reads,
    encode_writes,
    packet_length_B,
)

DEFAULT_PORT = 1234

OPTIONS = {
    "window": Option(4, 1, 16, "requests in flight"),
    "timeout": Option(12.0, 0.01, 3600, "longest silence, seconds", whole=False),
    "base": Option(None, 0, 0xFFFFFFFC, "bus address of device 0"),
    "csr_base": Option(None, 0, 0xFFFFFFFC, "bus address at which the PCIe bridge's BAR begins"),
}

_GREETING = re.compile(rb"(Comm\w*):.*:\d+", re.DOTALL)
_GREETING_MAX_B = 512
_REST_OF_GREETING_S = 0.05  # it has no end mark: it is over when it looks whole and nothing follows
_TRIES = 3  # connections made for one read before it is given up


@dataclass(slots=True)
class LitexStats:
    """What a client has seen since it was opened."""

    requests: int = 0
    reconnects: int = 0


class _OutOfStep(Exception):
    """The stream ended, or does not go on with the answer that is due."""


def open_litex(url: str) -> LitexTarget:
    """Open ``litex://host[:port]``; the options are those of OPTIONS.

    Raises:
        InputError: the URL is wrong, or behind a PCIe bridge lacks ``csr_base``.
        TargetError: the host is unknown or refuses, or what answers is no ``litex_server``.
    """
    parsed = parse_url(url, OPTIONS)
    host, port = host_and_port(parsed, DEFAULT_PORT)
    return LitexTarget(
        host,
        port,
        window=parsed.count("window"),
        timeout_s=parsed.seconds("timeout"),
        base=parsed.whole("base"),
        csr_base=parsed.whole("csr_base"),
        url=url,
    )


class LitexTarget:
    """A client of ``litex_server``; for one thread at a time. ``bridge`` is its Comm class."""

    def __init__(
        self,
        host: str,
        port: int = DEFAULT_PORT,
        *,
        window: int = 4,
        timeout_s: float = 12.0,
        base: int | None = None,
        csr_base: int | None = None,
        url: str | None = None,
    ) -> None:
        """Connect. The arguments are those of OPTIONS; raises as ``open_litex``.

        The timeout is long because ``litex_server``'s own UDP bridge waits a second for each word
        that gets lost, ten times.
        """
        self.url = url or f"litex://{f'[{host}]' if ':' in host else host}:{port}"
        self.stats = LitexStats()
        self.bridge = ""
        self._where = (host, port)
        self._window = window
        self._timeout_s = timeout_s
        self._closed = False
        self._greeted_late = True
        self._socket: socket.socket | None = None
        self._connect()
        try:
            self._offset = self._bus_offset(base, csr_base)
        except InputError:
            self.close()
            raise

    def read(self, addresses: Words | Sequence[int]) -> Words:
        """Read any addresses; see ``Target.read``."""
        asked = checked_addresses(addresses, self._offset)
        if self._closed:
            raise closed_error(self.url)
        packets = -(-len(asked) // MAX_WORDS)
        requests = encode_reads(asked, np.arange(packets, dtype=np.uint32), MAX_WORDS)
        result = np.empty(len(asked), np.uint32)
        sent = done = failed = 0
        while done < packets:
            try:
                if self._socket is None:
                    sent = done
                sock = self._socket or self._connect()
                while sent < packets and sent - done < self._window:
                    sock.sendall(requests[sent])
                    self.stats.requests += 1
                    sent += 1
                self._take(sock, result[done * MAX_WORDS : (done + 1) * MAX_WORDS])
                done, failed = done + 1, 0
            except TimeoutError as error:
                self._drop()
                raise TargetTimeout(
                    f"{self.url}: {len(asked) - done * MAX_WORDS} of {len(asked)} words did not "
                    f"come in {self._timeout_s:g} s; litex_server stays stuck after an error of "
                    f"its bridge ({self.bridge}): restart it"
                ) from error
            except (_OutOfStep, OSError) as error:
                self._drop()
                failed += 1
                if failed >= _TRIES:
                    raise TargetError(
                        f"{self.url}: the connection broke {failed} times in one read ({error}); "
                        f"see what litex_server and its bridge ({self.bridge}) print"
                    ) from error
        return result

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        """Send writes, once and unconfirmed; see ``Target.write``."""
        first, data = checked_write(address, words, self._offset)
        if self._closed:
            raise closed_error(self.url)
        sock = self._socket or self._connect()
        try:
            for packet in encode_writes(first, data):
                sock.sendall(packet)
        except OSError as error:
            self._drop()
            raise TargetError(
                f"{self.url}: the connection broke while writing ({error}); "
                "it is not known how much was written"
            ) from error

    def close(self) -> None:
        """Free the connection; see ``Target.close``."""
        self._closed = True
        self._drop()

    def _drop(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _take(self, sock: socket.socket, place: Words) -> None:
        """Take the next packet of the stream, which must be the answer that ``place`` waits for."""
        try:
            head = self._exactly(sock, 12)
            reply = decode_reply(head + self._exactly(sock, packet_length_B(head) - 12))
        except Malformed as error:
            raise _OutOfStep(str(error)) from error
        if len(reply.words) != len(place):
            raise _OutOfStep(f"{len(reply.words)} words came where {len(place)} were asked for")
        place[:] = reply.words

    def _exactly(self, sock: socket.socket, need_B: int) -> bytes:
        data = b""
        while len(data) < need_B:
            some = sock.recv(need_B - len(data))
            if not some:
                raise _OutOfStep("litex_server closed it")
            data += some
            if self._greeted_late:
                # The end of a greeting that came in two pieces: digits, never an Etherbone packet.
                data = data.lstrip(b"0123456789")
                self._greeted_late = not data
        return data

    def _connect(self) -> socket.socket:
        host, port = self._where
        try:
            sock = socket.create_connection(self._where, self._timeout_s)
        except OSError as error:
            raise TargetError(
                f"{self.url}: cannot connect to {host}:{port}: {error.strerror or error}; "
                "is litex_server running there, and started with --bind-ip for this network?"
            ) from error
        self.stats.reconnects += bool(self.bridge)
        self._greeted_late = True
        try:
            self.bridge = self._greeting(sock)
        except BaseException:
            sock.close()
            raise
        # Requests are small; waiting to fill a segment would cost a round trip each.
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.settimeout(self._timeout_s)
        self._socket = sock
        return sock

    def _greeting(self, sock: socket.socket) -> str:
        """Read ``CommName:ip:port``, which has neither length nor end; return the bridge's name."""
        text = b""
        until_s = time.monotonic() + self._timeout_s
        while True:
            whole = _GREETING.fullmatch(text)
            left_s = max(0.001, until_s - time.monotonic())
            sock.settimeout(min(_REST_OF_GREETING_S, left_s) if whole else left_s)
            try:
                some = sock.recv(_GREETING_MAX_B)
            except TimeoutError:
                if whole:
                    return whole[1].decode("ascii")
                some = b""
            except OSError:
                some = b""
            text += some
            if not some or len(text) > _GREETING_MAX_B:
                raise TargetError(
                    f"{self.url}: what answers greets with {text[:40]!r}, not with "
                    "CommName:ip:port; is that litex_server's port?"
                )

    def _bus_offset(self, base: int | None, csr_base: int | None) -> int:
        """Return what is added to an address of ours: its place on the bus the bridge shows."""
        if self.bridge != "CommPCIe":
            return base or 0
        # LitePCIe shows the bus from the CSR base on; litex_client subtracts that, and so do we.
        if base is not None and csr_base is None:
            raise InputError(
                f"{self.url}: behind {self.bridge} addresses count from the CSR base: add "
                "csr_base=0x... (memory_region,csr of csr.csv)"
            )
        if (base or 0) < (csr_base or 0) and base is not None:
            raise InputError(
                f"{self.url}: base {base:#x} lies below csr_base {csr_base:#x}; behind "
                f"{self.bridge} it cannot be reached"
            )
        return 0 if base is None else base - (csr_base or 0)
