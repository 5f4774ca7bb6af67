"""MII: frames between a MAC and its PHY at 10 and 100 Mb/s, both directions.

Source: IEEE 802.3-2018, clause 22.
"""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.contract import EDGES, Channel, Decoder, Output
from freezeframe.decoders.net.ethernet import ETHERNET
from freezeframe.decoders.net.phy import FRAME_SCHEMA, MIN_GAP, TEXTS


def _direction(prefix: str, enable: str, what: str) -> tuple[Channel, ...]:
    return (
        Channel(f"{prefix}_clk", f"{what} clock", optional=True),
        *(Channel(f"{prefix}d{n}", f"{what} data {n}", optional=True) for n in range(4)),
        Channel(enable, f"{what} data valid", optional=True),
        Channel(f"{prefix}_er", f"{what} error", optional=True),
    )


CHANNELS = (
    *_direction("rx", "rx_dv", "receive"),
    *_direction("tx", "tx_en", "transmit"),
    Channel("col", "collision", optional=True),
    Channel("crs", "carrier sense", optional=True),
)

MII = Decoder(
    id="mii",
    name="MII",
    doc="Ethernet between MAC and PHY at 10 and 100 Mb/s: frames, errors, carrier events",
    consumes=EDGES,
    produces=(
        Output("mii.frames", FRAME_SCHEMA, "frames, carrier events and errors on the interface"),
        ETHERNET,
    ),
    decode=code("freezeframe.decoders.net.mii_code:decode_mii"),
    decode_samples=code("freezeframe.decoders.net.mii_code:decode_mii"),
    new_state=code("freezeframe.decoders.net.mii_code:MiiState"),
    channels=CHANNELS,
    options=(MIN_GAP,),
    texts=TEXTS,
)
