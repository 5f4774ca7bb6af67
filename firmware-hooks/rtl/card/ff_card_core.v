// SPDX-License-Identifier: Apache-2.0
// ff_card_core: the register bus's part of a card that is described by a file: map 2 (docs/card-map.md), freeze, time, memories.
//
// Latency: a register access takes four cycles, one to another clock's tap some ten, one to a window five. Throughput: one access at a
// time. Back-pressure: s_ack. Clock domain: clk, and clks[d] for what belongs to clock d; far_* come from the ff_card_domain of each
// other clock, lowest first. rst is the recorder's own reset and clears everything; bus_rst ends an access and starts the CRC table again.
`default_nettype none
module ff_card_core #(
    parameter [63:0] CARD_HASH = 0,
    parameter [31:0] BUILD_HASH = 0,
    parameter [31:0] FEATURES = 0,
    parameter DEVICES = 1, INDEX = 0, TIME_MASTER = 1, STRIDE_LOG2 = 24,
    parameter CLOCKS = 2,                                     // 2..32, with this one
    parameter SHOWN_CLOCKS = CLOCKS,                          // 1 where the second one never runs: a card of one clock
    parameter [CLOCKS*32-1:0] CLK_HZ = {CLOCKS{32'd0}},
    parameter TAPS = 2,                                       // 1..64
    parameter [TAPS*8-1:0] TAP_DOMAIN = {TAPS{8'd0}},
    parameter MEMORIES = 2,
    parameter [MEMORIES*8-1:0] DEPTH_LOG2 = {MEMORIES{8'd11}},
    parameter [MEMORIES*32-1:0] ADDRESS = {MEMORIES{32'd0}},
    parameter CAUSES = 24,                                    // 12..24
    parameter SHOWN_CAUSES = CAUSES,                          // those that the card has
    parameter [CAUSES-1:0] CAUSE_RESET = {CAUSES{1'b1}},      // cause_mask after rst
    parameter COUNTERS = 0, BANK = 0,                         // as id.counters tells
    parameter HISTOGRAMS = 0,
    parameter ROM_WORDS = 0,
    parameter WITH_CRC = 1,
    parameter [31:0] MAX_BURST = 255, CROSS_LATENCY = 32, POST_DRAIN = 1024, SYNC_PERIOD = 4096,
    parameter POST_W = 16,                                    // bits of tap.post that count, 8..32
    parameter TIME_W = 64                                     // 40..64
) (
    input  wire               clk, rst, bus_rst,
    input  wire [CLOCKS-1:0]  clks, rsts,                     // bit 0: clk and rst
    input  wire [31:0]        boot_nonce,
    // register port: hold s_req and what goes with it until s_ack
    input  wire               s_req, s_we,
    input  wire [31:0]        s_addr, s_wdata,
    output reg                s_ack, s_err,
    output reg  [31:0]        s_rdata,
    // this domain's recorders
    output wire [63:0]        now,
    output wire               arm, triggered_next, triggered,
    output wire [CAUSES-1:0]  causes,
    output wire [31:0]        since,
    output wire               drain,
    input  wire [CAUSES-1:0]  causes_in,
    input  wire               near_closed,
    // the other clocks' ff_card_domain
    output wire               arm_toggle, level,
    output wire [CAUSES-1:0]  cause_mask,
    input  wire [CLOCKS-2:0]  far_level, far_armed, far_closed, far_beats, far_told, far_parity,
    input  wire [(CLOCKS-1)*CAUSES-1:0] far_causes,
    input  wire [(CLOCKS-1)*TIME_W-1:0] far_at,
    // taps
    output wire [TAPS*POST_W-1:0] cfg_post,
    output wire [TAPS*16-1:0] cfg_kinds,
    input  wire [TAPS*16-1:0] tap_write_ptr,
    input  wire [TAPS-1:0]    tap_wrapped, tap_closed,
    input  wire [TAPS*32-1:0] tap_stored, tap_offered,
    output wire [MEMORIES-1:0] rd_en,
    output wire [15:0]        rd_slot,
    input  wire [MEMORIES*72-1:0] rd_record,
    // trigger: 0x140 to 0x1ff, ff_card_trigger_port; a write begins where trigger_write is up
    output wire               trigger_write,
    output wire [31:0]        trigger_wdata,
    input  wire               trigger_known, trigger_writable,
    input  wire [31:0]        trigger_rdata,
    // counters, bank and histograms: 0x4000 to 0x7fff, answered elsewhere
    output wire               sel_counts,
    output wire [13:0]        win_addr,
    input  wire               counts_ack, counts_err,
    input  wire [31:0]        counts_rdata,
    output reg  [5:0]         cfg_snapshot_log2,
    input  wire [31:0]        stat_snapshot_seq,
    // ROM: data a cycle after the address
    output wire [12:0]        rom_word,
    input  wire [31:0]        rom_data,
    // other devices, and the time line
    input  wire               cross_in,
    output wire               cross_out,
    input  wire [32:0]        time_in,
    output wire [32:0]        time_out,
    output wire               hold, frozen,
    input  wire               held
);
    generate
        if (DEVICES < 1 || DEVICES > 255 || INDEX < 0 || INDEX >= DEVICES) begin : g_check_INDEX
            ff_error_DEVICES_must_be_1_to_255_and_INDEX_below_it stop (); // none such
        end
        if (CAUSES < 12 || CAUSES > 24) begin : g_check_CAUSES
            ff_error_CAUSES_must_be_12_to_24 stop (); // none such
        end
        if (POST_W < 8 || POST_W > 32) begin : g_check_POST_W
            ff_error_POST_W_must_be_8_to_32 stop (); // none such
        end
    endgenerate

    // -- register port: an access stands still in addr_q until somebody answers --------------------------------------
    reg         busy_q, we_q, fresh_q;
    reg  [31:0] addr_q, wdata_q;
    wire        answer, answer_err;
    wire [31:0] answer_data;
    always @(posedge clk) begin
        s_ack <= busy_q && answer && !bus_rst;
        s_err <= answer_err;
        s_rdata <= answer_data & {32{!answer_err}};
        busy_q <= (busy_q || (s_req && !s_ack)) && !(busy_q && answer);
        fresh_q <= s_req && !busy_q && !s_ack;
        if (!busy_q) {we_q, addr_q, wdata_q} <= {s_we, {{32-STRIDE_LOG2{1'b0}}, s_addr[STRIDE_LOG2-1:0]}, s_wdata};
        if (rst || bus_rst) {busy_q, fresh_q, s_ack} <= 3'b000;
    end
    wire below = addr_q < 32'h4000;
    wire trace = addr_q >= 32'h100000;
    wire counts = addr_q >= 32'h4000 && addr_q < 32'h8000;
    wire rom = addr_q >= 32'h8000 && addr_q < 32'h10000;
    wire crc = addr_q >= 32'h10000 && addr_q < 32'h20000;
    wire pairs = below && addr_q[13:10] == 4'h1;              // 0x400
    wire taps = below && addr_q[13:11] == 3'd1;               // 0x800
    wire status = taps && !addr_q[4];
    wire read = busy_q && !we_q && !s_ack;

    // -- time, freeze, pairs ---------------------------------------------------------------------------------------------
    wire        seen;
    wire [31:0] number;
    ff_time_line #(.MASTER(TIME_MASTER), .PERIOD(SYNC_PERIOD), .TIME_W(TIME_W)) i_time (
        .clk(clk), .rst(rst), .line_in(time_in), .line_out(time_out), .now(now), .seen(seen), .number(number)
    );
    reg  [CAUSES-1:0] mask_q;
    assign cause_mask = mask_q;
    wire [31:0] generation;
    wire [1:0]  state;
    wire        ready;
    wire [CLOCKS-1:0] alive, closed;
    wire [63:0] cause_cycle;
    wire        writes = fresh_q && we_q && below;
    ff_card_freeze #(.FAR(CLOCKS-1), .CAUSES(CAUSES), .CROSS_LATENCY(CROSS_LATENCY), .POST_DRAIN(POST_DRAIN)) i_freeze (
        .clk(clk), .rst(rst), .now(now), .nonce(boot_nonce[11:0]), .wr_arm(writes && addr_q[13:0] == 14'h104),
        .wr_freeze(writes && addr_q[13:0] == 14'h108), .wr_data(wdata_q), .cfg_cause_mask(mask_q), .causes_in(causes_in),
        .line_seen(seen), .far_level(far_level), .far_armed(far_armed), .far_closed(far_closed), .far_beats(far_beats),
        .far_causes(far_causes), .arm_toggle(arm_toggle), .level(level), .cross_in(cross_in), .cross_out(cross_out), .arm(arm),
        .triggered_next(triggered_next), .triggered(triggered), .causes(causes), .since(since), .drain(drain),
        .near_closed(near_closed), .frozen(frozen), .stat_generation(generation), .stat_state(state), .stat_ready(ready),
        .stat_alive(alive), .stat_closed(closed), .stat_cause_cycle(cause_cycle)
    );
    wire        pairs_ack, pairs_err;
    wire [31:0] pairs_data;
    ff_card_pairs #(.CLOCKS(CLOCKS), .TIME_W(TIME_W)) i_pairs (
        .clk(clk), .rst(rst), .arm_next(arm), .arm_toggle(arm_toggle), .closed(near_closed && triggered), .seen(seen), .number(number),
        .now(now[TIME_W-1:0]), .far_told(far_told), .far_parity(far_parity), .far_at(far_at), .sel(read && pairs),
        .win_word(addr_q[9:2]), .win_ack(pairs_ack), .win_err(pairs_err), .win_rdata(pairs_data)
    );

    // -- taps and memories ---------------------------------------------------------------------------------------------------
    wire        status_ack, status_err;
    wire [31:0] status_data;
    ff_card_status #(.CLOCKS(CLOCKS), .TAPS(TAPS), .DOMAIN(TAP_DOMAIN)) i_status (
        .clk(clk), .rst(rst), .alive(alive), .clks(clks), .rsts(rsts), .write_ptr(tap_write_ptr), .wrapped(tap_wrapped), .closed(tap_closed),
        .stored(tap_stored), .offered(tap_offered), .sel(read && status), .win_word({addr_q[10:5], addr_q[3:2]}),
        .win_ack(status_ack), .win_err(status_err), .win_rdata(status_data)
    );
    wire        records_ack, records_err;
    wire [31:0] records_data, crc_done;
    ff_card_records #(.MEMORIES(MEMORIES), .DEPTH_LOG2(DEPTH_LOG2), .ADDRESS(ADDRESS), .WITH_CRC(WITH_CRC)) i_records (
        .clk(clk), .rst(rst), .bus_rst(bus_rst), .frozen(frozen), .sel_trace(read && trace), .sel_crc(read && crc),
        .win_addr(addr_q), .win_ack(records_ack), .win_err(records_err), .win_rdata(records_data), .stat_crc_done(crc_done),
        .rd_en(rd_en), .rd_slot(rd_slot), .rd_record(rd_record)
    );
    reg  [TAPS*POST_W-1:0] post_q;
    reg  [TAPS*16-1:0] kinds_q;
    assign cfg_post = post_q;
    assign cfg_kinds = kinds_q;
    wire [5:0]  tap = addr_q[10:5];
    wire        tap_exists = {26'd0, tap} < TAPS;
    wire        cfg_tap = taps && addr_q[4] && !addr_q[3] && tap_exists;
    reg  [31:0] tap_data;
    integer t;
    always @* begin
        tap_data = 32'd0;
        for (t = 0; t < TAPS; t = t + 1) if ({26'd0, tap} == t)
            tap_data = addr_q[2] ? {16'd0, kinds_q[16*t +: 16]} : {{32-POST_W{1'b0}}, post_q[POST_W*t +: POST_W]};
    end

    // -- registers that are held here ---------------------------------------------------------------------------------------------
    reg         hold_q;
    reg  [31:0] errors_q, error_addr_q;
    always @(posedge clk) begin
        if (writes && addr_q[13:0] == 14'h118) mask_q <= wdata_q[CAUSES-1:0];
        if (writes && addr_q[13:0] == 14'h11C) hold_q <= wdata_q[0];
        if (writes && addr_q[13:0] == 14'h120) cfg_snapshot_log2 <= |wdata_q[31:6] ? 6'd63 : wdata_q[5:0];
        if (writes && cfg_tap) begin
            if (addr_q[2]) kinds_q[16*tap +: 16] <= wdata_q[15:0];
            else post_q[POST_W*tap +: POST_W] <= |(wdata_q >> POST_W) ? {POST_W{1'b1}} : wdata_q[POST_W-1:0];
        end
        if (busy_q && answer && answer_err) {errors_q, error_addr_q} <= {errors_q + 32'd1, s_addr};
        if (rst) begin
            mask_q <= CAUSE_RESET;
            hold_q <= 1'b0;
            cfg_snapshot_log2 <= 6'd16;
            post_q <= {TAPS{{{POST_W-7{1'b0}}, 7'd64}}};
            kinds_q <= {TAPS*16{1'b1}};
            {errors_q, error_addr_q} <= 64'd0;
        end
    end
    assign hold = frozen && hold_q;

    localparam [31:0] DEVICES_W = DEVICES, INDEX_W = INDEX, MASTER_W = TIME_MASTER, STRIDE_W = STRIDE_LOG2, CLOCKS_W = SHOWN_CLOCKS,
        TAPS_W = TAPS, MEMORIES_W = MEMORIES, COUNTERS_W = COUNTERS, BANK_W = BANK, CAUSES_W = SHOWN_CAUSES, ROM_W = ROM_WORDS;
    wire [31:0] mask_word = {{32-CAUSES{1'b0}}, mask_q}, causes_word = {{32-CAUSES{1'b0}}, causes};
    wire [4:0]  clock = addr_q[6:2];
    wire        is_clk_hz = below && addr_q[13:7] == 7'd1 && {27'd0, clock} < CLOCKS;
    reg  [31:0] plain;
    reg         known, writable, readable;
    integer c;
    always @* begin
        known = below;
        readable = 1'b1;
        writable = 1'b0;
        plain = 32'd0;
        case (addr_q[13:0])
            14'h000: plain = 32'h46525A46;
            14'h004: plain = 32'h00020000;
            14'h008: plain = CARD_HASH[31:0];
            14'h00C: plain = CARD_HASH[63:32];
            14'h010: plain = boot_nonce;
            14'h014: plain = {7'd0, MASTER_W[0], STRIDE_W[7:0], INDEX_W[7:0], DEVICES_W[7:0]};
            14'h018: plain = FEATURES;
            14'h01C: plain = generation;
            14'h020: plain = BUILD_HASH;
            14'h024: plain = {16'd0, ROM_W[15:0]};
            14'h028: plain = {MEMORIES_W[15:0], TAPS_W[7:0], CLOCKS_W[7:0]};
            14'h02C: plain = 32'd256;
            14'h030: plain = MAX_BURST;
            14'h034: plain = SYNC_PERIOD;
            14'h038: plain = POST_DRAIN;
            14'h03C: plain = CROSS_LATENCY;
            14'h040: plain = errors_q;
            14'h044: plain = error_addr_q;
            14'h048: plain = {8'd0, CAUSES_W[7:0], BANK_W[7:0], COUNTERS_W[7:0]};
            14'h100: plain = {26'd0, ready, held, 2'd0, state};
            14'h104, 14'h108: begin
                readable = 1'b0;
                writable = 1'b1;
            end
            14'h10C: plain = causes_word;
            14'h110: plain = cause_cycle[31:0];
            14'h114: plain = cause_cycle[63:32];
            14'h118: begin
                writable = 1'b1;
                plain = mask_word;
            end
            14'h11C: begin
                writable = 1'b1;
                plain = {31'd0, hold_q};
            end
            14'h120: begin
                writable = 1'b1;
                plain = {26'd0, cfg_snapshot_log2};
            end
            14'h124: plain = stat_snapshot_seq;
            14'h128: plain = {{32-CLOCKS{1'b0}}, alive};
            14'h12C: plain = {{32-CLOCKS{1'b0}}, closed};
            14'h130: plain = crc_done;
            default: begin
                known = is_clk_hz || cfg_tap || (below && trigger_known);
                writable = cfg_tap || (below && trigger_writable);
                for (c = 0; c < CLOCKS; c = c + 1) if (is_clk_hz && {27'd0, clock} == c) plain = plain | CLK_HZ[32*c +: 32];
                if (cfg_tap) plain = tap_data;
                if (trigger_known) plain = trigger_rdata;
            end
        endcase
        if (addr_q[1:0] != 2'd0) known = 1'b0;
    end

    // -- who answers -----------------------------------------------------------------------------------------------------------------
    wire rom_exists = rom && !we_q && {19'd0, addr_q[14:2]} + 32'd1 <= ROM_WORDS;
    reg  [1:0] rom_q;                 // the ROM's word comes two cycles behind the access
    always @(posedge clk) rom_q <= {rom_q[0] && busy_q && !s_ack, fresh_q && rom_exists};
    assign rom_word = addr_q[14:2];
    assign sel_counts = read && counts && COUNTERS + BANK + HISTOGRAMS != 0;
    assign win_addr = addr_q[13:0];
    assign trigger_write = writes;
    assign trigger_wdata = wdata_q;
    wire elsewhere = trace || crc || rom_exists || (pairs && !we_q) || (status && !we_q) || (counts && COUNTERS + BANK + HISTOGRAMS != 0);
    wire here = busy_q && !s_ack && (we_q || !elsewhere);
    wire refused = !known || (we_q ? !writable : !readable);
    assign answer = here || pairs_ack || status_ack || records_ack || (sel_counts && counts_ack) || rom_q[1];
    assign answer_err = here ? refused : (pairs_ack && pairs_err) || (status_ack && status_err) || (records_ack && records_err)
        || (sel_counts && counts_ack && counts_err);
    assign answer_data = here ? plain : pairs_ack ? pairs_data : status_ack ? status_data : records_ack ? records_data
        : rom_q[1] ? rom_data : counts_rdata;
endmodule
`default_nettype wire
