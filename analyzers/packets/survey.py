"""What a source of packets holds, read once: the explanation, the connections that matter, latencies, sums.

Memory does not depend on the length of the source: beyond `MOST_CONNECTIONS` connections, those without a finding that
carried least are counted only.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from freezeframe.analyzers.iwarp.explain import Explaining, PacketExplanation
from freezeframe.analyzers.packets.latencies import Latencies, Latency
from freezeframe.capture.packets.block import Interface, PacketBlock
from freezeframe.capture.packets.source import blocks_of, open_source
from freezeframe.decoders.iwarp.iwarp import IWARP
from freezeframe.decoders.iwarp.iwarp_code import IwarpState, decode_iwarp
from freezeframe.decoders.net.tcp_code import connection_table
from freezeframe.decoders.net.tcp_streams import TcpStreams

MOST_CONNECTIONS = 1000
WAYS = ("there", "back")
_SUMMED = ("packets", "repeated", "gaps", "different", "resets")
_SUMMED_B = ("payload", "stream", "repeated_bytes", "lost", "cut")


@dataclass(frozen=True, slots=True)
class SeenConnection:
    """A connection: its row of ``tcp.connections``, and that of ``iwarp.connections`` where it had anything of it."""

    number: int
    broken: bool
    tcp: dict[str, Any]
    iwarp: dict[str, Any] | None = None

    @property
    def carried_B(self) -> int:
        return sum(self.tcp[f"stream_{way}_B"] for way in WAYS)

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """Return what it is chosen by: a finding, iWARP, then what it carried."""
        return self.broken, self.iwarp is not None, self.carried_B


@dataclass(slots=True)
class Survey:
    """A source of packets in short.

    Attributes:
        connections: the `MOST_CONNECTIONS` that matter most, first what has a finding or carried most.
        connections_in_all: with those that are not listed.
        begin_ps, end_ps: earliest and latest packet; both 0 without any.
        epoch_ns: of time 0, since 1970 UTC.
        sums: of all TCP connections both ways: packets, ``stream_B``, repeated, gaps...
    """

    explanation: PacketExplanation = field(default_factory=PacketExplanation)
    connections: list[SeenConnection] = field(default_factory=list)
    connections_in_all: int = 0
    latencies: list[Latency] = field(default_factory=list)
    begin_ps: int = 0
    end_ps: int = 0
    epoch_ns: int = 0
    wire_B: int = 0
    cut_packets: int = 0
    format: str = ""
    interfaces: tuple[Interface, ...] = ()
    sums: dict[str, int] = field(default_factory=dict)

    def clock_text(self, t_ps: int) -> str:
        """Return a time as the clock of the capturing machine had it."""
        us = (self.epoch_ns + t_ps // 1000) // 1000
        return f"{datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=us):%Y-%m-%d %H:%M:%S.%f} UTC"


def survey_packets(
    source: Path | str,
    progress: Callable[[int, int], None] | None = None,
    cut_ps: tuple[int, int | None] | None = None,
) -> Survey:
    """Read a source of packets once, or the packets of ``cut_ps`` in it, and return what it holds.

    Raises:
        InputError, TargetError: it cannot be opened, or is none.
    """
    made = Survey()
    gathering = Gathering(made)
    with open_source(source, progress) as opened:
        for block, last in blocks_of(opened, cut_ps=cut_ps):
            gathering.take(block, last)
        made.epoch_ns, made.format = opened.epoch_ns, opened.format
        made.interfaces = tuple(opened.interfaces)
        gathering.finish(opened.notes)
    return made


class Gathering:
    """A survey in the making. `take` returns the tables of the decoder ``iwarp`` for whoever wants to see them too."""

    def __init__(self, made: Survey, *, fpdus: bool = False) -> None:
        self._made = made
        self._options = IWARP.option_values({"fpdus": fpdus})
        self._iwarp = IwarpState(self._options)
        self.streams = TcpStreams(retransmissions=True)
        self._explaining = Explaining()
        self._latencies = Latencies()
        self._seen = False

    def take(self, block: PacketBlock, last: bool) -> dict[str, pa.Table]:
        """Take a block; of its streams `pieces` are good until the next."""
        made = self._made
        if len(block):
            begin, end = int(block.t_ps.min()), int(block.t_ps.max())
            made.begin_ps = min(made.begin_ps, begin) if self._seen else begin
            made.end_ps = max(made.end_ps, end) if self._seen else end
            self._seen = True
            made.wire_B += int(block.wire_B.sum())
            made.cut_packets += int((block.length < block.wire_B).sum())
        tables = decode_iwarp(block, self._options, self._iwarp, last)
        self._explaining.take(len(block), tables)
        self._latencies.take(tables["iwarp.operations"])
        self.pieces = self.streams.feed(block, last)
        closed = connection_table(self.pieces)
        if len(closed):
            self._take_closed(closed, tables["iwarp.connections"])
        return tables

    def finish(self, notes: list[str]) -> None:
        """Complete the survey."""
        self._made.explanation = self._explaining.finish(notes)
        self._made.explanation.tcp_packets = self.streams.packets
        self._made.latencies = self._latencies.rows()

    def _take_closed(self, closed: pa.Table, iwarp: pa.Table) -> None:
        made = self._made
        made.connections_in_all += len(closed)
        for names, unit in ((_SUMMED, ""), (_SUMMED_B, "_B")):
            for name in names:
                columns = (closed.column(f"{name}_{way}{unit}").to_numpy() for way in WAYS)
                so_far = made.sums.get(f"{name}{unit}", 0)
                made.sums[f"{name}{unit}"] = so_far + sum(int(each.sum()) for each in columns)
        of_iwarp = {row["connection"]: row for row in iwarp.to_pylist()}
        chosen = _most_wanted(closed, self._explaining.broken, of_iwarp.keys())
        made.connections += [
            SeenConnection(
                row["connection"],
                row["connection"] in self._explaining.broken,
                row,
                of_iwarp.get(row["connection"]),
            )
            for row in closed.take(chosen).to_pylist()
        ]
        made.connections.sort(key=lambda each: (*each.rank, -each.number), reverse=True)
        del made.connections[MOST_CONNECTIONS:]


def _most_wanted(closed: pa.Table, broken: Set[int], iwarp: Set[int]) -> Any:
    """Return the places of the rows that may be among the chosen ones, before they become objects."""
    number = closed.column("connection").to_numpy()
    carried = sum(closed.column(f"stream_{way}_B").to_numpy() for way in WAYS)
    told = [np.isin(number, np.fromiter(each, np.int64)) for each in (broken, iwarp)]
    order = np.lexsort((carried, told[1], told[0]))
    return order[-MOST_CONNECTIONS:]
