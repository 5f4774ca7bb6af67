// SPDX-License-Identifier: Apache-2.0
// ff_freeze_single: the freeze controller of a device with one memory in one clock domain: state, causes, cross-freeze.
//
// As ff_freeze, but key and generation of an arm and a freeze are held by the register file. Latency: arm is up in the cycle
// after pulse_arm; a cause stands in the cause register one cycle after its input; frozen rises with the memory's closed bit.
// Throughput: one set of causes a cycle. Back-pressure: none. Clock domain: clk; cross_in is synchronized here.
`default_nettype none
module ff_freeze_single #(
    parameter WITH_CROSS = 1,      // 0: cross_in does not freeze, cross_out stays 0
    parameter CROSS_LATENCY = 32,  // cycles from the first cause to cross_out, 1..100000
    parameter POST_DRAIN = 1024,   // as ff_cause_latch
    parameter SINCE_W = 32,        // as ff_cause_latch; CROSS_LATENCY < 2^SINCE_W
    parameter DRAIN_ON = 1         // as ff_cause_latch
) (
    input  wire        clk, rst,         // the recorder's own reset, synchronous
    input  wire        pulse_arm, pulse_freeze,
    input  wire [11:0] cfg_cause_mask,   // causes that freeze; host always does
    input  wire [11:0] causes_in,        // enum cause; host and cross are made here and ignored at this port
    input  wire        cross_in,         // a change: another device froze by a cause of its own
    output wire        cross_out,        // the same of this device
    // the recorder
    output reg         arm,
    output wire        triggered_next, triggered,
    output wire [11:0] causes,
    output wire [31:0] since,
    output wire        drain,
    input  wire        closed,
    output wire        frozen,           // everything stands still and may be read
    output wire [1:0]  stat_state        // enum state
);
    localparam [11:0] HOST = 12'h001, CROSS = 12'h800;
    generate
        if (WITH_CROSS != 0 && WITH_CROSS != 1) begin : g_check_WITH_CROSS
            ff_error_WITH_CROSS_must_be_0_or_1 stop (); // none such
        end
        if (CROSS_LATENCY < 1 || CROSS_LATENCY > 100000 || (SINCE_W < 17 && CROSS_LATENCY >= (1 << SINCE_W))) begin : g_check_CROSS_LATENCY
            ff_error_CROSS_LATENCY_must_be_1_to_100000_and_fit_SINCE_W stop (); // none such
        end
    endgenerate

    always @(posedge clk) arm <= pulse_arm && !rst;

    wire crossed, hit, level;
    wire [3:0] none;
    wire [11:0] near_causes = (causes_in & ~(HOST | CROSS)) | (CROSS & {12{crossed}});
    // The MARK comes before since is full where DRAIN_ON is 0, and without cross-freeze nobody else looks at it.
    localparam SINCE_WRAPS = WITH_CROSS == 0 && DRAIN_ON == 0 ? 1 : 0;
    ff_cause_latch #(
        .POST_DRAIN(POST_DRAIN), .SINCE_W(SINCE_W), .DRAIN_ON(DRAIN_ON), .SINCE_WRAPS(SINCE_WRAPS)
    ) i_latch (
        .clk(clk), .rst(rst), .arm_next(pulse_arm), .arm(arm),
        .causes_in({4'd0, (near_causes & cfg_cause_mask) | (HOST & {12{pulse_freeze}})}),
        .hit(hit), .level(level), .triggered_next(triggered_next), .triggered(triggered), .causes({none, causes}),
        .since(since), .drain(drain)
    );

    generate if (WITH_CROSS != 0) begin : g_cross
        ff_cdc_edge i_cross (.clk(clk), .rst(rst), .d(cross_in), .pulse(crossed));
        // A cross-freeze is not passed on; a cause of the same cycle is.
        localparam [31:0] TELL = CROSS_LATENCY - 1;
        reg told_q;
        always @(posedge clk) begin
            if (rst) told_q <= 1'b0;
            else if (hit && !arm && since == TELL && (causes & ~CROSS) != 12'd0) told_q <= !told_q;
        end
        assign cross_out = told_q;
    end else begin : g_no_cross
        assign {crossed, cross_out} = 2'b00;
        wire unused = &{1'b0, cross_in};
    end endgenerate

    reg  armed_q;
    always @(posedge clk) begin
        if (arm) armed_q <= 1'b1;
        if (rst) armed_q <= 1'b0;
    end
    assign frozen = closed;
    assign stat_state = frozen ? 2'd3 : hit ? 2'd2 : {1'b0, armed_q};
    wire unused_bits = &{1'b0, level, none};

`ifdef FORMAL
    always @(posedge clk) if (!$initstate && !$past(rst)) begin
        if (arm) assert ($past(pulse_arm));
        if ($past(frozen && !arm) && !rst) assert (causes == $past(causes));
    end
`endif
endmodule
`default_nettype wire
