"""Verbs: what a user of the stack sees. Connect or listen, post work, take completions.

    domain, completions = ProtectionDomain(), CompletionQueue()
    with connect("127.0.0.1", 4791, domain, completions) as pair:
        region = domain.register(4096)
        pair.post_send(region, 0, 4, id=1)
        completions.wait()

Source: RDMA Protocol Verbs Specification (RDMA Consortium, 2003), 6 to 9, in a selection.
"""

from __future__ import annotations

import errno
import itertools
import socket
import time
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from freezeframe.capture.errors import InputError
from freezeframe.emulator.iwarp.atomic import (
    ALL,
    COMPARE_SWAP,
    FETCH_ADD,
    SWAP,
    WORD_B,
    AtomicRequest,
)
from freezeframe.emulator.iwarp.completion import CompletionQueue
from freezeframe.emulator.iwarp.ddp import DdpStream
from freezeframe.emulator.iwarp.ddp_kernels import TAGGED
from freezeframe.emulator.iwarp.errors import IwarpError, PeerGoneError, PeerSilentError
from freezeframe.emulator.iwarp.layout import SEND_QUEUE, Opcode
from freezeframe.emulator.iwarp.memory import ProtectionDomain, Region
from freezeframe.emulator.iwarp.mpa import (
    MpaStream,
    Negotiated,
    Options,
    initiate,
    respond,
)
from freezeframe.emulator.iwarp.rdmap import RdmapStream
from freezeframe.emulator.iwarp.relay import Relay, through_relay
from freezeframe.emulator.iwarp.work import SEND, WRITE, Work, atomic_request, read_request

IMMEDIATE_B = 8


_PASSING = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.ECONNABORTED}
"""Why a connection cannot be taken now; another may be."""
_PAUSE_S = 0.05


