// SPDX-License-Identifier: Apache-2.0
// ff_nic_rx_dma: empties the incoming FIFO packet by packet into host memory, checks once more, and frees the words.
//
// A burst begins when its words stand in the FIFO or the packet's end does. The two header words are read first: they
// say where the payload goes. After a bad header the packet is read and dropped without the bus. Latency: the bus's.
// Throughput: one word a cycle within a burst. Back-pressure: the FIFO fills, and no credits go back. Clock domain:
// clk.
`default_nettype none
module ff_nic_rx_dma #(
    parameter DEPTH_LOG2 = 11, // log2 of the words of the incoming FIFO, 8..15
    parameter BURST = 128      // words of the longest burst, 4..512, half the FIFO at most
) (
    input  wire        clk, rst,
    input  wire        cfg_stop,        // the host takes no words
    input  wire [15:0] cfg_pause,       // cycles between two bursts, for a slow host
    // incoming FIFO
    input  wire        f_valid, f_start, f_complete,
    input  wire [1:0]  f_kind,
    input  wire [63:0] f_data,
    input  wire [2:0]  f_flags,
    input  wire [DEPTH_LOG2:0] f_level,
    output wire        f_take, f_done,
    output wire        f_first,         // with f_take: the first word of a packet
    input  wire        f_hold,          // fault: the read pointer does not move with this word
    // host bus, write
    output wire        b_req,
    output wire [63:0] b_addr,
    output wire [9:0]  b_len,
    input  wire        b_ack, b_retry,
    output wire        b_wvalid, b_wend,
    output wire [63:0] b_wdata,
    // freed words
    output reg         freed_valid,
    output reg  [6:0]  freed_flow,
    // notifications of packets received whole
    output wire        note_valid,
    output wire [15:0] note_seq,
    output wire [6:0]  note_flow,
    input  wire        note_ready,
    output wire        length_valid,    // a packet was received whole
    output wire [9:0]  length_words,
    // status, causes, counters
    output reg  [7:0]  stat_state,      // enum machine_state
    output wire        cause_header, cause_payload, cause_length,
    output wire        count_header, count_payload, count_length, count_drop, count_retry
);
    generate
        if (DEPTH_LOG2 < 8 || DEPTH_LOG2 > 15) begin : g_check_DEPTH_LOG2
            ff_error_DEPTH_LOG2_must_be_8_to_15 stop (); // none such
        end
        if (BURST < 4 || BURST > 512 || 2 * BURST > (1 << DEPTH_LOG2)) begin : g_check_BURST
            ff_error_BURST_must_be_4_to_512_and_half_the_FIFO_at_most stop (); // none such
        end
    endgenerate
    localparam [1:0] BODY = 2'd2, TAIL = 2'd3;
    localparam [2:0] IDLE = 3'd0, HEADS = 3'd1, VERDICT = 3'd2, WAIT = 3'd3, ASK = 3'd4, WRITE = 3'd5, DRAIN = 3'd6,
                     FINISH = 3'd7;
    localparam [7:0] M_IDLE = 8'd0, M_DATA = 8'd3, M_STOPPED = 8'd6;
    localparam [3:0] RDMA_WRITE = 4'd1;
    localparam [9:0] BURST_WORDS = BURST[9:0];

    reg  [2:0]  state_q;
    reg         inside_q;           // a word of this packet has been read
    reg         second_q;           // the next word is its second
    reg  [63:0] dest_q;
    reg  [9:0]  done_q, burst_q;    // payload words written; of this burst
    reg  [15:0] pause_q;
    reg         ended_q;            // the word read last is a tail
    reg         bad_q, counted_header_q, counted_payload_q, counted_length_q;
    reg         judged_q;           // one cycle for the verdict on the last word
    reg         ending_q;           // the bus is given back

    wire [DEPTH_LOG2:0] burst_words = BURST[DEPTH_LOG2:0];
    wire ready = f_complete || f_level >= burst_words;
    wire next_packet = f_valid && f_start && inside_q && !held_q; // this one ended without a tail
    wire gone = !f_valid && f_complete;                           // so did it, and nothing is behind it
    reg         held_q;          // the word is there a second time

    wire left = done_q != stat_length; // payload words still to be written
    wire pop_heads = state_q == HEADS && f_valid && !next_packet;
    wire writes = state_q == WRITE && f_valid && !next_packet && f_kind == BODY && left && burst_q != BURST_WORDS;
    wire pop_drain = state_q == DRAIN && f_valid && !next_packet;
    assign f_take = pop_heads || writes || pop_drain;
    assign f_first = !inside_q;
    assign f_done = state_q == FINISH && judged_q && (!note_valid || note_ready);

    wire [3:0]  stat_type, stat_flags;
    wire [6:0]  stat_flow;
    wire [9:0]  stat_length;
    wire [15:0] stat_seq;
    wire header_bad, payload_bad, length_bad, header_good;
    ff_nic_rx_check i_check (
        .clk(clk), .rst(rst), .s_valid(f_take), .s_first(f_first), .s_last(f_kind == TAIL), .s_kind(f_kind),
        .s_data(f_data), .m_header(header_good), .m_header_bad(header_bad), .m_payload_bad(payload_bad),
        .m_length_bad(length_bad), .stat_type(stat_type), .stat_flags(stat_flags), .stat_flow(stat_flow),
        .stat_length(stat_length), .stat_seq(stat_seq));
    assign {cause_header, cause_payload, cause_length} = {header_bad, payload_bad, length_bad};
    assign count_header = header_bad && !counted_header_q;
    assign count_payload = payload_bad && !counted_payload_q;
    assign count_length = length_bad && !counted_length_q;

    always @(posedge clk) begin
        held_q <= f_take ? f_hold : held_q;
        ending_q <= 1'b0;
        judged_q <= 1'b0;
        if (pause_q != 16'd0) pause_q <= pause_q - 16'd1;
        if (f_take) begin
            inside_q <= 1'b1;
            ended_q <= f_kind == TAIL;
            second_q <= !inside_q;
            if (second_q) dest_q <= f_data;
            {counted_length_q, counted_payload_q, counted_header_q}
                <= (inside_q ? {counted_length_q, counted_payload_q, counted_header_q} : 3'd0) | f_flags;
        end
        bad_q <= (bad_q && inside_q) || header_bad || payload_bad || length_bad;
        case (state_q)
            IDLE: begin
                done_q <= 10'd0;
                bad_q <= 1'b0;
                if (f_valid && ready && !cfg_stop && pause_q == 16'd0) state_q <= HEADS;
                else if (gone) state_q <= FINISH; // not a word of it was left
            end
            HEADS: begin
                if (pop_heads && f_kind == TAIL) state_q <= FINISH;
                else if (pop_heads && inside_q) state_q <= VERDICT;
                else if (inside_q && (next_packet || gone)) state_q <= FINISH;
            end
            VERDICT: state_q <= header_good ? WAIT : DRAIN;
            WAIT: if (!left) state_q <= DRAIN;
                else if (ready && !cfg_stop && pause_q == 16'd0) state_q <= ASK;
            ASK: begin
                burst_q <= 10'd0;
                if (b_ack) state_q <= WRITE;
            end
            WRITE: if (writes) begin
                burst_q <= burst_q + 10'd1;
                done_q <= done_q + 10'd1;
            end else if (f_valid || gone) begin // burst or packet is over
                ending_q <= !ending_q;
                if (!ending_q) pause_q <= cfg_pause;
                if (ending_q) state_q <= left && f_valid && f_kind == BODY && !next_packet ? WAIT : DRAIN;
            end else if (burst_q == BURST_WORDS || !left) begin // the next word is not here yet
                ending_q <= !ending_q;
                if (!ending_q) pause_q <= cfg_pause;
                if (ending_q) state_q <= left ? WAIT : DRAIN;
            end
            DRAIN: if (pop_drain && f_kind == TAIL && !f_hold) state_q <= FINISH;
                else if (next_packet || gone) state_q <= FINISH;
            default: begin // FINISH
                judged_q <= 1'b1;
                if (f_done) begin
                    state_q <= IDLE;
                    inside_q <= 1'b0;
                    second_q <= 1'b0;
                    held_q <= 1'b0;
                    judged_q <= 1'b0;
                end
            end
        endcase
        freed_valid <= f_take;
        if (f_take && !inside_q) freed_flow <= f_data[14:8];
        if (rst) begin
            state_q <= IDLE;
            inside_q <= 1'b0;
            ended_q <= 1'b0;
            second_q <= 1'b0;
            held_q <= 1'b0;
            ending_q <= 1'b0;
            judged_q <= 1'b0;
            pause_q <= 16'd0;
            bad_q <= 1'b0;
            done_q <= 10'd0;
            burst_q <= 10'd0;
            freed_valid <= 1'b0;
            {counted_length_q, counted_payload_q, counted_header_q} <= 3'd0;
        end
    end

    assign b_req = state_q == ASK;
    assign b_addr = dest_q + {51'd0, done_q, 3'd0};
    assign b_len = stat_length - done_q < BURST_WORDS ? stat_length - done_q : BURST_WORDS;
    assign b_wvalid = writes;
    assign b_wdata = f_data;
    assign b_wend = ending_q;
    assign count_retry = b_req && b_retry;

    // Without its tail (lost in a full FIFO) a packet was not judged, but it is not whole either.
    wire whole = state_q == FINISH && judged_q && inside_q && ended_q && !bad_q;
    assign note_valid = whole && (stat_flags[1] || stat_type != RDMA_WRITE); // flag NOTIFY_REMOTE
    assign note_seq = stat_seq;
    assign note_flow = stat_flow;
    assign length_valid = f_done && whole;
    assign length_words = stat_length;
    assign count_drop = f_done && inside_q && (bad_q || !ended_q);
    always @* begin
        stat_state = state_q == IDLE && !f_valid ? M_IDLE : M_DATA;
        if ((state_q == IDLE || state_q == WAIT) && f_valid && ready && cfg_stop) stat_state = M_STOPPED;
        else if (state_q == IDLE && !ready) stat_state = M_IDLE;
    end
    wire unused = &{1'b0, stat_flags[3:2], stat_flags[0]};
endmodule
`default_nettype wire
