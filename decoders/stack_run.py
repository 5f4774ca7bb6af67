"""A stack at work: pieces of a capture go through its decoders, and the tables on top are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from freezeframe.capture.code import code
from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.samples import Samples
from freezeframe.capture.packets.block import PacketBlock
from freezeframe.decoders.blame import blamed
from freezeframe.decoders.given_tables import checked
from freezeframe.decoders.registry import SIGROK
from freezeframe.decoders.spec import Stack, Step
from freezeframe.decoders.worker import WorkerState

if TYPE_CHECKING:
    from freezeframe.capture.folder import (
        CaptureFolder,
    )  # with the names of the registers; not for samples

    Piece = Edges | Samples | CaptureFolder | PacketBlock

_joined_for_sigrok = code("freezeframe.decoders.srd.stacking:joined")


class Decoded(NamedTuple):
    """A table and its name: that of the stack, with the kind where a decoder makes several."""

    name: str
    table: pa.Table


class StackRun:
    """A stack with the states of its decoders: fed with pieces, it collects the tables on top."""

    def __init__(self, stack: Stack) -> None:
        """Make the states.

        Raises:
            InputError: a decoder cannot work with its options.
        """
        self._name = stack.name
        if any(step.decoder.id.startswith(SIGROK) for step in stack.steps):
            stack = _joined_for_sigrok(stack)
        self._steps = [(step, _new_state(step)) for step in stack.steps]
        self._workers = [state for _, state in self._steps if isinstance(state, WorkerState)]
        self._tables: dict[str, list[pa.Table]] = {
            output.kind: [] for output in stack.steps[-1].decoder.produces
        }

    def feed(self, piece: Piece, *, last: bool) -> None:
        """Put a piece through all decoders, and keep the tables.

        Raises:
            InputError: a decoder gives something else than it declares.
        """
        while True:
            for kind, table in self._step(piece, last).items():
                self._tables[kind].append(table)
            if not (last and self.left and isinstance(piece, PacketBlock)):
                return
            piece = piece.after()

    @property
    def left(self) -> bool:
        """Whether the decoders have more to tell behind the last piece, when they get an empty one."""
        return any(_left(step, state) for step, state in self._steps)

    def step(self, piece: Piece, *, last: bool) -> list[Decoded]:
        """Put a piece through all decoders, and hand over the tables at once.

        Raises:
            InputError: as `feed`.
        """
        return [
            Decoded(self._table_name(kind), table)
            for kind, table in self._step(piece, last).items()
        ]

    def _step(self, piece: Piece, last: bool) -> Mapping[str, pa.Table]:
        fed: Piece | pa.Table = piece
        tables: Mapping[str, pa.Table] = {}
        for step, state in self._steps:
            if tables:
                fed = tables[step.decoder.consumes]
            decode = step.decoder.decode
            if isinstance(fed, Samples) and step.decoder.decode_samples is not None:
                decode = step.decoder.decode_samples
            with blamed(step.decoder, decode):
                tables = checked(step.decoder, decode(fed, step.options, state, last))
            last = last and not _left(step, state)
        return tables

    def wanted(self, piece: Edges | Samples, probes: Sequence[str | None]) -> Edges | Samples:
        """Return what `feed` takes of a piece: these channels, and edges unless samples will do."""
        if isinstance(piece, Samples) and self._steps[0][0].decoder.decode_samples is None:
            piece = piece.edges()
        return piece.select(probes)

    @property
    def in_worker(self) -> bool:
        """Whether a process of its own does the work, so that others can go on meanwhile."""
        return bool(self._workers)

    @property
    def takes_samples(self) -> bool:
        """Whether a worker goes through all samples, also those where nothing changes."""
        return any(worker.takes_samples for worker in self._workers)

    def stop(self) -> None:
        """Let a `feed` that is under way in another thread fail soon."""
        for worker in self._workers:
            worker.stop()

    def close(self) -> None:
        """End what works for this run; after an error nothing must be left."""
        for worker in self._workers:
            worker.close()

    def tables(self) -> list[Decoded]:
        """Hand over all rows so far, one table for each kind that the decoder on top makes.

        They are no longer kept here: a billion samples can give more than fits twice.
        """
        return [
            Decoded(self._table_name(kind), _in_one(tables))
            for kind, tables in self._tables.items()
            if tables
        ]

    def _table_name(self, kind: str) -> str:
        if len(self._tables) == 1:
            return self._name
        return f"{self._name}.{kind.removeprefix(f'{self._steps[-1][0].decoder.id}.')}"


def _new_state(step: Step) -> Any:
    with blamed(step.decoder, step.decoder.new_state):
        return step.decoder.new_state(step.options)


def _left(step: Step, state: Any) -> bool:
    return step.decoder.left is not None and step.decoder.left(state)


def _in_one(parts: list[pa.Table]) -> pa.Table:
    """Join tables column by column and empty ``parts``, so that only one column is there twice."""
    parts[:] = [part for part in parts if len(part)] or parts[:1]
    if len(parts) == 1 and all(column.num_chunks == 1 for column in parts[0].columns):
        return parts.pop()  # copying it takes as long as making it
    whole = pa.concat_tables(parts)
    parts.clear()
    if not all(map(_one_dictionary, whole.columns)):
        whole = whole.unify_dictionaries()  # loads code for 0.01 s
    schema = whole.schema
    columns = []
    for _ in range(len(schema)):
        columns.append(whole.column(0).combine_chunks())
        whole = whole.remove_column(0)
    return pa.Table.from_arrays(columns, schema=schema)


def _one_dictionary(column: pa.ChunkedArray) -> bool:
    if not pa.types.is_dictionary(column.type):
        return True
    return all(a.dictionary.equals(b.dictionary) for a, b in pairwise(column.chunks))
