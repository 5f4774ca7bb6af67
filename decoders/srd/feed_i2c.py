"""Conditions and bytes of the native I2C decoder as rows for sigrok's objects.

Source: the OUTPUT_PYTHON format of sigrok's decoder ``i2c``, as its documentation gives it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.columns import codes_of
from freezeframe.decoders.contract import OptionValues
from freezeframe.decoders.serial.i2c_glitches import new_filter, without_glitches
from freezeframe.decoders.srd.feed_edges import LineEdges, places_after

_KINDS = ("start", "repeated-start", "stop", "address", "address-low", "data")  # numbers of rows
_FIRST_BYTE = _KINDS.index("address")
_NS_PER_S = 10**9
_BITS = 8
# Of a row, -1 where there is none; then where each bit was sampled.
_COLUMNS = ("sample", "byte_end_sample", "data", "read", "ack", "ack_sample", "end_sample")


class I2cRows:
    """Rows for ``feeds/freezeframe_i2c``: conditions, bytes and their acknowledge."""

    def __init__(self, options: OptionValues) -> None:
        self._glitch_ns = options.integer("glitch_ns")
        self._filter = new_filter()
        self._clock = LineEdges()
        self._risen = np.zeros(0, dtype=np.int64)  # edges of SCL that may be bits of an open byte

    def settings(self) -> dict[str, Any]:
        """Return the options of the feeder."""
        return {}

    def rows(
        self, piece: Edges, tables: Mapping[str, pa.Table], state: Any, *, last: bool
    ) -> npt.NDArray[np.int64]:
        """Return what a piece adds, ``(n, w)`` int64, in the order of sigrok's objects."""
        sample, value = piece.sample, piece.value
        glitch_samples = -(-self._glitch_ns * piece.samplerate_hz // _NS_PER_S)
        if glitch_samples:
            # As the decoder does, so that what is filtered there is no bit here.
            until = piece.end_sample + (glitch_samples if last else 0)
            sample, value = without_glitches(sample, value, glitch_samples, until, self._filter)
        place, level = self._clock.changes_of(sample, value, 0)
        risen = np.concatenate([self._risen, place[level == 1]])
        self._risen = risen[-_BITS - 1 :]  # with the acknowledge, a byte that is open has no more
        table = tables["i2c.bytes"]
        kind = codes_of(table.column("kind"), _KINDS)
        chosen = kind >= 0
        rows = np.full((int(chosen.sum()), 1 + len(_COLUMNS) + _BITS), -1, dtype=np.int64)
        rows[:, 0] = kind[chosen]
        for at, name in enumerate(_COLUMNS, start=1):
            column = (
                table.column(name).cast("int8") if name in ("read", "ack") else table.column(name)
            )
            rows[:, at] = column.fill_null(-1).to_numpy()[chosen]
        bytes_ = rows[:, 0] >= _FIRST_BYTE
        rows[bytes_, -_BITS:] = places_after(risen, rows[bytes_, 1], _BITS)
        return rows