class QueuePair:
    """One connection. All posting returns at once; what it led to is told by the completion queue.

    Attributes:
        agreed: what the startup came to.
        peer: address of the other end, as text.
        relay: what breaks rules on our behalf, and has written down where; None where no faults were ordered.
    """

    def __init__(
        self,
        connected: socket.socket,
        agreed: Negotiated,
        options: Options,
        domain: ProtectionDomain,
        completions: CompletionQueue,
        peer: str,
        relay: Relay | None,
    ) -> None:
        self.agreed = agreed
        self.peer = peer
        self.relay = relay
        self.domain, self.completions = domain, completions
        self.mpa = MpaStream(connected, agreed, options)
        self._ddp = ddp = DdpStream(self.mpa, domain.table(), domain.number, agreed.version)
        self._identifiers = itertools.cycle(range(1 << 32))
        self._rdmap = RdmapStream(ddp, agreed, domain, completions, self, options)

    def start(self) -> None:
        """Begin to receive; what the peer may send at once needs its buffers before."""
        self._rdmap.start()

    def tell_writes(self) -> None:
        """Make a completion, ``written``, of each RDMA Write of the peer; asked for before `start`."""
        self._ddp.tell_writes()

    @property
    def error(self) -> IwarpError | None:
        """Why the connection has ended; None while it lives."""
        return self._rdmap.error

    def post_receive(
        self, region: Region, offset: int = 0, length: int | None = None, *, id: Any = None
    ) -> None:
        """Give a part of a region to the next Send, or immediate data, of the peer.

        Raises:
            InputError: it is not in the region, or too many receives are posted.
            IwarpError: the connection has ended.
        """
        length = region.length - offset if length is None else length
        if not self._rdmap.post_receive(id, region.place(offset, length), length, region):
            raise InputError("4,096 receives are posted; wait for one of them")

    def post_send(
        self, region: Region, offset: int = 0, length: int | None = None, *, id: Any = None,
        solicited: bool = False, invalidate: int | None = None, signaled: bool = True,
    ) -> None:  # fmt: skip
        """Send a part of a region as a message; ``invalidate``: an STag that the peer takes back then.

        ``signaled``: False makes no completion of it, where a later one tells as much. Errors as above.
        """
        length = region.length - offset if length is None else length
        opcode = SEND + 2 * solicited + (invalidate is not None)
        address = region.place(offset, length)
        self._rdmap.post(
            Work(
                "send" if signaled else "",
                id,
                opcode,
                address,
                length,
                region,
                invalidate or 0,
                0,
                SEND_QUEUE,
            )
        )

    def post_immediate(
        self, region: Region, offset: int = 0, *, id: Any = None, solicited: bool = False
    ) -> None:
        """Send eight octets of a region as immediate data. Errors as above."""
        address, opcode = region.place(offset, IMMEDIATE_B), int(Opcode.IMMEDIATE) + solicited
        self._rdmap.post(Work("send", id, opcode, address, IMMEDIATE_B, region, 0, 0, SEND_QUEUE))

    def post_write(
        self, region: Region, offset: int = 0, length: int | None = None, *, stag: int, to: int,
        id: Any = None, signaled: bool = True,
    ) -> None:  # fmt: skip
        """Write a part of a region to ``to`` of the peer's ``stag``. Errors as above."""
        length = region.length - offset if length is None else length
        address = region.place(offset, length)
        _check_place(stag, to)
        self._rdmap.post(
            Work("write" if signaled else "", id, WRITE, address, length, region, stag, to)
        )

    def post_writes(
        self, region: Region, parts: npt.ArrayLike, *, stag: int, id: Any = None,
        signaled: bool = True,
    ) -> None:  # fmt: skip
        """Write several parts of a region, a message each, by one call: what is done once a list is not done for each.

        Args:
            parts: int64[messages, 3], of each its offset in the region, its octets, and ``to`` of the peer's ``stag``.
            signaled: one completion is made, of all of it. Errors as above; then none of it is sent.
        """
        rows = np.array(parts, np.int64, ndmin=2)
        if rows.ndim != 2 or rows.shape[1] != 3:
            raise InputError(
                f"a list of Writes of shape {rows.shape}; it must have an offset, a length and TO a row"
            )
        if not len(rows):
            return
        at, lengths = rows[:, 0], rows[:, 1]
        for extreme in (at.argmin(), lengths.argmin(), lengths.argmax(), (at + lengths).argmax()):
            region.place(int(at[extreme]), int(lengths[extreme]))
        rows[:, 0] += region.address
        _check_place(stag, 0)
        total = int(rows[:, 1].sum())
        self._rdmap.post(
            Work("write" if signaled else "", id, WRITE, 0, total, region, stag, parts=rows)
        )

    def post_read(
        self, region: Region, offset: int = 0, length: int | None = None, *, stag: int, to: int,
        id: Any = None,
    ) -> None:  # fmt: skip
        """Read ``to`` of the peer's ``stag`` into a part of a region. Errors as above."""
        length = region.length - offset if length is None else length
        address = region.place(offset, length)
        _check_place(stag, to)
        self._rdmap.post(
            read_request(
                "read", id, region.stag, region.base + offset, address, length, stag, to, region
            )
        )

    def post_fetch_add(
        self, region: Region, offset: int = 0, *, stag: int, to: int, add: int, mask: int = 0,
        id: Any = None,
    ) -> None:  # fmt: skip
        """Add to a word of 64 bits at ``to`` of the peer's ``stag``; what it was comes into 8 octets of a region.

        ``mask``: the highest bits of fields that are added each for itself. Errors as above.
        """
        self._post_atomic(region, offset, id, FETCH_ADD, stag, to, (add, mask, 0, 0))

    def post_swap(
        self, region: Region, offset: int = 0, *, stag: int, to: int, swap: int, mask: int = ALL,
        id: Any = None,
    ) -> None:  # fmt: skip
        """Replace the bits of ``mask`` in such a word. Errors as above."""
        self._post_atomic(region, offset, id, SWAP, stag, to, (swap, mask, 0, 0))

    def post_compare_swap(
        self, region: Region, offset: int = 0, *, stag: int, to: int, compare: int, swap: int,
        compare_mask: int = ALL, mask: int = ALL, id: Any = None,
    ) -> None:  # fmt: skip
        """As `post_swap`, where the bits of ``compare_mask`` are those of ``compare``. Errors as above."""
        operands = (swap, mask, compare, compare_mask)
        self._post_atomic(region, offset, id, COMPARE_SWAP, stag, to, operands)

    def _post_atomic(
        self, region: Region, offset: int, id: Any, operation: int, stag: int, to: int,
        operands: tuple[int, ...],
    ) -> None:  # fmt: skip
        if not all(0 <= value <= ALL for value in operands):
            raise InputError("operands and masks of an atomic operation have 64 bits")
        _check_place(stag, to)
        request = AtomicRequest(operation, next(self._identifiers), stag, to, *operands)
        self._rdmap.post(atomic_request(id, request, region.place(offset, WORD_B), region))

    def close(self, limit_s: float = 10.0) -> None:
        """End the connection in order: what is posted goes out first.

        Raises:
            PeerSilentError: the peer does not close its side in time; the connection is gone nevertheless.
        """
        self._rdmap.close(limit_s)

    def __enter__(self) -> QueuePair:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self.close()
        except IwarpError:
            if kind is None:  # else the first error is the one to tell
                raise


