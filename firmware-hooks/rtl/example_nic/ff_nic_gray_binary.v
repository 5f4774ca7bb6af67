// SPDX-License-Identifier: Apache-2.0
// ff_nic_gray_binary: the binary value of a Gray code.
//
// Latency: none, a function of its input. Throughput and back-pressure: none of its own. Clock domain: its input's.
`default_nettype none
module ff_nic_gray_binary #(
    parameter W = 8 // bits, 2..32
) (
    input  wire [W-1:0] gray,
    output reg  [W-1:0] binary
);
    generate if (W < 2 || W > 32) begin : g_check_W
        ff_error_W_must_be_2_to_32 stop (); // none such
    end endgenerate
    integer i;
    always @* begin
        binary[W-1] = gray[W-1];
        for (i = W - 2; i >= 0; i = i - 1) binary[i] = binary[i+1] ^ gray[i];
    end
endmodule
`default_nettype wire
