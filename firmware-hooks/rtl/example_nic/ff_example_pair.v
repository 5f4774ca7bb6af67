// SPDX-License-Identifier: Apache-2.0
// ff_example_pair: two example network cards, A and B, back to back over two lanes each way; what a simulated board
// runs.
//
// Each card has its own bus clock and its own link clock, any phase, up to some hundred ppm apart. rst is the
// power-up of everything (any clock, 16 cycles of the slowest or more). The pair brings both cards up anew when a
// card was held and none is frozen any more, and when a loop-back is switched; a_nic_rst, b_nic_rst tell the hosts,
// which then start anew. Latency of the wires: WIRE_LATENCY sender's link cycles. Throughput, back-pressure: those of
// the cards. Clock domains: clk_bus_a, clk_link_a, clk_bus_b, clk_link_b; ports a_* and b_* stand in their card's bus
// domain.
`default_nettype none
module ff_example_pair #(
    parameter [31:0] BUILD_HASH = 0, // identifies the build
    parameter TAP_DEPTH = 2048,     // records in a tap memory, power of two, 256..16384
    parameter EVENT_DEPTH = 2048,   // records in the event log, power of two, 256..16384
    parameter [31:0] CLK_BUS_HZ = 100000000,
    parameter [31:0] CLK_LINK_HZ = 78125000,
    parameter FLOWS = 8,            // flows with state of their own, 1..128
    parameter CREDIT_UNIT = 64,     // words freed between two credits, 1..65535
    parameter TX_FIFO_LOG2 = 10,    // log2 of the words of the outgoing FIFO, 10..15
    parameter RX_FIFO_LOG2 = 11,    // log2 of the words of the incoming FIFO, 8..15
    parameter CREDIT_W = 13,        // bits of a credit counter: RX_FIFO_LOG2 + 2, not to be set
    parameter WIRE_LATENCY = 25     // link cycles, 2..100
) (
    input  wire         clk_bus_a, clk_link_a, clk_bus_b, clk_link_b,
    input  wire         rst,
    input  wire         bus_rst_a, bus_rst_b,
    input  wire         load, // its rising edge takes boot_nonce_*, phase_* and fault_*
    input  wire [31:0]  boot_nonce_a, boot_nonce_b,
    input  wire [3:0]   phase_ab, phase_ba, // byte phase of the lanes from A to B and back, 2 bits a lane; stands still
    // register ports: A's hears the accesses that fall into no device, too
    input  wire         a_s_req, a_s_we,
    input  wire [31:0]  a_s_addr, a_s_wdata,
    output wire         a_s_ack, a_s_err,
    output wire [31:0]  a_s_rdata,
    output wire         a_s_record_valid, // see ff_quad.v
    output wire [71:0]  a_s_record,
    input  wire         b_s_req, b_s_we,
    input  wire [31:0]  b_s_addr, b_s_wdata,
    output wire         b_s_ack, b_s_err,
    output wire [31:0]  b_s_rdata,
    output wire         b_s_record_valid, // see ff_quad.v
    output wire [71:0]  b_s_record,
    // the cards
    output wire         a_held, a_frozen, a_nic_rst, b_held, b_frozen, b_nic_rst,
    // host of A
    output wire                a_hb_req,
    output wire                a_hb_we,
    output wire [63:0]         a_hb_addr,
    output wire [9:0]          a_hb_len,
    input  wire                a_hb_own,
    input  wire                a_hb_gnt,
    input  wire                a_hb_ack,
    input  wire                a_hb_retry,
    output wire                a_hb_wvalid,
    output wire                a_hb_wend,
    output wire [63:0]         a_hb_wdata,
    input  wire                a_hb_cown,
    input  wire                a_hb_cvalid,
    input  wire                a_hb_clast,
    input  wire [63:0]         a_hb_cdata,
    input  wire                a_td_ask,
    input  wire                a_td_valid,
    input  wire [1:0]          a_td_word,
    input  wire [3:0]          a_td_type,
    input  wire [31:0]         a_td_data,
    output wire                a_td_full,
    output wire                a_irq,
    input  wire                a_host_mask,
    input  wire                a_host_enable,
    input  wire                a_host_take,
    input  wire [127:0]        a_host_active,
    input  wire [CREDIT_W-1:0] a_host_share,
    input  wire [63:0]         a_host_note_base,
    input  wire                a_host_rx_stop,
    input  wire [15:0]         a_host_rx_pause,
    // host of B
    output wire                b_hb_req,
    output wire                b_hb_we,
    output wire [63:0]         b_hb_addr,
    output wire [9:0]          b_hb_len,
    input  wire                b_hb_own,
    input  wire                b_hb_gnt,
    input  wire                b_hb_ack,
    input  wire                b_hb_retry,
    output wire                b_hb_wvalid,
    output wire                b_hb_wend,
    output wire [63:0]         b_hb_wdata,
    input  wire                b_hb_cown,
    input  wire                b_hb_cvalid,
    input  wire                b_hb_clast,
    input  wire [63:0]         b_hb_cdata,
    input  wire                b_td_ask,
    input  wire                b_td_valid,
    input  wire [1:0]          b_td_word,
    input  wire [3:0]          b_td_type,
    input  wire [31:0]         b_td_data,
    output wire                b_td_full,
    output wire                b_irq,
    input  wire                b_host_mask,
    input  wire                b_host_enable,
    input  wire                b_host_take,
    input  wire [127:0]        b_host_active,
    input  wire [CREDIT_W-1:0] b_host_share,
    input  wire [63:0]         b_host_note_base,
    input  wire                b_host_rx_stop,
    input  wire [15:0]         b_host_rx_pause,
    // fault: on B, else on A; see ff_nic_core.v
    input  wire         fault_on_b,
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
    output wire [9:0]          fault_struck_word
);
    generate if (WIRE_LATENCY < 2 || WIRE_LATENCY > 100) begin : g_check_WIRE_LATENCY
        ff_error_WIRE_LATENCY_must_be_2_to_100 stop (); // none such
    end endgenerate

    wire rst_bus_a, rst_bus_b, rst_link_a, rst_link_b, nic_rst_a, nic_rst_b, restart, loop;
    wire held_a, held_b, frozen_a, frozen_b, loopback_a, loopback_b, cross_a, cross_b, clk_rx_a, clk_rx_b;
    wire [32:0] time_a, time_b;
    wire [63:0] lane_a, lane_b, wire_ab, wire_ba, in_a, in_b;
    wire [7:0]  lane_a_k, lane_b_k, wire_ab_k, wire_ba_k, in_a_k, in_b_k;
    wire a_fault_struck, b_fault_struck, a_fault_waits, b_fault_waits;
    wire [15:0] a_fault_seq, b_fault_seq;
    wire [6:0] a_fault_struck_flow, b_fault_struck_flow;
    wire [9:0] a_fault_struck_word, b_fault_struck_word;

    // Inputs are taken at the falling edge: a test bench drives them after the rising one, and nothing depends on
    // them in between. Those of a held card's host need not be taken, and what stands still for a run is only at load.
    wire clk_host_a, clk_host_b;
    ff_nic_clock_gate i_host_a (.clk(clk_bus_a), .en(!held_a || nic_rst_a), .gated(clk_host_a));
    ff_nic_clock_gate i_host_b (.clk(clk_bus_b), .en(!held_b || nic_rst_b), .gated(clk_host_b));
    reg a_hb_gnt_q, a_td_ask_q, b_hb_gnt_q, b_td_ask_q;
    reg bus_rst_a_q, bus_rst_b_q, a_s_req_q, a_s_we_q, b_s_req_q, b_s_we_q, a_hb_own_q, a_hb_ack_q, a_hb_retry_q,
        a_hb_cown_q, a_hb_cvalid_q, a_hb_clast_q, a_td_valid_q, a_host_mask_q, a_host_enable_q, a_host_take_q,
        a_host_rx_stop_q, b_hb_own_q, b_hb_ack_q, b_hb_retry_q, b_hb_cown_q, b_hb_cvalid_q, b_hb_clast_q,
        b_td_valid_q, b_host_mask_q, b_host_enable_q, b_host_take_q, b_host_rx_stop_q, fault_on_b_q, fault_arm_q,
        fault_outgoing_q, fault_lane_q;
    reg [31:0] boot_nonce_a_q, boot_nonce_b_q, a_s_addr_q, a_s_wdata_q, b_s_addr_q, b_s_wdata_q, a_td_data_q,
        b_td_data_q;
    reg [3:0] phase_ab_q, phase_ba_q, a_td_type_q, b_td_type_q;
    reg [4:0] fault_select_q;
    reg [63:0] a_hb_cdata_q, a_host_note_base_q, b_hb_cdata_q, b_host_note_base_q, fault_mask_q;
    reg [1:0] a_td_word_q, b_td_word_q, fault_bytes_q;
    reg [127:0] a_host_active_q, b_host_active_q;
    reg [CREDIT_W-1:0] a_host_share_q, b_host_share_q, fault_limit_q;
    reg [15:0] a_host_rx_pause_q, b_host_rx_pause_q, fault_count_q;
    reg [9:0] fault_min_length_q, fault_word_q;
    reg [5:0] fault_bit_q;
    reg [6:0] fault_flow_q;
    always @(negedge clk_bus_a) begin
        bus_rst_a_q <= bus_rst_a; a_s_req_q <= a_s_req; a_s_we_q <= a_s_we; a_s_addr_q <= a_s_addr;
        a_s_wdata_q <= a_s_wdata;
    end
    always @(negedge clk_bus_b) begin
        bus_rst_b_q <= bus_rst_b; b_s_req_q <= b_s_req; b_s_we_q <= b_s_we; b_s_addr_q <= b_s_addr;
        b_s_wdata_q <= b_s_wdata;
    end
    always @(negedge clk_host_a) begin
        a_hb_gnt_q <= a_hb_gnt; a_td_ask_q <= a_td_ask;
        a_hb_own_q <= a_hb_own; a_hb_ack_q <= a_hb_ack; a_hb_retry_q <= a_hb_retry; a_hb_cown_q <= a_hb_cown;
        a_hb_cvalid_q <= a_hb_cvalid; a_hb_clast_q <= a_hb_clast; a_hb_cdata_q <= a_hb_cdata;
        a_td_valid_q <= a_td_valid; a_td_word_q <= a_td_word; a_td_type_q <= a_td_type; a_td_data_q <= a_td_data;
        a_host_mask_q <= a_host_mask; a_host_enable_q <= a_host_enable; a_host_take_q <= a_host_take;
        a_host_active_q <= a_host_active; a_host_share_q <= a_host_share; a_host_note_base_q <= a_host_note_base;
        a_host_rx_stop_q <= a_host_rx_stop; a_host_rx_pause_q <= a_host_rx_pause;
    end
    always @(negedge clk_host_b) begin
        b_hb_gnt_q <= b_hb_gnt; b_td_ask_q <= b_td_ask;
        b_hb_own_q <= b_hb_own; b_hb_ack_q <= b_hb_ack; b_hb_retry_q <= b_hb_retry; b_hb_cown_q <= b_hb_cown;
        b_hb_cvalid_q <= b_hb_cvalid; b_hb_clast_q <= b_hb_clast; b_hb_cdata_q <= b_hb_cdata;
        b_td_valid_q <= b_td_valid; b_td_word_q <= b_td_word; b_td_type_q <= b_td_type; b_td_data_q <= b_td_data;
        b_host_mask_q <= b_host_mask; b_host_enable_q <= b_host_enable; b_host_take_q <= b_host_take;
        b_host_active_q <= b_host_active; b_host_share_q <= b_host_share; b_host_note_base_q <= b_host_note_base;
        b_host_rx_stop_q <= b_host_rx_stop; b_host_rx_pause_q <= b_host_rx_pause;
    end
    always @(posedge load) begin
        boot_nonce_a_q <= boot_nonce_a; phase_ab_q <= phase_ab; phase_ba_q <= phase_ba; fault_on_b_q <= fault_on_b;
        fault_arm_q <= fault_arm; fault_select_q <= fault_select; fault_outgoing_q <= fault_outgoing;
        fault_count_q <= fault_count; fault_min_length_q <= fault_min_length; fault_word_q <= fault_word;
        fault_lane_q <= fault_lane; fault_bytes_q <= fault_bytes; fault_mask_q <= fault_mask;
        fault_bit_q <= fault_bit; fault_flow_q <= fault_flow; fault_limit_q <= fault_limit;
        boot_nonce_b_q <= boot_nonce_b;
    end

    ff_cdc_sync i_rst_bus_a (.clk(clk_bus_a), .d(rst), .q(rst_bus_a));
    ff_cdc_sync i_rst_bus_b (.clk(clk_bus_b), .d(rst), .q(rst_bus_b));
    ff_cdc_sync i_rst_link_a (.clk(clk_link_a), .d(rst), .q(rst_link_a));
    ff_cdc_sync i_rst_link_b (.clk(clk_link_b), .d(rst), .q(rst_link_b));
    ff_nic_restart i_restart (
        .clk(clk_bus_a), .rst(rst_bus_a), .held_a(held_a), .held_b(held_b), .frozen_a(frozen_a), .frozen_b(frozen_b),
        .loop_a(loopback_a), .loop_b(loopback_b), .restart(restart), .loop(loop));
    assign nic_rst_a = restart;
    ff_cdc_sync i_nic_rst_b (.clk(clk_bus_b), .d(restart), .q(nic_rst_b));
    assign {a_held, a_frozen, a_nic_rst, b_held, b_frozen, b_nic_rst}
        = {held_a, frozen_a, nic_rst_a, held_b, frozen_b, nic_rst_b};

    // Wires; in loop-back each card hears its own.
    ff_nic_wire #(.LATENCY(WIRE_LATENCY)) i_wire_ab (
        .clk(clk_link_a), .rst(rst_link_a), .cfg_phase(phase_ab_q), .s_data(lane_a), .s_k(lane_a_k), .m_data(wire_ab),
        .m_k(wire_ab_k));
    ff_nic_wire #(.LATENCY(WIRE_LATENCY)) i_wire_ba (
        .clk(clk_link_b), .rst(rst_link_b), .cfg_phase(phase_ba_q), .s_data(lane_b), .s_k(lane_b_k), .m_data(wire_ba),
        .m_k(wire_ba_k));
    ff_nic_clock_mux i_clock_a (.clk0(clk_link_b), .clk1(clk_link_a), .sel(loop), .clk(clk_rx_a));
    ff_nic_clock_mux i_clock_b (.clk0(clk_link_a), .clk1(clk_link_b), .sel(loop), .clk(clk_rx_b));
    assign {in_a_k, in_a} = loop ? {wire_ab_k, wire_ab} : {wire_ba_k, wire_ba};
    assign {in_b_k, in_b} = loop ? {wire_ba_k, wire_ba} : {wire_ab_k, wire_ab};

    wire [32:0] time_line = time_a;
    ff_example_nic #(
        .BUILD_HASH(BUILD_HASH), .DEVICES(2), .INDEX(0), .TIME_MASTER(1), .TAP_DEPTH(TAP_DEPTH),
        .EVENT_DEPTH(EVENT_DEPTH), .CLK_BUS_HZ(CLK_BUS_HZ), .CLK_LINK_HZ(CLK_LINK_HZ), .FLOWS(FLOWS),
        .CREDIT_UNIT(CREDIT_UNIT), .TX_FIFO_LOG2(TX_FIFO_LOG2), .RX_FIFO_LOG2(RX_FIFO_LOG2), .CREDIT_W(CREDIT_W)
    ) i_a (
        .clk_bus(clk_bus_a), .clk_link(clk_link_a), .clk_rx(clk_rx_a), .rst(rst_bus_a), .nic_rst(nic_rst_a),
        .bus_rst(bus_rst_a_q), .boot_nonce(boot_nonce_a_q), .s_req(a_s_req_q), .s_we(a_s_we_q), .s_addr(a_s_addr_q),
        .s_wdata(a_s_wdata_q), .s_ack(a_s_ack), .s_err(a_s_err), .s_rdata(a_s_rdata), .s_record_valid(a_s_record_valid),
        .s_record(a_s_record), .cross_in(cross_b),
        .cross_out(cross_a), .time_in(time_line), .time_out(time_a), .frozen(frozen_a), .held(held_a),
        .link_loopback(loopback_a), .lane_out(lane_a), .lane_out_k(lane_a_k), .lane_in(in_a), .lane_in_k(in_a_k),
        .hb_req(a_hb_req), .hb_we(a_hb_we), .hb_addr(a_hb_addr), .hb_len(a_hb_len), .hb_own(a_hb_own_q), .hb_gnt(a_hb_gnt_q),
        .td_ask(a_td_ask_q),
        .hb_ack(a_hb_ack_q), .hb_retry(a_hb_retry_q), .hb_wvalid(a_hb_wvalid), .hb_wend(a_hb_wend),
        .hb_wdata(a_hb_wdata), .hb_cown(a_hb_cown_q), .hb_cvalid(a_hb_cvalid_q), .hb_clast(a_hb_clast_q),
        .hb_cdata(a_hb_cdata_q), .td_valid(a_td_valid_q), .td_word(a_td_word_q), .td_type(a_td_type_q),
        .td_data(a_td_data_q),
        .td_full(a_td_full), .irq(a_irq), .host_mask(a_host_mask_q), .host_enable(a_host_enable_q),
        .host_take(a_host_take_q), .host_active(a_host_active_q), .host_share(a_host_share_q),
        .host_note_base(a_host_note_base_q), .host_rx_stop(a_host_rx_stop_q), .host_rx_pause(a_host_rx_pause_q),
        .fault_arm(fault_arm_q && fault_on_b_q == 1'b0), .fault_select(fault_on_b_q == 1'b0 ? fault_select_q : 5'd0),
        .fault_outgoing(fault_outgoing_q), .fault_count(fault_count_q), .fault_min_length(fault_min_length_q),
        .fault_word(fault_word_q), .fault_lane(fault_lane_q), .fault_bytes(fault_bytes_q), .fault_mask(fault_mask_q),
        .fault_bit(fault_bit_q), .fault_flow(fault_flow_q), .fault_limit(fault_limit_q), .fault_struck(a_fault_struck),
        .fault_seq(a_fault_seq), .fault_struck_flow(a_fault_struck_flow), .fault_struck_word(a_fault_struck_word), .fault_waits(a_fault_waits));
    ff_example_nic #(
        .BUILD_HASH(BUILD_HASH), .DEVICES(2), .INDEX(1), .TIME_MASTER(0), .TAP_DEPTH(TAP_DEPTH),
        .EVENT_DEPTH(EVENT_DEPTH), .CLK_BUS_HZ(CLK_BUS_HZ), .CLK_LINK_HZ(CLK_LINK_HZ), .FLOWS(FLOWS),
        .CREDIT_UNIT(CREDIT_UNIT), .TX_FIFO_LOG2(TX_FIFO_LOG2), .RX_FIFO_LOG2(RX_FIFO_LOG2), .CREDIT_W(CREDIT_W)
    ) i_b (
        .clk_bus(clk_bus_b), .clk_link(clk_link_b), .clk_rx(clk_rx_b), .rst(rst_bus_b), .nic_rst(nic_rst_b),
        .bus_rst(bus_rst_b_q), .boot_nonce(boot_nonce_b_q), .s_req(b_s_req_q), .s_we(b_s_we_q), .s_addr(b_s_addr_q),
        .s_wdata(b_s_wdata_q), .s_ack(b_s_ack), .s_err(b_s_err), .s_rdata(b_s_rdata), .s_record_valid(b_s_record_valid),
        .s_record(b_s_record), .cross_in(cross_a),
        .cross_out(cross_b), .time_in(time_line), .time_out(time_b), .frozen(frozen_b), .held(held_b),
        .link_loopback(loopback_b), .lane_out(lane_b), .lane_out_k(lane_b_k), .lane_in(in_b), .lane_in_k(in_b_k),
        .hb_req(b_hb_req), .hb_we(b_hb_we), .hb_addr(b_hb_addr), .hb_len(b_hb_len), .hb_own(b_hb_own_q), .hb_gnt(b_hb_gnt_q),
        .td_ask(b_td_ask_q),
        .hb_ack(b_hb_ack_q), .hb_retry(b_hb_retry_q), .hb_wvalid(b_hb_wvalid), .hb_wend(b_hb_wend),
        .hb_wdata(b_hb_wdata), .hb_cown(b_hb_cown_q), .hb_cvalid(b_hb_cvalid_q), .hb_clast(b_hb_clast_q),
        .hb_cdata(b_hb_cdata_q), .td_valid(b_td_valid_q), .td_word(b_td_word_q), .td_type(b_td_type_q),
        .td_data(b_td_data_q),
        .td_full(b_td_full), .irq(b_irq), .host_mask(b_host_mask_q), .host_enable(b_host_enable_q),
        .host_take(b_host_take_q), .host_active(b_host_active_q), .host_share(b_host_share_q),
        .host_note_base(b_host_note_base_q), .host_rx_stop(b_host_rx_stop_q), .host_rx_pause(b_host_rx_pause_q),
        .fault_arm(fault_arm_q && fault_on_b_q == 1'b1), .fault_select(fault_on_b_q == 1'b1 ? fault_select_q : 5'd0),
        .fault_outgoing(fault_outgoing_q), .fault_count(fault_count_q), .fault_min_length(fault_min_length_q),
        .fault_word(fault_word_q), .fault_lane(fault_lane_q), .fault_bytes(fault_bytes_q), .fault_mask(fault_mask_q),
        .fault_bit(fault_bit_q), .fault_flow(fault_flow_q), .fault_limit(fault_limit_q), .fault_struck(b_fault_struck),
        .fault_seq(b_fault_seq), .fault_struck_flow(b_fault_struck_flow), .fault_struck_word(b_fault_struck_word), .fault_waits(b_fault_waits));

    // Credits in lumps do harm where the far end begins to wait for them.
    wire lumps = fault_select_q == 5'd12;
    assign fault_struck = fault_on_b_q ? b_fault_struck && (!lumps || a_fault_waits)
        : a_fault_struck && (!lumps || b_fault_waits);
    assign fault_seq = fault_on_b_q ? b_fault_seq : a_fault_seq;
    assign fault_struck_flow = fault_on_b_q ? b_fault_struck_flow : a_fault_struck_flow;
    assign fault_struck_word = fault_on_b_q ? b_fault_struck_word : a_fault_struck_word;
    wire unused = &{1'b0, time_b};
endmodule
`default_nettype wire
