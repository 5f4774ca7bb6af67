// SPDX-License-Identifier: Apache-2.0
// ff_nic_clock_mux: one of two clocks; what hangs on it is in reset while sel changes.
//
// In an FPGA put the vendor's clock multiplexer in its place. Latency, throughput, back-pressure: none. Clock
// domains: both.
`default_nettype none
module ff_nic_clock_mux (
    input  wire clk0, clk1, sel,
    output wire clk
);
    assign clk = sel ? clk1 : clk0;
endmodule
`default_nettype wire
