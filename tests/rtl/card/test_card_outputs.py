"""What is built beside the Verilog, each read by the tool it is for."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from systemrdl.compiler import RDLCompiler
from systemrdl.node import AddressableNode

from freezeframe.capture.card.recording import built_features
from freezeframe.capture.card.registers import card_map
from freezeframe.capture.registers.register_map import elements
from tests.processes import run_program
from tests.rtl.card.test_card_device import CARDS, built
from tests.rtl.simulation import tool


@pytest.mark.parametrize("name", CARDS)
def test_the_header_compiles_in_c_and_cpp_without_a_warning_and_has_the_maps_addresses(
    name: str, tmp_path: Path
) -> None:
    card, top = built(name, tmp_path)
    prefix = card.name.replace("-", "_").upper()
    registers = card_map(card, built_features(card)).registers
    lines = [
        f'printf("%u\\n", (unsigned){prefix}_{info.name.replace(".", "_").upper()});'
        for info in registers
    ]
    lines.append(f"return {prefix}_CARD_HASH == 0;")
    program = f'#include <stdio.h>\n#include "{top}.h"\nint main(void) {{ {" ".join(lines)} }}\n'
    for compiler, standard, suffix in (("gcc", "c99", "c"), ("g++", "c++17", "cpp")):
        (tmp_path / f"print.{suffix}").write_text(program)
        flags = [f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-o", "print"]
        command = [tool(compiler), *flags, f"print.{suffix}"]
        done = run_program(command, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        said = run_program([tmp_path / "print"], check=True).stdout.split()
        assert [int(word) for word in said] == [info.address for info in registers]


@pytest.mark.parametrize("name", CARDS)
def test_systemrdl_elaborates_and_has_the_maps_addresses(name: str, tmp_path: Path) -> None:
    card, top = built(name, tmp_path)
    compiler = RDLCompiler()
    compiler.compile_file(str(tmp_path / f"{top}.rdl"))
    root = compiler.elaborate().top
    registers = card_map(card, built_features(card))

    def address(of: str) -> int:
        node = root.get_child_by_name(of)
        assert isinstance(node, AddressableNode), of
        return node.address_offset

    for info in registers.registers:
        for indices in elements(info):
            name = "_".join([info.name.replace(".", "_"), *map(str, indices)])
            assert address(name) == registers.offset(info.name, *indices)
    for window in registers.windows:
        assert address(window.name.replace(".", "_")) == window.address


@pytest.mark.parametrize("name", CARDS)
def test_ghdl_analyses_the_package_and_a_design_that_uses_its_component(
    name: str, tmp_path: Path
) -> None:
    _, top = built(name, tmp_path)
    (tmp_path / "user.vhd").write_text(
        f"library work;\nuse work.{top}_pkg.all;\nentity user is end entity;\n"
        "architecture one of user is\nbegin\nend architecture;\n"
    )
    for file in (f"{top}_pkg.vhd", "user.vhd"):
        done = run_program([tool("ghdl"), "-a", "--std=93", file], cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")


def test_fusesoc_finds_the_core_and_verilator_nothing_in_it(tmp_path: Path) -> None:
    tool("verilator")
    _, top = built("ethernet-axis-64", tmp_path / "core")
    done = run_program(
        [sys.executable, "-m", "fusesoc.main", "--cores-root", str(tmp_path / "core"), "run", "--target", "lint",
         "--build-root", str(tmp_path / "build"), top], cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "%Warning" not in done.stdout + done.stderr
