"""RMII: frames between a MAC and its PHY at 10 and 100 Mb/s, two bits a clock, both directions on one clock.

Source: RMII Consortium, RMII specification, revision 1.2 (1998).
"""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.contract import EDGES, Channel, Decoder, Output
from freezeframe.decoders.net.ethernet import ETHERNET
from freezeframe.decoders.net.phy import FRAME_SCHEMA, MIN_GAP, TEXTS


def _named(name: str, doc: str, *more: str, optional: bool = True) -> Channel:
    joined = name.replace("_", "")
    aliases = (f"rmii_{name}", joined, f"rmii_{joined}", *more)
    return Channel(name, doc, optional, tuple(dict.fromkeys(a for a in aliases if a != name)))


CHANNELS = (
    _named("ref_clk", "reference clock, 50 MHz", "clk", "clk50", "rmii_clk", optional=False),
    _named("rxd0", "receive data 0", "rx0", "rxd[0]"),
    _named("rxd1", "receive data 1", "rx1", "rxd[1]"),
    _named("crs_dv", "carrier sense and receive data valid", "crs", "rx_dv", "rxdv"),
    _named("rx_er", "receive error", "rxerr"),
    _named("txd0", "transmit data 0", "tx0", "txd[0]"),
    _named("txd1", "transmit data 1", "tx1", "txd[1]"),
    _named("tx_en", "transmit enable"),
)

RMII = Decoder(
    id="rmii",
    name="RMII",
    doc="Ethernet between MAC and PHY, two bits a clock: frames and errors at 10 and 100 Mb/s",
    consumes=EDGES,
    produces=(
        Output("rmii.frames", FRAME_SCHEMA, "frames and errors on the interface"),
        ETHERNET,
    ),
    decode=code("freezeframe.decoders.net.rmii_code:decode_rmii"),
    decode_samples=code("freezeframe.decoders.net.rmii_code:decode_rmii"),
    new_state=code("freezeframe.decoders.net.phy_code:Sides"),
    channels=CHANNELS,
    options=(MIN_GAP,),
    texts=TEXTS,
)
