"""CRCs as linear maps: the value of any CRC, and what a change at any place of a message does to it.

A register is kept as the hardware shifts it: a reflected CRC right-aligned with its first bit lowest, the others
left-aligned in 64 bits with their first bit highest. In this form a change of the message changes the register by
the same amount whatever else stands in it, and initial value and final exclusive-or drop out.

Source: W. Peterson and D. Brown, "Cyclic codes for error detection", Proc. IRE 49 (1961); parameters and names
after R. Williams, "A painless guide to CRC error detection algorithms" (1993), section 15.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from numba import njit

Bytes = npt.NDArray[np.uint8]
Registers = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Crc:
    """A CRC by its parameters; ``poly``, ``init``, ``xorout`` are written unreflected, as in Williams's guide.

    Raises:
        ValueError: a width outside 3..64, an even polynomial (it has no inverse), or a value that does not fit.
    """

    name: str
    width: int
    poly: int
    init: int
    refin: bool
    refout: bool
    xorout: int

    def __post_init__(self) -> None:
        if not 3 <= self.width <= 64:
            raise ValueError(f"{self.name}: a width of {self.width} bits; 3 to 64 can be examined")
        for what, value in (("poly", self.poly), ("init", self.init), ("xorout", self.xorout)):
            if not 0 <= value < 1 << self.width:
                raise ValueError(f"{self.name}: {what} {value:#x} does not fit {self.width} bits")
        if not self.poly & 1:
            raise ValueError(
                f"{self.name}: polynomial {self.poly:#x} is even; its lowest bit must be 1"
            )

    def of(self, data: bytes) -> int:
        """Return the CRC of a message."""
        return self.value(int(prefixes(self, data)[-1]))

    def value(self, register: int) -> int:
        """Return the CRC that a register stands for after the last byte."""
        plain = register if self.refin else register >> (64 - self.width)
        if self.refin != self.refout:
            plain = reverse_bits(plain, self.width)
        return plain ^ self.xorout

    def register(self, value: int) -> int:
        """Return the register that gives a CRC; the inverse of `value`.

        Raises:
            ValueError: the value does not fit the width.
        """
        if not 0 <= value < 1 << self.width:
            raise ValueError(f"{self.name}: a CRC of {value:#x} does not fit {self.width} bits")
        plain = value ^ self.xorout
        if self.refin != self.refout:
            plain = reverse_bits(plain, self.width)
        return plain if self.refin else plain << (64 - self.width)

    @property
    def first_register(self) -> int:
        """The register before the first byte."""
        return reverse_bits(self.init, self.width) if self.refin else self.init << (64 - self.width)


CRC32_ISO_HDLC = Crc("CRC-32/ISO-HDLC", 32, 0x04C11DB7, 0xFFFFFFFF, True, True, 0xFFFFFFFF)
"""That of Ethernet, zip and the payload of a link packet."""
CRC16_IBM_3740 = Crc("CRC-16/IBM-3740", 16, 0x1021, 0xFFFF, False, False, 0)
"""That of the header of a link packet."""


def reverse_bits(value: int, width: int) -> int:
    """Return a number with its lowest ``width`` bits in reverse order."""
    return int(f"{value:0{width}b}"[::-1], 2)


def prefixes(crc: Crc, data: bytes, *, first: int | None = None) -> Registers:
    """Return ``(n + 1,)`` registers: before the first byte and after each. ``first``: begin with this one."""
    begin = np.uint64(crc.first_register if first is None else first)
    registers: Registers = _prefixes(
        np.frombuffer(data, np.uint8), _table(crc.width, crc.poly, crc.refin), begin, crc.refin
    )
    return registers


def bit_effects(crc: Crc, count: int) -> Registers:
    """Return ``(count, 8)``: what flipping each bit of a byte changes, by the number of bytes after it.

    Column i is bit i of the byte, the least significant first.
    """
    effects: Registers = _effects(_table(crc.width, crc.poly, crc.refin), count, crc.refin)
    return effects


def advance(crc: Crc, registers: Registers, bytes_after: npt.NDArray[np.int64]) -> Registers:
    """Return each register after so many zero bytes more.

    Args:
        registers: ``(n,)``; bytes_after: ``(n,)``, not rising.
    """
    advanced: Registers = _advance(
        registers, bytes_after.astype(np.int64), _table(crc.width, crc.poly, crc.refin), crc.refin
    )
    return advanced


def rewound(crc: Crc, register: int, bits: int) -> Registers:
    """Return ``(bits + 1,)`` registers: the given one, then those 1, 2, ... zero bits before it."""
    top = reverse_bits(crc.poly, crc.width) if crc.refin else crc.poly << (64 - crc.width)
    earlier: Registers = _rewound(np.uint64(register), np.uint64(top), bits, crc.width, crc.refin)
    return earlier


@cache
def _table(width: int, poly: int, refin: bool) -> Registers:
    """Return what each byte value does to an empty register."""
    if refin:
        table = np.arange(256, dtype=np.uint64)
        back = np.uint64(reverse_bits(poly, width))
        for _ in range(8):
            low = table & np.uint64(1)
            table = table >> np.uint64(1) ^ np.where(low, back, np.uint64(0))
        return table
    table = np.arange(256, dtype=np.uint64) << np.uint64(56)
    left = np.uint64(poly << (64 - width))
    for _ in range(8):
        high = table >> np.uint64(63)
        table = table << np.uint64(1) ^ np.where(high, left, np.uint64(0))
    return table


@njit(cache=True, nogil=True)
def _step(register, byte, table, refin):  # type: ignore[no-untyped-def]
    if refin:
        return register >> np.uint64(8) ^ table[(register ^ byte) & np.uint64(0xFF)]
    return register << np.uint64(8) ^ table[(register >> np.uint64(56)) ^ byte]


@njit(cache=True, nogil=True)
def _prefixes(data, table, first, refin):  # type: ignore[no-untyped-def]
    out = np.empty(data.size + 1, np.uint64)
    register = first
    out[0] = register
    for i in range(data.size):
        register = _step(register, np.uint64(data[i]), table, refin)
        out[i + 1] = register
    return out


@njit(cache=True, nogil=True)
def _effects(table, count, refin):  # type: ignore[no-untyped-def]
    out = np.empty((count, 8), np.uint64)
    for bit in range(8):
        register = table[1 << bit]
        for i in range(count):
            out[i, bit] = register
            register = _step(register, np.uint64(0), table, refin)
    return out


@njit(cache=True, nogil=True)
def _advance(registers, bytes_after, table, refin):  # type: ignore[no-untyped-def]
    """Carry the 64 single-bit registers along from the end of the message towards its beginning."""
    basis = np.empty(64, np.uint64)
    for bit in range(64):
        basis[bit] = np.uint64(1) << np.uint64(bit)
    done = 0
    out = np.zeros(registers.size, np.uint64)
    for i in range(registers.size - 1, -1, -1):
        while done < bytes_after[i]:
            for bit in range(64):
                basis[bit] = _step(basis[bit], np.uint64(0), table, refin)
            done += 1
        left = registers[i]
        bit = 0
        while left:
            if left & np.uint64(1):
                out[i] ^= basis[bit]
            left >>= np.uint64(1)
            bit += 1
    return out


@njit(cache=True, nogil=True)
def _rewound(register, poly, bits, width, refin):  # type: ignore[no-untyped-def]
    out = np.empty(bits + 1, np.uint64)
    out[0] = register
    high = np.uint64(1) << np.uint64(width - 1)
    low = np.uint64(1) << np.uint64(64 - width)
    one = np.uint64(1)
    for i in range(bits):
        if refin:
            carry = register & high
            register = (register ^ poly) << one | one if carry else register << one
        else:
            carry = register & low
            register = (register ^ poly) >> one | one << np.uint64(63) if carry else register >> one
        out[i + 1] = register
    return out
