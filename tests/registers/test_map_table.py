"""The generated register table against the contract, the header and its own canonical text."""

from __future__ import annotations

import hashlib
import subprocess
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from freezeframe.capture.registers import map_table
from freezeframe.capture.registers.layout import RegisterInfo
from freezeframe.capture.registers.map_table import REGISTERS, WINDOWS
from tests.registers.sources import GENERATED
from tests.rtl.simulation import tool

BY_NAME = {register.name: register for register in REGISTERS}

# Every array on the way to a register, written down here because the C header cannot be asked.
ARRAYS = {
    "ctl.kinds", "ctl.post", "ctl.index_data", "trigger.term", "memory", "pair", "frozen.machine",
    "frozen.lane", "snapshot", "frozen_flow", "length_histogram", "occupancy_histogram",
}  # fmt: skip


def elements(register: RegisterInfo) -> list[tuple[tuple[int, ...], int]]:
    """Return (indices, byte address) of every element."""
    counts = [range(count) for count, _ in register.dims]
    strides = [stride for _, stride in register.dims]
    return [
        (indices, register.address + sum(i * s for i, s in zip(indices, strides, strict=True)))
        for indices in product(*counts)
    ]


def c_path(name: str, indices: tuple[int, ...]) -> str:
    """Return the member of freezeframe_t: ``memory[3].write_ptr``."""
    left = list(indices)
    parts = name.split(".")
    done = []
    for depth, part in enumerate(parts):
        is_array = ".".join(parts[: depth + 1]) in ARRAYS
        done.append(f"{part}[{left.pop(0)}]" if is_array else part)
    assert not left, f"{name}: an array of the map is missing from ARRAYS"
    return ".".join(done)


def c_macro(name: str, field: str) -> str:
    """Return the stem of a field's names: ``FREEZEFRAME__MEMORYX__STATUS__WRAPPED``."""
    parts = name.split(".")
    marked = [
        part + ("X" if ".".join(parts[: depth + 1]) in ARRAYS else "")
        for depth, part in enumerate(parts)
    ]
    return "__".join(["freezeframe", *marked, field]).upper()


def run_c(folder: Path, lines: list[str]) -> list[int]:
    """Compile and run a program that prints each expression; return the values."""
    body = "\n".join(f'    printf("%lu\\n", (unsigned long)({line}));' for line in lines)
    source = folder / "values.c"
    source.write_text(
        '#include <stddef.h>\n#include <stdio.h>\n#include "freezeframe.h"\n'
        f"int main(void)\n{{\n{body}\n    return 0;\n}}\n",
        encoding="utf-8",
    )
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{GENERATED}"]
    program = folder / "values"
    subprocess.run([tool("gcc"), *strict, source, "-o", program], check=True, timeout=120)
    told = subprocess.run([program], capture_output=True, text=True, check=True, timeout=60)
    return [int(line) for line in told.stdout.split()]


def test_every_register_has_the_address_that_the_c_header_gives_it(tmp_path: Path) -> None:
    found = [(r.name, i, a) for r in REGISTERS for i, a in elements(r)]
    values = run_c(tmp_path, [f"offsetof(freezeframe_t, {c_path(n, i)})" for n, i, _ in found])
    assert values == [address for _, _, address in found]
    assert len(found) > 1000  # 128 flows of 8 registers alone


def test_every_window_has_the_place_and_size_that_the_c_header_gives_it(tmp_path: Path) -> None:
    names = [window.name for window in WINDOWS]
    values = run_c(
        tmp_path,
        [f"offsetof(freezeframe_t, {name})" for name in names]
        + [f"sizeof(((freezeframe_t *)0)->{name})" for name in names],
    )
    assert values == [w.address for w in WINDOWS] + [4 * w.words for w in WINDOWS]


def test_every_field_has_the_bits_that_the_c_header_gives_it(tmp_path: Path) -> None:
    fields = [(r, f) for r in REGISTERS for f in r.fields]
    lines = [c_macro(r.name, f.name) + part for r, f in fields for part in ("_bm", "_bp", "_bw")]
    wanted = [number for _, f in fields for number in (f.mask, f.lsb, f.width)]
    assert run_c(tmp_path, lines) == wanted


@pytest.mark.parametrize(
    ("name", "indices", "address"),
    [
        ("id.magic", (), 0x0000),
        ("id.map_hash", (), 0x0008),
        ("ctl.arm", (), 0x0108),
        ("ctl.post", (4,), 0x014C),
        ("trigger.term.kinds", (1,), 0x01C0),
        ("memory.write_ptr", (4,), 0x0280),
        ("frozen.lane.comma_phase", (1,), 0x047C),
        ("snapshot.events_lost.hi", (1,), 0x14FC),
        ("frozen_flow.reported", (127,), 0x2FFC),
        ("sampler.last_cycle_hi", (), 0x308C),
    ],
)
def test_a_register_stands_where_the_rdl_puts_it(
    name: str, indices: tuple[int, ...], address: int
) -> None:
    assert dict(elements(BY_NAME[name]))[indices] == address


