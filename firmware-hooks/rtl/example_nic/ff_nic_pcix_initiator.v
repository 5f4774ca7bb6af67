// SPDX-License-Identifier: Apache-2.0
// ff_nic_pcix_initiator: one PCI-X transaction at a time as its initiator: address, attributes, data, end.
//
// All that is sampled and all that is driven stands in registers, so an answer comes two clocks after what it answers
// (PCI-X 1.0b, 2.1). FRAME# leaves one clock before the last data phase and IRDY# one after it, or, of a burst of fewer
// than four phases, as soon as that can be known; IRDY# never before FRAME#. While a target of a write waits, the first
// and the second word alternate. A burst ends early where the target asks for it, where the latency timer has run out
// without GNT#, or behind r_piece bytes, and then at a boundary of 128 bytes (ADB) four phases away or more.
//
// Latency: two cycles from r_valid to the address, on an idle bus that is granted. Throughput: one word a clock.
// Back-pressure: r_valid stands until r_start. Clock domain: clk.
`default_nettype none
module ff_nic_pcix_initiator (
    input  wire        clk, rst,
    // the bus as sampled at the last edge; 1 is asserted
    input  wire        i_frame, i_irdy, i_trdy, i_devsel, i_stop, i_ack64, i_gnt,
    input  wire [7:0]  cfg_latency,     // clocks a burst may go on without GNT#
    // what is to be done; stands until r_start
    input  wire        r_valid, r_write,
    input  wire        r_wide,          // asks for 64 bits
    input  wire [3:0]  r_cmd,
    input  wire [63:0] r_addr,
    input  wire [12:0] r_count,         // bytes of the sequence that are left, 1..4096
    input  wire [12:0] r_piece,         // of them now; fewer end at an ADB
    input  wire [23:0] r_attr,          // bits 31 to 8 of the attributes
    output wire        r_start,
    // words of a write: counted from the 64-bit word of r_addr
    output wire [9:0]  d_word,
    input  wire [63:0] d_data,
    // data phases, as sampled
    output wire        m_valid, m_wide, m_high, // high: a 32-bit phase of the upper half of a word
    output wire        m_ends,          // the last one
    output wire        m_done,          // and with it all of r_count
    // its end
    output wire        e_valid,
    output wire [2:0]  e_code,
    output wire [12:0] e_moved,         // bytes
    output wire        busy,
    // the bus; 1 is asserted, C/BE# as on the pins
    output reg         o_frame, o_frame_oe, o_irdy, o_irdy_oe, o_req64, o_ad_oe, o_cbe_oe,
    output reg  [63:0] o_ad,
    output reg  [7:0]  o_cbe
);
    localparam [2:0] IDLE = 3'd0, SECOND = 3'd1, ATTR = 3'd2, TURN = 3'd3, RUN = 3'd4, END = 3'd5;
    localparam [2:0] MOVED = 3'd0, RETRY = 3'd1, SPLIT = 3'd2, TARGET_ABORT = 3'd3, MASTER_ABORT = 3'd4;
    localparam [3:0] DUAL = 4'd13;

    reg  [2:0]  state_q, code_q;
    reg         write_q, sel_q, wide_q, started_q, over_q, cut_q, high0_q;
    reg  [3:0]  cmd_q, clock_q;     // clocks since the address phase
    reg  [31:0] upper_q;
    reg  [12:0] count_q, left_q, piece_q;
    reg  [6:0]  at_q;
    reg  [23:0] attr_q;
    reg  [10:0] show_q;             // phase whose data is driven
    reg  [8:0]  timer_q;

    wire run = state_q == RUN || state_q == END;
    wire live = run && sel_q && !over_q && i_irdy;
    wire xfer = live && i_trdy && (i_devsel || i_stop);
    wire single = xfer && !i_devsel;
    wire retry = live && !i_trdy && i_stop && i_devsel;
    wire split = live && i_trdy && !i_stop && !i_devsel;
    wire target_abort = live && !i_trdy && i_stop && !i_devsel;
    wire master_abort = state_q == RUN && !sel_q && !i_devsel && clock_q == 4'd6;
    wire refused = retry || split || target_abort || master_abort;

    // What this phase takes, and what is left behind it.
    wire [2:0]  low = wide_q ? at_q[2:0] : {1'b0, at_q[1:0]};
    wire [3:0]  width = wide_q ? 4'd8 : 4'd4;
    wire [3:0]  step = width - {1'b0, low};
    wire [3:0]  took = !xfer ? 4'd0 : {9'd0, step} < left_q ? step : left_q[3:0];
    wire [12:0] left = left_q - {9'd0, took};
    wire [12:0] piece = piece_q - {9'd0, took};
    wire [6:0]  at = at_q + {3'd0, took};
    // An ADB fewer than four phases away is too near to end there: the next one.
    wire [8:0]  bound = 9'd128 - {2'd0, at};
    wire [8:0]  cut = bound >= (wide_q ? 9'd24 : 9'd12) ? bound : bound + 9'd128;
    wire timed_out = timer_q >= {1'b0, cfg_latency} && !i_gnt;
    wire cuts = xfer && !cut_q && ((i_stop && i_devsel) || timed_out);
    wire [12:0] rest = cuts && piece > {4'd0, cut} ? {4'd0, cut} : piece;
    wire begun = started_q || xfer;
    wire over = over_q || refused || single || (xfer && rest == 13'd0);
    wire [12:0] phase = {9'd0, width};
    wire frame_ends = over || (begun && rest <= phase + phase + phase);
    wire irdy_ends = !o_frame && (over || (begun && rest <= phase));

    // What is driven two clocks after what is sampled: the next word where one was taken, else to and fro.
    wire wide = sel_q ? wide_q : i_devsel && i_ack64 && o_req64;
    wire waiting = sel_q || i_devsel;
    wire [10:0] show = begun ? show_q + 11'd1 : {10'd0, waiting && !show_q[0]};
    wire [10:0] dword = show + {10'd0, high0_q};
    wire driving = state_q == RUN;
    wire first = show == 11'd0;
    assign d_word = !driving ? 10'd0 : wide ? show[9:0] : dword[10:1];
    wire high = !driving || first ? high0_q : !wide && dword[0];
    wire [63:0] data = {d_data[63:32], high ? d_data[63:32] : d_data[31:0]};

    assign r_start = state_q == IDLE && r_valid && i_gnt && !i_frame && !i_irdy;
    assign busy = state_q != IDLE;
    assign m_valid = xfer;
    assign m_wide = wide_q;
    assign m_high = at_q[2];
    assign m_ends = xfer && (single || rest == 13'd0);
    assign m_done = left == 13'd0;
    assign e_valid = state_q == END && !i_irdy;
    assign e_code = code_q;
    assign e_moved = count_q - left_q;

    wire dual = |r_addr[63:32] && r_cmd != 4'd12;
    always @(posedge clk) begin
        o_frame_oe <= o_frame;
        o_irdy_oe <= o_irdy;
        clock_q <= clock_q + 4'd1;
        if (!timer_q[8]) timer_q <= timer_q + 9'd1;
        at_q <= at;
        left_q <= left;
        piece_q <= rest;
        if (xfer) started_q <= 1'b1;
        if (cuts) cut_q <= 1'b1;
        over_q <= over && run;
        case (state_q)
            IDLE: if (r_start) begin
                {write_q, cmd_q, attr_q, upper_q} <= {r_write, r_cmd, r_attr, r_addr[63:32]};
                {count_q, left_q, piece_q, at_q, high0_q} <= {r_count, r_count, r_piece, r_addr[6:0], r_addr[2]};
                {sel_q, wide_q, started_q, over_q, cut_q} <= 5'd0;
                code_q <= MOVED;
                show_q <= 11'd0;
                timer_q <= 9'd0;
                o_frame <= 1'b1;
                o_frame_oe <= 1'b1;
                o_req64 <= r_wide;
                o_ad_oe <= 1'b1;
                o_cbe_oe <= 1'b1;
                o_ad <= {r_addr[63:32] & {32{dual}}, r_addr[31:0]};
                o_cbe <= {4'hF, dual ? DUAL : r_cmd};
                state_q <= dual ? SECOND : ATTR;
            end
            SECOND: begin
                o_frame_oe <= 1'b1;
                o_ad[31:0] <= upper_q;
                o_cbe <= {4'hF, cmd_q};
                state_q <= ATTR;
            end
            ATTR: begin
                o_frame_oe <= 1'b1;
                o_ad <= {32'd0, attr_q, count_q[7:0]};
                o_cbe <= {4'hF, count_q[11:8]};
                state_q <= TURN;
            end
            TURN: begin
                o_frame_oe <= 1'b1;
                o_ad <= data;
                o_ad_oe <= write_q;
                o_cbe <= 8'hFF;
                clock_q <= 4'd1; // of what the next state samples first: the attribute phase
                state_q <= RUN;
            end
            RUN: begin
                o_frame <= o_frame && !frame_ends;
                o_req64 <= o_req64 && !frame_ends;
                o_frame_oe <= o_frame;
                o_irdy <= !irdy_ends;
                o_irdy_oe <= 1'b1;
                o_ad <= data;
                show_q <= show;
                if (i_devsel && !sel_q && clock_q != 4'd1) begin
                    sel_q <= 1'b1;
                    wide_q <= i_ack64 && o_req64;
                end
                if (irdy_ends) begin
                    o_ad_oe <= 1'b0;
                    o_cbe_oe <= 1'b0;
                    state_q <= END;
                end
            end
            default: if (!i_irdy) state_q <= IDLE; // END
        endcase
        if (refused && !over_q) code_q
            <= retry ? RETRY : split ? SPLIT : target_abort ? TARGET_ABORT : MASTER_ABORT;
        if (rst) begin
            state_q <= IDLE;
            {o_frame, o_frame_oe, o_irdy, o_irdy_oe, o_req64, o_ad_oe, o_cbe_oe} <= 7'd0;
            {sel_q, wide_q, started_q, over_q, cut_q, high0_q, write_q} <= 7'd0;
            o_ad <= 64'd0;
            o_cbe <= 8'hFF;
            code_q <= MOVED;
            {cmd_q, clock_q, upper_q, attr_q, show_q, timer_q, at_q} <= 91'd0;
            {count_q, left_q, piece_q} <= 39'd0;
        end
    end
    wire unused = &{1'b0, dword[0]};
endmodule
`default_nettype wire
