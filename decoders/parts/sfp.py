"""SFP: the identification and diagnostics pages of a pluggable module on I2C, with units.

Source: SFF-8472 rev. 12.4.
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
from freezeframe.decoders.parts.sfp_map import SFP_FIELDS

__all__ = ["SFP"]

_IDENTIFICATION, _DIAGNOSTICS = 0x50, 0x51  # A0h and A2h with the direction bit


def _page_name(device: int, address: int, page: int) -> str:
    if device == _IDENTIFICATION:
        return "A0h"
    if address < 128:
        return "A2h"
    return f"A2h page {page:02X}h" if page >= 0 else "A2h page ?"


def _new_state(options: OptionValues) -> Module:
    return Module(
        "SFP",
        (_IDENTIFICATION, _DIAGNOSTICS),
        SFP_FIELDS,
        _page_name,
        _DIAGNOSTICS,
        options.integer("page"),
    )


SFP = Decoder(
    id="sfp",
    name="SFP",
    doc="management pages of an SFP on I2C (SFF-8472): identification, diagnostics with units",
    consumes="i2c.transfers",
    produces=(
        Output("sfp.fields", field_schema, "fields read and written, with values and units"),
        Output("sfp.transactions", transaction_schema, "accesses to the pages"),
    ),
    decode=decode_module,
    new_state=_new_state,
    options=(
        Option(
            "page",
            0,
            "page of the upper half of A2h until the capture selects one; -1 for not known",
            minimum=-1,
            maximum=255,
        ),
    ),
    texts=module_texts,
)
