// SPDX-License-Identifier: Apache-2.0
// ff_nic_pcix_reads: the card's reads as Memory Read Block requests, and what comes for them as words for the card.
//
// A request goes out when nothing is posted before it, with cfg_most bytes at most; the next part follows by itself. The
// card hears hb_gnt with each address phase while its request stands, hb_retry for a Retry, hb_ack for a Split Response
// or the first word. Data may come at once or in Split Completions, with 32 or 64 bits; a read that is disconnected ends
// with hb_clast, and the card asks for the rest. After an abort or an error message nothing is made up: the rest waits
// for cfg_resume and is asked for again. What comes for a read of before card_rst is thrown away. Latency: five cycles
// from a data phase to hb_cvalid at the beginning. Throughput: one word a cycle. Clock domain: clk.
`default_nettype none
module ff_nic_pcix_reads (
    input  wire        clk, rst, card_rst, cfg_resume,
    input  wire [12:0] cfg_most,        // bytes of a request, a multiple of 8
    input  wire        en,              // nothing is posted, and the card may be initiator
    // the card: see ff_nic_bus.v
    input  wire        hb_req,
    input  wire [63:0] hb_addr,
    input  wire [9:0]  hb_len,
    output wire        hb_gnt,
    output reg         hb_ack, hb_retry,
    output wire        hb_cown,
    output reg         hb_cvalid, hb_clast,
    output reg  [63:0] hb_cdata,
    // to the initiator
    output wire        r_valid,
    output wire [63:0] r_addr,
    output wire [12:0] r_count,
    input  wire        r_taken,
    input  wire        m_valid, m_wide, m_high, m_ends, m_done, // of this request's data phases
    input  wire        e_valid,
    input  wire [2:0]  e_code,
    // Split Completions of this card's tag 0
    input  wire        k_begin, k_message, k_error, k_valid, k_wide, k_high,
    output wire        waits,           // for one
    input  wire [63:0] i_ad,
    input  wire        i_idle,          // the bus
    output reg         stat_message,    // an error message has come
    output wire        stat_halted
);
    localparam [2:0] IDLE = 3'd0, ASK = 3'd1, FLY = 3'd2, WAIT = 3'd3, HALT = 3'd4, GAP = 3'd5;
    localparam [2:0] RETRY = 3'd1, SPLIT = 3'd2;

    reg  [2:0]  state_q;
    reg         acked_q, stale_q, message_q, now_q;
    reg  [63:0] addr_q;
    reg  [9:0]  left_q, part_q;         // words of the read, of the present sequence, that have not come
    reg         half_q;                 // of the next word the lower half has come
    reg  [31:0] low_q;

    // Words as they come, from either side.
    wire        now = m_valid && state_q == FLY;
    wire        phase = now || (k_valid && !message_q);
    wire        wide = now ? m_wide : k_wide;
    wire        high = now ? m_high : k_high;
    wire        word = phase && (wide || high);
    wire [63:0] data = {wide ? i_ad[63:32] : i_ad[31:0], high ? low_q : i_ad[31:0]};
    wire        last = left_q == 10'd1 || (now && m_ends && !m_done);
    wire [9:0]  most = {cfg_most[12:3]};
    wire [9:0]  asked = left_q < most ? left_q : most;

    // A few are kept, so that the card hears of them early enough.
    reg  [64:0] fifo [0:15];
    reg  [4:0]  put_q, take_q;
    reg  [1:0]  open_q;                 // cycles that hb_cown has stood
    reg         own_q, burst_q, acked_2q;
    wire        any = put_q != take_q;
    assign hb_cown = own_q;
    assign hb_gnt = r_taken && !acked_q && !stale_q;

    always @(posedge clk) begin
        {hb_ack, hb_retry, hb_cvalid, hb_clast, stat_message} <= 5'd0;
        if (phase && !wide && !high) low_q <= i_ad[31:0];
        if (phase) half_q <= !wide && !high;
        if (word && !stale_q) begin
            fifo[put_q[3:0]] <= {last, data};
            put_q <= put_q + 5'd1;
        end
        if (word) begin
            left_q <= left_q - 10'd1;
            part_q <= part_q - 10'd1;
            addr_q <= addr_q + 64'd8;
        end
        acked_2q <= acked_q;
        burst_q <= (burst_q || (k_begin && state_q == WAIT && !k_message) || now) && !i_idle && !stale_q;
        if (!own_q) begin
            own_q <= (burst_q || any) && acked_2q && !stale_q;
            open_q <= 2'd0;
        end else begin
            if (!(&open_q)) open_q <= open_q + 2'd1;
            if (open_q[1] && any) begin
                hb_cvalid <= 1'b1;
                {hb_clast, hb_cdata} <= fifo[take_q[3:0]];
                take_q <= take_q + 5'd1;
            end else if (&open_q && !any && !burst_q) own_q <= 1'b0;
        end

        if (k_begin) message_q <= k_message;
        case (state_q)
            IDLE: if (hb_req && !any && !own_q && !card_rst) begin
                addr_q <= {hb_addr[63:3], 3'd0};
                left_q <= hb_len;
                half_q <= 1'b0;
                acked_q <= 1'b0;
                state_q <= ASK;
            end
            ASK: if (stale_q) state_q <= IDLE;
                else if (r_taken) begin
                    part_q <= asked;
                    now_q <= 1'b0;
                    state_q <= FLY;
                end
            FLY: begin
                if (now) now_q <= 1'b1;
                if (now && !acked_q && !stale_q) begin
                    hb_ack <= 1'b1;
                    acked_q <= 1'b1;
                end
                if (e_valid) case (e_code)
                    RETRY: if (acked_q || stale_q) state_q <= ASK;
                        else begin
                            hb_retry <= 1'b1;
                            state_q <= GAP;
                        end
                    SPLIT: begin
                        hb_ack <= !acked_q && !stale_q;
                        acked_q <= 1'b1;
                        state_q <= WAIT;
                    end
                    default: if (!now_q) state_q <= HALT;
                        else state_q <= half_q || (part_q == 10'd0 && left_q != 10'd0) ? ASK : GAP;
                endcase
            end
            WAIT: if (k_valid && message_q) begin
                stat_message <= k_error;
                state_q <= HALT;
            end else if (part_q == 10'd0) state_q <= left_q == 10'd0 ? GAP : ASK;
            HALT: if (stale_q) state_q <= IDLE;
                else if (cfg_resume) state_q <= ASK;
            default: state_q <= IDLE; // GAP: the answered request is seen for one cycle more
        endcase
        if (state_q == IDLE || state_q == GAP) stale_q <= 1'b0;
        else if (card_rst) stale_q <= 1'b1;
        if (card_rst) begin
            {hb_ack, hb_retry, hb_cvalid, hb_clast, own_q, burst_q} <= 6'd0;
            take_q <= put_q;
        end
        if (rst) begin
            state_q <= IDLE;
            {hb_ack, hb_retry, hb_cvalid, hb_clast, own_q, burst_q, acked_q, acked_2q, stale_q, message_q, now_q} <= 11'd0;
            half_q <= 1'b0;
            {put_q, take_q, open_q} <= 12'd0;
            {left_q, part_q, addr_q, low_q, hb_cdata} <= 180'd0;
        end
    end
    assign r_valid = state_q == ASK && en && !stale_q;
    assign r_addr = {addr_q[63:3], half_q, 2'd0};
    assign r_count = {asked, 3'd0} - {10'd0, half_q, 2'd0};
    assign waits = state_q == WAIT;
    assign stat_halted = state_q == HALT;
    wire unused = &{1'b0, hb_addr[2:0], addr_q[2:0], cfg_most[2:0]};
endmodule
`default_nettype wire
