// SPDX-License-Identifier: Apache-2.0
// ff_nic_state_event: tells each change of a state machine as a STATE event; staying is none.
//
// Latency: one cycle. Throughput: a change every cycle. Back-pressure: none. Clock domain: clk.
`default_nettype none
module ff_nic_state_event (
    input  wire        clk, rst,
    input  wire [7:0]  state,
    output wire        ev_valid,
    output wire [39:0] ev_value     // new [0,8] old [8,8]
);
    reg [7:0] old_q, new_q;
    always @(posedge clk) begin
        new_q <= rst ? 8'd0 : state;
        old_q <= rst ? 8'd0 : new_q;
    end
    assign ev_valid = new_q != old_q;
    assign ev_value = {24'd0, old_q, new_q};
endmodule
`default_nettype wire
