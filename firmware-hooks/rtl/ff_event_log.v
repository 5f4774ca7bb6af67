// SPDX-License-Identifier: Apache-2.0
// ff_event_log: records the events of all sources, any number in one cycle, through a FIFO that tells what it lost.
//
// Implements rules 1 to 7 of docs/formats.md section 2, above all 6; the memory is an ff_trace_memory at the wr_ port.
// Latency: an event stands in the event register one cycle after ev_valid, enters the FIFO at the end of that cycle and
// is written to the memory one cycle later at the earliest. Throughput: SOURCES events a cycle until the FIFO is full,
// one a cycle for ever. Back-pressure: none; what finds no room is counted and told by a LOSS record. Clock domain: clk.
`default_nettype none
module ff_event_log #(
    parameter SOURCES = 6,   // lanes, 1..32; those of one cycle are logged in order of their number
    parameter DEPTH = 2048,  // records of the memory, a power of two, 16..16384
    parameter PLACES = 32,   // records the FIFO holds, even, 4..256
    parameter POST_W = 32    // bits of cfg_post, 1..32
) (
    input  wire                     clk, rst,     // the recorder's own reset, synchronous
    // events: lane i at [i], [i*4+:4], [i*8+:8], [i*7+:7], [i*40+:40]
    input  wire [SOURCES-1:0]       ev_valid,
    input  wire [SOURCES*4-1:0]     ev_kind,
    input  wire [SOURCES*8-1:0]     ev_source,    // enum event_source, constant
    input  wire [SOURCES*8-1:0]     ev_code,
    input  wire [SOURCES*7-1:0]     ev_flow,
    input  wire [SOURCES*40-1:0]    ev_value,
    // of the clock domain: ff_time, ff_freeze
    input  wire [63:0]              now,          // number of this cycle
    input  wire                     arm,          // records from the next cycle on
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
    output reg  [31:0]              stat_stored, stat_offered, stat_lost,
    output reg                      stat_closed,
    output wire [5:0]               lost_now      // events lost in this cycle, for the counter
);
    localparam SLOT_W = $clog2(DEPTH);
    localparam LEVEL_W = $clog2(PLACES + 1);
    localparam ROW_W = $clog2(PLACES);       // rows: at most one a record
    localparam EVENT_W = 4 + 8 + 7 + 40;
    localparam LANES_W = SOURCES * EVENT_W < 64 ? 64 : SOURCES * EVENT_W; // a TIME's cycle lies in the lanes' place
    localparam COUNT_W = LEVEL_W < 6 ? 6 : LEVEL_W;
    localparam [3:0] KIND_MARK = 4'd13, KIND_LOSS = 4'd14, KIND_TIME = 4'd15;
    generate
        if (SOURCES < 1 || SOURCES > 32) begin : g_check_SOURCES
            ff_error_SOURCES_must_be_1_to_32 stop (); // none such
        end
        if (DEPTH < 16 || DEPTH > 16384 || (DEPTH & (DEPTH - 1)) != 0) begin : g_check_DEPTH
            ff_error_DEPTH_must_be_a_power_of_two_from_16_to_16384 stop (); // none such
        end
        if (PLACES < 4 || PLACES > 256 || PLACES % 2 != 0) begin : g_check_PLACES
            ff_error_PLACES_must_be_even_from_4_to_256 stop (); // none such
        end
        if (POST_W < 1 || POST_W > 32) begin : g_check_POST_W
            ff_error_POST_W_must_be_1_to_32 stop (); // none such
        end
    endgenerate

    // The event register. A lane is {kind, code, flow, value}.
    reg  [SOURCES-1:0] valid_q;
    reg  [SOURCES*EVENT_W-1:0] lanes_q;
    integer i, j, k, l;                    // one a block: each ends with a value in every case
    always @(posedge clk) begin
        valid_q <= ev_valid & {SOURCES{!rst}};
        for (i = 0; i < SOURCES; i = i + 1) if (ev_valid[i])
            lanes_q[i*EVENT_W +: EVENT_W] <= {ev_kind[i*4 +: 4], ev_code[i*8 +: 8], ev_flow[i*7 +: 7], ev_value[i*40 +: 40]};
    end
    wire some = |valid_q;                  // says nothing new below: it spares a simulator the lanes in most cycles
    reg  [SOURCES-1:0] wanted;
    always @* begin
        wanted = {SOURCES{1'b0}};
        j = 0;
        if (some) for (j = 0; j < SOURCES; j = j + 1)
            wanted[j] = valid_q[j] && cfg_kinds[lanes_q[j*EVENT_W + 55 +: 4]];
    end

    // Post, as in ff_tap_recorder: counted up from its complement.
    reg  [POST_W:0] spent_q;
    reg  recording_q, marked_q, after_time_q;
    reg  [3:0] gap_q;
    wire shut = triggered && (spent_q[POST_W] || &spent_q[POST_W-1:0]);
    wire [32:0] left = triggered ? {{33-POST_W{1'b0}}, ~spent_q[POST_W-1:0]} : {33{1'b1}};
    wire open = recording_q && !shut;

    // Room: the oldest record has left, a LOSS goes first, two places must be free for an event.
    reg  [LEVEL_W-1:0] level_q;
    reg  [31:0] due_q;                     // events lost that no LOSS has told yet
    wire pop = recording_q && level_q != {LEVEL_W{1'b0}};
    wire [LEVEL_W-1:0] level = pop ? level_q - {{LEVEL_W-1{1'b0}}, 1'b1} : level_q;
    localparam HALF_PLACES = PLACES / 2, USABLE_PLACES = PLACES - 1;
    localparam [LEVEL_W-1:0] HALF = HALF_PLACES[LEVEL_W-1:0], USABLE = USABLE_PLACES[LEVEL_W-1:0];
    wire due = due_q != 32'd0;
    wire tell_loss = open && due && level <= HALF;
    wire [LEVEL_W-1:0] told = {{LEVEL_W-1{1'b0}}, tell_loss};
    wire [LEVEL_W-1:0] room = due && !tell_loss ? {LEVEL_W{1'b0}} : USABLE - level - told;
    wire [32:0] room_wide = {{33-LEVEL_W{1'b0}}, room};
    wire [32:0] left_wide = left - {32'd0, tell_loss};
    wire cut = left_wide <= room_wide;     // post is used up before the room is: the rest meets a shut acceptance
    wire [COUNT_W-1:0] most = cut ? left_wide[COUNT_W-1:0] : room_wide[COUNT_W-1:0];

    reg  [SOURCES-1:0] taken;
    reg  [COUNT_W-1:0] rank, taken_count;
    always @* begin
        rank = {COUNT_W{1'b0}};
        taken_count = {COUNT_W{1'b0}};
        taken = {SOURCES{1'b0}};
        k = 0;
        if (some) for (k = 0; k < SOURCES; k = k + 1) begin
            taken[k] = open && wanted[k] && rank < most;
            if (taken[k]) taken_count = taken_count + {{COUNT_W-1{1'b0}}, 1'b1};
            if (wanted[k]) rank = rank + {{COUNT_W-1{1'b0}}, 1'b1};
        end
    end
    wire [COUNT_W-1:0] lost = open && !cut ? rank - taken_count : {COUNT_W{1'b0}};
    assign lost_now = lost[5:0];

    wire closing = recording_q && shut && level_q == {LEVEL_W{1'b0}};
    wire none = taken_count == {COUNT_W{1'b0}} && !tell_loss;
    wire tell_time = recording_q && !closing && none && gap_q == 4'd14 && !after_time_q;
    wire push = tell_time || !none;
    wire [COUNT_W-1:0] entering = taken_count + {{COUNT_W-1{1'b0}}, tell_loss || tell_time};

    // The FIFO: a row a cycle with all that entered in it; the level counts records.
    localparam FIFO_W = 4 + 1 + 32 + (SOURCES + 1) + LANES_W;
    reg  [FIFO_W-1:0] rows [0:(1<<ROW_W)-1];
    reg  [ROW_W-1:0] row_in_q, row_out_q;
    wire [LANES_W-1:0] lanes_in;
    generate if (SOURCES * EVENT_W < 64) begin : g_wide
        assign lanes_in = tell_time ? now : {{64-SOURCES*EVENT_W{1'b0}}, lanes_q};
    end else begin : g_lanes
        assign lanes_in[63:0] = tell_time ? now : lanes_q[63:0];
        if (SOURCES > 1) begin : g_rest
            assign lanes_in[LANES_W-1:64] = lanes_q[LANES_W-1:64];
        end
    end endgenerate
    always @(posedge clk) if (push)
        rows[row_in_q] <= {gap_q, tell_time, due_q, taken, tell_loss || tell_time, lanes_in};

    // The oldest record: the lowest of the oldest row that is not out yet.
    wire [3:0] row_gap;
    wire row_time;
    wire [31:0] row_lost;
    wire [SOURCES:0] row_records;          // bit 0 LOSS or TIME, bit i + 1 lane i
    wire [LANES_W-1:0] row_lanes;
    assign {row_gap, row_time, row_lost, row_records, row_lanes} = rows[row_out_q];
    reg  [SOURCES:0] out_q;                // records of the row that are out
    wire [SOURCES:0] waiting = row_records & ~out_q;
    wire [SOURCES:0] oldest = waiting & ~(waiting - {{SOURCES{1'b0}}, 1'b1});
    wire row_ends = waiting == oldest;
    reg  [EVENT_W+7:0] event_out;          // {source, kind, code, flow, value}
    always @* begin
        event_out = {EVENT_W+8{1'b0}};
        l = 0;
        if (pop) for (l = 0; l < SOURCES; l = l + 1)
            if (oldest[l+1]) event_out = event_out | {ev_source[l*8 +: 8], row_lanes[l*EVENT_W +: EVENT_W]};
    end

    // Towards the memory: a record of the FIFO, or, when it has run empty behind the end, LOSS, MARK, TIME.
    wire mark = closing && !due && !marked_q;
    wire last = closing && !due && marked_q;
    reg  [67:0] out; // {kind, data}
    always @* begin
        if (closing && due) out = {KIND_LOSS, 32'd0, due_q};
        else if (mark) out = {KIND_MARK, 16'd0, since, causes};
        else if (!pop) out = {KIND_TIME, now}; // where a row was never written none is looked at
        else if (!oldest[0]) out = {event_out[58:55], event_out[54:47], event_out[66:59], 1'b0, event_out[46:0]};
        else if (row_time) out = {KIND_TIME, row_lanes[63:0]};
        else out = {KIND_LOSS, 32'd0, row_lost};
    end
    assign wr_en = pop || closing;
    assign wr_record = {!pop ? gap_q : out_q == {SOURCES+1{1'b0}} ? row_gap : 4'd0, out};
    assign wr_slot = stat_stored[SLOT_W-1:0];
    assign stat_write_ptr = wr_slot;

    wire [COUNT_W:0] spending = {1'b0, entering} + {{COUNT_W{1'b0}}, drain};
    wire [POST_W+COUNT_W+1:0] spending_wide = {{POST_W+1{1'b0}}, spending};
    wire [POST_W:0] spend = spending_wide[POST_W:0]; // no more than is left, and one
    wire unused = &{1'b0, spending_wide[POST_W+COUNT_W+1:POST_W+1]};
    wire [COUNT_W-1:0] offered = cut ? taken_count : open ? rank : {COUNT_W{1'b0}};
    wire [32:0] due_sum = {1'b0, tell_loss ? 32'd0 : due_q} + {{33-COUNT_W{1'b0}}, lost};
    always @(posedge clk) begin
        if (!triggered) spent_q <= {1'b0, ~cfg_post};
        else if (!shut) spent_q <= spent_q + spend;
        if (push || closing) begin
            gap_q <= 4'd1;
            after_time_q <= tell_time;
        end else if (gap_q != 4'd15) gap_q <= gap_q + 4'd1;
        if (push) row_in_q <= row_next(row_in_q);
        if (pop) begin
            out_q <= row_ends ? {SOURCES+1{1'b0}} : out_q | oldest;
            if (row_ends) row_out_q <= row_next(row_out_q);
        end
        level_q <= level + entering[LEVEL_W-1:0];
        due_q <= closing ? 32'd0 : due_sum[32] ? 32'hFFFFFFFF : due_sum[31:0];
        stat_offered <= stat_offered + {{32-COUNT_W{1'b0}}, offered};
        stat_lost <= stat_lost + {{32-COUNT_W{1'b0}}, lost};
        if (wr_en) begin
            stat_stored <= stat_stored + 32'd1;
            if (&wr_slot) stat_wrapped <= 1'b1;
        end
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
            row_in_q <= {ROW_W{1'b0}};
            row_out_q <= {ROW_W{1'b0}};
            out_q <= {SOURCES+1{1'b0}};
            level_q <= {LEVEL_W{1'b0}};
            due_q <= 32'd0;
            stat_offered <= 32'd0;
            stat_lost <= 32'd0;
            stat_stored <= 32'd0;
            stat_wrapped <= 1'b0;
        end
    end

    function [ROW_W-1:0] row_next(input [ROW_W-1:0] row);
        row_next = row + {{ROW_W-1{1'b0}}, 1'b1};
    endfunction

`ifdef FORMAL
    reg  [31:0] events_q, entered_q, popped_q; // events taken, records into the FIFO, records out of it
    reg  told_time_q;                          // the previous record into the FIFO since arm is TIME, or there is none
    always @(posedge clk) begin
        events_q <= events_q + {{32-COUNT_W{1'b0}}, taken_count};
        entered_q <= entered_q + {{32-COUNT_W{1'b0}}, taken_count} + {31'd0, tell_loss} + {31'd0, tell_time};
        if (pop) popped_q <= popped_q + 32'd1;
        if (push || closing) told_time_q <= tell_time || last;
        if (arm || rst) begin
            events_q <= 32'd0;
            entered_q <= 32'd0;
            popped_q <= 32'd0;
            told_time_q <= 1'b1;
        end
        if (!$initstate && !rst) begin
            assert (stat_offered == events_q + stat_lost);
            assert (entered_q == popped_q + {{32-LEVEL_W{1'b0}}, level_q});
            assert (level_q <= USABLE + {{LEVEL_W-1{1'b0}}, 1'b1});
            if (stat_closed) assert (!wr_en && level_q == {LEVEL_W{1'b0}});
            if ((push || closing) && gap_q == 4'd15) assert (told_time_q);
            // what makes these hold by induction
            assert (!(stat_closed && recording_q));
            if (!recording_q) assert (level_q == {LEVEL_W{1'b0}});
            if (recording_q && !marked_q) assert (after_time_q == told_time_q);
            if (recording_q && marked_q) assert (gap_q == 4'd1 && shut && level_q == {LEVEL_W{1'b0}} && !due);
            if (recording_q && gap_q == 4'd15) assert (after_time_q);
        end
    end
`endif
endmodule
`default_nettype wire
