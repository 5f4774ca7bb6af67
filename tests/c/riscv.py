"""An RV32IM core in Python, for programs of the C hooks that were compiled for a processor in a card.

One instruction a cycle. It knows what a freestanding C program needs: RV32I without fences and traps, M, and the cycle
counter (Zicntr). Anything else, and an access where nothing is, ends the run with an error.

Source: RISC-V Instruction Set Manual, Volume I, 20191213: chapters 2, 7 (M), 10 (counters), 24 (encodings).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

RAM_BASE = 0x8000_0000
RAM_B = 64 * 1024
_WORD = 0xFFFF_FFFF


def _signed(value: int, bits: int = 32) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def _divided(a: int, b: int, signed: bool) -> tuple[int, int]:
    """Return quotient and remainder rounded towards zero; by 0: all ones, and the dividend."""
    if b == 0:
        return -1, a
    if signed:
        a, b = _signed(a), _signed(b)
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient, a - b * quotient


_OPERATIONS: dict[tuple[int, int], Callable[[int, int], int]] = {
    (0, 0): lambda a, b: a + b,
    (0, 32): lambda a, b: a - b,
    (1, 0): lambda a, b: a << (b & 31),
    (2, 0): lambda a, b: int(_signed(a) < _signed(b)),
    (3, 0): lambda a, b: int(a < b),
    (4, 0): lambda a, b: a ^ b,
    (5, 0): lambda a, b: a >> (b & 31),
    (5, 32): lambda a, b: _signed(a) >> (b & 31),
    (6, 0): lambda a, b: a | b,
    (7, 0): lambda a, b: a & b,
    (0, 1): lambda a, b: a * b,
    (1, 1): lambda a, b: _signed(a) * _signed(b) >> 32,
    (2, 1): lambda a, b: _signed(a) * b >> 32,
    (3, 1): lambda a, b: a * b >> 32,
    (4, 1): lambda a, b: _divided(a, b, True)[0],
    (5, 1): lambda a, b: _divided(a, b, False)[0],
    (6, 1): lambda a, b: _divided(a, b, True)[1],
    (7, 1): lambda a, b: _divided(a, b, False)[1],
}  # (funct3, funct7)

_BRANCHES: dict[int, Callable[[int, int], bool]] = {
    0: lambda a, b: a == b,
    1: lambda a, b: a != b,
    4: lambda a, b: _signed(a) < _signed(b),
    5: lambda a, b: _signed(a) >= _signed(b),
    6: lambda a, b: a < b,
    7: lambda a, b: a >= b,
}


@dataclass(slots=True)
class Core:
    """A core, its RAM, and devices behind two functions.

    Attributes:
        program: loaded at the start of the RAM, where the core begins.
        load: gives the value at a device's address, of so many bytes.
        store: takes one.
    """

    program: bytes
    load: Callable[[int, int], int]
    store: Callable[[int, int, int], None]
    pc: int = RAM_BASE
    cycles: int = 0
    x: list[int] = field(default_factory=lambda: [0] * 32)
    ram: bytearray = field(default_factory=lambda: bytearray(RAM_B))

    def __post_init__(self) -> None:
        self.ram[: len(self.program)] = self.program

    def step(self) -> None:
        """Run one instruction.

        Raises:
            NotImplementedError: this core has no such instruction.
        """
        word = int.from_bytes(self.ram[self.pc - RAM_BASE : self.pc - RAM_BASE + 4], "little")
        opcode, rd, funct3, funct7 = word & 127, word >> 7 & 31, word >> 12 & 7, word >> 25
        a, b = self.x[word >> 15 & 31], self.x[word >> 20 & 31]
        immediate = _signed(word >> 20, 12)
        following, result = self.pc + 4, None
        match opcode:
            case 0x37:  # lui
                result = word & 0xFFFFF000
            case 0x17:  # auipc
                result = self.pc + (word & 0xFFFFF000)
            case 0x6F:  # jal
                result = following
                offset = (
                    word >> 31 << 20 | word & 0xFF000 | (word >> 20 & 1) << 11 | word >> 20 & 0x7FE
                )
                following = self.pc + _signed(offset, 21)
            case 0x67:  # jalr
                result, following = following, a + immediate & ~1
            case 0x63 if funct3 in _BRANCHES:
                if _BRANCHES[funct3](a, b):
                    offset = (
                        word >> 31 << 12 | (word >> 7 & 1) << 11 | (word >> 25 & 63) << 5 | word >> 7 & 30
                    )  # fmt: skip
                    following = self.pc + _signed(offset, 13)
            case 0x03 if funct3 in (0, 1, 2, 4, 5):
                size = 1 << (funct3 & 3)
                result = self._read(a + immediate & _WORD, size)
                if funct3 < 2:
                    result = _signed(result, 8 * size)
            case 0x23 if funct3 < 3:
                to = a + _signed(funct7 << 5 | rd, 12) & _WORD
                self._write(to, 1 << funct3, b)
            case 0x13:  # with an immediate; funct7 counts for shifts alone
                kind = (funct3, funct7 if funct3 == 5 else 0)
                result = self._operation(kind, word)(a, immediate & _WORD)
            case 0x33:
                result = self._operation((funct3, funct7), word)(a, b)
            case 0x73 if funct3 == 2 and word >> 20 in (0xC00, 0xC80):  # rdcycle, rdcycleh
                result = self.cycles >> (32 if word >> 20 == 0xC80 else 0)
            case _:
                raise NotImplementedError(f"{self.pc:#x}: instruction {word:#010x}")
        if result is not None and rd:
            self.x[rd] = result & _WORD
        self.pc = following & _WORD
        self.cycles += 1

    def _operation(self, kind: tuple[int, int], word: int) -> Callable[[int, int], int]:
        if kind not in _OPERATIONS:
            raise NotImplementedError(f"{self.pc:#x}: instruction {word:#010x}")
        return _OPERATIONS[kind]

    def _read(self, address: int, size: int) -> int:
        at = address - RAM_BASE
        if 0 <= at <= RAM_B - size:
            return int.from_bytes(self.ram[at : at + size], "little")
        return self.load(address, size)

    def _write(self, address: int, size: int, value: int) -> None:
        at = address - RAM_BASE
        if 0 <= at <= RAM_B - size:
            self.ram[at : at + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "little")
        else:
            self.store(address, size, value & (1 << 8 * size) - 1)
