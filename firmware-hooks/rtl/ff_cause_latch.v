// SPDX-License-Identifier: Apache-2.0
// ff_cause_latch: keeps the first freeze cause of one clock domain, all causes of that cycle, and the time since.
//
// Implements rule 4 of docs/formats.md section 2 for the recorders of a domain. Latency: causes_in is registered once;
// the cause's cycle c is the one in which it stands there (hit rises), triggered is up from c + 1 on. Throughput: one
// set of causes a cycle, the first since arm counts. Back-pressure: none. Clock domain: clk.
`default_nettype none
module ff_cause_latch #(
    parameter POST_DRAIN = 1024, // cycles after which post drops by one, a power of two, 2..1048576
    parameter SINCE_W = 32,      // bits that count the cycles since the cause, log2(POST_DRAIN)+1..32
    parameter DRAIN_ON = 1,      // 0: drain ends when since is full, where post cannot last as long
    parameter W = 16,            // causes, 1..32
    parameter SINCE_WRAPS = 0    // 1: since begins again behind its largest value; for one that is not looked at as late
) (
    input  wire        clk, rst,  // the recorder's own reset, synchronous
    input  wire        arm_next,  // arm is up in the next cycle
    input  wire        arm,       // forget; what arises from this cycle's causes_in on counts
    input  wire [W-1:0] causes_in, // enum cause, masked already
    output wire        hit,       // a cause stands
    output reg         level,     // hit for other domains: falls one cycle before an arm is passed on
    output wire        triggered_next, // triggered is up in the next cycle
    output reg         triggered, // from the cycle after the first cause on
    output reg  [W-1:0] causes,    // all causes of the first cycle
    output wire [31:0] since,     // cycles since the first cause; stays at its largest value without SINCE_WRAPS
    output reg         drain      // in every POST_DRAINth cycle after the cause
);
    localparam DRAIN_W = $clog2(POST_DRAIN);
    generate
        if (W < 1 || W > 32) begin : g_check_W
            ff_error_W_must_be_1_to_32 stop (); // none such
        end
        if (POST_DRAIN < 2 || POST_DRAIN > 1048576 || (POST_DRAIN & (POST_DRAIN - 1)) != 0) begin : g_check_POST_DRAIN
            ff_error_POST_DRAIN_must_be_a_power_of_two_from_2_to_1048576 stop (); // none such
        end
        if (DRAIN_ON != 0 && DRAIN_ON != 1) begin : g_check_DRAIN_ON
            ff_error_DRAIN_ON_must_be_0_or_1 stop (); // none such
        end
        if (SINCE_WRAPS != 0 && SINCE_WRAPS != 1) begin : g_check_SINCE_WRAPS
            ff_error_SINCE_WRAPS_must_be_0_or_1 stop (); // none such
        end
        if (SINCE_W <= DRAIN_W || SINCE_W > 32) begin : g_check_SINCE_W
            ff_error_SINCE_W_must_be_log2_POST_DRAIN_plus_1_to_32 stop (); // none such
        end
    endgenerate

    reg armed_q, full_q;
    reg [SINCE_W-1:0] since_q; // goes on behind full, for drain
    // since_q's upper bits count when the lower ones carry, in the cycle before a drain.
    wire [DRAIN_W:0] lower = {1'b0, since_q[DRAIN_W-1:0]} + {{DRAIN_W{1'b0}}, 1'b1};
    wire carry = lower[DRAIN_W];
    wire counts = DRAIN_ON != 0 || SINCE_WRAPS != 0 || !full_q;
    wire any = |causes_in;
    ff_node i_hit (.d(|causes), .q(hit));
    assign triggered_next = hit && !arm && !rst;
    always @(posedge clk) begin
        if (arm || (armed_q && !hit)) begin
            level <= any && !arm_next;
            causes <= causes_in;
        end
        if (arm_next) level <= 1'b0;
        triggered <= triggered_next;
        if (counts) since_q[DRAIN_W-1:0] <= lower[DRAIN_W-1:0];
        if (counts && carry) since_q[SINCE_W-1:DRAIN_W] <= since_q[SINCE_W-1:DRAIN_W] + {{SINCE_W-DRAIN_W-1{1'b0}}, 1'b1};
        drain <= counts && carry;
        full_q <= full_q || &since_q[SINCE_W-1:1]; // up when since_q is full, which is one cycle on
        if (!hit || arm) begin
            full_q <= 1'b0;
            since_q <= {SINCE_W{1'b0}};
            drain <= 1'b0;
        end
        if (arm) armed_q <= 1'b1;
        if (rst) begin
            armed_q <= 1'b0;
            level <= 1'b0;
            causes <= {W{1'b0}};
            triggered <= 1'b0;
            full_q <= 1'b0;
            since_q <= {SINCE_W{1'b0}};
            drain <= 1'b0;
        end
    end
    wire [SINCE_W-1:0] shown = since_q | {SINCE_W{DRAIN_ON != 0 && SINCE_WRAPS == 0 && full_q}};
    assign since = {{32-SINCE_W{1'b0}}, shown};

`ifdef FORMAL
    always @(posedge clk) if (!$initstate && $past(hit && !arm && !rst)) begin
        assert (hit);
        assert (causes == $past(causes));
        assert (triggered);
    end
`endif
endmodule
`default_nettype wire
