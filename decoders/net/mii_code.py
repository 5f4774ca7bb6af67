"""MII piece by piece: the directions that a capture has, and the carrier beside them.

Source: IEEE 802.3-2018, clause 22.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.samples import Samples
from freezeframe.decoders.clocked import Clocked, clocking
from freezeframe.decoders.contract import OptionValues
from freezeframe.decoders.net.mii import CHANNELS
from freezeframe.decoders.net.phy_code import Line, Sides, blank_row, decode_sides, sides_of
from freezeframe.decoders.net.phy_kernels import AT, BEFORE

_RX, _TX, _COL, _CRS = 0, 7, 14, 15  # places of rx_clk, tx_clk, col and crs among the channels
_ENABLE, _ERROR = 5, 6  # after the clock
# The PHY holds RXD around the clock edge, the MAC changes TXD right after it (22.3.1, 22.3.2).
_LINES = {
    _RX: Line("received", _RX, _RX + 1, _RX + _ENABLE, _RX + _ERROR, -1, AT, False),
    _TX: Line("sent", _TX, _TX + 1, _TX + _ENABLE, _TX + _ERROR, _COL, BEFORE, False),
}
_SAY = "rx_clk=PROBE, rxd0=PROBE to rxd3=PROBE and rx_dv=PROBE, or tx_clk, txd0 to txd3 and tx_en"
_CARRIER = clocking(0, marked=1 << _CRS)


class MiiState(Sides):
    """The directions that the capture has, and the carrier."""

    def __init__(self, options: OptionValues) -> None:
        super().__init__(options)
        self.carrier = Clocked()
        self.carrier_at = -1  # since when CRS is active, -1 when it is not
        self.cut = False  # it was active already when the capture begins
        self.started = False


def decode_mii(
    piece: Edges | Samples, options: OptionValues, state: MiiState, last: bool
) -> dict[str, pa.Table]:
    """Decode a piece of a capture; ``piece`` has the channels in the order of the declaration.

    Raises:
        InputError: a direction has some but not all of clock, data and enable, or none is there.
    """
    if state.sides is None:
        state.sides = sides_of("mii", piece.channels, CHANNELS, _LINES, _SAY)
    more = _carrier(piece, state, last) if piece.channels[_CRS] else []
    return decode_sides(piece, options, state.sides, "MII", last, more)


def _carrier(piece: Edges | Samples, state: MiiState, last: bool) -> list[dict[str, Any]]:
    """Return the times for which CRS was active; it follows the medium, not a clock (22.2.2.11)."""
    rows: list[dict[str, Any]] = []
    for clocks in state.carrier.parts(piece, _CARRIER):
        for at, low in zip(clocks.sample.tolist(), clocks.low.tolist(), strict=True):
            if low >> _CRS & 1:
                state.carrier_at = at
                state.cut = not state.started
            elif state.carrier_at >= 0:
                rows += _carrier_rows(piece, state, at, state.cut)
            state.started = True
    if last and state.carrier_at >= 0:
        rows += _carrier_rows(piece, state, piece.end_sample, True)
    return rows


def _carrier_rows(
    piece: Edges | Samples, state: MiiState, end: int, cut: bool
) -> list[dict[str, Any]]:
    row = blank_row("MII", "carrier", "", (state.carrier_at, end), piece)
    state.carrier_at = -1
    return [row, row | {"kind": "error", "error": "cut-carrier"}] if cut else [row]
