// SPDX-License-Identifier: Apache-2.0
// ff_check_watchdog: nothing is accepted for CYCLES cycles, on a stream that has begun to move since reset.
//
// Latency: bad stands one cycle after the last of them, once until the next beat. Throughput: a beat a cycle. Back-pressure: none, it
// only listens. Clock domain: clk.
`default_nettype none
module ff_check_watchdog #(
    parameter [31:0] CYCLES = 1000000 // 1..2^32-1
) (
    input  wire clk, rst,
    input  wire tvalid, tready,
    output reg  bad
);
    generate if (CYCLES == 0) begin : g_check_CYCLES
        ff_error_CYCLES_must_be_1_to_4294967295 stop (); // none such
    end endgenerate
    reg  [31:0] left_q;
    reg  runs_q; // a beat has come, and the time since it is not up
    wire beat = tvalid && tready;
    wire late = runs_q && !beat && left_q == 32'd1;
    always @(posedge clk) begin
        bad <= late && !rst;
        runs_q <= !rst && (beat || (runs_q && !late));
        left_q <= beat ? CYCLES : left_q - {31'd0, runs_q};
    end
endmodule
`default_nettype wire
