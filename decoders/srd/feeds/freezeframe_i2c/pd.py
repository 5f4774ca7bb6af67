"""Objects of I2C for sigrok's decoders, from rows that the host makes (feed_i2c.py).

Source: the OUTPUT_PYTHON format of sigrok's decoder ``i2c``; libsigrokdecode 0.5, API version 3.
"""

from __future__ import annotations

from typing import ClassVar

# Of the folder above, which is on sigrok's path.
from freezeframe_feed import Feed  # type: ignore[import-not-found]

_CONDITIONS = ("START", "START REPEAT", "STOP")  # kinds of rows; those above are bytes
_ADDRESS = 3
_BITS = 8


class Decoder(Feed):  # type: ignore[misc]  # of a module without types
    """START, START REPEAT, BITS, ADDRESS and DATA READ and WRITE, ACK, NACK, STOP."""

    id = "freezeframe_i2c"
    name = longname = "I2C of Freezeframe"
    desc = "What Freezeframe's I2C decoder found."
    outputs: ClassVar = ["i2c"]

    def give(self, row: list[int]) -> None:
        """Hand on one row: a condition, or a byte with its acknowledge."""
        kind, begin, end, data, read, ack, ack_at, ack_end, *at = row
        if kind < len(_CONDITIONS):
            self.put(begin, begin, self._out, [_CONDITIONS[kind], None])
            return
        ends = [*at, end]
        # The first of the list is the last on the wire.
        bits = [[data >> bit & 1, ends[7 - bit], ends[8 - bit]] for bit in range(_BITS)]
        what = "ADDRESS" if kind == _ADDRESS else "DATA"
        way = "READ" if read else "WRITE"
        value = data >> 1 if kind == _ADDRESS else data
        self.put(begin, end, self._out, ["BITS", bits])
        self.put(begin, end, self._out, [f"{what} {way}", value])
        if ack >= 0:  # the capture may end before it
            self.put(ack_at, ack_end, self._out, ["ACK" if ack else "NACK", None])
