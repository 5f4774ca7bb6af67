"""Words of the native SPI decoder, and the edges that made them, as rows for sigrok's objects.

Source: the OUTPUT_PYTHON format of sigrok's decoder ``spi``, as its documentation gives it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.columns import codes_of
from freezeframe.decoders.contract import OptionValues
from freezeframe.decoders.serial.spi_wide import MOST_NUMBER_BITS
from freezeframe.decoders.srd.feed_edges import LineEdges, by_place, places_after

_CLK, _FIRST_SELECT, _SELECTS = 0, 3, 4
_SELECT, _WORD = 0, 1  # kinds of rows
_HEAD = 5  # kind, begin, end, MOSI, MISO; then where each bit was sampled
# A row of a select: kind, sample, sample, level before (-1 at first), level (-1 without a line),
# whether that selects.


class SpiRows:
    """Rows for ``feeds/freezeframe_spi``: changes of the first chip select, and its words.

    Objects of sigrok know one chip select: the first that has a probe.
    """

    def __init__(self, options: OptionValues) -> None:
        self._word_bits = options.integer("word_bits")
        if self._word_bits > MOST_NUMBER_BITS:
            raise InputError(
                f"decoder spi: words of {self._word_bits} bits are not handed to sigrok's decoders; "
                f"up to {MOST_NUMBER_BITS} are, or take srd-spi"
            )
        self._lsb_first = options.text("order") == "lsb-first"
        self._selecting = int(options.text("select") == "active-high")
        self._falling = options.integer("mode") in (1, 2)
        self._begun = False
        self._select = LineEdges()
        self._clock = LineEdges()
        self._sampled = np.zeros(0, dtype=np.int64)  # edges that may be bits of an open word

    def settings(self) -> dict[str, Any]:
        """Return the options of the feeder."""
        return {
            "word_bits": self._word_bits,
            "order": "lsb-first" if self._lsb_first else "msb-first",
        }

    def rows(
        self, piece: Edges, tables: Mapping[str, pa.Table], state: Any, *, last: bool
    ) -> npt.NDArray[np.int64]:
        """Return what a piece adds, ``(n, w)`` int64, in the order of sigrok's objects."""
        number = next(
            (n for n in range(_SELECTS) if piece.channels[_FIRST_SELECT + n]),
            -1,
        )
        selects = self._select_rows(piece, number)
        words = self._word_rows(piece, tables["spi.words"], number)
        # A word is there with its last bit; a select in that sample comes first.
        return by_place(selects, selects[:, 1], words, words[:, -1])

    def _select_rows(self, piece: Edges, number: int) -> npt.NDArray[np.int64]:
        rows = np.zeros((0, _HEAD + self._word_bits), dtype=np.int64)
        first = not self._begun
        self._begun = True
        if number < 0:
            if first:
                rows = np.zeros((1, _HEAD + self._word_bits), dtype=np.int64)
                rows[0, 3:5] = -1
            return rows
        place, level = self._select.changes(piece, _FIRST_SELECT + number)
        before = 1 - level
        if first and len(piece):
            place = np.insert(place, 0, piece.sample[0])
            level = np.insert(level, 0, self._select.first)
            before = np.insert(before, 0, -1)
        elif first:
            self._begun = False  # nothing is known yet
        rows = np.zeros((len(place), _HEAD + self._word_bits), dtype=np.int64)
        rows[:, 0] = _SELECT
        rows[:, 1] = rows[:, 2] = place
        rows[:, 3] = before
        rows[:, 4] = level
        rows[:, _HEAD] = level == self._selecting
        return rows

    def _word_rows(self, piece: Edges, table: pa.Table, number: int) -> npt.NDArray[np.int64]:
        place, level = self._clock.changes(piece, _CLK)
        sampled = np.concatenate([self._sampled, place[level == (0 if self._falling else 1)]])
        # More bits than these no word can have that is still open.
        self._sampled = sampled[-self._word_bits :]
        # -1 without a chip select, in both.
        chosen = (codes_of(table.column("kind"), ("word",)) == 0) & (
            table.column("select").to_numpy() == number
        )
        rows = np.zeros((int(chosen.sum()), _HEAD + self._word_bits), dtype=np.int64)
        rows[:, 0] = _WORD
        for at, name in enumerate(("sample", "end_sample", "mosi", "miso"), start=1):
            rows[:, at] = table.column(name).to_numpy()[chosen]
        rows[:, _HEAD:] = places_after(sampled, rows[:, 1], self._word_bits)
        return rows
