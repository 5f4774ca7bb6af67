"""The link's packets and credits, from the words of two bonded lanes.

Source: docs/formats.md sections 3, 3.1 and 8.
"""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.contract import Decoder, Option, Output

LINK = Decoder(
    id="link",
    name="Link packets",
    doc="packets and credits of the link, with their CRCs, from bonded lanes",
    consumes="bonded.words",
    produces=(
        Output(
            "link.packets",
            code("freezeframe.decoders.link.link_code:packet_schema"),
            "packets with the verdicts on them",
        ),
        Output(
            "link.credits", code("freezeframe.decoders.link.link_code:credit_schema"), "credits"
        ),
        Output(
            "link.errors",
            code("freezeframe.decoders.link.link_code:error_schema"),
            "what is wrong with packets and credits",
        ),
        Output(
            "link.words",
            code("freezeframe.decoders.link.link_code:link_word_schema"),
            "the words of the packets",
        ),
    ),
    decode=code("freezeframe.decoders.link.link_code:decode_link"),
    new_state=code("freezeframe.decoders.link.link_code:LinkState"),
    options=(Option("direction", "?->?", "which way these lanes go, for the column of that name"),),
    texts=code("freezeframe.decoders.link.link_code:link_texts"),
)
