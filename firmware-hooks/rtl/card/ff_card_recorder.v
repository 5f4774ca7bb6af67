// SPDX-License-Identifier: Apache-2.0
// ff_card_recorder: records the words of a card's tap with their time, and closes its memory behind a freeze cause.
//
// Implements rules 1 to 5 and 7 of docs/formats.md section 2 with the MARK of docs/card-map.md section 5. It has no tap
// register of its own: a word stands at word_* in the cycle it is written, from flip-flops where the clock is fast.
// Latency: none. Throughput: one word a cycle, none is lost. Back-pressure: none. Clock domain: clk.
`default_nettype none
module ff_card_recorder #(
    parameter DEPTH = 2048,  // records of the memory, a power of two, 16..65536
    parameter POST_W = 32,   // bits of cfg_post, 4..32
    parameter COUNT_W = 32   // bits of stored and offered, log2(DEPTH)+1..32: they count modulo 2^COUNT_W
) (
    input  wire                     clk, rst,       // the recorder's own reset, synchronous
    // a word that is to be recorded
    input  wire                     word,
    input  wire [3:0]               word_kind,
    input  wire [63:0]              word_data,
    input  wire [7:0]               pending,        // beats from before this cycle that wait for a record
    // of the clock domain
    input  wire [63:0]              now,            // number of this cycle
    input  wire                     arm,            // records from the next cycle on
    input  wire                     triggered_next, // triggered is up in the next cycle
    input  wire                     triggered,      // from the cycle after the first cause
    input  wire [23:0]              causes,         // latched causes
    input  wire [31:0]              since,          // cycles since the first cause
    input  wire                     drain,          // post drops in this cycle
    input  wire [POST_W-1:0]        cfg_post,       // records after the cause; still from two cycles before the cause's own on
    // memory; wr_word: the record is a word's, and side lanes are written
    output wire                     wr_en, wr_word,
    output wire [$clog2(DEPTH)-1:0] wr_slot,
    output wire [71:0]              wr_record,
    // status
    output wire                     stat_wrapped,
    output wire [31:0]              stat_stored, stat_offered,
    output reg                      stat_closed
);
    localparam SLOT_W = $clog2(DEPTH);
    generate
        if (DEPTH < 16 || DEPTH > 65536 || (DEPTH & (DEPTH - 1)) != 0) begin : g_check_DEPTH
            ff_error_DEPTH_must_be_a_power_of_two_from_16_to_65536 stop (); // none such
        end
        if (POST_W < 4 || POST_W > 32) begin : g_check_POST_W
            ff_error_POST_W_must_be_4_to_32 stop (); // none such
        end
        if (COUNT_W < SLOT_W + 1 || COUNT_W > 32) begin : g_check_COUNT_W
            ff_error_COUNT_W_must_be_log2_DEPTH_plus_1_to_32 stop (); // none such
        end
    endgenerate
    localparam [3:0] KIND_MARK = 4'd13, KIND_TIME = 4'd15;

    reg  armed_q;                              // since rst
    reg  shut_q;                               // post is used up: acceptance is shut
    reg  marked_q;                             // the last cycle was shut
    reg  after_none_q;                         // the last record is no word's, or there is none
    reg  due_q;                                // TIME is due, unless a word comes
    reg  [3:0] gap_q;                          // cycles since the previous record, 15 and more: 15
    reg  [COUNT_W-1:0] stored_q, offered_q;
    reg  wrapped_q;                            // stored_q has a bit more than the slots; behind it, it counts on
    wire recording = armed_q && !stat_closed;
    wire record = word || due_q;

    assign wr_en = recording && (shut_q || record);
    assign wr_word = recording && !shut_q && word;
    assign wr_slot = stored_q[SLOT_W-1:0];
    // What is not written may be anything: a LUT a bit.
    wire [67:0] mark = {KIND_MARK, causes[23:16], pending, since, causes[15:0]};
    assign wr_record = {gap_q, shut_q ? (marked_q ? {KIND_TIME, now} : mark) : word ? {word_kind, word_data} : {KIND_TIME, now}};

    // What is left of post is 8 blocks + low_q. A cycle spends two at most, so low_q has room for the three cycles in which a
    // block is fetched and the blocks fetched are compared with those there are: no long path ends in shut_q.
    localparam HIGH_W = POST_W - 3;
    reg  [HIGH_W-1:0] post_q, fetched_q;
    reg  [3:0] low_q;
    reg  more_q;                               // there are blocks to fetch; right from two cycles behind a fetch on
    reg  [1:0] fetched_last_q;                 // a block was fetched one, two cycles ago
    wire fetch = triggered && more_q && !low_q[3] && fetched_last_q == 2'd0;
    wire [1:0] spend = {triggered && record && drain, triggered && (record != drain)};
    wire enough = low_q > {2'd0, spend};
    localparam GROUPS = (HIGH_W + 2) / 3;      // three bits are compared in a LUT: left alone, synthesis takes twice as many
    wire [3*GROUPS-1:0] unlike = {{3*GROUPS-HIGH_W{1'b0}}, fetched_q ^ post_q};
    wire [GROUPS-1:0] differ;
    genvar g;
    generate for (g = 0; g < GROUPS; g = g + 1) begin : g_differ
        ff_node i_differ (.d(|unlike[3*g +: 3]), .q(differ[g]));
    end endgenerate
    wire shut_next = triggered_next && (shut_q || (!more_q && !enough));

    // 1 behind a record, else one more up to 15: a LUT a bit.
    wire full = &gap_q;
    wire [3:0] gap = {!wr_en && (gap_q[3] || &gap_q[2:0]), !wr_en && (full || gap_q[2] != &gap_q[1:0]),
        !wr_en && (full || gap_q[1] != gap_q[0]), wr_en || full || !gap_q[0]};
    always @(posedge clk) begin
        shut_q <= shut_next;
        low_q <= low_q - {2'd0, spend} + {fetch, 3'd0};
        fetched_last_q <= {fetched_last_q[0], fetch};
        if (fetch) fetched_q <= fetched_q + {{HIGH_W-1{1'b0}}, 1'b1};
        more_q <= differ != {GROUPS{1'b0}};
        if (!triggered_next) begin
            {post_q, low_q} <= {cfg_post[POST_W-1:3], 1'b0, cfg_post[2:0]};
            fetched_q <= {HIGH_W{1'b0}};
            fetched_last_q <= 2'd0;
        end
        marked_q <= shut_q;
        gap_q <= gap;
        due_q <= gap_q == 4'd13 && !after_none_q && !wr_en;
        if (arm) armed_q <= 1'b1;
        if (rst) armed_q <= 1'b0;
        if (marked_q) stat_closed <= 1'b1;     // MARK in the last cycle, TIME in this one
        if (wr_en) begin
            after_none_q <= !word;
            stored_q <= stored_q + {{COUNT_W-1{1'b0}}, 1'b1};
        end
        if (stored_q[SLOT_W]) wrapped_q <= 1'b1;
        if (wr_word) offered_q <= offered_q + {{COUNT_W-1{1'b0}}, 1'b1};
        if (arm || rst) begin
            stat_closed <= 1'b0;
            marked_q <= 1'b0;
            gap_q <= 4'd15;
            due_q <= 1'b0;
            after_none_q <= 1'b1;
            stored_q <= {COUNT_W{1'b0}};
            offered_q <= {COUNT_W{1'b0}};
            wrapped_q <= 1'b0;
        end
    end

    assign stat_wrapped = wrapped_q || stored_q[SLOT_W];
    assign stat_stored = {{32-COUNT_W{1'b0}}, stored_q};
    assign stat_offered = {{32-COUNT_W{1'b0}}, offered_q};

`ifdef FORMAL
    reg told_time_q; // the previous record since arm is TIME or MARK, or there is none
    always @(posedge clk) begin
        if (wr_en) told_time_q <= !wr_word && (shut_q || wr_record[67:64] == KIND_TIME);
        if (arm || rst) told_time_q <= 1'b1;
        if (!$initstate && !rst) begin
            if (wr_en && wr_record[71:68] == 4'd15) assert (told_time_q);
            if (stat_closed) assert (!wr_en);
            // a word that is accepted is written as it is, in its own cycle
            if (recording && !shut_q && word) assert (wr_en && wr_record[67:0] == {word_kind, word_data});
            // MARK, then TIME, then closed; and nothing of it without a cause
            if (recording && shut_q) assert (wr_en && wr_record[67:0] == (marked_q ? {KIND_TIME, now} : mark));
            if ($past(recording && shut_q && marked_q && !arm && !rst)) assert (stat_closed);
            if (shut_q) assert (triggered);
            if (recording && marked_q) assert (shut_q);
            // what makes these hold by induction
            if (recording && after_none_q) assert (told_time_q);
            if (recording && gap_q == 4'd15) assert (after_none_q);
            if (recording) assert (due_q == (gap_q == 4'd14 && !after_none_q));
            if (recording && marked_q) assert (gap_q == 4'd1);
        end
    end
`endif
endmodule
`default_nettype wire
