// SPDX-License-Identifier: Apache-2.0
// ff_tap_recorder: records the words of one tap with their time, and closes its memory behind a freeze cause.
//
// Implements rules 1 to 5 and 7 of docs/formats.md section 2; the memory is an ff_trace_memory at the wr_ port.
// Latency: a word stands in the tap register (word_*) one cycle after tap_valid and is written at the end of that
// cycle. Throughput: one word a cycle, none is lost. Back-pressure: none; no path leads back to the tap. Clock domain: clk.
`default_nettype none
module ff_tap_recorder #(
    parameter DEPTH = 2048,  // records of the memory, a power of two, 16..16384
    parameter POST_W = 32,   // bits of cfg_post, 1..32
    parameter COUNT_W = 32,  // bits of stored and offered, log2(DEPTH)+1..32: they count modulo 2^COUNT_W
    parameter ALL_KINDS = 0  // 1: cfg_kinds is not looked at, every kind is recorded
) (
    input  wire                     clk, rst,     // the recorder's own reset, synchronous
    // tap: accepted words only
    input  wire                     tap_valid,
    input  wire [3:0]               tap_kind,
    input  wire [63:0]              tap_data,
    // tap register, for the trigger
    output wire                     word_valid,
    output reg  [3:0]               word_kind,
    output reg  [63:0]              word_data,
    // of the clock domain: ff_time, ff_freeze or ff_freeze_remote
    input  wire [63:0]              now,          // number of this cycle
    input  wire                     arm,          // records from the next cycle on
    input  wire                     triggered_next, // triggered is up in the next cycle
    input  wire                     triggered,    // from the cycle after the first cause
    input  wire [15:0]              causes,       // latched causes
    input  wire [31:0]              since,        // cycles since the first cause
    input  wire                     drain,        // post drops in this cycle
    // configuration
    input  wire [15:0]              cfg_kinds,    // kinds recorded, one bit each
    input  wire [POST_W-1:0]        cfg_post,     // records after the cause, as they are when it arises: the cycle before its own
    // memory
    output wire                     wr_en,
    output wire [$clog2(DEPTH)-1:0] wr_slot,
    output wire [71:0]              wr_record,
    // status
    output wire [$clog2(DEPTH)-1:0] stat_write_ptr,
    output wire                     stat_wrapped,
    output wire [31:0]              stat_stored, stat_offered,
    output reg                      stat_closed
);
    localparam SLOT_W = $clog2(DEPTH);
    generate
        if (DEPTH < 16 || DEPTH > 16384 || (DEPTH & (DEPTH - 1)) != 0) begin : g_check_DEPTH
            ff_error_DEPTH_must_be_a_power_of_two_from_16_to_16384 stop (); // none such
        end
        if (POST_W < 1 || POST_W > 32) begin : g_check_POST_W
            ff_error_POST_W_must_be_1_to_32 stop (); // none such
        end
        if (ALL_KINDS != 0 && ALL_KINDS != 1) begin : g_check_ALL_KINDS
            ff_error_ALL_KINDS_must_be_0_or_1 stop (); // none such
        end
        if (COUNT_W < SLOT_W + 1 || COUNT_W > 32) begin : g_check_COUNT_W
            ff_error_COUNT_W_must_be_log2_DEPTH_plus_1_to_32 stop (); // none such
        end
    endgenerate
    localparam [3:0] KIND_MARK = 4'd13, KIND_TIME = 4'd15; // MARK lacks bit 1

    // Where every word is recorded, the tap register is empty in any other cycle: kind TIME, which is MARK's but for a bit, and
    // data 0, so that a record's upper bits, which neither TIME nor MARK has, are the register's.
    wire shut_next;
    wire empty = ALL_KINDS != 0 && (!tap_valid || shut_next);
    reg  none_q;                               // no word stands there
    assign word_valid = !none_q;
    always @(posedge clk) begin
        none_q <= ALL_KINDS != 0 ? empty : !tap_valid || rst;
        word_kind <= tap_kind;
        word_data <= tap_data;
        if (empty) {word_kind, word_data} <= {KIND_TIME, 64'd0};
    end

    // What is spent of post: records and drains since the cause, less one where post is odd: minus one is owed, then 2 pairs_q +
    // odd_q. So post is used up when the pairs are post's upper bits, though a record and a drain in one cycle can pass it by
    // one: a comparison of equality, which needs no subtraction.
    localparam PAIRS_W = POST_W > 1 ? POST_W - 1 : 1;
    reg  [POST_W-1:0] post_q;
    reg  [PAIRS_W-1:0] pairs_q;
    reg  owed_q, odd_q;
    reg  shut_q;                               // post is used up: acceptance is shut
    reg  marked_q;                             // the last cycle was shut
    reg  armed_q;                              // since rst
    reg  after_none_q;                         // the last record is no word's, or there is none
    reg  [COUNT_W-1:0] stored_q, offered_q;
    reg  wrapped_q;                            // stored_q has a bit more than the slots; behind it, it counts on
    reg  [3:0] gap_q;                          // cycles since the previous record, 15 and more: 15
    wire recording = armed_q && !stat_closed;

    wire word = word_valid && (ALL_KINDS != 0 || cfg_kinds[word_kind]);
    wire time_due = gap_q == 4'd14 && !after_none_q;
    wire record;
    ff_node i_record (.d(word || time_due), .q(record));
    wire take = recording && !shut_q && word;

    // What is not written may be anything, so the data's selection is short: two levels of LUT with the record itself.
    wire [67:0] ending = marked_q ? {KIND_TIME, now} : {KIND_MARK, 16'd0, since, causes};
    wire writes = recording && (shut_q || record);
    ff_node i_wr_en (.d(writes), .q(wr_en)); // so that it is one wire to each of its users
    assign wr_slot = stored_q[SLOT_W-1:0];
    generate if (ALL_KINDS != 0) begin : g_all_kinds
        wire marks = shut_q && !marked_q;
        wire [63:0] other = marks ? ending[63:0] : now;
        assign wr_record = {gap_q, word_kind & {2'b11, !marks, 1'b1}, word_data | (other & {64{!word}})};
        wire unused = &{1'b0, cfg_kinds, ending[67:64], sum[0], wide_post};
`ifdef FORMAL
        // A MARK and a TIME of the recorder's own hold nothing of a word.
        always @(posedge clk) if (!$initstate && recording && wr_en && !word)
            assert (wr_record[67:0] == (marks ? {KIND_MARK, 16'd0, since, causes} : {KIND_TIME, now}));
`endif
    end else begin : g_kinds
        assign wr_record = {gap_q, shut_q ? ending : word ? {word_kind, word_data} : {KIND_TIME, now}};
        wire unused = &{1'b0, shut_next, sum[0], wide_post};
    end endgenerate

    // owed_q, odd_q and what this cycle spends, up to three, are a pair and what is left.
    wire one = record != drain, two = record && drain;
    wire pair = triggered && !owed_q && (odd_q ? record || drain : two);
    wire owed;
    ff_node i_owed (.d(triggered ? owed_q && !record && !drain : post_q[0]), .q(owed));
    wire [PAIRS_W:0] sum = {pairs_q, pair} + {{PAIRS_W{1'b0}}, pair}; // its lowest bit makes the carry, in no LUT
    wire [PAIRS_W-1:0] pairs = sum[PAIRS_W:1];
    wire [POST_W:0] wide_post = {1'b0, post_q};
    wire [PAIRS_W-1:0] wanted = wide_post[PAIRS_W:1];
    // 1 behind a record, else one more up to 15: a LUT a bit.
    wire full = &gap_q;
    wire [3:0] gap = {!wr_en && (gap_q[3] || &gap_q[2:0]), !wr_en && (full || gap_q[2] != &gap_q[1:0]),
        !wr_en && (full || gap_q[1] != gap_q[0]), wr_en || full || !gap_q[0]};
    localparam GROUPS = PAIRS_W / 3;           // three bits are compared in a LUT, what is left over beside the result
    wire [PAIRS_W-1:0] unlike = pairs ^ wanted;
    wire [GROUPS:0] differ;
    assign differ[GROUPS] = |(unlike >> 3 * GROUPS);
    genvar g;
    generate for (g = 0; g < GROUPS; g = g + 1) begin : g_differ
        ff_node i_differ (.d(|unlike[3*g +: 3]), .q(differ[g]));
    end endgenerate
    wire spent_out;
    ff_node i_spent_out (.d(shut_q || (differ == {GROUPS+1{1'b0}} && !owed)), .q(spent_out));
    assign shut_next = triggered_next && spent_out;
    always @(posedge clk) begin
        shut_q <= shut_next;
        owed_q <= owed;
        odd_q <= triggered && (owed_q ? two : odd_q ? !one : one);
        pairs_q <= pairs;                      // behind its end nobody asks
        if (!triggered_next) begin
            post_q <= cfg_post;
            odd_q <= 1'b0;
            pairs_q <= {PAIRS_W{1'b0}};
        end
        marked_q <= shut_q;
        gap_q <= gap;
        if (arm) armed_q <= 1'b1;
        if (rst) armed_q <= 1'b0;
        if (marked_q) stat_closed <= 1'b1;     // MARK in the last cycle, TIME in this one
        if (wr_en) begin
            after_none_q <= !word;
            stored_q <= stored_q + {{COUNT_W-1{1'b0}}, 1'b1};
        end
        if (stored_q[SLOT_W]) wrapped_q <= 1'b1;
        if (take) offered_q <= offered_q + {{COUNT_W-1{1'b0}}, 1'b1};
        if (arm || rst) begin
            stat_closed <= 1'b0;
            marked_q <= 1'b0;
            gap_q <= 4'd15;
            after_none_q <= 1'b1;
            stored_q <= {COUNT_W{1'b0}};
            offered_q <= {COUNT_W{1'b0}};
            wrapped_q <= 1'b0;
        end
    end

    assign stat_write_ptr = wr_slot;
    assign stat_wrapped = wrapped_q || stored_q[SLOT_W];
    assign stat_stored = {{32-COUNT_W{1'b0}}, stored_q};
    assign stat_offered = {{32-COUNT_W{1'b0}}, offered_q};

`ifdef FORMAL
    reg told_time_q; // the previous record since arm is TIME or MARK, or there is none
    always @(posedge clk) begin
        if (wr_en) told_time_q <= !take && (shut_q || wr_record[67:64] == KIND_TIME);
        if (arm || rst) told_time_q <= 1'b1;
        if (!$initstate && !rst) begin
            if (wr_en && recording && wr_record[71:68] == 4'd15) assert (told_time_q);
            if (stat_closed) assert (!wr_en);
            // what makes these hold by induction
            if (recording && after_none_q) assert (told_time_q);
            if (recording && gap_q == 4'd15) assert (after_none_q);
            if (recording && marked_q) assert (gap_q == 4'd1);
            if (stat_closed || marked_q) assert (triggered);
        end
    end
`endif
endmodule
`default_nettype wire
