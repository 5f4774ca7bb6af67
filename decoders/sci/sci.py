"""SCI packets on the back-side link of a link controller, from the words of a parallel bus of 64 lines."""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.contract import Decoder, Option, Output

SCI = Decoder(
    id="sci",
    name="SCI packets",
    doc="requests and responses of SCI on a link controller's back-side link, from a bus of 64 lines",
    consumes="parallel.items",
    produces=(
        Output(
            "sci.packets",
            code("freezeframe.decoders.sci.sci_code:packet_schema"),
            "packets with every field, and what is wrong with them",
        ),
    ),
    decode=code("freezeframe.decoders.sci.sci_code:decode_packets"),
    new_state=code("freezeframe.decoders.sci.sci_code:PacketState"),
    options=(
        Option(
            "first_byte",
            "low",
            "the lines that a word's first byte is on: d0..d7 or d56..d63",
            choices=("low", "high"),
        ),
    ),
    texts=code("freezeframe.decoders.sci.sci_code:packet_texts"),
)
