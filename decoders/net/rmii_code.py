"""RMII piece by piece: the directions that a capture has; the frames are those of MII.

Source: RMII specification, revision 1.2, 5.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.samples import Samples
from freezeframe.decoders.contract import OptionValues
from freezeframe.decoders.net.phy_code import Line, Side, decode_sides, has_side
from freezeframe.decoders.net.phy_kernels import BEFORE
from freezeframe.decoders.net.rmii import CHANNELS
from freezeframe.decoders.net.rmii_kernels import LONGEST_PREAMBLE, flush, join_dibits, new_dibits

_CLOCK, _RX, _RX_ERROR, _TX = 0, 1, 4, 5  # places among the channels
_ENABLE = 2  # after the first of two data


class _RmiiSide(Side):
    """A direction whose clock carries two bits, of which two clocks make a symbol of MII."""

    def __init__(self, line: Line, channels: int) -> None:
        super().__init__(line, channels)
        self.dibits = new_dibits()

    def _joined(self, symbols: npt.NDArray[np.int64], last: bool) -> npt.NDArray[np.int64]:
        made = np.empty((len(symbols) + LONGEST_PREAMBLE, 3), dtype=np.int64)
        count = join_dibits(symbols, self.dibits[0], made)
        if last:
            count += flush(self.dibits[0], made[count:])
        return made[:count]


class RmiiState:
    """The directions that the capture has; known with the first piece."""

    def __init__(self, options: OptionValues) -> None:
        self.sides: list[Side] | None = None


def decode_rmii(
    piece: Edges | Samples, options: OptionValues, state: RmiiState, last: bool
) -> dict[str, pa.Table]:
    """Decode a piece of a capture; ``piece`` has the channels in the order of the declaration.

    Raises:
        InputError: a direction has some but not all of data and enable, or none is there.
    """
    if state.sides is None:
        state.sides = _sides(piece.channels)
    return decode_sides(piece, options, state.sides, "RMII", last)


def _sides(probes: tuple[str, ...]) -> list[Side]:
    sides: list[Side] = []
    for direction, first in (("received", _RX), ("sent", _TX)):
        if not has_side(probes, CHANNELS, slice(first, first + _ENABLE + 1), "rmii"):
            continue
        error = _RX_ERROR if direction == "received" and probes[_RX_ERROR] else -1
        # Both change their data right after the edge at which they are taken (7.4).
        line = Line(direction, _CLOCK, first, first + _ENABLE, error, -1, BEFORE, False)
        sides.append(_RmiiSide(line, len(CHANNELS)))
    if not sides:
        raise InputError(
            "decoder rmii: neither direction has probes; say rxd0=PROBE, rxd1=PROBE and crs_dv=PROBE, "
            "or txd0, txd1 and tx_en"
        )
    return sides
