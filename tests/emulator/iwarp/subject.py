"""Our own stack as the peer under test: a responder that serves whoever connects, or an initiator."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

from freezeframe.emulator.iwarp.completion import CompletionQueue
from freezeframe.emulator.iwarp.conform.trial import Region, Subject
from freezeframe.emulator.iwarp.ddp_kernels import REMOTE_ATOMIC, REMOTE_READ, REMOTE_WRITE
from freezeframe.emulator.iwarp.errors import IwarpError
from freezeframe.emulator.iwarp.memory import ProtectionDomain
from freezeframe.emulator.iwarp.mpa import Options
from freezeframe.emulator.iwarp.verbs import Listener, QueuePair, accept, connect

REGION_B, RECEIVE_B, RECEIVES = 1 << 16, 4096, 8
BASE = 1 << 20
PATIENT = Options(startup_s=0.3, stall_s=2.0, markers=True)
"""How the stack is set up here: it wants markers, and does not wait long for MPA frames."""


class _Peer:
    """Memory that is lent, and how a connection is held."""

    def __init__(self) -> None:
        self.domain = ProtectionDomain()
        self.region = self.domain.register(
            REGION_B, REMOTE_READ | REMOTE_WRITE | REMOTE_ATOMIC, base=BASE
        )
        self._local = self.domain.register(RECEIVES * RECEIVE_B)

    @property
    def lent(self) -> Region:
        return Region(self.region.stag, BASE, REGION_B)

    def hold(self, pair: QueuePair, first: bytes = b"") -> None:
        """Hold a connection until it ends; say `first` at once, where there is something to say."""
        for number in range(RECEIVES):
            pair.post_receive(self._local, number * RECEIVE_B, RECEIVE_B)
        pair.start()
        with contextlib.suppress(IwarpError):
            if first:
                pair.post_send(self._local, 0, len(first))
            while pair.completions.wait(3600.0).kind != "closed":
                continue
        with contextlib.suppress(IwarpError):
            pair.close(1.0)


def _subject(
    lent: Region, host: str = "", port: int = 0, server: socket.socket | None = None
) -> Subject:
    return Subject(
        host, port, server, limit_s=2.0, quiet_s=0.05, patience_s=2.0, region=lent,
        receive_B=RECEIVE_B,
    )  # fmt: skip


@contextlib.contextmanager
def responder(options: Options = PATIENT) -> Iterator[Subject]:
    """Listen with our stack; yield it as a subject."""
    peer = _Peer()
    with Listener() as listener:

        def take() -> None:
            with contextlib.suppress(IwarpError):
                while True:
                    threading.Thread(
                        target=answer, args=(listener.take(None),), daemon=True
                    ).start()

        def answer(connected: socket.socket) -> None:
            with contextlib.suppress(IwarpError):
                peer.hold(accept(connected, peer.domain, CompletionQueue(), options))

        threading.Thread(target=take, daemon=True).start()
        yield _subject(peer.lent, host="127.0.0.1", port=listener.port)


@contextlib.contextmanager
def initiator(options: Options = PATIENT) -> Iterator[Subject]:
    """Connect with our stack, again and again; yield it as a subject."""
    peer, over = _Peer(), threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def call() -> None:
            while not over.is_set():
                with contextlib.suppress(IwarpError):
                    peer.hold(
                        connect("127.0.0.1", port, peer.domain, CompletionQueue(), options),
                        b"hello",
                    )

        threading.Thread(target=call, daemon=True).start()
        yield _subject(peer.lent, server=server)
        over.set()
