"""An Ethernet PHY by its registers on MDIO: what each bit says, and why the link is up or down.

Source: IEEE 802.3-2018, 22.2.4 and annexes 28B (priority of modes), 37 (1000BASE-X); 45.2 for clause 45.
"""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.contract import Decoder, Option, Output

PHY = Decoder(
    id="phy",
    name="Ethernet PHY",
    doc="registers of an Ethernet PHY on MDIO in words, and why its link is up or down (IEEE 802.3)",
    consumes="mdio",
    produces=(
        Output(
            "phy.registers",
            code("freezeframe.decoders.parts.phy_code:register_schema"),
            "registers read and written, with their bits in words",
        ),
        Output(
            "phy.links",
            code("freezeframe.decoders.parts.phy_code:link_schema"),
            "the link of each PHY, where what is known of it changes",
        ),
    ),
    decode=code("freezeframe.decoders.parts.phy_code:decode_phy"),
    new_state=code("freezeframe.decoders.parts.phy_code:PhyState"),
    options=(
        Option("media", "auto", "what registers 4 and 5 hold", choices=("auto", "copper", "1000x")),
    ),
    texts=code("freezeframe.decoders.parts.phy_code:phy_texts"),
)
