"""XFP: the diagnostics and identification pages of a pluggable module on I2C, with units.

Source: INF-8077i rev. 4.5, chapters 4 and 5.
"""

from __future__ import annotations

from freezeframe.decoders.contract import Decoder, Option, OptionValues, Output
from freezeframe.decoders.parts.module_pages import (
    Module,
    decode_module,
    field_schema,
    module_texts,
    transaction_schema,
)
from freezeframe.decoders.parts.xfp_map import XFP_FIELDS

__all__ = ["XFP"]

_DEVICE = 0x50  # A0h with the direction bit


def _page_name(device: int, address: int, page: int) -> str:
    if address < 128:
        return "lower"
    return f"table {page:02X}h" if page >= 0 else "table ?"


def _new_state(options: OptionValues) -> Module:
    page = options.integer("table")
    return Module("XFP", (_DEVICE, _DEVICE), XFP_FIELDS, _page_name, _DEVICE, page)


XFP = Decoder(
    id="xfp",
    name="XFP",
    doc="management pages of an XFP on I2C (INF-8077i): diagnostics with units, identification",
    consumes="i2c.transfers",
    produces=(
        Output("xfp.fields", field_schema, "fields read and written, with values and units"),
        Output("xfp.transactions", transaction_schema, "accesses to the pages"),
    ),
    decode=decode_module,
    new_state=_new_state,
    options=(
        Option(
            "table",
            1,
            "table of the upper half until the capture selects one; -1 for not known",
            minimum=-1,
            maximum=255,
        ),
    ),
    texts=module_texts,
)
