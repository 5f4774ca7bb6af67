"""The elaborated register map as plain data, and its canonical text, whose SHA-256 names the map.

Source: SystemRDL 2.0; the canonical text is defined in docs/formats.md section 1.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from systemrdl import RDLCompiler
from systemrdl.node import AddrmapNode, FieldNode, MemNode, Node, RegfileNode, RegNode, RootNode

__all__ = ["Counter", "Field", "Map", "Register", "Window", "elaborate", "load"]

WORD_B = 4
COUNTER_BANK = "snapshot"


@dataclass(frozen=True)
class Field:
    """A field of a register; ``lsb`` and ``width`` in bits."""

    name: str
    lsb: int
    width: int
    reset: int
    fixed: bool  # the map itself gives the value (meant for parameters)
    minimum: int
    maximum: int
    doc: str
    unit: str

    @property
    def mask(self) -> int:
        return ((1 << self.width) - 1) << self.lsb


@dataclass(frozen=True)
class Register:
    """A register, or an array of them: ``dims`` is ``(count, stride_B)``, outermost first."""

    name: str
    address: int
    dims: tuple[tuple[int, int], ...]
    access: str
    fields: tuple[Field, ...]
    doc: str
    parameter: bool
    pulse: bool
    skip_dump: bool
    bus_reset: bool
    bank: str  # the part of the map that another block answers for; "" where the register file does

    @property
    def mask(self) -> int:
        return sum(field.mask for field in self.fields)

    @property
    def reset(self) -> int:
        return sum(field.reset << field.lsb for field in self.fields)

    def addresses(self) -> list[int]:
        """Return the byte address of every element, the last index running fastest."""
        found = [self.address]
        for count, stride_B in self.dims:
            found = [base + number * stride_B for base in found for number in range(count)]
        return found


@dataclass(frozen=True)
class Window:
    """A memory of 32-bit words that another block answers for."""

    name: str
    address: int
    words: int
    access: str
    frozen_only: bool
    skip_dump: bool
    doc: str


@dataclass(frozen=True)
class Counter:
    """One counter of a bank, in bank order."""

    name: str
    doc: str


@dataclass(frozen=True)
class Map:
    """Everything the exporters need; registers and windows in address order."""

    registers: tuple[Register, ...]
    windows: tuple[Window, ...]
    counters: tuple[Counter, ...]
    banks: tuple[tuple[str, int, int], ...]  # name, address, bytes

    @property
    def size_B(self) -> int:
        """Bytes from the start of one device to the start of the next."""
        return 1 << self.reset_of("id.devices", "stride_log2")

    def reset_of(self, name: str, field: str) -> int:
        """Return the value that the map itself gives to a field; ValueError when it gives none."""
        for register in self.registers:
            for candidate in register.fields:
                if register.name == name and candidate.name == field and candidate.fixed:
                    return candidate.reset
        raise ValueError(f"the map gives no value to {name}.{field}")

    def canonical_text(self) -> str:
        """Return the text that ``map_hash`` is made of, as docs/formats.md section 1 defines it."""
        lines = []
        for register in self.registers:
            fields = "".join(
                f" {field.name}[{field.lsb + field.width - 1}:{field.lsb}]"
                for field in register.fields
            )
            lines.append(
                (register.address, _line(register.name, register.dims, register.access) + fields)
            )
        for window in self.windows:
            dims = ((window.words, WORD_B),)
            lines.append((window.address, _line(window.name, dims, window.access)))
        return "".join(f"{address:08x} {line}\n" for address, line in sorted(lines))

    def map_hash(self) -> int:
        """Return the first 32 bits of the SHA-256 over the canonical text."""
        return int.from_bytes(
            hashlib.sha256(self.canonical_text().encode("ascii")).digest()[:4], "big"
        )


def elaborate(path: Path) -> RootNode:
    """Compile the RDL file; every error of the compiler is printed and then raised."""
    compiler = RDLCompiler()
    compiler.compile_file(str(path))
    return compiler.elaborate()


def load(root: RootNode) -> Map:
    """Turn the elaborated map into plain data.

    Raises:
        ValueError: the map uses something the exporters have no form for; the message names the register.
    """
    top = root.top
    registers: list[Register] = []
    windows: list[Window] = []
    banks: list[tuple[str, int, int]] = []
    for node, path, address, dims, docs, bank in _walk(top):
        name = ".".join(path)
        doc = ": ".join(part.rstrip(".") for part in docs if part)
        if isinstance(node, MemNode):
            windows.append(_window(node, name, address, doc))
        else:
            registers.append(_register(node, name, address, dims, doc, bank))
            if bank and bank not in (known for known, _, _ in banks):
                holder = top.find_by_path(bank)
                banks.append((bank, address, int(holder.total_size)))
    registers.sort(key=lambda item: item.address)
    windows.sort(key=lambda item: item.address)
    banks.sort(key=lambda item: item[1])
    counters = tuple(
        Counter(str(child.inst_name), str(child.get_property("desc") or ""))
        for child in top.find_by_path(COUNTER_BANK).children()
    )
    device = Map(tuple(registers), tuple(windows), counters, tuple(banks))
    last_B = max(item.total_size + item.raw_address_offset for item in top.children())
    if last_B > device.size_B:
        raise ValueError(
            f"the map ends at {last_B:#x}, beyond the {device.size_B:#x} B of a device"
        )
    return device


def _line(name: str, dims: tuple[tuple[int, int], ...], access: str) -> str:
    shape = "".join(f"[{count}*{stride_B}]" for count, stride_B in dims) or "-"
    return f"{name} {shape} {access}"


_Found = tuple[
    RegNode | MemNode, tuple[str, ...], int, tuple[tuple[int, int], ...], tuple[str, ...], str
]


def _walk(
    node: Node,
    path: tuple[str, ...] = (),
    address: int = 0,
    dims: tuple[tuple[int, int], ...] = (),
    docs: tuple[str, ...] = (),
    bank: str = "",
) -> Iterator[_Found]:
    for child in node.children(unroll=False):
        here = (*path, str(child.inst_name))
        where = address + int(child.raw_address_offset)
        shape = dims + _dims(child)
        # inst-level text only: a type's own text ("Value.") says nothing about this place
        text = (*docs, str(child.get_property("desc") or ""))
        held = bank or (".".join(here) if _flag(child, "ff_bank") else "")
        if isinstance(child, RegNode | MemNode):
            yield child, here, where, shape, text, held
        elif isinstance(child, RegfileNode | AddrmapNode):
            yield from _walk(child, here, where, shape, text, held)
        else:
            raise ValueError(
                f"{'.'.join(here)}: {type(child).__name__} has no place in a register map"
            )


def _dims(node: Node) -> tuple[tuple[int, int], ...]:
    if not node.is_array:
        return ()
    counts = list(node.array_dimensions)
    if len(counts) != 1:
        raise ValueError(
            f"{node.get_path()}: an array of {len(counts)} dimensions; use one in another"
        )
    return ((int(counts[0]), int(node.array_stride)),)


def _given(node: Node, name: str, default: int | str) -> int | str:
    # asked for a property of our own that was not assigned, the compiler answers None or refuses
    return node.get_property(name) if name in node.list_properties() else default


def _flag(node: Node, name: str) -> bool:
    return bool(_given(node, name, 0))


def _register(
    node: RegNode,
    name: str,
    address: int,
    dims: tuple[tuple[int, int], ...],
    doc: str,
    bank: str,
) -> Register:
    if node.size != WORD_B:
        raise ValueError(f"{name}: {node.size} bytes wide; every register of the map has {WORD_B}")
    fields = tuple(_field(field) for field in sorted(node.fields(), key=lambda item: item.lsb))
    access = ("r" if node.has_sw_readable else "") + ("w" if node.has_sw_writable else "")
    return Register(
        name=name,
        address=address,
        dims=dims,
        access=access,
        fields=fields,
        doc=doc,
        parameter=_flag(node, "ff_parameter"),
        pulse=_flag(node, "ff_pulse"),
        skip_dump=_flag(node, "ff_skip_dump"),
        bus_reset=_flag(node, "ff_bus_reset"),
        bank=bank,
    )


def _field(node: FieldNode) -> Field:
    reset = node.get_property("reset")
    width = int(node.width)
    return Field(
        name=str(node.inst_name),
        lsb=int(node.lsb),
        width=width,
        reset=int(reset or 0),
        fixed=reset is not None,
        minimum=int(_given(node, "ff_min", 0)),
        maximum=int(_given(node, "ff_max", (1 << width) - 1)),
        doc=str(node.get_property("desc") or ""),
        unit=str(_given(node, "ff_unit", "")),
    )


def _window(node: MemNode, name: str, address: int, doc: str) -> Window:
    if node.get_property("memwidth") != 8 * WORD_B:
        raise ValueError(
            f"{name}: {node.get_property('memwidth')} bits wide; a window has {8 * WORD_B}"
        )
    return Window(
        name=name,
        address=address,
        words=int(node.get_property("mementries")),
        access=str(node.get_property("sw").name),
        frozen_only=_flag(node, "ff_frozen_only"),
        skip_dump=_flag(node, "ff_skip_dump"),
        doc=doc,
    )
