"""What tapping a datapath costs in time: the clock with and without a recorder, placed and routed for an iCE40 HX8K.

The datapath is 64 bits wide and as fast as the device's carry chains: a word a cycle, a running sum over it. The tap
is a wire into one register of a recorder of 72 x 1024. ``make timing`` writes docs/rtl-timing.md.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.rtl.simulation import RTL, tool

REPORT = Path(__file__).parents[2] / "docs" / "rtl-timing.md"
NEXT = "## A card's tap"  # what tests/rtl/tap_timing.py writes stands there

DATAPATH = """
module datapath #(parameter SLOW = 0) (
    input clk, input s_valid, input [63:0] s_data, output reg m_valid, output reg [63:0] m_data,
    output reg [31:0] sum, output tap_valid, output [63:0] tap_data
);
    reg valid_q;
    reg [63:0] data_q;
    wire [31:0] once = (data_q[31:0] + {sum[15:0], sum[31:16]}) ^ {data_q[47:32], data_q[63:48]};
    wire [31:0] twice = once + {once[7:0], once[31:8]}; // three carry chains, one behind the other
    always @(posedge clk) begin
        valid_q <= s_valid;
        data_q <= s_data;
        m_valid <= valid_q;
        m_data <= data_q;
        if (valid_q) sum <= sum + (SLOW ? twice ^ data_q[63:32] : data_q[31:0] ^ data_q[63:32]);
    end
    assign tap_valid = valid_q; // a wire: nothing of the recorder stands in the way of the data
    assign tap_data = data_q;
