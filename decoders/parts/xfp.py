"""XFP: the diagnostics and identification pages of a pluggable module on I2C, with units.

Source: INF-8077i rev. 4.5, chapters 4 and 5.
"""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.contract import Decoder, Option, Output

XFP = Decoder(
    id="xfp",
    name="XFP",
    doc="management pages of an XFP on I2C (INF-8077i): diagnostics with units, identification",
    consumes="i2c.transfers",
    produces=(
        Output(
            "xfp.fields",
            code("freezeframe.decoders.parts.module_pages:field_schema"),
            "fields read and written, with values and units",
        ),
        Output(
            "xfp.transactions",
            code("freezeframe.decoders.parts.module_pages:transaction_schema"),
            "accesses to the pages",
        ),
    ),
    decode=code("freezeframe.decoders.parts.module_pages:decode_module"),
    new_state=code("freezeframe.decoders.parts.xfp_map:new_module"),
    options=(
        Option(
            "table",
            1,
            "table of the upper half until the capture selects one; -1 for not known",
            minimum=-1,
            maximum=255,
        ),
    ),
    texts=code("freezeframe.decoders.parts.module_pages:module_texts"),
)