def connect(
    host: str,
    port: int,
    domain: ProtectionDomain,
    completions: CompletionQueue,
    options: Options | None = None,
) -> QueuePair:
    """Connect to a listener, as initiator. It does not receive before `QueuePair.start`, or ``with``.

    Raises:
        IwarpError: it cannot be reached, rejects, or does not speak MPA as it should.
    """
    options = options or Options()
    load_kernels()
    where = _text((host, port))
    try:
        connected = socket.create_connection((host, port), options.startup_s)
    except TimeoutError:
        raise PeerSilentError(f"{where}: no answer within {options.startup_s:g} s") from None
    except OSError as error:
        raise PeerGoneError(f"{where}: {error.strerror or error}") from error
    connected, relay = _spoilt(connected, options, "initiator")
    try:
        agreed = initiate(connected, options)
        return QueuePair(connected, agreed, options, domain, completions, where, relay)
    except BaseException:
        connected.close()
        raise


def accept(
    connected: socket.socket,
    domain: ProtectionDomain,
    completions: CompletionQueue,
    options: Options | None = None,
    *,
    reject: bool = False,
) -> QueuePair:
    """Answer a connection that was accepted, as responder. It does not receive before `QueuePair.start`, or ``with``.

    Raises:
        IwarpError: the peer is silent, gone, or does not speak MPA as it should; the connection is closed then.
    """
    options = options or Options()
    where = _text(connected.getpeername())
    connected, relay = _spoilt(connected, options, "responder")
    try:
        agreed = respond(connected, options, reject=reject)
        if reject:
            raise PeerGoneError("rejected, as asked")
        return QueuePair(connected, agreed, options, domain, completions, where, relay)
    except BaseException:
        connected.close()
        raise


class Listener:
    """Listens; `take` gives TCP connections for `accept`: a silent peer keeps nobody waiting but who serves it."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        load_kernels()
        try:
            self.socket = socket.create_server((host, port))
        except OSError as error:
            raise InputError(f"{_text((host, port))}: cannot listen: {error.strerror}") from error
        self.host, self.port = self.socket.getsockname()[:2]

    def take(self, limit_s: float | None = None) -> socket.socket:
        """Return the next TCP connection. Where no descriptor is left, those who connect wait in the system's queue.

        Raises:
            PeerSilentError: there is none within the limit.
            PeerGoneError: the listener was closed.
        """
        end = None if limit_s is None else time.monotonic() + limit_s
        while True:
            try:
                self.socket.settimeout(end and max(end - time.monotonic(), 0.001))
                return self.socket.accept()[0]
            except TimeoutError:
                raise PeerSilentError(f"nobody connected within {limit_s:g} s") from None
            except OSError as error:
                if error.errno not in _PASSING:
                    raise PeerGoneError(f"no longer listening: {error.strerror}") from error
                time.sleep(_PAUSE_S)

    def __enter__(self) -> Listener:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()


def _check_place(stag: int, to: int) -> None:
    """Refuse what no header holds: of a place at the peer the STag has 32 bits, and the tagged offset 64."""
    if not (0 <= stag < 1 << 32 and 0 <= to < 1 << 64):
        raise InputError(
            f"STag {stag:#x}, offset {to}: an STag has 32 bits, and an offset 64, from 0 on"
        )


@cache
def load_kernels() -> None:
    """Load the compiled kernels, or compile them, before a peer waits for us: the first time takes half a minute."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        near = socket.create_connection(server.getsockname())
        far = server.accept()[0]
    agreed = Negotiated(True, False, False, True, 1, 1, 1, 0, b"")
    with near, far:
        ends = [
            DdpStream(MpaStream(end, agreed, Options()), ProtectionDomain.table(), 0, 1)
            for end in (near, far)
        ]
        ends[0].send(WRITE, TAGGED, 0, 0, 0, 0, 0)
        ends[0].go_on(0)
        near.shutdown(socket.SHUT_WR)
        ends[1].receive()


def _spoilt(
    connected: socket.socket, options: Options, role: str
) -> tuple[socket.socket, Relay | None]:
    if not options.faults:
        return connected, None
    return through_relay(connected, options.faults, options.seed, role)


def _text(address: Any) -> str:
    host, port = address[:2]
    return f"[{host}]:{port}" if ":" in str(host) else f"{host}:{port}"
