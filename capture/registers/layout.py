"""Named bit fields of words: of registers and windows, and of the words that cross between a device and a host.

Source: firmware-hooks/registers/freezeframe.rdl, whose registers ``map_table.py`` reads, and formats.toml there, from
which ``layouts.json`` is generated.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from operator import index
from pathlib import Path
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """A field of a register. ``lsb`` and ``width`` in bits."""

    name: str
    lsb: int
    width: int
    reset: int
    doc: str
    unit: str = ""

    @property
    def mask(self) -> int:
        return ((1 << self.width) - 1) << self.lsb

    def of(self, word: int) -> int:
        """Return the field out of its register's word."""
        return (word & self.mask) >> self.lsb


@dataclass(frozen=True, slots=True)
class RegisterInfo:
    """A 32-bit register, or an array of them, at a byte address from the start of the device.

    ``name`` is dotted (``ctl.state``, ``memory.write_ptr``). ``dims`` holds ``(count, stride_B)`` for every
    array on the way to it, outermost first: ``frozen.lane[2]`` gives ``frozen.lane.sync_level`` one pair.
    """

    name: str
    address: int
    dims: tuple[tuple[int, int], ...]
    access: str  # "r", "w" or "rw", seen from the host
    fields: tuple[FieldInfo, ...]
    doc: str
    parameter: bool = False
    pulse: bool = False
    skip_dump: bool = False


@dataclass(frozen=True, slots=True)
class WindowInfo:
    """A memory of 32-bit words in the address space."""

    name: str
    address: int
    words: int
    access: str
    frozen_only: bool
    skip_dump: bool
    doc: str


class Layout:
    """A word of ``bits`` bits with named, disjoint fields; what no field names is reserved.

    Reserved bits are sent as 0 and ignored on receipt, so that a later minor version can use them.
    """

    __slots__ = ("bits", "doc", "fields", "name")

    def __init__(
        self, name: str, bits: int, fields: Mapping[str, tuple[int, int]], doc: str = ""
    ) -> None:
        """Declare a layout.

        Args:
            name: for error messages.
            bits: width of the whole word, at least 1.
            fields: field name to ``(lsb, width)``, both in bits.
            doc: one sentence for help texts.
        Raises:
            ValueError: a field lies outside the word or over another field.
        """
        owner: dict[int, str] = {}
        for field, (lsb, width) in fields.items():
            if lsb < 0 or width < 1 or lsb + width > bits:
                raise ValueError(
                    f"layout {name}: field {field} [{lsb}, {width}] lies outside the {bits} bits"
                )
            for bit in range(lsb, lsb + width):
                if bit in owner:
                    raise ValueError(
                        f"layout {name}: fields {owner[bit]} and {field} both claim bit {bit}"
                    )
                owner[bit] = field
        self.name = name
        self.bits = bits
        self.doc = doc
        self.fields: Mapping[str, tuple[int, int]] = MappingProxyType(
            {field: (lsb, width) for field, (lsb, width) in fields.items()}
        )

    def __repr__(self) -> str:
        return f"Layout({self.name!r}, {self.bits} bits: {', '.join(self.fields)})"

    def pack(self, **fields: int) -> int:
        """Return the word with these fields; fields not given are 0.

        Raises:
            ValueError: no such field, or a value does not fit; the message gives the range.
        """
        word = 0
        for field, value in fields.items():
            if field not in self.fields:
                raise ValueError(
                    f"layout {self.name}: no field {field!r}; it has {', '.join(self.fields)}"
                )
            lsb, width = self.fields[field]
            number = index(value)
            if not 0 <= number < 1 << width:
                raise ValueError(
                    f"{self.name}.{field}: {number} does not fit {width} bits "
                    f"(0..{(1 << width) - 1})"
                )
            word |= number << lsb
        return word

    def unpack(self, word: int) -> dict[str, int]:
        """Return every field of the word, in declaration order; reserved bits are ignored.

        Raises:
            ValueError: the word is negative or wider than the layout.
        """
        number = index(word)
        if not 0 <= number < 1 << self.bits:
            raise ValueError(
                f"{self.name}: {number:#x} does not fit the layout's {self.bits} bits; "
                "was the word taken from the right place?"
            )
        return {
            field: number >> lsb & ((1 << width) - 1) for field, (lsb, width) in self.fields.items()
        }


def read_layouts() -> dict[str, Layout]:
    """Return the layouts of ``layouts.json`` by name."""
    text = Path(__file__).with_name("layouts.json").read_text("utf-8")
    return {name: Layout(name, **layout) for name, layout in json.loads(text).items()}
