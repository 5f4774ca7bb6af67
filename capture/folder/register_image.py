"""The registers of one device as they stood when they were read, by the names of the map."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from freezeframe.capture.errors import CaptureFormatError
from freezeframe.capture.registers import names
from freezeframe.capture.registers.map_table import COUNTERS
from freezeframe.capture.registers.types import FieldInfo

__all__ = ["RegisterImage", "pack_register"]

_PAIR_B = 8


def pack_register(name: str, **fields: int) -> int:
    """Return a register's word with these fields; fields not given are 0.

    Raises:
        ValueError: no such register or field, or a value does not fit its field.
    """
    word = 0
    for field_name, value in fields.items():
        field = _field(name, field_name)
        if not 0 <= value < 1 << field.width:
            raise ValueError(
                f"{name}.{field_name}: {value} does not fit {field.width} bits "
                f"(0..{(1 << field.width) - 1})"
            )
        word |= value << field.lsb
    return word


def _field(name: str, field_name: str) -> FieldInfo:
    for field in names.register(name).fields:
        if field.name == field_name:
            return field
    raise ValueError(f"register {name} has no field {field_name!r}")


class RegisterImage:
    """Words by byte address from the start of the device; what was not read is not there.

    An image never changes after it was made.
    """

    __slots__ = ("_words",)

    def __init__(self, words: Mapping[int, int]) -> None:
        """Take words by address.

        Raises:
            ValueError: an address is not a multiple of 4 or a word does not fit 32 bits.
        """
        for address, word in words.items():
            if address < 0 or address % 4 or address >> 32:
                raise ValueError(f"register address {address:#x} is not a 32-bit multiple of 4")
            if not 0 <= word < 1 << 32:
                raise ValueError(f"register {address:#08x}: {word} does not fit 32 bits")
        self._words = {int(address): int(words[address]) for address in sorted(words)}

    @classmethod
    def from_values(cls, values: Mapping[str | tuple[str | int, ...], int]) -> RegisterImage:
        """Make an image by names: ``{"id.magic": 1, ("memory.write_ptr", 4): 17}``."""
        words: dict[int, int] = {}
        for key, value in values.items():
            name, *indices = (key,) if isinstance(key, str) else key
            words[names.offset(str(name), *(int(i) for i in indices))] = value
        return cls(words)

    @classmethod
    def from_bytes(cls, data: bytes, where: str) -> RegisterImage:
        """Read ``(address, value)`` pairs, little-endian 32 bit, addresses ascending.

        Args:
            data: the content of a ``raw/DEV.registers.bin``.
            where: the file's name, for messages.
        Raises:
            CaptureFormatError: cut in a pair, or addresses that do not ascend.
        """
        if len(data) % _PAIR_B:
            raise CaptureFormatError(
                f"{where}: {len(data)} B is not a multiple of {_PAIR_B} B (address and value); "
                "the file was cut"
            )
        pairs = np.frombuffer(data, "<u4").reshape(-1, 2)
        addresses = pairs[:, 0].astype(np.int64)
        wrong = np.flatnonzero(np.diff(addresses) <= 0)
        if wrong.size:
            raise CaptureFormatError(
                f"{where}: pair {int(wrong[0]) + 1}: address {int(addresses[wrong[0] + 1]):#x} "
                f"does not follow {int(addresses[wrong[0]]):#x}; addresses must ascend"
            )
        try:
            return cls({int(address): int(value) for address, value in pairs.tolist()})
        except ValueError as error:
            raise CaptureFormatError(f"{where}: {error}") from None

    def to_bytes(self) -> bytes:
        """Return the pairs as ``from_bytes`` reads them."""
        return np.array(list(self._words.items()), "<u4").tobytes()

    def __len__(self) -> int:
        return len(self._words)

    def __contains__(self, address: int) -> bool:
        return address in self._words

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Iterate over ``(address, value)``, addresses ascending."""
        return iter(self._words.items())

    def word(self, address: int) -> int | None:
        """Return the word at a byte address from the start of the device; None when not read."""
        return self._words.get(address)

    def value(self, name: str, *indices: int) -> int | None:
        """Return a register's value; None when it was not read.

        Raises:
            ValueError: the map has no such register, or the indices do not fit.
        """
        return self._words.get(names.offset(name, *indices))

    def field(self, name: str, field: str, *indices: int) -> int | None:
        """Return one field of a register; None when the register was not read."""
        info = _field(name, field)
        word = self.value(name, *indices)
        return None if word is None else (word & info.mask) >> info.lsb

    def value64(self, name: str, *indices: int) -> int | None:
        """Return a 64-bit value kept in two registers; None when either half was not read.

        Args:
            name: what stands before ``lo`` and ``hi``, with the joint: ``ctl.cause_cycle_`` or
                ``frozen_counters.drops.``.
        """
        low = self.value(f"{name}lo", *indices)
        high = self.value(f"{name}hi", *indices)
        return None if low is None or high is None else high << 32 | low

    def counters(self) -> dict[str, int]:
        """Return the counters as they stood at freeze; those that were not read are left out."""
        values = {name: self.value64(f"frozen_counters.{name}.") for name in COUNTERS}
        return {name: value for name, value in values.items() if value is not None}
