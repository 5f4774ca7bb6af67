// SPDX-License-Identifier: Apache-2.0
// ff_cdc_fifo: a FIFO between two clock domains, Gray-coded pointers through two flip-flops each.
//
// Latency: three m_clk cycles from write to m_valid. Throughput: one word a cycle on either side. Back-pressure: s_ready;
// a word offered while it is low is not taken. Clock domains: s_clk, m_clk, any ratio. Both resets are to be given
// together. The word at the head is read without a clock edge, so the memory becomes LUT RAM.
`default_nettype none
module ff_cdc_fifo #(
    parameter DATA_W = 32, // bits of a word, 1..256
    parameter DEPTH_LOG2 = 3 // log2 of the places, 2..6
) (
    input  wire              s_clk, s_rst,
    input  wire              s_valid,
    input  wire [DATA_W-1:0] s_data,
    output wire              s_ready,
    input  wire              m_clk, m_rst,
    output wire              m_valid,
    output wire [DATA_W-1:0] m_data,
    input  wire              m_ready
);
    generate
        if (DATA_W < 1 || DATA_W > 256) begin : g_check_DATA_W
            ff_error_DATA_W_must_be_1_to_256 stop (); // none such
        end
        if (DEPTH_LOG2 < 2 || DEPTH_LOG2 > 6) begin : g_check_DEPTH_LOG2
            ff_error_DEPTH_LOG2_must_be_2_to_6 stop (); // none such
        end
    endgenerate
    localparam P = DEPTH_LOG2 + 1; // bits of a pointer: one more tells full from empty

    reg  [DATA_W-1:0] ram [0:(1<<DEPTH_LOG2)-1];
    reg  [P-1:0] write_q, write_gray_q, read_q, read_gray_q;
    wire [P-1:0] write_gray_m, read_gray_s;
    ff_cdc_sync #(.W(P)) i_write (.clk(m_clk), .d(write_gray_q), .q(write_gray_m));
    ff_cdc_sync #(.W(P)) i_read  (.clk(s_clk), .d(read_gray_q), .q(read_gray_s));

    wire [P-1:0] write_next = write_q + {{P-1{1'b0}}, 1'b1};
    wire [P-1:0] read_next = read_q + {{P-1{1'b0}}, 1'b1};
    // full: the pointers differ in the two upper Gray bits and in no other
    assign s_ready = write_gray_q != {~read_gray_s[P-1:P-2], read_gray_s[P-3:0]};
    always @(posedge s_clk) begin
        if (s_valid && s_ready) begin
            ram[write_q[DEPTH_LOG2-1:0]] <= s_data;
            write_q <= write_next;
            write_gray_q <= write_next ^ (write_next >> 1);
        end
        if (s_rst) begin
            write_q <= {P{1'b0}};
            write_gray_q <= {P{1'b0}};
        end
    end

    assign m_valid = write_gray_m != read_gray_q;
    assign m_data = ram[read_q[DEPTH_LOG2-1:0]];
    always @(posedge m_clk) begin
        if (m_valid && m_ready) begin
            read_q <= read_next;
            read_gray_q <= read_next ^ (read_next >> 1);
        end
        if (m_rst) begin
            read_q <= {P{1'b0}};
            read_gray_q <= {P{1'b0}};
        end
    end
endmodule
`default_nettype wire
