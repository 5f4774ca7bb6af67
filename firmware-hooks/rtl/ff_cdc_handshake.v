// SPDX-License-Identifier: Apache-2.0
// ff_cdc_handshake: moves words from one clock domain into another, none lost and none twice.
//
// Latency: about three m_clk cycles. Throughput: one word in about three cycles of each clock. Back-pressure: s_ready is
// low until the word before has arrived. Clock domains: s_clk, m_clk, any ratio. Both resets have to be given
// together; s_data is held in one register while only a toggle passes the synchronizers.
`default_nettype none
module ff_cdc_handshake #(
    parameter DATA_W = 32 // bits of a word, 1..256
) (
    input  wire              s_clk, s_rst,
    input  wire              s_valid,
    input  wire [DATA_W-1:0] s_data,
    output wire              s_ready,
    input  wire              m_clk, m_rst,
    output wire              m_valid,       // high until m_ready
    output wire [DATA_W-1:0] m_data,
    input  wire              m_ready
);
    generate if (DATA_W < 1 || DATA_W > 256) begin : g_check_DATA_W
        ff_error_DATA_W_must_be_1_to_256 stop (); // none such
    end endgenerate

    reg  [DATA_W-1:0] data_q;
    reg  request_q, taken_q;
    wire request_m, taken_s;
    ff_cdc_sync i_request (.clk(m_clk), .d(request_q), .q(request_m));
    ff_cdc_sync i_taken   (.clk(s_clk), .d(taken_q), .q(taken_s));

    assign s_ready = request_q == taken_s;
    always @(posedge s_clk) begin
        if (s_valid && s_ready) begin
            request_q <= !request_q;
            data_q <= s_data;
        end
        if (s_rst) request_q <= 1'b0;
    end

    assign m_valid = request_m != taken_q;
    assign m_data = data_q; // stands still from the toggle until it has come back
    always @(posedge m_clk) begin
        if (m_valid && m_ready) taken_q <= request_m;
        if (m_rst) taken_q <= 1'b0;
    end
endmodule
`default_nettype wire
