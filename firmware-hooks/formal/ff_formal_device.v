// SPDX-License-Identifier: Apache-2.0
// ff_formal_device: freeze controller, a tap recorder, an event log and their memories in one clock domain, for proofs.
//
// Everything from outside is free in every cycle: words, events, causes, register writes, the reset behind the first cycle.
// One slot of each memory is watched; which one, the solver chooses.
`default_nettype none
module ff_formal_device #(
    parameter TAP = 1, // 1: with the tap recorder
    parameter LOG = 1  // 1: with the event log
) (
    input wire         clk, rst,
    input wire         wr_arm, wr_freeze,
    input wire [31:0]  wr_data,
    input wire [15:0]  cfg_cause_mask, causes_in,
    input wire         cfg_hold, cross_in, peer_frozen,
    input wire [15:0]  cfg_kinds,
    input wire [3:0]   cfg_post,
    input wire         tap_valid,
    input wire [3:0]   tap_kind,
    input wire [63:0]  tap_data,
    input wire [1:0]   ev_valid,
    input wire [7:0]   ev_kind,
    input wire [15:0]  ev_code,
    input wire [13:0]  ev_flow,
    input wire [79:0]  ev_value
);
    reg [63:0] now = 64'd0;
    always @(posedge clk) now <= rst ? 64'd0 : now + 64'd1;
    always @* if ($initstate) assume (rst);

    wire arm, next, triggered, drain, frozen;
    wire [15:0] causes;
    wire [31:0] since;
    wire tap_closed, log_closed;
    ff_freeze #(.MEMORIES({LOG[0], 3'b000, TAP[0]}), .FAR(5'b00000), .CROSS_LATENCY(2), .POST_DRAIN(4)) i_freeze (
        .clk(clk), .rst(rst), .now(now), .wr_arm(wr_arm), .wr_freeze(wr_freeze), .wr_data(wr_data),
        .cfg_cause_mask(cfg_cause_mask), .cfg_hold(cfg_hold), .causes_in(causes_in), .far_level(1'b0), .far_causes(16'd0),
        .far_armed(1'b0), .arm_toggle(), .level(), .cross_in(cross_in), .cross_out(), .peer_frozen(peer_frozen),
        .frozen_level(), .arm(arm), .triggered_next(next), .triggered(triggered), .causes(causes), .since(since), .drain(drain),
        .closed({log_closed, 3'b000, tap_closed}), .frozen(frozen), .hold(), .stat_generation(), .stat_state(),
        .stat_closed(), .stat_cause_cycle());

    // A read port shows in each cycle what the watched slot held in the one before.
    (* anyconst *) wire [3:0] watched;
    wire [71:0] tap_seen, log_seen;
    generate if (TAP == 1) begin : g_tap
        wire wr_en;
        wire [3:0] wr_slot;
        wire [71:0] wr_record;
        ff_tap_recorder #(.DEPTH(16), .POST_W(4)) i_tap (
            .clk(clk), .rst(rst), .tap_valid(tap_valid), .tap_kind(tap_kind), .tap_data(tap_data), .word_valid(),
            .word_kind(), .word_data(), .now(now), .arm(arm), .triggered_next(next), .triggered(triggered), .causes(causes), .since(since),
            .drain(drain), .cfg_kinds(cfg_kinds), .cfg_post(cfg_post), .wr_en(wr_en), .wr_slot(wr_slot),
            .wr_record(wr_record), .stat_write_ptr(), .stat_wrapped(), .stat_stored(), .stat_offered(),
            .stat_closed(tap_closed));
        ff_trace_memory #(.DEPTH(16)) i_memory (
            .wr_clk(clk), .wr_en(wr_en), .wr_slot(wr_slot), .wr_record(wr_record), .rd_clk(clk), .rd_en(1'b1),
            .rd_slot(watched), .rd_record(tap_seen));
    end else begin : g_no_tap
        assign tap_closed = 1'b0;
        assign tap_seen = 72'd0;
    end
    if (LOG == 1) begin : g_log
        wire wr_en;
        wire [3:0] wr_slot;
        wire [71:0] wr_record;
        ff_event_log #(.SOURCES(2), .DEPTH(16), .PLACES(4), .POST_W(4)) i_log (
            .clk(clk), .rst(rst), .ev_valid(ev_valid), .ev_kind(ev_kind), .ev_source(16'h0201), .ev_code(ev_code),
            .ev_flow(ev_flow), .ev_value(ev_value), .now(now), .arm(arm), .triggered(triggered), .causes(causes),
            .since(since), .drain(drain), .cfg_kinds(cfg_kinds), .cfg_post(cfg_post), .wr_en(wr_en), .wr_slot(wr_slot),
            .wr_record(wr_record), .stat_write_ptr(), .stat_wrapped(), .stat_stored(), .stat_offered(), .stat_lost(),
            .stat_closed(log_closed), .lost_now());
        ff_trace_memory #(.DEPTH(16)) i_memory (
            .wr_clk(clk), .wr_en(wr_en), .wr_slot(wr_slot), .wr_record(wr_record), .rd_clk(clk), .rd_en(1'b1),
            .rd_slot(watched), .rd_record(log_seen));
    end else begin : g_no_log
        assign log_closed = 1'b0;
        assign log_seen = 72'd0;
    end endgenerate

    reg still_q = 1'b0, still_before_q = 1'b0; // frozen, and not to be left, in the cycle before and the one before that
    always @(posedge clk) begin
        still_q <= frozen && !arm && !rst;
        still_before_q <= still_q;
        if (!$initstate) begin
            if (still_q) assert (frozen);
            if (still_q && still_before_q) begin
                assert (tap_seen == $past(tap_seen));
                assert (log_seen == $past(log_seen));
            end
        end
    end
endmodule
`default_nettype wire
