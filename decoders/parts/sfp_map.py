"""The memory of an SFP: pages A0h and A2h as fields.

Source: SFF-8472 rev. 12.4, tables 4-1 (A0h) and 4-2 (A2h), clauses 5 to 9; the codes of bytes 0, 2,
11 and 36 are those of SFF-8024.
"""

from __future__ import annotations

from freezeframe.decoders.contract import OptionValues
from freezeframe.decoders.parts.module_codes import (
    CONNECTORS,
    ENCODINGS,
    EXTENDED_COMPLIANCE,
    IDENTIFIERS,
)
from freezeframe.decoders.parts.module_fields import (
    Field,
    Measured,
    Memory,
    Reading,
    bits,
    checksum,
    code,
    date,
    number,
    oui,
    plain,
    text,
)
from freezeframe.decoders.parts.module_pages import Module
from freezeframe.decoders.parts.sfp_calibration import (
    BIAS,
    RX_POWER,
    TEMPERATURE,
    TX_POWER,
    VOLTAGE,
    coefficient,
    fixed_point,
    measured,
)

_IDENTIFICATION, _DIAGNOSTICS = 0x50, 0x51  # A0h and A2h with the direction bit
_EXTENDED_IDENTIFIERS = {0: "unspecified", 4: "defined by the two-wire ID only"} | {
    n: f"MOD_DEF {n}" for n in (1, 2, 3, 5, 6, 7)
}
_COMPLIANCE = (  # bytes 3 to 10, bit 7 first
    *("10GBASE-ER", "10GBASE-LRM", "10GBASE-LR", "10GBASE-SR"),
    *("InfiniBand 1X SX", "InfiniBand 1X LX", "InfiniBand 1X active", "InfiniBand 1X passive"),
    *("ESCON MMF LED", "ESCON SMF laser", "OC-192 short reach", "SONET reach 1"),
    *("SONET reach 2", "OC-48 long reach", "OC-48 intermediate reach", "OC-48 short reach"),
    *("", "OC-12 long reach", "OC-12 intermediate reach", "OC-12 short reach"),
    *("", "OC-3 long reach", "OC-3 intermediate reach", "OC-3 short reach"),
    *("BASE-PX", "BASE-BX10", "100BASE-FX", "100BASE-LX10"),
    *("1000BASE-T", "1000BASE-CX", "1000BASE-LX", "1000BASE-SX"),
    *("FC very long distance", "FC short distance", "FC intermediate distance"),
    *("FC long distance", "FC medium distance", "FC shortwave linear RX", "FC longwave LC"),
    *("FC electrical inter-enclosure", "FC electrical intra-enclosure", "FC shortwave without OFC"),
    *("FC shortwave with OFC", "FC longwave LL", "active cable", "passive cable", "", ""),
    *("FC twinax", "FC twisted pair", "FC mini coax", "FC video coax"),
    *("FC 62.5 um multimode", "FC 50 um multimode", "", "FC single mode"),
    *("FC 1200 MB/s", "FC 800 MB/s", "FC 1600 MB/s", "FC 400 MB/s"),
    *("FC 3200 MB/s", "FC 200 MB/s", "FC speed in byte 62", "FC 100 MB/s"),
)
_RATE_IDENTIFIERS = {
    0x00: "unspecified",
    0x01: "SFF-8079 (4/2/1G rate select and application select)",
    0x02: "SFF-8431 (8/4/2G RX rate select)",
    0x04: "SFF-8431 (8/4/2G TX rate select)",
    0x06: "SFF-8431 (8/4/2G independent RX and TX rate select)",
    0x08: "FC-PI-5 (16/8/4G RX rate select)",
    0x0A: "FC-PI-5 (16/8/4G independent RX and TX rate select)",
    0x0C: "FC-PI-6 (32/16/8G independent RX and TX rate select)",
    0x0E: "10/8G RX and TX rate select",
    0x10: "FC-PI-7 (64/32/16G independent RX and TX rate select)",
    0x20: "rate select by byte 36 and byte 67 of A2h",
}
_OPTIONS = (
    *("", "power level 4", "power level 3 or 4", "paging"),
    *("retimer or CDR", "cooled transmitter", "power level 2", "linear receiver output"),
    *("receiver decision threshold", "tunable", "RATE_SELECT", "TX_DISABLE"),
    *("TX_FAULT", "LOS inverted", "LOS", ""),
)
_MONITORING = (
    *("", "diagnostics", "internal calibration", "external calibration"),
    *("average RX power", "address change required", "", ""),
)
_ENHANCED = (
    *("alarm and warning flags", "soft TX_DISABLE", "soft TX_FAULT", "soft RX_LOS"),
    *("soft RATE_SELECT", "application select", "soft rate select by SFF-8431", ""),
)
_REVISIONS = {
    0: "no diagnostics",
    **{1: "9.3", 2: "9.5", 3: "10.2", 4: "10.4", 5: "11.0", 6: "11.3", 7: "11.4", 8: "12.3"},
    9: "12.4",
}
_STATUS = (
    *("TX disabled", "soft TX disable", "RS(1) high", "RS(0) high"),
    *("soft RS(0)", "TX fault", "RX LOS", "data not ready"),
)
_SIDES = (
    "temperature",
    "Vcc",
    "TX bias",
    "TX power",
    "RX power",
    "laser temperature",
    "TEC current",
)
_FLAGS = tuple(f"{side} {end}" for side in _SIDES for end in ("high", "low"))
_EXTENDED_STATUS = (
    *("", "", "", "", "soft RS(1)", "", "higher power level", "power level select"),
    *("", "", "", "", "", "", "TX CDR unlocked", "RX CDR unlocked"),
)
_NOT_SAID = {0: "not supported"}


