// SPDX-License-Identifier: Apache-2.0
// equivalence_bench: the recorder of one device in two clock domains, fed cycle by cycle from files.
//
// Entry n of a stimulus file stands at the ports in cycle n of its domain, so a word or cause of entry n stands in the
// tap or cause register in cycle n + 1. Every arm, freeze and change of cross_out is printed with its cycle; when the
// recorder freezes, everything that a host could read is printed.
`timescale 1ps / 1ps
`default_nettype none
module equivalence_bench;
    parameter TAP_DEPTH = 32, EVENT_DEPTH = 32, PLACES = 8, POST_DRAIN = 64, CROSS_LATENCY = 5, PERIOD = 64;
    parameter BUS_PS = 10000, LINK_PS = 12800, BUS_PHASE_PS = 0, LINK_PHASE_PS = 0, CYCLES = 1000;
    localparam N = 6, EVENT_W = 60, BUS_W = 52 + 2 * 69 + N * EVENT_W, LINK_W = 16 + 2 * 69;

    reg clk_bus = 0, clk_link = 0, rst = 1;
    initial begin #(BUS_PHASE_PS) forever #(BUS_PS / 2) clk_bus = !clk_bus; end
    initial begin #(LINK_PHASE_PS) forever #(LINK_PS / 2) clk_link = !clk_link; end
    wire rst_link;
    ff_cdc_sync i_rst (.clk(clk_link), .d(rst), .q(rst_link));

    reg [BUS_W-1:0] bus_stimulus [0:CYCLES-1];
    reg [LINK_W-1:0] link_stimulus [0:CYCLES-1];
    reg [795:0] config_words [0:0];
    reg [BUS_W-1:0] bus_in = 0;
    reg [LINK_W-1:0] link_in = 0;
    reg cross_in = 0;
    reg [8*200-1:0] name;
    initial begin
        if (!$value$plusargs("bus=%s", name)) $finish;
        $readmemh(name, bus_stimulus);
        if (!$value$plusargs("link=%s", name)) $finish;
        $readmemh(name, link_stimulus);
        if (!$value$plusargs("config=%s", name)) $finish;
        $readmemh(name, config_words);
        #(20 * (BUS_PS + LINK_PS));
        @(posedge clk_bus) rst <= 0;
    end
    wire [63:0] now_bus, now_link;
    wire [63:0] bus_next = now_bus + 1, link_next = now_link + 1;
    always @(posedge clk_bus) if (!rst) begin
        bus_in <= bus_stimulus[bus_next];
        cross_in <= cross_in ^ bus_stimulus[bus_next][BUS_W-1];
        if (now_bus == 0) $display("BUS0 %0d", $time - BUS_PS);
        if (bus_next == CYCLES - 1) begin
            $display("END");
            $finish;
        end
    end
    always @(posedge clk_link) if (!rst_link) begin
        link_in <= link_next < CYCLES ? link_stimulus[link_next] : {LINK_W{1'b0}};
        if (now_link == 0) $display("LINK0 %0d", $time - LINK_PS);
    end

    wire unused_cross, wr_arm, wr_freeze;
    wire [31:0] wr_data;
    wire [15:0] causes_bus, causes_link;
    wire [68:0] tap_0, tap_1, tap_2, tap_3;          // {valid, kind, data}
    wire [N*EVENT_W-1:0] events;                     // lane: {valid, kind, code, flow, value}
    assign {unused_cross, wr_arm, wr_freeze, wr_data, causes_bus, tap_0, tap_3, events} = {1'b0, bus_in};
    assign {causes_link, tap_1, tap_2} = link_in;
    wire [79:0] kinds;
    wire [159:0] post;
    wire [15:0] cause_mask;
    wire enable, edge_, sequence_;
    wire [1:0] watched;
    wire [31:0] count, limit, term_kinds;
    wire [127:0] value, mask;
    wire [122:0] spare;
    assign {spare, kinds, post, cause_mask, enable, watched, edge_, sequence_, count, limit, value, mask, term_kinds} = config_words[0];

    wire arm_toggle, bus_level, far_level, far_armed, cross_out, frozen, fire_bus, fire_link, step_bus, step_link;
    wire arm_bus, arm_link, triggered_bus, triggered_link, drain_bus, drain_link, next_bus, next_link;
    wire [15:0] latched_bus, latched_link;
    wire [31:0] since_bus, since_link, generation;
    wire [1:0] state;
    wire [4:0] closed, stat_closed;
    wire [63:0] cause_cycle;
    wire [15:0] fire_bus_cause = {14'd0, fire_bus, 1'b0}, fire_link_cause = {14'd0, fire_link, 1'b0};
    ff_freeze #(.CROSS_LATENCY(CROSS_LATENCY), .POST_DRAIN(POST_DRAIN)) i_freeze (
        .clk(clk_bus), .rst(rst), .now(now_bus), .wr_arm(wr_arm), .wr_freeze(wr_freeze), .wr_data(wr_data),
        .cfg_cause_mask(cause_mask), .cfg_hold(1'b0), .causes_in(causes_bus | fire_bus_cause), .far_level(far_level),
        .far_causes(latched_link), .far_armed(far_armed), .arm_toggle(arm_toggle), .level(bus_level), .cross_in(cross_in),
        .cross_out(cross_out), .peer_frozen(1'b0), .frozen_level(), .arm(arm_bus), .triggered_next(next_bus), .triggered(triggered_bus),
        .causes(latched_bus), .since(since_bus), .drain(drain_bus), .closed(closed), .frozen(frozen), .hold(),
        .stat_generation(generation), .stat_state(state), .stat_closed(stat_closed), .stat_cause_cycle(cause_cycle));
    ff_freeze_remote #(.POST_DRAIN(POST_DRAIN)) i_remote (
        .clk(clk_link), .rst(rst_link), .bus_arm_toggle(arm_toggle), .bus_level(bus_level), .bus_causes(latched_bus),
        .bus_cfg_cause_mask(cause_mask), .causes_in(causes_link | fire_link_cause), .far_level(far_level),
        .far_armed(far_armed), .arm(arm_link), .triggered_next(next_link), .triggered(triggered_link), .causes(latched_link), .since(since_link),
        .drain(drain_link));

    wire [32:0] line;
    wire [1:0] first_valid, last_valid;
    wire [63:0] first_number, last_number;
    wire [127:0] first_cycle, last_cycle;
    ff_time #(.MASTER(1), .PERIOD(PERIOD)) i_time_bus (
        .clk(clk_bus), .rst(rst), .arm(arm_bus), .closed(closed[0] && closed[3] && closed[4]), .line_in(line), .line_out(line),
        .now(now_bus), .stat_first_valid(first_valid[0]), .stat_last_valid(last_valid[0]),
        .stat_first_number(first_number[31:0]), .stat_last_number(last_number[31:0]),
        .stat_first_cycle(first_cycle[63:0]), .stat_last_cycle(last_cycle[63:0]));
    ff_time #(.MASTER(0), .PERIOD(PERIOD)) i_time_link (
        .clk(clk_link), .rst(rst_link), .arm(arm_link), .closed(closed[1] && closed[2]), .line_in(line), .line_out(),
        .now(now_link), .stat_first_valid(first_valid[1]), .stat_last_valid(last_valid[1]),
        .stat_first_number(first_number[63:32]), .stat_last_number(last_number[63:32]),
        .stat_first_cycle(first_cycle[127:64]), .stat_last_cycle(last_cycle[127:64]));

    wire [4*69-1:0] taps = {tap_3, tap_2, tap_1, tap_0};
    wire [4*69-1:0] words;
    genvar m;
    generate for (m = 0; m < 5; m = m + 1) begin : g_memory
        localparam LINK = m == 1 || m == 2, LOG = m == 4, DEPTH = LOG ? EVENT_DEPTH : TAP_DEPTH;
        wire clk = LINK ? clk_link : clk_bus;
        wire wr_en, wrapped;
        wire [$clog2(DEPTH)-1:0] wr_slot, write_ptr;
        wire [71:0] wr_record;
        wire [31:0] stored, offered, lost;
        if (LOG) begin : g_log
            wire [N-1:0] valid;
            wire [N*4-1:0] kind;
            wire [N*8-1:0] code;
            wire [N*7-1:0] flow;
            wire [N*40-1:0] event_value;
            genvar i;
            for (i = 0; i < N; i = i + 1) begin : g_lane
                assign {valid[i], kind[i*4 +: 4], code[i*8 +: 8], flow[i*7 +: 7], event_value[i*40 +: 40]} =
                    events[i*EVENT_W +: EVENT_W];
            end
            ff_event_log #(.SOURCES(N), .DEPTH(DEPTH), .PLACES(PLACES)) i_log (
                .clk(clk), .rst(rst), .ev_valid(valid), .ev_kind(kind), .ev_source(48'h050403020100), .ev_code(code),
                .ev_flow(flow), .ev_value(event_value), .now(now_bus), .arm(arm_bus), .triggered(triggered_bus),
                .causes(latched_bus), .since(since_bus), .drain(drain_bus), .cfg_kinds(kinds[m*16 +: 16]),
                .cfg_post(post[m*32 +: 32]), .wr_en(wr_en), .wr_slot(wr_slot), .wr_record(wr_record),
                .stat_write_ptr(write_ptr), .stat_wrapped(wrapped), .stat_stored(stored), .stat_offered(offered),
                .stat_lost(lost), .stat_closed(closed[m]), .lost_now());
        end else begin : g_tap
            assign lost = 0;
            ff_tap_recorder #(.DEPTH(DEPTH)) i_recorder (
                .clk(clk), .rst(LINK ? rst_link : rst), .tap_valid(taps[m*69+68]), .tap_kind(taps[m*69+64 +: 4]),
                .tap_data(taps[m*69 +: 64]), .word_valid(words[m*69+68]), .word_kind(words[m*69+64 +: 4]),
                .word_data(words[m*69 +: 64]), .now(LINK ? now_link : now_bus), .arm(LINK ? arm_link : arm_bus),
                .triggered_next(LINK ? next_link : next_bus), .triggered(LINK ? triggered_link : triggered_bus), .causes(LINK ? latched_link : latched_bus),
                .since(LINK ? since_link : since_bus), .drain(LINK ? drain_link : drain_bus),
                .cfg_kinds(kinds[m*16 +: 16]), .cfg_post(post[m*32 +: 32]), .wr_en(wr_en), .wr_slot(wr_slot),
                .wr_record(wr_record), .stat_write_ptr(write_ptr), .stat_wrapped(wrapped), .stat_stored(stored),
                .stat_offered(offered), .stat_closed(closed[m]));
        end
        reg [$clog2(DEPTH):0] slot = 0;
        wire [71:0] rd_record;
        ff_trace_memory #(.DEPTH(DEPTH)) i_memory (
            .wr_clk(clk), .wr_en(wr_en), .wr_slot(wr_slot), .wr_record(wr_record), .rd_clk(clk_bus),
            .rd_en(frozen), .rd_slot(slot[$clog2(DEPTH)-1:0]), .rd_record(rd_record));
        // Read through the port: slot s is asked for in one cycle and stands in the next.
        always @(posedge clk_bus) begin
            if (!frozen || arm_bus) slot <= 0;
            else if (slot <= DEPTH) slot <= slot + 1;
            if (frozen && slot >= 1 && slot <= DEPTH) $display("SLOT %0d %0d %h", m, slot - 1, rd_record);
        end
        always @(posedge clk_bus) if (frozen && slot == 1)
            $display("MEMORY %0d %0d %0d %0d %0d %0d", m, write_ptr, wrapped, stored, offered, lost);
    end endgenerate

    wire [68:0] word_bus = watched == 0 ? words[0 +: 69] : words[3*69 +: 69];
    wire [68:0] word_link = watched == 1 ? words[69 +: 69] : words[2*69 +: 69];
    wire watch_link = watched == 1 || watched == 2;
    ff_trigger i_trigger_bus (
        .clk(clk_bus), .rst(rst), .restart(arm_bus), .cfg_enable(enable && !watch_link), .cfg_edge(edge_),
        .cfg_sequence(sequence_), .cfg_count(count), .cfg_limit(limit), .cfg_value(value), .cfg_mask(mask), .cfg_kinds(term_kinds),
        .word_valid(word_bus[68]), .word_kind(word_bus[67:64]), .word_data(word_bus[63:0]), .step(step_bus), .fire(fire_bus));
    ff_trigger i_trigger_link (
        .clk(clk_link), .rst(rst_link), .restart(arm_link), .cfg_enable(enable && watch_link), .cfg_edge(edge_),
        .cfg_sequence(sequence_), .cfg_count(count), .cfg_limit(limit), .cfg_value(value), .cfg_mask(mask), .cfg_kinds(term_kinds),
        .word_valid(word_link[68]), .word_kind(word_link[67:64]), .word_data(word_link[63:0]), .step(step_link), .fire(fire_link));

    reg cross_before = 0, frozen_before = 0;
    always @(posedge clk_bus) if (!rst) begin
        cross_before <= cross_out;
        frozen_before <= frozen;
        if (arm_bus) $display("ARM %0d", now_bus);
        if (cross_out !== cross_before) $display("CROSS %0d", now_bus);
        if (frozen && !frozen_before) begin
            $display("FROZEN %0d %0d %0d %0d %0d %0d", now_bus, generation, latched_bus, cause_cycle, latched_link, state);
            $display("PAIRS %0d %0d %0d %0d %0d %0d", first_valid[0], first_number[31:0], first_cycle[63:0], last_valid[0], last_number[31:0], last_cycle[63:0]);
            $display("PAIRS %0d %0d %0d %0d %0d %0d", first_valid[1], first_number[63:32], first_cycle[127:64], last_valid[1], last_number[63:32], last_cycle[127:64]);
        end
    end
    always @(posedge clk_link) if (arm_link) $display("ARM_LINK %0d", now_link);
    always @(posedge clk_bus) if (step_bus && generation != 0) $display("STEP %0d", now_bus);
    always @(posedge clk_link) if (step_link && generation != 0) $display("STEP %0d", now_link);
endmodule
`default_nettype wire
