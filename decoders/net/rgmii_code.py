"""RGMII piece by piece: the directions that a capture has.

Source: RGMII v2.0, 3 (signals, timing, error coding, in-band status), 5 (10 and 100 Mb/s).
"""

from __future__ import annotations

import pyarrow as pa

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.samples import Samples
from freezeframe.decoders.contract import OptionValues
from freezeframe.decoders.net.phy_code import Line, Side, decode_sides, has_side
from freezeframe.decoders.net.phy_kernels import AT, MIDDLE
from freezeframe.decoders.net.rgmii import CHANNELS

_RX, _TX = 0, 6  # places of rxc and txc among the channels
_CONTROL = 5  # after the clock


class RgmiiState:
    """The directions that the capture has; known with the first piece."""

    def __init__(self, options: OptionValues) -> None:
        self.sides: list[Side] | None = None


def decode_rgmii(
    piece: Edges | Samples, options: OptionValues, state: RgmiiState, last: bool
) -> dict[str, pa.Table]:
    """Decode a piece of a capture; ``piece`` has the channels in the order of the declaration.

    Raises:
        InputError: a direction has some but not all of its channels, or none is there.
    """
    if state.sides is None:
        state.sides = _sides(piece.channels, options)
    return decode_sides(piece, options, state.sides, "RGMII", last)


def _sides(probes: tuple[str, ...], options: OptionValues) -> list[Side]:
    take = AT if options.text("clock") == "delayed" else MIDDLE
    sides = []
    for direction, first in (("received", _RX), ("sent", _TX)):
        if not has_side(probes, CHANNELS, slice(first, first + _CONTROL + 1), "rgmii"):
            continue
        in_band = direction == "received" and options.flag("in_band")
        line = Line(direction, first, first + 1, first + _CONTROL, -1, -1, take, True, in_band)
        sides.append(Side(line, len(CHANNELS)))
    if not sides:
        raise InputError(
            "decoder rgmii: neither direction has probes; say rxc=PROBE, rd0=PROBE to rd3=PROBE and "
            "rx_ctl=PROBE, or txc, td0 to td3 and tx_ctl"
        )
    return sides
