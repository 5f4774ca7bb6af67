// SPDX-License-Identifier: Apache-2.0
// ff_nic_pattern_posts: posts a pattern packet every cfg_gap bus cycles while cfg_enable is high.
//
// Packet numbers begin at 0 whenever it is switched on. Latency: one cycle. Throughput: a packet every cfg_gap + 1
// cycles. Back-pressure: m_taken, low while the descriptor ring is full or in use. Clock domain: clk.
`default_nettype none
module ff_nic_pattern_posts (
    input  wire        clk, rst,
    input  wire        cfg_enable,
    input  wire [31:0] cfg_gap,     // cycles
    output wire        m_valid,
    output reg  [31:0] m_number,
    input  wire        m_taken
);
    reg [31:0] wait_q;
    assign m_valid = cfg_enable && wait_q == 32'd0;
    always @(posedge clk) begin
        if (!cfg_enable) begin
            m_number <= 32'd0;
            wait_q <= 32'd0;
        end else if (m_taken) begin
            m_number <= m_number + 32'd1;
            wait_q <= cfg_gap;
        end else if (wait_q != 32'd0) wait_q <= wait_q - 32'd1;
        if (rst) begin
            m_number <= 32'd0;
            wait_q <= 32'd0;
        end
    end
endmodule
`default_nettype wire
