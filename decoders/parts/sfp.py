"""SFP: the identification and diagnostics pages of a pluggable module on I2C, with units.

Source: SFF-8472 rev. 12.4.
"""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.contract import Decoder, Option, Output

SFP = Decoder(
    id="sfp",
    name="SFP",
    doc="management pages of an SFP on I2C (SFF-8472): identification, diagnostics with units",
    consumes="i2c.transfers",
    produces=(
        Output(
            "sfp.fields",
            code("freezeframe.decoders.parts.module_pages:field_schema"),
            "fields read and written, with values and units",
        ),
        Output(
            "sfp.transactions",
            code("freezeframe.decoders.parts.module_pages:transaction_schema"),
            "accesses to the pages",
        ),
    ),
    decode=code("freezeframe.decoders.parts.module_pages:decode_module"),
    new_state=code("freezeframe.decoders.parts.sfp_map:new_module"),
    options=(
        Option(
            "page",
            0,
            "page of the upper half of A2h until the capture selects one; -1 for not known",
            minimum=-1,
            maximum=255,
        ),
    ),
    texts=code("freezeframe.decoders.parts.module_pages:module_texts"),
)
