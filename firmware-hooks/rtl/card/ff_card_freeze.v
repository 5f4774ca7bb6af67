// SPDX-License-Identifier: Apache-2.0
// ff_card_freeze: the freeze controller of a card with any number of clocks: a star of causes through the register bus's domain.
//
// An arm is for the clocks that run: each that gives no sign of life for two periods of the time line is left out of this recording
// until the next arm, so one that stands still neither blocks arming nor freezing, and what its memories hold is nobody's evidence.
// Latency: arm is up in the cycle behind wr_arm; a far cause stands here 2 to 3 cycles of clk and a register after it arose; frozen
// rises with the last closed domain. Throughput: a set of causes a cycle. Back-pressure: stat_ready is low until every living domain
// has answered the last arm. Clock domain: clk; far_* come from the other domains and are synchronized here.
`default_nettype none
module ff_card_freeze #(
    parameter FAR = 1,             // other clocks, 1..31
    parameter CAUSES = 24,         // 12..32; 0 host, 1 trigger, 2 peer
    parameter CROSS_LATENCY = 32,  // as ff_freeze
    parameter POST_DRAIN = 1024    // as ff_cause_latch
) (
    input  wire              clk, rst,
    input  wire [63:0]       now,
    input  wire [11:0]       nonce,               // low bits of the boot nonce
    input  wire              wr_arm, wr_freeze,   // with wr_data
    input  wire [31:0]       wr_data,
    input  wire [CAUSES-1:0] cfg_cause_mask,
    input  wire [CAUSES-1:0] causes_in,           // of this domain; host and peer are made here
    input  wire              line_seen,           // a toggle of the time line in this domain
    // the other domains
    input  wire [FAR-1:0]    far_level, far_armed, far_closed, far_beats,
    input  wire [FAR*CAUSES-1:0] far_causes,
    output reg               arm_toggle,
    output wire              level,
    // other devices
    input  wire              cross_in,
    output reg               cross_out,
    // recorders of this domain
    output reg               arm,
    output wire              triggered_next, triggered,
    output wire [CAUSES-1:0] causes,
    output wire [31:0]       since,
    output wire              drain,
    input  wire              near_closed,         // every memory of this domain, or it has none
    // state
    output wire              frozen,
    output wire [31:0]       stat_generation,
    output wire [1:0]        stat_state,
    output wire              stat_ready,
    output wire [FAR:0]      stat_alive, stat_closed, // bit 0: this domain
    output reg  [63:0]       stat_cause_cycle
);
    localparam [CAUSES-1:0] ONE = {{CAUSES-1{1'b0}}, 1'b1}, HOST = ONE, PEER = ONE << 2;
    generate if (FAR < 1 || FAR > 31) begin : g_check_FAR
        ff_error_FAR_must_be_1_to_31 stop (); // none such
    end endgenerate

    // -- arm and freeze: key, nonce and generation must match, so a doubled, late or foreign write does nothing ----
    reg  [31:0] generation_q;
    wire [31:0] next_generation = generation_q + 32'd1;
    assign stat_generation = generation_q;
    wire arm_next = wr_arm && wr_data == {16'h4152 ^ {4'd0, nonce}, next_generation[15:0]} && stat_ready && !rst;
    wire host = wr_freeze && wr_data == {16'h465A, generation_q[15:0]};
    always @(posedge clk) begin
        arm <= arm_next;
        if (arm_next) {arm_toggle, generation_q} <= {!arm_toggle, next_generation};
        if (rst) {arm_toggle, generation_q} <= 33'd0;
    end

    // -- the other domains ---------------------------------------------------------------------------------------
    wire [FAR-1:0] answers, hits, closed_now, beat, alive, counts;
    ff_cdc_sync #(.W(FAR)) i_answers (.clk(clk), .d(far_armed), .q(answers));
    ff_cdc_sync #(.W(FAR)) i_hits (.clk(clk), .d(far_level), .q(hits));
    ff_cdc_sync #(.W(FAR)) i_closed (.clk(clk), .d(far_closed), .q(closed_now));
    wire [FAR-1:0] answered = ~(answers ^ {FAR{arm_toggle}});
    reg  [FAR-1:0] closed_q;
    genvar d;
    generate for (d = 0; d < FAR; d = d + 1) begin : g_far
        ff_cdc_edge i_beat (.clk(clk), .rst(rst), .d(far_beats[d]), .pulse(beat[d]));
        reg  [1:0] missed_q; // toggles of the time line without an answer; 3: it stands still
        reg  in_q;           // it is part of this recording
        always @(posedge clk) begin
            if (beat[d]) missed_q <= 2'd0;
            else if (line_seen && missed_q != 2'd3) missed_q <= missed_q + 2'd1;
            in_q <= arm_next ? alive[d] : in_q && alive[d];
            closed_q[d] <= !rst && !arm_next && answered[d] && closed_now[d];
            if (rst) {missed_q, in_q} <= 3'b110;
        end
        assign alive[d] = missed_q != 2'd3;
        assign counts[d] = in_q;
    end endgenerate
    assign stat_ready = &(answered | ~alive);
    reg  [CAUSES-1:0] far_seen;
    integer n;
    always @* begin
        far_seen = {CAUSES{1'b0}};
        // They stand still while the level is up.
        for (n = 0; n < FAR; n = n + 1)
            far_seen = far_seen | (far_causes[n*CAUSES +: CAUSES] & {CAUSES{hits[n] && answered[n] && counts[n]}});
    end
    reg  [CAUSES-1:0] far_q;
    always @(posedge clk) far_q <= far_seen & {CAUSES{!arm_next && !rst}};

    wire crossed, hit;
    ff_cdc_edge i_cross (.clk(clk), .rst(rst), .d(cross_in), .pulse(crossed));
    wire [CAUSES-1:0] near = (causes_in & ~(HOST | PEER)) | (PEER & {CAUSES{crossed}});
    ff_cause_latch #(.POST_DRAIN(POST_DRAIN), .W(CAUSES)) i_latch (
        .clk(clk), .rst(rst), .arm_next(arm_next), .arm(arm),
        .causes_in((near & cfg_cause_mask) | (HOST & {CAUSES{host}}) | far_q),
        .hit(hit), .level(level), .triggered_next(triggered_next), .triggered(triggered), .causes(causes), .since(since), .drain(drain)
    );

    // A peer's freeze is not passed on; a cause of the same cycle is.
    localparam [31:0] TELL = CROSS_LATENCY - 1;
    reg  armed_q;
    always @(posedge clk) begin
        if (rst) cross_out <= 1'b0;
        else if (hit && !arm && since == TELL && (causes & ~PEER) != {CAUSES{1'b0}}) cross_out <= !cross_out;
        if (rst || arm) stat_cause_cycle <= 64'd0;
        else if (hit && !triggered) stat_cause_cycle <= now;
        armed_q <= !rst && (armed_q || arm);
    end
    assign stat_alive = {counts, 1'b1} | {alive & {FAR{!armed_q}}, 1'b0};
    assign stat_closed = {closed_q & counts, near_closed};
    // A triggered recording whose other clocks have all closed or stopped; the arm itself closes nothing.
    assign frozen = triggered && near_closed && !arm && &(closed_q | ~counts);
    assign stat_state = frozen ? 2'd3 : hit ? 2'd2 : {1'b0, armed_q};
endmodule
`default_nettype wire
