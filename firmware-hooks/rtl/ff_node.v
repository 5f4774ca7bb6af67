// SPDX-License-Identifier: Apache-2.0
// ff_node: a wire at which synthesis stops: what is before it is made into LUTs of its own, and not again for each user.
//
// Latency: none, it is a wire and costs nothing. Throughput: a word a cycle. Back-pressure: none. Clock domain: none.
`default_nettype none
(* keep_hierarchy *)
module ff_node #(
    parameter W = 1 // bits, 1..256
) (
    input  wire [W-1:0] d,
    output wire [W-1:0] q
);
    generate if (W < 1 || W > 256) begin : g_check_W
        ff_error_W_must_be_1_to_256 stop (); // none such
    end endgenerate
    assign q = d;
endmodule
`default_nettype wire
