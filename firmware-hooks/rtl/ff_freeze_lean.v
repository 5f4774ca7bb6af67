// SPDX-License-Identifier: Apache-2.0
// ff_freeze_lean: the freeze controller of a small device with four memories in two clock domains: state, causes, cross-freeze.
//
// As ff_freeze, but key and generation of an arm and a freeze are held by the register file. Latency: arm is up in the cycle
// after pulse_arm; a cause stands in the cause register one cycle after its input, a far one 2 to 3 cycles of clk after it
// arose; frozen rises with the last memory's closed bit (a far memory: 2 to 3 cycles later). Throughput: one set of causes a
// cycle. Back-pressure: arm_ready is low until the far domain has told that it took the last arm (some ten cycles). Clock
// domain: clk, the bus domain; far_* and cross_in are synchronized here. The other domain has an ff_freeze_remote.
`default_nettype none
module ff_freeze_lean #(
    parameter CROSS_LATENCY = 32,  // cycles from the first cause to cross_out, 1..100000
    parameter POST_DRAIN = 1024,   // as ff_cause_latch
    parameter SINCE_W = 32,        // as ff_cause_latch; CROSS_LATENCY < 2^SINCE_W
    parameter DRAIN_ON = 1         // as ff_cause_latch
) (
    input  wire        clk, rst,         // the recorder's own reset, synchronous
    input  wire        pulse_arm, pulse_freeze,
    output wire        arm_ready,
    input  wire [11:0] cfg_cause_mask,   // causes that freeze; host always does
    input  wire [11:0] causes_in,        // enum cause; host and cross are made here and ignored at this port
    // the other domain: its ff_freeze_remote
    input  wire        far_level,
    input  wire [11:0] far_causes,
    input  wire        far_armed,        // its answer to arm_toggle
    output reg         arm_toggle,       // a change is an arm
    output wire        level,            // this domain's first cause stands
    // other devices
    input  wire        cross_in,         // a change: another device froze by a cause of its own
    output reg         cross_out,        // the same of this device
    // recorders of this domain
    output reg         arm,
    output wire        triggered_next, triggered,
    output wire [11:0] causes,
    output wire [31:0] since,
    output wire        drain,
    input  wire [3:0]  closed,           // each bit from its own domain; 1 and 2 are the far ones
    // state
    output wire        frozen,           // everything stands still and may be read
    output wire [1:0]  stat_state,       // enum state
    output wire [3:0]  stat_closed
);
    localparam [11:0] HOST = 12'h001, CROSS = 12'h800;
    generate if (CROSS_LATENCY < 1 || CROSS_LATENCY > 100000 || (SINCE_W < 17 && CROSS_LATENCY >= (1 << SINCE_W))) begin : g_check_CROSS_LATENCY
        ff_error_CROSS_LATENCY_must_be_1_to_100000_and_fit_SINCE_W stop (); // none such
    end endgenerate

    reg  armed_q;
    always @(posedge clk) begin
        arm <= pulse_arm && !rst;
        if (pulse_arm) {arm_toggle, armed_q} <= {!arm_toggle, 1'b1};
        if (rst) {arm_toggle, armed_q} <= 2'b00;
    end

    // What of the other domain belongs to this recording: nothing until it has answered the arm.
    wire answer, far_hit;
    wire [11:0] far_held;
    wire [1:0] far_closed_now;
    ff_cdc_sync #(.W(1)) i_answer (.clk(clk), .d(far_armed), .q(answer));
    ff_cdc_sync #(.W(1)) i_level (.clk(clk), .d(far_level), .q(far_hit));
    ff_cdc_sync #(.W(2)) i_closed (.clk(clk), .d(closed[2:1]), .q(far_closed_now));
    assign arm_ready = answer == arm_toggle;
    wire far_now = far_hit && arm_ready;
    assign far_held = far_causes & {12{far_now}}; // they stand still while far_level is up
    reg  [1:0] far_closed_q;
    always @(posedge clk) far_closed_q <= rst || pulse_arm || !arm_ready ? 2'd0 : far_closed_now;

    wire crossed, hit;
    wire [3:0] none;
    ff_cdc_edge i_cross (.clk(clk), .rst(rst), .d(cross_in), .pulse(crossed));
    wire [11:0] near_causes = (causes_in & ~(HOST | CROSS)) | (CROSS & {12{crossed}});
    ff_cause_latch #(.POST_DRAIN(POST_DRAIN), .SINCE_W(SINCE_W), .DRAIN_ON(DRAIN_ON)) i_latch (
        .clk(clk), .rst(rst), .arm_next(pulse_arm), .arm(arm),
        .causes_in({4'd0, (near_causes & cfg_cause_mask) | (HOST & {12{pulse_freeze}}) | far_held}),
        .hit(hit), .level(level), .triggered_next(triggered_next), .triggered(triggered), .causes({none, causes}),
        .since(since), .drain(drain)
    );

    // A cross-freeze is not passed on; a cause of the same cycle is.
    localparam [31:0] TELL = CROSS_LATENCY - 1;
    always @(posedge clk) begin
        if (rst) cross_out <= 1'b0;
        else if (hit && !arm && since == TELL && (causes & ~CROSS) != 12'd0) cross_out <= !cross_out;
    end

    assign stat_closed = {closed[3], far_closed_q, closed[0]};
    assign frozen = &stat_closed;
    assign stat_state = frozen ? 2'd3 : hit ? 2'd2 : {1'b0, armed_q};
    wire unused_bits = &{1'b0, none};

`ifdef FORMAL
    always @(posedge clk) if (!$initstate && !$past(rst)) begin
        if (arm) assert ($past(pulse_arm));
        if ($past(hit && !arm) && !rst) assert (causes == $past(causes));
    end
`endif
endmodule
`default_nettype wire
