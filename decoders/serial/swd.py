"""SWD, the two-wire debug port of Arm: transfers with their registers, line resets, switches.

Source: Arm IHI 0031, ADIv5.2, chapter B4 (the protocol), B2 (debug port registers), C2 (registers of a MEM-AP).
"""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.contract import EDGES, Channel, Decoder, Option, Output

SWD = Decoder(
    id="swd",
    name="SWD",
    doc="Arm serial wire debug: transfers with register names, line resets, switches between protocols",
    consumes=EDGES,
    produces=(
        Output(
            "swd",
            code("freezeframe.decoders.serial.swd_code:swd_schema"),
            "transfers, resets and errors",
        ),
    ),
    decode=code("freezeframe.decoders.serial.swd_code:decode_swd"),
    decode_samples=code("freezeframe.decoders.serial.swd_code:decode_swd"),
    new_state=code("freezeframe.decoders.serial.swd_code:SwdState"),
    channels=(
        Channel("swclk", "clock", aliases=("swdclk", "swck", "swclktck", "tck", "clk")),
        Channel("swdio", "data", aliases=("swd", "swdiotms", "swio", "tms", "dio", "swdat")),
    ),
    options=(
        Option("strict_start", False, "take nothing for a transfer before the first line reset"),
    ),
    texts=code("freezeframe.decoders.serial.swd_code:swd_texts"),
)
