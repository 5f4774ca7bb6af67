"""MII piece by piece: the directions that a capture has, and the carrier beside them.

Source: IEEE 802.3-2018, clause 22.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.contract import OptionValues
from freezeframe.decoders.net.mii import CHANNELS
from freezeframe.decoders.net.phy_code import Line, Side, blank_row, decode_sides, has_side
from freezeframe.decoders.net.phy_kernels import AT, BEFORE

__all__ = ["MiiState", "decode_mii"]

_RX, _TX, _COL, _CRS = 0, 7, 14, 15  # places of rx_clk, tx_clk, col and crs among the channels
_ENABLE, _ERROR = 5, 6  # after the clock; all before the error are needed


class MiiState:
    """The directions that the capture has; known with the first piece."""

    def __init__(self, options: OptionValues) -> None:
        self.sides: list[Side] | None = None
        self.carrier_at = -1  # since when CRS is active, -1 when it is not
        self.cut = False  # it was already at the begin of the capture
        self.started = False


def decode_mii(
    edges: Edges, options: OptionValues, state: MiiState, last: bool
) -> dict[str, pa.Table]:
    """Decode a piece of a capture; ``edges`` has the channels in the order of the declaration.

    Raises:
        InputError: a direction has some but not all of clock, data and enable, or none is there.
    """
    if state.sides is None:
        state.sides = _sides(edges)
    more = _carrier(edges, state, last) if edges.channels[_CRS] else []
    return decode_sides(edges, options, state.sides, "MII", last, more)


def _sides(edges: Edges) -> list[Side]:
    sides = []
    # The PHY holds RXD around the clock edge, the MAC changes TXD right after it (22.3.1, 22.3.2).
    for direction, first, take in (("received", _RX, AT), ("sent", _TX, BEFORE)):
        if not has_side(edges, CHANNELS, slice(first, first + _ERROR), "mii"):
            continue
        error = first + _ERROR if edges.channels[first + _ERROR] else -1
        collision = _COL if direction == "sent" and edges.channels[_COL] else -1
        line = Line(direction, first, first + 1, first + _ENABLE, error, collision, take, False)
        sides.append(Side(line))
    if not sides:
        raise InputError(
            "decoder mii: neither direction has probes; say rx_clk=PROBE, rxd0=PROBE to rxd3=PROBE "
            "and rx_dv=PROBE, or tx_clk, txd0 to txd3 and tx_en"
        )
    return sides


def _carrier(edges: Edges, state: MiiState, last: bool) -> list[dict[str, Any]]:
    """Return the times for which CRS was active; it follows the medium, not a clock (22.2.2.11)."""
    level = (edges.value >> np.uint64(_CRS) & np.uint64(1)).astype(np.int64)
    before = np.concatenate(([int(state.carrier_at >= 0)], level[:-1]))
    rows: list[dict[str, Any]] = []
    for at in np.flatnonzero(level != before):
        place = int(edges.sample[at])
        if level[at]:
            state.carrier_at = place
            state.cut = not state.started and at == 0
        else:
            rows += _carrier_rows(edges, state, place, state.cut)
    state.started |= len(level) > 0
    if last and state.carrier_at >= 0:
        rows += _carrier_rows(edges, state, edges.end_sample, True)
    return rows


def _carrier_rows(edges: Edges, state: MiiState, end: int, cut: bool) -> list[dict[str, Any]]:
    row = blank_row("MII", "carrier", "", (state.carrier_at, end), edges)
    state.carrier_at = -1
    return [row, row | {"kind": "error", "error": "cut-carrier"}] if cut else [row]
