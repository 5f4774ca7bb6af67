"""RGMII piece by piece: the directions that a capture has.

Source: RGMII v2.0, 3 (signals, timing, error coding, in-band status), 5 (10 and 100 Mb/s).
"""

from __future__ import annotations

import pyarrow as pa

from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.samples import Samples
from freezeframe.decoders.contract import OptionValues
from freezeframe.decoders.net.phy_code import Line, Sides, decode_sides, sides_of
from freezeframe.decoders.net.phy_kernels import AT, MIDDLE
from freezeframe.decoders.net.rgmii import CHANNELS

_RX, _TX = 0, 6  # places of rxc and txc among the channels
_CONTROL = 5  # after the clock
_SAY = "rxc=PROBE, rd0=PROBE to rd3=PROBE and rx_ctl=PROBE, or txc, td0 to td3 and tx_ctl"


def decode_rgmii(
    piece: Edges | Samples, options: OptionValues, state: Sides, last: bool
) -> dict[str, pa.Table]:
    """Decode a piece of a capture; ``piece`` has the channels in the order of the declaration.

    Raises:
        InputError: a direction has some but not all of its channels, or none is there.
    """
    if state.sides is None:
        take = AT if options.text("clock") == "delayed" else MIDDLE
        in_band = options.flag("in_band")
        lines = {
            _RX: Line("received", _RX, _RX + 1, _RX + _CONTROL, -1, -1, take, True, in_band),
            _TX: Line("sent", _TX, _TX + 1, _TX + _CONTROL, -1, -1, take, True),
        }
        state.sides = sides_of("rgmii", piece.channels, CHANNELS, lines, _SAY)
    return decode_sides(piece, options, state.sides, "RGMII", last)
