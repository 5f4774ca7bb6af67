"""Commands of serial NOR flash: opcode, name, and the shape of what follows.

Source: JEDEC JESD216F, 6.4 (basic flash parameter table: reads, erases, suspend, reset, addressing);
beyond it the opcodes that the makers of 25-series parts share.
"""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """What follows an opcode.

    ``address`` is ``"mode"`` (3 or 4 bytes, as the address mode says), a number of bytes, or 0.
    ``dummy`` counts bytes between address and data. ``data`` is ``read``, ``write`` or "".
    ``lines`` are those of address, data: 1, 2 or 4 (the opcode comes on one line in all of them).
    ``needs_enable`` says that the write enable latch must be set; ``busy`` that the part is busy
    after it. ``erase_B`` is the size of what it erases, -1 for all.
    """

    name: str
    meaning: str
    address: str | int = 0
    dummy: int = 0
    data: str = ""
    lines: tuple[int, int] = (1, 1)
    needs_enable: bool = False
    busy: bool = False
    erase_B: int = 0


def _read(name: str, meaning: str, dummy: int, lines: tuple[int, int], four: bool) -> Command:
    return Command(name, meaning, 4 if four else "mode", dummy, "read", lines)


def _program(name: str, meaning: str, lines: tuple[int, int], four: bool) -> Command:
    return Command(name, meaning, 4 if four else "mode", 0, "write", lines, True, True)


def _erase(name: str, size_B: int, four: bool) -> Command:
    meaning = f"erase {size_B >> 10} KiB"
    address: str | int = 4 if four else "mode"
    return Command(name, meaning, address, needs_enable=True, busy=True, erase_B=size_B)


def _register_write(name: str, meaning: str) -> Command:
    return Command(name, meaning, data="write", needs_enable=True, busy=True)


_CHIP_ERASE = Command("CE", "chip erase", needs_enable=True, busy=True, erase_B=-1)
_KIB = 1024

COMMANDS: dict[int, Command] = {
    0x01: _register_write("WRSR", "write status register"),
    0x02: _program("PP", "page program", (1, 1), False),
    0x03: _read("READ", "read data", 0, (1, 1), False),
    0x04: Command("WRDI", "write disable"),
    0x05: Command("RDSR", "read status register", data="read"),
    0x06: Command("WREN", "write enable"),
    0x0B: _read("FAST_READ", "fast read data", 1, (1, 1), False),
    0x0C: _read("FAST_READ4", "fast read data, 4-byte address", 1, (1, 1), True),
    0x11: _register_write("WRSR3", "write status register 3"),
    0x12: _program("PP4", "page program, 4-byte address", (1, 1), True),
    0x13: _read("READ4", "read data, 4-byte address", 0, (1, 1), True),
    0x15: Command("RDSR3", "read status register 3", data="read"),
    0x20: _erase("SE", 4 * _KIB, False),
    0x21: _erase("SE4", 4 * _KIB, True),
    0x31: _register_write("WRSR2", "write status register 2"),
    0x32: _program("QPP", "page program, data on four lines", (1, 4), False),
    0x34: _program("QPP4", "page program, data on four lines, 4-byte address", (1, 4), True),
    0x35: Command("RDSR2", "read status register 2", data="read"),
    0x3B: _read("DREAD", "fast read, data on two lines", 1, (1, 2), False),
    0x3C: _read("DREAD4", "fast read, data on two lines, 4-byte address", 1, (1, 2), True),
    0x4B: Command("RDUID", "read unique number", dummy=4, data="read"),
    0x50: Command("WRENV", "write enable for volatile status register"),
    0x52: _erase("BE32", 32 * _KIB, False),
    0x5A: Command("SFDP", "read discoverable parameters", 3, 1, "read"),
    0x5C: _erase("BE32_4", 32 * _KIB, True),
    0x60: _CHIP_ERASE,
    0x66: Command("RSTEN", "enable reset"),
    0x6B: _read("QREAD", "fast read, data on four lines", 1, (1, 4), False),
    0x6C: _read("QREAD4", "fast read, data on four lines, 4-byte address", 1, (1, 4), True),
    0x75: Command("SUSPEND", "suspend program or erase"),
    0x7A: Command("RESUME", "resume program or erase"),
    0x90: Command("REMS", "read manufacturer and device", 3, 0, "read"),
    0x99: Command("RST", "reset"),
    0x9F: Command("RDID", "read JEDEC identification", data="read"),
    0xAB: Command("RDP", "release from power-down, read electronic signature", 0, 3, "read"),
    0xB7: Command("EN4B", "enter 4-byte address mode"),
    0xB9: Command("DP", "deep power-down"),
    0xBB: _read("2READ", "fast read, address and data on two lines", 1, (2, 2), False),
    0xBC: _read("2READ4", "fast read, address and data on two lines, 4-byte", 1, (2, 2), True),
    0xC7: _CHIP_ERASE,
    0xD8: _erase("BE64", 64 * _KIB, False),
    0xDC: _erase("BE64_4", 64 * _KIB, True),
    0xE9: Command("EX4B", "leave 4-byte address mode"),
    0xEB: _read("4READ", "fast read, address and data on four lines", 3, (4, 4), False),
    0xEC: _read("4READ4", "fast read, address and data on four lines, 4-byte", 3, (4, 4), True),
}
