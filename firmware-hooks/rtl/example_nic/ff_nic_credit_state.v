// SPDX-License-Identifier: Apache-2.0
// ff_nic_credit_state: credit state of every flow in the link domain: words sent and received, credited, reported.
//
// Latency: counts one cycle; free is a function of its inputs. Throughput: one word sent and one received a cycle.
// Back-pressure: none. Clock domain: clk (link). Cleared flow by flow in the first 128 cycles after a reset, while the
// lanes train. A flow outside the map has no credit. Source: docs/formats.md section 3.
`default_nettype none
module ff_nic_credit_state #(
    parameter FLOWS = 8,        // 1..128
    parameter CREDIT_W = 13     // bits of a credit counter, 10..24
) (
    input  wire        clk, rst,
    // start-up credit: cfg_share words for an active flow, none for others
    input  wire [127:0] cfg_active,
    input  wire [CREDIT_W-1:0] cfg_share,
    // fault: credit-start-too-large, wrap-unhandled and credit-too-optimistic act on fault_flow
    input  wire        fault_start, fault_wrap, fault_add,
    input  wire [6:0]  fault_flow,
    input  wire [CREDIT_W-1:0] fault_limit, // start-up credit, or what is added to the free space
    // transmitter
    input  wire [6:0]  tx_flow,
    input  wire [10:0] tx_words,
    output wire        tx_fits,
    output wire        tx_wrong,        // fits, but would not without the fault
    output wire signed [CREDIT_W+1:0] tx_free, // words
    input  wire        sent_valid,      // a word of tx_flow leaves and is counted
    input  wire        told_valid,      // a credit word leaves
    input  wire [6:0]  told_flow,
    input  wire [CREDIT_W-1:0] told_freed,
    // receiver
    input  wire        taken_valid,     // a credit word was taken
    input  wire [6:0]  taken_flow,
    input  wire [CREDIT_W-1:0] taken_freed,
    input  wire        received_valid,
    input  wire [6:0]  received_flow,
    // read port, no clock edge; fields as ff_quad's: 0 sent, 1 credited, 2 limit, 3 received, 5, 6 the same in 32 bits,
    // 7 reported
    input  wire [6:0]  r_flow,
    input  wire [2:0]  r_field,
    output reg  [31:0] r_data
);
    generate
        if (FLOWS < 1 || FLOWS > 128) begin : g_check_FLOWS
            ff_error_FLOWS_must_be_1_to_128 stop (); // none such
        end
        if (CREDIT_W < 10 || CREDIT_W > 24) begin : g_check_CREDIT_W
            ff_error_CREDIT_W_must_be_10_to_24 stop (); // none such
        end
    endgenerate
    localparam [127:0] KNOWN = {128{1'b1}} >> (128 - FLOWS); // the flows of the map
    localparam W = CREDIT_W;

    reg  [31:0]  sent [0:127], received [0:127];
    reg  [W-1:0] credited [0:127], reported [0:127];
    reg  [7:0]   clear_q; // next flow to be cleared; bit 7: all are
    wire clear = !clear_q[7];
    wire [6:0] sent_at = clear ? clear_q[6:0] : tx_flow;
    wire [6:0] received_at = clear ? clear_q[6:0] : received_flow;
    wire [6:0] credited_at = clear ? clear_q[6:0] : taken_flow;
    wire [6:0] reported_at = clear ? clear_q[6:0] : told_flow;
    always @(posedge clk) begin
        if (clear) clear_q <= clear_q + 8'd1;
        if (clear || (sent_valid && KNOWN[tx_flow])) sent[sent_at] <= clear ? 32'd0 : sent[sent_at] + 32'd1;
        if (clear || (received_valid && KNOWN[received_flow]))
            received[received_at] <= clear ? 32'd0 : received[received_at] + 32'd1;
        if (clear || (taken_valid && KNOWN[taken_flow]))
            credited[credited_at] <= clear ? {W{1'b0}} : taken_freed;
        if (clear || told_valid) reported[reported_at] <= clear ? {W{1'b0}} : told_freed;
        if (rst) clear_q <= 8'd0;
    end

    wire [W-1:0] granted = fault_start && tx_flow == fault_flow ? fault_limit : cfg_share;
    wire [W-1:0] limit = KNOWN[tx_flow] && cfg_active[tx_flow] ? granted : {W{1'b0}};
    wire [31:0]  sent_32 = sent[tx_flow];
    wire [W-1:0] sent_w = sent_32[W-1:0];
    wire unused = &{1'b0, sent_32[31:W]};
    wire [W-1:0] credited_w = credited[tx_flow];
    wire [W-1:0] outstanding = sent_w - credited_w; // modulo the counters' width
    wire [W+1:0] words = {{W-9{1'b0}}, tx_words};
    assign tx_free = $signed({2'b00, limit}) - $signed({2'b00, outstanding});
    wire right = $signed(words) <= tx_free;
    wire raw = {2'b00, sent_w} + words <= {2'b00, credited_w} + {2'b00, limit}; // does not know that they wrap
    wire wrap = fault_wrap && tx_flow == fault_flow;
    wire add = fault_add && tx_flow == fault_flow;
    wire more = $signed(words) <= tx_free + $signed({2'b00, fault_limit});
    assign tx_fits = wrap ? raw : add ? more : right;
    assign tx_wrong = (wrap && raw && !right) || (add && more && !right)
        || (fault_start && tx_flow == fault_flow && right && {2'b00, outstanding} + words > {2'b00, cfg_share});

    wire [31:0] r_sent = sent[r_flow], r_received = received[r_flow];
    wire [W-1:0] r_credited = credited[r_flow], r_reported = reported[r_flow];
    wire [W-1:0] r_granted = fault_start && r_flow == fault_flow ? fault_limit : cfg_share;
    wire [W-1:0] r_limit = KNOWN[r_flow] && cfg_active[r_flow] ? r_granted : {W{1'b0}};
    always @* case (r_field)
        3'd0:    r_data = {{32-W{1'b0}}, r_sent[W-1:0]};
        3'd1:    r_data = {{32-W{1'b0}}, r_credited};
        3'd2:    r_data = {{32-W{1'b0}}, r_limit};
        3'd3:    r_data = {{32-W{1'b0}}, r_received[W-1:0]};
        3'd5:    r_data = r_sent;
        3'd6:    r_data = r_received;
        default: r_data = {{32-W{1'b0}}, r_reported};
    endcase
endmodule
`default_nettype wire
