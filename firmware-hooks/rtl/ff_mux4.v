// SPDX-License-Identifier: Apache-2.0
// ff_mux4: four words to one, one LUT of six inputs a bit: kept as a module, because synthesis that flattens it takes up to three.
//
// Latency: none, it is combinational. Throughput: a word a cycle. Back-pressure: none. Clock domain: none.
`default_nettype none
(* keep_hierarchy *)
module ff_mux4 #(
    parameter W = 32 // bits, 1..256
) (
    input  wire [1:0]   sel,
    input  wire [W-1:0] d0, d1, d2, d3,
    output wire [W-1:0] q
);
    generate if (W < 1 || W > 256) begin : g_check_W
        ff_error_W_must_be_1_to_256 stop (); // none such
    end endgenerate
    assign q = sel[1] ? (sel[0] ? d3 : d2) : (sel[0] ? d1 : d0);
endmodule
`default_nettype wire