endmodule
"""
RECORDER = """
    reg [63:0] now;
    reg rst_q, arm_q, triggered_q, drain_q, rd_en_q;
    reg [9:0] rd_slot;
    wire wr_en;
    wire [9:0] wr_slot, write_ptr;
    wire [71:0] wr_record, rd_record;
    wire [31:0] stored, offered;
    always @(posedge clk) begin
        {rst_q, arm_q, triggered_q, drain_q, rd_en_q} <= {rst, arm, triggered, drain, rd_en};
        now <= rst_q ? 64'd0 : now + 64'd1;
        rd_slot <= rd_slot + 10'd1;
        seen <= ^{rd_record, write_ptr, wrapped, closed, stored, offered};
    end
    wire wrapped, closed;
    ff_tap_recorder #(.DEPTH(1024), .POST_W(7)) i_recorder (
        .clk(clk), .rst(rst_q), .tap_valid(tap_valid), .tap_kind(4'd2), .tap_data(tap_data), .now(now), .arm(arm_q),
        .triggered_next(1'b0),
        .triggered(triggered_q), .causes(16'd1), .since(now[31:0]), .drain(drain_q), .cfg_kinds(16'hFFFF),
        .cfg_post(7'd64), .wr_en(wr_en), .wr_slot(wr_slot), .wr_record(wr_record), .stat_write_ptr(write_ptr),
        .stat_wrapped(wrapped), .stat_stored(stored), .stat_offered(offered), .stat_closed(closed));
    ff_trace_memory #(.DEPTH(1024)) i_memory (
        .wr_clk(clk), .wr_en(wr_en), .wr_slot(wr_slot), .wr_record(wr_record), .rd_clk(clk), .rd_en(rd_en_q),
        .rd_slot(rd_slot), .rd_record(rd_record));
"""
PORTS = (
    "input clk, rst, arm, triggered, drain, rd_en, s_valid, input [63:0] s_data, "
    "output m_valid, output [63:0] m_data, output last, output reg seen"
)
PATH = """
    wire tap_valid;
    wire [63:0] tap_data;
    wire [31:0] sum;
    datapath i_path (.clk(clk), .s_valid(s_valid), .s_data(s_data), .m_valid(m_valid), .m_data(m_data), .sum(sum),
        .tap_valid(tap_valid), .tap_data(tap_data));
    assign last = sum[31];
"""
LONE = """
    reg tap_valid;
    reg [63:0] tap_data;
    always @(posedge clk) {tap_valid, tap_data} <= {s_valid, s_data};
    assign {m_valid, m_data, last} = 66'd0;
"""
UNTAPPED = "    always @(posedge clk) seen <= rst ^ arm ^ triggered ^ drain ^ rd_en;\n"
SLOW_PATH = PATH.replace("datapath i_path", "datapath #(.SLOW(1)) i_path")
BUILDS = {
    "the recorder alone": LONE + RECORDER,
    "a fast datapath alone": PATH + UNTAPPED,
    "a fast datapath, tapped": PATH + RECORDER,
    "a slow datapath alone": SLOW_PATH + UNTAPPED,
    "a slow datapath, tapped": SLOW_PATH + RECORDER,
}


def _fastest_mhz(body: str, seeds: int, folder: Path) -> tuple[float, float, float, str]:
    (folder / "top.v").write_text(f"{DATAPATH}\nmodule top ({PORTS});\n{body}\nendmodule\n")
    sources = f"{folder / 'top.v'} {RTL / 'ff_tap_recorder.v'} {RTL / 'ff_trace_memory.v'}"
    script = f"read_verilog {sources}; synth_ice40 -top top -json {folder / 'top.json'}"
    run([tool("yosys"), "-q", "-p", script])
    found = []
    cells = ""
    for seed in range(1, seeds + 1):
        command = [
            tool("nextpnr-ice40"),
            "--hx8k",
            "--package",
            "ct256",
            "--json",
            str(folder / "top.json"),
        ]
        said = run([*command, "--seed", str(seed), "--freq", "200", "--timing-allow-fail"])
        rates = re.findall(r"Max frequency for clock .*?: ([\d.]+) MHz", said)
        found.append(float(rates[-1]))
        used = re.findall(r"ICESTORM_(LC|RAM): +(\d+)/", said)
        cells = ", ".join(f"{count} {name}" for name, count in dict(used).items())
    return statistics.median(found), min(found), max(found), cells


def run(command: list[str], folder: Path | None = None) -> str:
    """Run a program in a folder; return what it said.

    Raises:
        RuntimeError: it failed; the message is the end of what it said.
    """
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=1800, check=False, cwd=folder
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {(done.stderr or done.stdout)[-400:]}")
    return done.stdout + done.stderr


def main(argv: list[str] | None = None) -> int:
    """Place and route all builds, print the table, and with ``--write`` keep it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=7, help="placements of each build (7)")
    parser.add_argument("--write", action="store_true", help="write docs/rtl-timing.md")
    options = parser.parse_args(argv)
    lines = [
        "# What a tap costs in time",
        "",
        f"`make timing`: nextpnr-ice40, HX8K (ct256), {options.seeds} placements of each build, median (slowest to "
        "fastest). A recorder of 72 x 1024",
        "with a 64-bit time counter beside a 64-bit datapath in the same clock domain.",
        "",
        "| build | clock | cells |",
        "|---|---|---|",
    ]
    rate = {}
    for name, body in BUILDS.items():
        with tempfile.TemporaryDirectory(prefix="ff-timing-") as folder:
            middle, low, high, cells = _fastest_mhz(body, options.seeds, Path(folder))
        rate[name] = middle
        lines.append(f"| {name} | {middle:.1f} MHz ({low:.1f} to {high:.1f}) | {cells} |")
        print(lines[-1], flush=True)
    recorder, fast, fast_tapped, slow, slow_tapped = rate.values()
    lines += [
        "",
        f"A datapath that is slower than the recorder keeps {slow_tapped / slow:.0%} of its clock when it is tapped: "
        "the tap is a register's",
        "data input at the end of a wire, and no path leads back. One that is faster "
        f"({fast / recorder:.2f} x) is bound by the recorder's own",
        f"64-bit counter: {fast_tapped / recorder:.0%} of the recorder's clock. Put the recorder behind a FIFO in a "
        "slower domain there, or narrow its counter.",
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    if options.write:
        behind = REPORT.read_text(encoding="utf-8").partition(NEXT)
        REPORT.write_text("".join((text, "\n", *behind[1:])), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
