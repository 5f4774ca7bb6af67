"""iWARP out of packets: connections, FPDUs, operations, and what breaks a rule.

Source: RFC 5040 (RDMAP), RFC 5041 (DDP), RFC 5044 (MPA), RFC 6581, RFC 7306.
"""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.contract import PACKETS, Decoder, Option, Output

_TABLES = "freezeframe.decoders.iwarp.tables"

IWARP = Decoder(
    id="iwarp",
    name="iWARP",
    doc="RDMA over TCP: MPA, DDP and RDMAP (RFC 5040, 5041, 5044, 6581, 7306)",
    consumes=PACKETS,
    produces=(
        Output("iwarp.events", code(f"{_TABLES}:event_schema"), "broken rules, Terminates, gaps"),
        Output("iwarp.operations", code(f"{_TABLES}:operation_schema"), "Writes, Sends, Reads"),
        Output(
            "iwarp.fpdus", code(f"{_TABLES}:fpdu_schema"), "FPDUs with the verdict on their CRC"
        ),
        Output("iwarp.connections", code(f"{_TABLES}:connection_schema"), "negotiations, and sums"),
    ),
    decode=code("freezeframe.decoders.iwarp.iwarp_code:decode_iwarp"),
    left=code("freezeframe.decoders.iwarp.iwarp_code:iwarp_left"),
    new_state=code("freezeframe.decoders.iwarp.iwarp_code:new_iwarp"),
    options=(
        Option("fpdus", True, "make the table of FPDUs, a row each"),
        Option("payload", False, "keep the payload of each FPDU in its row"),
    ),
    texts=code("freezeframe.decoders.iwarp.words:iwarp_texts"),
)
