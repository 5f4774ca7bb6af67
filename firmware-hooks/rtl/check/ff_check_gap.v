// SPDX-License-Identifier: Apache-2.0
// ff_check_gap: a cycle without tvalid within a packet, where the stream promises none (a MAC's transmit side cannot wait).
//
// Latency: bad stands one cycle after the gap's first cycle, once for each gap. Throughput: a beat a cycle. Back-pressure: none, it
// only listens. Clock domain: clk.
`default_nettype none
module ff_check_gap (
    input  wire clk, rst,
    input  wire tvalid, tready, tlast,
    output reg  bad
);
    reg  within_q, gap_q; // a packet has begun and not ended; the last cycle was a gap
    wire gap = within_q && !tvalid;
    always @(posedge clk) begin
        if (tvalid && tready) within_q <= !tlast;
        gap_q <= gap;
        bad <= gap && !gap_q && !rst;
        if (rst) {within_q, gap_q} <= 2'b00;
    end
endmodule
`default_nettype wire
