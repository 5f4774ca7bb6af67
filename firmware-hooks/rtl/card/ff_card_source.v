// SPDX-License-Identifier: Apache-2.0
// ff_card_source: one source of the event log: a wire whose rise is logged with a value, or a state machine whose changes are.
//
// A state machine also tells where it stands at an arm and at the first cause of its clock. What finds the FIFO full is counted, and the
// count goes with the next entry, or alone when there is room and nothing else to tell; an arm forgets it. Latency: an entry is made in
// the cycle after that of the wire, `now` is its own cycle; it is offered three cycles of bus_clk later. Throughput: an entry a cycle
// until the FIFO is full. Back-pressure: none on the wires; out_ready. Clock domains: clk, bus_clk for out_*, any ratio.
`default_nettype none
module ff_card_source #(
    parameter MACHINE = 0,     // 1: value is a state, ev_wire is not looked at
    parameter VALUE_W = 32,    // bits of value, 1..40; of a state 1..8
    parameter PLACES_LOG2 = 3  // as ff_cdc_fifo
) (
    input  wire               clk, rst,
    input  wire [15:0]        now,           // low bits of the number of this cycle
    input  wire               arm, triggered,
    input  wire               ev_wire,
    input  wire [VALUE_W-1:0] value,
    input  wire               bus_clk, bus_rst,
    output wire               out_valid,
    output wire               out_some,      // there is an entry, not a count of lost ones alone
    output wire [15:0]        out_lost,      // entries that were lost before it; 65,535: that many or more
    output wire [15:0]        out_at,
    output wire [39:0]        out_value,     // of a state {24 zeros, the one before, the new one}
    input  wire               out_ready
);
    localparam KEPT_W = MACHINE != 0 ? 16 : VALUE_W;
    generate if (VALUE_W < 1 || VALUE_W > 40 || (MACHINE != 0 && VALUE_W > 8)) begin : g_check_VALUE_W
        ff_error_VALUE_W_must_be_1_to_40_and_of_a_state_at_most_8 stop (); // none such
    end endgenerate

    reg  [VALUE_W-1:0] value_q;
    reg  [15:0]        lost_q;
    wire               some, ready;
    wire [KEPT_W-1:0]  kept;
    always @(posedge clk) value_q <= value;
    generate if (MACHINE != 0) begin : g_machine
        reg  [VALUE_W-1:0] before_q;
        reg  tell_q, triggered_q;
        always @(posedge clk) begin
            before_q <= value_q;
            triggered_q <= triggered;
            tell_q <= arm || (triggered && !triggered_q);
        end
        assign some = value_q != before_q || tell_q;
        assign kept = {{8-VALUE_W{1'b0}}, before_q, {8-VALUE_W{1'b0}}, value_q};
        wire unused = &{1'b0, ev_wire};
    end else begin : g_event
        reg  wire_q, before_q;
        always @(posedge clk) {before_q, wire_q} <= {wire_q, ev_wire};
        assign some = wire_q && !before_q;
        assign kept = value_q;
        wire unused = &{1'b0, triggered};
    end endgenerate
    wire enters = (some || lost_q != 16'd0) && ready && !rst;
    always @(posedge clk) begin
        if (enters) lost_q <= 16'd0;
        else if (some && lost_q != 16'hFFFF) lost_q <= lost_q + 16'd1;
        if (arm || rst) lost_q <= 16'd0;
    end
    wire [KEPT_W-1:0] told;
    ff_cdc_fifo #(.DATA_W(KEPT_W + 33), .DEPTH_LOG2(PLACES_LOG2)) i_cross (
        .s_clk(clk), .s_rst(rst), .s_valid(enters), .s_data({some, lost_q, now, kept}), .s_ready(ready),
        .m_clk(bus_clk), .m_rst(bus_rst), .m_valid(out_valid), .m_data({out_some, out_lost, out_at, told}), .m_ready(out_ready)
    );
    generate if (KEPT_W < 40) begin : g_wide
        assign out_value = {{40-KEPT_W{1'b0}}, told};
    end else begin : g_whole
        assign out_value = told;
    end endgenerate
endmodule
`default_nettype wire
