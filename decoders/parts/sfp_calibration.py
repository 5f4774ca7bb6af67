"""Diagnostics of an SFP in units: internal calibration, and external with the module's constants.

Source: SFF-8472 rev. 12.4, 9.2 (internal calibration), 9.3 (external calibration).
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from freezeframe.decoders.parts.module_fields import Meaning, Memory, Reading, power_text

_TYPE, _INTERNAL, _EXTERNAL = 92, 0x20, 0x10  # byte of page A0h, and its bits
_RX_COEFFICIENTS, _RX_COUNT = 56, 5


class Quantity(NamedTuple):
    """A diagnostic: its step, and where its slope and offset are (-1: the RX polynomial)."""

    step: float
    unit: str
    digits: int
    constants: int
    signed: bool = False


TEMPERATURE = Quantity(1 / 256, "C", 2, 84, True)
VOLTAGE = Quantity(1e-4, "V", 4, 88)
BIAS = Quantity(2e-3, "mA", 3, 76)
TX_POWER = Quantity(1e-4, "mW", 4, 80)
RX_POWER = Quantity(1e-4, "mW", 4, -1)


def measured(quantity: Quantity) -> Meaning:
    """Return the meaning of a measurement or a threshold of this quantity."""

    def meaning(raw: bytes, memory: Memory) -> Reading:
        steps = int.from_bytes(raw, "big", signed=quantity.signed)
        kind = memory.get("A0h", _TYPE, 1)
        if kind is None:
            return _reading(quantity, float(steps), "assumed")
        if kind[0] & _INTERNAL or not kind[0] & _EXTERNAL:
            return _reading(quantity, float(steps), "internal")
        calibrated = _calibrated(quantity, steps, memory)
        if calibrated is None:
            words = f"{raw.hex()}, calibration constants are not known"
            return Reading(None, quantity.unit, words, calibration="external")
        return _reading(quantity, calibrated, "external")

    return meaning


def coefficient(raw: bytes, memory: Memory) -> Reading:
    """Read a coefficient of the RX power: single precision, IEEE 754."""
    value = struct.unpack(">f", raw)[0]
    return Reading(value, "", f"{value:g}")


def fixed_point(raw: bytes, memory: Memory) -> Reading:
    """Read a slope: unsigned, 8 bits before the point and 8 after it."""
    value = int.from_bytes(raw, "big") / 256
    return Reading(value, "", f"{value:.6g}")


def _reading(quantity: Quantity, steps: float, calibration: str) -> Reading:
    value = steps * quantity.step
    words = (
        power_text(value)
        if quantity.unit == "mW"
        else f"{value:.{quantity.digits}f} {quantity.unit}"
    )
    return Reading(value, quantity.unit, words, calibration=calibration)


def _calibrated(quantity: Quantity, steps: int, memory: Memory) -> float | None:
    """Return steps of the quantity from an A/D value; None while the constants are not known."""
    if quantity.constants < 0:
        known = memory.get("A2h", _RX_COEFFICIENTS, 4 * _RX_COUNT)
        if known is None:
            return None
        value = 0.0
        for factor in struct.unpack(f">{_RX_COUNT}f", known):
            value = value * steps + factor
        return value
    known = memory.get("A2h", quantity.constants, 4)
    if known is None:
        return None
    slope, offset = struct.unpack(">Hh", known)
    return float(slope / 256 * steps + offset)
