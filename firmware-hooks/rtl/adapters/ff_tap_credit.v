// SPDX-License-Identifier: Apache-2.0
// ff_tap_credit: a credit interface as events: credits sent and taken, and where a sender is blocked and goes on.
//
// Gives two event lanes of the event log, lane 0 CREDIT, lane 1 PRESSURE. Latency: none for a credit; one cycle for
// pressure. Throughput: one of each a cycle. Back-pressure: none, it only listens. Clock domain: clk; rst is the interface's.
`default_nettype none
module ff_tap_credit #(
    parameter [7:0] SOURCE = 8'd2 // enum event_source of whose interface it is: 0..255
) (
    input  wire        clk, rst,
    // a credit in this cycle: code of enum credit_code (1 sent, 2 taken, 3 and 4 refused)
    input  wire        credit_valid,
    input  wire [7:0]  credit_code,
    input  wire [6:0]  credit_flow,
    input  wire [39:0] credit_value,
    // the sender: blocked is up while it has words for a flow and no credit
    input  wire        blocked,
    input  wire [6:0]  blocked_flow,
    input  wire [39:0] blocked_free,  // free words it sees
    // event lanes
    output wire [1:0]  ev_valid,
    output wire [7:0]  ev_kind,
    output wire [15:0] ev_source, ev_code,
    output wire [13:0] ev_flow,
    output wire [79:0] ev_value
);
    localparam [3:0] CREDIT = 4'd4, PRESSURE = 4'd9;         // enum kind
    localparam [7:0] BEGIN = 8'd1, END = 8'd2;               // enum pressure_code

    // A sender that turns to another blocked flow ends the one and begins the other, an event each.
    reg        told_q;                                       // a begin was told and no end yet
    reg  [6:0] flow_q;
    wire ends = told_q && (!blocked || blocked_flow != flow_q);
    wire begins = !told_q && blocked;
    always @(posedge clk) begin
        if (begins) flow_q <= blocked_flow;
        told_q <= !rst && (begins || (told_q && !ends));
    end
    assign ev_valid = {ends || begins, credit_valid} & {2{!rst}};
    assign ev_kind = {PRESSURE, CREDIT};
    assign ev_source = {SOURCE, SOURCE};
    assign ev_code = {ends ? END : BEGIN, credit_code};
    assign ev_flow = {ends ? flow_q : blocked_flow, credit_flow};
    assign ev_value = {blocked_free, credit_value};
endmodule
`default_nettype wire
