// SPDX-License-Identifier: Apache-2.0
// ff_time_line: the cycle counter of one clock domain, and its end of the time line.
//
// The master changes the toggle of the time line every PERIOD of its cycles, beside the number of that toggle
// (docs/formats.md section 6). Latency: a toggle is seen 2 to 3 cycles of clk after it, in the master's own domain in its
// very cycle. Throughput: every toggle. Back-pressure: none. Clock domain: clk; line_in may be of any clock.
`default_nettype none
module ff_time_line #(
    parameter MASTER = 0,    // 1: this is the master's bus domain, line_in is its own line_out
    parameter PERIOD = 4096, // cycles between two toggles, a power of two, 64..16777216
    parameter TIME_W = 64    // bits of the counter, 40..64: the time it takes to wrap is the longest recording
) (
    input  wire        clk, rst,  // the recorder's own reset, synchronous
    input  wire [32:0] line_in,   // {number, toggle}
    output wire [32:0] line_out,  // what this domain gives as master, from flip-flops
    output wire [63:0] now,       // number of this cycle, 0 behind rst
    output wire        seen,      // a toggle counts in this cycle
    output wire [31:0] number     // of the toggle that was seen; stands still for three cycles from seen on
);
    localparam PERIOD_W = $clog2(PERIOD);
    generate
        if (MASTER != 0 && MASTER != 1) begin : g_check_MASTER
            ff_error_MASTER_must_be_0_or_1 stop (); // none such
        end
        if (PERIOD < 64 || PERIOD > 16777216 || (PERIOD & (PERIOD - 1)) != 0) begin : g_check_PERIOD
            ff_error_PERIOD_must_be_a_power_of_two_from_64_to_16777216 stop (); // none such
        end
        if (TIME_W < 40 || TIME_W > 64) begin : g_check_TIME_W
            ff_error_TIME_W_must_be_40_to_64 stop (); // none such
        end
    endgenerate

    reg [TIME_W-1:0] now_q;
    reg period_q;               // the lower bits are 0
    wire [PERIOD_W:0] lower = {1'b0, now_q[PERIOD_W-1:0]} + {{PERIOD_W{1'b0}}, 1'b1};
    wire carry = lower[PERIOD_W];
    always @(posedge clk) begin
        now_q[PERIOD_W-1:0] <= lower[PERIOD_W-1:0];
        if (carry) now_q[TIME_W-1:PERIOD_W] <= now_q[TIME_W-1:PERIOD_W] + {{TIME_W-PERIOD_W-1{1'b0}}, 1'b1};
        period_q <= carry;
        if (rst) {period_q, now_q} <= {1'b1, {TIME_W{1'b0}}};
    end

    // Zero-extended by 32 so that a line can be cut out of the narrowest counter.
    wire [95:0] wide = {{96-TIME_W{1'b0}}, now_q};
    assign now = wide[63:0];
    assign line_out = {wide[PERIOD_W +: 32], wide[PERIOD_W]};

    generate if (MASTER == 1) begin : g_master
        assign seen = period_q;
        assign number = line_out[32:1];
        wire unused = &{1'b0, line_in};
    end else begin : g_follower
        wire changed;
        wire unused = period_q;
        reg  seen_q;
        ff_cdc_edge i_line (.clk(clk), .rst(rst), .d(line_in[0]), .pulse(changed));
        always @(posedge clk) seen_q <= changed && !rst;
        assign seen = seen_q;
        assign number = line_in[32:1]; // changed together with the toggle and now stands still for most of a PERIOD
    end endgenerate
endmodule
`default_nettype wire
