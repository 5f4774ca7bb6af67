// SPDX-License-Identifier: Apache-2.0
// ff_nic_restart: brings a pair of cards up anew: after power-up, when a card was held and none is frozen any more,
// and when the loop-back changes.
//
// Latency: two cycles. The reset lasts 128 cycles; loop changes in their middle. Throughput and back-pressure: none.
// Clock domain: clk; the inputs come from any.
`default_nettype none
module ff_nic_restart (
    input  wire clk, rst,
    input  wire held_a, held_b, frozen_a, frozen_b, loop_a, loop_b,
    output reg  restart,        // reset of both cards
    output reg  loop            // both hear themselves
);
    wire [5:0] seen;
    ff_cdc_sync #(.W(6)) i_sync (
        .clk(clk), .d({held_a, held_b, frozen_a, frozen_b, loop_a, loop_b}), .q(seen));
    wire released = (seen[5] || seen[4]) && !seen[3] && !seen[2];
    wire wanted = seen[1] || seen[0];
    reg  [6:0] count_q;
    reg  [1:0] released_q; // the synchronizers may show a card's frozen and held a cycle apart
    always @(posedge clk) begin
        released_q <= {released_q[0], released};
        if (restart) begin
            count_q <= count_q + 7'd1;
            restart <= count_q != 7'd127;
            if (count_q == 7'd64) loop <= wanted;
        end else if ((released && &released_q) || wanted != loop) begin
            restart <= 1'b1;
            count_q <= 7'd0;
        end
        if (rst) begin
            restart <= 1'b1;
            count_q <= 7'd0;
            loop <= 1'b0;
            released_q <= 2'd0;
        end
    end
endmodule
`default_nettype wire
