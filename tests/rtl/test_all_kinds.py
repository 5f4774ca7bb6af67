"""ff_tap_recorder with ALL_KINDS writes the very records of the recorder without it, whose kinds are all on."""

from __future__ import annotations

import re
from pathlib import Path

from tests.processes import run_program
from tests.rtl.simulation import RTL, tool

BENCH = """
module bench;
    reg clk = 0, rst = 1, arm_next = 0, arm = 0, valid = 0;
    reg [15:0] causes_in = 0;
    reg [3:0] kind = 0, post = 3;
    reg [63:0] data = 0, now = 0;
    wire hit, level, next, triggered, drain;
    wire [15:0] causes;
    wire [31:0] since;
    ff_cause_latch #(.POST_DRAIN(16)) i_latch (.clk(clk), .rst(rst), .arm_next(arm_next), .arm(arm),
        .causes_in(causes_in), .hit(hit), .level(level), .triggered_next(next), .triggered(triggered), .causes(causes),
        .since(since), .drain(drain));
    wire [1:0] wr_en, closed;
    wire [7:0] slot;
    wire [143:0] record;
    genvar i;
    generate for (i = 0; i < 2; i = i + 1) begin : g
        ff_tap_recorder #(.DEPTH(16), .POST_W(4), .ALL_KINDS(i)) i_recorder (.clk(clk), .rst(rst), .tap_valid(valid),
            .tap_kind(kind), .tap_data(data), .word_valid(), .word_kind(), .word_data(), .now(now), .arm(arm),
            .triggered_next(next), .triggered(triggered), .causes(causes), .since(since), .drain(drain),
            .cfg_kinds(16'hFFFF), .cfg_post(post), .wr_en(wr_en[i]), .wr_slot(slot[i*4 +: 4]),
            .wr_record(record[i*72 +: 72]), .stat_write_ptr(), .stat_wrapped(), .stat_stored(), .stat_offered(),
            .stat_closed(closed[i]));
    end endgenerate
    integer cycle, written = 0, froze = 0, density = 2, was = 0;
    initial begin
        for (cycle = 0; cycle < 60000; cycle = cycle + 1) begin
            rst = cycle < 3;
            if (cycle % 500 == 0) begin density = {$random} % 40; post = $random; end
            arm = arm_next && !rst;
            arm_next = {$random} % 300 == 0;
            valid = {$random} % 40 < density;
            kind = 1 + {$random} % 3;
            data = {$random, $random};
            causes_in = {$random} % 150 == 0 ? 1 << {$random} % 12 : 0;
            #1;
            if (cycle > 3) begin
                if (wr_en[0] !== wr_en[1] || closed[0] !== closed[1] || (wr_en[0] && (slot[3:0] !== slot[7:4]
                    || record[71:0] !== record[143:72]))) begin
                    $display("DIFFER in cycle %0d: %h %h", cycle, record[71:0], record[143:72]);
                    $finish;
                end
                if (wr_en[0]) written = written + 1;
                if (closed[0] && !was) froze = froze + 1;
                was = closed[0] === 1'b1;
            end
            clk = 1; #1 clk = 0;
            now = rst ? 0 : now + 1;
        end
        $display("SAME written=%0d froze=%0d", written, froze);
    end
endmodule
"""


def test_a_recorder_of_all_kinds_writes_the_same_records(tmp_path: Path) -> None:
    (tmp_path / "bench.v").write_text(BENCH)
    sources = [str(RTL / f"{name}.v") for name in ("ff_tap_recorder", "ff_cause_latch", "ff_node")]
    run_program(
        [
            tool("iverilog"),
            "-g2005",
            "-s",
            "bench",
            "-o",
            str(tmp_path / "b.vvp"),
            str(tmp_path / "bench.v"),
            *sources,
        ],
        check=True,
    )
    told = run_program([tool("vvp"), str(tmp_path / "b.vvp")], check=True).stdout
    found = re.search(r"^SAME written=(\d+) froze=(\d+)$", told, re.M)
    assert found, told
    assert int(found[1]) > 5000
    assert int(found[2]) > 50
