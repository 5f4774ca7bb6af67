"""SFP pages as a libsigrokdecode decoder, stacked on i2c: fields with units, accesses, warnings.

Source: SFF-8472 rev. 12.4; libsigrokdecode 0.5, decoder API version 3.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import sigrokdecode as srd  # type: ignore[import-not-found]  # exists inside sigrok only

__all__ = ["Decoder"]

_PARTS = Path(__file__).resolve().parents[2] / "parts"


def _shared(name: str) -> Any:
    """Load a module of Freezeframe that needs no more than the standard library.

    Inside sigrok there is no such package to import it from, but it lies beside this folder.
    """
    full = f"freezeframe.decoders.parts.{name}"
    if full not in sys.modules:
        spec = importlib.util.spec_from_file_location(full, _PARTS / f"{name}.py")
        if spec is None or spec.loader is None:
            raise ImportError(f"{_PARTS / name}.py cannot be loaded")
        module = importlib.util.module_from_spec(spec)
        sys.modules[full] = module
        spec.loader.exec_module(module)
    return sys.modules[full]


# In this order, because each imports those before it.
_fields, _codes, _calibration, _map = map(
    _shared, ("module_fields", "module_codes", "sfp_calibration", "sfp_map")
)

_PAGES = {0x50: "A0h", 0x51: "A2h"}  # by 7-bit address
_PAGE_SELECT, _HALF = 127, 128
_FIELD, _ACCESS, _WARNING = range(3)


class Decoder(srd.Decoder):  # type: ignore[misc]  # a class of sigrok, which has no types
    """Collects the bytes of each transfer and, at its end, names the fields that are whole."""

    api_version = 3
    id = "sfp"
    name = "SFP"
    longname = "Small form-factor pluggable transceiver"
    desc = "SFP management pages (SFF-8472): identification and diagnostics."
    license = "gplv3+"
    inputs = ["i2c"]  # noqa: RUF012 - sigrok reads plain class attributes
    outputs: list[str] = []  # noqa: RUF012
    tags = ["Networking"]  # noqa: RUF012
    # Of an instance they are the values by id.
    options: Any = (
        {"id": "page", "desc": "Page of the upper half of A2h at the beginning", "default": 0},
    )
    annotations = (
        ("field", "Field with its value"),
        ("access", "Access"),
        ("warning", "Warning"),
    )
    annotation_rows = (
        ("fields", "Fields", (_FIELD,)),
        ("accesses", "Accesses", (_ACCESS,)),
        ("warnings", "Warnings", (_WARNING,)),
    )

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._memory = _fields.Memory()
        self._field_at = {
            (field.page, field.address + number): field
            for field in _map.SFP_FIELDS
            for number in range(field.length_B)
        }
        self._seen: dict[Any, set[int]] = {}
        self._counter: dict[int, int] = {}  # by device
        self._page = 0
        self._device = -1
        self._read = False
        self._answered = False
        self._bytes: list[tuple[int, int, int]] = []  # value, first sample, end
        self._refused_at = -1  # number of the first byte written that was not acknowledged
        self._begin = 0

    def start(self) -> None:
        self._out = self.register(srd.OUTPUT_ANN)
        self._page = self.options["page"]

    def decode(self, ss: int, es: int, data: Any) -> None:
        kind, value = data
        if kind in ("START", "START REPEAT", "STOP"):
            self._end_of_transfer(ss, stopped=kind == "STOP")
            self._begin = ss
        elif kind in ("ADDRESS READ", "ADDRESS WRITE"):
            self._device, self._read, self._bytes = value, kind == "ADDRESS READ", []
            self._answered, self._refused_at = False, -1
        elif kind in ("DATA READ", "DATA WRITE"):
            self._bytes.append((value, ss, es))
        elif kind == "ACK":
            self._answered = True
        elif kind == "NACK" and self._bytes and not self._read and self._refused_at < 0:
            self._refused_at = len(self._bytes) - 1

    def _end_of_transfer(self, end: int, *, stopped: bool) -> None:
        device, self._device = self._device, -1
        if device not in _PAGES:
            return
        if not self._answered:
            self._put(self._begin, end, _WARNING, f"{_PAGES[device]}: nothing answers")
            return
        received = self._bytes
        if not self._read and received:
            self._counter[device] = received[0][0] if self._refused_at else -1
            received = received[1:]
        if self._refused_at >= 0:
            self._put(self._begin, end, _WARNING, f"{_PAGES[device]}: a byte was not acknowledged")
            if self._refused_at > 0:
                self._counter[device] = (self._counter[device] + self._refused_at - 1) % 256
            return
        if not received:
            return
        if not self._read and not stopped:
            self._put(self._begin, end, _WARNING, f"{_PAGES[device]}: no STOP after the data")
        address = self._counter.get(device, -1)
        way = "read" if self._read else "write"
        where = "?" if address < 0 else f"{self._page_name(device, address)} byte {address}"
        shown = " ".join(f"{value:02x}" for value, _, _ in received)
        self._put(received[0][1], received[-1][2], _ACCESS, f"{way} {where}: {shown}", way)
        if address >= 0:
            self._counter[device] = (address + len(received)) % 256
            self._take(device, address, received)

    def _take(self, device: int, address: int, received: list[tuple[int, int, int]]) -> None:
        """Put bytes into the memory, and tell the fields of which all bytes came."""
        first: dict[Any, int] = {}
        for number, (value, begin, end) in enumerate(received):
            at = (address + number) % 256
            page = self._page_name(device, at)
            self._memory.put(page, at, value)
            if device == 0x51 and at == _PAGE_SELECT:
                self._page = value
            field = self._field_at.get((page, at))
            if field is None:
                continue
            first.setdefault(field, begin)
            seen = self._seen.setdefault(field, set())
            seen.add(at)
            if len(seen) == field.length_B:
                del self._seen[field]
                self._tell(field, first[field], end)

    def _tell(self, field: Any, begin: int, end: int) -> None:
        raw = self._memory.get(field.page, field.address, field.length_B)
        reading = field.meaning(raw, self._memory)
        self._put(begin, end, _FIELD, f"{field.name}: {reading.text}", reading.text, field.name)
        if reading.error:
            self._put(begin, end, _WARNING, f"{field.name}: {reading.error}")

    def _page_name(self, device: int, address: int) -> str:
        if device == 0x50 or address < _HALF:
            return _PAGES[device]
        return f"A2h page {self._page:02X}h"

    def _put(self, begin: int, end: int, kind: int, *texts: str) -> None:
        self.put(begin, end, self._out, [kind, list(texts)])
