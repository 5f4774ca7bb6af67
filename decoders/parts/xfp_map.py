"""The memory of an XFP: lower half and table 01h as fields.

Source: INF-8077i rev. 4.5, chapter 5 (lower memory map; serial identification in table 01h).
"""

from __future__ import annotations

from typing import NamedTuple

from freezeframe.decoders.contract import OptionValues
from freezeframe.decoders.parts.module_codes import CONNECTORS, IDENTIFIERS
from freezeframe.decoders.parts.module_fields import (
    Field,
    Meaning,
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
    power,
    text,
)
from freezeframe.decoders.parts.module_pages import Module

_DEVICE = 0x50  # A0h with the direction bit
_LOW, _ID = "lower", "table 01h"
_AUX_KINDS_AT = 222  # in table 01h: AUX1 in the upper four bits, AUX2 in the lower


class _Aux(NamedTuple):
    name: str
    scale: float = 0
    unit: str = ""
    digits: int = 0
    signed: bool = False


_AUX_KINDS = {
    0x0: _Aux("not implemented"),
    0x1: _Aux("APD bias voltage", 0.01, "V", 2),
    0x3: _Aux("TEC current", 0.1, "mA", 1, True),
    0x4: _Aux("laser temperature", 1 / 256, "C", 2, True),
    0x5: _Aux("laser wavelength", 0.05, "nm", 2),
    0x6: _Aux("5 V supply voltage", 1e-4, "V", 4),
    0x7: _Aux("3.3 V supply voltage", 1e-4, "V", 4),
    0x8: _Aux("1.8 V supply voltage", 1e-4, "V", 4),
    0x9: _Aux("-5.2 V supply voltage", -1e-4, "V", 4),
    0xA: _Aux("5 V supply current", 0.1, "mA", 1),
    0xD: _Aux("3.3 V supply current", 0.1, "mA", 1),
    0xE: _Aux("1.8 V supply current", 0.1, "mA", 1),
    0xF: _Aux("-5.2 V supply current", 0.1, "mA", 1),
}


def _aux(which: int) -> Meaning:
    """Return the meaning of an auxiliary measurement, which table 01h says."""

    def meaning(raw: bytes, memory: Memory) -> Reading:
        kinds = memory.get(_ID, _AUX_KINDS_AT, 1)
        if kinds is None:
            return Reading(None, "", f"{raw.hex()} (byte {_AUX_KINDS_AT} says of what)")
        kind = _AUX_KINDS.get(kinds[0] >> 4 if which == 1 else kinds[0] & 15, _Aux("reserved"))
        if not kind.unit:
            return Reading(None, "", f"{raw.hex()} ({kind.name})")
        value = int.from_bytes(raw, "big", signed=kind.signed) * kind.scale
        return Reading(value, kind.unit, f"{value:.{kind.digits}f} {kind.unit} ({kind.name})")

    return meaning


def _aux_kinds(raw: bytes, memory: Memory) -> Reading:
    names = [_AUX_KINDS.get(kind, _Aux("reserved")).name for kind in (raw[0] >> 4, raw[0] & 15)]
    return Reading(raw[0], "", f"AUX1 {names[0]}, AUX2 {names[1]}")


_MEASURED = (
    Measured(2, 96, "temperature", number(1 / 256, "C", signed=True, digits=2), signed=True),
    Measured(18, 100, "TX bias", number(2e-3, "mA", digits=3)),
    Measured(26, 102, "TX power", power),
    Measured(34, 104, "RX power", power),
    Measured(42, 106, "AUX1", _aux(1)),
    Measured(50, 108, "AUX2", _aux(2)),
)


def _high_low(*names: str) -> tuple[str, ...]:
    return tuple(f"{name} {end}" if name else "" for name in names for end in ("high", "low"))


_MEASURED_FLAGS = _high_low(
    "temperature", "", "TX bias", "TX power", "RX power", "AUX1", "AUX2", ""
)
_STATE_FLAGS = (
    *("TX not ready", "TX fault", "TX CDR not locked", "RX not ready"),
    *("RX LOS", "RX CDR not locked", "module not ready", "reset complete"),
    *("APD supply fault", "TEC fault", "wavelength unlocked", "", "", "", "", ""),
)
_SUPPLY_FLAGS = _high_low("5 V supply", "3.3 V supply", "1.8 V supply", "-5.2 V supply")
_GENERAL = (
    *("TX disabled", "soft TX disable", "module not ready", "powered down"),
    *("soft power down", "interrupt", "RX LOS", "data not ready"),
    *("TX not ready", "TX fault", "TX CDR not locked", "RX not ready"),
    *("RX CDR not locked", "", "", ""),
)


