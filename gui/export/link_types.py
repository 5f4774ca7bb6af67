"""Rows of buses as packets of the link types that Wireshark knows: I2C, CAN, serial lines, USB.

Source: tcpdump.org link-layer header types LINKTYPE_I2C_LINUX (209), LINKTYPE_CAN_SOCKETCAN (227),
LINKTYPE_RTAC_SERIAL (250), LINKTYPE_USB_2_0_LOW_SPEED and _FULL_SPEED (293, 294); linux/can/error.h.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_I2C, _CAN, _SERIAL, _USB_LOW, _USB_FULL = 209, 227, 250, 293, 294
_EXTENDED, _REMOTE, _ERROR = 1 << 31, 1 << 30, 1 << 29  # of a CAN identifier
_BRS, _ESI, _FDF = 1, 2, 4
_PROTOCOL_ERROR, _ERROR_B = 8, 8
_PLACES = {"stuff": 4, "form": 2}  # of linux/can/error.h, data[2]
_RECEIVED, _FRAMING, _PARITY, _BREAK = 2, 7, 8, 9  # events of a serial line
_SERIAL_EVENTS = {"bad-stop": _FRAMING, "bad-parity": _PARITY, "break": _BREAK}
_FRAME_GAP = 3.5  # characters of silence between two frames, as Modbus has it (Modbus over serial line 1.02, 2.5.1.1)

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Framed:
    """A packet: the (first) row it is made of, its link type and its bytes with their header.

    ``one_row``: that row's words are those of the packet.
    """

    row: Row
    linktype: int
    data: bytes
    one_row: bool = True


Frames = Callable[[Iterator[Row]], Iterator[Framed]]


def frames_of(name: str) -> Frames | None:
    """Return what makes packets of the rows of a table, by its name; None where its bus has no link type."""
    return _MAKERS.get(name.partition("#")[0].rpartition("+")[2])


def _i2c(rows: Iterator[Row]) -> Iterator[Framed]:
    """Header: bus, 4 bytes of flags; then the bytes as they were on the bus, the address first."""
    for row in rows:
        if row["kind"] == "error" or row["address"] < 0:
            continue
        address, read = row["address"], int(bool(row["read"]))
        first = bytes([address << 1 & 0xFE | read])
        if row["ten_bit"]:
            first = bytes([0xF0 | address >> 7 & 6 | read, *([] if read else [address & 0xFF])])
        yield Framed(row, _I2C, bytes(5) + first + bytes(row["data"] or b""))


def _can(rows: Iterator[Row]) -> Iterator[Framed]:
    """Header: identifier with its flags, length, flags of CAN FD, two reserved bytes; big-endian."""
    last: tuple[int, int] | None = None
    for row in rows:
        kind, data = row["kind"], bytes(row["data"] or b"")
        about = (row["t_ps"], row["id"])
        if kind == "error" and about != last:  # a frame that broke off: the line's error frame
            place = next((code for word, code in _PLACES.items() if word in row["error"]), 0)
            detail = bytes([0, 0, place]) + bytes(_ERROR_B - 3)
            head = struct.pack(">IBBxx", _ERROR | _PROTOCOL_ERROR, _ERROR_B, 0)
            yield Framed(row, _CAN, head + detail, one_row=False)
        elif kind in ("frame", "remote"):
            last = about
            identifier = row["id"] | (_EXTENDED if row["extended"] else 0)
            identifier |= _REMOTE if kind == "remote" else 0
            flags = 0
            if row["fd"]:
                flags = _FDF | (_BRS if row["brs"] else 0) | (_ESI if row["esi"] else 0)
            length = row["dlc"] if kind == "remote" else len(data)
            head = struct.pack(">IBBxx", identifier, min(length, 64), flags)
            yield Framed(row, _CAN, head + data)


def _serial(rows: Iterator[Row]) -> Iterator[Framed]:
    """Header: seconds, microseconds, event, state of the control lines, two reserved bytes; then the characters.

    Characters between silences are one packet; a character of nine bits is given by its lower eight.
    """
    held: list[Row] = []
    for row in rows:
        if row["kind"] == "error":
            event = _SERIAL_EVENTS.get(row["error"])
            if event is not None:
                if held:
                    yield _characters(held)
                    held = []
                yield Framed(row, _SERIAL, _serial_head(row["t_ps"], event), one_row=False)
        elif row["kind"] == "frame":
            if held:
                length = held[-1]["t_end_ps"] - held[-1]["t_ps"]
                if row["t_ps"] - held[-1]["t_end_ps"] > _FRAME_GAP * length:
                    yield _characters(held)
                    held = []
            held.append(row)
    if held:
        yield _characters(held)


def _characters(held: list[Row]) -> Framed:
    data = bytes(row["data"] & 0xFF for row in held)
    head = _serial_head(held[0]["t_ps"], _RECEIVED)
    return Framed(held[0], _SERIAL, head + data, one_row=len(held) == 1)


def _serial_head(t_ps: int, event: int) -> bytes:
    seconds, rest_ps = divmod(t_ps, 10**12)
    return struct.pack(">IIBBH", seconds & 0xFFFFFFFF, rest_ps // 10**6, event, 0, 0)


def _usb(rows: Iterator[Row]) -> Iterator[Framed]:
    """A packet begins with its PID (USB 2.0, 8.3.1)."""
    for row in rows:
        if row["data"]:
            yield Framed(row, _USB_LOW if row["speed"] == "low" else _USB_FULL, bytes(row["data"]))


_MAKERS = {"i2c.transfers": _i2c, "can": _can, "uart": _serial, "usb.packets": _usb}
