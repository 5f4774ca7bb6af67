"""What readers of packets give: blocks of packets as columns over one buffer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]

MOST_PACKETS = 1 << 15  # of a block

# Linktypes that are understood. Source: https://www.tcpdump.org/linktypes.html
NULL, ETHERNET, RAW_BSD, RAW, LOOP, SLL, IPV4, IPV6, SLL2 = 0, 1, 12, 101, 108, 113, 228, 229, 276
LINKTYPES = {
    NULL: "BSD loopback", ETHERNET: "Ethernet", RAW_BSD: "raw IP", RAW: "raw IP", LOOP: "OpenBSD loopback",
    SLL: "Linux cooked", IPV4: "raw IPv4", IPV6: "raw IPv6", SLL2: "Linux cooked 2",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Interface:
    """Where packets were captured.

    ``fcs_B`` is how many bytes of check sequence follow each packet, -1 where the file does not say. ``snap_B``
    is the most that is kept of a packet, 0 for no limit.
    """

    linktype: int
    name: str = ""
    snap_B: int = 0
    fcs_B: int = -1


@dataclass(frozen=True, slots=True, eq=False)
class PacketBlock:
    """Packets in the order of the capture, as columns; good until the next block is asked for.

    Attributes:
        buffer: ``(n,)`` uint8, C-contiguous, in which the packets' bytes lie.
        offset: ``(m,)`` int64: first captured byte of each packet.
        length: ``(m,)`` int64: captured bytes.
        wire_B: ``(m,)`` int64: bytes on the wire, at least ``length``.
        t_ps: ``(m,)`` int64: since `PacketFile.epoch_ns`, the time of the first packet of the capture; may fall.
        linktype: ``(m,)`` int32: of each packet's interface.
        interface: ``(m,)`` int32: place in ``interfaces``.
        first: number of the first packet; counted from 1.
        flags: ``(m,)`` int64: pcapng's ``epb_flags``, 0 where there are none; None where the format has none.
        interfaces: those that are known so far.
        spare: from here on whoever reads the block may write to the buffer; before it may lie what comes next. None:
            right behind the last packet.
    """

    buffer: Bytes
    offset: Int64
    length: Int64
    wire_B: Int64
    t_ps: Int64
    linktype: Int32
    interface: Int32
    first: int
    flags: Int64 | None = None
    interfaces: tuple[Interface, ...] = ()
    spare: int | None = None

    def __len__(self) -> int:
        return len(self.offset)

    def after(self) -> PacketBlock:
        """Return the empty block that follows."""
        return self.part(len(self), len(self))

    def part(self, begin: int, end: int) -> PacketBlock:
        """Return the block of the packets from place ``begin`` to before ``end``."""
        names = ("offset", "length", "wire_B", "t_ps", "linktype", "interface")
        columns: dict[str, Any] = {name: getattr(self, name)[begin:end] for name in names}
        flags = None if self.flags is None else self.flags[begin:end]
        return replace(self, **columns, first=self.first + begin, flags=flags)

    def parts(self, most: int) -> Iterator[tuple[PacketBlock, bool]]:
        """Yield parts of at most so many packets, one at least, and whether each is the last."""
        for begin in range(0, max(1, len(self)), most):
            end = min(begin + most, len(self))
            yield self.part(begin, end), end == len(self)

    def packet(self, place: int) -> bytes:
        """Return the captured bytes of a packet."""
        begin = int(self.offset[place])
        return self.buffer[begin : begin + int(self.length[place])].tobytes()
