// SPDX-License-Identifier: Apache-2.0
// ff_nic_credits: flow control of a card: what each flow may send, the credits it owes, and the books of both, which a
// counter that leaves words out falsifies.
//
// Latency: a word counts one cycle later; tx_fits is a function of its inputs; a credit comes about six cycles after
// the word that makes it due, a field of the read port after about three cycles of each clock, freed after one.
// Throughput: a word sent, received and freed every cycle. Back-pressure: m_take. Clock domains: link and bus, which
// may stand still, and clk_link and clk_bus, of which they are gated and which never do: the read port's.
`default_nettype none
module ff_nic_credits #(
    parameter FLOWS = 8,        // flows with state of their own, 1..128
    parameter CREDIT_W = 13,    // bits of a credit counter, 10..24
    parameter CREDIT_UNIT = 64  // words freed between two credits, 1..65535
) (
    input  wire        clk_bus, bus, rst,
    input  wire        clk_link, link, rst_link,
    // start-up credit: cfg_share words for an active flow, none for others
    input  wire [127:0] cfg_active,
    input  wire [CREDIT_W-1:0] cfg_share,
    // faults, quasi-static: see ff_nic_credit_return.v, ff_nic_credit_state.v and ff_nic_miscount.v
    input  wire        fault_coarse, fault_start, fault_wrap, fault_add,
    input  wire        fault_miscount, fault_outgoing,  // the words sent, else those received and freed
    input  wire [6:0]  fault_flow,
    input  wire [15:0] fault_count,
    input  wire [2:0]  fault_words,
    input  wire [CREDIT_W-1:0] fault_limit,
    output wire        fault_withheld,      // bus
    output wire        fault_miscounted,    // link
    // transmitter (link): a packet of tx_flow waits, its words leave
    input  wire [6:0]  tx_flow,
    input  wire [10:0] tx_words,
    output wire        tx_fits, tx_wrong,
    output wire signed [CREDIT_W+1:0] tx_free,
    input  wire        sent_valid, sent_first, sent_last,
    // credits for the far end (link)
    output wire        m_valid,
    output wire [6:0]  m_flow,
    output wire [CREDIT_W-1:0] m_freed,
    input  wire        m_take,
    // receiver (link): credits of the far end, and words; the flow stands in the first word of a packet
    input  wire        taken_valid,
    input  wire [6:0]  taken_flow,
    input  wire [CREDIT_W-1:0] taken_freed,
    input  wire        received_valid, received_accept, received_first, received_last,
    input  wire [6:0]  received_flow,       // with received_first
    // incoming FIFO (bus): words as they are read, each told as freed in the cycle after
    input  wire        read_valid, read_first, read_last,
    input  wire [6:0]  read_flow,           // with read_first
    input  wire        freed_valid,
    input  wire [6:0]  freed_flow,
    // read port (clk_bus), fields as ff_quad's: flow_req stays high, and what it asks for the same, until flow_ack
    input  wire        flow_req,
    input  wire [6:0]  flow_number,
    input  wire [2:0]  flow_field,
    output wire        flow_ack,
    output wire [31:0] flow_data
);
    generate
        if (FLOWS < 1 || FLOWS > 128) begin : g_check_FLOWS
            ff_error_FLOWS_must_be_1_to_128 stop (); // none such
        end
        if (CREDIT_W < 10 || CREDIT_W > 24) begin : g_check_CREDIT_W
            ff_error_CREDIT_W_must_be_10_to_24 stop (); // none such
        end
        if (CREDIT_UNIT < 1 || CREDIT_UNIT > 65535) begin : g_check_CREDIT_UNIT
            ff_error_CREDIT_UNIT_must_be_1_to_65535 stop (); // none such
        end
    endgenerate
    localparam [2:0] FREED = 3'd4; // field of the read port

    wire        sent_skip, received_skip, freed_skip, struck_sent, struck_received, struck_freed;
    reg  [6:0]  arrives_q; // flow of the packet that arrives
    wire [6:0]  arrives = received_first ? received_flow : arrives_q;
    always @(posedge link) if (received_valid) arrives_q <= arrives;
    // A word is counted as freed in the cycle after it was read.
    reg         freed_skip_q;
    reg  [6:0]  leaves_q;
    always @(posedge bus) begin
        freed_skip_q <= freed_skip;
        if (read_valid && read_first) leaves_q <= read_flow;
    end
    ff_nic_miscount i_miscount_sent (
        .clk(link), .rst(rst_link), .en(fault_miscount && fault_outgoing), .cfg_all(1'b1), .cfg_flow(fault_flow),
        .cfg_every(fault_count), .cfg_words(fault_words), .s_valid(sent_valid), .s_first(sent_first),
        .s_last(sent_last), .s_flow(tx_flow), .skip(sent_skip), .stat_done(struck_sent));
    ff_nic_miscount i_miscount_received (
        .clk(link), .rst(rst_link), .en(fault_miscount && !fault_outgoing), .cfg_all(1'b0), .cfg_flow(fault_flow),
        .cfg_every(fault_count), .cfg_words(fault_words), .s_valid(received_accept), .s_first(received_first),
        .s_last(received_last), .s_flow(arrives), .skip(received_skip), .stat_done(struck_received));
    ff_nic_miscount i_miscount_freed (
        .clk(bus), .rst(rst), .en(fault_miscount && !fault_outgoing), .cfg_all(1'b0), .cfg_flow(fault_flow),
        .cfg_every(fault_count), .cfg_words(fault_words), .s_valid(read_valid), .s_first(read_first),
        .s_last(read_last), .s_flow(read_first ? read_flow : leaves_q), .skip(freed_skip), .stat_done(struck_freed));
    assign fault_miscounted = struck_sent || struck_received;

    wire [CREDIT_W-1:0] r_freed;
    wire [31:0] fault_wide = {{32-CREDIT_W{1'b0}}, fault_limit};
    ff_nic_credit_return #(.FLOWS(FLOWS), .CREDIT_W(CREDIT_W), .UNIT(CREDIT_UNIT)) i_credit_return (
        .clk(bus), .rst(rst), .s_valid(freed_valid && !freed_skip_q), .s_flow(freed_flow), .fault_coarse(fault_coarse),
        .fault_flow(fault_flow), .fault_unit(fault_wide[15:0]), .fault_withheld(fault_withheld), .r_flow(flow_number),
        .r_freed(r_freed), .m_clk(link), .m_rst(rst_link), .m_valid(m_valid), .m_flow(m_flow), .m_freed(m_freed),
        .m_take(m_take));
    wire [31:0] r_state, r_crossed;
    ff_nic_credit_state #(.FLOWS(FLOWS), .CREDIT_W(CREDIT_W)) i_credit_state (
        .clk(link), .rst(rst_link), .cfg_active(cfg_active), .cfg_share(cfg_share), .fault_start(fault_start),
        .fault_wrap(fault_wrap), .fault_add(fault_add), .fault_flow(fault_flow), .fault_limit(fault_limit),
        .tx_flow(tx_flow), .tx_words(tx_words), .tx_fits(tx_fits), .tx_wrong(tx_wrong), .tx_free(tx_free),
        .sent_valid(sent_valid && !sent_skip), .told_valid(m_take), .told_flow(m_flow), .told_freed(m_freed),
        .taken_valid(taken_valid), .taken_flow(taken_flow), .taken_freed(taken_freed),
        .received_valid(received_accept && !received_skip), .received_flow(arrives), .r_flow(flow_number),
        .r_field(flow_field), .r_data(r_state));

    // Freed words are counted in the bus domain, all else crosses.
    wire read_ack, read_err;
    ff_cdc_read #(.DATA_W(32)) i_read (
        .clk(clk_bus), .rst(rst), .req(flow_req && flow_field != FREED), .ack(read_ack), .err(read_err),
        .data(r_crossed), .far_clk(clk_link), .far_rst(rst_link), .far_data(r_state));
    reg freed_ack_q;
    always @(posedge clk_bus) freed_ack_q <= flow_req && flow_field == FREED && !freed_ack_q && !rst;
    assign flow_ack = (read_ack && !read_err) || freed_ack_q;
    assign flow_data = flow_field == FREED ? {{32-CREDIT_W{1'b0}}, r_freed} : r_crossed;
    wire unused = &{1'b0, fault_wide[31:16], struck_freed};
endmodule
`default_nettype wire
