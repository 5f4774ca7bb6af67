"""MDIO, the management bus between a MAC and its PHYs, clause 22 and clause 45.

Source: IEEE 802.3-2018, 22.2.4 and 45.3.
"""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.contract import EDGES, Channel, Decoder, Option, Output

MDIO = Decoder(
    id="mdio",
    name="MDIO",
    doc="management bus between a MAC and its PHYs (IEEE 802.3 clauses 22 and 45)",
    consumes=EDGES,
    produces=(
        Output(
            "mdio", code("freezeframe.decoders.serial.mdio_code:mdio_schema"), "frames and errors"
        ),
    ),
    decode=code("freezeframe.decoders.serial.mdio_code:decode_mdio"),
    decode_samples=code("freezeframe.decoders.serial.mdio_code:decode_mdio"),
    new_state=code("freezeframe.decoders.serial.mdio_code:MdioState"),
    channels=(Channel("mdc", "clock"), Channel("mdio", "data")),
    options=(
        Option("clause", "auto", "frames that are expected", choices=("auto", "22", "45")),
        Option(
            "min_preamble",
            17,
            "ones before a zero that make it a start; 1 for a bus with preamble suppression. "
            "A frame can hold up to 16 ones in its data, so fewer are ambiguous after a cut",
            minimum=0,
            maximum=32,
            unit="bits",
        ),
        Option(
            "full_preamble",
            32,
            "a preamble with fewer ones is reported as short",
            minimum=0,
            maximum=32,
            unit="bits",
        ),
    ),
    texts=code("freezeframe.decoders.serial.mdio_code:mdio_texts"),
    evidence=code("freezeframe.decoders.guess.bus_rules:mdio"),
)
