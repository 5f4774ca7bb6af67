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
    Sources,
    connection_schema,
    connection_table,
    event_schema,
    event_table,
    fpdu_schema,
    fpdu_table,
    operation_schema,
    operation_table,
)
from freezeframe.decoders.net.tcp_state import MOST_CONNECTIONS
from freezeframe.decoders.net.tcp_streams import Connections, TcpStreams

_KINDS = {
    "iwarp.events": event_schema,
    "iwarp.operations": operation_schema,
    "iwarp.fpdus": fpdu_schema,
    "iwarp.connections": connection_schema,
}
_WAITING_BLOCKS, _BUSY_B = 8, 1 << 20
_ENDS_AT_ONCE = 1 << 11
_PACKETS = 1 << 13  # fed at a time: each may close a connection, whose slot is free with the next


class IwarpState:
    """The streams of a capture and what is known of iWARP in them."""

    def __init__(self, options: OptionValues, ends_at_once: int = MOST_CONNECTIONS) -> None:
        """Take how many connections the last block ends, as `TcpStreams`."""
        self.streams = TcpStreams(ends_at_once=ends_at_once)
        self.payload = options.flag("payload")
        self.fpdus = options.flag("fpdus")
        self.kernel = new_state(payload=self.payload)
        self.kept = 0  # rows of FPDUs that were handed on already
        self.sources = Sources()
        self.waited = 0  # blocks whose rows were not handed on yet
        self.empty = {kind: pa.Table.from_batches([], schema()) for kind, schema in _KINDS.items()}


def new_iwarp(options: OptionValues) -> IwarpState:
    return IwarpState(options, _ENDS_AT_ONCE)


def iwarp_left(state: IwarpState) -> bool:
    return state.streams.followed > 0


def decode_iwarp(
    piece: PacketBlock, options: OptionValues, state: IwarpState, last: bool
) -> dict[str, pa.Table]:
    """Decode a block of packets; connections come when they end.

    Rows of a few large blocks may come together: a table has a cost of its own.
    """
    tables: dict[str, list[pa.Table]] = {kind: [] for kind in _KINDS}
    end_ps = max(0, int(piece.t_ps[-1])) if len(piece) else 0
    counts = state.kernel[0]["counts"]
    for part, ends in piece.parts(_PACKETS):
        pieces = state.streams.feed(part, last and ends)
        columns = Pieces(*(getattr(pieces, name) for name in Pieces._fields))
        at, inside = 0, 0
        while at < len(pieces):
            at, inside = take_pieces(
                state.kernel, columns, pieces.buffer, np.int64(at), np.int64(inside)
            )
            if at < len(pieces):
                _harvest(state, pieces.connections, end_ps, tables)
        # Slots of connections that ended are others' with the next part.
        told = counts[CLOSED_OUT] or counts[EVENTS_OUT]
        if told or (ends and (last or not _may_wait(state, piece))):
            _harvest(state, pieces.connections, end_ps, tables)
    return {
        kind: pa.concat_tables(parts) if parts else state.empty[kind]
        for kind, parts in tables.items()
    }


def _may_wait(state: IwarpState, piece: PacketBlock) -> bool:
    """Return whether the rows so far can wait for more: not those of a trickle."""
    state.waited += 1
    busy = int(piece.length.sum()) >= _BUSY_B
    return busy and state.waited <= _WAITING_BLOCKS and not state.payload


def _harvest(
    state: IwarpState, connections: Connections, end_ps: int, tables: dict[str, list[pa.Table]]
) -> None:
    """Make tables of the rows so far, and room for more."""
    kernel = state.kernel[0]
    counts = kernel["counts"]
    fpdus = kernel["fpdus"][state.kept : counts[FPDUS_OUT]]
    tables["iwarp.fpdus"].append(
        fpdu_table(
            fpdus if state.fpdus else fpdus[:0],
            connections,
            state.sources,
            kernel if state.payload else None,
        )
    )
    tables["iwarp.operations"].append(
        operation_table(kernel["operations"][: counts[OPERATIONS_OUT]], connections, state.sources)
    )
    tables["iwarp.events"].append(
        event_table(kernel["events"][: counts[EVENTS_OUT]], connections, state.sources)
    )
    closed = kernel["closed"][: counts[CLOSED_OUT]]
    if len(closed):
        tables["iwarp.connections"].append(
            connection_table(closed, kernel["closed_private"], connections, end_ps)
        )
    counts[[OPERATIONS_OUT, EVENTS_OUT, CLOSED_OUT]] = 0
    state.waited = 0
    # The newest FPDUs stay: a Terminate says which of them it is about.
    state.kept = count = int(counts[FPDUS_OUT])
    if count > 2 * KEPT_FPDUS:
        kernel["fpdus"][:KEPT_FPDUS] = kernel["fpdus"][count - KEPT_FPDUS : count]
        counts[FPDUS_OUT] = state.kept = KEPT_FPDUS
    if state.payload:
        _move_payload(state)


def _move_payload(state: IwarpState) -> None:
    """Keep the payload of FPDUs that are not whole, and forget that of the others."""
    kernel = state.kernel[0]
    counts = kernel["counts"]
    halves = kernel["halves"]
    open_ones = np.flatnonzero(halves["fragment_first"] >= 0)
    kept_rows, kept_bytes = [], []
    n = offset = 0
    for number in open_ones:
        fragment = int(halves["fragment_first"][number])
        parts = []
        while fragment >= 0:
            row = kernel["fragments"][fragment]
            parts.append(kernel["payload"][row["offset"] : row["offset"] + row["length"]])
            fragment = int(row["next"])
        whole = np.concatenate(parts)
        kept_bytes.append(whole)
        kept_rows.append((-1, offset, len(whole)))
        halves["fragment_first"][number] = halves["fragment_last"][number] = n
        n, offset = n + 1, offset + len(whole)
    for place, row in enumerate(kept_rows):
        kernel["fragments"][place] = row
    if kept_bytes:
        kernel["payload"][:offset] = np.concatenate(kept_bytes)
    counts[FRAGMENTS], counts[FRAGMENT_B] = n, offset
