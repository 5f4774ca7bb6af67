// SPDX-License-Identifier: Apache-2.0
// ff_pcix_pair: the pair of example cards, each with its PCI-X front end: what a simulated board with two visible buses runs.
//
// Ports a_* and b_* are the pins of a card, in its bus clock. Of a_ctl and b_ctl, levels as on the pins: 0 FRAME#, 1 IRDY#,
// 2 TRDY#, 3 DEVSEL#, 4 STOP#, 5 REQ64#, 6 ACK64#, 7 PERR#, 8 PAR, 9 PAR64, 10 SERR#, 11 INTA#, 12 REQ#, 13 GNT#, 14 IDSEL,
// 15 RST#. A pin that is driven has a 1 in *_ctl_oe; *_ad_oe: C/BE7..0#, AD63..32, AD31..0. The cards are in reset until both
// drivers have let them run. Latency, throughput, back-pressure: those of ff_nic_pcix.v and of the cards. Clock domains and the
// rest: ff_example_pair.v.
`default_nettype none
module ff_pcix_pair #(
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
    input  wire         load, // its rising edge takes boot_nonce_*, phase_* and fault_*
    input  wire [31:0]  boot_nonce_a, boot_nonce_b,
    input  wire [3:0]   phase_ab, phase_ba,
    output wire         a_held, a_frozen, a_nic_rst, b_held, b_frozen, b_nic_rst,
    // pins
    input  wire [63:0]  a_ad_i,
    output wire [63:0]  a_ad_o,
    output wire [2:0]   a_ad_oe,
    input  wire [7:0]   a_cbe_i,
    output wire [7:0]   a_cbe_o,
    input  wire [15:0]  a_ctl_i,
    output wire [15:0]  a_ctl_o, a_ctl_oe,
    input  wire [63:0]  b_ad_i,
    output wire [63:0]  b_ad_o,
    output wire [2:0]   b_ad_oe,
    input  wire [7:0]   b_cbe_i,
    output wire [7:0]   b_cbe_o,
    input  wire [15:0]  b_ctl_i,
    output wire [15:0]  b_ctl_o, b_ctl_oe,
    // fault: on B, else on A; see ff_nic_core.v
    input  wire         fault_on_b,
    input  wire         fault_arm,
    input  wire [4:0]   fault_select,
    input  wire         fault_outgoing,
    input  wire [15:0]  fault_count,
    input  wire [9:0]   fault_min_length,
    input  wire [9:0]   fault_word,
    input  wire         fault_lane,
    input  wire [1:0]   fault_bytes,
    input  wire [63:0]  fault_mask,
    input  wire [5:0]   fault_bit,
    input  wire [6:0]   fault_flow,
    input  wire [CREDIT_W-1:0] fault_limit,
    output wire         fault_struck,
    output wire [15:0]  fault_seq,
    output wire [6:0]   fault_struck_flow,
    output wire [9:0]   fault_struck_word
);
    wire a_hb_req, a_hb_we, a_hb_wvalid, a_hb_wend, a_td_full, a_irq, a_hb_own, a_hb_gnt, a_hb_ack, a_hb_retry,
        a_hb_cown, a_hb_cvalid, a_hb_clast, a_td_ask, a_td_valid, a_host_mask, a_host_enable, a_host_take,
        a_host_rx_stop, a_s_req, a_s_we, a_s_ack, a_run, a_frame_oe, a_target_oe, a_s_err, a_s_record_valid;
    wire [63:0] a_hb_addr, a_hb_wdata, a_hb_cdata, a_host_note_base;
    wire [9:0] a_hb_len;
    wire [1:0] a_td_word;
    wire [3:0] a_td_type;
    wire [31:0] a_td_data, a_s_wdata, a_s_rdata;
    wire [127:0] a_host_active;
    wire [15:0] a_host_share, a_host_rx_pause;
    wire [23:0] a_s_addr;
    wire [71:0] a_s_record;
    assign a_ctl_o[15:13] = 3'b111;
    assign a_ctl_oe[15:13] = 3'b000;
    assign a_ctl_o[11:10] = 2'b00;
    assign a_ctl_oe[12] = 1'b1;
    assign {a_ctl_oe[5], a_ctl_oe[0]} = {2{a_frame_oe}};
    assign {a_ctl_oe[6], a_ctl_oe[4:2]} = {4{a_target_oe}};
    ff_nic_pcix i_pcix_a (
        .clk(clk_bus_a), .rst(rst), .rst_n(a_ctl_i[15]), .idsel(a_ctl_i[14]), .gnt_n(a_ctl_i[13]),
        .req_n(a_ctl_o[12]), .ad_i(a_ad_i), .ad_o(a_ad_o), .ad_oe(a_ad_oe[0]), .ad_high_oe(a_ad_oe[1]),
        .cbe_i(a_cbe_i), .cbe_o(a_cbe_o), .cbe_oe(a_ad_oe[2]), .par_i(a_ctl_i[8]), .par64_i(a_ctl_i[9]),
        .par_o(a_ctl_o[8]), .par64_o(a_ctl_o[9]), .par_oe(a_ctl_oe[8]), .par64_oe(a_ctl_oe[9]),
        .frame_n_i(a_ctl_i[0]), .irdy_n_i(a_ctl_i[1]), .req64_n_i(a_ctl_i[5]), .frame_n_o(a_ctl_o[0]),
        .frame_oe(a_frame_oe), .irdy_n_o(a_ctl_o[1]), .irdy_oe(a_ctl_oe[1]), .req64_n_o(a_ctl_o[5]),
        .devsel_n_i(a_ctl_i[3]), .trdy_n_i(a_ctl_i[2]), .stop_n_i(a_ctl_i[4]), .ack64_n_i(a_ctl_i[6]),
        .devsel_n_o(a_ctl_o[3]), .trdy_n_o(a_ctl_o[2]), .stop_n_o(a_ctl_o[4]), .ack64_n_o(a_ctl_o[6]),
        .target_oe(a_target_oe), .perr_n_i(a_ctl_i[7]), .perr_n_o(a_ctl_o[7]), .perr_oe(a_ctl_oe[7]),
        .serr_oe(a_ctl_oe[10]), .inta_oe(a_ctl_oe[11]), .card_hold(a_held), .card_rst(a_nic_rst), .card_run(a_run),
        .hb_req(a_hb_req), .hb_we(a_hb_we), .hb_addr(a_hb_addr), .hb_len(a_hb_len), .hb_wvalid(a_hb_wvalid),
        .hb_wend(a_hb_wend), .hb_wdata(a_hb_wdata), .td_full(a_td_full), .irq(a_irq), .hb_own(a_hb_own),
        .hb_gnt(a_hb_gnt), .hb_ack(a_hb_ack), .hb_retry(a_hb_retry), .hb_cown(a_hb_cown), .hb_cvalid(a_hb_cvalid),
        .hb_clast(a_hb_clast), .hb_cdata(a_hb_cdata), .td_ask(a_td_ask), .td_valid(a_td_valid), .td_word(a_td_word),
        .td_type(a_td_type), .td_data(a_td_data), .host_mask(a_host_mask), .host_enable(a_host_enable),
        .host_take(a_host_take), .host_active(a_host_active), .host_share(a_host_share),
        .host_note_base(a_host_note_base), .host_rx_stop(a_host_rx_stop), .host_rx_pause(a_host_rx_pause),
        .s_req(a_s_req), .s_we(a_s_we), .s_addr(a_s_addr), .s_wdata(a_s_wdata), .s_ack(a_s_ack), .s_rdata(a_s_rdata));

    wire b_hb_req, b_hb_we, b_hb_wvalid, b_hb_wend, b_td_full, b_irq, b_hb_own, b_hb_gnt, b_hb_ack, b_hb_retry,
        b_hb_cown, b_hb_cvalid, b_hb_clast, b_td_ask, b_td_valid, b_host_mask, b_host_enable, b_host_take,
        b_host_rx_stop, b_s_req, b_s_we, b_s_ack, b_run, b_frame_oe, b_target_oe, b_s_err, b_s_record_valid;
    wire [63:0] b_hb_addr, b_hb_wdata, b_hb_cdata, b_host_note_base;
    wire [9:0] b_hb_len;
    wire [1:0] b_td_word;
    wire [3:0] b_td_type;
    wire [31:0] b_td_data, b_s_wdata, b_s_rdata;
    wire [127:0] b_host_active;
    wire [15:0] b_host_share, b_host_rx_pause;
    wire [23:0] b_s_addr;
    wire [71:0] b_s_record;
    assign b_ctl_o[15:13] = 3'b111;
    assign b_ctl_oe[15:13] = 3'b000;
    assign b_ctl_o[11:10] = 2'b00;
    assign b_ctl_oe[12] = 1'b1;
    assign {b_ctl_oe[5], b_ctl_oe[0]} = {2{b_frame_oe}};
    assign {b_ctl_oe[6], b_ctl_oe[4:2]} = {4{b_target_oe}};
    ff_nic_pcix i_pcix_b (
        .clk(clk_bus_b), .rst(rst), .rst_n(b_ctl_i[15]), .idsel(b_ctl_i[14]), .gnt_n(b_ctl_i[13]),
        .req_n(b_ctl_o[12]), .ad_i(b_ad_i), .ad_o(b_ad_o), .ad_oe(b_ad_oe[0]), .ad_high_oe(b_ad_oe[1]),
        .cbe_i(b_cbe_i), .cbe_o(b_cbe_o), .cbe_oe(b_ad_oe[2]), .par_i(b_ctl_i[8]), .par64_i(b_ctl_i[9]),
        .par_o(b_ctl_o[8]), .par64_o(b_ctl_o[9]), .par_oe(b_ctl_oe[8]), .par64_oe(b_ctl_oe[9]),
        .frame_n_i(b_ctl_i[0]), .irdy_n_i(b_ctl_i[1]), .req64_n_i(b_ctl_i[5]), .frame_n_o(b_ctl_o[0]),
        .frame_oe(b_frame_oe), .irdy_n_o(b_ctl_o[1]), .irdy_oe(b_ctl_oe[1]), .req64_n_o(b_ctl_o[5]),
        .devsel_n_i(b_ctl_i[3]), .trdy_n_i(b_ctl_i[2]), .stop_n_i(b_ctl_i[4]), .ack64_n_i(b_ctl_i[6]),
        .devsel_n_o(b_ctl_o[3]), .trdy_n_o(b_ctl_o[2]), .stop_n_o(b_ctl_o[4]), .ack64_n_o(b_ctl_o[6]),
        .target_oe(b_target_oe), .perr_n_i(b_ctl_i[7]), .perr_n_o(b_ctl_o[7]), .perr_oe(b_ctl_oe[7]),
        .serr_oe(b_ctl_oe[10]), .inta_oe(b_ctl_oe[11]), .card_hold(b_held), .card_rst(b_nic_rst), .card_run(b_run),
        .hb_req(b_hb_req), .hb_we(b_hb_we), .hb_addr(b_hb_addr), .hb_len(b_hb_len), .hb_wvalid(b_hb_wvalid),
        .hb_wend(b_hb_wend), .hb_wdata(b_hb_wdata), .td_full(b_td_full), .irq(b_irq), .hb_own(b_hb_own),
        .hb_gnt(b_hb_gnt), .hb_ack(b_hb_ack), .hb_retry(b_hb_retry), .hb_cown(b_hb_cown), .hb_cvalid(b_hb_cvalid),
        .hb_clast(b_hb_clast), .hb_cdata(b_hb_cdata), .td_ask(b_td_ask), .td_valid(b_td_valid), .td_word(b_td_word),
        .td_type(b_td_type), .td_data(b_td_data), .host_mask(b_host_mask), .host_enable(b_host_enable),
        .host_take(b_host_take), .host_active(b_host_active), .host_share(b_host_share),
        .host_note_base(b_host_note_base), .host_rx_stop(b_host_rx_stop), .host_rx_pause(b_host_rx_pause),
        .s_req(b_s_req), .s_we(b_s_we), .s_addr(b_s_addr), .s_wdata(b_s_wdata), .s_ack(b_s_ack), .s_rdata(b_s_rdata));

    ff_example_pair #(
        .BUILD_HASH(BUILD_HASH), .TAP_DEPTH(TAP_DEPTH), .EVENT_DEPTH(EVENT_DEPTH), .CLK_BUS_HZ(CLK_BUS_HZ),
        .CLK_LINK_HZ(CLK_LINK_HZ), .FLOWS(FLOWS), .CREDIT_UNIT(CREDIT_UNIT), .TX_FIFO_LOG2(TX_FIFO_LOG2),
        .RX_FIFO_LOG2(RX_FIFO_LOG2), .CREDIT_W(CREDIT_W), .WIRE_LATENCY(WIRE_LATENCY)
    ) i_pair (
        .clk_bus_a(clk_bus_a), .clk_link_a(clk_link_a), .clk_bus_b(clk_bus_b), .clk_link_b(clk_link_b),
        .rst(rst || !a_run || !b_run), .bus_rst_a(!a_ctl_i[15]), .bus_rst_b(!b_ctl_i[15]), .load(load),
        .boot_nonce_a(boot_nonce_a), .boot_nonce_b(boot_nonce_b), .phase_ab(phase_ab), .phase_ba(phase_ba),
        .a_held(a_held), .a_frozen(a_frozen), .a_nic_rst(a_nic_rst), .b_held(b_held), .b_frozen(b_frozen),
        .b_nic_rst(b_nic_rst), .a_hb_req(a_hb_req), .a_hb_we(a_hb_we), .a_hb_addr(a_hb_addr), .a_hb_len(a_hb_len),
        .a_hb_wvalid(a_hb_wvalid), .a_hb_wend(a_hb_wend), .a_hb_wdata(a_hb_wdata), .a_td_full(a_td_full),
        .a_irq(a_irq), .a_hb_own(a_hb_own), .a_hb_gnt(a_hb_gnt), .a_hb_ack(a_hb_ack), .a_hb_retry(a_hb_retry),
        .a_hb_cown(a_hb_cown), .a_hb_cvalid(a_hb_cvalid), .a_hb_clast(a_hb_clast), .a_hb_cdata(a_hb_cdata),
        .a_td_ask(a_td_ask), .a_td_valid(a_td_valid), .a_td_word(a_td_word), .a_td_type(a_td_type),
        .a_td_data(a_td_data), .a_host_mask(a_host_mask), .a_host_enable(a_host_enable), .a_host_take(a_host_take),
        .a_host_active(a_host_active), .a_host_share(a_host_share[CREDIT_W-1:0]),
        .a_host_note_base(a_host_note_base), .a_host_rx_stop(a_host_rx_stop), .a_host_rx_pause(a_host_rx_pause),
        .a_s_req(a_s_req), .a_s_we(a_s_we), .a_s_wdata(a_s_wdata), .a_s_ack(a_s_ack), .a_s_rdata(a_s_rdata),
        .a_s_err(a_s_err), .a_s_record_valid(a_s_record_valid), .a_s_record(a_s_record), .a_s_addr({8'd0, a_s_addr}),
        .b_hb_req(b_hb_req), .b_hb_we(b_hb_we), .b_hb_addr(b_hb_addr), .b_hb_len(b_hb_len),
        .b_hb_wvalid(b_hb_wvalid), .b_hb_wend(b_hb_wend), .b_hb_wdata(b_hb_wdata), .b_td_full(b_td_full),
        .b_irq(b_irq), .b_hb_own(b_hb_own), .b_hb_gnt(b_hb_gnt), .b_hb_ack(b_hb_ack), .b_hb_retry(b_hb_retry),
        .b_hb_cown(b_hb_cown), .b_hb_cvalid(b_hb_cvalid), .b_hb_clast(b_hb_clast), .b_hb_cdata(b_hb_cdata),
        .b_td_ask(b_td_ask), .b_td_valid(b_td_valid), .b_td_word(b_td_word), .b_td_type(b_td_type),
        .b_td_data(b_td_data), .b_host_mask(b_host_mask), .b_host_enable(b_host_enable), .b_host_take(b_host_take),
        .b_host_active(b_host_active), .b_host_share(b_host_share[CREDIT_W-1:0]),
        .b_host_note_base(b_host_note_base), .b_host_rx_stop(b_host_rx_stop), .b_host_rx_pause(b_host_rx_pause),
        .b_s_req(b_s_req), .b_s_we(b_s_we), .b_s_wdata(b_s_wdata), .b_s_ack(b_s_ack), .b_s_rdata(b_s_rdata),
        .b_s_err(b_s_err), .b_s_record_valid(b_s_record_valid), .b_s_record(b_s_record), .b_s_addr({8'd1, b_s_addr}),
        .fault_on_b(fault_on_b), .fault_arm(fault_arm), .fault_select(fault_select), .fault_outgoing(fault_outgoing),
        .fault_count(fault_count), .fault_min_length(fault_min_length), .fault_word(fault_word),
        .fault_lane(fault_lane), .fault_bytes(fault_bytes), .fault_mask(fault_mask), .fault_bit(fault_bit),
        .fault_flow(fault_flow), .fault_limit(fault_limit), .fault_struck(fault_struck), .fault_seq(fault_seq),
        .fault_struck_flow(fault_struck_flow), .fault_struck_word(fault_struck_word));
    wire unused = &{1'b0, a_s_err, a_s_record_valid, a_s_record, a_host_share, b_s_err, b_s_record_valid, b_s_record, b_host_share, a_ctl_i[12:10], b_ctl_i[12:10]};
endmodule
`default_nettype wire
