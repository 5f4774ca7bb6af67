"""C headers: registers by the stock PeakRDL exporter, formats by our own macros, both C99."""

from __future__ import annotations

import tempfile
from pathlib import Path

from peakrdl_cheader.c_standards import CStandard
from peakrdl_cheader.exporter import CHeaderExporter
from systemrdl.node import RootNode

from exporters.fill import fill
from exporters.formats import Enum, Formats, Layout

REGISTER_HEADER = "freezeframe.h"
FORMATS_HEADER = "ff_formats.h"
WORD_BITS = 32


def register_header(root: RootNode) -> str:
    """Return the stock exporter's header: one struct for the map, masks for every field."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / REGISTER_HEADER  # the exporter makes the include guard from the name
        # Types named by their path, not by a hash of their properties, and no anonymous unions:
        # a driver writes these names, and some kernels are C99.
        CHeaderExporter().export(root, str(path), std=CStandard.gnu99, reuse_typedefs=False)
        return path.read_text(encoding="utf-8")


def formats_header(formats: Formats, map_hash: int) -> str:
    """Return ff_formats.h.

    Raises:
        ValueError: two definitions of formats.toml would get the same name in C.
    """
    lines = [
        f"#define FF_FORMAT_MAJOR {formats.version[0]}",
        f"#define FF_FORMAT_MINOR {formats.version[1]}",
        f"#define FF_MAP_HASH UINT32_C(0x{map_hash:08X})",
    ]
    for layout in formats.layouts:
        lines += ["", *_layout(layout)]
    for enum in formats.enums:
        lines += ["", *_enum(enum)]
    names = [line.split()[1].split("(")[0] for line in lines if line.startswith("#define")]
    names += [line.split()[0] for line in lines if line.startswith("    FF_")]
    double = sorted({name for name in names if names.count(name) > 1})
    if double:
        raise ValueError(f"formats.toml gives two meanings to {', '.join(double)} in C")
    return fill(f"{FORMATS_HEADER}.in", {"definitions": "\n".join(lines)})


def _layout(layout: Layout) -> list[str]:
    stem = f"FF_{layout.name}".upper()
    lines = [f"/* {layout.doc} */", f"#define {stem}_BITS {layout.bits}"]
    for name, (lsb, width) in layout.fields.items():
        field = f"{stem}_{name.upper()}"
        if layout.bits <= 2 * WORD_BITS:
            lines += [
                f"#define {field}_LSB {lsb}",
                f"#define {field}_MASK UINT64_C(0x{(1 << width) - 1:X})",
            ]
        for part, low, bits in _parts(lsb, width):
            lines += [
                f"#define {field}{part}_WORD {low // WORD_BITS}",
                f"#define {field}{part}_SHIFT {low % WORD_BITS}",
                f"#define {field}{part}_MASK32 UINT32_C(0x{(1 << bits) - 1:X})",
            ]
    return lines


def _parts(lsb: int, width: int) -> list[tuple[str, int, int]]:
    """Cut a field at word borders: ``(suffix, lsb, width)`` of each part."""
    first = WORD_BITS - lsb % WORD_BITS
    if width <= first:
        return [("", lsb, width)]
    if width - first > WORD_BITS:
        raise ValueError(f"a field at bit {lsb} of {width} bits lies in more than two 32-bit words")
    return [("_LO", lsb, first), ("_HI", lsb + first, width - first)]


def _enum(enum: Enum) -> list[str]:
    stem = f"FF_{enum.name}".upper()
    members = [
        f"    {stem}_{name.replace('-', '_').upper()} = {number}"
        for name, number in enum.members.items()
    ]
    return [f"/* {enum.doc} */", f"enum ff_{enum.name} {{", ",\n".join(members), "};"]
