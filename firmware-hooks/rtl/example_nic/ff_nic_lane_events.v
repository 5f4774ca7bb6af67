// SPDX-License-Identifier: Apache-2.0
// ff_nic_lane_events: the LINK events of one lane of a receiver, one a cycle.
//
// What happens to both lanes at once goes first; an underflow or overflow that comes in the same cycle waits for the
// next free one, one of each. Latency: none. Throughput: one event a cycle. Back-pressure: none. Clock domain: clk.
// Source: docs/formats.md section 4.
`default_nettype none
module ff_nic_lane_events (
    input  wire       clk, rst,
    input  wire       trained, inserted, removed,
    input  wire       underflow, overflow,
    output wire       ev_valid,
    output wire [7:0] ev_code   // enum link_code
);
    localparam [7:0] IDLE_INSERTED = 8'd1, IDLE_REMOVED = 8'd2, TRAINED = 8'd5, UNDERFLOW = 8'd6, OVERFLOW = 8'd7;
    reg  under_q, over_q;
    wire under = underflow || under_q, over = overflow || over_q;
    wire line = trained || inserted || removed;
    always @(posedge clk) begin
        // One that is told now may be followed by another in the same cycle, which waits in its place.
        under_q <= line ? under : underflow && under_q;
        over_q <= line || under ? over : overflow && over_q;
        if (rst) {under_q, over_q} <= 2'b00;
    end
    assign ev_valid = line || under || over;
    assign ev_code = trained ? TRAINED : inserted ? IDLE_INSERTED : removed ? IDLE_REMOVED : under ? UNDERFLOW : OVERFLOW;
endmodule
`default_nettype wire
