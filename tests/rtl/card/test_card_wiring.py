"""The cocotb test that ``card build`` writes, run in Icarus: a right wiring passes, a wrong one is told by its name."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from freezeframe.capture.card.build.ports import top_ports
from tests.processes import run_program
from tests.rtl.card.test_card_device import written
from tests.rtl.simulation import REPOSITORY, tool

CARD = """schema = 1
[card]
name = "small"
[clock.bus]
hz = 100_000_000
registers = true
[clock.rx]
hz = 125_000_000
[tap.a]
kind = "axi-stream"
clock = "rx"
bits = 128
keep = "tail"
user = {{ bits = 2, bad_frame = 1 }}
ready = true
depth = 16
[tap.b]
kind = "axi-stream"
clock = "rx"
bits = {bits}
ready = true
depth = 16
{more}
[cause.late]
wire = "late"
clock = "rx"
[cause.lost]
wire = "lost"
enabled = false
[cause.marked]
check = "user"
tap = "a"
[counter.drops]
wire = "drop"
clock = "rx"
[counter.retries]
wire = "retry"
[counter.packets]
counts = "packets"
tap = "b"
[bank.level]
wire = "fill"
bits = 12
clock = "rx"
[bank.room]
wire = "room"
bits = 12
clock = "rx"
[transport]
bus = "{bus}"
"""
RUN = """
import os, sys
from pathlib import Path
from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner
top, module = sys.argv[1:]
runner = get_runner("icarus")
sources = [Path(line) for line in Path(module.removesuffix("_wiring") + ".f").read_text().split()] + [Path("wired.v")]
runner.build(sources=sources, hdl_toplevel=top, build_args=["-g2005"], build_dir="sim", timescale=("1ns", "1ps"))
here = dict(build_dir="sim", test_dir=".")
print(get_results(runner.test(hdl_toplevel=top, hdl_toplevel_lang="verilog", test_module=module, **here)))
"""


def tried(
    folder: Path,
    bus: str = "wishbone",
    bits: int = 128,
    wired: dict[str, str] | None = None,
    hidden: str = "",
    more: str = "",
) -> str:
    """Run the generated test on the device, or on a design around it; return what it printed.

    Args:
        wired: what stands at ports of the device in place of the top's port of the same name; none: the device alone.
        hidden: a port that the top has not, but an inner signal ``line_``.
        more: lines of the card file before the transport: the last table is that of tap b.
    """
    tool("iverilog")
    (folder / "small.toml").write_text(CARD.format(bus=bus, bits=bits, more=more))
    card, top = written(folder / "small.toml", folder)
    environment = os.environ | {
        "PYTHONPATH": f"{REPOSITORY / 'src'}:{folder}",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    text = ""
    if wired is not None:
        ports = [port for port in top_ports(card) if port.split()[-1] != hidden]
        pins = ", ".join(
            f".{name}({wired.get(name, name)})" for name in (p.split()[-1] for p in top_ports(card))
        )
        text = f"module wired ({', '.join(ports)});\n    reg line_ = 1'b0;\n    {top} i_ff ({pins});\nendmodule\n"
        environment["FREEZEFRAME_DEVICE"] = "i_ff"
    if hidden:
        (folder / "pins.json").write_text(json.dumps({hidden: "line_"}))
        environment["FREEZEFRAME_PINS"] = str(folder / "pins.json")
    (folder / "wired.v").write_text(text)
    done = run_program(
        [sys.executable, "-c", RUN, "wired" if wired is not None else top, f"{top}_wiring"], cwd=folder, env=environment
    )  # fmt: skip
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("bus", "bits", "more"),
    [
        ("axi4-lite", 8, "store = { first_bytes = 8 }"),
        ("avalon-mm", 64, 'store = "summary"\n[event.e]\nwire = "happened"'),
    ],
)
def test_the_device_alone_passes_on_each_bus(
    bus: str, bits: int, more: str, tmp_path: Path
) -> None:
    assert "(3, 0)" in tried(tmp_path, bus, bits, more=more)


def test_a_design_around_it_passes_with_a_signal_that_only_a_file_names(tmp_path: Path) -> None:
    assert "(3, 0)" in tried(tmp_path, wired={"drop": "line_"}, hidden="drop")


SWAPPED = {
    f"{one}_{pin}": f"{other}_{pin}"
    for pin in ("tvalid", "tready", "tlast", "tdata")
    for one, other in ("ab", "ba")
}


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        pytest.param({**SWAPPED, "late": "1'b0"}, ["tap a, memory 0: recorded", "cause late does not freeze"],
                     id="two taps changed over, a cause's wire tied"),
        pytest.param({"b_tready": "1'b1", "late": "lost"}, ["tap b, memory 0: recorded", "cause late is raised by"],
                     id="ready taken for granted, a cause at another's wire"),
        pytest.param({"drop": "1'b0"}, ["counter drops is 0; 3 were sent"], id="a counter's wire tied"),
        pytest.param({"fill": "room", "room": "fill"}, ["bank level is"], id="two bank wires changed over"),
        pytest.param({"clk_rx": "1'b0"}, ["clk_rx of the device does not run"], id="a clock that is not there"),
    ],
)  # fmt: skip
def test_a_wrong_wire_is_told_by_its_name(
    wrong: dict[str, str], told: list[str], tmp_path: Path
) -> None:
    said = tried(tmp_path, wired=wrong)
    assert [line for line in told if line not in said] == [], said[-3000:]
    assert "(3, 0)" not in said
