"""What happened on chosen connections over time, in bounded memory: operations, events, throughput.

A second reading of the source, when `survey_packets` has said which connections matter, and its span of time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from freezeframe.analyzers.packets.rates import Rates
from freezeframe.analyzers.packets.reduced import Nearest, Reduced, Stretches
from freezeframe.analyzers.packets.survey import Survey
from freezeframe.capture.packets.source import packet_blocks
from freezeframe.decoders.iwarp.iwarp import IWARP
from freezeframe.decoders.iwarp.iwarp_code import IwarpState, decode_iwarp
from freezeframe.decoders.net.tcp_code import event_table
from freezeframe.decoders.net.tcp_streams import TcpStreams

RATE_STRETCHES = 600


@dataclass(slots=True)
class Side:
    """What one end of a connection did."""

    operations: Reduced
    events: Reduced
    tcp: Reduced


@dataclass(slots=True)
class Activity:
    """What happened on some connections.

    Attributes:
        sides: by number of the connection and side, as the tables have them.
        rates: payload by time, both ways of each connection and of all; bytes that came once.
        near_operations, near_fpdus: those of the connection of the first finding that lie closest to it.
    """

    sides: dict[tuple[int, int], Side]
    rates: Rates
    near_operations: Nearest | None = None
    near_fpdus: Nearest | None = None


def packet_activity(
    source: Path | str,
    survey: Survey,
    connections: Sequence[int],
    *,
    most: int,
    near: int,
    progress: Callable[[int, int], None] | None = None,
) -> Activity:
    """Read a source again and return what happened on ``connections``.

    Args:
        most: rows of a side that are kept one by one; beyond that they are summed in as many stretches.
        near: operations and FPDUs that are kept around the first finding.
    Raises:
        InputError: the source cannot be opened again.
    """
    stretches = Stretches(survey.begin_ps, survey.end_ps + 1, most)
    made = Activity(
        {
            (connection, side): Side(
                Reduced(stretches, most),
                Reduced(stretches, most, "error"),
                Reduced(stretches, most),
            )
            for connection in connections
            for side in (0, 1)
        },
        Rates(connections, Stretches(survey.begin_ps, survey.end_ps + 1, RATE_STRETCHES)),
    )
    findings = survey.explanation.findings
    if findings:
        first = findings[0].first
        made.near_operations = Nearest(first.connection, first.t_ps, near)
        made.near_fpdus = Nearest(first.connection, first.t_ps, near)
    options = IWARP.option_values({"fpdus": bool(findings)})
    iwarp, streams = IwarpState(options), TcpStreams(retransmissions=True)
    for block, last in packet_blocks(source, progress):
        tables = decode_iwarp(block, options, iwarp, last)
        pieces = streams.feed(block, last)
        made.rates.take(pieces)
        tcp = event_table(pieces)
        for key, side in made.sides.items():
            side.operations.take(_of(tables["iwarp.operations"], *key))
            side.events.take(_of(tables["iwarp.events"], *key))
            side.tcp.take(_of(tcp, *key))
        if made.near_operations is not None and made.near_fpdus is not None:
            made.near_operations.take(tables["iwarp.operations"])
            made.near_fpdus.take(tables["iwarp.fpdus"])
    return made


def _of(table: pa.Table, connection: int, side: int) -> pa.Table:
    if not len(table):
        return table
    mine = pc.and_(
        pc.equal(table.column("connection"), connection), pc.equal(table.column("side"), side)
    )
    return table.filter(mine)
