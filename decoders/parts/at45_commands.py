"""DataFlash, the AT45 family: opcodes, addresses of page and byte, and its status.

Source: AT45DB161E data sheet (Adesto), sections 5 to 13 and the table of opcodes; opcodes that it calls
legacy are in as well.
"""

from __future__ import annotations

from dataclasses import replace

from freezeframe.decoders.parts.spiflash_chip import Flash, Parts
from freezeframe.decoders.parts.spiflash_commands import Command

_READY = 0x80  # of the status
STATUS_BITS = ((7, "ready"), (6, "compare differs"), (1, "protected"), (0, "pages of a power of 2"))


def _read(name: str, meaning: str, dummy: int) -> Command:
    return Command(name, meaning, 3, dummy, "read")


def _page(name: str, meaning: str) -> Command:
    return Command(name, meaning, 3, busy=True)


AT45_COMMANDS: dict[int, Command] = {
    0x01: _read("ARRAY_READ", "continuous read", 0),
    0x02: Command("PROGRAM", "program bytes through buffer 1, no erase", 3, 0, "write", busy=True),
    0x03: _read("ARRAY_READ", "continuous read", 0),
    0x0B: _read("ARRAY_READ", "continuous read", 1),
    0x1B: _read("ARRAY_READ", "continuous read", 2),
    0x32: Command("READ_PROTECTION", "read sector protection", 0, 3, "read"),
    0x35: Command("READ_LOCKDOWN", "read sector lockdown", 0, 3, "read"),
    0x3D: Command("CONFIGURE", "protection, lockdown or page size", data="write"),
    0x50: _page("BLOCK_ERASE", "erase block"),
    0x53: _page("PAGE_TO_BUFFER1", "page to buffer 1"),
    0x55: _page("PAGE_TO_BUFFER2", "page to buffer 2"),
    0x57: Command("STATUS", "read status", data="read"),
    0x58: _page("REWRITE1", "rewrite page through buffer 1"),
    0x59: _page("REWRITE2", "rewrite page through buffer 2"),
    0x60: _page("COMPARE1", "compare page with buffer 1"),
    0x61: _page("COMPARE2", "compare page with buffer 2"),
    0x77: Command("READ_SECURITY", "read security register", 0, 3, "read"),
    0x7C: _page("SECTOR_ERASE", "erase sector"),
    0x81: _page("PAGE_ERASE", "erase page"),
    0x82: Command("PAGE_PROGRAM1", "program page through buffer 1", 3, 0, "write", busy=True),
    0x83: _page("BUFFER1_TO_PAGE", "buffer 1 to page, with erase"),
    0x84: Command("BUFFER1_WRITE", "write buffer 1", 3, 0, "write"),
    0x85: Command("PAGE_PROGRAM2", "program page through buffer 2", 3, 0, "write", busy=True),
    0x86: _page("BUFFER2_TO_PAGE", "buffer 2 to page, with erase"),
    0x87: Command("BUFFER2_WRITE", "write buffer 2", 3, 0, "write"),
    0x88: _page("BUFFER1_PROGRAM", "buffer 1 to page, no erase"),
    0x89: _page("BUFFER2_PROGRAM", "buffer 2 to page, no erase"),
    0x9F: Command("RDID", "read JEDEC identification", data="read"),
    0xAB: Command("RESUME_POWER", "resume from deep power-down"),
    0xB0: Command("SUSPEND", "suspend program or erase"),
    0xB9: Command("DP", "deep power-down"),
    0xC7: Command("CHIP_ERASE", "chip erase", data="write", busy=True),
    0xD0: Command("RESUME", "resume program or erase"),
    0xD1: _read("BUFFER1_READ", "read buffer 1", 0),
    0xD2: _read("PAGE_READ", "read page", 4),
    0xD3: _read("BUFFER2_READ", "read buffer 2", 0),
    0xD4: _read("BUFFER1_READ", "read buffer 1", 1),
    0xD6: _read("BUFFER2_READ", "read buffer 2", 1),
    0xD7: Command("STATUS", "read status", data="read"),
    0xE8: _read("ARRAY_READ", "continuous read", 4),
    0xF0: Command("RESET", "software reset", data="write"),
}
_OF_BUFFER = {"BUFFER1_READ", "BUFFER2_READ", "BUFFER1_WRITE", "BUFFER2_WRITE"}


class DataFlash(Flash):
    """A part of the AT45 family: it has no write enable, and its status has a bit for ready."""

    commands = AT45_COMMANDS
    status_op = "STATUS"
    release_op = "RESUME_POWER"
    while_busy = frozenset({"STATUS", "SUSPEND", "RESUME", "RESET", "RDID", *_OF_BUFFER})

    def located(self, command: Command, parts: Parts) -> Parts:
        """Return the parts with the address in bytes: the page times its size, and the byte in it.

        The byte has as many bits as the size of a page needs (9 for 264 B), the page those above; of
        a command about a buffer only the byte counts.
        """
        if parts.address < 0:
            return parts
        bits = (self._page_B - 1).bit_length()
        page, byte = parts.address >> bits, parts.address & (1 << bits) - 1
        page_B = 0 if command.name in _OF_BUFFER else page * self._page_B
        return replace(parts, address=page_B + byte)

    def is_busy(self, value: int) -> bool:
        """Return what a status says."""
        return not value & _READY

    def knows_enable(self) -> bool:
        """Return whether a status tells of a write enable latch: there is none."""
        return False
