"""A TCP relay between two ends of a connection that spoils what passes, as ordered.

It stands between two peers that know nothing of it (``freezeframe iwarp proxy``), or between our own end and its peer
(``--fault``), over loopback: the stack itself stays as it is.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Sequence

from freezeframe.emulator.iwarp.faults import Order
from freezeframe.emulator.iwarp.spoiler import Spoiler, Startup, Strike, for_role

_PIECE_B = 1 << 16


class Relay:
    """Passes octets between two sockets until both directions have ended; closes both.

    Attributes:
        strikes: the faults that have struck so far, of both directions.
    """

    def __init__(
        self, client: socket.socket, server: socket.socket, orders: Sequence[Order], seed: int,
        default: str = "initiator",
    ) -> None:  # fmt: skip
        """Begin.

        Args:
            client: where the initiator is. server: where the responder is.
            default: the role of the end that commits faults which either can.
        """
        startup = Startup()
        self._ways = [
            (client, server, Spoiler("initiator", startup, for_role(orders, "initiator", default), seed)),
            (server, client, Spoiler("responder", startup, for_role(orders, "responder", default), seed)),
        ]  # fmt: skip
        self._left = 2
        self._lock = threading.Lock()
        self.ended = threading.Event()
        for way in self._ways:
            way[0].settimeout(None)
            way[0].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for way in self._ways:
            threading.Thread(target=self._pass, args=way, name="iwarp relay", daemon=True).start()

    @property
    def strikes(self) -> list[Strike]:
        return [strike for *_, spoiler in self._ways for strike in spoiler.strikes]

    def _pass(self, source: socket.socket, sink: socket.socket, spoiler: Spoiler) -> None:
        try:
            while data := source.recv(_PIECE_B):
                sink.sendall(spoiler.feed(data))
                if spoiler.ended:
                    break
            sink.sendall(spoiler.rest())
            sink.shutdown(socket.SHUT_WR)
            if spoiler.ended:
                while source.recv(_PIECE_B):
                    continue
        except OSError:  # one of the two has gone: so goes the other
            for end in (source, sink):
                _shut(end)
        finally:
            with self._lock:
                self._left -= 1
                if not self._left:
                    source.close()
                    sink.close()
                    self.ended.set()


def _shut(end: socket.socket) -> None:
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # it has gone already


def through_relay(
    peer: socket.socket, orders: Sequence[Order], seed: int, role: str
) -> tuple[socket.socket, Relay]:
    """Return a socket for our own end, behind which a relay spoils what we send to ``peer``; ``role``: ours."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        ours = socket.create_connection(server.getsockname())
        inner = server.accept()[0]
    client, far = (inner, peer) if role == "initiator" else (peer, inner)
    return ours, Relay(client, far, orders, seed, default=role)
