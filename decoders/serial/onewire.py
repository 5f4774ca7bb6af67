"""1-Wire: resets, time slots, ROM commands and addresses, regular and overdrive speed, on one line.

Source: Maxim application notes 126 (timing), 187 (search), 27 (CRC), 937 (Book of iButton Standards).
"""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.contract import EDGES, Channel, Decoder, Option, Output

_NAMES = ("onewire", "1-wire", "1wire", "1w", "ow", "dq", "w1", "iButton", "data")

ONEWIRE = Decoder(
    id="onewire",
    name="1-Wire",
    doc="1-Wire: resets, slots, ROM commands, addresses with CRC and family, data",
    consumes=EDGES,
    produces=(
        Output(
            "onewire.bytes",
            code("freezeframe.decoders.serial.onewire_code:byte_schema"),
            "resets, commands, addresses, data",
        ),
        Output(
            "onewire.slots",
            code("freezeframe.decoders.serial.onewire_code:slot_schema"),
            "resets, presence and bits",
        ),
    ),
    decode=code("freezeframe.decoders.serial.onewire_code:decode_onewire"),
    new_state=code("freezeframe.decoders.serial.onewire_code:OnewireState"),
    channels=(Channel("owr", "the line", aliases=_NAMES),),
    options=(Option("overdrive", False, "the capture begins at overdrive speed"),),
    texts=code("freezeframe.decoders.serial.onewire_code:onewire_texts"),
    evidence=code("freezeframe.decoders.guess.onewire_rule:onewire"),
)
