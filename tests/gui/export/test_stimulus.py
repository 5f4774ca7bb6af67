"""Stimulus for cocotb: the module's text, and a simulated design that is driven by it and recorded again."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.run import Decoded, decode_file
from freezeframe.decoders.serial.mdio_encode import encode_frames
from freezeframe.gui.export import stimulus
from freezeframe.gui.export.material import Material
from freezeframe.gui.export.run import export_file
from freezeframe.gui.export.stimulus import write_stimulus
from tests.gui.export.material import samples, small
from tests.gui.mdio import FRAMES
from tests.processes import run_program

RUN = """
from pathlib import Path
from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner
runner = get_runner("icarus")
runner.build(sources=[Path("top.v")], hdl_toplevel="top", build_dir="sim", timescale=("1ns", "1ns"), waves=True)
print(get_results(runner.test(hdl_toplevel="top", hdl_toplevel_lang="verilog", test_dir=".", build_dir="sim",
                              waves=True, test_module="bench")))
"""
TOP = """
module top (input mdc, input data, output reg [31:0] rises);
    initial rises = 0;
    always @(posedge mdc) rises <= rises + 1;
endmodule
"""
BENCH = """
import cocotb
import phy_rows
import phy_stimulus
from cocotb.utils import get_sim_time

@cocotb.test()
async def driven(dut):
    cocotb.start_soon(phy_stimulus.replay(dut, names={"MDC": "mdc", "MDIO": "data"}))
    seen = [(get_sim_time("ps"), row["reg"]) async for row in phy_rows.rows()]
    assert seen == EXPECTED, seen
    await phy_stimulus.replay(dut, names={"MDC": "mdc", "MDIO": ""})
"""


def test_samples_are_lines_of_time_signal_and_value(tmp_path: Path) -> None:
    wrote = write_stimulus(samples(small()), tmp_path / "x.py")
    said = runpy.run_path(str(tmp_path / "x.py"))
    assert said["SIGNALS"] == ("clk", "data out")
    assert said["CHANGES"] == (
        "0 0 1\n0 1 0\n1000000 0 0\n1000000 1 1\n2333333 0 1\n2666666 0 0\n2666666 1 0\n"
    )
    assert said["END_PS"] == 4_000_000
    assert wrote.counts == {"changes": 7}


def test_rows_are_a_tuple_of_times_and_values(tmp_path: Path) -> None:
    table = pa.table({"t_ps": [7, 3], "kind": ["it's", '"""'], "raw": [b"\x00", None]})
    wrote = write_stimulus(Material(Path("a.sr"), tables=[Decoded("x", table)]), tmp_path / "x.py")
    said = runpy.run_path(str(tmp_path / "x.py"))
    assert said["ROWS"] == ((3, {"kind": '"""'}), (7, {"kind": "it's", "raw": b"\x00"}))
    assert wrote.counts == {"rows": 2}


def test_several_tables_and_too_many_changes_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    two = [Decoded(name, pa.table({"t_ps": [1]})) for name in ("a", "b")]
    with pytest.raises(InputError, match="a stimulus is of one table, and there is a, b"):
        write_stimulus(Material(Path("a.sr"), tables=two), tmp_path / "x.py")
    monkeypatch.setattr(stimulus, "MOST_LINES", 6)
    with pytest.raises(InputError, match=r"more than 6 changes or rows.*--cut"):
        write_stimulus(samples(small()), tmp_path / "y.py")


def test_a_simulated_design_sees_what_was_captured(tmp_path: Path) -> None:
    """cocotb and Icarus, in steps of a nanosecond: the waves of the run decode to the same frames."""
    capture = tmp_path / "phy.sr"
    write_sr(encode_frames(FRAMES, samplerate_hz=3_000_000), capture)
    (frames,) = decode_file(capture, ["mdio"])
    export_file(capture, "stimulus", tmp_path / "phy_stimulus.py")
    export_file(capture, "stimulus", tmp_path / "phy_rows.py", specs=["mdio"])
    t_ps = frames.table.column("t_ps").to_pylist()
    expected = [
        (t // 1000 * 1000, frame.reg) for t, frame in zip(t_ps, FRAMES, strict=True)
    ]  # fmt: skip
    (tmp_path / "bench.py").write_text(BENCH.replace("EXPECTED", repr(expected)))
    (tmp_path / "top.v").write_text(TOP)
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(tmp_path)}
    done = run_program([sys.executable, "-c", RUN], cwd=tmp_path, env=environment)
    assert "(1, 0)" in done.stdout, done.stdout + done.stderr  # one test, no failure
    (seen,) = decode_file(tmp_path / "sim" / "top.fst", ["mdio:mdc=mdc,mdio=data"])
    columns = ["kind", "op", "phy", "reg", "data", "preamble"]
    first = seen.table.select(columns).slice(0, len(FRAMES))
    assert first.to_pylist() == frames.table.select(columns).to_pylist()