def _flags(first: int, what: str) -> tuple[Field, ...]:
    return (
        Field(_LOW, first, 2, f"alarm {what}", bits(_MEASURED_FLAGS)),
        Field(_LOW, first + 2, 2, f"warning {what}", bits(_MEASURED_FLAGS)),
        Field(_LOW, first + 4, 2, f"status {what}", bits(_STATE_FLAGS)),
        Field(_LOW, first + 6, 1, f"supply alarm {what}", bits(_SUPPLY_FLAGS)),
        Field(_LOW, first + 7, 1, f"supply warning {what}", bits(_SUPPLY_FLAGS)),
    )


_LOWER = (
    Field(_LOW, 0, 1, "identifier", code(IDENTIFIERS)),
    Field(_LOW, 1, 1, "signal conditioner control", plain),
    *(field for each in _MEASURED for field in each.limits(_LOW)),
    Field(_LOW, 58, 2, "variable power supply control", plain),
    Field(_LOW, 70, 1, "acceptable BER", plain),
    Field(_LOW, 71, 1, "actual BER", plain),
    Field(_LOW, 72, 2, "wavelength set", number(0.05, "nm", digits=2)),
    Field(_LOW, 74, 2, "wavelength error", number(0.005, "nm", signed=True, digits=3)),
    Field(_LOW, 76, 1, "FEC amplitude adjustment", number(1, "", signed=True)),
    Field(_LOW, 77, 1, "FEC phase adjustment", number(1, "", signed=True)),
    *_flags(80, "latched flags"),
    *_flags(88, "masks"),
    *(each.value(_LOW) for each in _MEASURED),
    Field(_LOW, 110, 2, "general control and status", bits(_GENERAL)),
    Field(_LOW, 118, 1, "packet error checking", plain),
    Field(_LOW, 119, 4, "new password", plain),
    Field(_LOW, 123, 4, "password", plain),
    Field(_LOW, 127, 1, "table select", plain),
)

_COMPLIANCE = (  # bytes 131 to 138, bit 7 first
    *("10GBASE-SR", "10GBASE-LR", "10GBASE-ER", "10GBASE-LRM"),
    *("10GBASE-SW", "10GBASE-LW", "10GBASE-EW", ""),
    *("1200-MX-SN-I", "1200-SM-LL-L", "10GFC extended reach", "10GFC intermediate reach"),
    *("", "", "", ""),
    *("", "", "", "", "", "", "", ""),
    *("1000BASE-SX or 1xFC MMF", "1000BASE-LX or 1xFC SMF", "2xFC MMF", "2xFC SMF"),
    *("OC48-SR", "OC48-IR", "OC48-LR", ""),
    *("I-64.1r", "I-64.1", "I-64.2r", "I-64.2", "I-64.3", "I-64.5", "", ""),
    *("S-64.1", "S-64.2a", "S-64.2b", "S-64.3a", "S-64.3b", "S-64.5a", "S-64.5b", ""),
    *("L-64.1", "L-64.2a", "L-64.2b", "L-64.2c", "L-64.3", "G.959.1 P1L1-2D2", "", ""),
    *("V-64.2a", "V-64.2b", "V-64.3", "", "", "", "", ""),
)
_ENCODING = ("64B/66B", "8B/10B", "SONET scrambled", "NRZ", "RZ", "", "", "")
_TRANSMITTERS = (
    *("850 nm VCSEL", "1310 nm VCSEL", "1550 nm VCSEL", "1310 nm FP", "1310 nm DFB"),
    *("1550 nm DFB", "1310 nm EML", "1550 nm EML", "copper"),
)
_TECHNOLOGY = (
    ("no wavelength control", "active wavelength control"),
    ("uncooled transmitter", "cooled transmitter"),
    ("PIN detector", "APD detector"),
    ("transmitter not tunable", "transmitter tunable"),
)
_CDR = (
    *("9.95 Gb/s", "10.3 Gb/s", "10.5 Gb/s", "10.7 Gb/s", "11.1 Gb/s", ""),
    *("lineside loopback", "XFI loopback"),
)
_ENHANCED = (
    *("VPS", "soft TX_DISABLE", "soft P_Down", "VPS LV regulator mode"),
    *("VPS bypassed regulator mode", "active FEC control", "wavelength tunability", "CMU"),
)


def _extended_identifier(raw: bytes, memory: Memory) -> Reading:
    words = [f"power level {(raw[0] >> 6) + 1}"]
    words += ["no CDR" if raw[0] & 0x20 else "CDR"]
    words += [] if raw[0] & 0x10 else ["TX reference clock required"]
    words += ["CLEI code"] if raw[0] & 0x08 else []
    return Reading(raw[0], "", ", ".join(words))


