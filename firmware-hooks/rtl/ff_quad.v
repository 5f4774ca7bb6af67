// SPDX-License-Identifier: Apache-2.0
// ff_quad: one whole device with a memory for each of four word taps and an event log: register port, recorders,
// trigger, freeze, time, counters, freeze bank, sampler, histograms, CRC table, provocation.
//
// Latency: a word stands in the tap register one clk cycle after tap_valid; a register access takes 2 cycles, a
// window 2 to 4, one that crosses to clk_link about 4 cycles of each clock more. Throughput: one word a cycle and tap.
// Back-pressure: none; a tap is a wire, the datapath never waits for the recorder.
//
// Clock domains: clk_bus (register port, tx_enq, rx_deq, event log) and clk_link (tx_deq, rx_enq). rst is the
// recorder's own reset, in clk_bus, and clears everything; bus_rst, in clk_bus, ends an access and clears INDEX;
// the reset of the network card is not connected at all.
`default_nettype none
module ff_quad #(
    parameter [31:0] BUILD_HASH = 0,        // identifies the build
    parameter DEVICES = 1,                  // devices behind this target, 1..255
    parameter INDEX = 0,                    // which of them this one is, 0..254
    parameter TIME_MASTER = 1,              // 1: this device's clk_bus makes the time line
    parameter TAP_DEPTH = 2048,             // records in a tap memory, power of two, 256..16384
    parameter EVENT_DEPTH = 2048,           // records in the event log, power of two, 256..16384; 0: no event log
    parameter EVENT_FIFO = 32,              // places before the event log, even, 8..64
    parameter EV_BUS = 6,                   // event sources in clk_bus, 1..14
    parameter EV_LINK = 4,                  // event sources in clk_link, 1..14
    parameter [31:0] CLK_BUS_HZ = 100000000,
    parameter [31:0] CLK_LINK_HZ = 78125000,
    parameter [31:0] MAX_BURST = 255,       // words a request may ask for, 1..65535
    parameter SAMPLER_DEPTH = 1024,         // samples, power of two, 16..4096; 0: no sampler, no histograms
    parameter COUNTERS = 32,                // counters of the map, in its order, 32; 0: none
    parameter COUNTER_W = 64,               // bits of a counter, 32..64
    parameter FLOWS = 8,                    // flows with state of their own, 1..128
    parameter CREDIT_W = 13,                // bits of a credit counter, 1..24
    parameter [31:0] TX_FIFO = 1024,        // words
    parameter [31:0] RX_FIFO = 2048,        // words, power of two, 16..32768
    parameter [31:0] CREDIT_UNIT = 64,      // words
    parameter [31:0] CROSS_LATENCY = 32,    // bus cycles from the first cause to cross_out
    parameter [31:0] SYNC_PERIOD = 4096,    // master cycles between two toggles of the time line
    parameter [31:0] POST_DRAIN = 1024,     // cycles after which a missing record counts as one post record
    parameter POST_W = 32,                  // bits of ctl.post that count, 1..32
    parameter COUNT_W = 32,                 // bits of a tap's stored and offered, log2(TAP_DEPTH)+1..32
    parameter TIME_W = 64,                  // bits of the cycle counters, 40..64
    parameter TRIGGER_TERMS = 2,            // 1: the trigger has term 0 alone, no edge, no count, no limit
    parameter WITH_BANK = 1,                // freeze bank
    parameter WITH_CRC = 1,                 // CRC table
    parameter WITH_PROVOKE = 1,             // provocation controls
    // 1: small. No ctl.kinds (all are recorded), no stall limit, no provocation: writes there answer errors and the ports keep
    // their reset values; no ctl.cause_cycle and id.bus_error_addr, which read 0; id.bus_errors modulo 256; no s_record.
    parameter LEAN = 0                      // 1 needs WITH_CRC 0, WITH_PROVOKE 0, TRIGGER_TERMS 1
) (
    input  wire         clk_bus, clk_link,
    input  wire         rst, bus_rst,
    input  wire [31:0]  boot_nonce,         // new at every power-up; constant after rst
    // register port: hold s_req and what goes with it until s_ack, as ff_regs.v says
    input  wire         s_req, s_we,
    input  wire [31:0]  s_addr, s_wdata,
    output wire         s_ack, s_err,
    output wire [31:0]  s_rdata,
    // with s_ack, for a bus wider than the port: the word is of a trace memory, and this is its record, all four words
    output wire         s_record_valid,
    output wire [71:0]  s_record,
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
    // events, one a cycle and lane; lanes are logged in order of their number, bus lanes first. ev_*_source is the
    // number of enum event_source, constant. Link lanes cross here, 2 to 4 bus cycles later.
    input  wire [EV_BUS-1:0]     ev_bus_valid,   // clk_bus
    input  wire [EV_BUS*4-1:0]   ev_bus_kind,
    input  wire [EV_BUS*8-1:0]   ev_bus_source, ev_bus_code,
    input  wire [EV_BUS*7-1:0]   ev_bus_flow,
    input  wire [EV_BUS*40-1:0]  ev_bus_value,
    input  wire [EV_LINK-1:0]    ev_link_valid,  // clk_link
    input  wire [EV_LINK*4-1:0]  ev_link_kind,
    input  wire [EV_LINK*8-1:0]  ev_link_source, ev_link_code,
    input  wire [EV_LINK*7-1:0]  ev_link_flow,
    input  wire [EV_LINK*40-1:0] ev_link_value,
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
    output wire [32:0]  time_out,
    // counters: one wire a counter in the order of the map, one a cycle; those of taps and events_lost are made here
    input  wire [31:0]  count_bus,          // clk_bus
    input  wire [31:0]  count_link,         // clk_link
    // what the freeze bank latches, bus domain
    input  wire [7:0]   bank_tx_dma_state, bank_rx_dma_state,  // enum machine_state
    input  wire [15:0]  bank_tx_level, bank_rx_level,          // words; rx_level feeds the occupancy histogram too
    input  wire [63:0]  bank_dma_address,
    input  wire [15:0]  bank_dma_remaining, bank_descriptor_length, bank_descriptors_waiting,
    input  wire         bank_interrupt_mask,
    input  wire [15:0]  bank_completions_waiting,
    input  wire [15:0]  bank_next_seq_out,
    // the same, link domain; element i of an array stands at [i*WIDTH +: WIDTH]
    input  wire [7:0]   bank_tx_link_state, bank_rx_link_state,
    input  wire [15:0]  bank_next_seq_in,
    input  wire [31:0]  bank_stalled_flows,
    input  wire [15:0]  bank_sync_level,                       // 2 lanes of 8 bits
    input  wire [63:0]  bank_underflows, bank_overflows,       // 2 lanes of 32 bits
    input  wire [3:0]   bank_comma_phase,                      // 2 lanes of 2 bits
    // per-flow state, asked for after the freeze: field 0 sent, 1 credited, 2 limit, 3 received, 4 freed, 5 words_sent,
    // 6 words_received, 7 reported. The number stands still while flow_req is high; flow_ack for one clk_bus cycle
    // takes flow_data. No answer within 1,024 cycles: the window of the flows answers errors.
    output wire         flow_req,
    output wire [6:0]   flow_number,
    output wire [2:0]   flow_field,
    input  wire         flow_ack,
    input  wire [31:0]  flow_data,
    // histogram of lengths, clk_bus: one strobe a packet that was received whole
    input  wire         length_valid,
    input  wire [9:0]   length_words,
    // configuration the network card obeys; clk_bus, stands still but for writes
    output wire [31:0]  cfg_stall_limit,
    output wire         rx_dma_stop,
    output wire         link_loopback,
    output wire         traffic_enable,
    output wire [6:0]   traffic_flow,
    output wire [9:0]   traffic_length,
    output wire [31:0]  traffic_gap, traffic_seed,
    // injector, clk_bus: words of one packet, kept until inject_ready; inject_last with the last one
    output wire         inject_valid, inject_last,
    output wire [63:0]  inject_data,
    input  wire         inject_ready
);
    generate
        if (TAP_DEPTH < 256 || TAP_DEPTH > 16384 || (TAP_DEPTH & (TAP_DEPTH - 1)) != 0) begin : g_check_TAP_DEPTH
            ff_error_TAP_DEPTH_must_be_a_power_of_two_from_256_to_16384 stop (); // none such
        end
        if (EVENT_DEPTH != 0 && (EVENT_DEPTH < 256 || EVENT_DEPTH > 16384 || (EVENT_DEPTH & (EVENT_DEPTH - 1)) != 0)) begin : g_check_EVENT_DEPTH
            ff_error_EVENT_DEPTH_must_be_0_or_a_power_of_two_from_256_to_16384 stop (); // none such
        end
        if (EV_BUS < 1 || EV_BUS > 14 || EV_LINK < 1 || EV_LINK > 14) begin : g_check_EV
            ff_error_EV_BUS_and_EV_LINK_must_be_1_to_14 stop (); // none such
        end
        if (DEVICES < 1 || DEVICES > 255) begin : g_check_DEVICES
            ff_error_DEVICES_must_be_1_to_255 stop (); // none such
        end
        if (INDEX < 0 || INDEX > 254) begin : g_check_INDEX
            ff_error_INDEX_must_be_0_to_254 stop (); // none such
        end
        if (EVENT_FIFO < 8 || EVENT_FIFO > 64 || EVENT_FIFO % 2 != 0) begin : g_check_EVENT_FIFO
            ff_error_EVENT_FIFO_must_be_even_from_8_to_64 stop (); // none such
        end
        if (MAX_BURST < 1 || MAX_BURST > 65535) begin : g_check_MAX_BURST
            ff_error_MAX_BURST_must_be_1_to_65535 stop (); // none such
        end
        if (POST_W < 1 || POST_W > 32) begin : g_check_POST_W
            ff_error_POST_W_must_be_1_to_32 stop (); // none such
        end
        if (COUNT_W < $clog2(TAP_DEPTH) + 1 || COUNT_W > 32) begin : g_check_COUNT_W
            ff_error_COUNT_W_must_be_log2_TAP_DEPTH_plus_1_to_32 stop (); // none such
        end
        if (TRIGGER_TERMS < 1 || TRIGGER_TERMS > 2) begin : g_check_TRIGGER_TERMS
            ff_error_TRIGGER_TERMS_must_be_1_or_2 stop (); // none such
        end
        if (COUNTERS != 0 && COUNTERS != 32) begin : g_check_COUNTERS
            ff_error_COUNTERS_must_be_0_or_32 stop (); // none such
        end
        if (RX_FIFO < 16 || RX_FIFO > 32768 || (RX_FIFO & (RX_FIFO - 1)) != 0) begin : g_check_RX_FIFO
            ff_error_RX_FIFO_must_be_a_power_of_two_from_16_to_32768 stop (); // none such
        end
        if (LEAN != 0 && (LEAN != 1 || WITH_CRC != 0 || WITH_PROVOKE != 0 || TRIGGER_TERMS != 1)) begin : g_check_LEAN
            ff_error_LEAN_must_be_0_or_1_without_CRC_provocation_and_a_second_term stop (); // none such
        end
    endgenerate
    localparam WITH_LOG = EVENT_DEPTH != 0;
    localparam LOG_DEPTH = WITH_LOG ? EVENT_DEPTH : 256;
    localparam TAP_A = $clog2(TAP_DEPTH);
    localparam LOG_A = $clog2(LOG_DEPTH);
    localparam DEEPEST_A = TAP_A > LOG_A ? TAP_A : LOG_A;
    localparam [14:0] TAP_15 = TAP_DEPTH[14:0], LOG_15 = EVENT_DEPTH[14:0];
    localparam [74:0] DEPTHS = {LOG_15, {4{TAP_15}}};
    localparam [4:0] MEMORIES = {WITH_LOG[0], 4'b1111};
    localparam [15:0] TRIGGER = 16'h0002;   // bit of enum cause
    // LEAN: the cycles since the cause are exact however long post takes; cross_out counts in them, too.
    localparam POST_CYCLES_W = POST_W + $clog2(POST_DRAIN) + 1, CROSS_W = $clog2(CROSS_LATENCY) + 1;
    localparam SINCE_W = LEAN == 0 || POST_CYCLES_W > 32 ? 32 : POST_CYCLES_W > CROSS_W ? POST_CYCLES_W : CROSS_W;
    localparam DRAIN_ON = LEAN == 0 || POST_CYCLES_W > 32 ? 1 : 0;

    // -- register port ---------------------------------------------------------------------------
    // A register that a lean build lacks is not written: ff_regs answers an error at an odd address, and there is none.
    wire [8:0]  page = s_addr[10:2];
    wire        lacking = LEAN != 0 && s_we && ((page >= 9'h04A && page <= 9'h04E) || page == 9'h048 || page[8:3] == 6'h28);
    wire [31:0] stall_limit, traffic_gap_asked, traffic_seed_asked;
    wire        rx_dma_stop_asked, link_loopback_asked, traffic_enable_asked;
    wire [6:0]  traffic_flow_asked;
    wire [9:0]  traffic_length_asked;
    localparam [115:0] OBEYED = {116{LEAN == 0}};
    assign {cfg_stall_limit, rx_dma_stop, link_loopback, traffic_enable, traffic_flow, traffic_length, traffic_gap, traffic_seed}
        = {stall_limit, rx_dma_stop_asked, link_loopback_asked, traffic_enable_asked, traffic_flow_asked,
            traffic_length_asked, traffic_gap_asked, traffic_seed_asked} & OBEYED;
    wire        rst_link;
    ff_cdc_sync i_rst_link (.clk(clk_link), .d(rst), .q(rst_link));
    wire [31:0] generation, causes_shown, cause_mask, snapshot_log2, snapshot_seq, sample_period, inject_count;
    wire [1:0]  state;
    wire [4:0]  closed;
    wire [63:0] cause_cycle;
    wire        cfg_hold;
    wire [2:0]  unused_select_tap, index_memory, trigger_tap;
    wire [159:0] kinds, post;
    wire [23:0] index_record;
    wire        trigger_enable, trigger_edge, trigger_sequence;
    wire [31:0] trigger_count, trigger_limit;
    wire [63:0] value_lo, value_hi, mask_lo, mask_hi, term_kinds;
    wire        pulse_arm, pulse_freeze, pulse_inject, wr_strobe;
    wire [8:0]  wr_word;
    wire [31:0] wr_data;
    wire        win_we, win_ack, win_err;
    wire [21:0] win_word;
    wire [31:0] win_wdata, win_rdata;
    wire        sel_index, sel_memory, sel_pair, sel_frozen, sel_snapshot, sel_frozen_counters, sel_frozen_flow;
    wire        sel_lengths, sel_occupancy, sel_sampler, sel_crc, sel_inject, sel_samples;
    wire [4:0]  sel_trace;
    ff_regs #(
        .ERRORS_W(LEAN != 0 ? 8 : 32), .WITH_ERROR_ADDR(LEAN != 0 ? 0 : 1),
        .ID_BUILD_HASH(BUILD_HASH), .ID_DEVICES_COUNT(DEVICES), .ID_DEVICES_INDEX(INDEX),
        .ID_DEVICES_TIME_MASTER(TIME_MASTER), .ID_TRACE_MODE(1), .ID_TRACE_TAPS(4), .ID_TRACE_DATA_W(64),
        .ID_TAP_DEPTH(TAP_DEPTH), .ID_EVENT_DEPTH(EVENT_DEPTH), .ID_CHUNK(256), .ID_MAX_BURST(MAX_BURST),
        .ID_CLK_BUS(CLK_BUS_HZ), .ID_CLK_LINK(CLK_LINK_HZ), .ID_SAMPLER_DEPTH(SAMPLER_DEPTH),
        .ID_COUNTERS_COUNT(COUNTERS), .ID_COUNTERS_WIDTH(COUNTER_W), .ID_FLOWS_COUNT(FLOWS),
        .ID_FLOWS_CREDIT_W(CREDIT_W), .ID_TX_FIFO(TX_FIFO), .ID_RX_FIFO(RX_FIFO), .ID_CREDIT_UNIT(CREDIT_UNIT),
        .ID_CROSS_LATENCY(CROSS_LATENCY), .ID_SYNC_PERIOD(SYNC_PERIOD),
        .ID_EVENT_FIFO(WITH_LOG ? EVENT_FIFO : 0), .ID_POST_DRAIN(POST_DRAIN)
    ) i_regs (
        .clk(clk_bus), .rst(rst), .bus_rst(bus_rst),
        .s_req(s_req), .s_we(s_we), .s_addr(s_addr | {31'd0, lacking}), .s_wdata(s_wdata), .s_ack(s_ack), .s_err(s_err), .s_rdata(s_rdata),
        .stat_id_boot_nonce(boot_nonce), .stat_ctl_generation(generation), .stat_ctl_state_state(state),
        .stat_ctl_state_held(nic_held), .stat_ctl_state_closed(closed), .stat_ctl_causes(causes_shown),
        .stat_ctl_cause_cycle_lo(cause_cycle[31:0]), .stat_ctl_cause_cycle_hi(cause_cycle[63:32]),
        .stat_ctl_snapshot_seq(snapshot_seq), .stat_provoke_inject_count(inject_count),
        .cfg_ctl_cause_mask(cause_mask), .cfg_ctl_stall_limit(stall_limit), .cfg_ctl_options_hold(cfg_hold),
        .cfg_ctl_options_select_tap(unused_select_tap), .cfg_ctl_kinds(kinds), .cfg_ctl_post(post),
        .cfg_ctl_snapshot_log2(snapshot_log2), .cfg_ctl_sample_period(sample_period),
        .cfg_ctl_index_record(index_record), .cfg_ctl_index_memory(index_memory),
        .cfg_trigger_config_enable(trigger_enable), .cfg_trigger_config_tap(trigger_tap),
        .cfg_trigger_config_edge(trigger_edge), .cfg_trigger_config_sequence(trigger_sequence),
        .cfg_trigger_count(trigger_count), .cfg_trigger_limit(trigger_limit),
        .cfg_trigger_term_value_lo(value_lo), .cfg_trigger_term_value_hi(value_hi),
        .cfg_trigger_term_mask_lo(mask_lo), .cfg_trigger_term_mask_hi(mask_hi), .cfg_trigger_term_kinds(term_kinds),
        .cfg_provoke_rx_dma_stop(rx_dma_stop_asked), .cfg_provoke_traffic_enable(traffic_enable_asked),
        .cfg_provoke_traffic_flow(traffic_flow_asked), .cfg_provoke_traffic_length(traffic_length_asked),
        .cfg_provoke_traffic_gap(traffic_gap_asked), .cfg_provoke_traffic_seed(traffic_seed_asked),
        .cfg_provoke_link_loopback(link_loopback_asked),
        .pulse_ctl_arm(pulse_arm), .pulse_ctl_freeze(pulse_freeze), .pulse_provoke_inject(pulse_inject),
        .wr_strobe(wr_strobe), .wr_word(wr_word), .wr_data(wr_data),
        .win_we(win_we), .win_word(win_word), .win_wdata(win_wdata), .win_ack(win_ack), .win_err(win_err),
        .win_rdata(win_rdata),
        .sel_ctl_index_data(sel_index), .sel_memory(sel_memory), .sel_pair(sel_pair), .sel_frozen(sel_frozen),
        .sel_snapshot(sel_snapshot), .sel_frozen_counters(sel_frozen_counters), .sel_frozen_flow(sel_frozen_flow),
        .sel_length_histogram(sel_lengths), .sel_occupancy_histogram(sel_occupancy), .sel_sampler(sel_sampler),
        .sel_crc_table(sel_crc), .sel_inject_buffer(sel_inject), .sel_samples(sel_samples),
        .sel_trace_tx_enq(sel_trace[0]), .sel_trace_tx_deq(sel_trace[1]), .sel_trace_rx_enq(sel_trace[2]),
        .sel_trace_rx_deq(sel_trace[3]), .sel_trace_event_log(sel_trace[4])
    );

    // -- time and freeze, a part in each domain ------------------------------------------------------
    wire [63:0] now_bus, now_link;
    wire        triggered_next_bus, triggered_next_link;
    wire        arm_bus, arm_link, triggered_bus, triggered_link, drain_bus, drain_link, closed_bus, closed_link;
    wire [15:0] latched_bus, latched_link;
    wire [31:0] since_bus, since_link;
    wire        far_level, far_armed, arm_toggle, level;
    wire [4:0]  memory_closed;              // each in its own domain
    wire        fire_bus, fire_link, step_bus, step_link;
    wire        unused_peer, unused_hold;
    wire [1:0]  first_valid, last_valid;
    wire [31:0] first_number_bus, last_number_bus, first_number_link, last_number_link;
    wire [63:0] first_cycle_bus, last_cycle_bus, first_cycle_link, last_cycle_link;
    wire [32:0] unused_line;
    wire [31:0] pair_bus, pair_link;
    generate
        if (LEAN != 0) begin : g_time_pair
            ff_time_pair #(.MASTER(TIME_MASTER), .PERIOD(SYNC_PERIOD), .TIME_W(TIME_W)) i_time_bus (
                .clk(clk_bus), .rst(rst), .arm(arm_bus), .closed(closed_bus), .line_in(time_in), .line_out(time_out),
                .now(now_bus), .rd_word(win_word[2:0]), .rd_data(pair_bus)
            );
            ff_time_pair #(.MASTER(0), .PERIOD(SYNC_PERIOD), .TIME_W(TIME_W)) i_time_link (
                .clk(clk_link), .rst(rst_link), .arm(arm_link), .closed(closed_link), .line_in(time_in),
                .line_out(unused_line), .now(now_link), .rd_word(win_word[2:0]), .rd_data(pair_link)
            );
            assign {first_valid, last_valid, first_number_bus, last_number_bus, first_number_link, last_number_link} = 132'd0;
            assign {first_cycle_bus, last_cycle_bus, first_cycle_link, last_cycle_link} = 256'd0;
        end else begin : g_time
            ff_time #(.MASTER(TIME_MASTER), .PERIOD(SYNC_PERIOD), .TIME_W(TIME_W)) i_time_bus (
                .clk(clk_bus), .rst(rst), .arm(arm_bus), .closed(closed_bus), .line_in(time_in), .line_out(time_out), .now(now_bus),
                .stat_first_valid(first_valid[0]), .stat_last_valid(last_valid[0]),
                .stat_first_number(first_number_bus), .stat_last_number(last_number_bus),
                .stat_first_cycle(first_cycle_bus), .stat_last_cycle(last_cycle_bus)
            );
            ff_time #(.MASTER(0), .PERIOD(SYNC_PERIOD), .TIME_W(TIME_W)) i_time_link (
                .clk(clk_link), .rst(rst_link), .arm(arm_link), .closed(closed_link), .line_in(time_in), .line_out(unused_line),
                .now(now_link),
                .stat_first_valid(first_valid[1]), .stat_last_valid(last_valid[1]),
                .stat_first_number(first_number_link), .stat_last_number(last_number_link),
                .stat_first_cycle(first_cycle_link), .stat_last_cycle(last_cycle_link)
            );
            assign {pair_bus, pair_link} = 64'd0;
        end
    endgenerate
    assign closed_bus = (memory_closed | ~MEMORIES | 5'b00110) == 5'b11111;
    assign closed_link = memory_closed[1] && memory_closed[2];
    ff_freeze #(.MEMORIES(MEMORIES), .FAR(5'b00110), .CROSS_LATENCY(CROSS_LATENCY), .POST_DRAIN(POST_DRAIN),
        .SINCE_W(SINCE_W), .DRAIN_ON(DRAIN_ON), .CAUSE_CYCLE(LEAN != 0 ? 0 : 1)) i_freeze (
        .clk(clk_bus), .rst(rst), .now(now_bus), .wr_arm(pulse_arm), .wr_freeze(pulse_freeze), .wr_data(wr_data),
        .cfg_cause_mask(cause_mask[15:0]), .cfg_hold(cfg_hold),
        .causes_in((causes_bus & ~TRIGGER) | (TRIGGER & {16{fire_bus || trigger_in}})),
        .far_level(far_level), .far_causes(latched_link), .far_armed(far_armed), .arm_toggle(arm_toggle), .level(level),
        .cross_in(cross_in), .cross_out(cross_out), .peer_frozen(1'b0), .frozen_level(unused_peer),
        .arm(arm_bus), .triggered_next(triggered_next_bus), .triggered(triggered_bus), .causes(latched_bus), .since(since_bus),
        .drain(drain_bus), .closed(memory_closed), .frozen(frozen), .hold(unused_hold),
        .stat_generation(generation), .stat_state(state), .stat_closed(closed), .stat_cause_cycle(cause_cycle)
    );
    ff_freeze_remote #(.POST_DRAIN(POST_DRAIN), .SINCE_W(SINCE_W), .DRAIN_ON(DRAIN_ON)) i_freeze_link (
        .clk(clk_link), .rst(rst_link), .bus_arm_toggle(arm_toggle), .bus_level(level), .bus_causes(latched_bus),
        .bus_cfg_cause_mask(cause_mask[15:0]), .causes_in((causes_link & ~TRIGGER) | (TRIGGER & {16{fire_link}})),
        .far_level(far_level), .far_armed(far_armed), .arm(arm_link), .triggered_next(triggered_next_link),
        .triggered(triggered_link),
        .causes(latched_link), .since(since_link), .drain(drain_link)
    );
    assign causes_shown = {16'd0, latched_bus};
    assign hold = frozen && cfg_hold;

    // -- taps: recorder and memory each; 0 and 3 in clk_bus, 1 and 2 in clk_link -----------------------
    wire [3:0]   word_valid;
    wire [15:0]  word_kind;
    wire [255:0] word_data;
    wire [69:0]  write_ptr;
    wire [4:0]   wrapped;
    wire [159:0] stored, offered;
    wire [4:0]   rd_en;
    wire [13:0]  rd_slot;
    wire [359:0] rd_record;
    wire [179:0] rd_half;                   // LEAN
    wire         rd_high;
    wire [3:0]   tap_valid = {rx_deq_valid, rx_enq_valid, tx_deq_valid, tx_enq_valid};
    wire [15:0]  tap_kind = {rx_deq_kind, rx_enq_kind, tx_deq_kind, tx_enq_kind};
    wire [255:0] tap_data = {rx_deq_data, rx_enq_data, tx_deq_data, tx_enq_data};
    genvar t;
    generate
        for (t = 0; t < 4; t = t + 1) begin : g_tap
            localparam FAR = t == 1 || t == 2;
            wire clk = FAR ? clk_link : clk_bus;
            wire wr_en;
            wire [TAP_A-1:0] wr_slot, ptr;
            wire [71:0] wr_record;
            ff_tap_recorder #(.DEPTH(TAP_DEPTH), .POST_W(POST_W), .COUNT_W(COUNT_W), .ALL_KINDS(LEAN)) i_recorder (
                .clk(clk), .rst(FAR ? rst_link : rst),
                .tap_valid(tap_valid[t]), .tap_kind(tap_kind[t*4 +: 4]), .tap_data(tap_data[t*64 +: 64]),
                .word_valid(word_valid[t]), .word_kind(word_kind[t*4 +: 4]), .word_data(word_data[t*64 +: 64]),
                .now(FAR ? now_link : now_bus), .arm(FAR ? arm_link : arm_bus),
                .triggered_next(FAR ? triggered_next_link : triggered_next_bus), .triggered(FAR ? triggered_link : triggered_bus), .causes(FAR ? latched_link : latched_bus),
                .since(FAR ? since_link : since_bus), .drain(FAR ? drain_link : drain_bus),
                .cfg_kinds(kinds[t*32 +: 16]), .cfg_post(post[t*32 +: POST_W]),
                .wr_en(wr_en), .wr_slot(wr_slot), .wr_record(wr_record),
                .stat_write_ptr(ptr), .stat_wrapped(wrapped[t]),
                .stat_stored(stored[t*32 +: 32]), .stat_offered(offered[t*32 +: 32]), .stat_closed(memory_closed[t])
            );
            if (LEAN != 0) begin : g_half
                ff_trace_memory_half #(.DEPTH(TAP_DEPTH)) i_memory (
                    .wr_clk(clk), .wr_en(wr_en), .wr_slot(wr_slot), .wr_record(wr_record), .rd_clk(clk_bus), .rd_en(rd_en[t]),
                    .rd_slot(rd_slot[TAP_A-1:0]), .rd_high(rd_high), .rd_half(rd_half[t*36 +: 36])
                );
                assign rd_record[t*72 +: 72] = 72'd0;
            end else begin : g_whole
                ff_trace_memory #(.DEPTH(TAP_DEPTH)) i_memory (
                    .wr_clk(clk), .wr_en(wr_en), .wr_slot(wr_slot), .wr_record(wr_record),
                    .rd_clk(clk_bus), .rd_en(rd_en[t]), .rd_slot(rd_slot[TAP_A-1:0]), .rd_record(rd_record[t*72 +: 72])
                );
                assign rd_half[t*36 +: 36] = 36'd0;
            end
            assign write_ptr[t*14 +: 14] = {{14-TAP_A{1'b0}}, ptr};
        end
    endgenerate

    // -- trigger, one in each domain; the one whose tap is named watches ------------------------------------
    // Terms stand still but for writes, and a driver writes them while the trigger is off: only the enable crosses.
    wire trigger_far = trigger_tap == 3'd1 || trigger_tap == 3'd2;
    wire trigger_written = wr_strobe && wr_word[8:5] == 4'b0011; // register file trigger
    wire enable_link, restart_link;
    reg  written_q;                          // changes with each write
    always @(posedge clk_bus) written_q <= !rst && (written_q ^ trigger_written);
    ff_cdc_sync i_enable_link (.clk(clk_link), .d(trigger_enable), .q(enable_link));
    ff_cdc_edge i_written_link (.clk(clk_link), .rst(rst_link), .d(written_q), .pulse(restart_link));
    wire [127:0] values = {value_hi[63:32], value_lo[63:32], value_hi[31:0], value_lo[31:0]};
    wire [127:0] masks = {mask_hi[63:32], mask_lo[63:32], mask_hi[31:0], mask_lo[31:0]};
    wire [31:0]  which = {term_kinds[47:32], term_kinds[15:0]};
    wire near_second = trigger_tap != 3'd0;  // rx_deq
    wire far_second = trigger_tap == 3'd2;   // rx_enq
    localparam EDGE = TRIGGER_TERMS == 2, NUMBER_W = TRIGGER_TERMS == 2 ? 32 : 1;
    ff_trigger #(.TERMS(TRIGGER_TERMS), .WITH_EDGE(EDGE), .BIT_LUTS(LEAN), .COUNT_W(NUMBER_W), .LIMIT_W(NUMBER_W)) i_trigger_bus (
        .clk(clk_bus), .rst(rst), .restart(arm_bus || trigger_written), .cfg_enable(trigger_enable && !trigger_far),
        .cfg_edge(trigger_edge), .cfg_sequence(trigger_sequence), .cfg_count(trigger_count), .cfg_limit(trigger_limit),
        .cfg_value(values), .cfg_mask(masks), .cfg_kinds(which),
        .word_valid(near_second ? word_valid[3] : word_valid[0]),
        .word_kind(near_second ? word_kind[15:12] : word_kind[3:0]),
        .word_data(near_second ? word_data[255:192] : word_data[63:0]), .step(step_bus), .fire(fire_bus)
    );
    ff_trigger #(.TERMS(TRIGGER_TERMS), .WITH_EDGE(EDGE), .BIT_LUTS(LEAN), .COUNT_W(NUMBER_W), .LIMIT_W(NUMBER_W)) i_trigger_link (
        .clk(clk_link), .rst(rst_link), .restart(arm_link || restart_link), .cfg_enable(enable_link && trigger_far),
        .cfg_edge(trigger_edge), .cfg_sequence(trigger_sequence), .cfg_count(trigger_count), .cfg_limit(trigger_limit),
        .cfg_value(values), .cfg_mask(masks), .cfg_kinds(which),
        .word_valid(far_second ? word_valid[2] : word_valid[1]),
        .word_kind(far_second ? word_kind[11:8] : word_kind[7:4]),
        .word_data(far_second ? word_data[191:128] : word_data[127:64]), .step(step_link), .fire(fire_link)
    );
    reg  fired_link_q, stepped_link_q;       // change with each
    always @(posedge clk_link) begin
        fired_link_q <= !rst_link && (fired_link_q ^ fire_link);
        stepped_link_q <= !rst_link && (stepped_link_q ^ step_link);
    end
    wire fired_far, stepped_far;
    ff_cdc_edge i_fired (.clk(clk_bus), .rst(rst), .d(fired_link_q), .pulse(fired_far));
    ff_cdc_edge i_stepped (.clk(clk_bus), .rst(rst), .d(stepped_link_q), .pulse(stepped_far));
    assign trigger_out = fire_bus || fired_far;

    // -- event log -------------------------------------------------------------------------------------
    wire [5:0]  lost_now;
    wire [31:0] lost;
    generate
        if (WITH_LOG) begin : g_log
            localparam LANES = EV_BUS + EV_LINK + 2;
            wire [EV_LINK-1:0]    far_valid;
            wire [EV_LINK*4-1:0]  far_kind;
            wire [EV_LINK*8-1:0]  far_code;
            wire [EV_LINK*7-1:0]  far_flow;
            wire [EV_LINK*40-1:0] far_value;
            genvar e;
            for (e = 0; e < EV_LINK; e = e + 1) begin : g_lane
                wire unused_ready;
                ff_cdc_fifo #(.DATA_W(59), .DEPTH_LOG2(3)) i_cross (
                    .s_clk(clk_link), .s_rst(rst_link), .s_valid(ev_link_valid[e]),
                    .s_data({ev_link_kind[e*4 +: 4], ev_link_code[e*8 +: 8], ev_link_flow[e*7 +: 7], ev_link_value[e*40 +: 40]}),
                    .s_ready(unused_ready),
                    .m_clk(clk_bus), .m_rst(rst), .m_valid(far_valid[e]),
                    .m_data({far_kind[e*4 +: 4], far_code[e*8 +: 8], far_flow[e*7 +: 7], far_value[e*40 +: 40]}),
                    .m_ready(1'b1)
                );
            end
            // the recorder's own: a step of the trigger (code 1), its firing (code 2)
            localparam [3:0] USER = 4'd12;
            localparam [7:0] RECORDER = 8'd5, STEP = 8'd1, FIRE = 8'd2;
            wire wr_en;
            wire [LOG_A-1:0] wr_slot, ptr;
            wire [71:0] wr_record;
            ff_event_log #(.SOURCES(LANES), .DEPTH(LOG_DEPTH), .PLACES(EVENT_FIFO)) i_log (
                .clk(clk_bus), .rst(rst),
                .ev_valid({fire_bus || fired_far, step_bus || stepped_far, far_valid, ev_bus_valid}),
                .ev_kind({USER, USER, far_kind, ev_bus_kind}),
                .ev_source({RECORDER, RECORDER, ev_link_source, ev_bus_source}),
                .ev_code({FIRE, STEP, far_code, ev_bus_code}), .ev_flow({14'd0, far_flow, ev_bus_flow}),
                .ev_value({37'd0, trigger_tap, 37'd0, trigger_tap, far_value, ev_bus_value}),
                .now(now_bus), .arm(arm_bus), .triggered(triggered_bus), .causes(latched_bus), .since(since_bus),
                .drain(drain_bus), .cfg_kinds(kinds[143:128]), .cfg_post(post[159:128]),
                .wr_en(wr_en), .wr_slot(wr_slot), .wr_record(wr_record),
                .stat_write_ptr(ptr), .stat_wrapped(wrapped[4]), .stat_stored(stored[159:128]),
                .stat_offered(offered[159:128]), .stat_lost(lost), .stat_closed(memory_closed[4]), .lost_now(lost_now)
            );
            if (LEAN != 0) begin : g_half
                ff_trace_memory_half #(.DEPTH(LOG_DEPTH)) i_memory (
                    .wr_clk(clk_bus), .wr_en(wr_en), .wr_slot(wr_slot), .wr_record(wr_record), .rd_clk(clk_bus),
                    .rd_en(rd_en[4]), .rd_slot(rd_slot[LOG_A-1:0]), .rd_high(rd_high), .rd_half(rd_half[179:144])
                );
                assign rd_record[359:288] = 72'd0;
            end else begin : g_whole
                ff_trace_memory #(.DEPTH(LOG_DEPTH)) i_memory (
                    .wr_clk(clk_bus), .wr_en(wr_en), .wr_slot(wr_slot), .wr_record(wr_record),
                    .rd_clk(clk_bus), .rd_en(rd_en[4]), .rd_slot(rd_slot[LOG_A-1:0]), .rd_record(rd_record[359:288])
                );
                assign rd_half[179:144] = 36'd0;
            end
            assign write_ptr[69:56] = {{14-LOG_A{1'b0}}, ptr};
        end else begin : g_no_log
            assign {write_ptr[69:56], wrapped[4], stored[159:128], offered[159:128], lost, lost_now} = 117'd0;
            assign {rd_record[359:288], rd_half[179:144], memory_closed[4]} = 109'd0;
            wire unused = &{1'b0, ev_bus_valid, ev_bus_kind, ev_bus_source, ev_bus_code, ev_bus_flow, ev_bus_value,
                ev_link_valid, ev_link_kind, ev_link_source, ev_link_code, ev_link_flow, ev_link_value, rd_en[4],
                kinds[143:128], post[159:128], step_bus, stepped_far};
        end
    endgenerate

    // -- windows -----------------------------------------------------------------------------------------
    // Each block answers with ack, err and data; a register that a build lacks reads 0, a memory answers an error.
    wire        trace_ack, trace_err, status_ack, status_err;
    wire [31:0] trace_rdata, status_rdata;
    wire        crc_en, crc_grant;
    wire [2:0]  crc_memory;
    wire [13:0] crc_slot;
    wire [71:0] crc_record;
    wire [34:0] chunks_done;
    wire        far_mine;
    wire [31:0] far_bank;
    assign s_record_valid = LEAN == 0 && s_ack && trace_ack && !trace_err && !sel_index;
    assign s_record = crc_record;
    generate
        if (LEAN != 0) begin : g_halves
            ff_trace_window_half #(.MEMORIES(5), .DEPTHS(DEPTHS)) i_trace (
                .clk(clk_bus), .rst(rst), .sel_trace(sel_trace), .sel_index(sel_index), .win_word(win_word[15:0]),
                .cfg_index_record(index_record), .cfg_index_memory(index_memory),
                .win_ack(trace_ack), .win_err(trace_err), .win_rdata(trace_rdata),
                .rd_en(rd_en), .rd_slot(rd_slot), .rd_high(rd_high), .rd_half(rd_half)
            );
            assign {crc_grant, crc_record} = 73'd0;
            wire unused = &{1'b0, crc_en, crc_memory, crc_slot, rd_record};
        end else begin : g_records
            ff_trace_window #(.MEMORIES(5), .DEPTHS(DEPTHS)) i_trace (
                .clk(clk_bus), .rst(rst), .frozen(frozen), .sel_trace(sel_trace), .sel_index(sel_index), .win_word(win_word[15:0]),
                .cfg_index_record(index_record), .cfg_index_memory(index_memory),
                .win_ack(trace_ack), .win_err(trace_err), .win_rdata(trace_rdata),
                .crc_en(crc_en), .crc_memory(crc_memory), .crc_slot(crc_slot), .crc_grant(crc_grant), .crc_record(crc_record),
                .rd_en(rd_en), .rd_slot(rd_slot), .rd_record(rd_record)
            );
            assign rd_high = 1'b0;
            wire unused = &{1'b0, rd_half, rd_high};
        end
    endgenerate
    ff_status_window i_status (
        .clk_bus(clk_bus), .rst_bus(rst), .clk_link(clk_link), .rst_link(rst_link),
        .sel_memory(sel_memory), .sel_pair(sel_pair), .sel_far(sel_frozen && far_mine), .win_word(win_word[8:0]),
        .win_ack(status_ack), .win_err(status_err), .win_rdata(status_rdata), .far_bank(far_bank),
        .stat_write_ptr(write_ptr), .stat_wrapped(wrapped), .stat_stored(stored), .stat_offered(offered),
        .stat_lost(lost), .stat_chunks_done(chunks_done),
        .stat_pair({last_cycle_link, last_number_link, first_cycle_link, first_number_link,
            last_cycle_bus, last_number_bus, first_cycle_bus, first_number_bus}),
        .stat_first_valid(first_valid), .stat_last_valid(last_valid), .pair_bus(pair_bus), .pair_link(pair_link)
    );

    wire        crc_ack, crc_err;
    wire [31:0] crc_rdata;
    generate
        if (WITH_CRC != 0) begin : g_crc
            ff_crc_table #(.MEMORIES(5), .DEPTH_LOG2(DEEPEST_A), .DEPTHS(DEPTHS)) i_crc (
                .clk(clk_bus), .rst(rst), .bus_rst(bus_rst), .frozen(frozen),
                .rd_en(crc_en), .rd_memory(crc_memory), .rd_slot(crc_slot), .grant(crc_grant), .rd_record(crc_record),
                .stat_chunks_done(chunks_done), .sel(sel_crc), .win_word(win_word[8:0]),
                .win_ack(crc_ack), .win_err(crc_err), .win_rdata(crc_rdata)
            );
        end else begin : g_no_crc
            assign {crc_en, crc_memory, crc_slot, chunks_done, crc_ack, crc_err, crc_rdata} = 87'd0;
            wire unused = &{1'b0, crc_grant, crc_record};
        end
    endgenerate

    wire        copying;
    wire        bank_ack, bank_err;
    wire [31:0] bank_rdata;
    generate
        if (WITH_BANK != 0) begin : g_bank
            ff_freeze_bank #(.FLOWS(FLOWS)) i_bank (
                .clk_bus(clk_bus), .rst_bus(rst), .clk_link(clk_link), .rst_link(rst_link), .frozen(frozen), .copying(copying),
                .cycle(now_bus),
                .bank_tx_dma_state(bank_tx_dma_state), .bank_rx_dma_state(bank_rx_dma_state),
                .bank_tx_level(bank_tx_level), .bank_rx_level(bank_rx_level), .bank_dma_address(bank_dma_address),
                .bank_dma_remaining(bank_dma_remaining), .bank_descriptor_length(bank_descriptor_length),
                .bank_descriptors_waiting(bank_descriptors_waiting), .bank_interrupt_mask(bank_interrupt_mask),
                .bank_completions_waiting(bank_completions_waiting), .bank_next_seq_out(bank_next_seq_out),
                .bank_tx_link_state(bank_tx_link_state), .bank_rx_link_state(bank_rx_link_state),
                .bank_next_seq_in(bank_next_seq_in), .bank_stalled_flows(bank_stalled_flows),
                .bank_sync_level(bank_sync_level), .bank_underflows(bank_underflows), .bank_overflows(bank_overflows),
                .bank_comma_phase(bank_comma_phase),
                .flow_req(flow_req), .flow_number(flow_number), .flow_field(flow_field), .flow_ack(flow_ack), .flow_data(flow_data),
                .sel_frozen(sel_frozen), .sel_frozen_flow(sel_frozen_flow), .win_word(win_word[9:0]),
                .win_ack(bank_ack), .win_err(bank_err), .win_rdata(bank_rdata), .far_mine(far_mine), .far_data(far_bank)
            );
        end else begin : g_no_bank
            assign {flow_req, flow_number, flow_field, bank_ack, bank_err, bank_rdata, far_mine, far_bank} = 78'd0;
            wire unused = &{1'b0, copying, bank_tx_dma_state, bank_rx_dma_state, bank_tx_level, bank_dma_address,
                bank_dma_remaining, bank_descriptor_length, bank_descriptors_waiting, bank_interrupt_mask,
                bank_completions_waiting, bank_next_seq_out, bank_tx_link_state, bank_rx_link_state, bank_next_seq_in,
                bank_stalled_flows, bank_sync_level, bank_underflows, bank_overflows, bank_comma_phase, flow_ack, flow_data};
        end
    endgenerate

    wire        counters_ack;
    wire [31:0] counters_rdata;
    generate
        if (COUNTERS != 0) begin : g_counters
            // Of the taps: words and packets, in the order of the map. Lost events, of which a cycle may have many, one by one.
            localparam [3:0] TAIL = 4'd3; // enum kind
            wire [3:0] words = tap_valid;
            wire [3:0] packets = {tap_valid[3] && tap_kind[15:12] == TAIL, tap_valid[2] && tap_kind[11:8] == TAIL,
                tap_valid[1] && tap_kind[7:4] == TAIL, tap_valid[0] && tap_kind[3:0] == TAIL};
            reg  [31:0] owed_q;
            wire owes = owed_q != 32'd0;
            always @(posedge clk_bus) owed_q <= rst ? 32'd0 : owed_q + {26'd0, lost_now} - {31'd0, owes};
            ff_counters #(.COUNT(32), .COUNTER_W(COUNTER_W)) i_counters (
                .clk_bus(clk_bus), .rst_bus(rst), .clk_link(clk_link), .rst_link(rst_link),
                .count_bus({owes, count_bus[30:8], packets[3], words[3], 4'b0000, packets[0], words[0]}),
                .count_link({1'b0, count_link[30:8], 2'b00, packets[2], words[2], packets[1], words[1], 2'b00}),
                .cycle(now_bus[39:0]), .cfg_snapshot_log2(snapshot_log2 > 32'd40 ? 6'd40 : snapshot_log2[5:0]),
                .stat_snapshot_seq(snapshot_seq), .frozen(frozen), .stat_copying(copying),
                .sel_snapshot(sel_snapshot),
                .sel_frozen(sel_frozen_counters), .win_word(win_word[8:0]), .win_ack(counters_ack), .win_rdata(counters_rdata)
            );
            wire unused = &{1'b0, count_bus[31], count_bus[7:0], count_link[31], count_link[7:0]};
        end else begin : g_no_counters
            assign {counters_ack, counters_rdata, snapshot_seq, copying} = 66'd0;
            wire unused = &{1'b0, count_bus, count_link, lost_now, snapshot_log2};
        end
    endgenerate

    wire        sampler_ack, sampler_err, lengths_ack, occupancy_ack;
    wire [31:0] sampler_rdata, lengths_rdata, occupancy_rdata;
    generate
        if (SAMPLER_DEPTH != 0) begin : g_sampler
            wire sampled;
            localparam [8:0] PERIOD_WORD = 9'h056; // ctl.sample_period
            ff_sampler #(.DEPTH(SAMPLER_DEPTH)) i_sampler (
                .clk_bus(clk_bus), .rst_bus(rst), .clk_link(clk_link), .rst_link(rst_link),
                .word_out(tx_deq_valid), .word_in(rx_enq_valid), .cycle(now_bus), .cfg_period(sample_period),
                .cfg_written(wr_strobe && wr_word == PERIOD_WORD), .armed(state == 2'd1 || state == 2'd2), .arm(arm_bus),
                .m_sampled(sampled), .sel_samples(sel_samples), .sel_sampler(sel_sampler), .win_word(win_word[12:0]),
                .win_ack(sampler_ack), .win_err(sampler_err), .win_rdata(sampler_rdata)
            );
            // bin of a length: its number of bits
            reg  [3:0] bits;
            integer b;
            always @* begin
                bits = 4'd0;
                for (b = 0; b < 10; b = b + 1) if (length_words[b]) bits = b[3:0] + 4'd1;
            end
            ff_histogram i_lengths (
                .clk(clk_bus), .rst(rst), .s_valid(length_valid), .s_bin(bits), .frozen(frozen), .sel(sel_lengths),
                .win_word(win_word[3:0]), .win_ack(lengths_ack), .win_rdata(lengths_rdata)
            );
            wire [15:0] sixteenths = bank_rx_level >> ($clog2(RX_FIFO) - 4);
            ff_histogram i_occupancy (
                .clk(clk_bus), .rst(rst), .s_valid(sampled), .s_bin(sixteenths > 16'd15 ? 4'd15 : sixteenths[3:0]),
                .frozen(frozen), .sel(sel_occupancy), .win_word(win_word[3:0]), .win_ack(occupancy_ack),
                .win_rdata(occupancy_rdata)
            );
        end else begin : g_no_sampler
            assign {sampler_ack, sampler_err, sampler_rdata} = 34'd0;
            assign {lengths_ack, lengths_rdata, occupancy_ack, occupancy_rdata} = 66'd0;
            wire unused = &{1'b0, length_valid, length_words, bank_rx_level, sample_period};
        end
    endgenerate

    wire        inject_ack;
    wire [31:0] inject_rdata;
    generate
        if (WITH_PROVOKE != 0) begin : g_provoke
            ff_inject i_inject (
                .clk(clk_bus), .rst(rst), .pulse(pulse_inject), .pulse_data(wr_data), .held(nic_held), .stat_count(inject_count),
                .m_valid(inject_valid), .m_last(inject_last), .m_data(inject_data), .m_ready(inject_ready),
                .sel(sel_inject), .win_we(win_we), .win_word(win_word[10:0]), .win_wdata(win_wdata),
                .win_ack(inject_ack), .win_rdata(inject_rdata)
            );
        end else begin : g_no_provoke
            assign {inject_count, inject_valid, inject_last, inject_data, inject_ack, inject_rdata} = 131'd0;
            wire unused = &{1'b0, pulse_inject, inject_ready, win_we, win_wdata};
        end
    endgenerate

    wire reads_0 = (WITH_BANK == 0 && ((sel_frozen && !far_mine) || sel_frozen_flow))
        || (COUNTERS == 0 && (sel_snapshot || sel_frozen_counters))
        || (SAMPLER_DEPTH == 0 && (sel_sampler || sel_lengths || sel_occupancy));
    wire refused = (WITH_CRC == 0 && sel_crc) || (SAMPLER_DEPTH == 0 && sel_samples) || (WITH_PROVOKE == 0 && sel_inject);
    reg  none_ack, none_err;
    always @(posedge clk_bus) begin
        none_ack <= (reads_0 || refused) && !none_ack && !rst;
        none_err <= refused;
    end
    assign win_ack = trace_ack || status_ack || crc_ack || bank_ack || counters_ack || sampler_ack || lengths_ack
        || occupancy_ack || inject_ack || none_ack;
    assign win_err = (trace_ack && trace_err) || (status_ack && status_err) || (crc_ack && crc_err)
        || (bank_ack && bank_err) || (sampler_ack && sampler_err) || (none_ack && none_err);
    assign win_rdata = trace_rdata | status_rdata | crc_rdata | bank_rdata | counters_rdata | sampler_rdata
        | lengths_rdata | occupancy_rdata | inject_rdata;
    wire unused_bits = &{1'b0, post,  unused_select_tap, unused_peer, unused_hold, unused_line, wr_word, win_word[21:16], rd_slot, cause_mask[31:16],
        term_kinds[63:48], term_kinds[31:16], kinds[159:144], kinds[127:112], kinds[95:80], kinds[63:48], kinds[31:16]};
endmodule
`default_nettype wire
