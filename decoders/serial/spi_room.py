"""Room for the words of a piece, after those of a transfer that is open: none is copied to stand beside the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from freezeframe.decoders.serial.spi_rows import WordColumns, word_columns

_LINES = ("mosi", "miso")


class WordRoom:
    """The words that are held, the first of which has number ``first_word``, and room after them."""

    def __init__(self, *, wide: bool) -> None:
        self.first_word = 0
        self._wide = wide
        self._columns, self._values = self._new(0)
        self._begin = self._end = 0  # of the held words among the columns

    def columns(self, more: int) -> WordColumns:
        """Return columns with the held words first, and room for so many more; those given out stay as they are."""
        held = self._end - self._begin
        if self._end + more > len(self._columns.begin):
            # Twice as long: the words of a transfer through many pieces are not moved with each of them.
            columns, values = self._new(2 * held + more)
            for new, old in zip((*columns, *values), (*self._columns, *self._values), strict=True):
                new[:held] = old[self._begin : self._end]
            self._columns, self._values, self._begin, self._end = columns, values, 0, held
        return self._columns.cut(self._begin, None)

    def take(
        self, count: int, values: dict[str, npt.NDArray[np.object_]]
    ) -> tuple[WordColumns, WordColumns]:
        """Hold so many more words, whose ``values`` are bytes where a number is too short for them.

        Returns:
            All words, and the new ones.
        """
        first = self._end
        self._end += count
        for line, column in zip(_LINES, self._values, strict=False):
            column[first : self._end] = values[line]
        whole = self._columns._replace(**dict(zip(_LINES, self._values, strict=False)))
        return whole.cut(self._begin, self._end), whole.cut(first, self._end)

    def forget(self, next_word: int) -> None:
        """Hold the words from number ``next_word`` on."""
        self._begin += next_word - self.first_word
        self.first_word = next_word

    def _new(self, size: int) -> tuple[WordColumns, list[npt.NDArray[Any]]]:
        return word_columns(size), [np.empty(size, object) for _ in _LINES if self._wide]
