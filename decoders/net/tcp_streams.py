"""TCP streams out of blocks of packets: each side's bytes in order and once, and gaps stated.

What a protocol over TCP is fed with; nothing is copied that came in order. Memory is bounded: 65,536 connections at a
time, of which the one that was used least recently is closed for a new one, and 16 MB of bytes that came early, beyond
which the oldest hole is given up.

Source: RFC 9293.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from freezeframe.capture.packets.block import MOST_PACKETS, PacketBlock
from freezeframe.decoders.net import tcp_state as place
from freezeframe.decoders.net.tcp_connections import free_closed
from freezeframe.decoders.net.tcp_in_order import follow_in_order
from freezeframe.decoders.net.tcp_kernels import close_all, follow
from freezeframe.decoders.net.tcp_state import (
    AGAIN,
    AT_END,
    CLOSED,
    CUT,
    DATA,
    DIFFERS,
    FIN,
    GAP,
    LEAST_RECENT,
    LOST,
    REPLACED,
    RST,
    SYN,
    new_state,
    touched_only,
)

__all__ = [
    "AGAIN", "AT_END", "CLOSED", "CUT", "DATA", "DIFFERS", "FIN", "GAP", "LEAST_RECENT", "LOST", "REPLACED", "RST",
    "SYN", "Connections", "StreamPieces", "TcpStreams",
]  # fmt: skip

Bytes = npt.NDArray[np.uint8]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Connections:
    """The connections that pieces speak of, by their ``slot``; views of the present state, good until the next block.

    A slot is used again after its connection is closed, but not within one block: what is kept by slot between blocks
    is emptied when CLOSED comes.
    """

    connection: Int64
    side: Int64

    @property
    def number(self) -> Int64:
        """``(slots,)``: from 0, never used again."""
        return self.connection[:, place.NUMBER]

    @property
    def ip_version(self) -> Int64:
        return self.connection[:, place.VERSION]

    def address(self, side: int) -> tuple[Int64, Int64]:
        """Return a side's ``ip_src`` and ``ip_src_low``, as `header_kernels.COLUMNS` has them, ``(slots,)`` each."""
        at = (place.DST, place.DST_LOW) if side else (place.SRC, place.SRC_LOW)
        return self.connection[:, at[0]], self.connection[:, at[1]]

    def port(self, side: int) -> Int64:
        """Return a side's port, ``(slots,)``."""
        ports = self.connection[:, place.PORTS]
        return ports & 0xFFFF if side else ports >> 16

    def of_side(self, side: int, column: int) -> Int64:
        """Return a column of `tcp_state` that counts something of a side, ``(slots,)``."""
        return self.side[side::2, column]

    def syn_seen(self, side: int) -> npt.NDArray[np.bool_]:
        """Return whether a side's SYN was seen, so that its position 0 is the first byte of its stream."""
        return np.asarray((self.of_side(side, place.STATE) & place.SYN_SEEN) != 0)


@dataclass(frozen=True, slots=True, eq=False)
class StreamPieces:
    """What a block brought: ``(m,)`` each, in the order of the capture, for each side in the order of its stream.

    Attributes:
        buffer: in which the bytes lie; the block's own, unless its spare room was too small.
        kind: ``DATA``: bytes of the stream. ``GAP``: bytes that the capture does not have. ``SYN``, ``FIN``, ``RST``.
            ``CLOSED``: the connection is not followed any more. ``DIFFERS``: a retransmission whose bytes are others
            than those that came first, which are kept. ``AGAIN``: any retransmission, where these are asked for.
        connection: its number, from 0, never used again. ``slot``: its place in ``connections``.
        side: 0 is the end that sent SYN without ACK; where no SYN was seen, that of the first packet.
        position: in the stream of that side: 0 is the first byte after SYN, or without one the first that was seen.
        offset: of the bytes in the buffer, of DATA and DIFFERS.
        length: in bytes.
        packet, t_ps: that brought it.
        aux: of DATA: 1 where bytes of the other side that were sent before are not there (yet); of GAP: LOST or CUT
            (by the snap length); of RST: 1 where a byte before it, or a FIN, is not there; of CLOSED: AT_END,
            LEAST_RECENT, or REPLACED by a new connection between the same ports.
    """

    buffer: Bytes
    connections: Connections
    kind: Bytes
    side: Bytes
    aux: Bytes
    slot: Int32
    connection: Int64
    position: Int64
    offset: Int64
    length: Int64
    packet: Int64
    t_ps: Int64

    def __len__(self) -> int:
        return len(self.kind)

    def data(self, piece: int) -> bytes:
        """Return the bytes of a piece of kind DATA or DIFFERS."""
        begin = int(self.offset[piece])
        return self.buffer[begin : begin + int(self.length[piece])].tobytes()


