"""Our own stack as the peer under test: a responder that serves whoever connects, an initiator that connects again and again."""

from __future__ import annotations

import contextlib
import struct
import threading
from collections.abc import Iterator
from dataclasses import replace

from freezeframe.emulator.iwarp.completion import CompletionQueue
from freezeframe.emulator.iwarp.ddp_kernels import REMOTE_READ, REMOTE_WRITE
from freezeframe.emulator.iwarp.errors import IwarpError
from freezeframe.emulator.iwarp.memory import ProtectionDomain, Region
from freezeframe.emulator.iwarp.mpa import Options
from freezeframe.emulator.iwarp.verbs import Listener, QueuePair, accept, connect

REGION_B, RECEIVE_B, RECEIVES = 1 << 16, 4096, 8
BASE = 1 << 20


class Peer:
    """Memory that is lent, and how connections are answered."""

    def __init__(self, options: Options) -> None:
        self.domain, self.completions = ProtectionDomain(), CompletionQueue()
        self.region = self.domain.register(REGION_B, REMOTE_READ | REMOTE_WRITE, base=BASE)
        self.local: Region = self.domain.register(RECEIVES * RECEIVE_B)
        lent = struct.pack(">IQI", self.region.stag, BASE, REGION_B)
        self.options = replace(options, private_data=lent)

    def serve(self, pair: QueuePair, first: bytes | None = None) -> None:
        """Hold a connection until it ends; an initiator says `first` at once."""
        for number in range(RECEIVES):
            pair.post_receive(self.local, number * RECEIVE_B, RECEIVE_B)
        pair.start()
        if first is not None:
            with contextlib.suppress(IwarpError):
                self.region.data[: len(first)] = first
                pair.post_send(self.local, 0, len(first))
        pair._rdmap.ended.wait()
        with contextlib.suppress(IwarpError):
            pair.close(1.0)


@contextlib.contextmanager
def responder(options: Options) -> Iterator[int]:
    """Listen with our stack; yield the port."""
    peer = Peer(options)
    with Listener() as listener:
        def take() -> None:
            while True:
                try:
                    connected = listener.take(None)
                except IwarpError:
                    return
                threading.Thread(target=answer, args=(connected,), daemon=True).start()

        def answer(connected: object) -> None:
            with contextlib.suppress(IwarpError):
                peer.serve(accept(connected, peer.domain, peer.completions, peer.options))  # type: ignore[arg-type]

        threading.Thread(target=take, daemon=True).start()
        yield listener.port


@contextlib.contextmanager
def initiator(options: Options, port: int) -> Iterator[None]:
    """Connect with our stack, again and again."""
    peer, over = Peer(options), threading.Event()

    def call() -> None:
        while not over.is_set():
            with contextlib.suppress(IwarpError):
                peer.serve(connect("127.0.0.1", port, peer.domain, peer.completions, peer.options), b"hello")

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    yield
    over.set()
