// SPDX-License-Identifier: Apache-2.0
// ff_nic_clock_gate: a clock that stands still while en is low; how a frozen card is held.
//
// en is taken at the falling edge, so no pulse is cut. Latency: half a cycle. In an FPGA put the vendor's gated clock
// buffer in its place. Throughput and back-pressure: none. Clock domain: clk; en changes with its rising edge.
`default_nettype none
module ff_nic_clock_gate (
    input  wire clk, en,
    output wire gated
);
    reg en_q;
    initial en_q = 1'b1; // a reset needs the clock
    always @(negedge clk) en_q <= en;
    assign gated = clk & en_q;
endmodule
`default_nettype wire
