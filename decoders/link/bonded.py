"""Two 8b/10b lanes joined to the 64-bit words of the link, with what happened on the lanes.

Source: docs/formats.md section 3.1.
"""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.contract import EDGES, Channel, Decoder, Output
from freezeframe.decoders.link.lane_options import CLOCK, LANE_OPTIONS

BONDED = Decoder(
    id="bonded",
    name="Bonded lanes",
    doc="two 8b/10b lanes joined to the 64-bit words of the link",
    consumes=EDGES,
    produces=(
        Output(
            "bonded.words",
            code("freezeframe.decoders.link.bonded_code:word_schema"),
            "words and where they stand in packets",
        ),
        Output(
            "bonded.lane_events",
            code("freezeframe.decoders.link.event_rows:event_schema"),
            "alignment, skew, slips, idles in and out",
        ),
    ),
    decode=code("freezeframe.decoders.link.bonded_code:decode_bonded"),
    new_state=code("freezeframe.decoders.link.bonded_code:new_state"),
    channels=(
        Channel("lane0", "the lane of bytes 0, 2, 4, 6"),
        Channel("lane1", "the lane of bytes 1, 3, 5, 7"),
        CLOCK,
    ),
    options=LANE_OPTIONS,
    texts=code("freezeframe.decoders.link.bonded_code:word_texts"),
)
