// SPDX-License-Identifier: Apache-2.0
// ff_check_no_ready: a receiver that keeps a word waiting: tvalid without tready for CYCLES cycles in a row.
//
// Latency: bad stands one cycle after the last of them, once for each wait. Throughput: a wait after another. Back-pressure: none,
// it only listens. Clock domain: clk.
`default_nettype none
module ff_check_no_ready #(
    parameter [31:0] CYCLES = 10000 // 1..2^32-1
) (
    input  wire clk, rst,
    input  wire tvalid, tready,
    output reg  bad
);
    generate if (CYCLES == 0) begin : g_check_CYCLES
        ff_error_CYCLES_must_be_1_to_4294967295 stop (); // none such
    end endgenerate
    reg  [31:0] left_q; // cycles of waiting until it is too long
    reg  told_q;
    wire waits = tvalid && !tready && !rst;
    wire late = waits && left_q == 32'd1;
    always @(posedge clk) begin
        bad <= late && !told_q;
        told_q <= waits && (told_q || late);
        left_q <= !waits ? CYCLES : left_q - {31'd0, left_q != 32'd1};
    end
endmodule
`default_nettype wire
