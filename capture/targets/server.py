"""An Etherbone server over UDP for anything that speaks the target protocol.

Source: docs/formats.md, sections 1 (error answers) and 9.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from freezeframe.capture.errors import BusError, TargetError
from freezeframe.capture.targets.base import Target, Words
from freezeframe.capture.targets.etherbone_codec import (
    PROBE_REPLY,
    Malformed,
    decode_request,
    encode_reply,
)

_LARGEST_B = 1 << 16  # no UDP payload is longer
_AT_ONCE = 256  # datagrams answered before poll returns, so that a flood cannot hold its caller


@dataclass(slots=True)
class ServerStats:
    """What a server has seen since it began."""

    datagrams: int = 0
    probes: int = 0
    words_read: int = 0
    words_written: int = 0
    error_words: int = 0  # accesses the target answered with an error
    malformed: int = 0  # datagrams that were no whole request; not answered
    unanswered: int = 0  # requests the target could not serve, or whose answer could not be sent
    last_malformed: str = ""


class EtherboneServer:
    """Answers reads and carries out writes; one thread, no work outside ``poll``."""

    def __init__(self, target: Target, host: str, port: int = 0) -> None:
        """Listen at ``host``; port 0 takes a free one (see ``port``).

        Raises:
            TargetError: the address is unknown or in use.
        """
        self.target = target
        self.stats = ServerStats()
        self._buffer = memoryview(bytearray(_LARGEST_B))
        try:
            info = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
            self._socket = socket.socket(info[0], socket.SOCK_DGRAM)
        except OSError as error:
            raise TargetError(f"cannot serve at {host}:{port}: {error.strerror}") from error
        try:
            # Several full windows of requests from several clients; the kernel may give less.
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
            self._socket.bind(info[4])
            self._socket.setblocking(False)
        except OSError as error:
            self._socket.close()
            raise TargetError(
                f"cannot serve at {host}:{port}: {error.strerror}; "
                "choose another port, or 0 for a free one"
            ) from error

    @property
    def port(self) -> int:
        """The UDP port, also when 0 was asked for."""
        return int(self._socket.getsockname()[1])

    def poll(self, timeout_s: float = 0.0) -> int:
        """Answer the datagrams that are waiting, at most 256; return how many.

        Args:
            timeout_s: how long to wait for the first one; 0 does not wait.
        """
        return poll_any([self], timeout_s)

    def serve_forever(
        self,
        stop: Callable[[], bool],
        between: Callable[[], None] | None = None,
        poll_s: float = 0.05,
    ) -> None:
        """Answer until ``stop()`` is true.

        Args:
            stop: asked at least every ``poll_s`` seconds.
            between: called after each batch of answers and at least every ``poll_s`` seconds, in
                this thread: the place to run a simulation on.
            poll_s: longest wait for a datagram.
        """
        while not stop():
            self.poll(poll_s)
            if between is not None:
                between()

    def close(self) -> None:
        """Free the port; the target stays open. Closing twice is harmless."""
        self._socket.close()

    def fileno(self) -> int:
        """The socket's descriptor, for ``select``."""
        return self._socket.fileno()

    def answer_waiting(self) -> int:
        """Answer the datagrams that are waiting, at most 256, without waiting; return how many."""
        handled = 0
        while handled < _AT_ONCE:
            try:
                length_B, sender = self._socket.recvfrom_into(self._buffer)
            except BlockingIOError:
                break
            except ConnectionError:
                continue  # some systems report here that a former asker has gone
            handled += 1
            answer = self._answer(self._buffer[:length_B])
            if answer:
                try:
                    self._socket.sendto(answer, sender)
                except OSError:
                    self.stats.unanswered += 1  # the client asks again
        return handled

    def _answer(self, packet: memoryview) -> bytes:
        stats = self.stats
        stats.datagrams += 1
        try:
            records = decode_request(packet)
        except Malformed as error:
            stats.malformed += 1
            stats.last_malformed = str(error)
            return b""
        if records is None:
            stats.probes += 1
            return PROBE_REPLY
        answers = []
        for record in records:
            if len(record.data):
                self._write(record.base, record.data)
            if len(record.addresses):
                try:
                    words, errors = read_or_ones(self.target, record.addresses)
                except TargetError:
                    stats.unanswered += 1  # silence is the only answer a gone target can give
                    return b""
                stats.words_read += len(words)
                stats.error_words += errors
                answers.append((record.return_address, words))
        return encode_reply(answers) if answers else b""

    def _write(self, base: int, data: Words) -> None:
        try:
            self.target.write(base, data)
            self.stats.words_written += len(data)
        except (BusError, ValueError):
            self.stats.error_words += len(data)
        except TargetError:
            self.stats.unanswered += 1


def poll_any(servers: Sequence[EtherboneServer], timeout_s: float = 0.0) -> int:
    """Answer what waits at any of some servers, as `EtherboneServer.poll` does; return how many."""
    handled = sum(server.answer_waiting() for server in servers)
    if not handled and timeout_s > 0:
        select.select(servers, [], [], timeout_s)
        handled = sum(server.answer_waiting() for server in servers)
    return handled


def read_or_ones(target: Target, addresses: Words | Sequence[int]) -> tuple[Words, int]:
    """Read from a target that raises, for a transport whose only error answer is 0xFFFFFFFF.

    Returns:
        the words in the order asked, 0xFFFFFFFF where the target answered an error, and how many
        such there were.
    Raises:
        TargetError: the target failed altogether.
    """
    try:
        return target.read(addresses), 0
    except (BusError, ValueError):
        pass  # one of them: each is asked for alone, so that the others get their word
    words = np.empty(len(addresses), np.uint32)
    errors = 0
    for place, address in enumerate(addresses):
        try:
            words[place] = target.read([int(address)])[0]
        except (BusError, ValueError):
            words[place] = 0xFFFFFFFF
            errors += 1
    return words, errors
