"""The state of a serial flash as far as the bus shows it: write enable, busy, address mode.

Source: JEDEC JESD216F, 6.4: 14th DWORD (status polling, deep power-down), 16th (4-byte addressing,
soft reset, volatile status); the command set that 25-series parts share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from freezeframe.decoders.parts.spiflash_commands import COMMANDS, Command

WIP, WEL = 1, 2  # status register 1: write in progress, write enable latch
_WHILE_BUSY = frozenset({"RDSR", "RDSR2", "RDSR3", "SUSPEND", "RESUME", "RSTEN", "RST"})
_MOST_STATUS_B = 3  # some parts take all their status registers in one WRSR
_RESET_ENABLE = "RSTEN"


@dataclass(frozen=True, slots=True)
class Parts:
    """A transfer taken apart. ``address`` is -1 and ``data`` None where the lines do not show
    them; ``length_B`` counts the data in any case. ``short`` says that the address is cut."""

    address: int
    data: bytes | None
    length_B: int
    short: bool


def parts_of(command: Command, address_bytes: int, mosi: bytes, miso: bytes) -> Parts:
    """Take apart a transfer whose first byte is the opcode of ``command``."""
    size = address_bytes if command.address == "mode" else int(command.address)
    address_lines, data_lines = command.lines
    to_part, from_part = mosi[1:], miso[1:]
    if address_lines == 2:
        to_part = from_part = _both_lines(to_part, from_part)
    head = size + command.dummy
    if address_lines == 4:
        # Four bytes in the clocks of one, of which two lines show half.
        return Parts(-1, None, max(0, 4 * len(to_part) - head), 4 * len(to_part) < size)
    address = int.from_bytes(to_part[:size], "big") if size and len(to_part) >= size else -1
    sent = to_part if command.data == "write" else from_part
    data: bytes | None = sent[head:] if command.data else to_part[head:]
    length_B = len(to_part[head:])
    if data_lines == 2 and address_lines == 1:
        data = _both_lines(to_part[head:], from_part[head:])
        length_B = len(data)
    elif data_lines == 4:
        data, length_B = None, 4 * length_B
    return Parts(address, data, length_B, len(to_part) < size)


def _both_lines(io0: bytes, io1: bytes) -> bytes:
    """Return what two lines carry: IO0 (MOSI) the even bits, IO1 (MISO) the odd ones."""
    joined = bytearray()
    for even, odd in zip(io0, io1, strict=True):
        bits = 0
        for place in range(7, -1, -1):
            bits = bits << 2 | (odd >> place & 1) << 1 | even >> place & 1
        joined += bits.to_bytes(2, "big")
    return bytes(joined)


class Flash:
    """Follows the commands to one part; what the capture has not shown is not known."""

    commands: ClassVar[dict[int, Command]] = COMMANDS
    status_op: ClassVar[str] = "RDSR"
    release_op: ClassVar[str] = "RDP"  # from deep power-down
    while_busy: ClassVar[frozenset[str]] = _WHILE_BUSY

    def __init__(self, address_bytes: int, page_B: int) -> None:
        self.address_bytes = address_bytes
        self.polls = 0  # status bytes that said busy, since the last program or erase
        self.busy_ps = -1  # of the last program or erase, once the status said that it is over
        self._page_B = page_B
        self._first_address_bytes = address_bytes
        self._enabled: bool | None = None
        self._enabled_volatile = False
        self._busy: Literal["no", "perhaps", "yes"] = "no"
        self._busy_from_ps = -1
        self._down: bool | None = None
        self._before = ""

    def errors(self, command: Command, parts: Parts) -> list[str]:
        """Return what is wrong with a command in this state."""
        broken_rules = []
        if self._down and command.name != self.release_op:
            broken_rules.append("in-power-down")
        elif self._busy == "yes" and command.name not in self.while_busy:
            broken_rules.append("while-busy")
        volatile = self._enabled_volatile and command.name.startswith("WRSR")
        if command.needs_enable and self._enabled is False and not volatile:
            broken_rules.append("not-enabled")
        if command.name == "RST" and self._before != _RESET_ENABLE:
            broken_rules.append("reset-not-enabled")
        if _wrong_length(command, parts):
            broken_rules.append("bad-length")
        if command.erase_B > 0 and parts.address % command.erase_B:
            broken_rules.append("unaligned")
        if command.data == "write" and command.address and parts.address >= 0:
            end = parts.address % self._page_B + parts.length_B
            if end > self._page_B:
                broken_rules.append("page-wrap")
        return broken_rules

    def take(self, command: Command, t_end_ps: int, errors: list[str]) -> None:
        """Do what the command does, unless the part ignores it."""
        name, self._before = command.name, command.name
        if "while-busy" in errors:
            # It may have become ready unseen: then it did the command, and nobody knows its latch.
            self._busy, self._enabled = "perhaps", None
        if set(errors) & {
            "in-power-down",
            "while-busy",
            "not-enabled",
            "reset-not-enabled",
            "bad-length",
        }:
            return
        if command.busy:
            self._busy, self._busy_from_ps = "perhaps", t_end_ps
            self.polls, self.busy_ps = 0, -1
            self._enabled = self._enabled_volatile = False
        elif name in ("WREN", "WRDI"):
            self._enabled = name == "WREN"
            self._end_of_busy()
        elif name == "WRENV":
            self._enabled_volatile = True
        elif name in ("EN4B", "EX4B"):
            self.address_bytes = 4 if name == "EN4B" else 3
        elif name in ("DP", self.release_op):
            self._down = name == "DP"
        elif name == "RST":
            self.address_bytes = self._first_address_bytes
            self._enabled, self._enabled_volatile = False, False
            self._end_of_busy()

    def status(self, values: bytes, at_ps: list[int]) -> None:
        """Take bytes of status register 1, with the times of their ends."""
        for value, t_ps in zip(values, at_ps, strict=True):
            if self.is_busy(value):
                self._busy = "yes"
                self.polls += 1
                continue
            if self._busy != "no" and self._busy_from_ps >= 0:
                self.busy_ps = t_ps - self._busy_from_ps
            self._end_of_busy()
            self._enabled = bool(value & WEL) if self.knows_enable() else None

    def located(self, command: Command, parts: Parts) -> Parts:
        """Return the parts with the address in bytes, which it is."""
        return parts

    def is_busy(self, value: int) -> bool:
        """Return what a status says."""
        return bool(value & WIP)

    def knows_enable(self) -> bool:
        """Return whether a status tells of the write enable latch."""
        return True

    def _end_of_busy(self) -> None:
        self._busy, self._busy_from_ps = "no", -1


def _wrong_length(command: Command, parts: Parts) -> bool:
    """Tell whether the part would not do the command for its number of bytes."""
    if parts.short:
        return True
    if not command.data:
        return parts.length_B > 0
    if command.data == "read":
        return False
    if command.address:
        return parts.length_B == 0
    return not 1 <= parts.length_B <= _MOST_STATUS_B