def _technology(raw: bytes, memory: Memory) -> Reading:
    kind = raw[0] >> 4
    words = [_TRANSMITTERS[kind] if kind < len(_TRANSMITTERS) else "reserved transmitter"]
    words += [pair[raw[0] >> 3 - n & 1] for n, pair in enumerate(_TECHNOLOGY)]
    return Reading(raw[0], "", ", ".join(words))


def _two(upper: float, lower: float, names: tuple[str, str]) -> Meaning:
    """Return the meaning of a byte of two currents, in steps of so many ampere."""

    def meaning(raw: bytes, memory: Memory) -> Reading:
        first, second = (raw[0] >> 4) * upper, (raw[0] & 15) * lower
        return Reading(None, "A", f"{names[0]} {first:.2f} A, {names[1]} {second:.2f} A")

    return meaning


def _monitoring(raw: bytes, memory: Memory) -> Reading:
    ber = "BER" if raw[0] & 0x10 else "no BER"
    return Reading(raw[0], "", f"{ber}, {'average' if raw[0] & 0x08 else 'OMA'} RX power")


def _length(step: int, unit: str, name: str, address: int, zero: str = "not supported") -> Field:
    over = {0: zero, 255: f"over {254 * step} {unit}"}
    return Field(_ID, address, 1, name, number(step, unit, special=over))


_IDENTIFICATION = (
    Field(_ID, 128, 1, "identifier", code(IDENTIFIERS)),
    Field(_ID, 129, 1, "extended identifier", _extended_identifier),
    Field(_ID, 130, 1, "connector", code(CONNECTORS)),
    Field(_ID, 131, 8, "transceiver compliance", bits(_COMPLIANCE)),
    Field(_ID, 139, 1, "encoding", bits(_ENCODING)),
    Field(_ID, 140, 1, "minimum rate", number(0.1, "Gb/s", digits=1)),
    Field(_ID, 141, 1, "maximum rate", number(0.1, "Gb/s", digits=1)),
    _length(1, "km", "length single mode", 142),
    _length(2, "m", "length OM3", 143),
    _length(1, "m", "length OM2", 144),
    _length(1, "m", "length OM1", 145),
    _length(1, "m", "length copper", 146),
    Field(_ID, 147, 1, "device technology", _technology),
    Field(_ID, 148, 16, "vendor name", text),
    Field(_ID, 164, 1, "CDR support", bits(_CDR)),
    Field(_ID, 165, 3, "vendor OUI", oui),
    Field(_ID, 168, 16, "vendor part number", text),
    Field(_ID, 184, 2, "vendor revision", text),
    Field(_ID, 186, 2, "wavelength", number(0.05, "nm", digits=2)),
    Field(_ID, 188, 2, "wavelength tolerance", number(0.005, "nm", digits=3)),
    Field(_ID, 190, 1, "maximum case temperature", number(1, "C")),
    Field(_ID, 191, 1, "CC_BASE", checksum(_ID, 128, 190)),
    Field(_ID, 192, 1, "maximum power", number(0.02, "W", digits=2)),
    Field(_ID, 193, 1, "maximum power when powered down", number(0.01, "W", digits=2)),
    Field(_ID, 194, 1, "maximum current", _two(0.05, 0.1, ("5 V", "3.3 V"))),
    Field(_ID, 195, 1, "maximum current, lower supplies", _two(0.1, 0.05, ("1.8 V", "-5.2 V"))),
    Field(_ID, 196, 16, "vendor serial number", text),
    Field(_ID, 212, 8, "date code", date),
    Field(_ID, 220, 1, "diagnostic monitoring type", _monitoring),
    Field(_ID, 221, 1, "enhanced options", bits(_ENHANCED)),
    Field(_ID, 222, 1, "AUX monitoring", _aux_kinds),
    Field(_ID, 223, 1, "CC_EXT", checksum(_ID, 192, 222)),
    Field(_ID, 224, 32, "vendor specific", plain),
)

XFP_FIELDS = (*_LOWER, *_IDENTIFICATION)


def _page_name(device: int, address: int, page: int) -> str:
    if address < 128:
        return "lower"
    return f"table {page:02X}h" if page >= 0 else "table ?"


def new_module(options: OptionValues) -> Module:
    """Return a module of which nothing is known but the page that is selected."""
    page = options.integer("table")
    return Module("XFP", (_DEVICE, _DEVICE), XFP_FIELDS, _page_name, _DEVICE, page)
