"""Objects of a UART for sigrok's decoders, from rows that the host makes (feed_uart.py).

Source: the OUTPUT_PYTHON format of sigrok's decoder ``uart``; libsigrokdecode 0.5, API version 3.
"""

from __future__ import annotations

from typing import Any, ClassVar

# Of the folder above, which is on sigrok's path.
from freezeframe_feed import Feed  # type: ignore[import-not-found]

_FRAME, _BAD_START, _BREAK, _IDLE, _CUT = range(5)
_RX = 0  # the decoder has one line
_UNKNOWN = 0  # the value of a frame that has none


class Decoder(Feed):  # type: ignore[misc]  # of a module without types
    """All objects of a UART; a frame's come together, with its last bit."""

    id = "freezeframe_uart"
    name = longname = "UART of Freezeframe"
    desc = "What Freezeframe's UART decoder found."
    outputs: ClassVar = ["uart"]
    options: Any = (
        {"id": "data_bits", "desc": "Data bits", "default": 8},
        {
            "id": "order",
            "desc": "Bit that comes first",
            "default": "lsb-first",
            "values": ("lsb-first", "msb-first"),
        },
        {"id": "parity", "desc": "A parity bit", "default": "no", "values": ("yes", "no")},
    )

    def start(self) -> None:
        """Declare the output."""
        super().start()
        bits = self.options["data_bits"]
        msb_first = self.options["order"] == "msb-first"
        self._places = [bits - 1 - n if msb_first else n for n in range(bits)]
        self._parity = self.options["parity"] == "yes"

    def give(self, row: list[int]) -> None:
        """Hand on one row: a frame, a bad start, a break, an idle time, or a cut frame."""
        kind, begin, end, data, parity, parity_ok, stop_ok, down, up, *middle = row
        if kind == _BREAK:
            self._put(begin, end, "BREAK", 0)
        elif kind == _IDLE:
            self._put(begin, end, "IDLE", 0)
        elif kind == _BAD_START:
            at, end = middle[0] - down, middle[0] + up
            self._put(at, end, "INVALID STARTBIT", 1)
            self._put(begin, end, "FRAME", (_UNKNOWN, False))
        else:
            taken = len(middle) if kind == _FRAME else end
            self._bits((data, parity, parity_ok), middle[:taken], down, up)
            if kind == _FRAME:
                at, end = middle[-1] - down, middle[-1] + up
                if not stop_ok:
                    self._put(at, end, "INVALID STOPBIT", stop_ok)
                self._put(at, end, "STOPBIT", stop_ok)
                self._put(begin, end, "FRAME", (data, bool(stop_ok and parity_ok)))

    def _bits(self, found: tuple[int, int, int], middle: list[int], down: int, up: int) -> None:
        """Hand on start bit, data and parity bit, as far as they were taken."""
        data, parity, parity_ok = found
        self._put(middle[0] - down, middle[0] + up, "STARTBIT", 0)
        bits = len(self._places)
        if len(middle) <= bits:
            return
        places = zip(self._places, middle[1 : bits + 1], strict=True)
        values = [[data >> place & 1, at - down, at + down] for place, at in places]
        self._put(middle[1] - down, middle[bits] + up, "DATA", (data, values))
        if self._parity and len(middle) > bits + 1:
            at, end = middle[bits + 1] - down, middle[bits + 1] + up
            if parity_ok:
                self._put(at, end, "PARITYBIT", parity)
            else:
                self._put(at, end, "PARITY ERROR", (1 - parity, parity))

    def _put(self, begin: int, end: int, what: str, value: Any) -> None:
        self.put(begin, end, self._out, [what, _RX, value])
