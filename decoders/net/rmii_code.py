"""RMII piece by piece: the directions that a capture has; the frames are those of MII.

Source: RMII specification, revision 1.2, 5.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.samples import Samples
from freezeframe.decoders.contract import OptionValues
from freezeframe.decoders.net.phy_code import Line, Side, Sides, decode_sides, sides_of
from freezeframe.decoders.net.phy_kernels import BEFORE
from freezeframe.decoders.net.rmii import CHANNELS
from freezeframe.decoders.net.rmii_kernels import LONGEST_PREAMBLE, flush, join_dibits, new_dibits

_CLOCK, _RX, _RX_ERROR, _TX = 0, 1, 4, 5  # places among the channels
_ENABLE = 2  # after the first of two data
# Both change their data right after the edge at which they are taken (7.4).
_LINES = {
    _RX: Line("received", _CLOCK, _RX, _RX + _ENABLE, _RX_ERROR, -1, BEFORE, False),
    _TX: Line("sent", _CLOCK, _TX, _TX + _ENABLE, -1, -1, BEFORE, False),
}
_SAY = "rxd0=PROBE, rxd1=PROBE and crs_dv=PROBE, or txd0, txd1 and tx_en"


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


def decode_rmii(
    piece: Edges | Samples, options: OptionValues, state: Sides, last: bool
) -> dict[str, pa.Table]:
    """Decode a piece of a capture; ``piece`` has the channels in the order of the declaration.

    Raises:
        InputError: a direction has some but not all of data and enable, or none is there.
    """
    if state.sides is None:
        state.sides = sides_of("rmii", piece.channels, CHANNELS, _LINES, _SAY, _RmiiSide)
    return decode_sides(piece, options, state.sides, "RMII", last)
