// SPDX-License-Identifier: Apache-2.0
// ff_nic_credit_return: counts the words freed in each flow and tells the transmitter when a credit is due.
//
// A flow is due with every UNIT words freed; due flows go in the order in which they became so, each with its count at
// the moment it is handed over, so credits that wait become one. Latency: about six cycles. Throughput: a word freed
// every cycle. Back-pressure: m_take. Clock domains: clk (bus), m_clk (link); both resets together.
`default_nettype none
module ff_nic_credit_return #(
    parameter FLOWS = 8,        // 1..128
    parameter CREDIT_W = 13,    // bits of a credit counter, 10..24
    parameter UNIT = 64         // words between two credits, 1..65535
) (
    input  wire        clk, rst,
    input  wire        s_valid,     // a word of s_flow has left the FIFO and is counted
    input  wire [6:0]  s_flow,
    // fault: the credits of fault_flow are due with every fault_unit words only
    input  wire        fault_coarse,
    input  wire [6:0]  fault_flow,
    input  wire [15:0] fault_unit,      // words, 1 or more
    output wire        fault_withheld,  // UNIT words and more of it are freed and not told
    input  wire [6:0]  r_flow,      // read port, no clock edge
    output wire [CREDIT_W-1:0] r_freed,
    input  wire        m_clk, m_rst,
    output wire        m_valid,
    output wire [6:0]  m_flow,
    output wire [CREDIT_W-1:0] m_freed,
    input  wire        m_take
);
    generate
        if (FLOWS < 1 || FLOWS > 128) begin : g_check_FLOWS
            ff_error_FLOWS_must_be_1_to_128 stop (); // none such
        end
        if (CREDIT_W < 10 || CREDIT_W > 24) begin : g_check_CREDIT_W
            ff_error_CREDIT_W_must_be_10_to_24 stop (); // none such
        end
        if (UNIT < 1 || UNIT > 65535) begin : g_check_UNIT
            ff_error_UNIT_must_be_1_to_65535 stop (); // none such
        end
    endgenerate
    localparam [127:0] KNOWN = {128{1'b1}} >> (128 - FLOWS); // the flows of the map
    localparam integer LAST_WORD = UNIT - 1;
    localparam [15:0] DUE = LAST_WORD[15:0];

    // Both counts of a flow are one word of a small memory, cleared flow by flow after a reset.
    reg  [CREDIT_W+15:0] counts [0:127]; // words freed, words since the last credit
    reg  [127:0] queued_q;
    reg  [6:0]   queue [0:127];
    reg  [7:0]   put_q, get_q;
    reg  [7:0]   clear_q;               // next flow to be cleared; bit 7: all are
    wire known = KNOWN[s_flow];
    wire [CREDIT_W-1:0] freed;
    wire [15:0] since;
    assign {freed, since} = counts[s_flow];
    wire [15:0] coarse_due = fault_unit - 16'd1;
    wire due = s_valid && known && since == (fault_coarse && s_flow == fault_flow ? coarse_due : DUE);
    wire waits = put_q != get_q;
    wire [6:0] oldest = queue[get_q[6:0]];
    wire ready;
    wire hand = waits && ready;
    wire [CREDIT_W-1:0] oldest_freed;
    wire [15:0] oldest_since;
    assign {oldest_freed, oldest_since} = counts[oldest];
    always @(posedge clk) begin
        if (!clear_q[7]) begin
            counts[clear_q[6:0]] <= {CREDIT_W+16{1'b0}};
            clear_q <= clear_q + 8'd1;
        end else if (s_valid && known)
            counts[s_flow] <= {freed + {{CREDIT_W-1{1'b0}}, 1'b1}, due ? 16'd0 : since + 16'd1};
        if (hand) begin
            get_q <= get_q + 8'd1;
            queued_q[oldest] <= 1'b0;
        end
        if (due && (!queued_q[s_flow] || (hand && oldest == s_flow))) begin
            queue[put_q[6:0]] <= s_flow;
            put_q <= put_q + 8'd1;
            queued_q[s_flow] <= 1'b1;
        end
        if (rst) begin
            clear_q <= 8'd0;
            queued_q <= 128'd0;
            put_q <= 8'd0;
            get_q <= 8'd0;
        end
    end
    ff_cdc_handshake #(.DATA_W(7+CREDIT_W)) i_cross (
        .s_clk(clk), .s_rst(rst), .s_valid(waits), .s_data({oldest, oldest_freed}), .s_ready(ready),
        .m_clk(m_clk), .m_rst(m_rst), .m_valid(m_valid), .m_data({m_flow, m_freed}), .m_ready(m_take));
    wire [15:0] r_since, fault_since;
    wire [CREDIT_W-1:0] fault_freed;
    assign {r_freed, r_since} = counts[r_flow];
    assign {fault_freed, fault_since} = counts[fault_flow];
    assign fault_withheld = fault_coarse && fault_since > DUE;
    wire unused = &{1'b0, r_since, oldest_since, fault_freed};
endmodule
`default_nettype wire
