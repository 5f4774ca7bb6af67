// SPDX-License-Identifier: Apache-2.0
// ff_example_fifo_pair: the outgoing and the incoming FIFO of a card, each between the bus clock and the link clock, recorded
// on all four sides by the device of four taps, whose registers stand behind a serial line. The second worked example of
// docs/add-to-your-nic.md.
//
// The card's part is the two FIFOs. A write to a full one is lost, and is a counter and a cause, as a read of an empty
// one is a counter. Latency: a FIFO's, three cycles of the clock it is read with; the recorder adds none. Throughput: one word a
// cycle on each side. Back-pressure: tx_wr_full, rx_wr_full, from the FIFOs alone. Clock domains: clk_bus and clk_link, as
// each port says. rst is the recorder's own, at power-up; nic_rst the card's; both in clk_bus, 8 cycles of the slower clock or more.
`default_nettype none
module ff_example_fifo_pair #(
    parameter [31:0] BUILD_HASH = 0, // identifies the build
    parameter TAP_DEPTH = 2048,      // records of a tap, power of two, 256..16384
    parameter EVENT_DEPTH = 2048,    // records of the event log, power of two, 256..16384
    parameter FIFO_LOG2 = 6,         // log2 of a FIFO's words, 4..6
    parameter UART_CYCLES = 868      // cycles of clk_bus in a bit: 100 MHz / 115200 Bd
) (
    input  wire        clk_bus, clk_link, rst, nic_rst,
    input  wire [31:0] boot_nonce,   // new at every power-up; constant after rst
    input  wire        uart_rx,
    output wire        uart_tx,
    // outgoing FIFO: written in clk_bus, read in clk_link
    input  wire        tx_wr_en, tx_rd_en,
    input  wire [3:0]  tx_wr_kind,
    input  wire [63:0] tx_wr_data,
    output wire        tx_wr_full, tx_rd_empty,
    output wire [3:0]  tx_rd_kind,
    output wire [63:0] tx_rd_data,
    // incoming FIFO: written in clk_link, read in clk_bus
    input  wire        rx_wr_en, rx_rd_en,
    input  wire [3:0]  rx_wr_kind,
    input  wire [63:0] rx_wr_data,
    output wire        rx_wr_full, rx_rd_empty,
    output wire [3:0]  rx_rd_kind,
    output wire [63:0] rx_rd_data,
    input  wire        link_up       // clk_link
);
    // -- the card: what stands here without a recorder ----------------------------------------------
    wire nic_rst_link, tx_ready, tx_valid, rx_ready, rx_valid;
    ff_cdc_sync i_nic_rst_link (.clk(clk_link), .d(nic_rst), .q(nic_rst_link));
    ff_cdc_fifo #(.DATA_W(68), .DEPTH_LOG2(FIFO_LOG2)) i_tx_fifo (
        .s_clk(clk_bus), .s_rst(nic_rst), .s_valid(tx_wr_en), .s_data({tx_wr_kind, tx_wr_data}), .s_ready(tx_ready),
        .m_clk(clk_link), .m_rst(nic_rst_link), .m_valid(tx_valid), .m_data({tx_rd_kind, tx_rd_data}), .m_ready(tx_rd_en)
    );
    ff_cdc_fifo #(.DATA_W(68), .DEPTH_LOG2(FIFO_LOG2)) i_rx_fifo (
        .s_clk(clk_link), .s_rst(nic_rst_link), .s_valid(rx_wr_en), .s_data({rx_wr_kind, rx_wr_data}), .s_ready(rx_ready),
        .m_clk(clk_bus), .m_rst(nic_rst), .m_valid(rx_valid), .m_data({rx_rd_kind, rx_rd_data}), .m_ready(rx_rd_en)
    );
    assign {tx_wr_full, tx_rd_empty, rx_wr_full, rx_rd_empty} = ~{tx_ready, tx_valid, rx_ready, rx_valid};

    // -- taps on both sides of both FIFOs ----------------------------------------------------------------
    wire        tx_enq_valid, tx_deq_valid, rx_enq_valid, rx_deq_valid;
    wire [3:0]  tx_enq_kind, tx_deq_kind, rx_enq_kind, rx_deq_kind;
    wire [63:0] tx_enq_data, tx_deq_data, rx_enq_data, rx_deq_data;
    wire        tx_overflow, tx_underflow, rx_overflow, rx_underflow;
    ff_tap_fifo i_tap_tx (
        .wr_en(tx_wr_en), .wr_full(tx_wr_full), .wr_kind(tx_wr_kind), .wr_data(tx_wr_data),
        .rd_clk(clk_link), .rd_rst(nic_rst_link), .rd_en(tx_rd_en), .rd_empty(tx_rd_empty), .rd_kind(tx_rd_kind),
        .rd_data(tx_rd_data), .enq_valid(tx_enq_valid), .enq_kind(tx_enq_kind), .enq_data(tx_enq_data),
        .overflow(tx_overflow), .deq_valid(tx_deq_valid), .deq_kind(tx_deq_kind), .deq_data(tx_deq_data),
        .underflow(tx_underflow)
    );
    ff_tap_fifo i_tap_rx (
        .wr_en(rx_wr_en), .wr_full(rx_wr_full), .wr_kind(rx_wr_kind), .wr_data(rx_wr_data),
        .rd_clk(clk_bus), .rd_rst(nic_rst), .rd_en(rx_rd_en), .rd_empty(rx_rd_empty), .rd_kind(rx_rd_kind),
        .rd_data(rx_rd_data), .enq_valid(rx_enq_valid), .enq_kind(rx_enq_kind), .enq_data(rx_enq_data),
        .overflow(rx_overflow), .deq_valid(rx_deq_valid), .deq_kind(rx_deq_kind), .deq_data(rx_deq_data),
        .underflow(rx_underflow)
    );

    // -- causes, counters and an event, each in the domain where it arises ---------------------------------
    localparam RX_OVF = 7, TX_OVF = 8;                                      // bits of enum cause
    localparam TX_OVERFLOWS = 16, TX_UNDERFLOWS = 17, RX_OVERFLOWS = 18, RX_UNDERFLOWS = 19; // counters, order of the map
    localparam [3:0] LINK = 4'd10;                                          // enum kind
    localparam [7:0] RX_LINK = 8'd3, SYNC_LOST = 8'd3, SYNC_FOUND = 8'd4;   // enums event_source, link_code
    reg  tx_overflow_q, rx_overflow_q;   // a lost word is a cause of the cycle behind it, as the word would have been
    reg  link_up_q;
    always @(posedge clk_bus) tx_overflow_q <= tx_overflow && !nic_rst;
    always @(posedge clk_link) begin
        rx_overflow_q <= rx_overflow && !nic_rst_link;
        link_up_q <= link_up && !nic_rst_link;
    end
    wire [15:0] causes_bus = {15'd0, tx_overflow_q} << TX_OVF;
    wire [15:0] causes_link = {15'd0, rx_overflow_q} << RX_OVF;
    wire [31:0] count_bus = {31'd0, tx_overflow} << TX_OVERFLOWS | {31'd0, rx_underflow} << RX_UNDERFLOWS;
    wire [31:0] count_link = {31'd0, tx_underflow} << TX_UNDERFLOWS | {31'd0, rx_overflow} << RX_OVERFLOWS;
    wire        link_turned = link_up != link_up_q && !nic_rst_link;

    // -- the recorder, and the way to it -----------------------------------------------------------------
    wire        req, we, ack, err;
    wire [31:0] addr, wdata, rdata;
    wire [32:0] time_line;
    ff_uartbone #(.CYCLES(UART_CYCLES)) i_uartbone (
        .clk(clk_bus), .rst(rst), .rx(uart_rx), .tx(uart_tx), .m_req(req), .m_we(we), .m_addr(addr), .m_wdata(wdata),
        .m_ack(ack), .m_err(err), .m_rdata(rdata)
    );
    wire        trigger_out, cross_out, hold, frozen, flow_req, rx_dma_stop, link_loopback, traffic_enable, inject_valid,
        inject_last, record_valid;
    wire [71:0] record;
    wire [6:0]  flow_number, traffic_flow;
    wire [2:0]  flow_field;
    wire [9:0]  traffic_length;
    wire [31:0] cfg_stall_limit, traffic_gap, traffic_seed;
    wire [63:0] inject_data;
    ff_quad #(
        .BUILD_HASH(BUILD_HASH), .TAP_DEPTH(TAP_DEPTH), .EVENT_DEPTH(EVENT_DEPTH), .EV_BUS(1), .EV_LINK(1),
        .CLK_BUS_HZ(100000000), .CLK_LINK_HZ(78125000), .TX_FIFO(1 << FIFO_LOG2), .RX_FIFO(1 << FIFO_LOG2), .FLOWS(1),
        .SAMPLER_DEPTH(0), .WITH_BANK(0), .WITH_PROVOKE(0)
    ) i_recorder (
        .clk_bus(clk_bus), .clk_link(clk_link), .rst(rst), .bus_rst(rst), .boot_nonce(boot_nonce),
        .s_req(req), .s_we(we), .s_addr(addr), .s_wdata(wdata), .s_ack(ack), .s_err(err), .s_rdata(rdata),
        .s_record_valid(record_valid), .s_record(record),
        .tx_enq_valid(tx_enq_valid), .tx_enq_kind(tx_enq_kind), .tx_enq_data(tx_enq_data),
        .tx_deq_valid(tx_deq_valid), .tx_deq_kind(tx_deq_kind), .tx_deq_data(tx_deq_data),
        .rx_enq_valid(rx_enq_valid), .rx_enq_kind(rx_enq_kind), .rx_enq_data(rx_enq_data),
        .rx_deq_valid(rx_deq_valid), .rx_deq_kind(rx_deq_kind), .rx_deq_data(rx_deq_data),
        .causes_bus(causes_bus), .causes_link(causes_link), .count_bus(count_bus), .count_link(count_link),
        .ev_link_valid(link_turned), .ev_link_kind(LINK), .ev_link_source(RX_LINK),
        .ev_link_code(link_up ? SYNC_FOUND : SYNC_LOST), .ev_link_flow(7'd0), .ev_link_value(40'd0),
        .time_in(time_line), .time_out(time_line),
        // what this card has not got: inputs at 0, outputs open
        .ev_bus_valid(1'b0), .ev_bus_kind(4'd0), .ev_bus_source(8'd0), .ev_bus_code(8'd0), .ev_bus_flow(7'd0),
        .ev_bus_value(40'd0), .trigger_in(1'b0), .trigger_out(trigger_out), .cross_in(1'b0), .cross_out(cross_out),
        .hold(hold), .frozen(frozen), .nic_held(1'b0),
        .bank_tx_dma_state(8'd0), .bank_rx_dma_state(8'd0), .bank_tx_level(16'd0), .bank_rx_level(16'd0),
        .bank_dma_address(64'd0), .bank_dma_remaining(16'd0), .bank_descriptor_length(16'd0),
        .bank_descriptors_waiting(16'd0), .bank_interrupt_mask(1'b0), .bank_completions_waiting(16'd0),
        .bank_next_seq_out(16'd0), .bank_tx_link_state(8'd0), .bank_rx_link_state(8'd0), .bank_next_seq_in(16'd0),
        .bank_stalled_flows(32'd0), .bank_sync_level(16'd0), .bank_underflows(64'd0), .bank_overflows(64'd0),
        .bank_comma_phase(4'd0), .flow_req(flow_req), .flow_number(flow_number), .flow_field(flow_field), .flow_ack(1'b0),
        .flow_data(32'd0), .length_valid(1'b0), .length_words(10'd0), .cfg_stall_limit(cfg_stall_limit),
        .rx_dma_stop(rx_dma_stop), .link_loopback(link_loopback), .traffic_enable(traffic_enable),
        .traffic_flow(traffic_flow), .traffic_length(traffic_length), .traffic_gap(traffic_gap),
        .traffic_seed(traffic_seed), .inject_valid(inject_valid), .inject_last(inject_last), .inject_data(inject_data),
        .inject_ready(1'b0)
    );
    wire unused = &{1'b0, trigger_out, cross_out, hold, frozen, flow_req, rx_dma_stop, link_loopback, traffic_enable,
        inject_valid, inject_last, flow_number, traffic_flow, flow_field, traffic_length, cfg_stall_limit, traffic_gap,
        traffic_seed, inject_data, record_valid, record};
endmodule
`default_nettype wire
