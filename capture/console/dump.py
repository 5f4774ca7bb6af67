"""Dumps of a ring, line by line, into the device of a capture; what did not arrive is a stated gap.

Source: firmware-hooks/c/ff_console.h; docs/formats.md sections 1, 2 and 7.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

import numpy as np

from freezeframe.capture.console.lines import Damaged, Line
from freezeframe.capture.errors import CaptureFormatError
from freezeframe.capture.folder import DeviceCapture, Gap, MemoryImage, RegisterImage
from freezeframe.capture.registers import names
from freezeframe.capture.registers.identity import IDENTITY_REGISTERS, MAGIC, Identity
from freezeframe.capture.registers.map_table import MAP_HASH

_RECORD_B = 9
_MOST_RECORDS = 16384  # of an event log, by the map
_EVENT_LOG = 4
_CALLED = "event_log"


@dataclass(frozen=True, slots=True)
class Dump:
    """A ring as it arrived, and one sentence for everything that did not."""

    device: DeviceCapture
    lost: tuple[str, ...]


@dataclass(slots=True)
class _Open:
    generation: int
    registers: dict[int, int] = field(default_factory=dict)
    records: dict[int, bytes] = field(default_factory=dict)
    damaged: int = 0


class DumpReader:
    """Collects the lines from ``begin`` to ``end``. A dump that begins again before its end replaces the one before."""

    def __init__(self) -> None:
        self._open: _Open | None = None
        self.broken_off = 0
        """Dumps that began and never ended."""

    @property
    def records(self) -> int | None:
        """Records of the dump that is under way; None between dumps."""
        return None if self._open is None else len(self._open.records)

    def feed(self, line: Line | Damaged) -> Dump | None:
        """Take a line; return the dump that it ends.

        Raises:
            CaptureFormatError: the dump is of a device or map that this program does not know, or its identity did not
                arrive whole. The reader is ready for the next one.
        """
        if isinstance(line, Line) and line.what == "begin":
            self.broken_off += self._open is not None
            self._open = _Open(line.numbers[0])
            return None
        open_ = self._open
        if open_ is None:
            return None
        if isinstance(line, Damaged):
            open_.damaged += 1
        elif line.what == "reg":
            address, value = line.numbers
            if address % 4 == 0 and address < 1 << 24 and value < 1 << 32:
                open_.registers[address] = value
            else:
                open_.damaged += 1
        elif line.what == "rec":
            if line.numbers[0] < _MOST_RECORDS and len(line.data) == _RECORD_B:
                open_.records[line.numbers[0]] = line.data
            else:
                open_.damaged += 1
        elif line.what == "end":
            self._open = None
            return _finished(open_, *line.numbers)
        return None


def _finished(open_: _Open, records: int, crc: int) -> Dump:
    identity = _identity(open_)
    depth = identity.event_depth
    if not 1 <= depth <= _MOST_RECORDS or records > depth:
        raise CaptureFormatError(
            f"console: a ring of {depth} records with {records} in it; 1..{_MOST_RECORDS} are possible"
        )
    image = np.zeros((depth, _RECORD_B), dtype=np.uint8)
    for slot, data in open_.records.items():
        if slot < records:
            image[slot] = np.frombuffer(data, dtype=np.uint8)
    missing = [slot for slot in range(records) if slot not in open_.records]
    lost = []
    if open_.damaged:
        lines = "1 line" if open_.damaged == 1 else f"{open_.damaged} lines"
        lost.append(f"{lines} of the console arrived damaged")
    if missing:
        lost.append(f"{len(missing)} of {records} records did not arrive")
    elif zlib.crc32(image[:records].tobytes()) != crc:
        lost.append(
            "every record arrived with a good line CRC, but their common CRC does not fit: lines of two dumps are mixed"
        )
    registers = RegisterImage(open_.registers)
    write_ptr = registers.value("memory.write_ptr", _EVENT_LOG)
    status = registers.value("memory.status", _EVENT_LOG)
    if write_ptr is None or status is None or write_ptr > depth:
        raise CaptureFormatError(
            "console: where the ring's newest record stands did not arrive (memory.write_ptr, memory.status); "
            "let the card print it again"
        )
    memory = MemoryImage(_CALLED, image, write_ptr, bool(status & 1), _gaps(missing))
    return Dump(
        DeviceCapture(
            index=0, base=0, identity=identity, registers=registers, memories={_CALLED: memory}
        ),
        tuple(lost),
    )


def _identity(open_: _Open) -> Identity:
    missing = [r.name for r in IDENTITY_REGISTERS if names.offset(r.name) not in open_.registers]
    if missing:
        raise CaptureFormatError(
            f"console: {', '.join(missing[:3])}{' ...' if len(missing) > 3 else ''} of the dump's identity did not "
            "arrive; let the card print it again"
        )
    identity = Identity.from_registers(lambda name: open_.registers[names.offset(name)])
    if identity.magic != MAGIC or identity.map_hash != MAP_HASH:
        raise CaptureFormatError(
            f"console: magic {identity.magic:#010x}, register map {identity.map_hash:08x}; this program knows "
            f"{MAGIC:#010x} and {MAP_HASH:08x}: use the release that the C hooks are from"
        )
    return identity


def _gaps(missing: list[int]) -> list[Gap]:
    gaps: list[Gap] = []
    for slot in missing:
        if gaps and gaps[-1].first_slot + gaps[-1].slots == slot:
            gaps[-1] = gaps[-1]._replace(slots=gaps[-1].slots + 1)
        else:
            gaps.append(Gap(slot, 1, "its console line did not arrive"))
    return gaps
