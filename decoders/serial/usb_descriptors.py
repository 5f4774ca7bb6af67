"""Requests and descriptors of USB in words, and what a configuration says of endpoints.

Source: USB 2.0, 9.3 (setup data), 9.6 (descriptors).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from freezeframe.decoders.serial.usb_names import (
    CLASSES,
    DESCRIPTORS,
    ENDPOINT_KINDS,
    HID_REQUESTS,
    STANDARD_REQUESTS,
)

SETUP_B = 8
_DEVICE, _CONFIGURATION, _STRING, _INTERFACE, _ENDPOINT = 1, 2, 3, 4, 5
_GET_DESCRIPTOR, _SET_ADDRESS = 6, 5
_KINDS = ("standard", "class", "vendor", "reserved")


@dataclass(frozen=True, slots=True)
class Setup:
    """The eight octets of a setup packet."""

    kind: int  # of request and recipient, with the direction in bit 7
    request: int
    value: int
    target: int
    length: int

    @classmethod
    def of(cls, data: bytes) -> Setup:
        """Take eight octets apart."""
        words = [int.from_bytes(data[at : at + 2], "little") for at in (2, 4, 6)]
        return cls(data[0], data[1], *words)

    @property
    def reads(self) -> bool:
        return bool(self.kind & 0x80)

    @property
    def descriptor(self) -> int:
        """The type of descriptor that is asked for; -1 where none is."""
        standard = self.kind & 0x60 == 0
        return self.value >> 8 if standard and self.request == _GET_DESCRIPTOR else -1

    @property
    def address(self) -> int:
        """The address that a device is given; -1 where none is."""
        return self.value if (self.kind, self.request) == (0, _SET_ADDRESS) else -1

    @property
    def name(self) -> str:
        """The request in words: ``GET_DESCRIPTOR device``, ``class request 0x20``."""
        kind = self.kind >> 5 & 3
        if kind == 0 and self.request in STANDARD_REQUESTS:
            name = STANDARD_REQUESTS[self.request]
            if self.request in (_GET_DESCRIPTOR, 7):
                what = DESCRIPTORS.get(self.value >> 8, f"{self.value >> 8:#04x}")
                number = self.value & 0xFF
                return f"{name} {what}" + (f" {number}" if number else "")
            return f"{name} {self.value}" if self.request in (_SET_ADDRESS, 9) else name
        if self.kind & 0x7F == 0x21 and self.request in HID_REQUESTS:
            return HID_REQUESTS[self.request]
        return f"{_KINDS[kind]} request {self.request:#04x}"


def descriptors(data: bytes) -> Iterator[bytes]:
    """Give the descriptors that follow each other, the last may be cut; ends where a length is impossible."""
    at = 0
    while at + 2 <= len(data) and data[at] >= 2:
        yield data[at : at + data[at]]
        at += data[at]


def endpoint_kinds(data: bytes) -> dict[int, tuple[str, int]]:
    """Return of each endpoint address in a configuration its kind and its largest packet."""
    return {
        d[2]: (ENDPOINT_KINDS[d[3] & 3], int.from_bytes(d[4:6], "little") & 0x7FF)
        for d in descriptors(data)
        if d[1] == _ENDPOINT and len(d) >= 7
    }


def in_words(setup: Setup, data: bytes) -> str:
    """Return what the data of a request are, in words; empty where they are no standard descriptor."""
    if setup.descriptor == _STRING and setup.value & 0xFF:
        return repr(data[2:].decode("utf-16-le", errors="replace"))
    if setup.descriptor == _STRING:
        words = zip(data[2::2], data[3::2], strict=False)
        return "languages " + " ".join(f"{low | high << 8:04x}" for low, high in words)
    if setup.descriptor < 0:
        return ""
    return "; ".join(filter(None, map(_one, descriptors(data))))


def _one(d: bytes) -> str:
    kind = d[1]
    if kind == _DEVICE and len(d) >= 18:
        usb, vendor, product, release = (int.from_bytes(d[at : at + 2], "little") for at in (2, 8, 10, 12))  # fmt: skip
        return (
            f"device {vendor:04x}:{product:04x}, USB {usb >> 8:x}.{usb & 0xFF:02x}, class {_class(d[4])}, "
            f"release {release >> 8:x}.{release & 0xFF:02x}, endpoint 0 of {d[7]} B"
        )
    if kind == _CONFIGURATION and len(d) >= 9:
        return f"configuration {d[5]}, {d[4]} interfaces, {2 * d[8]} mA"
    if kind == _INTERFACE and len(d) >= 9:
        return f"interface {d[2]}.{d[3]} {_class(d[5])}"
    if kind == _ENDPOINT and len(d) >= 7:
        size = int.from_bytes(d[4:6], "little") & 0x7FF
        way = "in" if d[2] & 0x80 else "out"
        return f"endpoint {d[2] & 15} {way} {ENDPOINT_KINDS[d[3] & 3]} of {size} B"
    return DESCRIPTORS.get(kind, "")


def _class(code: int) -> str:
    return CLASSES.get(code, f"{code:#04x}")
