"""The elaborated register map as plain data, and the canonical text whose SHA-256 names the map.

Source: SystemRDL 2.0; the canonical text is defined in docs/formats.md section 1.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from systemrdl.compiler import RDLCompiler
from systemrdl.node import AddrmapNode, FieldNode, MemNode, Node, RegfileNode, RegNode, RootNode

WORD_B = 4
COUNTER_BANK = "snapshot"


@dataclass(frozen=True)
class Field:
    """A field of a register; ``lsb`` and ``width`` in bits."""

    name: str
    lsb: int
    width: int
    reset: int
    fixed: bool  # the map itself gives the value
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
    frozen_only: bool
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
    """Everything the exporters need; registers, windows and banks in address order."""

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
        for item in self.registers:
            fields = "".join(f" {f.name}[{f.lsb + f.width - 1}:{f.lsb}]" for f in item.fields)
            line = f"{item.name} {_shape(item.dims)} {item.access}{fields}"
            lines.append((item.address, line))
        for window in self.windows:
            line = f"{window.name} {_shape(((window.words, WORD_B),))} {window.access}"
            lines.append((window.address, line))
        return "".join(f"{address:08x} {line}\n" for address, line in sorted(lines))

    def map_hash(self) -> int:
        """Return the first 32 bits of the SHA-256 over the canonical text."""
        digest = hashlib.sha256(self.canonical_text().encode("ascii")).digest()
        return int.from_bytes(digest[:4], "big")


def elaborate(path: Path) -> RootNode:
    """Compile the RDL file.

    Raises:
        systemrdl.RDLCompileError: after the compiler has printed what is wrong and where.
    """
    compiler = RDLCompiler()
    compiler.compile_file(str(path))
    return compiler.elaborate()


def load(root: RootNode) -> Map:
    """Turn the elaborated map into plain data.

    Raises:
        ValueError: the map has something the exporters have no form for; the message says where.
    """
    top = root.top
    registers: list[Register] = []
    windows: list[Window] = []
    banks: dict[str, tuple[int, int]] = {}
    for node, place in _walk(top, _Place()):
        if isinstance(node, MemNode):
            windows.append(_window(node, place))
            continue
        registers.append(_register(node, place))
        if place.bank and place.bank not in banks:
            holder: Any = top.find_by_path(place.bank)
            banks[place.bank] = (int(holder.raw_absolute_address), int(holder.total_size))
    bank: Any = top.find_by_path(COUNTER_BANK)
    device = Map(
        registers=tuple(sorted(registers, key=lambda item: item.address)),
        windows=tuple(sorted(windows, key=lambda item: item.address)),
        counters=tuple(
            Counter(str(child.inst_name), str(child.get_property("desc") or ""))
            for child in bank.children()
        ),
        banks=tuple(
            sorted(
                ((name, address, size_B) for name, (address, size_B) in banks.items()),
                key=lambda item: item[1],
            )
        ),
    )
    if top.total_size > device.size_B:
        raise ValueError(f"the map has {top.total_size:#x} B, a device only {device.size_B:#x}")
    return device


@dataclass(frozen=True)
class _Place:
    """Where in the map a node stands: what its ancestors and itself add up to."""

    path: tuple[str, ...] = ()
    address: int = 0
    dims: tuple[tuple[int, int], ...] = ()
    docs: tuple[str, ...] = ()
    bank: str = ""

    @property
    def name(self) -> str:
        return ".".join(self.path)

    @property
    def doc(self) -> str:
        return ": ".join(part.rstrip(".") for part in self.docs if part)

    def below(self, child: Any) -> _Place:
        path = (*self.path, str(child.inst_name))
        return replace(
            self,
            path=path,
            address=self.address + int(child.raw_address_offset),
            dims=self.dims + _dims(child),
            docs=(*self.docs, str(child.get_property("desc") or "")),
            bank=self.bank or (".".join(path) if _given(child, "ff_bank", False) else ""),
        )


def _walk(node: Node, place: _Place) -> Iterator[tuple[RegNode | MemNode, _Place]]:
    for child in node.children(unroll=False):
        here = place.below(child)
        if isinstance(child, RegNode | MemNode):
            yield child, here
        elif isinstance(child, RegfileNode | AddrmapNode):
            yield from _walk(child, here)
        else:
            raise ValueError(f"{here.name}: a {type(child).__name__} has no form in the exporters")


def _shape(dims: tuple[tuple[int, int], ...]) -> str:
    return "".join(f"[{count}*{stride_B}]" for count, stride_B in dims) or "-"


def _dims(node: Any) -> tuple[tuple[int, int], ...]:
    if not node.is_array:
        return ()
    counts = list(node.array_dimensions)
    if len(counts) != 1:
        raise ValueError(f"{node.get_path()}: {len(counts)} dimensions; put one array in another")
    return ((int(counts[0]), int(node.array_stride)),)


def _given(node: Node, name: str, default: Any) -> Any:
    # Asked for a property of our own that was not assigned, the compiler answers None or refuses.
    return node.get_property(name) if name in node.list_properties() else default


def _register(node: RegNode, place: _Place) -> Register:
    if node.size != WORD_B:
        raise ValueError(f"{place.name}: {node.size} B wide; every register has {WORD_B}")
    return Register(
        name=place.name,
        address=place.address,
        dims=place.dims,
        access=("r" if node.has_sw_readable else "") + ("w" if node.has_sw_writable else ""),
        fields=tuple(_field(field) for field in sorted(node.fields(), key=lambda f: int(f.lsb))),
        doc=place.doc,
        parameter=bool(_given(node, "ff_parameter", False)),
        pulse=bool(_given(node, "ff_pulse", False)),
        skip_dump=bool(_given(node, "ff_skip_dump", False)),
        frozen_only=bool(_given(node, "ff_frozen_only", False)),
        bus_reset=bool(_given(node, "ff_bus_reset", False)),
        bank=place.bank,
    )


def _field(node: FieldNode) -> Field:
    reset: Any = node.get_property("reset")
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


def _window(node: MemNode, place: _Place) -> Window:
    width = int(node.get_property("memwidth"))
    if width != 8 * WORD_B:
        raise ValueError(f"{place.name}: {width} bits wide; a window has {8 * WORD_B}")
    return Window(
        name=place.name,
        address=place.address,
        words=int(node.get_property("mementries")),
        access=str(node.get_property("sw").name),
        frozen_only=bool(_given(node, "ff_frozen_only", False)),
        skip_dump=bool(_given(node, "ff_skip_dump", False)),
        doc=place.doc,
    )
