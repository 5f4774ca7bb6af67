"""Serial EEPROM on I2C (24-series): operations, their data, and the time that writes take.

Source: Microchip DS20001203, 5.0 to 8.0 (device addressing, write, acknowledge polling, read), for
the operations that 24-series parts share.
"""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.contract import Decoder, Option, Output

_SIZES_B = (0, *(128 << n for n in range(11)))
_PAGES_B = tuple(1 << n for n in range(9))

EEPROM = Decoder(
    id="eeprom",
    name="I2C EEPROM",
    doc="24-series memory on I2C: reads, writes, page wraps, write cycle polling",
    consumes="i2c.transfers",
    produces=(
        Output(
            "eeprom",
            code("freezeframe.decoders.parts.eeprom_code:operation_schema"),
            "operations and errors",
        ),
    ),
    decode=code("freezeframe.decoders.parts.eeprom_code:decode_eeprom"),
    new_state=code("freezeframe.decoders.parts.eeprom_code:EepromState"),
    options=(
        Option(
            "address_bytes",
            0,
            "bytes of a memory address; 0 takes as many as the first write has that a read follows without a STOP",
            choices=(0, 1, 2),
        ),
        Option(
            "size_b",
            0,
            "size of one device; 0 for all that the address bytes reach. Larger ones take bits of "
            "the device address (24x04 to 24x16, 24x1024)",
            choices=_SIZES_B,
            unit="B",
        ),
        Option("page_b", 16, "size of a page, in which writes wrap", choices=_PAGES_B, unit="B"),
        Option(
            "device", -1, "only this 7-bit address; -1 for 0x50 to 0x57", minimum=-1, maximum=127
        ),
    ),
    texts=code("freezeframe.decoders.parts.eeprom_code:eeprom_texts"),
)
