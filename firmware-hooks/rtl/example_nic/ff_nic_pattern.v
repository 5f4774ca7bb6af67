// SPDX-License-Identifier: Apache-2.0
// ff_nic_pattern: payload of pattern packets, word i of packet n = splitmix64(seed << 32 ^ n << 10 ^ i).
//
// Latency: three cycles from start to the first word. Throughput: one word a cycle. Back-pressure: none: whoever starts
// takes all words. Clock domain: clk. Source: docs/formats.md section 3.
`default_nettype none
module ff_nic_pattern (
    input  wire        clk, rst,
    input  wire        start,           // with what follows; not before the last word of the packet before
    input  wire [31:0] seed, number,
    input  wire [9:0]  length,          // words, 0..1023
    output reg         m_valid,
    output reg  [63:0] m_data
);
    reg  [9:0]  index_q, left_q;
    reg  [63:0] base_q;
    wire run = left_q != 10'd0;
    wire [63:0] added = (base_q ^ {54'd0, index_q}) + 64'h9E3779B97F4A7C15;
    reg  [63:0] first_q, second_q;
    reg         first_valid_q, second_valid_q;
    always @(posedge clk) begin
        if (start) begin
            base_q <= {seed, 32'd0} ^ {22'd0, number, 10'd0};
            index_q <= 10'd0;
            left_q <= length;
        end else if (run) begin
            index_q <= index_q + 10'd1;
            left_q <= left_q - 10'd1;
        end
        first_valid_q <= run;
        second_valid_q <= first_valid_q;
        m_valid <= second_valid_q;
        if (run) first_q <= (added ^ {30'd0, added[63:30]}) * 64'hBF58476D1CE4E5B9;
        if (first_valid_q) second_q <= (first_q ^ {27'd0, first_q[63:27]}) * 64'h94D049BB133111EB;
        if (second_valid_q) m_data <= second_q ^ {31'd0, second_q[63:31]};
        if (rst) begin
            left_q <= 10'd0;
            first_valid_q <= 1'b0;
            second_valid_q <= 1'b0;
            m_valid <= 1'b0;
        end
    end
endmodule
`default_nettype wire
