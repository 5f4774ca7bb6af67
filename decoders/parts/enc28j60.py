"""ENC28J60: the operations on an Ethernet controller on SPI, and the frames they move.

Source: Microchip DS39662E, 4.2 (SPI instruction set), table 4-1.
"""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.contract import Decoder, Option, Output
from freezeframe.decoders.net.ethernet import ETHERNET

ENC28J60 = Decoder(
    id="enc28j60",
    name="ENC28J60",
    doc="Ethernet controller on SPI: operations, buffer memory, frames sent and received",
    consumes="spi.transfers",
    produces=(
        Output(
            "enc28j60.operations",
            code("freezeframe.decoders.parts.enc28j60_code:operation_schema"),
            "operations and errors",
        ),
        ETHERNET,
    ),
    decode=code("freezeframe.decoders.parts.enc28j60_code:decode_enc28j60"),
    new_state=code("freezeframe.decoders.parts.enc28j60_code:new_state"),
    options=(Option("select", -1, "only this chip select; -1 for all", minimum=-1, maximum=3),),
    texts=code("freezeframe.decoders.parts.enc28j60_code:enc28j60_texts"),
)
