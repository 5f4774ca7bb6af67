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
from tests.rtl.card.test_card_device import CARDS, built, written
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


_SOC = """
import sys
from migen import ClockDomain, Signal
from migen.fhdl import verilog
from litex.gen import LiteXModule
from litex.soc.interconnect import stream
from soc_freezeframe_litex import SocFreezeframe


class Soc(LiteXModule):
    def __init__(self):
        self.cd_sys = ClockDomain()
        self.cd_eth_rx = ClockDomain()
        self.rx = stream.Endpoint([("data", 32), ("last_be", 4), ("error", 4)])  # as LiteEth has it
        self.raw = stream.Endpoint([("data", 64)])
        self.drop = Signal()
        self.ff = SocFreezeframe(None, taps={"rx": self.rx, "raw": self.raw}, wires={"drop": self.drop})


soc = Soc()
rx, raw = soc.rx, soc.raw
wires = [rx.valid, rx.ready, rx.last, rx.data, rx.last_be, rx.error, raw.valid, raw.data]
bus = soc.ff.bus
ios = {*wires, soc.drop, soc.ff.frozen, bus.cyc, bus.stb, bus.we, bus.adr, bus.dat_w, bus.dat_r}
ios |= {bus.sel, bus.ack, bus.err}
ios |= {soc.cd_sys.clk, soc.cd_sys.rst, soc.cd_eth_rx.clk, soc.cd_eth_rx.rst}
print(verilog.convert(soc, ios, name="soc"))
"""


def test_the_litex_module_is_two_lines_in_a_soc_whose_verilog_elaborates(tmp_path: Path) -> None:
    _, top = built("soc", tmp_path)
    (tmp_path / "make.py").write_text(_SOC)
    done = run_program([sys.executable, "make.py"], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (tmp_path / "soc.v").write_text(done.stdout)
    command = [tool("iverilog"), "-g2005", "-s", "soc", "-o", "soc.vvp", "soc.v", "-c", f"{top}.f"]
    done = run_program(command, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    text = (tmp_path / "soc.v").read_text()
    assert ".rx_tkeep" in text
    assert "(rx_payload_error != 1'd0)" in text  # an error of any byte


@pytest.mark.parametrize("wire", ["signal", "Drop", "a__b", "_x"])
def test_a_wire_that_is_no_name_in_vhdl_is_an_extended_identifier_there(
    wire: str, tmp_path: Path
) -> None:
    (tmp_path / "soc.toml").write_text(
        CARDS["soc"].read_text().replace('wire = "drop"', f'wire = "{wire}"')
    )
    _, top = written(tmp_path / "soc.toml", tmp_path)
    assert f"\\{wire}\\ : in std_logic" in (tmp_path / f"{top}_pkg.vhd").read_text()
    done = run_program([tool("ghdl"), "-a", "--std=93", f"{top}_pkg.vhd"], cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
