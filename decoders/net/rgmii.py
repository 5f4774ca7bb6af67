"""RGMII: frames between a MAC and its PHY at 10, 100 and 1000 Mb/s, on both clock edges.

Source: RGMII v2.0, 3 (signals, timing, error coding, in-band status), 5 (10 and 100 Mb/s).
"""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.contract import EDGES, Channel, Decoder, Option, Output
from freezeframe.decoders.net.ethernet import ETHERNET
from freezeframe.decoders.net.phy import FRAME_SCHEMA, MIN_GAP, TEXTS


def _direction(prefix: str, what: str) -> tuple[Channel, ...]:
    letter = prefix[0]
    return (
        Channel(f"{prefix}c", f"{what} clock", optional=True, aliases=(f"{prefix}_clk",)),
        *(
            Channel(f"{letter}d{n}", f"{what} data {n}", optional=True, aliases=(f"{prefix}d{n}",))
            for n in range(4)
        ),
        Channel(f"{prefix}_ctl", f"{what} control", optional=True),
    )


CHANNELS = (*_direction("rx", "receive"), *_direction("tx", "transmit"))

RGMII = Decoder(
    id="rgmii",
    name="RGMII",
    doc="Ethernet between MAC and PHY on both clock edges: frames, errors, in-band status",
    consumes=EDGES,
    produces=(
        Output("rgmii.frames", FRAME_SCHEMA, "frames, status and errors on the interface"),
        ETHERNET,
    ),
    decode=code("freezeframe.decoders.net.rgmii_code:decode_rgmii"),
    decode_samples=code("freezeframe.decoders.net.rgmii_code:decode_rgmii"),
    new_state=code("freezeframe.decoders.net.phy_code:Sides"),
    channels=CHANNELS,
    options=(
        Option(
            "clock",
            "delayed",
            "where data change: delayed, half way between clock edges (RGMII-ID, or a delay on the "
            "board); aligned, with the clock edges",
            choices=("delayed", "aligned"),
        ),
        Option("in_band", True, "idle symbols from the PHY carry its status"),
        MIN_GAP,
    ),
    texts=TEXTS,
)