def _rows_of(pieces: int) -> Int64:
    return touched_only(place.PIECE_ROWS * pieces, np.int64).reshape(place.PIECE_ROWS, pieces)


class TcpStreams:
    """All TCP connections of a capture, fed block by block."""

    def __init__(
        self, *, retransmissions: bool = False, ends_at_once: int = place.MOST_CONNECTIONS
    ) -> None:
        """Take whether segments whose bytes were there before are told as pieces of the kind AGAIN, and how many
        connections the last block ends; while any are ``followed`` then, another empty one ends more.
        """
        self._ends_at_once = ends_at_once
        self._state = new_state()
        self._now = self._state[0]["now"]
        self._now[place.SAY_AGAIN] = retransmissions
        self._out = _rows_of(1 << 12)
        self._t_ps = 0  # of the packet before
        self._connections = Connections(self._state[0]["connection"], self._state[0]["side"])

    @property
    def followed(self) -> int:
        """Connections that are open."""
        return int(self._now[place.LIVE])

    @property
    def packets(self) -> int:
        """TCP packets so far."""
        return int(self._now[place.TCP_PACKETS])

    @property
    def fragments(self) -> int:
        """Fragments of IP packets so far that are not the first; none is put together, so their bytes become gaps."""
        return int(self._now[place.FRAGMENTS])

    def feed(self, block: PacketBlock, last: bool) -> StreamPieces:
        """Follow the packets of a block; ``last`` closes connections behind it.

        Returns:
            The pieces; good until the next call, and as long as the block is.
        Raises:
            ValueError: the block has more than 32,768 packets.
        """
        count = len(block)
        if count > MOST_PACKETS:
            raise ValueError(f"a block of {count:,} packets; at most {MOST_PACKETS:,}")
        state, now = self._state, self._now
        free_closed(state)
        buffer = self._roomy(block)
        # A packet brings a few pieces itself and may let go of what is held; so does the end of a connection.
        held = place.PAGES - int(now[place.FREE_PAGES])
        ends = min(self._ends_at_once, self.followed + count)
        most = 16 * count + 4 * held + (5 * ends if last else 0) + 1024
        if self._out.shape[1] < most:
            self._out = _rows_of(most)
        now[place.PIECES] = 0
        packets = (
            self._out, buffer, block.offset, block.length, block.wire_B, block.t_ps, block.linktype, block.first
        )  # fmt: skip
        at = 0
        while at < count:
            at = follow_in_order(state, *packets, at, count)
            if at < count:
                at = follow(state, *packets, at)
        if last:
            t_ps = int(block.t_ps[-1]) if count else self._t_ps
            close_all(state, self._out, buffer, self._ends_at_once, block.first + count - 1, t_ps)
        if count:
            self._t_ps = int(block.t_ps[-1])
        if now[place.OVERFLOW]:
            raise RuntimeError(f"{now[place.OVERFLOW]} pieces of TCP streams more than expected")
        out = self._out[:, : now[place.PIECES]]
        return StreamPieces(
            buffer,
            self._connections,
            out[place.KIND].astype(np.uint8),
            out[place.SIDE].astype(np.uint8),
            out[place.AUX].astype(np.uint8),
            out[place.SLOT].astype(np.int32),
            *out[place.CONNECTION :],
        )

    def _roomy(self, block: PacketBlock) -> Bytes:
        """Return the block's buffer, or a copy with more room behind its packets for held bytes."""
        now = self._now
        used = block.spare
        if used is None:
            used = int((block.offset + block.length).max(initial=0))
        now[place.SPARE] = used
        room = int(now[place.HELD_TOTAL_B]) + int(block.length.sum())
        if len(block.buffer) - used >= room:
            return block.buffer
        buffer = np.empty(used + room, np.uint8)
        buffer[:used] = block.buffer[:used]
        return buffer
