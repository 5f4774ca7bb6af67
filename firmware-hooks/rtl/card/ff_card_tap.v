// SPDX-License-Identifier: Apache-2.0
// ff_card_tap: one tap of a card: its stream as words, their recorder, and a memory for each 64 bits under one write pointer.
//
// Latency: a beat stands in the tap register one cycle after it, with FAST two, with STORE three; in that cycle its record is written.
// Throughput: one beat a cycle, none is lost. Back-pressure: none, it only listens. Clock domains: clk; the memories are read in
// rd_clk, while frozen.
`default_nettype none
module ff_card_tap #(
    parameter BITS = 64,     // of the stream: 8, 16, 32, or a multiple of 64 up to 1024
    parameter KEEP = 1,      // 0 none, 1 runs from byte 0, 2 any
    parameter USER_W = 0,    // bits of tuser, 0..8; 0: none
    parameter BAD_BIT = 0,   // the one that is recorded
    parameter READY = 1,     // 0: tready is not looked at
    parameter LAST = 1,      // 0: words without packets
    parameter LOOSE = 0,     // 1: narrow beats are packed across gaps
    parameter FAST = 0,      // 1: a second register, for fast clocks; the same bits
    parameter STORE = 0,     // 0: every word; 1: a SUM for each packet; more: so many first bytes of each, and SUM
    parameter DEPTH = 2048,  // records, a power of two, 16..65536
    parameter POST_W = 16,   // as ff_card_recorder
    parameter COUNT_W = 32,  // as ff_card_recorder
    parameter CAUSES = 24    // 12..24
) (
    input  wire                clk, rst,
    input  wire                tvalid, tready, tlast,
    input  wire [BITS-1:0]     tdata,
    input  wire [BITS/8-1:0]   tkeep,
    input  wire [(USER_W > 0 ? USER_W : 1)-1:0] tuser,
    // of the clock domain
    input  wire [63:0]         now,
    input  wire                arm, triggered_next, triggered,
    input  wire [CAUSES-1:0]   causes,
    input  wire [31:0]         since,
    input  wire                drain,
    // configuration
    input  wire [POST_W-1:0]   cfg_post,
    input  wire [15:0]         cfg_kinds,
    // status
    output wire [$clog2(DEPTH)-1:0] stat_write_ptr,
    output wire                stat_wrapped,
    output wire [31:0]         stat_stored, stat_offered,
    output wire                stat_closed,
    // what is recorded, for the trigger
    output wire                word_valid,
    output wire [3:0]          word_kind,
    output wire [63:0]         word_data,
    // memories
    input  wire                rd_clk,
    input  wire [(BITS > 64 && STORE != 1 ? BITS / 64 : 1)-1:0] rd_en,
    input  wire [$clog2(DEPTH)-1:0] rd_slot,
    output wire [(BITS > 64 && STORE != 1 ? BITS / 64 : 1)*72-1:0] rd_record
);
    localparam LANES = BITS > 64 && STORE != 1 ? BITS / 64 : 1, SIDE = 72 * (LANES - 1) + 8;
    generate
        if (USER_W < 0 || USER_W > 8 || (USER_W > 0 && BAD_BIT >= USER_W)) begin : g_check_USER_W
            ff_error_USER_W_must_be_0_to_8_and_BAD_BIT_below_it stop (); // none such
        end
        if (CAUSES < 12 || CAUSES > 24) begin : g_check_CAUSES
            ff_error_CAUSES_must_be_12_to_24 stop (); // none such
        end
        if (STORE < 0 || STORE > 65535 || (STORE != 0 && LAST == 0)) begin : g_check_STORE
            ff_error_STORE_must_be_0_to_65535_and_needs_LAST stop (); // none such
        end
    endgenerate
    wire user;
    generate if (USER_W > 0) begin : g_user
        assign user = tuser[BAD_BIT];
    end else begin : g_no_user
        assign user = 1'b0;
    end endgenerate
    wire beat = tvalid && (tready || READY == 0);
    wire [7:0]  pending;
    wire [SIDE-1:0] lanes;
    wire        beat_valid, sum_valid;
    wire [3:0]  beat_kind;
    wire [63:0] beat_data, sum_data;
    wire [7:0]  beat_pending, sum_pending;
    wire [SIDE-1:0] beat_lanes;
    generate if (STORE != 1) begin : g_beats
        ff_tap_beats #(.BITS(BITS), .KEEP(KEEP), .LAST(LAST), .LOOSE(LOOSE)) i_beats (
            .clk(clk), .rst(rst), .arm(arm), .beat(beat), .beat_last(tlast), .beat_user(user), .beat_data(tdata), .beat_keep(tkeep),
            .word_valid(beat_valid), .word_kind(beat_kind), .word_data(beat_data), .pending(beat_pending), .word_lanes(beat_lanes)
        );
    end else begin : g_no_beats
        assign {beat_valid, beat_kind, beat_data, beat_pending, beat_lanes} = {77+SIDE{1'b0}};
    end
    if (STORE != 0) begin : g_summary
        ff_tap_summary #(.BITS(BITS), .KEEP(KEEP)) i_summary (
            .clk(clk), .rst(rst), .arm(arm), .beat(beat), .beat_last(tlast), .beat_user(user), .beat_data(tdata), .beat_keep(tkeep),
            .sum_valid(sum_valid), .sum_data(sum_data), .pending(sum_pending)
        );
    end else begin : g_no_summary
        assign {sum_valid, sum_data, sum_pending} = 73'd0;
    end
    if (STORE == 1) begin : g_sums
        assign {word_valid, word_kind, word_data, pending, lanes} = {sum_valid, 4'd8, sum_data, sum_pending, beat_lanes};
    end else if (STORE != 0) begin : g_first
        ff_tap_first #(.FIRST(STORE), .SIDE(SIDE)) i_first (
            .clk(clk), .rst(rst), .arm(arm), .word_valid(beat_valid), .word_kind(beat_kind), .word_data(beat_data),
            .word_lanes(beat_lanes), .pending(beat_pending), .sum_data(sum_data), .out_valid(word_valid), .out_kind(word_kind),
            .out_data(word_data), .out_lanes(lanes), .out_pending(pending)
        );
    end else if (FAST != 0) begin : g_fast
        reg valid_q;
        reg [3:0] kind_q;
        reg [63:0] data_q;
        reg [7:0] pending_q;
        reg [SIDE-1:0] lanes_q;
        always @(posedge clk) begin
            valid_q <= beat_valid && !rst && !arm;
            {kind_q, data_q, lanes_q} <= {beat_kind, beat_data, beat_lanes};
            pending_q <= arm ? 8'd0 : beat_pending;
        end
        assign {word_valid, word_kind, word_data, pending, lanes} = {valid_q, kind_q, data_q, pending_q, lanes_q};
`ifdef FORMAL
        reg earlier_q; // what stands in the second register came before the arm
        always @(posedge clk) begin
            earlier_q <= arm;
            if (!$initstate && earlier_q) assert (!word_valid && pending == 8'd0);
            if (!$initstate && !$past(rst || arm)) assert (word_valid == $past(beat_valid) && (!word_valid ||
                {word_kind, word_data} == {$past(beat_kind), $past(beat_data)})); // the plain recorder's word, a cycle later
        end
`endif
    end else begin : g_plain
        assign {word_valid, word_kind, word_data, pending, lanes} = {beat_valid, beat_kind, beat_data, beat_pending, beat_lanes};
    end endgenerate

    wire        wr_en, wr_word;
    wire [71:0] wr_record;
    wire [$clog2(DEPTH)-1:0] wr_slot;
    ff_card_recorder #(.DEPTH(DEPTH), .POST_W(POST_W), .COUNT_W(COUNT_W)) i_recorder (
        .clk(clk), .rst(rst), .word(word_valid && cfg_kinds[word_kind]), .word_kind(word_kind), .word_data(word_data),
        .pending(pending), .now(now), .arm(arm), .triggered_next(triggered_next), .triggered(triggered),
        .causes({{24-CAUSES{1'b0}}, causes}), .since(since), .drain(drain), .cfg_post(cfg_post), .wr_en(wr_en), .wr_word(wr_word),
        .wr_slot(wr_slot), .wr_record(wr_record), .stat_wrapped(stat_wrapped), .stat_stored(stat_stored),
        .stat_offered(stat_offered), .stat_closed(stat_closed)
    );
    assign stat_write_ptr = wr_slot;
    ff_trace_memory #(.DEPTH(DEPTH)) i_memory (
        .wr_clk(clk), .wr_en(wr_en), .wr_slot(wr_slot), .wr_record(wr_record), .rd_clk(rd_clk), .rd_en(rd_en[0]), .rd_slot(rd_slot),
        .rd_record(rd_record[71:0])
    );
    genvar k;
    generate for (k = 1; k < LANES; k = k + 1) begin : g_lane
        ff_trace_memory #(.DEPTH(DEPTH)) i_memory (
            .wr_clk(clk), .wr_en(wr_word), .wr_slot(wr_slot), .wr_record(lanes[72*k-72 +: 72]), .rd_clk(rd_clk), .rd_en(rd_en[k]),
            .rd_slot(rd_slot), .rd_record(rd_record[72*k +: 72])
        );
    end endgenerate
    wire unused = &{1'b0, tready, tuser, lanes, wr_word, sum_valid, sum_data, sum_pending, beat_valid, beat_kind, beat_data,
        beat_pending, beat_lanes};
endmodule
`default_nettype wire