def test_nothing_overlaps_and_everything_lies_in_the_device() -> None:
    words: Counter[int] = Counter()
    for register in REGISTERS:
        words.update(address for _, address in elements(register))
    for window in WINDOWS:
        words.update(range(window.address, window.address + 4 * window.words, 4))
    assert [hex(address) for address, times in words.items() if times > 1] == []
    assert all(address % 4 == 0 and 0 <= address < map_table.MAP_SIZE for address in words)


def test_every_field_fits_its_register_and_its_reset_value_fits_the_field() -> None:
    for register in REGISTERS:
        used = 0
        for field in register.fields:
            assert field.width >= 1 and field.lsb + field.width <= 32, (register.name, field.name)
            assert used & field.mask == 0, (register.name, field.name)
            assert 0 <= field.reset < 1 << field.width, (register.name, field.name)
            used |= field.mask


def test_names_are_unique() -> None:
    names = [register.name for register in REGISTERS] + [window.name for window in WINDOWS]
    assert len(names) == len(set(names))


def test_what_has_an_effect_or_changes_by_other_accesses_is_left_out_of_dumps() -> None:
    skipped = {register.name for register in REGISTERS if register.skip_dump}
    assert skipped == {"ctl.arm", "ctl.freeze", "ctl.index_data", "provoke.inject"}
    assert {register.name for register in REGISTERS if register.access == "w"} <= skipped
    assert {register.name for register in REGISTERS if register.pulse} <= skipped


def test_trace_windows_are_read_only_and_shut_until_frozen() -> None:
    shut = {window.name for window in WINDOWS if window.frozen_only}
    assert shut == {window.name for window in WINDOWS} - {"inject_buffer"}
    assert {window.name for window in WINDOWS if window.access != "r"} == {"inject_buffer"}


def test_the_identity_is_constant_but_for_what_changes_while_a_device_runs() -> None:
    changing = {r.name for r in REGISTERS if r.name.startswith("id.") and not r.parameter}
    assert changing == {"id.boot_nonce", "id.bus_errors", "id.bus_error_addr"}


def test_counters_are_named_in_the_order_of_a_bank() -> None:
    for bank in ("snapshot", "frozen_counters"):
        base = BY_NAME[f"{bank}.{map_table.COUNTERS[0]}.lo"].address
        for place, name in enumerate(map_table.COUNTERS):
            assert BY_NAME[f"{bank}.{name}.lo"].address == base + 8 * place
            assert BY_NAME[f"{bank}.{name}.hi"].address == base + 8 * place + 4
    assert list(map_table.COUNTER_DOCS) == list(map_table.COUNTERS)
    assert all(map_table.COUNTER_DOCS.values())


def canonical_text() -> str:
    """Make the canonical text again from the table, by the words of docs/formats.md section 1."""
    lines = {}
    for register in REGISTERS:
        dims = "".join(f"[{count}*{stride}]" for count, stride in register.dims) or "-"
        line = f"{register.address:08x} {register.name} {dims} {register.access}"
        for field in sorted(register.fields, key=lambda field: field.lsb):
            line += f" {field.name}[{field.lsb + field.width - 1}:{field.lsb}]"
        lines[register.address] = line
    for window in WINDOWS:
        dims = f"[{window.words}*4]"
        lines[window.address] = f"{window.address:08x} {window.name} {dims} {window.access}"
    return "".join(lines[address] + "\n" for address in sorted(lines))


def test_the_map_hash_is_the_sha256_of_the_canonical_text() -> None:
    text = canonical_text()
    assert (GENERATED / "map.txt").read_text(encoding="ascii") == text
    assert f"{map_table.MAP_HASH:08x}" == hashlib.sha256(text.encode()).hexdigest()[:8]


def test_the_canonical_text_has_the_lines_of_the_contract() -> None:
    lines = (GENERATED / "map.txt").read_text(encoding="ascii").splitlines()
    assert lines[0] == "00000000 id.magic - r value[31:0]"
    assert "00000108 ctl.arm - w generation[15:0] key[31:16]" in lines
    assert "00000204 memory.status [5*32] r wrapped[0:0] chunks_done[31:16]" in lines
    assert "00140000 trace_event_log [65536*4] r" in lines
