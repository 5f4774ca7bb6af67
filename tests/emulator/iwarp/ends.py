"""Two ends of a connection over loopback: both ours, or ours and one that says what a test tells it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from freezeframe.emulator.iwarp.completion import CompletionQueue
from freezeframe.emulator.iwarp.ddp_kernels import REMOTE_ATOMIC, REMOTE_READ, REMOTE_WRITE
from freezeframe.emulator.iwarp.memory import ProtectionDomain, Region
from freezeframe.emulator.iwarp.mpa import Options
from freezeframe.emulator.iwarp.raw import RawPeer
from freezeframe.emulator.iwarp.startup import Enhanced, StartupFrame
from freezeframe.emulator.iwarp.verbs import Listener, QueuePair, accept, connect

QUICK = Options(startup_s=2.0, stall_s=1.0)


@dataclass
class End:
    """One of our ends; ``region`` is of so many octets, and open to the peer."""

    pair: QueuePair
    domain: ProtectionDomain
    completions: CompletionQueue
    region: Region


def make(
    options: Options,
    begin: Callable[[ProtectionDomain, CompletionQueue, Options], QueuePair],
    size: int,
) -> End:
    domain, completions = ProtectionDomain(), CompletionQueue()
    region = domain.register(size, REMOTE_READ | REMOTE_WRITE | REMOTE_ATOMIC)
    return End(begin(domain, completions, options), domain, completions, region)


@contextmanager
def two_ends(
    initiator: Options = QUICK,
    responder: Options = QUICK,
    *,
    size: int = 1 << 17,
    receives: int = 1,
) -> Iterator[tuple[End, End]]:
    """Yield initiator and responder; the responder has posted receives, each of its whole region."""
    with Listener() as listener:
        ends: list[End] = []

        def serve() -> None:
            ends.append(make(responder, lambda d, c, o: accept(listener.take(5), d, c, o), size))

        thread = threading.Thread(target=serve)
        thread.start()
        a = make(initiator, lambda d, c, o: connect("127.0.0.1", listener.port, d, c, o), size)
        thread.join()
    b = ends[0]
    for number in range(receives):
        b.pair.post_receive(b.region, id=number)
    b.pair.start()
    with a.pair:
        yield a, b
    b.pair.close()


@contextmanager
def raw_and_ours(
    options: Options = QUICK, *, frame: StartupFrame | None = None, receives: int = 2
) -> Iterator[tuple[RawPeer, End]]:
    """Yield an initiator that says what it is told, past its startup, and our responder with a region of 4 KiB."""
    frame = frame or StartupFrame(False, revision=2, enhanced=Enhanced(16, 16))
    with Listener() as listener, RawPeer.connect("127.0.0.1", listener.port, limit_s=5) as raw:
        raw.send_frame(frame)
        end = make(options, lambda d, c, o: accept(listener.take(5), d, c, o), 4096)
        answer = raw.receive_frame()
        raw.negotiated(
            markers_out=answer.markers, markers_in=frame.markers, crc=frame.crc or answer.crc
        )
        for number in range(receives):
            end.pair.post_receive(end.region, 0, 1024, id=number)
        end.pair.start()
        yield raw, end
        raw.socket.close()
        end.pair.close()


def let_compile() -> None:
    """Let messages pass between two ends, so that no peer under test waits for kernels to be compiled."""
    with two_ends() as (a, b):
        a.pair.post_send(a.region, 0, 4)
        b.completions.wait(300)
        a.pair.post_read(a.region, 0, 4, stag=b.region.stag, to=0)
        a.completions.wait(300)
        a.completions.wait(300)
