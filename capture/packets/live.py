"""Packets of a network interface of this machine, as they come: a packet socket of Linux.

Source: packet(7), socket(7); linux/if_packet.h, linux/if_arp.h, linux/filter.h.
"""

from __future__ import annotations

import select
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import numpy as np

from freezeframe.capture.errors import TargetError
from freezeframe.capture.packets.block import ETHERNET, MOST_PACKETS, RAW, Interface, PacketBlock
from freezeframe.capture.packets.recognise import NETDEV

_ALL = 3  # ETH_P_ALL
_PACKET, _AUXDATA, _STATISTICS = 263, 8, 6  # SOL_PACKET and its options
_TIMESTAMP_NS = 35  # SO_TIMESTAMPNS
_OUTGOING = 4  # sll_pkttype
_INBOUND, _OUTBOUND = 1, 2  # of pcapng's epb_flags
_VLAN_VALID, _VLAN_TPID_VALID = 0x10, 0x40
_LOOPBACK = 772
_LINKTYPES = {1: ETHERNET, _LOOPBACK: ETHERNET, 65534: RAW}  # by ARPHRD_...
_LARGEST_B = 1 << 18
_BUFFER_B, _SPARE_B = 1 << 22, 1 << 22
_KERNEL_B = 1 << 23  # what waits in the socket
_WAIT_S = 0.1  # a block is handed on after this long
_AUX = struct.Struct("=IIIHHHH")  # struct tpacket_auxdata


class LivePackets:
    """What an interface receives and sends, until Ctrl-C; each packet of a loopback once. Use it in a ``with`` block.

    Attributes:
        notes: after the end, how many packets the kernel had to drop.
    """

    format = "packets as they come"

    def __init__(self, url: str) -> None:
        """Open ``netdev:NAME``.

        Raises:
            TargetError: there is no such interface, it may not be listened to, or it is of a kind that is not read.
        """
        self.name = url
        self.notes: list[str] = []
        self.packets = 0
        self.epoch_ns = 0
        device = url.removeprefix(NETDEV)
        kind = _kind(url, device)
        self._is_loopback = kind == _LOOPBACK
        if kind not in _LINKTYPES:
            raise TargetError(f"{url}: is of kind {kind}, neither Ethernet nor raw IP")
        self.interfaces = [Interface(_LINKTYPES[kind], device)]
        self._buffer = np.empty(_BUFFER_B + _SPARE_B, np.uint8)
        try:
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL))
        except PermissionError:
            raise TargetError(
                f"{url}: may not be listened to; that needs root or CAP_NET_RAW; or: "
                f"sudo tcpdump -i {device} -U -w - | freezeframe decode -"
            ) from None
        except OSError as error:
            raise TargetError(f"{url}: cannot be listened to: {error.strerror}") from None
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _KERNEL_B)
            self._socket.setsockopt(socket.SOL_SOCKET, _TIMESTAMP_NS, 1)
            self._socket.setsockopt(_PACKET, _AUXDATA, 1)
            self._socket.bind((device, _ALL))
        except OSError as error:
            self._socket.close()
            raise TargetError(f"{url}: cannot be listened to: {error.strerror}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening."""
        self._socket.close()

    def __iter__(self) -> Iterator[PacketBlock]:
        """Yield what came, at least ten times a second while anything comes.

        Raises:
            TargetError: the interface is gone.
        """
        try:
            while True:
                block = self._block()
                if len(block):
                    yield block
        finally:
            self._note_drops()

    def _block(self) -> PacketBlock:
        room = self._buffer.data
        at, rows = 0, list[tuple[int, int, int, int, int]]()
        until = time.monotonic() + _WAIT_S
        while at + _LARGEST_B <= _BUFFER_B and len(rows) < MOST_PACKETS:
            left_s = until - time.monotonic()
            if left_s <= 0 or not select.select([self._socket], [], [], left_s)[0]:
                break
            try:
                size, said, _, address = self._socket.recvmsg_into(
                    [room[at + 4 : at + _LARGEST_B]], 256, socket.MSG_TRUNC
                )
            except OSError as error:
                raise TargetError(f"{self.name}: {error.strerror}") from None
            outgoing = address[2] == _OUTGOING
            if outgoing and self._is_loopback:
                continue
            t_ns, tag = _said(said)
            begin, kept = at + 4, min(size, _LARGEST_B - 4)
            if tag is not None and kept >= 12:  # the kernel has taken it out
                room[at : at + 12] = bytes(room[at + 4 : at + 16])
                room[at + 12 : at + 16] = tag
                begin, kept, size = at, kept + 4, size + 4
            self.epoch_ns = self.epoch_ns or t_ns
            rows.append((begin, kept, size, t_ns, _OUTBOUND if outgoing else _INBOUND))
            at = begin + kept
        table = np.array(rows, np.int64).reshape(-1, 5).T
        first = self.packets + 1
        self.packets += len(rows)
        return PacketBlock(
            self._buffer,
            np.ascontiguousarray(table[0]),
            np.ascontiguousarray(table[1]),
            np.ascontiguousarray(table[2]),
            (table[3] - self.epoch_ns) * 1000,
            np.full(len(rows), self.interfaces[0].linktype, np.int32),
            np.zeros(len(rows), np.int32),
            first,
            np.ascontiguousarray(table[4]),
            tuple(self.interfaces),
        )

    def _note_drops(self) -> None:
        try:
            _, drops = struct.unpack("=II", self._socket.getsockopt(_PACKET, _STATISTICS, 8))
        except OSError:  # the interface is gone
            return
        if drops:
            self.notes.append(f"{self.name}: {drops:,} packets came faster than they were read")


def _kind(url: str, device: str) -> int:
    place = Path("/sys/class/net") / device / "type"
    try:
        return int(place.read_text())
    except (OSError, ValueError):
        raise TargetError(f"{url}: there is no interface {device!r} on this machine") from None


def _said(said: list[tuple[int, int, bytes]]) -> tuple[int, bytes | None]:
    """Return the kernel's time of a packet in ns, and its VLAN tag as bytes."""
    t_ns, tag = time.time_ns(), None
    for level, kind, data in said:
        if level == socket.SOL_SOCKET and kind == _TIMESTAMP_NS:
            second, rest = struct.unpack("=qq", data[:16])
            t_ns = second * 1_000_000_000 + rest
        elif level == _PACKET and kind == _AUXDATA:
            status, *_, tci, tpid = _AUX.unpack(data[: _AUX.size])
            if status & _VLAN_VALID:
                tag = struct.pack(">HH", tpid if status & _VLAN_TPID_VALID else 0x8100, tci)
    return t_ns, tag
