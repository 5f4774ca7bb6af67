"""Messages to send: what the user posts, what is asked of the peer, and what answers the peer's Reads and atomics.

Source: RFC 5040, 4.4, 4.5, 5.2 and 7.1; RFC 7306, 5.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from freezeframe.emulator.iwarp import atomic, startup
from freezeframe.emulator.iwarp.ddp_kernels import REMOTE_ATOMIC, REMOTE_READ, TAGGED
from freezeframe.emulator.iwarp.layout import (
    ATOMIC_QUEUE,
    READ_QUEUE,
    READ_REQUEST_B,
    SEND_QUEUE,
    Cause,
    Opcode,
    ReadRequest,
)
from freezeframe.emulator.iwarp.memory import ProtectionDomain
from freezeframe.emulator.iwarp.quirks import Quirks

# As plain numbers: comparing with members of an enumeration takes longer than all else that is done with a message.
WRITE, SEND, READ_REQUEST = int(Opcode.WRITE), int(Opcode.SEND), int(Opcode.READ_REQUEST)
READ_RESPONSE, TERMINATE = int(Opcode.READ_RESPONSE), int(Opcode.TERMINATE)
ATOMIC_REQUEST, ATOMIC_RESPONSE = int(Opcode.ATOMIC_REQUEST), int(Opcode.ATOMIC_RESPONSE)

UNEXPECTED, UNSPECIFIED = Cause(0, 2, 6), Cause(0, 2, 0xFF)
_UNALIGNED = Cause(0, 1, 0xFF)
_REMOTE = {"stag": 0, "bounds": 1, "rights": 2, "domain": 3, "wrap": 4}


class Work(NamedTuple):
    """A message to send: ``length`` octets at ``address``; ``keep`` holds that memory.

    ``kind``: of the completion, empty where nobody is told.
    ``expects``: where the response of a Read Request goes, STag, offset, address, length; the identifier of an Atomic
    Request, and the address for the word. ``before``: called as the message begins. ``parts``: it is as many tagged
    messages, ``length`` octets in all; int64[messages, 3], of each address, octets and tagged offset.
    """

    kind: str
    id: Any
    opcode: int
    address: int
    length: int
    keep: Any
    stag: int = 0
    to: int = 0
    queue: int = TAGGED  # or that of an untagged message
    expects: tuple[int, ...] | None = None
    before: Callable[[], None] | None = None
    parts: npt.NDArray[np.int64] | None = None


class Refused(NamedTuple):
    """Why a request is not served; ``read_request``: what the Terminate tells of it."""

    cause: Cause
    text: str
    read_request: bytes = b""


def placed(payload: bytes) -> tuple[int, Any]:
    """Return where octets stand in memory, and what holds them there."""
    octets = np.frombuffer(bytearray(payload), np.uint8)
    return int(octets.ctypes.data), octets


def read_request(
    kind: str, id: Any, stag: int, to: int, address: int, length: int, source_stag: int,
    source_to: int, keep: Any,
) -> Work:  # fmt: skip
    """Return a Read Request: ``length`` octets of the peer's STag to ``to`` of ours, which is ``address``."""
    place, octets = placed(ReadRequest(stag, to, length, source_stag, source_to).to_bytes())
    return Work(
        kind, id, READ_REQUEST, place, READ_REQUEST_B, (octets, keep), queue=READ_QUEUE,
        expects=(stag, to, address, length),
    )  # fmt: skip


def ready_message(agreed: int) -> Work:
    """Return the message of no length with which an initiator of the peer-to-peer model says that it is ready."""
    if agreed & startup.WRITE:
        return Work("", None, WRITE, 0, 0, None)
    if agreed & startup.SEND:
        return Work("", None, SEND, 0, 0, None, queue=SEND_QUEUE)
    return read_request("", None, 0, 0, 0, 0, 0, 0, None)


def atomic_request(id: Any, request: atomic.AtomicRequest, address: int, keep: Any) -> Work:
    """Return an Atomic Request; ``address``: where the word goes that stood there before."""
    place, octets = placed(request.to_bytes())
    return Work(
        "atomic", id, ATOMIC_REQUEST, place, atomic.REQUEST_B, (octets, keep), queue=READ_QUEUE,
        expects=(request.identifier, address),
    )  # fmt: skip


def answer_read(payload: bytes, domain: ProtectionDomain) -> Work | Refused:
    """Return the Response to a Read Request."""
    if len(payload) != READ_REQUEST_B:
        return Refused(UNSPECIFIED, f"sent a Read Request of {len(payload)} octets")
    request = ReadRequest.of(payload)
    address: int | str = 0
    if request.size:
        address = domain.reach(request.source_stag, request.source_to, request.size, REMOTE_READ)
    if isinstance(address, str):
        return Refused(
            Cause(0, 1, _REMOTE[address]),
            f"asks to read {request.size} octets at {request.source_to:#x} of STag "
            f"{request.source_stag:#010x}: wrong {address}",
            payload,
        )
    if request.sink_to + request.size > 1 << 64:
        return Refused(Cause(0, 1, 4), "sent a Read Request whose sink wraps", payload)
    return Work(
        "", None, READ_RESPONSE, address, request.size, domain, request.sink_stag, request.sink_to
    )


def answer_atomic(payload: bytes, domain: ProtectionDomain, quirks: Quirks) -> Work | Refused:
    """Return the Response to an Atomic Request; the word changes as it is sent, after what was asked for earlier."""
    if len(payload) != atomic.REQUEST_B:
        return Refused(UNSPECIFIED, f"sent an Atomic Request of {len(payload)} octets")
    request = atomic.AtomicRequest.of(payload)
    if request.operation > atomic.COMPARE_SWAP:
        return Refused(UNEXPECTED, f"sent atomic operation {request.operation}")
    if "atomic-reserved" in quirks and (payload[:3] != bytes(3) or payload[3] >> 4):
        return Refused(UNEXPECTED, "set reserved bits, which this end is set up to refuse")
    where = f"the word at {request.to:#x} of STag {request.stag:#010x}"
    if request.to % atomic.WORD_B and "atomic-unaligned" not in quirks:
        return Refused(_UNALIGNED, f"asks to change {where}: not aligned")
    address = domain.reach(request.stag, request.to, atomic.WORD_B, REMOTE_ATOMIC)
    if isinstance(address, str):
        text = f"asks to change {where}: wrong {address}"
        return Refused(Cause(0, 1, _REMOTE[address]), text)
    place, octets = placed(bytes(atomic.RESPONSE_B))
    asked, at = request._replace(**quirks.atomic), address

    def perform() -> None:
        octets[:] = np.frombuffer(atomic.perform(asked, at), np.uint8)

    return Work(
        "", None, ATOMIC_RESPONSE, place, atomic.RESPONSE_B, octets, queue=ATOMIC_QUEUE,
        before=perform,
    )  # fmt: skip