def _rate(raw: bytes, memory: Memory) -> Reading:
    """Read the nominal rate; FFh says that byte 66 has it in steps of 250 MBd (table 4-1)."""
    if raw[0] != 0xFF:
        return Reading(raw[0] * 100, "MBd", f"{raw[0] * 100} MBd" if raw[0] else "unspecified")
    more = memory.get("A0h", 66, 1)
    if more is None:
        return Reading(None, "MBd", "over 25.4 GBd, in byte 66")
    return Reading(more[0] * 250, "MBd", f"{more[0] * 250} MBd")


def _length(step: float, unit: str, name: str, address: int) -> Field:
    over = {0: "not supported", 255: f"over {254 * step:g} {unit}"}
    return Field("A0h", address, 1, name, number(step, unit, digits=int(step < 1), special=over))


_A0H = (
    Field("A0h", 0, 1, "identifier", code(IDENTIFIERS)),
    Field("A0h", 1, 1, "extended identifier", code(_EXTENDED_IDENTIFIERS)),
    Field("A0h", 2, 1, "connector", code(CONNECTORS)),
    Field("A0h", 3, 8, "transceiver compliance", bits(_COMPLIANCE)),
    Field("A0h", 11, 1, "encoding", code(ENCODINGS)),
    Field("A0h", 12, 1, "nominal rate", _rate),
    Field("A0h", 13, 1, "rate identifier", code(_RATE_IDENTIFIERS)),
    _length(1, "km", "length single mode", 14),
    _length(0.1, "km", "length single mode, fine", 15),
    _length(10, "m", "length OM2", 16),
    _length(10, "m", "length OM1", 17),
    _length(10, "m", "length OM4, or 1/10 of copper", 18),
    _length(10, "m", "length OM3", 19),
    Field("A0h", 20, 16, "vendor name", text),
    Field("A0h", 36, 1, "extended compliance", code(EXTENDED_COMPLIANCE)),
    Field("A0h", 37, 3, "vendor OUI", oui),
    Field("A0h", 40, 16, "vendor part number", text),
    Field("A0h", 56, 4, "vendor revision", text),
    Field("A0h", 60, 2, "wavelength", number(1, "nm", special=_NOT_SAID)),
    Field("A0h", 62, 1, "fibre channel speed 2", plain),
    Field("A0h", 63, 1, "CC_BASE", checksum("A0h", 0, 62)),
    Field("A0h", 64, 2, "options", bits(_OPTIONS)),
    Field("A0h", 66, 1, "upper rate margin", number(1, "%")),
    Field("A0h", 67, 1, "lower rate margin", number(1, "%")),
    Field("A0h", 68, 16, "vendor serial number", text),
    Field("A0h", 84, 8, "date code", date),
    Field("A0h", 92, 1, "diagnostic monitoring type", bits(_MONITORING)),
    Field("A0h", 93, 1, "enhanced options", bits(_ENHANCED)),
    Field("A0h", 94, 1, "SFF-8472 compliance", code(_REVISIONS)),
    Field("A0h", 95, 1, "CC_EXT", checksum("A0h", 64, 94)),
    Field("A0h", 96, 32, "vendor specific", plain),
)

_MEASURED = (
    Measured(0, 96, "temperature", measured(TEMPERATURE), signed=True),
    Measured(8, 98, "Vcc", measured(VOLTAGE)),
    Measured(16, 100, "TX bias", measured(BIAS)),
    Measured(24, 102, "TX power", measured(TX_POWER)),
    Measured(32, 104, "RX power", measured(RX_POWER)),
)
_CONSTANTS = (
    *(Field("A2h", 56 + 4 * n, 4, f"Rx_PWR({4 - n})", coefficient) for n in range(5)),
    *(
        Field("A2h", first + 2 * n, 2, f"{name} {('slope', 'offset')[n]}", meaning)
        for first, name in ((76, "TX_I"), (80, "TX_PWR"), (84, "T"), (88, "V"))
        for n, meaning in enumerate((fixed_point, number(1, "", signed=True)))
    ),
)
_A2H = (
    *(field for each in _MEASURED for field in each.limits("A2h")),
    *_CONSTANTS,
    Field("A2h", 95, 1, "CC_DMI", checksum("A2h", 0, 94)),
    *(each.value("A2h") for each in _MEASURED),
    Field("A2h", 106, 2, "laser temperature or wavelength", plain),
    Field("A2h", 108, 2, "TEC current", number(0.1, "mA", signed=True, digits=1)),
    Field("A2h", 110, 1, "status and control", bits(_STATUS)),
    Field("A2h", 112, 2, "alarm flags", bits(_FLAGS)),
    Field("A2h", 114, 1, "TX input equalization", plain),
    Field("A2h", 115, 1, "RX output emphasis", plain),
    Field("A2h", 116, 2, "warning flags", bits(_FLAGS)),
    Field("A2h", 118, 2, "extended status and control", bits(_EXTENDED_STATUS)),
    Field("A2h", 127, 1, "page select", plain),
)

# Pages 00h and 01h are the user's memory; others are what the vendor or another standard says.
SFP_FIELDS = (*_A0H, *_A2H)


def _page_name(device: int, address: int, page: int) -> str:
    if device == _IDENTIFICATION:
        return "A0h"
    if address < 128:
        return "A2h"
    return f"A2h page {page:02X}h" if page >= 0 else "A2h page ?"


def new_module(options: OptionValues) -> Module:
    """Return a module of which nothing is known but the page that is selected."""
    return Module(
        "SFP",
        (_IDENTIFICATION, _DIAGNOSTICS),
        SFP_FIELDS,
        _page_name,
        _DIAGNOSTICS,
        options.integer("page"),
    )
