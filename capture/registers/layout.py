"""Named bit fields of one word that crosses between a device and a host, and packing by name.

Source: firmware-hooks/registers/formats.toml, from which ``layouts.py`` makes the instances.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from types import MappingProxyType

__all__ = ["Layout"]


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
        self.fields: Mapping[str, tuple[int, int]] = MappingProxyType(dict(fields))

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
