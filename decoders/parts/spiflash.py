"""Serial NOR flash on SPI: commands, addresses, data, and how long the part was busy.

Source: JEDEC JESD216F (opcodes, 4-byte addressing, status polling); JEDEC JEP106 (identification).
"""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.contract import Decoder, Option, Output

SPIFLASH = Decoder(
    id="spiflash",
    name="SPI flash",
    doc="serial NOR flash on SPI: commands, addresses, data, busy times",
    consumes="spi.transfers",
    produces=(
        Output(
            "spiflash",
            code("freezeframe.decoders.parts.spiflash_code:operation_schema"),
            "commands and errors",
        ),
    ),
    decode=code("freezeframe.decoders.parts.spiflash_code:decode_spiflash"),
    new_state=code("freezeframe.decoders.parts.spiflash_code:new_state"),
    options=(
        Option("select", -1, "only this chip select; -1 for all", minimum=-1, maximum=3),
        Option(
            "address_bytes", 3, "bytes of an address until the capture changes it", choices=(3, 4)
        ),
        Option(
            "family",
            "25",
            "which commands: 25-series NOR, or AT45 DataFlash",
            choices=("25", "at45"),
        ),
        Option(
            "page_b", 256, "size of a page for programming", minimum=1, maximum=65_536, unit="B"
        ),
    ),
    texts=code("freezeframe.decoders.parts.spiflash_code:spiflash_texts"),
)
