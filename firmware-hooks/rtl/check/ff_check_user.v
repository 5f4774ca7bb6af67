// SPDX-License-Identifier: Apache-2.0
// ff_check_user: a packet that its sender marks bad: tuser[BIT] is up with the last beat.
//
// Latency: bad stands one cycle after the last beat. Throughput: a beat a cycle. Back-pressure: none, it only listens.
// Clock domain: clk.
`default_nettype none
module ff_check_user #(
    parameter USER_W = 1, // bits of tuser, 1..8
    parameter BIT = 0     // the one that means a bad frame
) (
    input  wire              clk, rst,
    input  wire              tvalid, tready, tlast,
    input  wire [USER_W-1:0] tuser,
    output reg               bad     // one cycle for each bad packet
);
    generate if (USER_W < 1 || USER_W > 8 || BIT < 0 || BIT >= USER_W) begin : g_check_BIT
        ff_error_USER_W_must_be_1_to_8_and_BIT_below_it stop (); // none such
    end endgenerate
    always @(posedge clk) bad <= tvalid && tready && tlast && tuser[BIT] && !rst;
    wire unused = &{1'b0, tuser};
endmodule
`default_nettype wire
