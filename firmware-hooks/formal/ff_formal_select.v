// SPDX-License-Identifier: Apache-2.0
// ff_formal_select: the freeze controller, recorder and memory of a device with one memory, joined as ff_select joins them, for proofs.
//
// Everything from outside is free in every cycle: words, causes, arm and freeze, the other device, what is read. The reset is up in the
// first cycle. One half of the memory is watched; which one, the solver chooses.
`default_nettype none
module ff_formal_select #(
    parameter WITH_CROSS = 1
) (
    input wire         clk, rst,
    input wire         pulse_arm, pulse_freeze,
    input wire [11:0]  cfg_cause_mask, causes_in,
    input wire         cross_in,
    input wire [3:0]   cfg_post,
    input wire         tap_valid,
    input wire [3:0]   tap_kind,
    input wire [63:0]  tap_data
);
    reg [63:0] now = 64'd0;
    always @(posedge clk) now <= rst ? 64'd0 : now + 64'd1;
    always @* if ($initstate) assume (rst);

    wire arm, next, triggered, drain, closed, frozen;
    wire [11:0] causes;
    wire [31:0] since;
    wire [1:0]  state;
    ff_freeze_single #(
        .WITH_CROSS(WITH_CROSS), .CROSS_LATENCY(2), .POST_DRAIN(4), .SINCE_W(17), .DRAIN_ON(0)
    ) i_freeze (
        .clk(clk), .rst(rst), .pulse_arm(pulse_arm), .pulse_freeze(pulse_freeze), .cfg_cause_mask(cfg_cause_mask),
        .causes_in(causes_in), .cross_in(cross_in), .cross_out(), .arm(arm), .triggered_next(next), .triggered(triggered),
        .causes(causes), .since(since), .drain(drain), .closed(closed), .frozen(frozen), .stat_state(state));

    (* anyconst *) wire [4:0] watched;
    wire wr_en;
    wire [3:0] wr_slot;
    wire [71:0] wr_record;
    wire [35:0] seen;
    ff_tap_recorder #(.DEPTH(16), .POST_W(4), .COUNT_W(8), .ALL_KINDS(1)) i_tap (
        .clk(clk), .rst(rst), .tap_valid(tap_valid), .tap_kind(tap_kind), .tap_data(tap_data), .word_valid(),
        .word_kind(), .word_data(), .now(now), .arm(arm), .triggered_next(next), .triggered(triggered), .causes({4'd0, causes}),
        .since(since), .drain(drain), .cfg_kinds(16'd0), .cfg_post(cfg_post), .wr_en(wr_en), .wr_slot(wr_slot),
        .wr_record(wr_record), .stat_write_ptr(), .stat_wrapped(), .stat_stored(), .stat_offered(), .stat_closed(closed));
    ff_trace_memory_half #(.DEPTH(16)) i_memory (
        .wr_clk(clk), .wr_en(wr_en), .wr_slot(wr_slot), .wr_record(wr_record), .rd_clk(clk), .rd_en(1'b1), .rd_clear(1'b0),
        .rd_slot(watched[4:1]), .rd_high(watched[0]), .rd_half(seen));

    // frozen, and neither an arm nor a reset: in the cycle before and the one before that
    reg still_q = 1'b0, still_before_q = 1'b0;
    always @(posedge clk) begin
        still_q <= frozen && !pulse_arm && !arm && !rst;
        still_before_q <= still_q;
        if (!$initstate) begin
            if (still_q && !rst) assert (frozen && state == 2'd3);
            if (still_q && still_before_q) assert (seen == $past(seen));
            // only what the mask lets through and the host's order are causes
            if ($past(!triggered && state != 2'd2 && !rst) && state == 2'd2)
                assert ((causes & ~($past(cfg_cause_mask) | 12'h001)) == 12'd0);
        end
    end
endmodule
`default_nettype wire
