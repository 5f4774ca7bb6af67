"""Blocks of packets in, tables of iWARP out."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from freezeframe.capture.packets.block import PacketBlock
from freezeframe.decoders.contract import OptionValues
from freezeframe.decoders.iwarp.piece_kernels import take_pieces
from freezeframe.decoders.iwarp.state import (
    CLOSED_OUT,
    EVENTS_OUT,
    FPDUS_OUT,
    FRAGMENT_B,
    FRAGMENTS,
    KEPT_FPDUS,
    OPERATIONS_OUT,
    Pieces,
    new_state,
)
from freezeframe.decoders.iwarp.tables import (
    connection_table,
    event_table,
    fpdu_table,
    operation_table,
)
from freezeframe.decoders.net.tcp_streams import Connections, TcpStreams


class IwarpState:
    """The streams of a capture and what is known of iWARP in them."""

    def __init__(self, options: OptionValues) -> None:
        self.streams = TcpStreams()
        self.payload = options.flag("payload")
        self.fpdus = options.flag("fpdus")
        self.kernel = new_state(payload=self.payload)
        self.kept = 0  # rows of FPDUs that were handed on already


def decode_iwarp(
    piece: PacketBlock, options: OptionValues, state: IwarpState, last: bool
) -> dict[str, pa.Table]:
    """Decode a block of packets; connections come when they end."""
    pieces = state.streams.feed(piece, last)
    columns = Pieces(*(getattr(pieces, name) for name in Pieces._fields))
    tables: dict[str, list[pa.Table]] = {
        "iwarp.events": [],
        "iwarp.operations": [],
        "iwarp.fpdus": [],
        "iwarp.connections": [],
    }
    end_ps = int(piece.t_ps[-1]) if len(piece) else 0
    at, inside = 0, 0
    while True:
        at, inside = take_pieces(
            state.kernel, columns, pieces.buffer, np.int64(at), np.int64(inside)
        )
        _harvest(state, pieces.connections, max(end_ps, 0), tables)
        if at == len(pieces):
            break
    return {kind: pa.concat_tables(parts) for kind, parts in tables.items()}


def _harvest(
    state: IwarpState, connections: Connections, end_ps: int, tables: dict[str, list[pa.Table]]
) -> None:
    """Make tables of the rows so far, and room for more."""
    kernel, counts = state.kernel, state.kernel.counts
    fpdus = kernel.fpdus[state.kept : counts[FPDUS_OUT]]
    tables["iwarp.fpdus"].append(
        fpdu_table(
            fpdus if state.fpdus else fpdus[:0], connections, kernel if state.payload else None
        )
    )
    tables["iwarp.operations"].append(
        operation_table(kernel.operations[: counts[OPERATIONS_OUT]], connections)
    )
    tables["iwarp.events"].append(event_table(kernel.events[: counts[EVENTS_OUT]], connections))
    closed = kernel.closed[: counts[CLOSED_OUT]]
    tables["iwarp.connections"].append(
        connection_table(closed, kernel.closed_private, connections, end_ps)
    )
    counts[[OPERATIONS_OUT, EVENTS_OUT, CLOSED_OUT]] = 0
    # The newest FPDUs stay: a Terminate says which of them it is about.
    kept = min(int(counts[FPDUS_OUT]), KEPT_FPDUS)
    kernel.fpdus[:kept] = kernel.fpdus[counts[FPDUS_OUT] - kept : counts[FPDUS_OUT]].copy()
    counts[FPDUS_OUT] = state.kept = kept
    if state.payload:
        _move_payload(state)


def _move_payload(state: IwarpState) -> None:
    """Keep the payload of FPDUs that are not whole, and forget that of the others."""
    kernel, counts = state.kernel, state.kernel.counts
    halves = kernel.halves
    open_ones = np.flatnonzero(halves["fragment_first"] >= 0)
    kept_rows, kept_bytes = [], []
    n = offset = 0
    for number in open_ones:
        fragment = int(halves["fragment_first"][number])
        parts = []
        while fragment >= 0:
            row = kernel.fragments[fragment]
            parts.append(kernel.payload[row["offset"] : row["offset"] + row["length"]])
            fragment = int(row["next"])
        whole = np.concatenate(parts)
        kept_bytes.append(whole)
        kept_rows.append((-1, offset, len(whole)))
        halves["fragment_first"][number] = halves["fragment_last"][number] = n
        n, offset = n + 1, offset + len(whole)
    for place, row in enumerate(kept_rows):
        kernel.fragments[place] = row
    if kept_bytes:
        kernel.payload[:offset] = np.concatenate(kept_bytes)
    counts[FRAGMENTS], counts[FRAGMENT_B] = n, offset
