"""The kernel's statistics of an interface in one answer, so that they belong together.

Source: Linux ``include/uapi/linux/netlink.h``, ``rtnetlink.h``, ``if_link.h``.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from freezeframe.capture.counters.tables import NETDEV

_GET_LINK, _NEW_LINK, _ERROR = 18, 16, 2
_REQUEST = 1
_IFNAME, _OPERSTATE, _STATS64, _CARRIER_CHANGES = 3, 16, 23, 35
_OPERSTATES = ("unknown", "notpresent", "down", "lowerlayerdown", "testing", "dormant", "up")
_HEADER_B, _IFINFO_B = 16, 16
_ANSWER_B = 1 << 16


@dataclass(frozen=True, slots=True)
class LinkState:
    """One answer: the interface's number, its operational state, how often its carrier came or went, its counters."""

    index: int
    operstate: str
    carrier_changes: int | None
    statistics: dict[str, int]


class LinkSocket:
    """Asks the kernel about one interface of the network name space the program runs in."""

    def __init__(self, interface: str) -> None:
        self._name = interface.encode("utf-8", "surrogateescape") + b"\0"
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self._socket.settimeout(2.0)
        self._sequence = 0

    def read(self) -> LinkState:
        """Return the state now.

        Raises:
            OSError: there is no such interface (ENODEV), or the kernel does not answer.
        """
        self._sequence = self._sequence + 1 & 0xFFFFFFFF
        name = struct.pack("=HH", 4 + len(self._name), _IFNAME) + self._name
        body = struct.pack("=BxHiII", 0, 0, 0, 0, 0) + name + bytes(-len(name) % 4)
        head = struct.pack("=IHHII", _HEADER_B + len(body), _GET_LINK, _REQUEST, self._sequence, 0)
        self._socket.send(head + body)
        while True:
            answer = self._socket.recv(_ANSWER_B)
            _, kind, _, sequence, _ = struct.unpack_from("=IHHII", answer)
            if sequence != self._sequence:
                continue  # late, of a question that was given up
            if kind == _ERROR:
                code = -struct.unpack_from("=i", answer, _HEADER_B)[0]
                raise OSError(code, os.strerror(code))
            if kind == _NEW_LINK:
                return _parsed(answer)

    def close(self) -> None:
        """Free the socket."""
        self._socket.close()


def _parsed(answer: bytes) -> LinkState:
    index = struct.unpack_from("=i", answer, _HEADER_B + 4)[0]
    operstate, changes, statistics = "unknown", None, dict[str, int]()
    for kind, data in _attributes(answer, _HEADER_B + _IFINFO_B):
        if kind == _OPERSTATE and data and data[0] < len(_OPERSTATES):
            operstate = _OPERSTATES[data[0]]
        elif kind == _CARRIER_CHANGES and len(data) >= 4:
            changes = struct.unpack_from("=I", data)[0]
        elif kind == _STATS64:
            # An older kernel knows fewer of them, a newer one more.
            values = struct.unpack_from(f"={len(data) // 8}Q", data)
            statistics = dict(zip(NETDEV, values, strict=False))
    return LinkState(index, operstate, changes, statistics)


def _attributes(answer: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    while at + 4 <= len(answer):
        length, kind = struct.unpack_from("=HH", answer, at)
        if length < 4:
            return
        yield kind & 0x3FFF, answer[at + 4 : at + length]
        at += length + 3 & ~3
