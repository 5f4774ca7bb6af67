// SPDX-License-Identifier: Apache-2.0
// ff_count: one event counter in the domain of what it counts, and its value when the domain's memories closed.
//
// Latency: live has add one cycle later; held stands from the cycle after closed on. Throughput: an add a cycle. Back-pressure:
// none. Clock domain: clk.
`default_nettype none
module ff_count #(
    parameter ADD_W = 1 // bits of add, 1..31
) (
    input  wire             clk, rst,
    input  wire [ADD_W-1:0] add,
    input  wire             closed, // the domain's memories are closed: up until the next arm
    output reg  [31:0]      live, held
);
    generate if (ADD_W < 1 || ADD_W > 31) begin : g_check_ADD_W
        ff_error_ADD_W_must_be_1_to_31 stop (); // none such
    end endgenerate
    always @(posedge clk) begin
        live <= live + {{32-ADD_W{1'b0}}, add};
        if (!closed) held <= live;
        if (rst) {live, held} <= 64'd0;
    end
endmodule
`default_nettype wire
