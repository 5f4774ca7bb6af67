// SPDX-License-Identifier: Apache-2.0
// ff_cdc_edge: makes one pulse here of every change of a line that comes from another clock domain.
//
// Latency: the pulse is up in the cycle that begins with the second edge of clk behind the change. Throughput: changes
// more than two cycles of clk apart are all told. Back-pressure: none. Clock domain of pulse: clk; d comes straight
// from a flip-flop of any clock. While rst is up (three cycles at least) the line may stand either way; nothing is told.
`default_nettype none
module ff_cdc_edge (
    input  wire clk, rst, // rst synchronous, active high
    input  wire d,        // the line: a change is the message
    output wire pulse     // one cycle
);
    wire level;
    ff_cdc_sync #(.W(1)) i_sync (.clk(clk), .d(d), .q(level));

    // Not reset to a level: a reset on one side alone would then be a change.
    reg level_q;
    always @(posedge clk) level_q <= level;
    assign pulse = !rst && level != level_q;
endmodule
`default_nettype wire
