"""What the declarations of MII, RMII and RGMII share."""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.contract import Option

MIN_GAP = Option(
    "min_gap_bits",
    0,
    "a shorter gap between frames is an error; 0 for 96 before a sent frame, and before a received "
    "one 47, 96 and 64 at 10, 100 and 1000 Mb/s",
    minimum=0,
    maximum=10**6,
    unit="bits",
)
FRAME_SCHEMA = code("freezeframe.decoders.net.phy_code:frame_schema")
TEXTS = code("freezeframe.decoders.net.phy_code:phy_texts")
