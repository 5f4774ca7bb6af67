// SPDX-License-Identifier: Apache-2.0
// ff_nic_tx_dma: fetches a message from host memory by split reads, makes a packet of it, and writes that into the
// outgoing FIFO; sends pattern packets and the injected packet as well.
//
// Latency: header words enter the FIFO while the first completion announces itself, each payload word one cycle after
// it was on the bus, the tail one cycle after the last. Throughput: one word a cycle. Back-pressure: a packet is
// begun when the FIFO has room for all of it; an injected one is stopped word by word. Clock domain: clk (bus).
//
// The fault: where the bus has ended a read early, the engine counts words as fetched that it never got, and goes on
// behind them. All that comes after, CRCs too, is made of what it has. It strikes once after each reset.
`default_nettype none
module ff_nic_tx_dma #(
    parameter DEPTH_LOG2 = 10 // log2 of the words of the outgoing FIFO, 10..15
) (
    input  wire        clk, rst,
    // descriptor
    input  wire        d_valid, d_pattern,
    input  wire [63:0] d_src,
    input  wire [31:0] d_dest,
    input  wire [9:0]  d_length,
    input  wire [3:0]  d_flags, d_type,
    input  wire [6:0]  d_flow,
    input  wire [15:0] d_seq,
    output wire        d_take,
    // injected words
    input  wire        inject_valid, inject_last,
    input  wire [63:0] inject_data,
    output wire        inject_ready,
    // host bus, read
    output wire        b_req,
    output wire [63:0] b_addr,
    output wire [9:0]  b_len,
    input  wire        b_gnt, b_ack, b_retry,
    input  wire        c_own, c_valid, c_last,
    input  wire [63:0] c_data,
    // outgoing FIFO
    input  wire [DEPTH_LOG2:0] f_room,
    input  wire        f_packet_room,
    output reg         f_valid, f_last,
    output reg  [1:0]  f_kind,
    output reg  [63:0] f_data,
    output wire        f_first,         // with f_valid: first word of a packet
    // of the packet whose last word is written, for its local notification
    output reg         p_valid, p_notify,
    output reg  [15:0] p_seq,
    output reg  [6:0]  p_flow,
    // status, events, counters
    output reg  [7:0]  stat_state,      // enum machine_state
    output wire [63:0] stat_address,
    output wire [15:0] stat_remaining, stat_length,
    output reg  [15:0] stat_next_seq,
    output reg         ev_started, ev_done,
    output wire [6:0]  ev_flow,
    output wire [39:0] ev_value,
    output reg         ev_read,         // a read has the bus, was retried, was disconnected
    output reg  [7:0]  ev_read_code,    // enum desc_code
    output wire [39:0] ev_read_value,   // length: payload words still to be fetched
    output wire        count_retry, count_disconnect, count_split_wait,
    // fault: after a retry or disconnect go on too far; what goes with it stands still while fault_resume is high
    input  wire        fault_resume,
    input  wire [2:0]  fault_words,         // by so many, 1..7; only where more are left
    input  wire [15:0] fault_count,         // resumptions to let pass first
    output reg         fault_struck,
    output reg  [15:0] fault_seq,
    output reg  [6:0]  fault_struck_flow,
    output reg  [9:0]  fault_struck_word // first word of the packet that is left out, 0 the header
);
    generate if (DEPTH_LOG2 < 10 || DEPTH_LOG2 > 15) begin : g_check_DEPTH_LOG2
        ff_error_DEPTH_LOG2_must_be_10_to_15 stop (); // none such
    end endgenerate
    localparam [1:0] HEAD = 2'd1, BODY = 2'd2, TAIL = 2'd3;
    localparam [2:0] IDLE = 3'd0, ROOM = 3'd1, ASK = 3'd2, BACKOFF = 3'd3, SPLIT = 3'd4, DATA = 3'd5, CLOSE = 3'd6,
                     INJECT = 3'd7;
    localparam [7:0] M_IDLE = 8'd0, M_FETCH = 8'd1, M_SPLIT_WAIT = 8'd2, M_DATA = 8'd3;
    localparam [7:0] RETRIED = 8'd4, DISCONNECTED = 8'd5, REQUESTED = 8'd7;
    localparam [3:0] NOTIFY_LOCAL = 4'd1;

    reg  [2:0]  state_q;
    reg  [63:0] src_q;
    reg  [31:0] dest_q;
    reg  [9:0]  length_q, left_q;       // words of the message; not yet fetched
    reg  [3:0]  flags_q, type_q;
    reg  [6:0]  flow_q;
    reg  [15:0] seq_q;
    reg         pattern_q;
    reg         begun_q;                // the header has gone out
    reg         head0_q, head1_q;       // the header word, the address word goes out next
    reg  [4:0]  backoff_q;
    reg  [7:0]  random_q;               // for the wait before a retried request
    reg         first_q;
    reg  [9:0]  ev_left_q;
    reg  [1:0]  place_q;                // of the next injected word: 0, 1, 2 or more

    wire made = pattern_q || length_q == 10'd0; // nothing to fetch
    wire pattern_valid;
    wire [63:0] pattern_data;
    ff_nic_pattern i_pattern (
        .clk(clk), .rst(rst), .start(head0_q && pattern_q), .seed(src_q[63:32]), .number(src_q[31:0]),
        .length(length_q), .m_valid(pattern_valid), .m_data(pattern_data));

    wire [15:0] crc16;
    wire [63:0] header = {crc16, seq_q, 6'd0, length_q, 1'b0, flow_q, flags_q, type_q};
    ff_nic_crc16 #(.BYTES(14)) i_crc16 (
        .en(head0_q), .header(header[47:0]), .address({32'd0, dest_q}), .crc(crc16));
    wire        word = state_q == DATA && (pattern_q ? pattern_valid : c_valid);
    wire [63:0] word_data = pattern_q ? pattern_data : c_data;
    wire [31:0] crc32;
    ff_nic_crc32 i_crc32 (
        .clk(clk), .s_first(head0_q), .s_valid(word), .s_data(word_data), .crc(crc32));

    wire fits = f_packet_room && f_room >= {{DEPTH_LOG2-10{1'b0}}, 1'b0, length_q} + {{DEPTH_LOG2-2{1'b0}}, 3'd5};
    wire last_word = word && left_q == 10'd1;
    wire close = state_q == CLOSE && !head0_q && !head1_q; // the tail goes out
    // Room for the word in the register before the FIFO, too.
    assign inject_ready = state_q == INJECT && f_packet_room && f_room > {{DEPTH_LOG2-1{1'b0}}, 2'd2};
    wire inject = inject_valid && inject_ready;
    assign d_take = state_q == IDLE && d_valid && !inject_valid;
    assign b_req = state_q == ASK;
    assign b_addr = src_q + {51'd0, length_q - left_q, 3'd0};
    assign b_len = left_q;
    assign count_retry = b_req && b_retry;
    assign count_disconnect = state_q == DATA && !pattern_q && c_valid && c_last && left_q != 10'd1;
    assign count_split_wait = state_q == SPLIT && !c_own;

    // What is left where a read has to be asked for again, and whether the fault strikes there.
    wire       ended = count_retry || count_disconnect;
    wire [9:0] rest = count_disconnect ? left_q - 10'd1 : left_q;
    wire       could = ended && fault_resume && !fault_struck && rest > {7'd0, fault_words};
    reg [15:0] passed_q;
    wire       strikes = could && passed_q == fault_count;
    wire [9:0] resumed = strikes ? rest - {7'd0, fault_words} : rest;

    always @(posedge clk) begin
        random_q <= {random_q[6:0], random_q[7] ^ random_q[5] ^ random_q[4] ^ random_q[3]};
        head0_q <= 1'b0;
        head1_q <= head0_q;
        case (state_q)
            IDLE: begin
                place_q <= 2'd0;
                if (inject_valid) state_q <= INJECT;
                else if (d_valid) begin
                    {src_q, dest_q, length_q, flags_q, type_q, flow_q, seq_q, pattern_q}
                        <= {d_src, d_dest, d_length, d_flags, d_type, d_flow, d_seq, d_pattern};
                    left_q <= d_length;
                    begun_q <= 1'b0;
                    stat_next_seq <= d_seq + 16'd1;
                    state_q <= ROOM;
                end
            end
            ROOM: if (fits) begin
                head0_q <= made;
                state_q <= !made ? ASK : length_q == 10'd0 ? CLOSE : DATA;
            end
            ASK: begin
                if (b_ack) state_q <= SPLIT;
                if (b_retry) begin
                    state_q <= BACKOFF;
                    left_q <= resumed;
                    backoff_q <= 5'd4 + {1'b0, random_q[3:2] == 2'd3 ? 4'd12 : random_q[3:0]};
                end
            end
            BACKOFF: begin
                backoff_q <= backoff_q - 5'd1;
                if (backoff_q == 5'd1) state_q <= ASK;
            end
            SPLIT: if (c_own) begin
                head0_q <= !begun_q;
                begun_q <= 1'b1;
                state_q <= DATA;
            end
            DATA: begin
                if (word) left_q <= left_q - 10'd1;
                if (last_word) state_q <= CLOSE;
                else if (count_disconnect) begin
                    left_q <= resumed;
                    state_q <= ASK;
                end
            end
            CLOSE: if (close) state_q <= IDLE;
            default: if (inject) begin // INJECT
                if (place_q == 2'd0) begin
                    {seq_q, flow_q, flags_q, type_q}
                        <= {inject_data[47:32], inject_data[14:8], inject_data[7:4], inject_data[3:0]};
                    length_q <= 10'd0;
                    left_q <= 10'd0;
                    src_q <= 64'd0;
                end
                place_q <= place_q == 2'd2 ? 2'd2 : place_q + 2'd1;
                if (inject_last) state_q <= IDLE;
            end
        endcase

        f_valid <= head0_q || head1_q || word || close || inject;
        f_last <= close || (inject && inject_last);
        if (head0_q) {f_kind, f_data} <= {HEAD, header};
        else if (head1_q) {f_kind, f_data} <= {HEAD, 32'd0, dest_q};
        else if (word) {f_kind, f_data} <= {BODY, word_data};
        else if (close) {f_kind, f_data} <= {TAIL, 32'd0, crc32};
        else if (inject) {f_kind, f_data} <= {place_q < 2'd2 ? HEAD : inject_last ? TAIL : BODY, inject_data};

        first_q <= head0_q || (inject && place_q == 2'd0);
        ev_started <= head0_q || (inject && place_q == 2'd0);
        ev_read <= (b_req && (b_gnt || b_retry)) || count_disconnect;
        ev_read_code <= count_disconnect ? DISCONNECTED : b_retry ? RETRIED : REQUESTED;
        ev_left_q <= rest;
        if (could && !strikes) passed_q <= passed_q + 16'd1;
        if (strikes) begin
            fault_struck <= 1'b1;
            fault_seq <= seq_q;
            fault_struck_flow <= flow_q;
            fault_struck_word <= 10'd2 + length_q - rest;
        end
        ev_done <= close || (inject && inject_last);
        p_valid <= close || (inject && inject_last);
        if (inject && place_q == 2'd0) begin // one of a single word, too
            p_notify <= |(inject_data[7:4] & NOTIFY_LOCAL);
            {p_seq, p_flow} <= {inject_data[47:32], inject_data[14:8]};
        end else begin
            p_notify <= |(flags_q & NOTIFY_LOCAL);
            {p_seq, p_flow} <= {seq_q, flow_q};
        end
        if (rst) begin
            state_q <= IDLE;
            head0_q <= 1'b0;
            head1_q <= 1'b0;
            f_valid <= 1'b0;
            f_last <= 1'b0;
            first_q <= 1'b0;
            ev_started <= 1'b0;
            ev_done <= 1'b0;
            ev_read <= 1'b0;
            p_valid <= 1'b0;
            random_q <= 8'h5A;
            stat_next_seq <= 16'd0;
            place_q <= 2'd0;
            pattern_q <= 1'b0;
            length_q <= 10'd0;
            left_q <= 10'd0;
            src_q <= 64'd0;
            begun_q <= 1'b0;
            passed_q <= 16'd0;
            fault_struck <= 1'b0;
            fault_seq <= 16'd0;
            fault_struck_flow <= 7'd0;
            fault_struck_word <= 10'd0;
        end
    end
    assign f_first = first_q;

    always @* case (state_q)
        IDLE:             stat_state = M_IDLE;
        ROOM, ASK, BACKOFF: stat_state = M_FETCH;
        SPLIT:            stat_state = M_SPLIT_WAIT;
        default:          stat_state = M_DATA;
    endcase
    wire working = state_q != IDLE;
    assign stat_address = working ? b_addr : 64'd0;
    assign stat_remaining = {6'd0, working && !pattern_q ? left_q : 10'd0};
    assign stat_length = {6'd0, working ? length_q : 10'd0};
    assign ev_flow = flow_q;
    assign ev_read_value = {4'd0, seq_q, flags_q, 2'd0, type_q, ev_left_q};
    assign ev_value = {4'd0, seq_q, flags_q, 2'd0, type_q, length_q};
endmodule
`default_nettype wire
