"""I2C: conditions, bytes with their acknowledge, and the transfers they make.

Source: NXP UM10204 rev. 7.0, 3.1.
"""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.contract import EDGES, Channel, Decoder, Option, Output

I2C = Decoder(
    id="i2c",
    name="I2C",
    doc="two-wire bus: conditions, bytes, and transfers with 7- and 10-bit addresses",
    consumes=EDGES,
    produces=(
        Output(
            "i2c.bytes",
            code("freezeframe.decoders.serial.i2c_code:byte_schema"),
            "conditions, bytes and errors",
        ),
        Output(
            "i2c.transfers",
            code("freezeframe.decoders.serial.i2c_code:transfer_schema"),
            "one row from a START to the next or the STOP",
        ),
    ),
    decode=code("freezeframe.decoders.serial.i2c_code:decode_i2c"),
    decode_samples=code("freezeframe.decoders.serial.i2c_code:decode_i2c"),
    new_state=code("freezeframe.decoders.serial.i2c_code:I2cState"),
    channels=(Channel("scl", "clock", aliases=("twck",)), Channel("sda", "data", aliases=("twd",))),
    options=(
        Option(
            "address_bits",
            "auto",
            "auto takes 1111 0xx for the beginning of a 10-bit address",
            choices=("auto", "7"),
        ),
        Option(
            "glitch_ns",
            0,
            "shorter pulses on either line are ignored, as inputs of fast mode do up to 50",
            minimum=0,
            maximum=10**9,
            unit="ns",
        ),
    ),
    texts=code("freezeframe.decoders.serial.i2c_code:i2c_texts"),
    evidence=code("freezeframe.decoders.guess.i2c_rule:i2c"),
    sigrok="srd.i2c",
)
