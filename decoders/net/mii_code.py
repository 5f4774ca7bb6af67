"""MII piece by piece: the directions that a capture has, and the carrier beside them.

Source: IEEE 802.3-2018, clause 22.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.samples import Samples
from freezeframe.decoders.clocked import Clocked, clocking
from freezeframe.decoders.contract import OptionValues
from freezeframe.decoders.net.mii import CHANNELS
from freezeframe.decoders.net.phy_code import Line, Side, blank_row, decode_sides, has_side
from freezeframe.decoders.net.phy_kernels import AT, BEFORE

_RX, _TX, _COL, _CRS = 0, 7, 14, 15  # places of rx_clk, tx_clk, col and crs among the channels
_ENABLE, _ERROR = 5, 6  # after the clock; all before the error are needed
_CARRIER = clocking(0, marked=1 << _CRS)


class MiiState:
    """The directions that the capture has; known with the first piece."""

    def __init__(self, options: OptionValues) -> None:
        self.sides: list[Side] | None = None
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
        state.sides = _sides(piece.channels)
    more = _carrier(piece, state, last) if piece.channels[_CRS] else []
    return decode_sides(piece, options, state.sides, "MII", last, more)


def _sides(probes: tuple[str, ...]) -> list[Side]:
    sides = []
    # The PHY holds RXD around the clock edge, the MAC changes TXD right after it (22.3.1, 22.3.2).
    for direction, first, take in (("received", _RX, AT), ("sent", _TX, BEFORE)):
        if not has_side(probes, CHANNELS, slice(first, first + _ERROR), "mii"):
            continue
        error = first + _ERROR if probes[first + _ERROR] else -1
        collision = _COL if direction == "sent" and probes[_COL] else -1
        line = Line(direction, first, first + 1, first + _ENABLE, error, collision, take, False)
        sides.append(Side(line, len(CHANNELS)))
    if not sides:
        raise InputError(
            "decoder mii: neither direction has probes; say rx_clk=PROBE, rxd0=PROBE to rxd3=PROBE "
            "and rx_dv=PROBE, or tx_clk, txd0 to txd3 and tx_en"
        )
    return sides


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
