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
    output reg                      stat_wrapped,
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
    localparam [3:0] KIND_MARK = 4'd13, KIND_TIME = 4'd15;

    // Where every word is recorded, the tap register is empty in any other cycle, and a record's upper bits, which neither
    // TIME nor MARK has, are the register's.
    wire shut_next;
    wire empty = ALL_KINDS != 0 && (rst || !tap_valid || shut_next);
    always @(posedge clk) begin
        word_valid <= tap_valid && !rst && !(ALL_KINDS != 0 && shut_next);
        word_kind <= tap_kind;
        word_data <= tap_data;
        if (empty) {word_kind, word_data} <= 68'd0;
    end

    // Counts up from the complement of post: a decrement needs a LUT a bit, an increment none. All ones is post used
    // up; a record and a drain in one cycle can pass it by one. spent_out_q says so one cycle on, when it counts.
    reg  [POST_W:0] spent_q;
    reg  spent_out_q, recording_q, marked_q, after_time_q;
    reg  [COUNT_W-1:0] stored_q, offered_q;
    reg  [3:0] gap_q;                          // cycles since the previous record, 15 and more: 15
    wire shut = triggered && spent_out_q;

    wire word = word_valid && (ALL_KINDS != 0 || cfg_kinds[word_kind]);
    wire time_due = gap_q == 4'd14 && !after_time_q;
    wire record = word || time_due;
    wire mark = recording_q && shut && !marked_q;
    wire last = recording_q && shut && marked_q;
    wire take = recording_q && !shut && word;

    // What is not written may be anything, so the data's selection is short: two levels of LUT with the record itself.
    wire [67:0] ending = marked_q ? {KIND_TIME, now} : {KIND_MARK, 16'd0, since, causes};
    assign wr_en = recording_q && (shut || record);
    assign wr_slot = stored_q[SLOT_W-1:0];
    generate if (ALL_KINDS != 0) begin : g_all_kinds
        wire [67:0] other = shut ? ending : {KIND_TIME, now};
        assign wr_record = {gap_q, {word_kind, word_data} | (other & {68{!word}})};
        wire unused = &{1'b0, cfg_kinds};
    end else begin : g_kinds
        assign wr_record = {gap_q, shut ? ending : word ? {word_kind, word_data} : {KIND_TIME, now}};
        wire unused = &{1'b0, shut_next};
    end endgenerate

    wire [1:0] spend = {record && drain, record != drain};
    wire [POST_W:0] spent = triggered ? spent_q + {{POST_W-1{1'b0}}, spend} : {1'b0, ~cfg_post};
    wire spent_out = shut ? spent_out_q : spent[POST_W] || &spent[POST_W-1:0];
    assign shut_next = triggered_next && spent_out;
    always @(posedge clk) begin
        spent_out_q <= spent_out;
        if (!shut) spent_q <= spent;
        if (wr_en) begin
            gap_q <= 4'd1;
            after_time_q <= shut ? marked_q : !word;
            stored_q <= stored_q + {{COUNT_W-1{1'b0}}, 1'b1};
            if (&wr_slot) stat_wrapped <= 1'b1;
        end else if (gap_q != 4'd15) gap_q <= gap_q + 4'd1;
        if (take) offered_q <= offered_q + {{COUNT_W-1{1'b0}}, 1'b1};
        if (mark) marked_q <= 1'b1;
        if (last) begin
            recording_q <= 1'b0;
            stat_closed <= 1'b1;
        end
        if (arm || rst) begin
            recording_q <= !rst;
            stat_closed <= 1'b0;
            marked_q <= 1'b0;
            gap_q <= 4'd15;
            after_time_q <= 1'b1;
            stored_q <= {COUNT_W{1'b0}};
            offered_q <= {COUNT_W{1'b0}};
            stat_wrapped <= 1'b0;
        end
    end

    assign stat_write_ptr = wr_slot;
    assign stat_stored = {{32-COUNT_W{1'b0}}, stored_q};
    assign stat_offered = {{32-COUNT_W{1'b0}}, offered_q};

`ifdef FORMAL
    reg told_time_q; // the previous record since arm is TIME, or there is none
    always @(posedge clk) begin
        if (wr_en) told_time_q <= wr_record[67:64] == KIND_TIME && !take;
        if (arm || rst) told_time_q <= 1'b1;
        if (!$initstate && !rst) begin
            if (wr_en && wr_record[71:68] == 4'd15) assert (told_time_q);
            if (stat_closed) assert (!wr_en);
            // what makes these hold by induction
            if (recording_q) assert (after_time_q == told_time_q);
            if (recording_q && gap_q == 4'd15) assert (after_time_q);
            assert (!(stat_closed && recording_q));
        end
    end
`endif
endmodule
`default_nettype wire
