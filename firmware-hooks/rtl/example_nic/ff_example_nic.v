// SPDX-License-Identifier: Apache-2.0
// ff_example_nic: one device: the example network card with the recorder at its four taps; an example of use.
//
// Latency, throughput, back-pressure: those of ff_nic_core.v and ff_quad.v; the recorder adds nothing to the card's
// paths. Clock domains: clk_bus, clk_link, clk_rx (recovered). rst is the recorder's own reset, in clk_bus; nic_rst,
// in clk_bus, the card's, which the recorder does not see; bus_rst that of the register port.
`default_nettype none
module ff_example_nic #(
    parameter [31:0] BUILD_HASH = 0, // identifies the build
    parameter DEVICES = 1,          // devices behind this target, 1..255
    parameter INDEX = 0,            // which of them this one is
    parameter TIME_MASTER = 1,      // 1: this device's clk_bus makes the time line
    parameter TAP_DEPTH = 2048,     // records in a tap memory, power of two, 256..16384
    parameter EVENT_DEPTH = 2048,   // records in the event log, power of two, 256..16384
    parameter [31:0] CLK_BUS_HZ = 100000000,
    parameter [31:0] CLK_LINK_HZ = 78125000,
    parameter FLOWS = 8,            // flows with state of their own, 1..128
    parameter CREDIT_UNIT = 64,     // words freed between two credits, 1..65535
    parameter TX_FIFO_LOG2 = 10,    // log2 of the words of the outgoing FIFO, 10..15
    parameter RX_FIFO_LOG2 = 11,    // log2 of the words of the incoming FIFO, 8..15
    parameter CREDIT_W = 13         // bits of a credit counter: RX_FIFO_LOG2 + 2, not to be set
) (
    input  wire         clk_bus, clk_link, clk_rx,
    input  wire         rst, nic_rst, bus_rst,
    input  wire [31:0]  boot_nonce,         // new at every power-up; constant after rst
    // register port: see ff_regs.v
    input  wire         s_req, s_we,
    input  wire [31:0]  s_addr, s_wdata,
    output wire         s_ack, s_err,
    output wire [31:0]  s_rdata,
    output wire                s_record_valid, // see ff_quad.v
    output wire [71:0]         s_record,
    // pair: cross-freeze, time line, who stands still
    input  wire         cross_in,
    output wire         cross_out,
    input  wire [32:0]  time_in,
    output wire [32:0]  time_out,
    output wire         frozen,
    output wire         held,               // this card stands still, until nic_rst
    output wire         link_loopback,      // asks for the loop-back
    // lanes
    output wire [63:0]  lane_out,           // clk_link
    output wire [7:0]   lane_out_k,
    input  wire [63:0]  lane_in,            // clk_rx
    input  wire [7:0]   lane_in_k,
    // host: bus, descriptors, interrupt, driver's configuration; see ff_nic_core.v
    output wire                hb_req,
    output wire                hb_we,
    output wire [63:0]         hb_addr,
    output wire [9:0]          hb_len,
    input  wire                hb_own,
    input  wire                hb_gnt,
    input  wire                hb_ack,
    input  wire                hb_retry,
    output wire                hb_wvalid,
    output wire                hb_wend,
    output wire [63:0]         hb_wdata,
    input  wire                hb_cown,
    input  wire                hb_cvalid,
    input  wire                hb_clast,
    input  wire [63:0]         hb_cdata,
    input  wire                td_ask,
    input  wire                td_valid,
    input  wire [1:0]          td_word,
    input  wire [3:0]          td_type,
    input  wire [31:0]         td_data,
    output wire                td_full,
    output wire                irq,
    input  wire                host_mask,
    input  wire                host_enable,
    input  wire                host_take,
    input  wire [127:0]        host_active,
    input  wire [CREDIT_W-1:0] host_share,
    input  wire [63:0]         host_note_base,
    input  wire                host_rx_stop,
    input  wire [15:0]         host_rx_pause,
    // faults: see ff_nic_core.v
    input  wire                fault_arm,
    input  wire [4:0]          fault_select,
    input  wire                fault_outgoing,
    input  wire [15:0]         fault_count,
    input  wire [9:0]          fault_min_length,
    input  wire [9:0]          fault_word,
    input  wire                fault_lane,
    input  wire [1:0]          fault_bytes,
    input  wire [63:0]         fault_mask,
    input  wire [5:0]          fault_bit,
    input  wire [6:0]          fault_flow,
    input  wire [CREDIT_W-1:0] fault_limit,
    output wire                fault_struck,
    output wire [15:0]         fault_seq,
    output wire [6:0]          fault_struck_flow,
    output wire [9:0]          fault_struck_word,
    output wire                fault_waits
);
    generate if (CREDIT_W != RX_FIFO_LOG2 + 2) begin : g_check_CREDIT_W
        ff_error_CREDIT_W_must_be_RX_FIFO_LOG2_plus_2 stop (); // none such
    end endgenerate

    wire tx_enq_valid, tx_deq_valid, rx_enq_valid, rx_deq_valid, length_valid, bank_interrupt_mask, flow_req,
        flow_ack, rx_dma_stop, traffic_enable, inject_valid, inject_last, inject_ready;
    wire [3:0] tx_enq_kind, tx_deq_kind, rx_enq_kind, rx_deq_kind, bank_comma_phase;
    wire [63:0] tx_enq_data, tx_deq_data, rx_enq_data, rx_deq_data, bank_dma_address, bank_underflows,
        bank_overflows, inject_data;
    wire [10:0] ev_bus_valid;
    wire [43:0] ev_bus_kind;
    wire [87:0] ev_bus_code;
    wire [76:0] ev_bus_flow;
    wire [439:0] ev_bus_value;
    wire [6:0] ev_link_valid, flow_number, traffic_flow;
    wire [27:0] ev_link_kind;
    wire [55:0] ev_link_code;
    wire [48:0] ev_link_flow;
    wire [279:0] ev_link_value;
    wire [15:0] causes_bus, causes_link, bank_tx_level, bank_rx_level, bank_dma_remaining, bank_descriptor_length,
        bank_descriptors_waiting, bank_completions_waiting, bank_next_seq_out, bank_next_seq_in, bank_sync_level;
    wire [31:0] count_bus, count_link, bank_stalled_flows, flow_data, cfg_stall_limit, traffic_gap, traffic_seed;
    wire [9:0] length_words, traffic_length;
    wire [7:0] bank_tx_dma_state, bank_rx_dma_state, bank_tx_link_state, bank_rx_link_state;
    wire [2:0] flow_field;

    // Held with the freeze, and until the pair is brought up anew, whether the recorder is armed again or not.
    wire hold;
    reg  held_q;
    always @(posedge clk_bus) held_q <= (held_q || hold) && !nic_rst && !rst;
    assign held = hold || held_q;

    ff_nic_core #(
        .FLOWS(FLOWS), .CREDIT_W(CREDIT_W), .CREDIT_UNIT(CREDIT_UNIT), .TX_FIFO_LOG2(TX_FIFO_LOG2),
        .RX_FIFO_LOG2(RX_FIFO_LOG2)
    ) i_core (
        .clk_bus(clk_bus), .clk_link(clk_link), .clk_rx(clk_rx), .rst(nic_rst), .hold(held), .lane_out(lane_out),
        .lane_out_k(lane_out_k), .lane_in(lane_in), .lane_in_k(lane_in_k), .hb_req(hb_req), .hb_we(hb_we),
        .hb_addr(hb_addr), .hb_len(hb_len), .hb_own(hb_own), .hb_gnt(hb_gnt), .hb_ack(hb_ack), .hb_retry(hb_retry),
        .hb_wvalid(hb_wvalid), .hb_wend(hb_wend), .hb_wdata(hb_wdata), .hb_cown(hb_cown), .hb_cvalid(hb_cvalid),
        .hb_clast(hb_clast), .hb_cdata(hb_cdata), .td_ask(td_ask), .td_valid(td_valid),
        .td_word(td_word), .td_type(td_type),
        .td_data(td_data), .td_full(td_full), .irq(irq), .host_mask(host_mask), .host_enable(host_enable),
        .host_take(host_take), .host_active(host_active), .host_share(host_share), .host_note_base(host_note_base),
        .host_rx_stop(host_rx_stop), .host_rx_pause(host_rx_pause), .fault_arm(fault_arm),
        .fault_select(fault_select), .fault_outgoing(fault_outgoing), .fault_count(fault_count),
        .fault_min_length(fault_min_length), .fault_word(fault_word), .fault_lane(fault_lane),
        .fault_bytes(fault_bytes), .fault_mask(fault_mask), .fault_bit(fault_bit), .fault_flow(fault_flow),
        .fault_limit(fault_limit), .fault_struck(fault_struck), .fault_seq(fault_seq),
        .fault_struck_flow(fault_struck_flow), .fault_struck_word(fault_struck_word), .fault_waits(fault_waits), .tx_enq_valid(tx_enq_valid),
        .tx_deq_valid(tx_deq_valid), .rx_enq_valid(rx_enq_valid), .rx_deq_valid(rx_deq_valid),
        .tx_enq_kind(tx_enq_kind), .tx_deq_kind(tx_deq_kind), .rx_enq_kind(rx_enq_kind), .rx_deq_kind(rx_deq_kind),
        .tx_enq_data(tx_enq_data), .tx_deq_data(tx_deq_data), .rx_enq_data(rx_enq_data), .rx_deq_data(rx_deq_data),
        .ev_bus_valid(ev_bus_valid), .ev_bus_kind(ev_bus_kind), .ev_bus_code(ev_bus_code), .ev_bus_flow(ev_bus_flow),
        .ev_bus_value(ev_bus_value), .ev_link_valid(ev_link_valid), .ev_link_kind(ev_link_kind),
        .ev_link_code(ev_link_code), .ev_link_flow(ev_link_flow), .ev_link_value(ev_link_value),
        .causes_bus(causes_bus), .causes_link(causes_link), .count_bus(count_bus), .count_link(count_link),
        .length_valid(length_valid), .length_words(length_words), .bank_tx_dma_state(bank_tx_dma_state),
        .bank_rx_dma_state(bank_rx_dma_state), .bank_tx_level(bank_tx_level), .bank_rx_level(bank_rx_level),
        .bank_dma_address(bank_dma_address), .bank_dma_remaining(bank_dma_remaining),
        .bank_descriptor_length(bank_descriptor_length), .bank_descriptors_waiting(bank_descriptors_waiting),
        .bank_interrupt_mask(bank_interrupt_mask), .bank_completions_waiting(bank_completions_waiting),
        .bank_next_seq_out(bank_next_seq_out), .bank_tx_link_state(bank_tx_link_state),
        .bank_rx_link_state(bank_rx_link_state), .bank_next_seq_in(bank_next_seq_in),
        .bank_stalled_flows(bank_stalled_flows), .bank_sync_level(bank_sync_level),
        .bank_underflows(bank_underflows), .bank_overflows(bank_overflows), .bank_comma_phase(bank_comma_phase),
        .flow_req(flow_req), .flow_number(flow_number), .flow_field(flow_field), .flow_ack(flow_ack),
        .flow_data(flow_data), .cfg_stall_limit(cfg_stall_limit), .rx_dma_stop(rx_dma_stop),
        .traffic_enable(traffic_enable), .traffic_flow(traffic_flow), .traffic_length(traffic_length),
        .traffic_gap(traffic_gap), .traffic_seed(traffic_seed), .inject_valid(inject_valid),
        .inject_last(inject_last), .inject_data(inject_data), .inject_ready(inject_ready));

    // Sources of the event lanes, enum event_source: 0 host, 1 tx_dma, 2 tx_link, 3 rx_link, 4 rx_dma.
    localparam [87:0] EV_BUS_SOURCE = {8'd4, 8'd4, 8'd4, 8'd1, 8'd1, 8'd1, 8'd1, 8'd1, 8'd0, 8'd0, 8'd0};
    localparam [55:0] EV_LINK_SOURCE = {8'd3, 8'd3, 8'd3, 8'd3, 8'd2, 8'd2, 8'd2};
    wire trigger_out;
    ff_quad #(
        .BUILD_HASH(BUILD_HASH), .DEVICES(DEVICES), .INDEX(INDEX), .TIME_MASTER(TIME_MASTER), .TAP_DEPTH(TAP_DEPTH),
        .EVENT_DEPTH(EVENT_DEPTH), .EV_BUS(11), .EV_LINK(7), .CLK_BUS_HZ(CLK_BUS_HZ), .CLK_LINK_HZ(CLK_LINK_HZ),
        .FLOWS(FLOWS), .CREDIT_W(CREDIT_W), .TX_FIFO(1 << TX_FIFO_LOG2), .RX_FIFO(1 << RX_FIFO_LOG2),
        .CREDIT_UNIT(CREDIT_UNIT)
    ) i_recorder (
        .clk_bus(clk_bus), .clk_link(clk_link), .rst(rst), .bus_rst(bus_rst), .boot_nonce(boot_nonce), .s_req(s_req),
        .s_we(s_we), .s_addr(s_addr), .s_wdata(s_wdata), .s_ack(s_ack), .s_err(s_err), .s_rdata(s_rdata),
        .s_record_valid(s_record_valid), .s_record(s_record),
        .tx_enq_valid(tx_enq_valid), .tx_enq_kind(tx_enq_kind), .tx_enq_data(tx_enq_data),
        .tx_deq_valid(tx_deq_valid), .tx_deq_kind(tx_deq_kind), .tx_deq_data(tx_deq_data),
        .rx_enq_valid(rx_enq_valid), .rx_enq_kind(rx_enq_kind), .rx_enq_data(rx_enq_data),
        .rx_deq_valid(rx_deq_valid), .rx_deq_kind(rx_deq_kind), .rx_deq_data(rx_deq_data),
        .ev_bus_valid(ev_bus_valid), .ev_bus_kind(ev_bus_kind), .ev_bus_source(EV_BUS_SOURCE),
        .ev_bus_code(ev_bus_code), .ev_bus_flow(ev_bus_flow), .ev_bus_value(ev_bus_value),
        .ev_link_valid(ev_link_valid), .ev_link_kind(ev_link_kind), .ev_link_source(EV_LINK_SOURCE),
        .ev_link_code(ev_link_code), .ev_link_flow(ev_link_flow), .ev_link_value(ev_link_value),
        .causes_bus(causes_bus), .causes_link(causes_link), .trigger_in(1'b0), .trigger_out(trigger_out),
        .cross_in(cross_in), .cross_out(cross_out), .hold(hold), .frozen(frozen), .nic_held(held), .time_in(time_in),
        .time_out(time_out), .count_bus(count_bus), .count_link(count_link), .bank_tx_dma_state(bank_tx_dma_state),
        .bank_rx_dma_state(bank_rx_dma_state), .bank_tx_level(bank_tx_level), .bank_rx_level(bank_rx_level),
        .bank_dma_address(bank_dma_address), .bank_dma_remaining(bank_dma_remaining),
        .bank_descriptor_length(bank_descriptor_length), .bank_descriptors_waiting(bank_descriptors_waiting),
        .bank_interrupt_mask(bank_interrupt_mask), .bank_completions_waiting(bank_completions_waiting),
        .bank_next_seq_out(bank_next_seq_out), .bank_tx_link_state(bank_tx_link_state),
        .bank_rx_link_state(bank_rx_link_state), .bank_next_seq_in(bank_next_seq_in),
        .bank_stalled_flows(bank_stalled_flows), .bank_sync_level(bank_sync_level),
        .bank_underflows(bank_underflows), .bank_overflows(bank_overflows), .bank_comma_phase(bank_comma_phase),
        .flow_req(flow_req), .flow_number(flow_number), .flow_field(flow_field), .flow_ack(flow_ack),
        .flow_data(flow_data), .length_valid(length_valid), .length_words(length_words),
        .cfg_stall_limit(cfg_stall_limit), .rx_dma_stop(rx_dma_stop), .link_loopback(link_loopback),
        .traffic_enable(traffic_enable), .traffic_flow(traffic_flow), .traffic_length(traffic_length),
        .traffic_gap(traffic_gap), .traffic_seed(traffic_seed), .inject_valid(inject_valid),
        .inject_last(inject_last), .inject_data(inject_data), .inject_ready(inject_ready));
    wire unused = &{1'b0, trigger_out};
endmodule
`default_nettype wire
