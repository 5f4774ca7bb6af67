// SPDX-License-Identifier: Apache-2.0
// ff_cdc_sync: brings levels from another clock domain into this one through two flip-flops each.
//
// Latency: seen after the second edge of clk behind the change. Throughput: a level has to last more than one cycle of
// clk to be seen. Back-pressure: none. Clock domain of q: clk; d comes straight from flip-flops of any clock. Bits
// are independent: of a word that changes, some bits may come one cycle before the others. No reset: q follows d.
`default_nettype none
module ff_cdc_sync #(
    parameter W = 1 // bits, 1..256
) (
    input  wire         clk,
    input  wire [W-1:0] d,
    output wire [W-1:0] q
);
    generate if (W < 1 || W > 256) begin : g_check_W
        ff_error_W_must_be_1_to_256 stop (); // none such
    end endgenerate

    (* ASYNC_REG = "TRUE" *) reg [W-1:0] first_q;
    (* ASYNC_REG = "TRUE" *) reg [W-1:0] second_q;
    always @(posedge clk) begin
        first_q <= d;
        second_q <= first_q;
    end
    assign q = second_q;
endmodule
`default_nettype wire
