// SPDX-License-Identifier: Apache-2.0
// ff_nic_pcix_completer: does what the target has taken: writes of up to 128 bytes, and one split read of up to 4096,
// whose words it gathers from the registers and sends in Split Completions.
//
// Of a write only whole 32-bit words count: the registers have no byte enables. A read is answered in pieces that end at
// a boundary of 128 bytes (ADB), or at the next where that is fewer than four phases away. Words are gathered once,
// however often a completion is retried, and only when no write waits. A read that leaves its window is answered by the
// message "byte count out of range" alone. Latency: that of the registers. Throughput: one read at a time.
// Back-pressure: s_free, w_free, from which the target makes Retry. Clock domain: clk.
`default_nettype none
module ff_nic_pcix_completer (
    input  wire        clk, rst,
    input  wire [15:0] id,
    // from the target
    output wire        s_free, w_free,
    input  wire        s_valid, w_begin, s_window, s_dword,
    input  wire [23:0] s_addr,
    input  wire [12:0] s_count,
    input  wire [31:8] s_attr,
    input  wire        w_valid, w_wide, w_enabled, w_end,
    input  wire [6:0]  w_at,
    input  wire [63:0] i_ad,
    input  wire [7:0]  i_cbe,
    // to the initiator
    output wire        r_valid,
    output wire        r_wide,
    output wire [31:0] r_addr,
    output wire [12:0] r_count, r_piece,
    output wire [23:0] r_attr,
    input  wire        r_taken,         // it is at this request until e_valid
    input  wire        e_valid,
    input  wire [2:0]  e_code,
    input  wire [12:0] e_moved,
    input  wire [9:0]  d_word,
    output wire [63:0] d_data,
    output reg         stat_discarded,  // a completion that nobody took
    // window 0: the recorder's register port
    input  wire        p_alive,         // else it reads all ones
    output reg         p_req, p_we,
    output wire [23:0] p_addr,
    output wire [31:0] p_wdata,
    input  wire        p_ack,
    input  wire [31:0] p_rdata,
    // window 1: the driver's registers, at once
    output wire        v_write,
    output wire [11:0] v_addr,
    output wire [31:0] v_wdata,
    input  wire [31:0] v_rdata
);
    localparam [2:0] MOVED = 3'd0, RETRY = 3'd1;
    localparam [2:0] FREE = 3'd0, GATHER = 3'd1, SEND = 3'd2, FLY = 3'd3;

    // -- writes: a block of 128 bytes -------------------------------------------------------------
    reg  [31:0] even [0:15];
    reg  [31:0] odd [0:15];
    reg  [31:0] there_q;            // words that were written whole
    reg         filling_q, drains_q, w_window_q;
    reg  [16:0] w_block_q;
    reg  [6:0]  w_first_q;
    reg  [12:0] w_count_q;
    reg  [4:0]  word_q;
    assign w_free = !filling_q && !drains_q && !w_begin;
    wire [12:0] w_stop = {6'd0, w_first_q} + w_count_q;
    wire [6:0]  low_at = w_wide ? {w_at[6:3], 3'd0} : {w_at[6:2], 2'd0};
    wire [6:0]  high_at = {w_at[6:3], 3'd4};
    wire low_whole = low_at >= w_first_q && {6'd0, low_at} + 13'd4 <= w_stop && (!w_enabled || i_cbe[3:0] == 4'd0);
    wire high_whole = high_at >= w_first_q && {6'd0, high_at} + 13'd4 <= w_stop && (!w_enabled || i_cbe[7:4] == 4'd0);
    wire put_low = w_valid && low_whole;
    wire put_high = w_valid && w_wide && high_whole;
    wire [31:0] drained = word_q[0] ? odd[word_q[4:1]] : even[word_q[4:1]];

    // -- reads ------------------------------------------------------------------------------------
    reg  [31:0] low_words [0:31];
    reg  [31:0] high_words [0:31];
    reg  [2:0]  state_q;
    reg  [24:0] at_q, got_q;        // next byte to be sent, next word to be gathered
    reg  [12:0] left_q;
    reg         window_q, dword_q, message_q;
    reg  [21:0] who_q;
    wire [24:0] stop = {1'b0, s_addr} + {12'd0, s_count};
    wire leaves = s_window ? stop > 25'h1000 : stop > 25'h1000000;
    wire [7:0]  bound = 8'd128 - {1'b0, at_q[6:0]};
    wire [12:0] cut = at_q[6:3] <= 4'd12 ? {5'd0, bound} : {5'd0, bound} + 13'd128;
    wire [12:0] piece = left_q < cut ? left_q : cut;
    wire gathered = got_q - at_q >= {12'd0, piece} && !(got_q < at_q); // got_q is of a word, at_q of a byte
    assign s_free = state_q == FREE && !s_valid;

    // -- one port for both ------------------------------------------------------------------------
    wire writes = drains_q && there_q[word_q];
    wire reads = state_q == GATHER && !message_q && !gathered && !drains_q && !filling_q;
    wire window = drains_q ? w_window_q : window_q;
    wire wants = writes || reads;
    wire at_once = wants && (window || !p_alive);
    wire done = (p_req && p_ack) || (at_once && !p_req);
    wire [31:0] word = window ? v_rdata : p_alive ? p_rdata : 32'hFFFFFFFF;
    assign p_addr = drains_q ? {w_block_q, word_q, 2'd0} : {got_q[23:2], 2'd0};
    assign p_wdata = drained;
    assign v_write = writes && window && !p_req;
    assign v_addr = p_addr[11:0];
    assign v_wdata = drained;

    always @(posedge clk) begin
        if (put_low && !low_at[2]) even[low_at[6:3]] <= i_ad[31:0];
        if (put_low && low_at[2]) odd[low_at[6:3]] <= i_ad[31:0];
        if (put_high) odd[high_at[6:3]] <= i_ad[63:32];
        if (w_begin) begin
            filling_q <= 1'b1;
            there_q <= 32'd0;
            {w_block_q, w_first_q, w_count_q, w_window_q} <= {s_addr, s_count, s_window};
        end
        if (put_low) there_q[low_at[6:2]] <= 1'b1;
        if (put_high) there_q[high_at[6:2]] <= 1'b1;
        if (w_end) begin
            filling_q <= 1'b0;
            drains_q <= 1'b1;
            word_q <= 5'd0;
        end
        if (drains_q && (done || !writes)) begin
            word_q <= word_q + 5'd1;
            drains_q <= word_q != 5'd31;
        end
        if (p_req) p_req <= !p_ack;
        else if (wants && !at_once) begin
            p_req <= 1'b1;
            p_we <= writes;
        end

        stat_discarded <= 1'b0;
        if (reads && done && !got_q[2]) low_words[got_q[7:3]] <= word;
        if (reads && done && got_q[2]) high_words[got_q[7:3]] <= word;
        case (state_q)
            FREE: if (s_valid) begin
                {at_q, got_q} <= {1'b0, s_addr, 1'b0, s_addr[23:2], 2'd0};
                {left_q, window_q, dword_q, who_q} <= {s_count, s_window, s_dword, s_attr[29:8]};
                message_q <= leaves;
                state_q <= GATHER;
            end
            GATHER: if (message_q || gathered) state_q <= SEND;
                else if (reads && done) got_q <= got_q + 25'd4;
            SEND: if (r_taken) state_q <= FLY;
            default: if (e_valid) begin // FLY
                if (e_code == MOVED) begin
                    at_q <= at_q + {12'd0, e_moved};
                    left_q <= left_q - e_moved;
                    state_q <= message_q || left_q == e_moved ? FREE : GATHER;
                end else if (e_code == RETRY) state_q <= SEND;
                else begin
                    stat_discarded <= 1'b1;
                    state_q <= FREE;
                end
            end
        endcase
        if (rst) begin
            {filling_q, drains_q, p_req, p_we, w_window_q, window_q, dword_q, message_q, stat_discarded} <= 9'd0;
            state_q <= FREE;
            there_q <= 32'd0;
            {w_block_q, w_first_q, w_count_q, word_q, at_q, got_q, left_q, who_q} <= 127'd0;
        end
    end

    assign r_valid = state_q == SEND;
    assign r_wide = !message_q && !dword_q && left_q > 13'd4;
    assign r_addr = {2'd0, who_q, 1'b0, message_q || dword_q ? 7'd0 : at_q[6:0]};
    assign r_count = message_q ? 13'd4 : left_q;
    assign r_piece = message_q ? 13'd4 : piece;
    assign r_attr = {1'b0, message_q, message_q, 5'd0, id};
    // A message says what is left: class 2, index 0 (PCI-X 1.0b, table of Split Completion Message indices).
    wire [31:0] message = {4'd2, 8'd0, 1'b0, at_q[6:0], left_q[11:0]};
    wire [4:0]  d_at = at_q[7:3] + (dword_q ? 5'd0 : d_word[4:0]);
    wire [63:0] pair = {high_words[d_at], low_words[d_at]};
    assign d_data = message_q ? {message, message} : dword_q ? {2{at_q[2] ? pair[63:32] : pair[31:0]}} : pair;
    wire unused = &{1'b0, d_word[9:5], s_attr[31:30], w_at[1:0]};
endmodule
`default_nettype wire
