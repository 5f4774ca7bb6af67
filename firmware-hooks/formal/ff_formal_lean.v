// SPDX-License-Identifier: Apache-2.0
// ff_formal_lean: the small device's freeze controller, one of its recorders and its memory read in halves, for proofs.
//
// Everything from outside is free in every cycle: words, causes, arm and freeze, when the other memories close. The reset is
// up for the first eight cycles, as it has to be. The far domain is a model: it takes an arm three cycles later, answers, and closes when it likes; the
// controller is told of it as an ff_freeze_remote would. One half of the memory is watched; which one, the solver chooses.
`default_nettype none
module ff_formal_lean (
    input wire         clk, rst,
    input wire         ask_arm, pulse_freeze,
    input wire [11:0]  cfg_cause_mask, causes_in,
    input wire         cross_in,
    input wire [3:0]   cfg_post,
    input wire         tap_valid,
    input wire [3:0]   tap_kind,
    input wire [63:0]  tap_data,
    input wire [2:0]   closes                // memories 1, 2, 3
);
    reg [63:0] now = 64'd0;
    always @(posedge clk) now <= rst ? 64'd0 : now + 64'd1;
    reg [3:0] age = 4'd0;
    always @(posedge clk) if (!age[3]) age <= age + 4'd1;
    always @* assume (rst == !age[3]);

    wire arm, arm_ready, arm_toggle, next, triggered, drain, frozen, tap_closed;
    wire pulse_arm = ask_arm && arm_ready;
    wire [11:0] causes;
    wire [31:0] since;
    reg  [3:0] way_q;
    reg  [2:0] closed_q;
    wire far_arm = way_q[2] != way_q[1];
    always @(posedge clk) begin
        way_q <= rst ? 4'd0 : {way_q[2:0], arm_toggle};
        closed_q[1:0] <= (closed_q[1:0] | closes[1:0]) & {2{!far_arm}};
        closed_q[2] <= (closed_q[2] || closes[2]) && !arm;
        if (rst) closed_q <= 3'd0;
    end
    ff_freeze_lean #(.CROSS_LATENCY(2), .POST_DRAIN(4)) i_freeze (
        .clk(clk), .rst(rst), .pulse_arm(pulse_arm), .pulse_freeze(pulse_freeze), .arm_ready(arm_ready),
        .cfg_cause_mask(cfg_cause_mask), .causes_in(causes_in), .far_level(1'b0), .far_causes(12'd0), .far_armed(way_q[3]),
        .arm_toggle(arm_toggle), .level(), .cross_in(cross_in), .cross_out(), .arm(arm), .triggered_next(next),
        .triggered(triggered), .causes(causes), .since(since), .drain(drain), .closed({closed_q[2:0], tap_closed}),
        .frozen(frozen), .stat_state(), .stat_closed());

    (* anyconst *) wire [4:0] watched;
    wire wr_en;
    wire [3:0] wr_slot;
    wire [71:0] wr_record;
    wire [35:0] seen;
    ff_tap_recorder #(.DEPTH(16), .POST_W(4), .ALL_KINDS(1)) i_tap (
        .clk(clk), .rst(rst), .tap_valid(tap_valid), .tap_kind(tap_kind), .tap_data(tap_data), .word_valid(),
        .word_kind(), .word_data(), .now(now), .arm(arm), .triggered_next(next), .triggered(triggered), .causes({4'd0, causes}),
        .since(since), .drain(drain), .cfg_kinds(16'd0), .cfg_post(cfg_post), .wr_en(wr_en), .wr_slot(wr_slot),
        .wr_record(wr_record), .stat_write_ptr(), .stat_wrapped(), .stat_stored(), .stat_offered(), .stat_closed(tap_closed));
    ff_trace_memory_half #(.DEPTH(16)) i_memory (
        .wr_clk(clk), .wr_en(wr_en), .wr_slot(wr_slot), .wr_record(wr_record), .rd_clk(clk), .rd_en(1'b1), .rd_clear(1'b0),
        .rd_slot(watched[4:1]), .rd_high(watched[0]), .rd_half(seen));

    reg still_q = 1'b0, still_before_q = 1'b0; // frozen, and not to be left, in the cycle before and the one before that
    always @(posedge clk) begin
        still_q <= frozen && !pulse_arm && !arm && !rst;
        still_before_q <= still_q;
        if (!$initstate) begin
            if (still_q) assert (frozen);
            // no arm is on its way when one may come; what makes the above hold by induction
            if (arm_ready && !rst) assert (way_q == {4{arm_toggle}});
            if (still_q && still_before_q) assert (seen == $past(seen));
            // a word is recorded, in its cycle, as the register has it; nothing else is taken for one
            if ($past(tap_valid) && !$past(rst) && wr_en && !triggered && !arm && !rst)
                assert (wr_record[67:0] == {$past(tap_kind), $past(tap_data)});
        end
    end
endmodule
`default_nettype wire
