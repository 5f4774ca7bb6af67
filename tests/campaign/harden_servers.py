"""Servers for `tests.campaign.harden`: each is sent an input as a client would send it, and its answer is taken."""

from __future__ import annotations

import socket
import threading
from collections.abc import Sequence
from functools import cache

from freezeframe.capture.errors import BusError
from freezeframe.capture.targets._checks import checked_addresses, checked_write
from freezeframe.capture.targets.base import Words
from freezeframe.capture.targets.server import EtherboneServer
from freezeframe.capture.targets.uart_server import UartBoneServer
from freezeframe.gui.metrics.http import MetricsServer

_UART_B = 2000  # whose answers fit a socket that nobody reads meanwhile


class _Registers:
    """A target whose upper half answers errors."""

    url = "made:"

    def read(self, addresses: Words | Sequence[int]) -> Words:
        asked = checked_addresses(addresses)
        if (asked >> 31).any():
            raise BusError("made:")
        return asked

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        checked_write(address, words)
        if address >> 31:
            raise BusError("made:")

    def close(self) -> None:
        """There is nothing to free."""


@cache
def _etherbone() -> tuple[EtherboneServer, socket.socket]:
    server = EtherboneServer(_Registers(), "127.0.0.1")
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.connect(("127.0.0.1", server.port))
    client.setblocking(False)
    return server, client


def etherbone(data: bytes) -> object:
    """Send a datagram and return of what kind the answer is.

    Raises:
        AssertionError: it is not counted as answered, malformed or without an answer.
    """
    server, client = _etherbone()
    before = server.stats.datagrams
    client.send(data[:65_507])
    server.poll(1.0)
    if server.stats.datagrams != before + 1:
        raise AssertionError("the datagram was not taken")
    try:
        answer = client.recv(1 << 16)
    except BlockingIOError:
        return "silent"
    return f"answers {len(answer) > 8}"


@cache
def _line() -> tuple[socket.socket, socket.socket]:
    pair = socket.socketpair()
    for end in pair:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    pair[0].setblocking(False)
    return pair


def uart(data: bytes) -> object:
    """Send commands over a line and return whether there were answers."""
    here, there = _line()
    server = UartBoneServer(_Registers(), there.fileno())
    here.send(data[:_UART_B])
    handled, answered = server.poll(), 0
    try:
        while piece := here.recv(1 << 20):
            answered += len(piece)
    except BlockingIOError:
        pass
    if answered != 4 * server.stats.words_read:
        raise AssertionError(f"{answered} B for {server.stats.words_read} words")
    return handled > 0, answered > 0, server.stats.unknown > 0, server.stats.error_words > 0


@cache
def _metrics() -> MetricsServer:
    server = MetricsServer("127.0.0.1", 0, [])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def http(data: bytes) -> object:
    """Send a request and return the code of the answer."""
    with socket.create_connection(("127.0.0.1", _metrics().server_port), 5) as client:
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        answer = b""
        try:
            while piece := client.recv(1 << 16):
                answer += piece
        except ConnectionResetError:
            return "reset"
    if data.startswith(b"GET /json HTTP/1.") and not answer:
        raise AssertionError("no answer")
    return answer[9:12].decode("ascii", "replace")
