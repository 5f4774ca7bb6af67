// SPDX-License-Identifier: Apache-2.0
// ff_time_told: keeps a domain's own cycle of the last toggle of the time line for another domain, and tells that one.
//
// Latency: told changes in the cycle behind the toggle; at and parity stand still until the next one. Throughput: every toggle,
// if the other domain has taken at before the next. Back-pressure: none. Clock domain: clk; told, at and parity leave it from
// flip-flops, told to be synchronized, the others to be taken behind it.
`default_nettype none
module ff_time_told #(
    parameter TIME_W = 64            // bits of the cycle, 40..64
) (
    input  wire              clk, rst,  // the recorder's own reset, synchronous
    input  wire              arm,       // the domain's recorders begin anew
    input  wire              closed,    // and have closed
    input  wire              seen,      // a toggle counts in this cycle
    input  wire [TIME_W-1:0] now,
    output reg               told,      // changes with each toggle between arm and closed
    output reg               parity,    // of the arms before it: which recording it belongs to
    output reg  [TIME_W-1:0] at
);
    generate if (TIME_W < 40 || TIME_W > 64) begin : g_check_TIME_W
        ff_error_TIME_W_must_be_40_to_64 stop (); // none such
    end endgenerate
    reg running_q, arms_q;
    wire take = seen && running_q && !closed;
    always @(posedge clk) begin
        if (arm) {running_q, arms_q} <= {1'b1, !arms_q};
        if (take) {told, parity, at} <= {!told, arms_q, now};
        if (rst) {running_q, arms_q, told} <= 3'b000;
    end
endmodule
`default_nettype wire
