"""Tables of TCP connections and of what happens on them, out of `TcpStreams`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.packets.block import PacketBlock
from freezeframe.decoders import columns
from freezeframe.decoders.contract import OptionValues
from freezeframe.decoders.net import tcp_state as place
from freezeframe.decoders.net.addresses import address_codes
from freezeframe.decoders.net.tcp_streams import (
    AGAIN,
    CLOSED,
    DIFFERS,
    GAP,
    LEAST_RECENT,
    LOST,
    REPLACED,
    RST,
    Connections,
    StreamPieces,
    TcpStreams,
)

Int64 = npt.NDArray[np.int64]

_PS_PER_S = 10**12
_PART = 1 << 12  # connections whose texts and columns are made at a time: all may end at once
_PACKETS = 1 << 13  # fed at a time: each may close a connection, whose slot is free with the next
_COUNTS = {  # name of the column, without its unit: what it counts, and the unit
    "packets": (place.PACKETS, ""),
    "wire": (place.WIRE_B, "_B"),
    "payload": (place.PAYLOAD_B, "_B"),
    "stream": (place.STREAM_B, "_B"),
    "repeated": (place.REPEATED, ""),
    "repeated_bytes": (place.REPEATED_B, "_B"),
    "early": (place.EARLY, ""),
    "gaps": (place.GAPS, ""),
    "lost": (place.LOST_B, "_B"),
    "cut": (place.CUT_B, "_B"),
    "different": (place.DIFFERENT, ""),
    "resets": (place.RESETS, ""),
}
_WAYS = ("there", "back")
_KINDS = ("retransmission", "gap", "reset", "error", "given-up")
_OPENED = ("no SYN seen", "SYN seen", "SYN of the other end seen", "both SYN seen")
_ENDED = ("open", "FIN one way", "FIN both ways", "reset", "replaced", "given up")


def connection_schema() -> pa.Schema:
    """Return the columns of connections.

    ``t_ps`` to ``t_end_ps``: its first to its last packet. ``src`` is the end that opened it, or whose packet was
    first; ``there`` is from it, ``back`` to it. ``stream_B`` are the bytes that were followed, each once; ``repeated``
    counts segments with bytes that were there before, ``early`` those before which bytes were missing, ``gaps`` the
    holes that stayed, of ``lost_B``; ``cut_B`` were cut by the snap length; ``different``: retransmissions with other
    bytes. ``rate_bps`` is ``stream_B`` and ``cut_B`` over the time from that side's first to its last packet.
    ``handshake_ps`` is from SYN to the acknowledgement of the other SYN; -1 where it was not seen.
    """
    counted = {
        f"{name}_{way}{unit}": pa.int64() for way in _WAYS for name, (_, unit) in _COUNTS.items()
    }
    return columns.event_schema(
        {
            "connection": pa.int64(),
            **_ends_schema(),
            "opened": columns.name_type(),
            "ended": columns.name_type(),
            "handshake_ps": pa.int64(),
            **counted,
            **{f"rate_{way}_bps": pa.int64() for way in _WAYS},
        }
    )


def event_rows_schema() -> pa.Schema:
    """Return the columns of events.

    ``kind``: ``retransmission``, ``gap``, ``reset``, ``given-up`` for the least recently used of more than 65,536
    connections, ``error`` with the error ``differs`` for a retransmission of other bytes. ``src`` is the end whose
    stream it is, ``side`` 0 where that end is ``src`` of the connection, ``position`` a byte of that stream.
    """
    return columns.event_schema(
        {
            "connection": pa.int64(),
            "side": pa.uint8(),
            "packet": pa.int64(),
            **_ends_schema(),
            "position": pa.int64(),
            "length_B": pa.int64(),
        }
    )


def _ends_schema() -> dict[str, pa.DataType]:
    return {
        "src": columns.name_type(),
        "src_port": pa.int32(),
        "dst": columns.name_type(),
        "dst_port": pa.int32(),
    }


def new_tcp(_options: OptionValues) -> TcpStreams:
    return TcpStreams(retransmissions=True, ends_at_once=_PART)


def tcp_left(streams: TcpStreams) -> bool:
    return streams.followed > 0


def decode_tcp(
    block: PacketBlock, _options: OptionValues, streams: TcpStreams, last: bool
) -> dict[str, pa.Table]:
    """Return the connections that ended with a block, and the events of it."""
    connections, events = [], []
    for part, ends in block.parts(_PACKETS):
        pieces = streams.feed(part, last and ends)
        connections.append(connection_table(pieces))
        events.append(event_table(pieces))
    return {
        "tcp.connections": pa.concat_tables(connections),
        "tcp.events": pa.concat_tables(events),
    }


def connection_table(pieces: StreamPieces) -> pa.Table:
    """Return the connections that ended with these pieces."""
    closed = np.flatnonzero(pieces.kind == CLOSED)
    parts = [_ended_ones(pieces, closed[at : at + _PART]) for at in range(0, len(closed), _PART)]
    return pa.concat_tables(parts or [pa.Table.from_batches([], connection_schema())])


def _ended_ones(pieces: StreamPieces, closed: npt.NDArray[np.intp]) -> pa.Table:
    slot, why, of = pieces.slot[closed], pieces.aux[closed], pieces.connections
    side = [_Side(of, s, slot) for s in (0, 1)]
    sent = [each[place.PACKETS] > 0 for each in side]
    state = [each[place.STATE] for each in side]
    late = np.iinfo(np.int64)
    begin = np.minimum(
        *(np.where(s, each[place.FIRST_PS], late.max) for s, each in zip(sent, side, strict=True))
    )
    end = np.maximum(
        *(np.where(s, each[place.LAST_PS], late.min) for s, each in zip(sent, side, strict=True))
    )
    opened = sum((state[s] & place.SYN_SEEN != 0) * (1 << s) for s in (0, 1))
    both = (state[0] & state[1] & place.SYN_SEEN != 0) & (side[0][place.ACK_PS] != 0)
    handshake = np.where(both, side[0][place.ACK_PS] - side[0][place.SYN_PS], -1)
    ended = sum((state[s] & place.FIN_SEEN != 0).astype(np.int64) for s in (0, 1))
    ended = np.where(why == REPLACED, 4, np.where(why == LEAST_RECENT, 5, ended))
    ended = np.where((state[0] | state[1]) & place.RESET != 0, 3, ended)
    table: dict[str, Any] = {
        "t_ps": begin,
        "t_end_ps": end,
        "connection": pieces.connection[closed],
        "opened": columns.names(np.asarray(opened), _OPENED),
        "ended": columns.names(ended, _ENDED),
        "handshake_ps": handshake,
        **_ends(of, slot, np.zeros(len(slot), np.int64)),
        **_same(len(slot), "connection"),
    }
    for way, each in zip(_WAYS, side, strict=True):
        for name, (column, unit) in _COUNTS.items():
            table[f"{name}_{way}{unit}"] = each[column]
        lasted = each[place.LAST_PS] - each[place.FIRST_PS]
        rate = (each[place.STREAM_B] + each[place.CUT_B]) * 8.0 * _PS_PER_S / np.maximum(lasted, 1)
        table[f"rate_{way}_bps"] = np.where(lasted > 0, rate, -1).astype(np.int64)
    return columns.table(connection_schema(), table)


class _Side:
    """What is counted of one side of connections, a column at a time: all at once are 30 MB."""

    def __init__(self, of: Connections, side: int, slot: npt.NDArray[np.int32]) -> None:
        self._of, self._side, self._slot = of, side, slot

    def __getitem__(self, column: int) -> Int64:
        return self._of.of_side(self._side, column)[self._slot]


def event_table(pieces: StreamPieces) -> pa.Table:
    """Return what went wrong in these pieces; retransmissions where `TcpStreams` was asked to tell them."""
    kind = np.full(len(pieces), -1, np.int64)
    for place_of, code in enumerate((AGAIN, GAP, RST, DIFFERS, CLOSED)):
        kind[pieces.kind == code] = place_of
    # What the snap length cut off every packet is counted, not told.
    kind[(pieces.kind == GAP) & (pieces.aux != LOST)] = -1
    kind[(pieces.kind == CLOSED) & (pieces.aux != LEAST_RECENT)] = -1
    told = np.flatnonzero(kind >= 0)
    if not len(told):
        return pa.Table.from_batches([], event_rows_schema())
    kind = kind[told]
    table = {
        **_same(len(told), ""),
        "t_ps": pieces.t_ps[told],
        "t_end_ps": pieces.t_ps[told],
        "kind": columns.names(kind, _KINDS),
        "error": columns.names((kind == _KINDS.index("error")).astype(np.int64), ("", "differs")),
        "connection": pieces.connection[told],
        "side": pieces.side[told],
        "packet": pieces.packet[told],
        "position": pieces.position[told],
        "length_B": pieces.length[told],
        **_ends(pieces.connections, pieces.slot[told], pieces.side[told].astype(np.int64)),
    }
    return columns.table(event_rows_schema(), table)


def _same(count: int, kind: str) -> dict[str, pa.Array]:
    return {
        "source": columns.one_name("", count),
        "kind": columns.one_name(kind, count),
        "error": columns.one_name("", count),
    }


def _ends(of: Connections, slot: npt.NDArray[np.int32], side: Int64) -> dict[str, Any]:
    """Return addresses and ports of connections, the sender's being that of ``side``."""
    version = of.ip_version[slot]
    ends = {}
    for name, which in (("src", side), ("dst", 1 - side)):
        high, low = (
            np.where(which == 1, of.address(1)[half][slot], of.address(0)[half][slot])
            for half in (0, 1)
        )
        ends[name] = columns.names(*address_codes(version, high, low))
        ends[f"{name}_port"] = np.where(which == 1, of.port(1)[slot], of.port(0)[slot])
    return ends
