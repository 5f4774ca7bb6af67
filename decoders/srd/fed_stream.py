"""Sigrok decoders that stand on a native one: its events in, annotations as columns out.

The native decoder runs here; its events go as rows of numbers to the worker, where a small decoder of
ours (``feeds/``) makes the objects of them that sigrok's decoders take.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.blame import blamed
from freezeframe.decoders.contract import Decoder, OptionValues
from freezeframe.decoders.srd.adapter import SrdStep
from freezeframe.decoders.srd.feed_i2c import I2cRows
from freezeframe.decoders.srd.feed_spi import SpiRows
from freezeframe.decoders.srd.feed_uart import UartRows
from freezeframe.decoders.srd.location import SrdLocation
from freezeframe.decoders.srd.stream import CHUNK_B, CHUNKS, SrdStream

_FOLDER = Path(__file__).with_name("feeds")
_NUMBER_B = 8


class _Rows(Protocol):
    def __init__(self, options: OptionValues) -> None: ...

    def settings(self) -> dict[str, Any]: ...

    def rows(
        self, piece: Edges, tables: Mapping[str, pa.Table], state: Any, *, last: bool
    ) -> npt.NDArray[np.int64]: ...


@dataclass(frozen=True, slots=True)
class Feeder:
    """Which decoder in ``feeds/`` makes the objects of one kind, and of which tables.

    ``objects`` are all that sigrok documents for the kind: none is left out, so no decoder on top has
    to be refused for want of one.
    """

    id: str
    rows: type[_Rows]
    tables: tuple[str, ...]
    objects: tuple[str, ...]


FEEDERS = {
    "srd.spi": Feeder(
        "freezeframe_spi", SpiRows, ("spi.words",), ("CS-CHANGE", "BITS", "DATA", "TRANSFER")
    ),
    "srd.i2c": Feeder(
        "freezeframe_i2c",
        I2cRows,
        ("i2c.bytes",),
        ("START", "START REPEAT", "STOP", "BITS", "ADDRESS READ", "ADDRESS WRITE", "DATA READ",
         "DATA WRITE", "ACK", "NACK"),
    ),
    "srd.uart": Feeder(
        "freezeframe_uart",
        UartRows,
        ("uart",),
        ("STARTBIT", "DATA", "PARITYBIT", "STOPBIT", "INVALID STARTBIT", "INVALID STOPBIT",
         "PARITY ERROR", "BREAK", "FRAME", "IDLE"),
    ),
}  # fmt: skip


class FedStream(SrdStream):
    """A native decoder with a stack of sigrok's on it, which are in a worker."""

    takes_samples = False

    def __init__(
        self,
        location: SrdLocation,
        native: tuple[Decoder, OptionValues],
        steps: Sequence[SrdStep],
        *,
        timeout_s: float | None = None,
    ) -> None:
        """Prepare; ``steps`` are sigrok's, the lowest first.

        Raises:
            InputError: the native decoder lacks tables or options of which rows are made.
        """
        self._native, self._options = native
        feeder = _feeder(self._native)
        try:
            self._source = feeder.rows(self._options)
        except KeyError as error:
            raise _wrong(self._native, f"without an option {error}") from None
        self._state = self._native.new_state(self._options)
        super().__init__(
            replace(location, folders=(_FOLDER, *location.folders)),
            [SrdStep(feeder.id, self._source.settings()), *steps],
            [],
            timeout_s=timeout_s,
        )
        self._what = f"sigrok decoder {'+'.join(step.id for step in steps)} on {self._native.id}"

    def _open(self, piece: Edges) -> None:
        self._start(_NUMBER_B, piece.samplerate_hz, {})

    def _fill(self, piece: Edges, *, last: bool) -> None:
        with blamed(self._native, self._native.decode):
            result = self._native.decode(piece, self._options, self._state, last)
        tables = result if isinstance(result, Mapping) else {self._native.produces[0].kind: result}
        rows = self._source.rows(piece, tables, self._state, last=last)
        most = CHUNK_B // _NUMBER_B // rows.shape[1]
        for first in range(0, len(rows), most):
            part = rows[first : first + most]
            self._wait_for_room()
            worker, chunk = self._working()
            chunk[self._sent % CHUNKS, : part.size] = part.ravel().view(np.uint64)
            worker.ask(
                {
                    "do": "rows",
                    "rows": len(part),
                    "width": part.shape[1],
                    "offset_B": self._sent % CHUNKS * CHUNK_B,
                },
                f"{len(part)} rows of {self._native.id} in samples {piece.begin_sample} to "
                f"{piece.end_sample}",
            )
            self._sent += 1


def _feeder(native: Decoder) -> Feeder:
    feeder = FEEDERS.get(native.sigrok)
    kinds = [output.kind for output in native.produces]
    if feeder is None or not set(feeder.tables) <= set(kinds):
        raise _wrong(native, f"from {', '.join(kinds)}")
    return feeder


def _wrong(native: Decoder, why: str) -> InputError:
    return InputError(
        f"decoder {native.id} is wrong: objects {native.sigrok} of sigrok cannot be made {why}; "
        "tell its author"
    )
