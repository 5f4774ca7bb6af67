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
    output reg                      word_valid,
    output reg  [3:0]               word_kind,
    output reg  [63:0]              word_data,
    // of the clock domain: ff_time, ff_freeze or ff_freeze_remote
    input  wire [63:0]              now,          // number of this cycle
    input  wire                     arm,          // records from the next cycle on
    input  wire                     triggered_next, // triggered is up in the next cycle; only looked at with ALL_KINDS
    input  wire                     triggered,    // from the cycle after the first cause
    input  wire [15:0]              causes,       // latched causes
    input  wire [31:0]              since,        // cycles since the first cause
    input  wire                     drain,        // post drops in this cycle
    // configuration
    input  wire [15:0]              cfg_kinds,    // kinds recorded, one bit each
    input  wire [POST_W-1:0]        cfg_post,     // records after the cause, taken in the cycle of the cause
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
    always @(posedge clk) begin
        word_valid <= ALL_KINDS != 0 ? !empty : tap_valid && !rst;
        word_kind <= tap_kind;
        word_data <= tap_data;
        if (empty) {word_kind, word_data} <= {KIND_TIME, 64'd0};
    end

    // Counts up from the complement of post: a decrement needs a LUT a bit, an increment none. All ones is post used
    // up; a record and a drain in one cycle can pass it by one. spent_out_q says so one cycle on, when it counts.
    reg  [POST_W:0] spent_q;
    reg  spent_out_q, recording_q, after_word_q;
    reg  marked_q;                             // the last cycle was shut
    reg  [COUNT_W-1:0] stored_q, offered_q;
    reg  wrapped_q;                            // stored_q has a bit more than the slots; behind it, it counts on
    reg  [3:0] gap_q;                          // cycles since the previous record, 15 and more: 15
    wire shut = triggered && spent_out_q;

    wire word = word_valid && (ALL_KINDS != 0 || cfg_kinds[word_kind]);
    wire time_due = gap_q == 4'd14 && after_word_q;
    wire record = word || time_due;
    wire last = recording_q && marked_q;
    wire take = recording_q && !shut && word;

    // What is not written may be anything, so the data's selection is short: two levels of LUT with the record itself.
    wire [67:0] ending = marked_q ? {KIND_TIME, now} : {KIND_MARK, 16'd0, since, causes};
    assign wr_en = recording_q && (shut || record);
    assign wr_slot = stored_q[SLOT_W-1:0];
    generate if (ALL_KINDS != 0) begin : g_all_kinds
        wire marks = shut && !marked_q;
        wire [63:0] other = marks ? ending[63:0] : now;
        assign wr_record = {gap_q, word_kind & {2'b11, !marks, 1'b1}, word_data | (other & {64{!word}})};
        wire unused = &{1'b0, cfg_kinds, ending[67:64], sum[0]};
`ifdef FORMAL
        // A MARK and a TIME of the recorder's own hold nothing of a word.
        always @(posedge clk) if (!$initstate && recording_q && wr_en && !word)
            assert (wr_record[67:0] == (marks ? {KIND_MARK, 16'd0, since, causes} : {KIND_TIME, now}));
`endif
    end else begin : g_kinds
        assign wr_record = {gap_q, shut ? ending : word ? {word_kind, word_data} : {KIND_TIME, now}};
        wire unused = &{1'b0, shut_next, sum[0]};
    end endgenerate

    // A record is the carry into the sum, a drain its lowest bit.
    wire [POST_W+1:0] sum = {spent_q, 1'b1} + {{POST_W{1'b0}}, drain, record};
    wire [POST_W:0] spent = triggered ? sum[POST_W+1:1] : {1'b0, ~cfg_post};
    // 1 behind a record, else one more up to 15: a LUT a bit.
    wire full = &gap_q;
    wire [3:0] gap = {!wr_en && (gap_q[3] || &gap_q[2:0]), !wr_en && (full || gap_q[2] != &gap_q[1:0]),
        !wr_en && (full || gap_q[1] != gap_q[0]), wr_en || full || !gap_q[0]};
    wire spent_out = shut ? spent_out_q : spent[POST_W] || &spent[POST_W-1:0];
    assign shut_next = triggered_next && spent_out;
    always @(posedge clk) begin
        spent_out_q <= spent_out;
        spent_q <= spent;                      // behind its end nobody asks
        marked_q <= shut;
        gap_q <= gap;
        if (wr_en) begin
            after_word_q <= word;
            stored_q <= stored_q + {{COUNT_W-1{1'b0}}, 1'b1};
        end
        if (stored_q[SLOT_W]) wrapped_q <= 1'b1;
        if (take) offered_q <= offered_q + {{COUNT_W-1{1'b0}}, 1'b1};
        if (last) begin
            recording_q <= 1'b0;
            stat_closed <= 1'b1;
        end
        if (arm || rst) begin
            recording_q <= !rst;
            stat_closed <= 1'b0;
            marked_q <= 1'b0;
            gap_q <= 4'd15;
            after_word_q <= 1'b0;
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
        if (wr_en) told_time_q <= !take && (shut || wr_record[67:64] == KIND_TIME);
        if (arm || rst) told_time_q <= 1'b1;
        if (!$initstate && !rst) begin
            if (wr_en && recording_q && wr_record[71:68] == 4'd15) assert (told_time_q);
            if (stat_closed) assert (!wr_en);
            // what makes these hold by induction
            if (recording_q && !after_word_q) assert (told_time_q);
            if (recording_q && gap_q == 4'd15) assert (!after_word_q);
            if (recording_q && marked_q) assert (gap_q == 4'd1);
            assert (!(stat_closed && recording_q));
            if (stat_closed || marked_q) assert (triggered);
        end
    end
`endif
endmodule
`default_nettype wire
