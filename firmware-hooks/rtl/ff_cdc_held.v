// SPDX-License-Identifier: Apache-2.0
// ff_cdc_held: data of another clock domain that stand still while a level is up; only the level is synchronized.
//
// Latency: two edges of clk behind the level. Throughput: one word a rise of the level. Back-pressure: none; the source
// lowers the level at the earliest when it knows that the word was taken. Clock domain of m_*: clk; s_* come from
// flip-flops of one other clock, s_data not changing while s_level is up. m_data is 0 while m_level is low.
`default_nettype none
module ff_cdc_held #(
    parameter W = 16 // bits of the data, 1..256
) (
    input  wire         clk,
    input  wire         s_level,
    input  wire [W-1:0] s_data,
    output wire         m_level,
    output wire [W-1:0] m_data
);
    generate if (W < 1 || W > 256) begin : g_check_W
        ff_error_W_must_be_1_to_256 stop (); // none such
    end endgenerate

    ff_cdc_sync #(.W(1)) i_level (.clk(clk), .d(s_level), .q(m_level));
    assign m_data = s_data & {W{m_level}};
endmodule
`default_nettype wire
