"""8b/10b: one serial lane to symbols, with comma alignment, disparity and code errors.

Source: IEEE 802.3-2018 36.2.4 and 36.2.5.2.6; ANSI X3.230 (FC-PH) clause 11.
"""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.contract import EDGES, Channel, Decoder, Output
from freezeframe.decoders.link.lane_options import CLOCK, LANE_OPTIONS

EIGHT_TEN = Decoder(
    id="8b10b",
    name="8b/10b",
    doc="symbols of one serial lane: 8b/10b code groups, aligned to commas",
    consumes=EDGES,
    produces=(
        Output(
            "8b10b.symbols",
            code("freezeframe.decoders.link.symbols_code:symbol_schema"),
            "one row a code group",
        ),
        Output(
            "8b10b.events",
            code("freezeframe.decoders.link.event_rows:event_schema"),
            "alignment, synchronization, damage of the lane",
        ),
    ),
    decode=code("freezeframe.decoders.link.symbols_code:decode_8b10b"),
    new_state=code("freezeframe.decoders.link.symbols_code:SymbolState"),
    channels=(Channel("data", "the lane"), CLOCK),
    options=LANE_OPTIONS,
    texts=code("freezeframe.decoders.link.symbols_code:symbol_texts"),
)
