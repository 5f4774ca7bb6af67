"""Words of SPI that are too long for a number: their bits, taken from the clocks, as bytes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.decoders.clocked import MARK, STILL, Clocks

MOST_NUMBER_BITS = 63  # of an int64 that is not negative
_CLK = np.uint64(1)


class WideBits:
    """The clocks that sample a bit, from the one on that may begin a word that is open."""

    def __init__(self) -> None:
        self._sample = np.zeros(0, dtype=np.int64)
        self._levels = np.zeros(0, dtype=np.uint64)

    def take(self, clocks: Clocks, *, falling: bool) -> None:
        """Keep the clocks of a piece; of a change of a select those where the clock samples too."""
        low = clocks.low
        sampling = (low & MARK == 0) | (
            (low & STILL == 0) & ((low ^ np.uint64(falling)) & _CLK != 0)
        )
        self._sample = np.concatenate((self._sample, clocks.sample[sampling]))
        self._levels = np.concatenate((self._levels, low[sampling]))

    def words(
        self, begins: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64], bit: int, lsb_first: bool
    ) -> npt.NDArray[np.object_]:
        """Return words as big-endian numbers in as few bytes as their bits need; None for one of size -1.

        Args:
            begins: ``(n,)`` sample of the first bit of each.
            sizes: ``(n,)`` bits of each.
            bit: of the levels: the channel of the line.
        """
        line = (self._levels >> np.uint64(bit) & np.uint64(1)).astype(np.uint8)
        firsts = np.searchsorted(self._sample, begins)
        made = np.full(len(begins), None, dtype=object)
        for at, (first, size) in enumerate(zip(firsts.tolist(), sizes.tolist(), strict=True)):
            if size < 0:
                continue
            bits = line[first : first + size]
            bits = bits[::-1] if lsb_first else bits
            # packbits fills up the last byte; the first is the one that may be short.
            made[at] = np.packbits(np.append(np.zeros(-size % 8, np.uint8), bits)).tobytes()
        return made

    def forget(self, kept: int) -> None:
        """Drop all but the last ``kept`` clocks, those of an open word."""
        first = len(self._sample) - kept
        self._sample, self._levels = self._sample[first:].copy(), self._levels[first:].copy()


def wide_schema(plain: pa.Schema) -> pa.Schema:
    """Return a schema of `spi_code` with bytes for words, null where there is no such line."""
    return pa.schema([pa.field(field.name, _wide_type(field), field.nullable) for field in plain])


def _wide_type(field: pa.Field) -> pa.DataType:
    if field.name in ("mosi", "miso"):
        return pa.list_(pa.binary()) if pa.types.is_list(field.type) else pa.binary()
    return pa.int16() if field.name == "bits" else field.type
