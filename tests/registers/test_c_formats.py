"""ff_formats.h as a driver would use it: strict C99, golden words through its macros."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from freezeframe.capture.registers import layouts, map_table
from freezeframe.capture.registers.layout import Layout
from tests.processes import run_program
from tests.registers.sources import GENERATED, exporter
from tests.rtl.simulation import tool

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion")

# The golden words of test_layouts.py, taken apart and put together by the header's macros.
PROGRAM = r"""
#include <stdio.h>
#include "ff_formats.h"

static const uint64_t header = UINT64_C(0x1234BEEF02000521);
static const uint64_t credit = UINT64_C(0x5A5A00ABCDEF8104);
static const uint32_t descriptor[4] = {0x05060708u, 0x01020304u, 0x11223344u, 0x007F3155u};
static const uint32_t record[3] = {0x55667788u, 0x11223344u, 0x000000E3u};

int main(void)
{
    printf("%lu %lu %lu\n", (unsigned long)FF_GET(header, HEADER, FLOW),
           (unsigned long)FF_GET(header, HEADER, LENGTH),
           (unsigned long)FF_GET(header, HEADER, SEQ));
    printf("%lx\n", (unsigned long)(FF_PUT(HEADER, TYPE, FF_PACKET_TYPE_RDMA_WRITE)
           | FF_PUT(HEADER, FLAGS, FF_PACKET_FLAG_NOTIFY_REMOTE) | FF_PUT(HEADER, FLOW, 5)
           | FF_PUT(HEADER, LENGTH, 512) | FF_PUT(HEADER, SEQ, 0xBEEF)
           | FF_PUT(HEADER, CRC, 0x1234)));
    printf("%lx %lu\n", (unsigned long)FF_GET(credit, CREDIT, FREED),
           (unsigned long)FF_GET(credit, CREDIT, PARITY));
    printf("%u %u %u\n", (unsigned)FF_GET32(descriptor, DESCRIPTOR, LENGTH),
           (unsigned)FF_GET32(descriptor, DESCRIPTOR, FLAGS),
           (unsigned)FF_GET32(descriptor, DESCRIPTOR, FLOW));
    printf("%x %x\n", (unsigned)FF_GET32(descriptor, DESCRIPTOR, SRC_LO),
           (unsigned)FF_GET32(descriptor, DESCRIPTOR, SRC_HI));
    printf("%x\n", (unsigned)(FF_PUT32(DESCRIPTOR, LENGTH, 341) | FF_PUT32(DESCRIPTOR, FLAGS, 3)
           | FF_PUT32(DESCRIPTOR, FLOW, 127)));
    printf("%u %u\n", (unsigned)FF_GET32(record, RECORD, KIND),
           (unsigned)FF_GET32(record, RECORD, DT));
    printf("%d %d %d\n", FF_CAUSE_CREDIT_PARITY, FF_KIND_TIME, FF_MEMORY_EVENT_LOG);
    printf("%lx %d.%d\n", (unsigned long)FF_MAP_HASH, FF_FORMAT_MAJOR, FF_FORMAT_MINOR);
    return 0;
}
"""


def test_golden_words_come_apart_and_together_in_c(tmp_path: Path) -> None:
    source = tmp_path / "golden.c"
    source.write_text(PROGRAM, encoding="utf-8")
    program = tmp_path / "golden"
    subprocess.run(
        [tool("gcc"), *STRICT, f"-I{GENERATED}", source, "-o", program], check=True, timeout=60
    )
    told = run_program([program], check=True)
    major, minor = map_table.FORMAT_VERSION
    assert told.stdout.splitlines() == [
        "5 512 48879",
        "1234beef02000521",
        "abcdef 1",
        "341 3 127",
        "5060708 1020304",
        "7f3155",
        "3 14",
        "5 15 4",
        f"{map_table.MAP_HASH:x} {major}.{minor}",
    ]


@pytest.mark.parametrize("header", ["ff_formats.h", "freezeframe.h"])
@pytest.mark.parametrize("standard", ["c99", "c11", "gnu17"])
def test_a_header_stands_alone_and_compiles_without_a_warning(
    header: str, standard: str, tmp_path: Path
) -> None:
    source = tmp_path / "alone.c"
    source.write_text(f'#include "{header}"\n#include "{header}"\nint x;\n', encoding="utf-8")
    flags = [f"-std={standard}", *STRICT[1:], f"-I{GENERATED}"]
    told = run_program([tool("gcc"), *flags, "-c", source, "-o", tmp_path / "alone.o"])
    assert (told.returncode, told.stderr) == (0, "")


def test_c_and_python_place_every_field_alike() -> None:
    defined = {}
    for line in (GENERATED / "ff_formats.h").read_text(encoding="utf-8").splitlines():
        words = line.split()
        if len(words) == 3 and words[0] == "#define":
            number = words[2].removeprefix("UINT64_C(").removeprefix("UINT32_C(").rstrip(")")
            defined[words[1]] = int(number, 0)
    fields = [(layout, *field) for layout in vars(layouts).values()
              if isinstance(layout, Layout) for field in layout.fields.items()]  # fmt: skip
    for layout, name, (lsb, width) in fields:
        stem = f"FF_{layout.name}_{name}".upper()
        low = stem if f"{stem}_WORD" in defined else f"{stem}_LO"
        assert 32 * defined[f"{low}_WORD"] + defined[f"{low}_SHIFT"] == lsb
        mask = defined[f"{low}_MASK32"]
        if low != stem:
            assert defined[f"{stem}_HI_WORD"] == defined[f"{low}_WORD"] + 1
            assert defined[f"{stem}_HI_SHIFT"] == 0
            mask |= defined[f"{stem}_HI_MASK32"] << 32 - lsb % 32
        assert mask == (1 << width) - 1
        if layout.bits <= 64:
            assert defined[f"{stem}_LSB"] == lsb
            assert defined[f"{stem}_MASK"] == mask
    assert len(fields) > 30


def test_two_definitions_of_one_c_name_are_refused() -> None:
    formats, c_headers = exporter("formats"), exporter("c_headers")
    twice = formats.Formats(
        (1, 0),
        (formats.Layout("credit", 8, "A word.", {"code": (0, 4)}),),
        (formats.Enum("credit_code", "Codes.", {"lsb": 1}),),
    )
    with pytest.raises(ValueError, match="gives two meanings to FF_CREDIT_CODE_LSB in C"):
        c_headers.formats_header(twice, 0)
