// SPDX-License-Identifier: Apache-2.0
// ff_quad_lean: the small device with a memory for each of four word taps, in two clock domains: register port, recorders,
// trigger, freeze, time and its pairs.
//
// What it leaves out of the map reads its reset value or, where it is a memory, answers an error: event log, counters, freeze
// bank, sampler, histograms, CRC table, provocation, ctl.kinds (all are recorded), a second trigger term, INDEX
// (docs/rtl-area.md). ff_quad has all of these.
//
// Latency: a word stands in the tap register one cycle after tap_valid; a register access takes four cycles, more as
// ff_regs_quad says. Throughput: one word a cycle and tap. Back-pressure: none; a tap is a wire, the datapath never waits for
// the recorder. Clock domains: clk_bus (register port, tx_enq, rx_deq) and clk_link (tx_deq, rx_enq). rst is the recorder's
// own reset, in clk_bus, and clears everything; bus_rst, in clk_bus, ends an access; the network card's reset is not connected.
`default_nettype none
module ff_quad_lean #(
    parameter [31:0] BUILD_HASH = 0,        // identifies the build
    parameter DEVICES = 1,                  // devices behind this target, 1..255
    parameter INDEX = 0,                    // which of them this one is, 0..254
    parameter TIME_MASTER = 1,              // 1: this device's clk_bus makes the time line
    parameter TAP_DEPTH = 2048,             // records in a tap memory, power of two, 256..16384
    parameter [31:0] CLK_BUS_HZ = 100000000,
    parameter [31:0] CLK_LINK_HZ = 78125000,
    parameter [31:0] MAX_BURST = 255,       // words a request may ask for, 1..65535
    parameter [31:0] CROSS_LATENCY = 32,    // bus cycles from the first cause to cross_out
    parameter [31:0] SYNC_PERIOD = 4096,    // master cycles between two toggles of the time line
    parameter [31:0] POST_DRAIN = 1024,     // cycles after which a missing record counts as one post record
    parameter NONCE_W = 32,                 // bits of boot_nonce that count, 8..32
    parameter POST_W = 12,                  // bits of ctl.post that count, 7..32
    parameter COUNT_W = 32,                 // bits of stored and offered, log2(TAP_DEPTH)+1..32
    parameter TIME_W = 48                   // bits of the cycle counters, 40..64
) (
    input  wire         clk_bus, clk_link,
    input  wire         rst, bus_rst,
    input  wire [31:0]  boot_nonce,         // new at every power-up; constant after rst
    // register port: hold s_req and what goes with it until s_ack
    input  wire         s_req, s_we,
    input  wire [31:0]  s_addr, s_wdata,
    output wire         s_ack, s_err,
    output wire [31:0]  s_rdata,
    // taps: accepted words
    input  wire         tx_enq_valid,       // clk_bus
    input  wire [3:0]   tx_enq_kind,
    input  wire [63:0]  tx_enq_data,
    input  wire         tx_deq_valid,       // clk_link
    input  wire [3:0]   tx_deq_kind,
    input  wire [63:0]  tx_deq_data,
    input  wire         rx_enq_valid,       // clk_link
    input  wire [3:0]   rx_enq_kind,
    input  wire [63:0]  rx_enq_data,
    input  wire         rx_deq_valid,       // clk_bus
    input  wire [3:0]   rx_deq_kind,
    input  wire [63:0]  rx_deq_data,
    // causes: bits of enum cause; trigger, host and cross are made here and ignored at these ports
    input  wire [15:0]  causes_bus,         // clk_bus
    input  wire [15:0]  causes_link,        // clk_link
    input  wire         trigger_in,         // clk_bus: a cause like the own trigger
    output wire         trigger_out,        // clk_bus: one cycle when the own trigger fires
    input  wire         cross_in,           // the other device's cross_out, any clock
    output wire         cross_out,          // changes once for each freeze by a cause of this device's own
    output wire         hold,               // clk_bus: frozen, and the network card is to stand still
    output wire         frozen,             // clk_bus: everything is closed
    input  wire         nic_held,           // clk_bus: the card stands still, as ctl.state.held tells; hold, if nobody else holds it
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
    localparam DRAIN_ON = POST_CYCLES_W > 32 ? 1 : 0;
    localparam [11:0] TRIGGER = 12'h002;    // bit of enum cause

    wire        rst_link;
    ff_cdc_sync i_rst_link (.clk(clk_link), .d(rst), .q(rst_link));

    // -- register port ---------------------------------------------------------------------------
    wire        arm_bus, arm_link, arm_toggle, arm_ready, pulse_arm, pulse_freeze;
    wire [1:0]  state;
    wire [3:0]  closed, seen_closed, wrapped; // closed: each in its own domain
    wire [15:0] causes_near, causes_far;
    wire [127:0] stored, offered;
    wire [63:0] now_bus, now_link;
    wire        time_seen, far_seen, far_told, far_parity;
    wire [31:0] time_number, unused_number;
    wire [TIME_W-1:0] far_at;
    wire [11:0] cause_mask;
    wire        cfg_hold, trigger_enable;
    wire [1:0]  trigger_tap;
    wire [4*POST_W-1:0] post;
    wire        term_load, term_busy, term_turn;
    wire [2:0]  term_word;
    wire [31:0] term_data;
    wire [3:0]  rd_en;
    wire        rd_clear, rd_high;
    wire [A-1:0] rd_slot;
    wire [143:0] rd_half;
    ff_regs_quad #(
        .BUILD_HASH(BUILD_HASH), .DEVICES(DEVICES), .INDEX(INDEX), .TIME_MASTER(TIME_MASTER), .TAP_DEPTH(TAP_DEPTH),
        .MAX_BURST(MAX_BURST), .CLK_BUS_HZ(CLK_BUS_HZ), .CLK_LINK_HZ(CLK_LINK_HZ), .CROSS_LATENCY(CROSS_LATENCY),
        .SYNC_PERIOD(SYNC_PERIOD), .POST_DRAIN(POST_DRAIN), .NONCE_W(NONCE_W), .POST_W(POST_W), .COUNT_W(COUNT_W),
        .TIME_W(TIME_W)
    ) i_regs (
        .clk(clk_bus), .rst(rst), .bus_rst(bus_rst), .far_clk(clk_link), .far_rst(rst_link), .boot_nonce(boot_nonce),
        .s_req(s_req), .s_we(s_we), .s_addr(s_addr), .s_wdata(s_wdata), .s_ack(s_ack), .s_err(s_err), .s_rdata(s_rdata),
        .stat_state(state), .stat_held(nic_held), .stat_closed(seen_closed), .stat_causes(causes_near[11:0]),
        .stat_wrapped(wrapped), .stat_stored(stored), .stat_offered(offered),
        .arm(arm_bus), .arm_parity(arm_toggle), .closed_near(closed[0] && closed[3]), .now(now_bus[TIME_W-1:0]),
        .time_seen(time_seen), .time_number(time_number), .time_far_told(far_told), .time_far_parity(far_parity),
        .time_far_at(far_at), .cfg_cause_mask(cause_mask), .cfg_hold(cfg_hold), .cfg_post(post),
        .cfg_trigger_enable(trigger_enable), .cfg_trigger_tap(trigger_tap), .term_load(term_load), .term_busy(term_busy),
        .term_turn(term_turn), .term_word(term_word), .term_data(term_data), .arm_ready(arm_ready), .pulse_arm(pulse_arm),
        .pulse_freeze(pulse_freeze), .rd_en(rd_en), .rd_clear(rd_clear), .rd_slot(rd_slot), .rd_high(rd_high),
        .rd_half(rd_half)
    );

    // -- time and freeze, a part in each domain ------------------------------------------------------
    wire [32:0] unused_line;
    ff_time_line #(.MASTER(TIME_MASTER), .PERIOD(SYNC_PERIOD), .TIME_W(TIME_W)) i_time_bus (
        .clk(clk_bus), .rst(rst), .line_in(time_in), .line_out(time_out), .now(now_bus), .seen(time_seen), .number(time_number)
    );
    ff_time_line #(.MASTER(0), .PERIOD(SYNC_PERIOD), .TIME_W(TIME_W)) i_time_link (
        .clk(clk_link), .rst(rst_link), .line_in(time_in), .line_out(unused_line), .now(now_link), .seen(far_seen),
        .number(unused_number)
    );
    ff_time_told #(.TIME_W(TIME_W)) i_told (
        .clk(clk_link), .rst(rst_link), .arm(arm_link), .closed(closed[1] && closed[2]), .seen(far_seen),
        .now(now_link[TIME_W-1:0]), .told(far_told), .parity(far_parity), .at(far_at)
    );

    wire        fire_bus, fire_link, far_level, far_armed, level;
    wire        next_bus, next_link, triggered_bus, triggered_link, drain_bus, drain_link;
    wire [31:0] since_bus, since_link;
    ff_freeze_lean #(.CROSS_LATENCY(CROSS_LATENCY), .POST_DRAIN(POST_DRAIN), .SINCE_W(SINCE_W), .DRAIN_ON(DRAIN_ON)) i_freeze (
        .clk(clk_bus), .rst(rst), .pulse_arm(pulse_arm), .pulse_freeze(pulse_freeze), .arm_ready(arm_ready),
        .cfg_cause_mask(cause_mask), .causes_in((causes_bus[11:0] & ~TRIGGER) | (TRIGGER & {12{fire_bus || trigger_in}})),
        .far_level(far_level), .far_causes(causes_far[11:0]), .far_armed(far_armed), .arm_toggle(arm_toggle), .level(level),
        .cross_in(cross_in), .cross_out(cross_out), .arm(arm_bus), .triggered_next(next_bus), .triggered(triggered_bus),
        .causes(causes_near[11:0]), .since(since_bus), .drain(drain_bus), .closed(closed), .frozen(frozen), .stat_state(state),
        .stat_closed(seen_closed)
    );
    assign causes_near[15:12] = 4'd0;
    ff_freeze_remote #(.POST_DRAIN(POST_DRAIN), .SINCE_W(SINCE_W), .DRAIN_ON(DRAIN_ON)) i_freeze_link (
        .clk(clk_link), .rst(rst_link), .bus_arm_toggle(arm_toggle), .bus_level(level), .bus_causes(causes_near),
        .bus_cfg_cause_mask({4'd0, cause_mask}),
        .causes_in({4'd0, (causes_link[11:0] & ~TRIGGER) | (TRIGGER & {12{fire_link}})}), .far_level(far_level),
        .far_armed(far_armed), .arm(arm_link), .triggered_next(next_link), .triggered(triggered_link), .causes(causes_far),
        .since(since_link), .drain(drain_link)
    );
    assign hold = frozen && cfg_hold;

    // -- taps: recorder, memory and trigger tables each; 0 and 3 in clk_bus, 1 and 2 in clk_link ---------
    wire [3:0]   tap_valid = {rx_deq_valid, rx_enq_valid, tx_deq_valid, tx_enq_valid};
    wire [15:0]  tap_kind = {rx_deq_kind, rx_enq_kind, tx_deq_kind, tx_enq_kind};
    wire [255:0] tap_data = {rx_deq_data, rx_enq_data, tx_deq_data, tx_enq_data};
    wire [13:0]  shift;
    wire         agrees, loaded;
    wire [3:0]   word_valid, agree;
    genvar t;
    generate for (t = 0; t < 4; t = t + 1) begin : g_tap
        localparam FAR = t == 1 || t == 2;
        wire clk = FAR ? clk_link : clk_bus;
        wire wr_en;
        wire [A-1:0] wr_slot, write_ptr;
        wire [71:0] wr_record;
        wire [3:0] kind;
        wire [63:0] data;
        ff_tap_recorder #(.DEPTH(TAP_DEPTH), .POST_W(POST_W), .COUNT_W(COUNT_W), .ALL_KINDS(1)) i_recorder (
            .clk(clk), .rst(FAR ? rst_link : rst),
            .tap_valid(tap_valid[t]), .tap_kind(tap_kind[t*4 +: 4]), .tap_data(tap_data[t*64 +: 64]),
            .word_valid(word_valid[t]), .word_kind(kind), .word_data(data),
            .now(FAR ? now_link : now_bus), .arm(FAR ? arm_link : arm_bus), .triggered_next(FAR ? next_link : next_bus),
            .triggered(FAR ? triggered_link : triggered_bus), .causes(FAR ? causes_far : causes_near),
            .since(FAR ? since_link : since_bus), .drain(FAR ? drain_link : drain_bus),
            .cfg_kinds(16'hFFFF), .cfg_post(post[t*POST_W +: POST_W]),
            .wr_en(wr_en), .wr_slot(wr_slot), .wr_record(wr_record), .stat_write_ptr(write_ptr), .stat_wrapped(wrapped[t]),
            .stat_stored(stored[t*32 +: 32]), .stat_offered(offered[t*32 +: 32]), .stat_closed(closed[t])
        );
        ff_trace_memory_half #(.DEPTH(TAP_DEPTH)) i_memory (
            .wr_clk(clk), .wr_en(wr_en), .wr_slot(wr_slot), .wr_record(wr_record), .rd_clk(clk_bus), .rd_en(rd_en[t]),
            .rd_clear(rd_clear), .rd_slot(rd_slot), .rd_high(rd_high), .rd_half(rd_half[t*36 +: 36])
        );
        ff_trigger_table i_table (
            .clk(clk_bus), .shift(shift), .agrees(agrees), .word_kind(kind), .word_data(data), .agree(agree[t])
        );
        wire unused = &{1'b0, write_ptr};
    end endgenerate

    // -- trigger: the tables of all taps are the same; the one whose tap is named counts -----------------
    wire         kinds_asked;
    wire [4:0]   number;
    assign term_word[2] = !kinds_asked; // 0 to the port, whose other registers are 4 to 7
    // The port answers a word; eleven LUTs choose the bit of it, where synthesis alone takes more.
    wire [7:0]   of_four;
    wire [1:0]   of_sixteen;
    wire         term_bit = of_sixteen[number[4]];
    generate
        for (t = 0; t < 8; t = t + 1) begin : g_four
            ff_mux4 #(.W(1)) i_four (.sel(number[1:0]), .d0(term_data[4*t]), .d1(term_data[4*t+1]), .d2(term_data[4*t+2]),
                .d3(term_data[4*t+3]), .q(of_four[t]));
        end
        for (t = 0; t < 2; t = t + 1) begin : g_sixteen
            ff_mux4 #(.W(1)) i_sixteen (.sel(number[3:2]), .d0(of_four[4*t]), .d1(of_four[4*t+1]), .d2(of_four[4*t+2]),
                .d3(of_four[4*t+3]), .q(of_sixteen[t]));
        end
    endgenerate
    ff_trigger_fill i_fill (
        .clk(clk_bus), .rst(rst), .load(term_load), .cfg_turn(term_turn), .cfg_word({kinds_asked, term_word[1:0]}),
        .cfg_number(number), .cfg_bit(term_bit), .shift(shift), .agrees(agrees), .stat_busy(term_busy), .stat_loaded(loaded)
    );
    wire on = trigger_enable && loaded && !term_load;
    wire [1:0] at_bus = {on && trigger_tap == 2'd3, on && trigger_tap == 2'd0};
    wire [1:0] at_link;
    reg  [1:0] at_link_q;
    always @(posedge clk_bus) at_link_q <= {on && trigger_tap == 2'd2, on && trigger_tap == 2'd1};
    ff_cdc_sync #(.W(2)) i_at_link (.clk(clk_link), .d(at_link_q), .q(at_link));
    wire [1:0] unused_step;
    ff_trigger_steps #(.WITH_EDGE(0), .WITH_SEQUENCE(0), .COUNT_W(1), .LIMIT_W(1)) i_steps_bus (
        .clk(clk_bus), .rst(rst), .restart(arm_bus), .cfg_enable(|at_bus), .cfg_edge(1'b0), .cfg_sequence(1'b0),
        .cfg_count(32'd0), .cfg_limit(32'd0), .word_valid(1'b1),
        .same({1'b0, (at_bus[1] && word_valid[3] && agree[3]) || (at_bus[0] && word_valid[0] && agree[0])}),
        .step(unused_step[0]), .fire(fire_bus)
    );
    ff_trigger_steps #(.WITH_EDGE(0), .WITH_SEQUENCE(0), .COUNT_W(1), .LIMIT_W(1)) i_steps_link (
        .clk(clk_link), .rst(rst_link), .restart(arm_link), .cfg_enable(|at_link), .cfg_edge(1'b0), .cfg_sequence(1'b0),
        .cfg_count(32'd0), .cfg_limit(32'd0), .word_valid(1'b1),
        .same({1'b0, (at_link[1] && word_valid[2] && agree[2]) || (at_link[0] && word_valid[1] && agree[1])}),
        .step(unused_step[1]), .fire(fire_link)
    );
    reg  fired_link_q;                       // changes with each
    always @(posedge clk_link) fired_link_q <= !rst_link && (fired_link_q ^ fire_link);
    wire fired_far;
    ff_cdc_edge i_fired (.clk(clk_bus), .rst(rst), .d(fired_link_q), .pulse(fired_far));
    assign trigger_out = fire_bus || fired_far;
    wire unused_bits = &{1'b0, unused_line, unused_number, unused_step, causes_bus[15:12], causes_link[15:12]};
endmodule
`default_nettype wire
