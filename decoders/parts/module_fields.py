"""Fields of a pluggable module's memory: where they are, and what their bytes mean.

A field is data; the functions here make the usual meanings. The maps of SFP and XFP are lists of
fields (`sfp_map`, `xfp_map`).

Source: SFF-8472 rev. 12.4, 9.2 (units of the diagnostics), INF-8077i rev. 4.5, chapter 5.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple


class Memory:
    """What is known of a module's memory: bytes by page name and address."""

    def __init__(self) -> None:
        self._bytes: dict[str, dict[int, int]] = {}

    def put(self, page: str, address: int, value: int) -> None:
        """Take a byte that was read or written."""
        self._bytes.setdefault(page, {})[address] = value

    def get(self, page: str, address: int, length_B: int) -> bytes | None:
        """Return bytes, or None while one of them is not known."""
        known = self._bytes.get(page, {})
        values = [known.get(address + number, -1) for number in range(length_B)]
        return None if -1 in values else bytes(values)


class Reading(NamedTuple):
    """What a field says: a number in ``unit`` where it is one, and a text; ``error`` when it is
    wrong. ``calibration`` says what the number was made with: internal, external, assumed, or ""."""

    value: float | None
    unit: str
    text: str
    error: str = ""
    calibration: str = ""


Meaning = Callable[[bytes, Memory], Reading]


class Field(NamedTuple):
    """Bytes with a name. ``limits`` are the addresses, on the same page, of the high alarm, low
    alarm, high warning and low warning that a measurement is compared with."""

    page: str
    address: int
    length_B: int
    name: str
    meaning: Meaning
    limits: tuple[int, int, int, int] | None = None
    signed: bool = False


_ENDS = ("high alarm", "low alarm", "high warning", "low warning")


class Measured(NamedTuple):
    """A measurement of a module: the address of the first of its four limits, its own, its name and meaning."""

    limits_at: int
    address: int
    name: str
    meaning: Meaning
    signed: bool = False

    def limits(self, page: str) -> Iterator[Field]:
        """Yield the fields of the limits."""
        for place, end in enumerate(_ENDS):
            yield Field(page, self.limits_at + 2 * place, 2, f"{self.name} {end}", self.meaning)

    def value(self, page: str) -> Field:
        """Return the field of the measurement."""
        at = self.limits_at
        limits = (at, at + 2, at + 4, at + 6)
        return Field(page, self.address, 2, self.name, self.meaning, limits, self.signed)


def code(names: Mapping[int, str]) -> Meaning:
    """Return the meaning of a byte that stands for one of several things."""

    def meaning(raw: bytes, memory: Memory) -> Reading:
        return Reading(raw[0], "", names.get(raw[0], f"reserved ({raw[0]:#04x})"))

    return meaning


def bits(names: Sequence[str], none: str = "none") -> Meaning:
    """Return the meaning of single bits, the names from bit 7 of the first byte on; "" has none."""

    def meaning(raw: bytes, memory: Memory) -> Reading:
        value, places = int.from_bytes(raw, "big"), 8 * len(raw)
        words = [
            name for place, name in enumerate(names) if name and value >> (places - 1 - place) & 1
        ]
        return Reading(value if places <= 16 else None, "", ", ".join(words) or none)

    return meaning


def number(
    scale: float,
    unit: str,
    *,
    signed: bool = False,
    digits: int = 0,
    special: Mapping[int, str] | None = None,
) -> Meaning:
    """Return the meaning of a number in steps of ``scale`` units; ``special`` values are texts."""

    def meaning(raw: bytes, memory: Memory) -> Reading:
        steps = int.from_bytes(raw, "big", signed=signed)
        if special and steps in special:
            return Reading(None, unit, special[steps])
        return Reading(steps * scale, unit, f"{steps * scale:.{digits}f} {unit}".rstrip())

    return meaning


def power_text(value_mW: float) -> str:
    """Return an optical power in mW and dBm."""
    dBm = f"{10 * math.log10(value_mW):.2f} dBm" if value_mW > 0 else "no light"
    return f"{value_mW:.4f} mW ({dBm})"


def power(raw: bytes, memory: Memory) -> Reading:
    """Read an optical power in steps of 0.1 uW."""
    value_mW = int.from_bytes(raw, "big") / 10_000
    return Reading(value_mW, "mW", power_text(value_mW))


def text(raw: bytes, memory: Memory) -> Reading:
    r"""Read ASCII that is filled up with spaces (or zeros, against the standards); else ``\x1b``."""
    words = raw.rstrip(b" \0")
    wrong = "not-ascii" if any(not 0x20 <= byte < 0x7F for byte in words) else ""
    shown = "".join(chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}" for byte in words)
    return Reading(None, "", shown.strip(), wrong)


def oui(raw: bytes, memory: Memory) -> Reading:
    """Read an organisation's identifier."""
    return Reading(int.from_bytes(raw, "big"), "", raw.hex("-").upper())


def date(raw: bytes, memory: Memory) -> Reading:
    """Read YYMMDD and a lot code of two characters."""
    try:
        if not raw[:6].isdigit():
            raise ValueError
        day = datetime.date(2000 + int(raw[:2]), int(raw[2:4]), int(raw[4:6]))
    except ValueError:
        return Reading(None, "", raw.hex(" "), "bad-date")
    lot = text(raw[6:], memory).text
    return Reading(None, "", f"{day}{f' lot {lot}' if lot else ''}")


def plain(raw: bytes, memory: Memory) -> Reading:
    """Read bytes that have no further meaning here."""
    return Reading(int.from_bytes(raw, "big") if len(raw) == 1 else None, "", raw.hex(" "))


def checksum(page: str, first: int, last: int) -> Meaning:
    """Return the meaning of the lower 8 bits of the sum of bytes ``first`` to ``last``."""

    def meaning(raw: bytes, memory: Memory) -> Reading:
        covered = memory.get(page, first, last - first + 1)
        if covered is None:
            return Reading(raw[0], "", f"{raw[0]:#04x} (bytes {first}..{last} are not all known)")
        want = sum(covered) & 0xFF
        if want == raw[0]:
            return Reading(raw[0], "", f"{raw[0]:#04x} (good)")
        return Reading(raw[0], "", f"{raw[0]:#04x} (should be {want:#04x})", "bad-checksum")

    return meaning
