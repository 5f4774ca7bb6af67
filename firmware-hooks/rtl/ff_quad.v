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
    parameter WITH_PROVOKE = 1              // provocation controls
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
    ff_quad_check #(
        .DEVICES(DEVICES), .INDEX(INDEX), .TAP_DEPTH(TAP_DEPTH), .EVENT_DEPTH(EVENT_DEPTH), .EVENT_FIFO(EVENT_FIFO),
        .EV_BUS(EV_BUS), .EV_LINK(EV_LINK), .MAX_BURST(MAX_BURST), .COUNTERS(COUNTERS), .RX_FIFO(RX_FIFO), .POST_W(POST_W),
        .COUNT_W(COUNT_W), .TRIGGER_TERMS(TRIGGER_TERMS)
    ) i_check ();
    localparam WITH_LOG = EVENT_DEPTH != 0;
    localparam LOG_DEPTH = WITH_LOG ? EVENT_DEPTH : 256;
    localparam TAP_A = $clog2(TAP_DEPTH);
    localparam LOG_A = $clog2(LOG_DEPTH);
    localparam DEEPEST_A = TAP_A > LOG_A ? TAP_A : LOG_A;
    localparam [14:0] TAP_15 = TAP_DEPTH[14:0], LOG_15 = EVENT_DEPTH[14:0];
    localparam [74:0] DEPTHS = {LOG_15, {4{TAP_15}}};
    localparam [4:0] MEMORIES = {WITH_LOG[0], 4'b1111};
    localparam [15:0] TRIGGER = 16'h0002;   // bit of enum cause
    localparam [3:0] TRIGGER_ROW = 4'b0011; // register file trigger

    // -- register port ---------------------------------------------------------------------------
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
        .s_req(s_req), .s_we(s_we), .s_addr(s_addr), .s_wdata(s_wdata), .s_ack(s_ack), .s_err(s_err), .s_rdata(s_rdata),
        .stat_id_boot_nonce(boot_nonce), .stat_ctl_generation(generation), .stat_ctl_state_state(state),
        .stat_ctl_state_held(nic_held), .stat_ctl_state_closed(closed), .stat_ctl_causes(causes_shown),
        .stat_ctl_cause_cycle_lo(cause_cycle[31:0]), .stat_ctl_cause_cycle_hi(cause_cycle[63:32]),
        .stat_ctl_snapshot_seq(snapshot_seq), .stat_provoke_inject_count(inject_count),
        .cfg_ctl_cause_mask(cause_mask), .cfg_ctl_stall_limit(cfg_stall_limit), .cfg_ctl_options_hold(cfg_hold),
        .cfg_ctl_options_select_tap(unused_select_tap), .cfg_ctl_kinds(kinds), .cfg_ctl_post(post),
        .cfg_ctl_snapshot_log2(snapshot_log2), .cfg_ctl_sample_period(sample_period),
        .cfg_ctl_index_record(index_record), .cfg_ctl_index_memory(index_memory),
        .cfg_trigger_config_enable(trigger_enable), .cfg_trigger_config_tap(trigger_tap),
        .cfg_trigger_config_edge(trigger_edge), .cfg_trigger_config_sequence(trigger_sequence),
        .cfg_trigger_count(trigger_count), .cfg_trigger_limit(trigger_limit),
        .cfg_trigger_term_value_lo(value_lo), .cfg_trigger_term_value_hi(value_hi),
        .cfg_trigger_term_mask_lo(mask_lo), .cfg_trigger_term_mask_hi(mask_hi), .cfg_trigger_term_kinds(term_kinds),
        .cfg_provoke_rx_dma_stop(rx_dma_stop), .cfg_provoke_traffic_enable(traffic_enable),
        .cfg_provoke_traffic_flow(traffic_flow), .cfg_provoke_traffic_length(traffic_length),
        .cfg_provoke_traffic_gap(traffic_gap), .cfg_provoke_traffic_seed(traffic_seed),
        .cfg_provoke_link_loopback(link_loopback),
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

    // -- time and freeze -----------------------------------------------------------------------------
    wire [127:0] now;                       // of vectors of two: bit or word 0 of clk_bus, 1 of clk_link
    wire [1:0]   arm, triggered_next, triggered, drain, fire;
    wire [31:0]  causes;
    wire [63:0]  since;
    wire [4:0]   memory_closed;             // each in its own domain
    wire [383:0] pairs;
    wire [1:0]   first_valid, last_valid;
    ff_quad_control #(
        .MEMORIES(MEMORIES), .TIME_MASTER(TIME_MASTER), .SYNC_PERIOD(SYNC_PERIOD), .TIME_W(TIME_W),
        .CROSS_LATENCY(CROSS_LATENCY), .POST_DRAIN(POST_DRAIN)
    ) i_control (
        .clk_bus(clk_bus), .rst(rst), .clk_link(clk_link), .rst_link(rst_link),
        .pulse_arm(pulse_arm), .pulse_freeze(pulse_freeze), .wr_data(wr_data), .cfg_cause_mask(cause_mask[15:0]),
        .stat_generation(generation), .stat_state(state), .stat_closed(closed), .stat_cause_cycle(cause_cycle),
        .time_in(time_in), .time_out(time_out), .stat_pair(pairs), .stat_first_valid(first_valid), .stat_last_valid(last_valid),
        .causes_in((causes_bus & ~TRIGGER) | (TRIGGER & {16{fire[0] || trigger_in}})),
        .causes_in_link((causes_link & ~TRIGGER) | (TRIGGER & {16{fire[1]}})),
        .cross_in(cross_in), .cross_out(cross_out), .now(now), .arm(arm), .triggered_next(triggered_next), .triggered(triggered), .drain(drain), .causes(causes),
        .since(since), .closed(memory_closed), .frozen(frozen)
    );
    assign causes_shown = {16'd0, causes[15:0]};
    assign hold = frozen && cfg_hold;

    // -- taps and trigger ------------------------------------------------------------------------------
    wire [69:0]  write_ptr;
    wire [4:0]   wrapped;
    wire [159:0] stored, offered;
    wire [4:0]   rd_en;
    wire [13:0]  rd_slot;
    wire [359:0] rd_record;
    wire         stepped;
    wire [3:0]   tap_valid = {rx_deq_valid, rx_enq_valid, tx_deq_valid, tx_enq_valid};
    wire [15:0]  tap_kind = {rx_deq_kind, rx_enq_kind, tx_deq_kind, tx_enq_kind};
    ff_quad_taps #(.TAP_DEPTH(TAP_DEPTH), .POST_W(POST_W), .COUNT_W(COUNT_W), .TRIGGER_TERMS(TRIGGER_TERMS)) i_taps (
        .clk_bus(clk_bus), .rst(rst), .clk_link(clk_link), .rst_link(rst_link), .tap_valid(tap_valid), .tap_kind(tap_kind),
        .tap_data({rx_deq_data, rx_enq_data, tx_deq_data, tx_enq_data}),
        .now(now), .arm(arm), .triggered_next(triggered_next), .triggered(triggered), .drain(drain), .causes(causes), .since(since),
        .cfg_kinds(kinds[127:0]), .cfg_post(post[127:0]), .cfg_enable(trigger_enable), .cfg_edge(trigger_edge),
        .cfg_sequence(trigger_sequence), .cfg_tap(trigger_tap), .cfg_written(wr_strobe && wr_word[8:5] == TRIGGER_ROW),
        .cfg_count(trigger_count), .cfg_limit(trigger_limit),
        .cfg_value({value_hi[63:32], value_lo[63:32], value_hi[31:0], value_lo[31:0]}),
        .cfg_mask({mask_hi[63:32], mask_lo[63:32], mask_hi[31:0], mask_lo[31:0]}),
        .cfg_term_kinds({term_kinds[47:32], term_kinds[15:0]}), .fire(fire), .fired(trigger_out), .stepped(stepped),
        .stat_write_ptr(write_ptr[55:0]), .stat_wrapped(wrapped[3:0]), .stat_closed(memory_closed[3:0]),
        .stat_stored(stored[127:0]), .stat_offered(offered[127:0]), .rd_en(rd_en[3:0]), .rd_slot(rd_slot[TAP_A-1:0]),
        .rd_record(rd_record[287:0])
    );

    // -- event log -------------------------------------------------------------------------------------
    wire [5:0]  lost_now;
    wire [31:0] lost;
    generate
        if (WITH_LOG) begin : g_log
            ff_quad_events #(.DEPTH(LOG_DEPTH), .PLACES(EVENT_FIFO), .EV_BUS(EV_BUS), .EV_LINK(EV_LINK)) i_events (
                .clk_bus(clk_bus), .rst(rst), .clk_link(clk_link), .rst_link(rst_link),
                .ev_bus_valid(ev_bus_valid), .ev_bus_kind(ev_bus_kind), .ev_bus_source(ev_bus_source),
                .ev_bus_code(ev_bus_code), .ev_bus_flow(ev_bus_flow), .ev_bus_value(ev_bus_value),
                .ev_link_valid(ev_link_valid), .ev_link_kind(ev_link_kind), .ev_link_source(ev_link_source),
                .ev_link_code(ev_link_code), .ev_link_flow(ev_link_flow), .ev_link_value(ev_link_value),
                .fired(trigger_out), .stepped(stepped), .trigger_tap(trigger_tap),
                .now(now[63:0]), .arm(arm[0]), .triggered(triggered[0]), .drain(drain[0]), .causes(causes[15:0]),
                .since(since[31:0]), .cfg_kinds(kinds[143:128]), .cfg_post(post[159:128]),
                .stat_write_ptr(write_ptr[69:56]), .stat_wrapped(wrapped[4]), .stat_closed(memory_closed[4]),
                .stat_stored(stored[159:128]), .stat_offered(offered[159:128]), .stat_lost(lost), .lost_now(lost_now),
                .rd_en(rd_en[4]), .rd_slot(rd_slot[LOG_A-1:0]), .rd_record(rd_record[359:288])
            );
        end else begin : g_no_log
            assign {write_ptr[69:56], wrapped[4], stored[159:128], offered[159:128], lost, lost_now} = 117'd0;
            assign {rd_record[359:288], memory_closed[4]} = 73'd0;
            wire unused = &{1'b0, ev_bus_valid, ev_bus_kind, ev_bus_source, ev_bus_code, ev_bus_flow, ev_bus_value,
                ev_link_valid, ev_link_kind, ev_link_source, ev_link_code, ev_link_flow, ev_link_value, rd_en[4],
                kinds[143:128], post[159:128], stepped};
        end
    endgenerate

    // -- windows -----------------------------------------------------------------------------------------
    // Each block answers with ack, err and data; a register that a build lacks reads 0, a memory answers an error.
    wire        trace_ack, trace_err, crc_ack, crc_err, status_ack, status_err;
    wire [31:0] trace_rdata, crc_rdata, status_rdata;
    wire [34:0] chunks_done;
    wire        far_mine;
    wire [31:0] far_bank;
    assign s_record_valid = s_ack && trace_ack && !trace_err && !sel_index;
    ff_quad_records #(.DEPTHS(DEPTHS), .DEPTH_LOG2(DEEPEST_A), .WITH_CRC(WITH_CRC)) i_records (
        .clk(clk_bus), .rst(rst), .bus_rst(bus_rst), .frozen(frozen), .sel_trace(sel_trace), .sel_index(sel_index),
        .sel_crc(sel_crc), .win_word(win_word[15:0]), .cfg_index_record(index_record), .cfg_index_memory(index_memory),
        .trace_ack(trace_ack), .trace_err(trace_err), .trace_rdata(trace_rdata), .trace_record(s_record),
        .crc_ack(crc_ack), .crc_err(crc_err), .crc_rdata(crc_rdata), .stat_chunks_done(chunks_done),
        .rd_en(rd_en), .rd_slot(rd_slot), .rd_record(rd_record)
    );
    ff_status_window i_status (
        .clk_bus(clk_bus), .rst_bus(rst), .clk_link(clk_link), .rst_link(rst_link),
        .sel_memory(sel_memory), .sel_pair(sel_pair), .sel_far(sel_frozen && far_mine), .win_word(win_word[8:0]),
        .win_ack(status_ack), .win_err(status_err), .win_rdata(status_rdata), .far_bank(far_bank),
        .stat_write_ptr(write_ptr), .stat_wrapped(wrapped), .stat_stored(stored), .stat_offered(offered),
        .stat_lost(lost), .stat_chunks_done(chunks_done),
        .stat_pair(pairs), .stat_first_valid(first_valid), .stat_last_valid(last_valid)
    );

    wire        copying;
    wire        bank_ack, bank_err;
    wire [31:0] bank_rdata;
    generate
        if (WITH_BANK != 0) begin : g_bank
            ff_freeze_bank #(.FLOWS(FLOWS)) i_bank (
                .clk_bus(clk_bus), .rst_bus(rst), .clk_link(clk_link), .rst_link(rst_link), .frozen(frozen), .copying(copying),
                .cycle(now[63:0]),
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

    wire        counts_ack, counts_err;
    wire [31:0] counts_rdata;
    localparam [8:0] PERIOD_WORD = 9'h056; // ctl.sample_period
    ff_quad_counts #(.COUNTERS(COUNTERS), .COUNTER_W(COUNTER_W), .SAMPLER_DEPTH(SAMPLER_DEPTH), .RX_FIFO(RX_FIFO)) i_counts (
        .clk_bus(clk_bus), .rst(rst), .clk_link(clk_link), .rst_link(rst_link), .now(now[63:0]), .arm(arm[0]),
        .armed(state == 2'd1 || state == 2'd2), .frozen(frozen), .count_bus(count_bus), .count_link(count_link),
        .tap_valid(tap_valid), .tap_kind(tap_kind), .lost_now(lost_now), .length_valid(length_valid),
        .length_words(length_words), .rx_level(bank_rx_level), .cfg_snapshot_log2(snapshot_log2),
        .cfg_sample_period(sample_period), .cfg_period_written(wr_strobe && wr_word == PERIOD_WORD),
        .stat_snapshot_seq(snapshot_seq), .stat_copying(copying), .sel_snapshot(sel_snapshot),
        .sel_frozen_counters(sel_frozen_counters), .sel_samples(sel_samples), .sel_sampler(sel_sampler),
        .sel_lengths(sel_lengths), .sel_occupancy(sel_occupancy), .win_word(win_word[12:0]), .win_ack(counts_ack),
        .win_err(counts_err), .win_rdata(counts_rdata)
    );

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

    wire reads_0 = WITH_BANK == 0 && ((sel_frozen && !far_mine) || sel_frozen_flow);
    wire refused = WITH_PROVOKE == 0 && sel_inject;
    reg  none_ack, none_err;
    always @(posedge clk_bus) begin
        none_ack <= (reads_0 || refused) && !none_ack && !rst;
        none_err <= refused;
    end
    assign win_ack = trace_ack || status_ack || crc_ack || bank_ack || counts_ack || inject_ack || none_ack;
    assign win_err = (trace_ack && trace_err) || (status_ack && status_err) || (crc_ack && crc_err)
        || (bank_ack && bank_err) || (counts_ack && counts_err) || (none_ack && none_err);
    assign win_rdata = trace_rdata | status_rdata | crc_rdata | bank_rdata | counts_rdata | inject_rdata;
    wire unused_bits = &{1'b0, unused_select_tap, win_word[21:16], rd_slot, cause_mask[31:16], kinds[159:144],
        term_kinds[63:48], term_kinds[31:16]};
endmodule
`default_nettype wire
