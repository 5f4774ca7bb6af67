// SPDX-License-Identifier: Apache-2.0
// ff_select: the small device: one memory that serves one of four taps, in one clock domain; register port, trigger,
// freeze, time and its pair.
//
// What it leaves out of the map reads its reset value or, where it is a memory, answers an error: event log, counters, freeze
// bank, sampler, histograms, provocation, and what a WITH_ parameter leaves out (docs/rtl-area.md says what each costs). The
// one memory stands in the place of the tap that ctl.options.select_tap named at arm; the trigger watches that tap.
//
// Latency: a word stands in the tap register one cycle after tap_valid; a register access takes up to 127 cycles, more
// where the trigger's tables are being filled (ff_regs_select). Throughput: one word a cycle. Back-pressure: none. Clock
// domain: clk. rst is the recorder's own reset and clears everything; bus_rst ends an access; the network card's reset is
// not connected.
`default_nettype none
module ff_select #(
    parameter [31:0] BUILD_HASH = 0,        // identifies the build
    parameter DEVICES = 1,                  // devices behind this target, 1..255
    parameter INDEX = 0,                    // which of them this one is, 0..254
    parameter TIME_MASTER = 1,              // 1: this device makes the time line
    parameter TAP_DEPTH = 2048,             // records in the memory, power of two, 256..16384
    parameter [31:0] CLK_HZ = 100000000,
    parameter [31:0] MAX_BURST = 255,       // words a request may ask for, 1..65535
    parameter [31:0] CROSS_LATENCY = 32,    // cycles from the first cause to cross_out
    parameter [31:0] SYNC_PERIOD = 4096,    // master cycles between two toggles of the time line
    parameter [31:0] POST_DRAIN = 1024,     // cycles after which a missing record counts as one post record
    parameter NONCE_W = 32,                 // bits of boot_nonce that count, 8..32
    parameter POST_W = 12,                  // bits of ctl.post that count, 7..32
    parameter COUNT_W = 32,                 // bits of stored and offered, log2(TAP_DEPTH)+1..32
    parameter TIME_W = 48,                  // bits of the cycle, 40..64
    parameter TRIGGER_SRL = 0,              // 1: the trigger's term in shift-register tables, which a write to it fills anew
    parameter WITH_KINDS = 1,               // 1: ctl.kinds chooses the kinds recorded; 0: all are
    parameter WITH_CROSS = 1,               // 1: cross_in freezes, cross_out tells
    parameter WITH_ERROR_ADDR = 1,          // 1: id.bus_error_addr
    parameter WITH_CRC = 0                  // 1: CRC table
) (
    input  wire         clk, rst, bus_rst,
    input  wire [31:0]  boot_nonce,         // new at every power-up; constant after rst
    // register port: hold s_req and what goes with it until s_ack
    input  wire         s_req, s_we,
    input  wire [31:0]  s_addr, s_wdata,
    output wire         s_ack, s_err,
    output wire [31:0]  s_rdata,
    // taps, accepted words: tap i at bit i, [i*4+:4], [i*64+:64]
    input  wire [3:0]   tap_valid,
    input  wire [15:0]  tap_kind,
    input  wire [255:0] tap_data,
    // causes: bits of enum cause; trigger, host and cross are made here and ignored at this port
    input  wire [15:0]  causes_in,
    input  wire         trigger_in,         // a cause like the own trigger
    output wire         trigger_out,        // one cycle when the own trigger fires
    input  wire         cross_in,           // the other device's cross_out, any clock
    output wire         cross_out,          // changes once for each freeze by a cause of this device's own
    output wire         hold,               // frozen, and the network card is to stand still
    output wire         frozen,             // everything is closed
    input  wire         nic_held,           // the card stands still, as ctl.state.held tells; hold, if nobody else holds it
    // time line, number and toggle: the master's out goes to in of every device, its own as well
    input  wire [32:0]  time_in,
    output wire [32:0]  time_out
);
    generate if (TAP_DEPTH < 256 || TAP_DEPTH > 16384 || (TAP_DEPTH & (TAP_DEPTH - 1)) != 0) begin : g_check_TAP_DEPTH
        ff_error_TAP_DEPTH_must_be_a_power_of_two_from_256_to_16384 stop (); // none such
    end endgenerate
    localparam A = $clog2(TAP_DEPTH);
    // The MARK's cycles since the cause are exact however long post takes; cross_out counts in them, too.
    localparam POST_CYCLES_W = POST_W + $clog2(POST_DRAIN) + 1, CROSS_W = $clog2(CROSS_LATENCY) + 1;
    localparam SINCE_W = POST_CYCLES_W > 32 ? 32 : POST_CYCLES_W > CROSS_W ? POST_CYCLES_W : CROSS_W;
    localparam [11:0] TRIGGER = 12'h002;   // bit of enum cause

    // -- register port ---------------------------------------------------------------------------
    wire        arm, time_seen;
    wire [31:0] time_number;
    wire [63:0] now;
    wire [1:0]  state, cfg_tap, stat_tap;
    wire [11:0] causes, cause_mask;
    wire [15:0] kinds;
    wire [POST_W-1:0] post;
    wire        cfg_hold, pulse_arm, pulse_freeze, closed;
    wire        trigger_enable, trigger_written;
    wire [63:0] value, mask;
    wire [15:0] term_kinds;
    wire        term_busy, term_bit, term_load;
    wire [7:0]  term_place;
    wire        wrapped;
    wire [31:0] stored, offered;
    wire        rd_en, rd_high;
    wire [A-1:0] rd_slot;
    wire [35:0] rd_half;
    wire        sel_crc, crc_ack, crc_err;
    wire [8:0]  crc_word;
    wire [31:0] crc_rdata;
    wire [6:0]  chunks_done;
    wire        crc_en, crc_grant;
    wire [13:0] crc_slot;
    ff_regs_select #(
        .BUILD_HASH(BUILD_HASH), .DEVICES(DEVICES), .INDEX(INDEX), .TIME_MASTER(TIME_MASTER), .TAP_DEPTH(TAP_DEPTH),
        .MAX_BURST(MAX_BURST), .CLK_HZ(CLK_HZ), .CROSS_LATENCY(CROSS_LATENCY), .SYNC_PERIOD(SYNC_PERIOD),
        .POST_DRAIN(POST_DRAIN), .NONCE_W(NONCE_W), .POST_W(POST_W), .COUNT_W(COUNT_W), .TIME_W(TIME_W),
        .TRIGGER_SRL(TRIGGER_SRL), .WITH_KINDS(WITH_KINDS), .WITH_ERROR_ADDR(WITH_ERROR_ADDR), .WITH_CRC(WITH_CRC)
    ) i_regs (
        .clk(clk), .rst(rst), .bus_rst(bus_rst), .boot_nonce(boot_nonce),
        .s_req(s_req), .s_we(s_we), .s_addr(s_addr), .s_wdata(s_wdata), .s_ack(s_ack), .s_err(s_err), .s_rdata(s_rdata),
        .stat_state(state), .stat_held(nic_held), .stat_closed(closed), .stat_causes(causes),
        .stat_tap(stat_tap), .stat_wrapped(wrapped),
        .stat_stored(stored), .stat_offered(offered), .stat_chunks_done(chunks_done),
        .arm(arm), .now(now[TIME_W-1:0]), .time_seen(time_seen), .time_number(time_number),
        .cfg_cause_mask(cause_mask), .cfg_hold(cfg_hold), .cfg_tap(cfg_tap), .cfg_kinds(kinds), .cfg_post(post),
        .cfg_trigger_enable(trigger_enable), .trigger_written(trigger_written), .cfg_value(value), .cfg_mask(mask),
        .cfg_term_kinds(term_kinds), .term_busy(term_busy), .term_place(term_place), .term_bit(term_bit),
        .term_load(term_load), .pulse_arm(pulse_arm), .pulse_freeze(pulse_freeze),
        .rd_en(rd_en), .rd_slot(rd_slot), .rd_high(rd_high), .rd_half(rd_half),
        .crc_en(crc_en), .crc_slot(crc_slot[A-1:0]), .crc_grant(crc_grant),
        .sel_crc(sel_crc), .crc_word(crc_word), .crc_ack(crc_ack), .crc_err(crc_err), .crc_rdata(crc_rdata)
    );

    // -- time, freeze, the one recorder ----------------------------------------------------------------
    wire [31:0] since;
    wire        triggered_next, triggered, drain, fire;
    ff_time_line #(.MASTER(TIME_MASTER), .PERIOD(SYNC_PERIOD), .TIME_W(TIME_W)) i_time (
        .clk(clk), .rst(rst), .line_in(time_in), .line_out(time_out), .now(now), .seen(time_seen), .number(time_number)
    );
    ff_freeze_single #(
        .WITH_CROSS(WITH_CROSS), .CROSS_LATENCY(CROSS_LATENCY), .POST_DRAIN(POST_DRAIN), .SINCE_W(SINCE_W),
        .DRAIN_ON(POST_CYCLES_W > 32 ? 1 : 0)
    ) i_freeze (
        .clk(clk), .rst(rst), .pulse_arm(pulse_arm), .pulse_freeze(pulse_freeze), .cfg_cause_mask(cause_mask),
        .causes_in((causes_in[11:0] & ~TRIGGER) | (TRIGGER & {12{fire || trigger_in}})),
        .cross_in(cross_in), .cross_out(cross_out), .arm(arm), .triggered_next(triggered_next), .triggered(triggered),
        .causes(causes), .since(since), .drain(drain), .closed(closed), .frozen(frozen), .stat_state(state)
    );
    assign hold = frozen && cfg_hold;

    wire        valid, word_valid, wr_en;
    wire [3:0]  kind, word_kind;
    wire [63:0] data, word_data;
    wire [A-1:0] wr_slot, write_ptr;
    wire [71:0] wr_record, crc_record;
    ff_tap_select i_select (
        .clk(clk), .rst(rst), .arm_next(pulse_arm), .cfg_tap(cfg_tap), .s_valid(tap_valid), .s_kind(tap_kind),
        .s_data(tap_data), .m_valid(valid), .m_kind(kind), .m_data(data), .stat_tap(stat_tap)
    );
    ff_tap_recorder #(.DEPTH(TAP_DEPTH), .POST_W(POST_W), .COUNT_W(COUNT_W), .ALL_KINDS(WITH_KINDS == 0 ? 1 : 0)) i_recorder (
        .clk(clk), .rst(rst), .tap_valid(valid), .tap_kind(kind), .tap_data(data),
        .word_valid(word_valid), .word_kind(word_kind), .word_data(word_data), .now(now), .arm(arm),
        .triggered_next(triggered_next), .triggered(triggered), .causes({4'd0, causes}), .since(since), .drain(drain),
        .cfg_kinds(kinds), .cfg_post(post),
        .wr_en(wr_en), .wr_slot(wr_slot), .wr_record(wr_record), .stat_write_ptr(write_ptr), .stat_wrapped(wrapped),
        .stat_stored(stored), .stat_offered(offered), .stat_closed(closed)
    );

    wire step;
    generate
        if (TRIGGER_SRL != 0) begin : g_trigger_srl
            ff_trigger_srl i_trigger (
                .clk(clk), .rst(rst), .restart(arm || trigger_written), .load(term_load), .cfg_enable(trigger_enable),
                .cfg_place(term_place), .cfg_bit(term_bit), .word_valid(word_valid),
                .word_kind(word_kind), .word_data(word_data), .stat_busy(term_busy), .fire(fire)
            );
            assign step = 1'b0;
            wire unused = &{1'b0, value, mask, term_kinds};
        end else begin : g_trigger
            ff_trigger #(.TERMS(1), .WITH_EDGE(0), .COUNT_W(1), .LIMIT_W(1)) i_trigger (
                .clk(clk), .rst(rst), .restart(arm || trigger_written), .cfg_enable(trigger_enable), .cfg_edge(1'b0),
                .cfg_sequence(1'b0), .cfg_count(32'd1), .cfg_limit(32'd0), .cfg_value({64'd0, value}),
                .cfg_mask({64'd0, mask}), .cfg_kinds({16'd0, term_kinds}), .word_valid(word_valid),
                .word_kind(word_kind), .word_data(word_data), .step(step), .fire(fire)
            );
            assign {term_busy, term_place} = 9'd0;
            wire unused = &{1'b0, term_load, term_bit};
        end
    endgenerate
    assign trigger_out = fire;

    generate
        if (WITH_CRC != 0) begin : g_crc
            // The CRC engine takes a record at once, so the host's half is chosen behind the memory.
            wire [2:0] unused_memory;
            localparam [14:0] DEPTH = TAP_DEPTH[14:0];
            ff_trace_memory #(.DEPTH(TAP_DEPTH)) i_memory (
                .wr_clk(clk), .wr_en(wr_en), .wr_slot(wr_slot), .wr_record(wr_record),
                .rd_clk(clk), .rd_en(rd_en), .rd_slot(rd_slot), .rd_record(crc_record)
            );
            reg high_q;
            always @(posedge clk) high_q <= rd_high;
            assign rd_half = high_q ? {crc_record[71:68], crc_record[63:32]} : {crc_record[67:64], crc_record[31:0]};
            ff_crc_table #(.MEMORIES(1), .DEPTH_LOG2(A), .DEPTHS({60'd0, DEPTH})) i_crc (
                .clk(clk), .rst(rst), .bus_rst(bus_rst), .frozen(frozen), .rd_en(crc_en), .rd_memory(unused_memory),
                .rd_slot(crc_slot), .grant(crc_grant), .rd_record(crc_record), .stat_chunks_done(chunks_done),
                .sel(sel_crc), .win_word(crc_word), .win_ack(crc_ack), .win_err(crc_err), .win_rdata(crc_rdata)
            );
        end else begin : g_no_crc
            ff_trace_memory_half #(.DEPTH(TAP_DEPTH)) i_memory (
                .wr_clk(clk), .wr_en(wr_en), .wr_slot(wr_slot), .wr_record(wr_record), .rd_clk(clk),
                .rd_en(rd_en), .rd_slot(rd_slot), .rd_high(rd_high), .rd_clear(1'b0), .rd_half(rd_half)
            );
            assign crc_record = 72'd0;
            assign {crc_en, crc_slot, chunks_done, crc_ack, crc_err, crc_rdata} = {22'd0, sel_crc, sel_crc, 32'd0};
            wire unused = &{1'b0, crc_grant, crc_word};
        end
    endgenerate
    wire unused_bits = &{1'b0, step, crc_slot, crc_record, write_ptr, causes_in[15:12]};
endmodule
`default_nettype wire
