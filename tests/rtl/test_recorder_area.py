"""What one recorder costs on xc7, by Yosys: tap register, 64-bit time, records of 72 bits, memory of 2,048.

The prototype that the project was measured against took 105 LUT, 196 flip-flops and 4 BRAM36 with narrower counts.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.processes import run_program
from tests.rtl.recorded import recorded, version
from tests.rtl.simulation import RTL, tool

# post is a constant 64 and all kinds are recorded: a build without options
TOP = """
module alone (
    input clk, rst, arm, next, triggered, drain, tap_valid, rd_en,
    input [15:0] causes, input [31:0] since, input [3:0] tap_kind, input [63:0] tap_data, input [10:0] rd_slot,
    output [71:0] rd_record, output [10:0] write_ptr, output wrapped, closed, output [31:0] stored, offered
);
    reg [63:0] now;
    always @(posedge clk) now <= rst ? 64'd0 : now + 64'd1;
    wire wr_en;
    wire [10:0] wr_slot;
    wire [71:0] wr_record;
    ff_tap_recorder #(.DEPTH(2048), .POST_W(7)) i_recorder (
        .clk(clk), .rst(rst), .tap_valid(tap_valid), .tap_kind(tap_kind), .tap_data(tap_data), .now(now), .arm(arm),
        .triggered_next(next),
        .triggered(triggered), .causes(causes), .since(since), .drain(drain), .cfg_kinds(16'hFFFF), .cfg_post(7'd64),
        .wr_en(wr_en), .wr_slot(wr_slot), .wr_record(wr_record), .stat_write_ptr(write_ptr), .stat_wrapped(wrapped),
        .stat_stored(stored), .stat_offered(offered), .stat_closed(closed));
    ff_trace_memory #(.DEPTH(2048)) i_memory (
        .wr_clk(clk), .wr_en(wr_en), .wr_slot(wr_slot), .wr_record(wr_record), .rd_clk(clk), .rd_en(rd_en),
        .rd_slot(rd_slot), .rd_record(rd_record));
endmodule
"""


def test_a_recorder_takes_at_most_110_luts_220_flip_flops_and_4_block_rams(tmp_path: Path) -> None:
    sources = [RTL / f"{name}.v" for name in ("ff_tap_recorder", "ff_node", "ff_trace_memory")]
    script = "hierarchy -top alone; synth_xilinx -family xc7 -flatten; tee -o area.txt stat"

    def synthesized() -> dict[str, int]:
        (tmp_path / "alone.v").write_text(TOP)
        read = f"read_verilog alone.v {' '.join(map(str, sources))}; "
        run_program([tool("yosys"), "-q", "-p", read + script], cwd=tmp_path, check=True)
        told = (tmp_path / "area.txt").read_text()
        found = re.findall(r"^\s+([A-Z]\w+)\s+(\d+)$", told, re.M)
        return {name: int(count) for name, count in found}

    texts = [path.read_text("utf-8") for path in sources]
    inputs = [TOP, script, version("yosys", "-V"), *texts]
    cells = recorded("area of a recorder alone", inputs, synthesized)
    luts = sum(count for name, count in cells.items() if re.match(r"LUT\d|INV", name))
    flops = sum(count for name, count in cells.items() if name.startswith("FD"))
    assert (luts <= 110, flops <= 220, cells.get("RAMB36E1")) == (True, True, 4), cells
    # the data's selection is one LUT a bit
    assert not any(name.startswith("MUXF") for name in cells), cells
