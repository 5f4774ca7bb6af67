// SPDX-License-Identifier: Apache-2.0
// ff_freeze: the freeze controller of a device: arm and freeze by key, generation, state, causes, cross-freeze, hold.
//
// Latency: arm is up in the cycle after a write that matches; a cause stands in the cause register one cycle after its
// input, a far one 2 to 3 cycles of clk after it arose; frozen rises with the last memory's closed bit (a far memory:
// 2 to 3 cycles later). Throughput: one set of causes a cycle. Back-pressure: none; an arm that comes before the far
// domain has told that it took the last one (some ten cycles) is ignored as a wrong key would be. Clock domain: clk,
// the bus domain; far_*, cross_in and peer_frozen are synchronized here. The other domain has an ff_freeze_remote.
`default_nettype none
module ff_freeze #(
    parameter [4:0] MEMORIES = 5'b11111, // memories that exist, bit numbers of enum memory
    parameter [4:0] FAR = 5'b00110,      // those of the other clock domain; 0: the device has one domain
    parameter CROSS_LATENCY = 32,        // bus cycles from the first cause to cross_out, 1..100000
    parameter POST_DRAIN = 1024,         // as ff_cause_latch
    parameter SINCE_W = 32,              // as ff_cause_latch; CROSS_LATENCY < 2^SINCE_W
    parameter DRAIN_ON = 1               // as ff_cause_latch
) (
    input  wire        clk, rst,         // the recorder's own reset, synchronous
    input  wire [63:0] now,
    // registers: a pulse with the value written
    input  wire        wr_arm, wr_freeze,
    input  wire [31:0] wr_data,
    input  wire [15:0] cfg_cause_mask,   // causes that freeze; host always does
    input  wire        cfg_hold,         // hold the network card when frozen
    // causes of this domain, enum cause; host and cross are made here and ignored at this port
    input  wire [15:0] causes_in,
    // the other domain: its ff_freeze_remote
    input  wire        far_level,
    input  wire [15:0] far_causes,
    input  wire        far_armed,        // its answer to arm_toggle
    output reg         arm_toggle,       // a change is an arm
    output wire        level,            // this domain's first cause stands
    // other devices
    input  wire        cross_in,         // a change: another device froze by a cause of its own
    output reg         cross_out,        // the same of this device
    input  wire        peer_frozen,      // another device of the pair is frozen
    output reg         frozen_level,     // frozen, for peer_frozen of the other
    // recorders of this domain
    output reg         arm,
    output wire        triggered_next,   // triggered is up in the next cycle
    output wire        triggered,
    output wire [15:0] causes,
    output wire [31:0] since,
    output wire        drain,
    input  wire [4:0]  closed,           // each bit from its own domain
    // state
    output wire        frozen,           // everything stands still and may be read
    output reg         hold,             // the network card is to stand still
    output wire [31:0] stat_generation,
    output wire [1:0]  stat_state,       // enum state
    output wire [4:0]  stat_closed,
    output reg  [63:0] stat_cause_cycle  // with causes: what froze it
);
    localparam [15:0] HOST = 16'h0001, CROSS = 16'h0800;
    generate
        if ((MEMORIES & ~FAR) == 5'd0 || (FAR & ~MEMORIES) != 5'd0) begin : g_check_MEMORIES
            ff_error_MEMORIES_must_hold_those_of_FAR_and_one_more stop (); // none such
        end
        if (CROSS_LATENCY < 1 || CROSS_LATENCY > 100000 || (SINCE_W < 17 && CROSS_LATENCY >= (1 << SINCE_W))) begin : g_check_CROSS_LATENCY
            ff_error_CROSS_LATENCY_must_be_1_to_100000_and_fit_SINCE_W stop (); // none such
        end
    endgenerate

    // Arm and freeze: key and generation must match, so a doubled or late write does nothing.
    reg  [31:0] generation_q;
    wire [31:0] next_generation = generation_q + 32'd1;
    assign stat_generation = generation_q;
    wire [31:0] arm_word = {16'h4152, next_generation[15:0]};
    wire [31:0] freeze_word = {16'h465A, stat_generation[15:0]};
    wire far_ready;
    wire arm_next = wr_arm && wr_data == arm_word && far_ready && !rst;
    wire host = wr_freeze && wr_data == freeze_word;
    always @(posedge clk) begin
        arm <= arm_next;
        if (arm_next) begin
            arm_toggle <= !arm_toggle;
            generation_q <= next_generation;
        end
        if (rst) begin
            arm_toggle <= 1'b0;
            generation_q <= 32'd0;
        end
    end

    // What of the other domain belongs to this recording: nothing until it has answered the arm.
    wire [15:0] far_seen;
    wire [4:0] far_closed;
    generate if (FAR != 5'd0) begin : g_far
        wire answer, far_hit;
        wire [15:0] far_held;
        wire [4:0] far_closed_now;
        ff_cdc_sync #(.W(1)) i_answer (.clk(clk), .d(far_armed), .q(answer));
        ff_cdc_held #(.W(16)) i_causes (.clk(clk), .s_level(far_level), .s_data(far_causes), .m_level(far_hit), .m_data(far_held));
        ff_cdc_sync #(.W(5)) i_closed (.clk(clk), .d(closed & FAR), .q(far_closed_now));
        assign far_ready = answer == arm_toggle;
        assign far_seen = far_held & {16{far_ready}};
        reg [4:0] far_closed_q;
        always @(posedge clk) far_closed_q <= rst || arm_next || !far_ready ? 5'd0 : far_closed_now;
        assign far_closed = far_closed_q;
        wire unused = &{1'b0, far_hit};
    end else begin : g_near
        assign far_ready = 1'b1;
        assign far_seen = 16'd0;
        assign far_closed = 5'd0;
        wire unused = &{1'b0, far_level, far_causes, far_armed};
    end endgenerate

    wire crossed;
    ff_cdc_edge i_cross (.clk(clk), .rst(rst), .d(cross_in), .pulse(crossed));
    wire [15:0] near_causes = (causes_in & ~(HOST | CROSS)) | (CROSS & {16{crossed}});
    wire hit;
    ff_cause_latch #(.POST_DRAIN(POST_DRAIN), .SINCE_W(SINCE_W), .DRAIN_ON(DRAIN_ON)) i_latch (
        .clk(clk), .rst(rst), .arm_next(arm_next), .arm(arm),
        .causes_in((near_causes & cfg_cause_mask) | (HOST & {16{host}}) | far_seen),
        .hit(hit), .level(level), .triggered_next(triggered_next), .triggered(triggered), .causes(causes), .since(since), .drain(drain)
    );

    // A cross-freeze is not passed on; a cause of the same cycle is.
    localparam [31:0] TELL = CROSS_LATENCY - 1;
    always @(posedge clk) begin
        if (rst) cross_out <= 1'b0;
        else if (hit && !arm && since == TELL && (causes & ~CROSS) != 16'd0) cross_out <= !cross_out;
    end

    always @(posedge clk) begin
        if (rst || arm) stat_cause_cycle <= 64'd0;
        else if (hit && !triggered) stat_cause_cycle <= now;
    end

    assign stat_closed = MEMORIES & ((closed & ~FAR) | far_closed);
    assign frozen = stat_closed == MEMORIES;
    assign stat_state = frozen ? 2'd3 : hit ? 2'd2 : {1'b0, armed_q};

    reg  armed_q;
    wire peer;
    ff_cdc_sync #(.W(1)) i_peer (.clk(clk), .d(peer_frozen), .q(peer));
    always @(posedge clk) begin
        armed_q <= !rst && (armed_q || arm);
        frozen_level <= frozen && !rst;
        if (rst || (!frozen && !frozen_level && !peer)) hold <= 1'b0;
        else if (frozen && !frozen_level && cfg_hold) hold <= 1'b1;
    end

`ifdef FORMAL
    always @(posedge clk) if (!$initstate && !$past(rst)) begin
        if (arm) assert ($past(wr_arm) && $past(wr_data) == {16'h4152, stat_generation[15:0]});
        if (!arm) assert (stat_generation == $past(stat_generation));
        if ($past(triggered && !arm)) assert (stat_cause_cycle == $past(stat_cause_cycle));
    end
`endif
endmodule
`default_nettype wire
