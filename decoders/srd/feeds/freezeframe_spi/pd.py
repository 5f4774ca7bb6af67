"""Objects of SPI for sigrok's decoders, from rows that the host makes (feed_spi.py).

Source: the OUTPUT_PYTHON format of sigrok's decoder ``spi``; libsigrokdecode 0.5, API version 3.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any, ClassVar

# Of the folder above, which is on sigrok's path.
from freezeframe_feed import Feed  # type: ignore[import-not-found]

_SELECT = 0  # kind of a row; else it is a word

# Decoders on top take it apart in any way that sigrok's own allows.
Data = namedtuple("Data", ["ss", "es", "val"])  # as sigrok declares it


class Decoder(Feed):  # type: ignore[misc]  # of a module without types
    """CS-CHANGE, BITS, DATA and TRANSFER, each once its last sample is known."""

    id = "freezeframe_spi"
    name = longname = "SPI of Freezeframe"
    desc = "What Freezeframe's SPI decoder found."
    outputs: ClassVar = ["spi"]
    options: Any = (
        {"id": "word_bits", "desc": "Bits of a word", "default": 8},
        {
            "id": "order",
            "desc": "Bit that comes first",
            "default": "msb-first",
            "values": ("msb-first", "lsb-first"),
        },
    )

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Begin again."""
        self._begun = -1  # sample of the transfer that is open
        self._mosi: list[Data] = []
        self._miso: list[Data] = []

    def start(self) -> None:
        """Declare the output, and where the bits of a word stand in it, the newest first."""
        super().start()
        bits = self.options["word_bits"]
        lsb_first = self.options["order"] == "lsb-first"
        self._places = [
            (number, number if lsb_first else bits - 1 - number) for number in reversed(range(bits))
        ]

    def give(self, row: list[int]) -> None:
        """Hand on one row: a change of the chip select, or a word."""
        kind, begin, end, mosi, miso, *more = row
        if kind == _SELECT:
            before, level = _known(mosi), _known(miso)
            self._selected(begin, before, level, more[0])
            return
        ends = [*more, end]
        out = ["BITS", *(self._bits(word, ends) for word in (mosi, miso))]
        self.put(begin, end, self._out, out)
        self.put(begin, end, self._out, ["DATA", _known(mosi), _known(miso)])
        if mosi >= 0:
            self._mosi.append(Data(begin, end, mosi))
        if miso >= 0:
            self._miso.append(Data(begin, end, miso))

    def _selected(self, at: int, before: int | None, level: int | None, selects: int) -> None:
        self.put(at, at, self._out, ["CS-CHANGE", before, level])
        if selects:
            self._begun = at
            self._mosi, self._miso = [], []
        elif self._begun >= 0:
            self.put(self._begun, at, self._out, ["TRANSFER", self._mosi, self._miso])

    def _bits(self, word: int, at: list[int]) -> list[list[int]] | None:
        if word < 0:
            return None
        return [[word >> place & 1, at[n], at[n + 1]] for n, place in self._places]


def _known(value: int) -> int | None:
    return None if value < 0 else value
