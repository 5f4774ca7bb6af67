// SPDX-License-Identifier: Apache-2.0
// ff_nic_rx_link: the receiver: two lanes to words, checks before the incoming FIFO, credits taken.
//
// Latency: about eight cycles from the lanes to a word. Throughput: one word a cycle. Back-pressure: none: what the
// FIFO has no room for is lost. Clock domains: clk_rx (recovered from the lanes), clk (link), near the same rate.
`default_nettype none
module ff_nic_rx_link #(
    parameter CREDIT_W = 13,    // bits of a credit counter, 10..24
    parameter FILL = 4          // halves in each synchronization FIFO before words are read, 3..12
) (
    input  wire        clk_rx, rst_rx,
    input  wire        clk, rst,
    // lanes, clk_rx; lane i at [i]
    input  wire [63:0] s_data,
    input  wire [7:0]  s_k,
    // faults
    input  wire        fault_slip, fault_flip,  // clk_rx: lane-misaligned; payload-bit-flip or header-corrupted
    input  wire        fault_empty,             // clk: sync-fifo-empty
    input  wire        fault_drift,             // both clocks, stands still: clock-drift, nothing is corrected
    input  wire        fault_lane,
    input  wire [1:0]  fault_bytes,             // lost by the lane, 1..3
    input  wire [63:0] fault_mask,              // bits flipped
    input  wire [15:0] fault_count,
    input  wire [9:0]  fault_min_length, fault_word,
    output wire        raw_struck, empty_struck, drift_struck,
    output wire [15:0] raw_seq, empty_seq, drift_seq,
    output wire [6:0]  raw_flow, empty_flow, drift_flow,
    output wire [9:0]  empty_word, drift_word,  // drift_word: see ff_nic_slip_place.v
    // to the incoming FIFO
    output wire        m_valid, m_first, m_last,
    output wire [1:0]  m_kind,
    output wire [63:0] m_data,
    output wire [2:0]  m_flags,     // of the word before: bad length, payload, header
    // credits
    output reg         taken_valid,
    output reg  [6:0]  taken_flow,
    output reg  [CREDIT_W-1:0] taken_freed,
    // status, causes, events, counters
    output wire        stat_up,
    output reg  [7:0]  stat_state,  // enum machine_state
    output wire [15:0] stat_level,  // 8 bits a lane
    output wire [63:0] stat_underflows, stat_overflows,
    output wire [3:0]  stat_phase,
    output reg  [15:0] stat_next_seq,
    output wire        cause_header, cause_payload, cause_length, cause_sequence, cause_underflow,
    output reg         cause_parity,
    output reg         ev_credit,
    output reg  [7:0]  ev_credit_code,
    output reg  [6:0]  ev_credit_flow,
    output reg  [39:0] ev_credit_value,
    output wire [1:0]  ev_line,         // LINK events; lane i at [i]
    output wire [15:0] ev_line_code,    // 8 bits a lane
    output wire        count_inserted, count_removed
);
    localparam [7:0] M_IDLE = 8'd0, M_DATA = 8'd3;
    localparam [7:0] TAKEN = 8'd2, REFUSED_PARITY = 8'd3, REFUSED_CRC = 8'd4;

    // lanes, in the recovered clock
    wire [1:0]  a_valid, a_idle, a_halt, locked;
    wire [63:0] a_data;
    wire        strike;
    genvar i;
    generate for (i = 0; i < 2; i = i + 1) begin : g_align
        ff_nic_lane_align i_align (
            .clk(clk_rx), .rst(rst_rx), .s_data(s_data[i*32 +: 32]), .s_k(s_k[i*4 +: 4]),
            .slip(strike && fault_slip && fault_lane == i), .slip_bytes(fault_bytes),
            .m_valid(a_valid[i]), .m_idle(a_idle[i]), .m_halt(a_halt[i]), .m_data(a_data[i*32 +: 32]),
            .stat_phase(stat_phase[i*2 +: 2]), .stat_locked(locked[i]));
    end endgenerate

    wire [63:0] raw, flips;
    generate for (i = 0; i < 4; i = i + 1) begin : g_join
        assign raw[i*16 +: 16] = {a_data[32+i*8 +: 8], a_data[i*8 +: 8]};
        assign flips[i*8 +: 8] = fault_mask[i*16 +: 8];
        assign flips[32+i*8 +: 8] = fault_mask[i*16+8 +: 8];
    end endgenerate
    wire raw_word = &a_valid && a_idle == 2'd0 && a_halt == 2'd0;
    reg  raw_before_q;
    always @(posedge clk_rx) raw_before_q <= raw_word && !rst_rx;
    ff_nic_fault_match i_raw_match (
        .clk(clk_rx), .rst(rst_rx), .en(fault_slip || fault_flip), .s_valid(raw_word), .s_first(!raw_before_q),
        .s_data(raw), .cfg_count(fault_count), .cfg_min_length(fault_min_length), .cfg_word(fault_word),
        .hit(strike), .stat_done(raw_struck), .stat_seq(raw_seq), .stat_flow(raw_flow));

    // synchronization FIFOs, into the own link clock. Writer and reader see each other's pointer three cycles late each,
    // a lane may be a half ahead of the other, and clocks are corrected at FILL + 2: FILL + 9 places are in use.
    localparam integer SYNC_LOG2 = FILL + 9 < 16 ? 4 : 5;
    localparam integer LEVEL_W = SYNC_LOG2 + 1;
    wire [63:0] b_data = a_data ^ (strike && fault_flip ? flips : 64'd0);
    wire [1:0]  l_idle, l_halt, l_next_idle, l_underflow, l_overflow, l_lost, l_stale;
    wire [63:0] l_data;
    wire [2*LEVEL_W-1:0] l_level;
    wire        l_read;
    wire [3:0]  l_pop;
    generate for (i = 0; i < 2; i = i + 1) begin : g_sync
        ff_nic_sync_fifo #(.DEPTH_LOG2(SYNC_LOG2)) i_sync (
            .s_clk(clk_rx), .s_rst(rst_rx), .s_valid(a_valid[i]), .s_idle(a_idle[i]), .s_halt(a_halt[i]),
            .s_data(b_data[i*32 +: 32]), .m_clk(clk), .m_rst(rst), .m_read(l_read), .m_pop(l_pop[i*2 +: 2]),
            .m_stale(l_stale[i]), .m_idle(l_idle[i]), .m_halt(l_halt[i]), .m_data(l_data[i*32 +: 32]),
            .m_next_idle(l_next_idle[i]), .m_level(l_level[i*LEVEL_W +: LEVEL_W]), .m_underflow(l_underflow[i]),
            .s_lost(l_lost[i]), .m_overflow(l_overflow[i]), .stat_overflows(stat_overflows[i*32 +: 32]));
        assign stat_level[i*8 +: 8] = {{8-LEVEL_W{1'b0}}, l_level[i*LEVEL_W +: LEVEL_W]};
    end endgenerate

    // words
    wire w_valid, w_first, w_last, w_credit, hit_empty, slot_word, slot_first, trained;
    wire [63:0] slot_data;
    ff_nic_bond #(.FILL(FILL), .LEVEL_W(LEVEL_W)) i_bond (
        .clk(clk), .rst(rst), .l_idle(l_idle), .l_halt(l_halt), .l_next_idle(l_next_idle), .l_underflow(l_underflow),
        .l_data(l_data), .l_level(l_level), .l_read(l_read), .l_pop(l_pop), .l_stale(l_stale),
        .cfg_correct(!fault_drift), .slot_word(slot_word), .slot_first(slot_first), .slot_data(slot_data),
        .fault_run(hit_empty), .fault_lane(fault_lane), .fault_struck(empty_struck), .fault_word(empty_word), .m_valid(w_valid),
        .m_first(w_first), .m_last(w_last), .m_credit(w_credit), .m_kind(m_kind), .m_data(m_data), .stat_up(stat_up),
        .stat_underflows(stat_underflows), .inserted(count_inserted), .removed(count_removed), .trained(trained));
    generate for (i = 0; i < 2; i = i + 1) begin : g_events
        ff_nic_lane_events i_events (
            .clk(clk), .rst(rst), .trained(trained), .inserted(count_inserted), .removed(count_removed),
            .underflow(l_underflow[i]), .overflow(l_overflow[i]), .ev_valid(ev_line[i]),
            .ev_code(ev_line_code[i*8 +: 8]));
    end endgenerate
    assign cause_underflow = |l_underflow;
    assign m_valid = w_valid && !w_credit;
    assign m_first = w_first;
    assign m_last = w_last;
    wire empty_done;
    ff_nic_fault_match i_word_match (
        .clk(clk), .rst(rst), .en(fault_empty), .s_valid(m_valid), .s_first(m_first), .s_data(m_data),
        .cfg_count(fault_count), .cfg_min_length(fault_min_length), .cfg_word(fault_word), .hit(hit_empty),
        .stat_done(empty_done), .stat_seq(empty_seq), .stat_flow(empty_flow));

    // where a slip of both lanes did harm first: on the side that reads, or on the one that writes
    wire again_struck, lost_struck;
    wire [15:0] again_seq, lost_seq;
    wire [6:0]  again_flow, lost_flow;
    wire [9:0]  again_word, lost_word;
    ff_nic_slip_place i_again (
        .clk(clk), .rst(rst), .en(fault_drift), .s_slot(stat_up), .s_word(slot_word), .s_first(slot_first),
        .s_data(slot_data), .s_lost(1'b0), .s_again(&l_underflow), .stat_done(again_struck), .stat_seq(again_seq),
        .stat_flow(again_flow), .stat_word(again_word));
    ff_nic_slip_place i_lost (
        .clk(clk_rx), .rst(rst_rx), .en(fault_drift), .s_slot(&a_valid), .s_word(raw_word), .s_first(!raw_before_q),
        .s_data(raw), .s_lost(&l_lost), .s_again(1'b0), .stat_done(lost_struck), .stat_seq(lost_seq),
        .stat_flow(lost_flow), .stat_word(lost_word));
    assign drift_struck = again_struck || lost_struck;
    assign {drift_seq, drift_flow, drift_word}
        = again_struck ? {again_seq, again_flow, again_word} : {lost_seq, lost_flow, lost_word};

    // packets
    wire header_good;
    wire [3:0]  p_type, p_flags;
    wire [6:0]  p_flow;
    wire [9:0]  p_length;
    wire [15:0] p_seq;
    ff_nic_rx_check i_check (
        .clk(clk), .rst(rst), .s_valid(m_valid), .s_first(m_first), .s_last(m_last), .s_kind(m_kind), .s_data(m_data),
        .m_header(header_good), .m_header_bad(cause_header), .m_payload_bad(cause_payload),
        .m_length_bad(cause_length), .stat_type(p_type), .stat_flags(p_flags), .stat_flow(p_flow),
        .stat_length(p_length), .stat_seq(p_seq));
    assign m_flags = {cause_length, cause_payload, cause_header};
    wire numbered = header_good && !p_flags[3]; // flag INJECTED: the number is whatever the buffer held
    assign cause_sequence = numbered && p_seq != stat_next_seq;

    // credits
    wire credit = w_valid && w_credit;
    wire [15:0] crc;
    ff_nic_crc16 #(.BYTES(6)) i_crc (.en(credit), .header(m_data[47:0]), .address(64'd0), .crc(crc));
    wire crc_bad = crc != m_data[63:48];
    wire parity_bad = !(^m_data[47:0]);
    always @(posedge clk) begin
        if (numbered) stat_next_seq <= p_seq + 16'd1;
        if (m_valid) stat_state <= m_last ? M_IDLE : M_DATA; // a halted sender leaves the frame open
        taken_valid <= credit && !crc_bad && !parity_bad;
        {taken_flow, taken_freed} <= {m_data[14:8], m_data[16 +: CREDIT_W]};
        cause_parity <= credit && !crc_bad && parity_bad;
        ev_credit <= credit;
        ev_credit_code <= crc_bad ? REFUSED_CRC : parity_bad ? REFUSED_PARITY : TAKEN;
        ev_credit_flow <= m_data[14:8];
        ev_credit_value <= m_data[39:0];
        if (rst) begin
            stat_next_seq <= 16'd0;
            stat_state <= M_IDLE;
            taken_valid <= 1'b0;
            cause_parity <= 1'b0;
            ev_credit <= 1'b0;
        end
    end
    wire unused = &{1'b0, locked, p_type, p_flow, p_length, p_flags[2:0], empty_done};
endmodule
`default_nettype wire
