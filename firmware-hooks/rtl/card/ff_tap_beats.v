// SPDX-License-Identifier: Apache-2.0
// ff_tap_beats: a stream of 8 to 1024 bits as words with a kind: the tap register of docs/card-map.md section 5.
//
// 64 bits and more: every accepted beat is a word and stands at word_* for one cycle. 8, 16, 32 bits: beats land in the
// register until it is full, or the packet ends, or user is up, or a byte is off, or (LOOSE 0) a cycle without a beat comes.
// Latency: one cycle. Throughput: one beat a cycle. Back-pressure: none, it only listens. Clock domain: clk.
`default_nettype none
module ff_tap_beats #(
    parameter BITS = 64,  // bits of the stream: 8, 16, 32, or a multiple of 64 up to 1024
    parameter KEEP = 1,   // keep: 0 there is none, 1 runs from byte 0 (tail), 2 any
    parameter LAST = 1,   // 0: no packets, every whole word is BODY
    parameter LOOSE = 0   // 1: a gap does not end a packed word
) (
    input  wire                clk, rst,
    input  wire                arm,        // no word holds a beat from before it
    // an accepted beat
    input  wire                beat, beat_last, beat_user,
    input  wire [BITS-1:0]     beat_data,
    input  wire [BITS/8-1:0]   beat_keep,
    // tap register
    output wire                word_valid,
    output wire [3:0]          word_kind,
    output wire [63:0]         word_data,  // masked as it is recorded
    output wire [7:0]          pending,    // beats that stood here before this cycle and have made no word
    output wire [(BITS > 64 ? BITS - 64 : 8)/64*72+7:0] word_lanes // lane i at (i-1)*72: keep, data; above them zeros
);
    generate
        if (BITS != 8 && BITS != 16 && BITS != 32 && (BITS < 64 || BITS > 1024 || BITS % 64 != 0)) begin : g_check_BITS
            ff_error_BITS_must_be_8_16_32_or_a_multiple_of_64_up_to_1024 stop (); // none such
        end
        if (KEEP < 0 || KEEP > 2) begin : g_check_KEEP
            ff_error_KEEP_must_be_0_to_2 stop (); // none such
        end
        if (LAST != 0 && LAST != 1) begin : g_check_LAST
            ff_error_LAST_must_be_0_or_1 stop (); // none such
        end
        if (LOOSE != 0 && LOOSE != 1) begin : g_check_LOOSE
            ff_error_LOOSE_must_be_0_or_1 stop (); // none such
        end
    endgenerate
    localparam BYTES = BITS / 8;
    localparam LOW = BYTES < 8 ? BYTES : 8;        // bytes of a beat in lane 0
    wire [BYTES-1:0] on = KEEP == 0 ? {BYTES{1'b1}} : beat_keep;
    wire last = LAST != 0 && beat_last;

    reg  [63:0] data_q;                            // an off byte is 0, by its flip-flops' reset
    reg  [7:0] keep_q;
    reg  last_q, user_q;                           // of the beat that landed last
    reg  head_q;                                   // the word to come is a packet's first
    wire dropped;                                  // the arm empties the register in the middle of a packet
    genvar i;
    generate if (BYTES >= 8) begin : g_whole
        reg valid_q;
        assign word_valid = valid_q;
        assign {pending, dropped} = 9'd0;
        always @(posedge clk) begin
            valid_q <= beat && !rst;
            last_q <= last;
            user_q <= beat_user;
            keep_q <= on[7:0];
        end
        for (i = 0; i < 8; i = i + 1) begin : g_byte
            always @(posedge clk) data_q[8*i +: 8] <= on[i] ? beat_data[8*i +: 8] : 8'd0;
        end
        wire unused = &{1'b0, arm};
    end else begin : g_packed
        // A word that is not at its end holds whole beats alone, from byte 0 on: a place is taken if its first byte is on.
        localparam PLACES = 8 / BYTES;
        reg  landed_q;                             // a beat landed in this cycle's register
        reg  open_q, hole_q;                       // something stands there; the beat that landed has a byte off
        reg  [2:0] pending_q;
        wire land = beat && !rst && (KEEP == 0 || last || on != {BYTES{1'b0}}); // a null beat leaves no trace unless it is last
        wire ends = keep_q[8-BYTES] || last_q || user_q || hole_q || (LOOSE == 0 && !landed_q);
        assign word_valid = open_q && ends;
        assign dropped = arm && open_q;
        wire fresh = word_valid || !open_q || arm || rst; // what lands is at byte 0
        wire [PLACES-1:0] taken;
        always @(posedge clk) begin
            landed_q <= land;
            open_q <= land || !fresh;
            if (land) begin
                last_q <= last;
                user_q <= beat_user;
                hole_q <= KEEP != 0 && on != {BYTES{1'b1}};
            end else if (fresh) {last_q, user_q, hole_q} <= 3'd0;
        end
        for (i = 0; i < PLACES; i = i + 1) begin : g_place
            assign taken[i] = keep_q[BYTES*i];
        end
        wire [PLACES:0] upto = {taken, 1'b1};      // the place before it is taken
        for (i = 0; i < 8; i = i + 1) begin : g_byte
            wire here = land && (fresh ? i < BYTES : upto[i / BYTES] && !taken[i / BYTES]);
            always @(posedge clk) begin
                if (here) {keep_q[i], data_q[8*i +: 8]} <= {1'b1, beat_data[8*(i % BYTES) +: 8]};
                if (here ? !on[i % BYTES] : fresh) {keep_q[i], data_q[8*i +: 8]} <= 9'd0;
            end
        end
        integer p;
        reg [2:0] count;
        always @* begin
            count = 3'd0;
            for (p = 0; p < PLACES - 1; p = p + 1) if (taken[p]) count = p[2:0] + 3'd1;
        end
        always @(posedge clk) pending_q <= fresh ? 3'd0 : count;
        assign pending = {5'd0, pending_q};
        wire unused = &{1'b0, upto[PLACES]};
    end endgenerate

    // Kinds 4 and more are {whole and user, masked, user, last}.
    wire masked = (BYTES < 8 || KEEP != 0) && keep_q != 8'hFF;
    wire head = head_q && !masked && !user_q && !last_q && LAST != 0;
    assign word_kind = {user_q && !masked, masked, user_q || (!masked && !head), last_q || head};
    always @(posedge clk) if (rst) head_q <= 1'b1; else if (word_valid) head_q <= last_q; else if (dropped) head_q <= 1'b0;

    // A masked word's byte 7 is its mask; the stream's own byte 7 then stands in the lowest byte that is off.
    assign word_data[63:56] = masked ? keep_q : data_q[63:56];
    generate for (i = 0; i < 7; i = i + 1) begin : g_record
        if (KEEP == 2) begin : g_any
            wire [7:0] below = (8'd1 << i) - 8'd1;
            wire moved = !keep_q[i] && (keep_q & below) == below;
            assign word_data[8*i +: 8] = data_q[8*i +: 8] | (moved ? data_q[63:56] : 8'd0);
        end else begin : g_tail
            assign word_data[8*i +: 8] = data_q[8*i +: 8];
        end
    end endgenerate
    generate if (BITS > 64) begin : g_lanes
        reg [BITS-65:0] side_q;
        reg [BYTES-9:0] side_keep_q;
        always @(posedge clk) side_keep_q <= on[BYTES-1:8];
        for (i = 8; i < BYTES; i = i + 1) begin : g_byte
            always @(posedge clk) side_q[8*i-64 +: 8] <= on[i] ? beat_data[8*i +: 8] : 8'd0;
        end
        for (i = 1; i < BITS / 64; i = i + 1) begin : g_lane
            assign word_lanes[72*i-72 +: 72] = {side_keep_q[8*i-8 +: 8], side_q[64*i-64 +: 64]};
        end
        assign word_lanes[(BITS-64)/64*72 +: 8] = 8'd0;
    end else begin : g_no_lanes
        assign word_lanes = 8'd0;
    end endgenerate
    wire [LOW-1:0] unused_on = on[LOW-1:0];
    wire unused_all = &{1'b0, unused_on, beat_last, beat_keep};
endmodule
`default_nettype wire
