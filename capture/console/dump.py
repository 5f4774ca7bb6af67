"""Dumps of a ring, line by line, into the device of a capture; what did not arrive is a stated gap.

A program that names no card is the built-in one, with map 1; one that does is of map 2.

Source: firmware-hooks/c/ff_console.h; docs/formats.md sections 1, 2 and 7; docs/card-map.md sections 1 and 6.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from freezeframe.capture.card.device import CARD_FORMAT
from freezeframe.capture.card.finding import card_of_file, look_up
from freezeframe.capture.card.identity import CARD_IDENTITY_REGISTERS, IDENTITY_MAP, CardIdentity
from freezeframe.capture.card.registers import card_map
from freezeframe.capture.console.lines import Damaged, Line
from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.folder import DeviceCapture, Gap, MemoryImage, RegisterImage
from freezeframe.capture.folder.card_content import CardCapture
from freezeframe.capture.folder.records import Records
from freezeframe.capture.registers import names
from freezeframe.capture.registers.identity import IDENTITY_REGISTERS, MAGIC, Identity
from freezeframe.capture.registers.map_table import MAP_HASH

_RECORD_B = 9
_MOST_RECORDS = 16384  # of an event log, by the map
_EVENT_LOG = 4
_CALLED = "event_log"
_FORMAT = 4
# What ff_console tells of a card with a file beside its identity.
_TOLD: tuple[tuple[str, *tuple[int, ...]], ...] = (
    ("id.generation",), ("id.clk_hz", 0), ("ctl.state",), ("ctl.causes",), ("ctl.cause_cycle_lo",),
    ("ctl.cause_cycle_hi",), ("ctl.clocks_alive",), ("ctl.clocks_closed",), ("tap.stored", 0), ("tap.offered", 0),
    ("tap.post", 0), ("tap.kinds", 0),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Dump:
    """A ring as it arrived, and one sentence for everything that did not."""

    device: DeviceCapture | CardCapture
    lost: tuple[str, ...]


@dataclass(slots=True)
class _Open:
    generation: int
    registers: dict[int, int] = field(default_factory=dict)
    records: dict[int, bytes] = field(default_factory=dict)
    damaged: int = 0


class DumpReader:
    """Collects the lines from ``begin`` to ``end``. A dump that begins again before its end replaces the one before."""

    def __init__(self, card: Path | None = None) -> None:
        """Begin before any dump; ``card``: the file of the program's card, where it is not known by its hash."""
        self._card = card
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
            InputError: its card is not known, or not the one that was named.
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
            records, crc = line.numbers
            return _finished(open_, records, crc, self._card)
        return None


def _finished(open_: _Open, records: int, crc: int, card: Path | None) -> Dump:
    if open_.registers.get(_FORMAT, 0) >> 16 == CARD_FORMAT:
        return _of_card(open_, records, crc, card)
    if card is not None:
        raise InputError(
            f"{card}: the dump is of a program that names no card (ff_identity.card_hash is 0); leave --card out"
        )
    identity = _identity(open_)
    ring = _ring(open_, identity.event_depth, records, crc)
    registers = RegisterImage(open_.registers)
    write_ptr = registers.value("memory.write_ptr", _EVENT_LOG)
    status = registers.value("memory.status", _EVENT_LOG)
    memory = _memory(ring, write_ptr, status, "memory")
    return Dump(
        DeviceCapture(
            index=0, base=0, identity=identity, registers=registers, memories={_CALLED: memory}
        ),
        ring.lost,
    )


def _of_card(open_: _Open, records: int, crc: int, card: Path | None) -> Dump:
    """Return the dump of a card that is described by a file, which is known by its hash."""
    words = open_.registers
    _check_arrived(words, {info.name: info.address for info in CARD_IDENTITY_REGISTERS})
    identity = CardIdentity.from_registers(lambda name: words[IDENTITY_MAP.offset(name)])
    if identity.magic != MAGIC:
        raise CaptureFormatError(f"console: magic {identity.magic:#010x}, not {MAGIC:#010x}")
    here = "console: the dump"
    if card is not None:
        found = card_of_file(card, identity.card_hash, here)
    else:
        found = look_up(
            identity.card_hash, f"{here} names its card by hash", ", or name it (--card FILE)"
        )
    if not found.card.of_hooks:
        raise InputError(
            f"{here} is of card {found.card.name}, which has taps: its C hooks need a file of their own"
        )
    ring = _ring(open_, identity.chunk, records, crc)
    registers = RegisterImage(words, card_map(found.card, identity.built))
    status, write_ptr = registers.value("tap.status", 0), registers.value("tap.write_ptr", 0)
    memory = _memory(ring, write_ptr, status, "tap")
    told = [registers.value(name, *at) is None for name, *at in _TOLD]
    not_read = [name for (name, *_), missing in zip(_TOLD, told, strict=True) if missing]
    return Dump(
        CardCapture(0, 0, identity, found, registers, {_CALLED: memory}, not_read), ring.lost
    )


class _Ring(NamedTuple):
    image: Records
    gaps: list[Gap]
    lost: tuple[str, ...]


def _ring(open_: _Open, depth: int, records: int, crc: int) -> _Ring:
    """Return the records that arrived, in their slots, and what did not.

    Raises:
        CaptureFormatError: no ring has these numbers.
    """
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
    return _Ring(image, _gaps(missing), tuple(lost))


def _memory(ring: _Ring, write_ptr: int | None, status: int | None, register: str) -> MemoryImage:
    if write_ptr is None or status is None or write_ptr > len(ring.image):
        raise CaptureFormatError(
            f"console: where the ring's newest record stands did not arrive ({register}.write_ptr, {register}.status); "
            "let the card print it again"
        )
    return MemoryImage(_CALLED, ring.image, write_ptr, bool(status & 1), ring.gaps)


def _check_arrived(words: Mapping[int, int], wanted: Mapping[str, int]) -> None:
    missing = [name for name, address in wanted.items() if address not in words]
    if missing:
        raise CaptureFormatError(
            f"console: {', '.join(missing[:3])}{' ...' if len(missing) > 3 else ''} of the dump's identity did not "
            "arrive; let the card print it again"
        )


def _identity(open_: _Open) -> Identity:
    _check_arrived(open_.registers, {r.name: names.offset(r.name) for r in IDENTITY_REGISTERS})
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
